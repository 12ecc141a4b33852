//! Files of sysfs that can be written, as clients have them open.
//!
//! A client's write is a message on a socket whose other end is in the server. The server performs it before it serves the next
//! call of any client, or when its waiting thread receives the message, whichever is first. A client can query the outcome.

use std::{
    collections::HashMap,
    os::fd::{AsRawFd, OwnedFd},
};

use amdgpu_sim::{SimDevice, sysfs::Store};
use nix::{
    errno::Errno,
    sys::{
        socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, socketpair},
        stat::fstat,
    },
};
use parking_lot::Mutex;

/// Bytes of one write that are read.
const PAGE: usize = 4096;
/// Open files of this kind in a world at most.
const MOST: usize = 256;
/// Messages that are read at once: more than a socket's buffer holds by default. Those behind them are read next time.
const MOST_MESSAGES: usize = 1024;

/// One that is open.
#[derive(Debug)]
struct Opened {
    store: Store,
    device: Option<SimDevice>,
    /// The process that opened it.
    pid: libc::pid_t,
    /// Inode of the client's end.
    inode: u64,
    end: OwnedFd,
    /// Outcome of the last write.
    outcome: Result<(), Errno>,
}

/// Something that a client wrote.
#[derive(Debug)]
pub(crate) struct Written {
    number: u64,
    pub(crate) store: Store,
    pub(crate) device: Option<SimDevice>,
    /// The process that opened the file.
    pub(crate) pid: libc::pid_t,
    pub(crate) text: Vec<u8>,
}

/// The open files that can be written, by number.
#[derive(Debug, Default)]
pub(crate) struct Stores {
    opened: Mutex<HashMap<u64, Opened>>,
    /// In the order of writing.
    written: Mutex<Vec<Written>>,
    /// Held while writes are carried out, so that who takes it finds the earlier ones over.
    carrying: Mutex<()>,
}

impl Stores {
    /// Opens one under a number, and has the server's end watched; the client's end.
    pub(crate) fn open(
        &self,
        number: u64,
        (store, device): (Store, Option<SimDevice>),
        pid: libc::pid_t,
        watch: impl FnOnce(&OwnedFd) -> Result<(), Errno>,
    ) -> Result<OwnedFd, Errno> {
        let mut opened = self.opened.lock();
        if opened.len() >= MOST {
            return Err(Errno::ENFILE);
        }
        let (end, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        let inode = fstat(&theirs)?.st_ino;
        watch(&end)?;
        opened.insert(number, Opened { store, device, pid, inode, end, outcome: Ok(()) });
        Ok(theirs)
    }

    /// Reads what was written to one, which is forgotten if its client has closed it. Returns `false` if there is none with
    /// this number.
    pub(crate) fn read(&self, number: u64, is_closed: bool) -> bool {
        let mut opened = self.opened.lock();
        let Some(one) = opened.get(&number) else { return false };
        let mut page = [0; PAGE];
        for _ in 0..MOST_MESSAGES {
            let Ok(len) = recv(one.end.as_raw_fd(), &mut page, MsgFlags::MSG_DONTWAIT) else { break };
            // A write of nothing has no effect, and looks like the end.
            let Some(text) = page.get(..len).filter(|text| !text.is_empty()) else { break };
            let (text, device) = (text.to_vec(), one.device.clone());
            self.written.lock().push(Written { number, store: one.store, device, pid: one.pid, text });
        }
        if is_closed {
            opened.remove(&number);
        }
        true
    }

    /// Carries out what was written.
    pub(crate) fn carry_out(&self, mut action: impl FnMut(&Written) -> Result<(), Errno>) {
        let _carrying = self.carrying.lock();
        let written = std::mem::take(&mut *self.written.lock());
        for one in written {
            let outcome = action(&one);
            if let Some(opened) = self.opened.lock().get_mut(&one.number) {
                opened.outcome = outcome;
            }
        }
    }

    /// Returns the outcome of the last write to the file whose client's end has this inode.
    pub(crate) fn outcome(&self, inode: u64) -> Result<(), Errno> {
        let opened = self.opened.lock();
        opened.values().find(|one| one.inode == inode).map_or(Err(Errno::EBADF), |one| one.outcome)
    }
}
