//! Calls to the server, over connections that are kept for the next one.
//!
//! A connection carries one call at a time; a thread takes one that is idle or makes a new one. Nothing here takes a lock or
//! belongs to a thread, so a child may call at once after fork, whatever its parent's other threads were doing.
//!
//! A call needs descriptors that a call of a real kernel does not: a connection, and the memory to map. A program that has
//! used up all of its own is served from two that are held in reserve.

use std::{
    ops::ControlFlow,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd},
    sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering},
};

use amdgpu_sim_world::{Answer, Call, Connection, Message};
use nix::{
    errno::Errno,
    sys::{
        socket::{AddressFamily, SockFlag, SockType, socket},
        stat::fstat,
    },
};

use crate::world::{self, World};

/// Idle connections kept at most.
const MOST_IDLE: usize = 32;

const EMPTY: u8 = 0;
const BUSY: u8 = 1;
const FULL: u8 = 2;

/// Descriptors held in reserve: one for a connection, one for what goes and comes over it.
const SPARES: usize = 2;

/// Room for one descriptor of the shim's own.
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

static IDLE: [Slot; MOST_IDLE] = [const { Slot::new() }; MOST_IDLE];
static SPARE: [Slot; SPARES] = [const { Slot::new() }; SPARES];

impl Slot {
    const fn new() -> Self {
        Self {
            state: AtomicU8::new(EMPTY),
            process: AtomicI32::new(0),
            number: AtomicI32::new(-1),
            inode: AtomicU64::new(0),
        }
    }

    fn claim(&self, from: u8) -> bool {
        self.state.compare_exchange(from, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// The descriptor in it, unless the program closed it behind our back and the number now is something else's; and
    /// whether this process put it there.
    fn take(&self) -> Option<(OwnedFd, bool)> {
        if !self.claim(FULL) {
            return None;
        }
        let (number, inode) = (self.number.load(Ordering::Relaxed), self.inode.load(Ordering::Relaxed));
        let ours = self.process.load(Ordering::Relaxed) == process();
        self.state.store(EMPTY, Ordering::Release);
        adopt(number, inode).map(|fd| (fd, ours))
    }

    /// The idle connection in it. One that the parent process left here is closed: a connection belongs to one process.
    fn take_connection(&self) -> Option<Connection> {
        let (fd, ours) = self.take()?;
        ours.then(|| Connection::from_fd(fd))
    }

    /// Puts a descriptor there, or gives it back.
    fn keep(&self, fd: OwnedFd) -> Result<(), OwnedFd> {
        let Ok(about) = fstat(&fd) else { return Err(fd) };
        if !self.put(fd.as_raw_fd(), about.st_ino) {
            return Err(fd);
        }
        let _ = fd.into_raw_fd();
        Ok(())
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
fn adopt(number: RawFd, inode: u64) -> Option<OwnedFd> {
    if number < 0 {
        return None;
    }
    // SAFETY: borrowed only to ask for its inode; a number that is not open gives EBADF.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    if fstat(borrowed).ok()?.st_ino != inode {
        return None;
    }
    // SAFETY: it has the inode of the socket that was put here, so it is that socket, which `put` gave up.
    Some(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Keeps a connection for the next call; one that there is no room for is closed.
fn keep(connection: Connection) {
    let kept = IDLE.iter().try_fold(connection.into_fd(), |fd, slot| match slot.keep(fd) {
        Ok(()) => ControlFlow::Break(()),
        Err(fd) => ControlFlow::Continue(fd),
    });
    drop(kept);
}

/// Fills the reserve, as far as the program leaves descriptors for it.
fn refill() {
    for slot in SPARE.iter().filter(|slot| slot.state.load(Ordering::Relaxed) == EMPTY) {
        // A socket, because its inode is its own.
        let Ok(spare) = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None) else { return };
        // Another thread may have filled it meanwhile; then this one is closed.
        drop(slot.keep(spare));
    }
}

/// Makes a system call again with descriptors of the reserve freed for it, one after the other, if the program has none left.
fn with_spare<T>(mut work: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match work() {
            Err(Errno::EMFILE) => {}
            other => return other,
        }
        let Some(spare) = SPARE.iter().find_map(Slot::take) else { return Err(Errno::EMFILE) };
        drop(spare);
    }
}

fn connect(world: &World) -> Result<Connection, Errno> {
    let connection = with_spare(|| Connection::open(&world.socket)).map_err(|errno| {
        if errno == Errno::EMFILE {
            return errno;
        }
        let full = errno == Errno::EUSERS;
        let why = if full { "has no room for another connection" } else { "does not answer" };
        world::say_once(&format!("the server of {} {why}: {errno}", world.name));
        if full { errno } else { Errno::ENODEV }
    })?;
    Ok(connection)
}

/// Makes a call.
///
/// # Errors
///
/// The call's errno, and ENODEV when the server is gone.
pub(crate) fn call(world: &World, message: &Message) -> Result<Answer, Errno> {
    let connection = match IDLE.iter().find_map(Slot::take_connection) {
        Some(connection) => connection,
        None => connect(world)?,
    };
    let result = connection.call(message);
    // After ENODEV it may be out of step, or dead.
    if !matches!(result, Err(Errno::ENODEV)) {
        keep(connection);
    }
    refill();
    result
}

/// A call that is answered with a descriptor.
///
/// # Errors
///
/// Those of [`call`], and EMFILE when this process has no number left for the descriptor.
pub(crate) fn call_for_descriptor(world: &World, call_: Call, file: u64, words: [u64; 3]) -> Result<OwnedFd, Errno> {
    // The kernel drops a descriptor for which there is no number.
    call(world, &Message::new(call_, file, words))?.descriptor.ok_or(Errno::EMFILE)
}

/// Calls for a descriptor that the program never sees: if no number is left it takes one of the reserve's. It is given to
/// `use_it`, and closed before the reserve is refilled.
///
/// # Errors
///
/// Those of [`call`].
pub(crate) fn use_descriptor<T>(
    world: &World,
    call_: Call,
    file: u64,
    words: [u64; 3],
    use_it: impl FnOnce(OwnedFd) -> T,
) -> Result<T, Errno> {
    let used = with_spare(|| call_for_descriptor(world, call_, file, words)).map(use_it);
    refill();
    used
}
