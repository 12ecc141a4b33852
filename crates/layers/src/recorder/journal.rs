//! The journal of a recording, with records in the order in which calls return.

use std::{
    collections::{BTreeMap, HashMap},
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    io::{self, Write},
    ptr::NonNull,
    sync::{Arc, Weak},
    thread::ThreadId,
    time::Duration,
};

use amdgpu_uapi::Errno;
use parking_lot::Mutex;

use crate::{
    client::{
        calls::Effect,
        view::{PAGE, UserPages, View, Window},
    },
    format::{Action, Call, FileError, Ib, Page, Record, Writer},
};

/// Time after which a client that makes no call gets the GPU's writes, because it may be polling for them.
const QUIET: Duration = Duration::from_millis(500);
/// The longest pause between two such synchronizations, as a multiple.
const MOST_QUIETS: u32 = 32;

/// The writer of a recording's records, with the state that it needs.
pub(super) struct Journal {
    writer: Option<Writer<Box<dyn Write + Send>>>,
    error: Option<io::Error>,
    records: u64,
    files: u32,
    lanes: HashMap<ThreadId, u32>,
    memories: u32,
    /// Mapped BOs by offset in the device node, which identifies a BO in every file.
    watched: BTreeMap<u64, Watched>,
    /// The client's own pages by file and handle.
    user_pages: BTreeMap<(u32, u32), (u32, UserPages)>,
    /// Changes in user pages at the start of a submission, recorded after it: at that point of a replay, the client has made its
    /// own part of the changes.
    held: Vec<Page>,
    /// A hash of the last recorded content of each IB, by file, address and length.
    ibs: HashMap<(u32, u64, u32), u64>,
    /// Number of calls that have begun.
    begun: u64,
    /// Number of calls that have not returned.
    under_way: u32,
    /// `true` once there was a submission.
    submitted: bool,
}

/// The journal of a recording, shared by its recorders.
pub(super) type SharedJournal = Arc<Mutex<Journal>>;

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("records", &self.records).field("files", &self.files).finish_non_exhaustive()
    }
}

/// A mapped BO with the client's view and the recorder's own mappings.
struct Watched {
    memory: u32,
    view: View,
    /// The mappings of the BO itself, by the client's address.
    windows: BTreeMap<usize, Window>,
}

/// A mapping that the client requests.
pub(super) struct Mapped {
    pub(super) offset: u64,
    pub(super) len: usize,
    pub(super) writable: bool,
    pub(super) at: Option<NonNull<u8>>,
}

/// Copies the GPU's writes to a client that makes no calls, until the journal is dropped.
fn look_after(journal: &Weak<Mutex<Journal>>) {
    let (mut begun, mut pause) = (0, 1);
    loop {
        std::thread::park_timeout(QUIET * pause);
        let Some(journal) = journal.upgrade() else { return };
        let mut journal = journal.lock();
        if journal.begun != begun {
            begun = journal.begun;
            pause = 1;
        } else if journal.submitted && journal.under_way == 0 {
            let before = journal.records;
            journal.push();
            journal.pull(false);
            pause = if journal.records == before { (pause * 2).min(MOST_QUIETS) } else { 1 };
        }
    }
}

impl Journal {
    /// Creates a journal that writes to `out`, and starts the thread that synchronizes idle clients.
    pub(super) fn begin(out: Box<dyn Write + Send>) -> io::Result<SharedJournal> {
        let journal = Self {
            writer: Some(Writer::new(out)?),
            error: None,
            records: 0,
            files: 0,
            lanes: HashMap::new(),
            memories: 0,
            watched: BTreeMap::new(),
            user_pages: BTreeMap::new(),
            held: Vec::new(),
            ibs: HashMap::new(),
            begun: 0,
            under_way: 0,
            submitted: false,
        };
        let shared = Arc::new(Mutex::new(journal));
        let watched = Arc::downgrade(&shared);
        std::thread::Builder::new().name("recording".to_owned()).spawn(move || look_after(&watched))?;
        Ok(shared)
    }

