//! Objects that clients refer to by descriptor: sync files, shared sync objects, dma-bufs and timelines of sw_sync.
//!
//! Descriptors are duplicated, inherited and sent to other processes, so their numbers are meaningless: a file is recognized by its
//! device and inode number. The table keeps the object of a descriptor alive, like an open file in the kernel, and must therefore
//! detect when the last copy of a descriptor is closed in any process:
//!
//! * a sync file or a shared sync object is one end of a socket pair, whose other end is stored here: it reports a hang-up after
//!   the last copy of the first end is closed;
//! * a dma-buf is an open file of the BO's memory with a lock, which is released with the last copy of the descriptor and the last
//!   mapping created through it (`dma_buf.rs`).
//!
//! A timeline is also a socket pair, which is watched (`timelines.rs`), because its closing signals fences. The others are checked
//! from time to time, and before objects are counted.

use std::{
    collections::{HashMap, HashSet},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    sync::{Arc, Weak},
};

use amdgpu_uapi::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use parking_lot::Mutex;

use crate::kernel::{
    machine::file_id::FileId,
    mm::bo::dma_buf::DmaBuf,
    process::errno::errno_of,
    sched::context::Contexts,
    sync::{sync_file::SyncFile, syncobj::Syncobj, timeline::Timeline},
};

/// The object that a descriptor refers to.
#[derive(Clone, Debug)]
pub(crate) enum SharedObject {
    SyncFile(Arc<SyncFile>),
    Syncobj(Arc<Syncobj>),
    DmaBuf(Arc<DmaBuf>),
    /// A timeline that user space advances.
    Timeline(Arc<Timeline>),
    /// The contexts of an open node, as long as it is open, for SCHED.
    Node(Weak<Contexts>),
}

#[derive(Debug)]
struct Entry {
    shared: SharedObject,
    /// The end of the socket pair whose other end the clients have.
    end: Option<UnixStream>,
}

impl Entry {
    /// Returns `true` if a client may still have the descriptor.
    fn is_open(&self) -> bool {
        match (&self.shared, &self.end) {
            (SharedObject::DmaBuf(dma_buf), _) => dma_buf.is_open(),
            (SharedObject::Timeline(timeline), _) => !timeline.is_closed(),
            (SharedObject::Node(contexts), _) => contexts.strong_count() > 0,
            (_, Some(end)) => has_peer(end),
            (_, None) => false,
        }
    }
}

/// Returns `true` if the other end is open.
pub(crate) fn has_peer(end: &UnixStream) -> bool {
    let mut fds = [PollFd::new(end.as_fd(), PollFlags::empty())];
    let found = poll(&mut fds, PollTimeout::ZERO);
    let events = fds[0].revents().unwrap_or(PollFlags::empty());
    found.is_err() || !events.contains(PollFlags::POLLHUP)
}

/// The descriptors of a machine.
#[derive(Debug, Default)]
pub(crate) struct Descriptors(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    entries: HashMap<FileId, Entry>,
    /// The dma-bufs whose BO had no handle at the last check.
    orphans: HashSet<FileId>,
    /// The number of entries after the last check of all entries.
    looked_at: usize,
}

/// The minimum growth in entries before the table is swept. A larger table is swept when it has doubled.
const GROWTH: usize = 64;

impl Descriptors {
    /// Returns the object of the descriptor; `None` for all other files.
    pub(crate) fn find(&self, fd: impl AsFd) -> Result<Option<SharedObject>, Errno> {
        let id = FileId::of(fd)?;
        Ok(self.0.lock().entries.get(&id).map(|entry| entry.shared.clone()))
    }

    /// Creates a descriptor for a client, with close-on-exec. The object is created with the other end, which can make the
    /// descriptor readable.
    fn add_pair(&self, shared: impl FnOnce(&UnixStream) -> Result<SharedObject, Errno>) -> Result<OwnedFd, Errno> {
        let (theirs, ours) = UnixStream::pair().map_err(errno_of)?;
        let entry = Entry { shared: shared(&ours)?, end: Some(ours) };
        self.insert(FileId::of(&theirs)?, entry);
        Ok(theirs.into())
    }

