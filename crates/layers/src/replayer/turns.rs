//! The calls of a recording, one after the other, each played when its turn has come.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::Read,
    sync::Arc,
    thread::ThreadId,
    time::{Duration, Instant},
};

use amdgpu_uapi::Errno;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::{
    ReplayError,
    objects::{Objects, Refused},
};
use crate::format::{Action, Call, Reader, Record, describe};

/// Errno of all calls after a replay has stopped: the device is gone, after which a client asks for nothing more.
pub(super) const DIVERGED: Errno = Errno::ENODEV;

/// Default time that a thread waits for the call of another one that comes before its own.
const PATIENCE: Duration = Duration::from_secs(10);

/// A recording, of which every file plays its own calls.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Rung when the head of the recording has changed.
    bell: Condvar,
    pub(super) notes: BTreeMap<String, String>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").field("notes", &self.notes).finish_non_exhaustive()
    }
}

/// Progress of the replay.
pub(super) struct State {
    reader: Reader<Box<dyn Read + Send>>,
    /// The next call, unless the recording is over or the call is being played.
    pub(super) head: Option<Call>,
    /// Its number.
    pub(super) call: u64,
    pub(super) files: u32,
    lanes: HashMap<ThreadId, u32>,
    taken: HashSet<u32>,
    pub(super) objects: Objects,
    pub(super) patience: Duration,
    /// Notified by the thread that advances.
    rung: bool,
    pub(super) error: Option<Arc<ReplayError>>,
}

impl Shared {
    /// Reads on to the first call.
    pub(super) fn begin(input: Box<dyn Read + Send>) -> Result<Self, ReplayError> {
        let mut reader = Reader::new(input)?;
        let mut notes = BTreeMap::new();
        let head = loop {
            match reader.next() {
                Some(Ok(Record::Note { key, value })) => drop(notes.insert(key, value)),
                Some(Ok(Record::Page(_) | Record::Ib(_))) => {}
                Some(Ok(Record::Call(call))) => break Some(call),
                Some(Ok(Record::End)) | None => break None,
                Some(Err(error)) => return Err(error.into()),
            }
        };
        let state = State {
            reader,
            head,
            call: 0,
            files: 0,
            lanes: HashMap::new(),
            taken: HashSet::new(),
            objects: Objects::default(),
            patience: PATIENCE,
            rung: false,
            error: None,
        };
        Ok(Self { state: Mutex::new(state), bell: Condvar::new(), notes })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        if std::mem::take(&mut state.rung) {
            self.bell.notify_all();
        }
        state
    }

    /// Waits until it is this call's turn. The recorded call, which the caller plays and then
    /// [leaves behind](State::advance).
    pub(super) fn turn(&self, file: u32, came: Action) -> Result<(MutexGuard<'_, State>, Call), Errno> {
        let came = Call { file, lane: 0, action: came, errno: 0 };
        let mut state = self.lock();
        let started = Instant::now();
        loop {
            match state.judge(&came) {
                Verdict::Play(call) => return Ok((state, call)),
                Verdict::Stop => {
                    self.bell.notify_all();
                    return Err(DIVERGED);
                }
                // The thread that advances notifies only at its next turn with the lock, so waits are short.
                Verdict::Wait if started.elapsed() < state.patience => {
                    let _ = self.bell.wait_for(&mut state, Duration::from_millis(1));
                }
                Verdict::Wait => state.stall(&came),
            }
        }
    }
}

/// Decision about a call.
enum Verdict {
    Play(Call),
    Wait,
    Stop,
}

impl State {
    fn judge(&mut self, came: &Call) -> Verdict {
        if self.error.is_some() {
            return Verdict::Stop;
        }
        let Some(head) = &self.head else {
            return self.stop(ReplayError::Ended { call: self.call, came: describe::call(came) });
        };
        let thread = std::thread::current().id();
        let own = self.lanes.get(&thread).copied();
        let is_own = match own {
            Some(lane) => lane == head.lane,
            None => !self.taken.contains(&head.lane),
        };
        if is_own && is_same(head, came) {
            self.lanes.insert(thread, head.lane);
            self.taken.insert(head.lane);
            return self.head.take().map_or(Verdict::Stop, Verdict::Play);
        }
        // A thread that is new here may be another than the one whose turn it is, but not when it is alone.
        if is_own && (own.is_some() || self.lanes.is_empty()) {
            let (recorded, came) = describe::both(head, came);
            return self.stop(ReplayError::Diverged { call: self.call, recorded, came });
        }
        Verdict::Wait
    }

    fn stall(&mut self, came: &Call) {
        let recorded = self.head.as_ref().map_or_else(String::new, describe::call);
        self.stop(ReplayError::Stalled { call: self.call, recorded, came: describe::call(came) });
    }

    fn stop(&mut self, error: ReplayError) -> Verdict {
        tracing::error!(%error, "the replay stops");
        self.error.get_or_insert(Arc::new(error));
        self.rung = true;
        Verdict::Stop
    }

    /// Stops at a recorded call that no kernel could have answered so.
    pub(super) fn nonsense(&mut self, why: &'static str) -> Errno {
        self.stop(ReplayError::Nonsense { call: self.call, why });
        DIVERGED
    }

    /// Stops where the host has no room for what the recording needs.
    pub(super) fn fail(&mut self, errno: Errno) -> Errno {
        self.stop(ReplayError::Host { call: self.call, errno });
        errno
    }

    /// Returns the errno for a refused call. A call that makes no sense stops the replay; if only the host has no room, the
    /// client is told so.
    pub(super) fn refuse(&mut self, refused: Refused) -> Errno {
        match refused {
            Refused::Nonsense(why) => self.nonsense(why),
            Refused::Host(errno) => errno,
        }
    }

    /// Leaves the head behind and shows the client what the GPU had written by then.
    pub(super) fn advance(&mut self) {
        self.rung = true;
        self.call = self.call.saturating_add(1);
        self.head = None;
        loop {
            match self.reader.next() {
                Some(Ok(Record::Note { .. } | Record::Ib(_))) => {}
                Some(Ok(Record::Page(page))) => {
                    if let Err(refused) = self.objects.show(&page) {
                        self.refuse(refused);
                        return;
                    }
                }
                Some(Ok(Record::Call(call))) => {
                    self.head = Some(call);
                    break;
                }
                Some(Ok(Record::End)) | None => break,
                Some(Err(error)) => {
                    self.stop(error.into());
                    return;
                }
            }
        }
        self.objects.seen();
    }
}

/// Returns `true` if a call is the recorded one: what went in, not what came out.
fn is_same(recorded: &Call, came: &Call) -> bool {
    recorded.file == came.file
        && match (&recorded.action, &came.action) {
            (Action::Open, Action::Open) | (Action::Close, Action::Close) => true,
            (Action::Ioctl(a), Action::Ioctl(b)) => a.request == b.request && a.input == b.input && a.read == b.read,
            (
                &Action::Map { offset, len, writable, fixed, .. },
                &Action::Map { offset: o, len: l, writable: w, fixed: f, .. },
            ) => (offset, len, writable, fixed) == (o, l, w, f),
            (&Action::Unmap { memory, len }, &Action::Unmap { memory: m, len: l }) => (memory, len) == (m, l),
            _ => false,
        }
}