    pub(super) fn write(&mut self, record: &Record) {
        let Some(writer) = &mut self.writer else { return };
        match writer.write(record) {
            Ok(()) => self.records += 1,
            Err(error) => {
                tracing::error!(%error, "the recording ends here");
                self.writer = None;
                self.error = Some(error);
            }
        }
    }

    pub(super) fn finish(&mut self) -> Result<u64, FileError> {
        self.write(&Record::End);
        if let Some(Err(error)) = self.writer.take().map(|mut writer| writer.flush()) {
            self.error = Some(error);
        }
        match self.error.take() {
            Some(error) => Err(FileError::Io { offset: 0, error }),
            None => Ok(self.records),
        }
    }

    /// Notes the start of a call, and copies the client's stores to the BOs if the call needs that.
    pub(super) fn before(&mut self, effect: Effect) {
        self.begun += 1;
        self.under_way += 1;
        self.submitted |= effect == Effect::Submits;
        if effect != Effect::Nothing {
            self.push();
        }
        if effect == Effect::Submits {
            let mut held = std::mem::take(&mut self.held);
            self.look_at_user_pages(&mut held);
            self.held = held;
        }
    }

    /// Notes the end of a call that was recorded, and records the GPU's stores.
    pub(super) fn after(&mut self, effect: Effect) {
        self.under_way = self.under_way.saturating_sub(1);
        for page in std::mem::take(&mut self.held) {
            self.write(&Record::Page(page));
        }
        self.pull(matches!(effect, Effect::Nothing | Effect::Submits));
        if let (Effect::Submits | Effect::Waits, Some(writer)) = (effect, &mut self.writer)
            && let Err(error) = writer.flush()
        {
            tracing::error!(%error, "the recording ends here");
            self.writer = None;
            self.error = Some(error);
        }
    }

    pub(super) fn call(&mut self, file: u32, action: Action, errno: Option<Errno>) {
        let lanes = self.lanes.len() as u32;
        let lane = *self.lanes.entry(std::thread::current().id()).or_insert(lanes);
        self.write(&Record::Call(Call { file, lane, action, errno: errno.map_or(0, Errno::raw) }));
    }

    pub(super) fn open(&mut self) -> u32 {
        let file = self.files;
        self.files += 1;
        self.call(file, Action::Open, None);
        file
    }

    pub(super) fn close(&mut self, file: u32) {
        self.user_pages.retain(|(owner, _), _| *owner != file);
        self.call(file, Action::Close, None);
    }

    fn next_memory(&mut self) -> u32 {
        let memory = self.memories;
        self.memories += 1;
        memory
    }

    /// Copies the client's stores to the BOs.
    fn push(&mut self) {
        for watched in self.watched.values_mut() {
            let Watched { view, windows, .. } = watched;
            if let Some(window) = windows.values().find(|window| window.is_writable()) {
                view.push(window);
            }
        }
    }

    /// Copies the GPU's stores to the client and records them. Clients poll user fences, which are exactly one page (Linux 6.12
    /// `amdgpu_cs.c`, `amdgpu_cs_p1_user_fence`), without calls. With `only_fences`, other BOs are compared only if a BO of one
    /// page has changed. Fences are compared first, so that no memory is older than its fence.
    fn pull(&mut self, only_fences: bool) {
        let mut pages = Vec::new();
        self.pull_views(&mut pages, |view| view.len() == PAGE);
        if !only_fences || !pages.is_empty() {
            self.pull_views(&mut pages, |view| view.len() != PAGE);
            self.look_at_user_pages(&mut pages);
        }
        for page in pages {
            self.write(&Record::Page(page));
        }
    }

    /// Compares user pages. They include stores of the client, which a replayed client has also made at this point.
    fn look_at_user_pages(&mut self, pages: &mut Vec<Page>) {
        for (memory, user) in self.user_pages.values_mut() {
            user.look(*memory, |page| pages.push(page));
        }
    }