    /// Creates a descriptor that shares a sync object.
    pub(crate) fn add_syncobj(&self, syncobj: Arc<Syncobj>) -> Result<OwnedFd, Errno> {
        self.add_pair(|_| Ok(SharedObject::Syncobj(syncobj)))
    }

    /// Creates the descriptor of a sync file, which becomes readable when its fence signals.
    pub(crate) fn add_sync_file(&self, sync_file: SyncFile) -> Result<OwnedFd, Errno> {
        self.add_pair(|end| {
            sync_file.make_readable_when_signalled(end)?;
            Ok(SharedObject::SyncFile(Arc::new(sync_file)))
        })
    }

    /// Registers the descriptor of a timeline, whose other end is watched elsewhere.
    pub(crate) fn add_timeline(&self, id: FileId, timeline: Arc<Timeline>) {
        self.insert(id, Entry { shared: SharedObject::Timeline(timeline), end: None });
    }

    /// Registers a descriptor of the host for an open node.
    pub(crate) fn add_node(&self, id: FileId, contexts: &Arc<Contexts>) {
        self.insert(id, Entry { shared: SharedObject::Node(Arc::downgrade(contexts)), end: None });
    }

    /// Registers a dma-buf by its descriptor's file.
    pub(crate) fn add_dma_buf(&self, id: FileId, dma_buf: impl FnOnce() -> DmaBuf) {
        let known = self.0.lock().entries.contains_key(&id);
        if !known {
            self.insert(id, Entry { shared: SharedObject::DmaBuf(Arc::new(dma_buf())), end: None });
        }
    }

    fn insert(&self, id: FileId, entry: Entry) {
        let gone = {
            let mut table = self.0.lock();
            let replaced = table.entries.insert(id, entry);
            let grown = table.entries.len() > table.looked_at.saturating_add(GROWTH.max(table.looked_at));
            let mut gone = if grown { table.take_closed() } else { Vec::new() };
            gone.extend(replaced);
            gone
        };
        drop(gone);
    }

    /// Handles the closing of a BO's last handle: from now on the dma-buf behind a descriptor lives only as long as its other
    /// descriptors.
    pub(crate) fn orphan_behind(&self, link: OwnedFd) {
        let id = FileId::of(&link);
        drop(link);
        if let Ok(id) = id {
            self.0.lock().orphans.insert(id);
            self.sweep();
        }
    }

    /// Removes all dma-bufs without handles and descriptors. Call it before counting memory.
    pub(crate) fn sweep(&self) {
        // The removed entries are dropped after the lock is released.
        let gone = self.0.lock().take_orphans();
        drop(gone);
    }
}

impl Table {
    fn take_orphans(&mut self) -> Vec<Entry> {
        let mut gone = Vec::new();
        let Self { entries, orphans, .. } = self;
        orphans.retain(|id| match entries.get(id).map(|entry| &entry.shared) {
            Some(SharedObject::DmaBuf(dma_buf)) if dma_buf.bo().sharing.has_handles() => false,
            Some(SharedObject::DmaBuf(dma_buf)) if dma_buf.is_open() => true,
            _ => {
                gone.extend(entries.remove(id));
                false
            }
        });
        gone
    }

    fn take_closed(&mut self) -> Vec<Entry> {
        let gone = self.entries.extract_if(|_, entry| !entry.is_open()).map(|(_, entry)| entry).collect();
        self.looked_at = self.entries.len();
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::sync::fence::Fence;

    #[test]
    fn closed_descriptors_are_forgotten_and_open_ones_are_not() {
        let descriptors = Descriptors::default();
        let kept: Vec<_> = (0..10).map(|_| descriptors.add_syncobj(Arc::default()).unwrap()).collect();
        let copy = kept[0].try_clone().unwrap();
        for _ in 0..1000 {
            drop(descriptors.add_sync_file(SyncFile::new(Fence::signalled())).unwrap());
        }
        assert!(descriptors.0.lock().entries.len() <= 2 * GROWTH + kept.len());
        drop(kept);
        let gone = descriptors.0.lock().take_closed();
        assert_eq!(descriptors.0.lock().entries.len(), 1, "the copy names it: {gone:?}");
        assert!(matches!(descriptors.find(&copy), Ok(Some(SharedObject::Syncobj(_)))));
    }
}
