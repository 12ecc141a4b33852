//! Objects that clients hold by descriptor: sync files, shared sync objects, dma-bufs and timelines of sw_sync.
//!
//! Descriptors are duplicated, inherited and sent to other processes, so their numbers mean nothing: a file is recognised
//! by its device and inode number. The table keeps what a descriptor names alive, as the kernel's open file does, and so it
//! must learn when the last copy of a descriptor is closed, wherever that is:
//!
//! * a sync file or a shared sync object is one end of a socket pair, whose other end is kept here: it reports a hang-up
//!   once the last copy of the first is closed;
//! * a dma-buf is an open file of the BO's memory that carries a lock, which goes with the last copy of the descriptor and
//!   the last mapping made through it (`dma_buf.rs`).
//!
//! A timeline is such a pair, too, which is watched (`timelines.rs`): its end signals fences. The others are checked from time to time, and before objects are counted.

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
    files::file_id::FileId,
    mm::bo::errno_of,
    sched::context::Contexts,
    sync::{dma_buf::DmaBuf, sync_file::SyncFile, syncobj::Syncobj, timeline::Timeline},
};

/// The object of a descriptor.
#[derive(Clone, Debug)]
pub(crate) enum Shared {
    SyncFile(Arc<SyncFile>),
    Syncobj(Arc<Syncobj>),
    DmaBuf(Arc<DmaBuf>),
    /// A timeline that user space moves.
    Timeline(Arc<Timeline>),
    /// An open node, as long as it is open: what SCHED needs of it.
    Node(Weak<Contexts>),
}

#[derive(Debug)]
struct Entry {
    shared: Shared,
    /// The other end of the socket pair whose one end the clients have.
    end: Option<UnixStream>,
}

impl Entry {
    /// Returns `true` if a client may still come with the descriptor.
    fn is_open(&self) -> bool {
        match (&self.shared, &self.end) {
            (Shared::DmaBuf(dma_buf), _) => dma_buf.is_open(),
            (Shared::Timeline(timeline), _) => !timeline.is_closed(),
            (Shared::Node(contexts), _) => contexts.strong_count() > 0,
            (_, Some(end)) => has_peer(end),
            (_, None) => false,
        }
    }
}

/// Returns `true` if the other end is open.
fn has_peer(end: &UnixStream) -> bool {
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
    /// dma-bufs whose BO had no handle left at the last check.
    orphans: HashSet<FileId>,
    /// Entries after the last look at all of them.
    looked_at: usize,
}

/// Growth in entries after which the table is swept, unless it has doubled before.
const GROWTH: usize = 64;

impl Descriptors {
    /// Returns the object of the descriptor; `None` for any other file.
    pub(crate) fn find(&self, fd: impl AsFd) -> Result<Option<Shared>, Errno> {
        let id = FileId::of(fd)?;
        Ok(self.0.lock().entries.get(&id).map(|entry| entry.shared.clone()))
    }

    /// A new descriptor for a client, which closes on exec. Its object is made with the other end, which makes it
    /// readable.
    fn add_pair(&self, shared: impl FnOnce(&UnixStream) -> Result<Shared, Errno>) -> Result<OwnedFd, Errno> {
        let (theirs, ours) = UnixStream::pair().map_err(errno_of)?;
        let entry = Entry { shared: shared(&ours)?, end: Some(ours) };
        self.insert(FileId::of(&theirs)?, entry);
        Ok(theirs.into())
    }

    /// A descriptor that shares a sync object.
    pub(crate) fn add_syncobj(&self, syncobj: Arc<Syncobj>) -> Result<OwnedFd, Errno> {
        self.add_pair(|_| Ok(Shared::Syncobj(syncobj)))
    }

    /// A sync file, readable once its fence has signalled.
    pub(crate) fn add_sync_file(&self, sync_file: SyncFile) -> Result<OwnedFd, Errno> {
        self.add_pair(|end| {
            sync_file.make_readable_when_signalled(end)?;
            Ok(Shared::SyncFile(Arc::new(sync_file)))
        })
    }

    /// A descriptor of a timeline, whose other end is watched elsewhere.
    pub(crate) fn add_timeline(&self, id: FileId, timeline: Arc<Timeline>) {
        self.insert(id, Entry { shared: Shared::Timeline(timeline), end: None });
    }

    /// A descriptor of the host stands for an open node.
    pub(crate) fn add_node(&self, id: FileId, contexts: &Arc<Contexts>) {
        self.insert(id, Entry { shared: Shared::Node(Arc::downgrade(contexts)), end: None });
    }

    /// Remembers a dma-buf by its descriptor's file.
    pub(crate) fn add_dma_buf(&self, id: FileId, dma_buf: impl FnOnce() -> DmaBuf) {
        let known = self.0.lock().entries.contains_key(&id);
        if !known {
            self.insert(id, Entry { shared: Shared::DmaBuf(Arc::new(dma_buf())), end: None });
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

    /// The last handle of a BO went: its dma-buf lives on its own from now on, or not at all.
    pub(crate) fn orphan(&self, id: FileId) {
        self.0.lock().orphans.insert(id);
        self.sweep();
    }

    /// Forgets every dma-buf that has neither handles nor descriptors left. Call it before counting memory.
    pub(crate) fn sweep(&self) {
        // What goes with an entry goes outside the lock.
        let gone = self.0.lock().take_orphans();
        drop(gone);
    }
}

impl Table {
    fn take_orphans(&mut self) -> Vec<Entry> {
        let mut gone = Vec::new();
        let Self { entries, orphans, .. } = self;
        orphans.retain(|id| match entries.get(id).map(|entry| &entry.shared) {
            Some(Shared::DmaBuf(dma_buf)) if dma_buf.bo().sharing.has_handles() => false,
            Some(Shared::DmaBuf(dma_buf)) if dma_buf.is_open() => true,
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
        assert!(matches!(descriptors.find(&copy), Ok(Some(Shared::Syncobj(_)))));
    }
}