    fn pull_views(&mut self, pages: &mut Vec<Page>, wanted: impl Fn(&View) -> bool) {
        for Watched { view, windows, memory } in self.watched.values_mut() {
            if let Some(window) = windows.values().next().filter(|_| wanted(view)) {
                view.pull(window, *memory, |page| pages.push(page));
            }
        }
    }

    pub(super) fn watch_user_pages(&mut self, key: (u32, u32), address: u64, len: u64) -> u32 {
        let memory = self.next_memory();
        let mut pages = UserPages::new(address, len);
        // The current content is the client's own.
        pages.look(memory, drop);
        self.user_pages.insert(key, (memory, pages));
        memory
    }

    pub(super) fn forget_user_pages(&mut self, key: (u32, u32)) {
        self.user_pages.remove(&key);
    }

    /// Returns current dwords of a mapped BO.
    pub(super) fn mapped_dwords(&self, node_offset: u64, offset: u64, dwords: usize) -> Option<Vec<u32>> {
        self.watched.get(&node_offset)?.windows.values().next()?.dwords(offset, dwords)
    }

    /// Returns `true` while records are written.
    pub(super) fn is_open(&self) -> bool {
        self.writer.is_some()
    }

    /// Records the IBs whose content has changed since they were last recorded.
    pub(super) fn submits(&mut self, ibs: Vec<Ib>) {
        for ib in ibs {
            let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&ib.dwords);
            if self.ibs.insert((ib.file, ib.va, ib.len), hash) != Some(hash) {
                self.write(&Record::Ib(ib));
            }
        }
    }

    /// Maps a view for the client, for a BO that is mapped at `window`.
    ///
    /// # Safety
    ///
    /// If `at` is given, the caller must own the range.
    pub(super) unsafe fn map(&mut self, wanted: &Mapped, window: Window) -> Result<(u32, NonNull<u8>), Errno> {
        let fits = |watched: &Watched| watched.view.len() >= window.len();
        if !self.watched.get(&wanted.offset).is_some_and(fits) {
            if self.watched.get(&wanted.offset).is_some_and(|watched| !watched.windows.is_empty()) {
                // A second mapping that is longer than the first. Clients that map BOs in their exact size do not do this.
                return Err(Errno::EOPNOTSUPP);
            }
            let memory = self.next_memory();
            let view = View::new(window.len() as u64)?;
            self.watched.insert(wanted.offset, Watched { memory, view, windows: BTreeMap::new() });
        }
        let Some(watched) = self.watched.get_mut(&wanted.offset) else { return Err(Errno::ENOMEM) };
        // SAFETY: the caller's promise.
        let address = unsafe { watched.view.map(wanted.len, wanted.writable, wanted.at) }?;
        watched.windows.insert(address.as_ptr().expose_provenance(), window);
        Ok((watched.memory, address))
    }

    /// Returns the number of the memory that is mapped at an address of the client, and the address at which the BO itself is
    /// mapped.
    pub(super) fn mapping(&self, address: NonNull<u8>) -> Option<(u32, NonNull<u8>)> {
        let address = address.as_ptr().addr();
        self.watched.values().find_map(|of| of.windows.get(&address).map(|window| (of.memory, window.base())))
    }

    /// Removes a mapping, and unmaps the client's view.
    ///
    /// # Safety
    ///
    /// The client must not use the mapping any more.
    pub(super) unsafe fn unmap(&mut self, address: NonNull<u8>, len: usize) {
        // SAFETY: `address` is a mapping of a view, made by `map`, and the caller gives it up.
        if let Err(errno) = unsafe { nix::sys::mman::munmap(address.cast(), len) } {
            tracing::error!(%errno, "a view could not be unmapped");
        }
        for watched in self.watched.values_mut() {
            watched.windows.remove(&address.as_ptr().addr());
        }
        self.watched.retain(|_, watched| !watched.windows.is_empty());
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.writer.is_some()
            && let Err(error) = self.finish()
        {
            tracing::error!(%error, "the recording was not finished");
        }
    }
}
