//! The order of the recorded calls: each is played when it is its turn.

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

/// The errno of all calls after a replay has stopped. It means that the device is gone, so that clients make no further requests.
pub(super) const DIVERGED: Errno = Errno::ENODEV;

/// The default time that a thread waits for another thread's call that comes before its own.
const PATIENCE: Duration = Duration::from_secs(10);

/// The state of a replay, shared by its files.
pub(super) struct Playback {
    state: Mutex<PlaybackState>,
    /// Notified when the next call of the recording has changed.
    bell: Condvar,
    pub(super) notes: BTreeMap<String, String>,
}

impl std::fmt::Debug for Playback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").field("notes", &self.notes).finish_non_exhaustive()
    }
}

/// The progress of a replay.
pub(super) struct PlaybackState {
    reader: Reader<Box<dyn Read + Send>>,
    /// The next call; `None` at the end of the recording and while the call is being played.
    pub(super) head: Option<Call>,
    /// Number of the next call.
    pub(super) call: u64,
    pub(super) files: u32,
    lanes: HashMap<ThreadId, u32>,
    taken: HashSet<u32>,
    pub(super) objects: Objects,
    pub(super) patience: Duration,
    /// `true` if waiting threads must be notified, which the next thread that takes the lock does.
    rung: bool,
    pub(super) error: Option<Arc<ReplayError>>,
}

impl Playback {
    /// Reads up to the first call.
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
        let state = PlaybackState {
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

    pub(super) fn lock(&self) -> MutexGuard<'_, PlaybackState> {
        let mut state = self.state.lock();
        if std::mem::take(&mut state.rung) {
            self.bell.notify_all();
        }
        state
    }

    /// Waits until it is the turn of this call. Returns the recorded call, which the caller plays and then
    /// [completes](PlaybackState::advance).
    pub(super) fn turn(&self, file: u32, came: Action) -> Result<(MutexGuard<'_, PlaybackState>, Call), Errno> {
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
                // Waits are short, because the thread that advances notifies only when the lock is next taken.
                Verdict::Wait if started.elapsed() < state.patience => {
                    let _ = self.bell.wait_for(&mut state, Duration::from_millis(1));
                }
                Verdict::Wait => state.stall(&came),
            }
        }
    }
}

/// The decision about a call.
enum Verdict {
    Play(Call),
    Wait,
    Stop,
}

impl PlaybackState {
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
        // A thread without a recorded number may be another one than the thread whose turn it is, but not if it is the only thread.
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

    /// Stops the replay at a recorded result that no kernel could have returned.
    pub(super) fn nonsense(&mut self, why: &'static str) -> Errno {
        self.stop(ReplayError::Nonsense { call: self.call, why });
        DIVERGED
    }

    /// Stops the replay because the host has not enough resources.
    pub(super) fn fail(&mut self, errno: Errno) -> Errno {
        self.stop(ReplayError::Host { call: self.call, errno });
        errno
    }

    /// Returns the errno for a refused call. An impossible result stops the replay. If only the host has not enough resources, the
    /// client gets its errno.
    pub(super) fn refuse(&mut self, refused: Refused) -> Errno {
        match refused {
            Refused::Nonsense(why) => self.nonsense(why),
            Refused::Host(errno) => errno,
        }
    }

    /// Completes the current call, and writes the GPU's stores recorded after it to the client's memory.
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

/// Returns `true` if a call equals the recorded one in its inputs.
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
