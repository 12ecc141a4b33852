//! Calls to the server, over connections that are kept for the next one.
//!
//! A connection carries one call at a time; a thread takes one that is idle or makes a new one. Nothing here takes a lock or
//! belongs to a thread, so a child may call at once after fork, whatever its parent's other threads were doing.

use std::{
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd},
    sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering},
};

use amdgpu_sim_world::{Answer, Call, Connection, Message};
use nix::{
    errno::Errno,
    sys::{
        socket::{getsockopt, sockopt::PeerCredentials},
        stat::fstat,
    },
};

use crate::world::{self, World};

/// Idle connections kept at most.
const MOST_IDLE: usize = 32;

const EMPTY: u8 = 0;
const BUSY: u8 = 1;
const FULL: u8 = 2;

/// Room for one idle connection.
///
/// # Invariants
///
/// `process`, `number` and `inode` are only read and written by the one who changed `state` to `BUSY`.
struct Slot {
    state: AtomicU8,
    process: AtomicI32,
    number: AtomicI32,
    inode: AtomicU64,
}

static IDLE: [Slot; MOST_IDLE] = [const {
    Slot {
        state: AtomicU8::new(EMPTY),
        process: AtomicI32::new(0),
        number: AtomicI32::new(-1),
        inode: AtomicU64::new(0),
    }
}; MOST_IDLE];

impl Slot {
    fn claim(&self, from: u8) -> bool {
        self.state.compare_exchange(from, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// The connection in it, unless the program closed it behind our back and the number now is something else's.
    ///
    /// One that the parent process left here is closed: a connection belongs to one process.
    fn take(&self) -> Option<Connection> {
        if !self.claim(FULL) {
            return None;
        }
        let (number, inode) = (self.number.load(Ordering::Relaxed), self.inode.load(Ordering::Relaxed));
        let ours = self.process.load(Ordering::Relaxed) == process();
        self.state.store(EMPTY, Ordering::Release);
        let connection = adopt(number, inode)?;
        ours.then_some(connection)
    }

    fn put(&self, number: RawFd, inode: u64) -> bool {
        if !self.claim(EMPTY) {
            return false;
        }
        self.number.store(number, Ordering::Relaxed);
        self.inode.store(inode, Ordering::Relaxed);
        self.process.store(process(), Ordering::Relaxed);
        self.state.store(FULL, Ordering::Release);
        true
    }
}

fn process() -> libc::pid_t {
    std::process::id().cast_signed()
}

#[expect(unsafe_code, reason = "takes a descriptor back from a number")]
fn adopt(number: RawFd, inode: u64) -> Option<Connection> {
    if number < 0 {
        return None;
    }
    // SAFETY: borrowed only to ask for its inode; a number that is not open gives EBADF.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    if fstat(borrowed).ok()?.st_ino != inode {
        return None;
    }
    // SAFETY: it has the inode of the connection that was put here, so it is that connection, which `put` gave up.
    Some(Connection::from_fd(unsafe { OwnedFd::from_raw_fd(number) }))
}

fn keep(connection: Connection) {
    let fd = connection.into_fd();
    let Ok(about) = fstat(&fd) else { return };
    let number = fd.as_raw_fd();
    if IDLE.iter().any(|slot| slot.put(number, about.st_ino)) {
        let _ = fd.into_raw_fd();
    }
}

fn connect(world: &World) -> Result<Connection, Errno> {
    let connection = Connection::open(&world.socket).map_err(|errno| {
        let full = errno == Errno::EUSERS;
        let why = if full { "has no room for another connection" } else { "does not answer" };
        world::say_once(&format!("the server of {} {why}: {errno}", world.name));
        if full { errno } else { Errno::ENODEV }
    })?;
    if let Ok(server) = getsockopt(&connection.as_fd(), PeerCredentials) {
        world::admit(server.pid());
    }
    Ok(connection)
}

/// Makes a call.
///
/// # Errors
///
/// The call's errno, and ENODEV when the server is gone.
pub(crate) fn call(world: &World, message: &Message) -> Result<Answer, Errno> {
    let connection = match IDLE.iter().find_map(Slot::take) {
        Some(connection) => connection,
        None => connect(world)?,
    };
    let result = connection.call(message);
    // After ENODEV it may be out of step, or dead.
    if !matches!(result, Err(Errno::ENODEV)) {
        keep(connection);
    }
    result
}

/// A call that is answered with a descriptor.
///
/// # Errors
///
/// As [`call`].
pub(crate) fn call_for_descriptor(world: &World, call_: Call, file: u64, words: [u64; 3]) -> Result<OwnedFd, Errno> {
    call(world, &Message::new(call_, file, words))?.descriptor.ok_or(Errno::ENODEV)
}
