//! Calls to the server, over connections that are kept for the next one.
//!
//! A connection carries one call at a time; a thread takes one that is idle or makes a new one. Nothing here takes a lock or
//! belongs to a thread, so a child may call at once after fork, whatever its parent's other threads were doing.
//!
//! A call needs descriptors that a call of a real kernel does not: a connection, and the memory to map. A program that has
//! used up all of its own is served from two that are held in reserve.

use std::{
    mem::MaybeUninit,
    ops::ControlFlow,
    os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd, RawFd},
    sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering},
};

use amdgpu_sim_world::{Answer, Call, Connection, Message};
use nix::{
    errno::Errno,
    sys::socket::{AddressFamily, SockFlag, SockType, socket},
};

use crate::{
    real,
    world::{self, World},
};

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
    /// the process that put it there.
    fn take(&self) -> Option<(Own, libc::pid_t)> {
        if !self.claim(FULL) {
            return None;
        }
        let (number, inode) = (self.number.load(Ordering::Relaxed), self.inode.load(Ordering::Relaxed));
        let process = self.process.load(Ordering::Relaxed);
        self.state.store(EMPTY, Ordering::Release);
        adopt(number, inode).map(|fd| (Own { fd, inode }, process))
    }

    /// The idle connection in it. One that the parent process left here is closed: a connection belongs to one process.
    fn take_connection(&self, process: libc::pid_t) -> Option<Own> {
        self.take().filter(|(_, keeper)| *keeper == process).map(|(own, _)| own)
    }

    /// Puts a descriptor there, or gives it back.
    fn keep(&self, own: Own, process: libc::pid_t) -> Result<(), Own> {
        if !self.claim(EMPTY) {
            return Err(own);
        }
        self.number.store(own.fd.into_raw_fd(), Ordering::Relaxed);
        self.inode.store(own.inode, Ordering::Relaxed);
        self.process.store(process, Ordering::Relaxed);
        self.state.store(FULL, Ordering::Release);
        Ok(())
    }
}

/// A descriptor of the shim's own.
struct Own {
    fd: OwnedFd,
    inode: u64,
}

impl Own {
    /// None if it cannot be known again.
    fn new(fd: OwnedFd) -> Option<Self> {
        let inode = inode_of(fd.as_raw_fd())?;
        Some(Self { fd, inode })
    }
}

fn process() -> libc::pid_t {
    std::process::id().cast_signed()
}

/// The inode of a descriptor, past our own hook, which would ask whether it is a node. Each call asks for it.
#[expect(unsafe_code, reason = "calls the C library past the hook")]
fn inode_of(number: RawFd) -> Option<u64> {
    let mut about = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the place is writable; a number that is not open gives EBADF.
    let returned = unsafe { real::fstat(number, about.as_mut_ptr()) };
    // SAFETY: the call has filled it.
    (returned == 0).then(|| unsafe { about.assume_init_ref() }.st_ino)
}

#[expect(unsafe_code, reason = "takes a descriptor back from a number")]
fn adopt(number: RawFd, inode: u64) -> Option<OwnedFd> {
    if number < 0 || inode_of(number)? != inode {
        return None;
    }
    // SAFETY: it has the inode of the socket that was put here, so it is that socket, which `keep` gave up.
    Some(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Keeps a connection for the next call; one that there is no room for is closed.
fn keep(own: Own, process: libc::pid_t) {
    let kept = IDLE.iter().try_fold(own, |own, slot| match slot.keep(own, process) {
        Ok(()) => ControlFlow::Break(()),
        Err(own) => ControlFlow::Continue(own),
    });
    drop(kept);
}

/// Fills the reserve, as far as the program leaves descriptors for it.
fn refill() {
    for slot in SPARE.iter().filter(|slot| slot.state.load(Ordering::Relaxed) == EMPTY) {
        // A socket, because its inode is its own.
        let Ok(spare) = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None) else { return };
        // Another thread may have filled it meanwhile; then this one is closed.
        drop(Own::new(spare).map(|own| slot.keep(own, process())));
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
    let process = process();
    let idle = IDLE.iter().find_map(|slot| slot.take_connection(process));
    let (connection, inode) = if let Some(Own { fd, inode }) = idle {
        (Connection::from_fd(fd), Some(inode))
    } else {
        let connection = connect(world)?;
        let inode = inode_of(connection.as_fd().as_raw_fd());
        (connection, inode)
    };
    let result = connection.call(message);
    // After ENODEV it may be out of step, or dead.
    if let Some(inode) = inode
        && !matches!(result, Err(Errno::ENODEV))
    {
        keep(Own { fd: connection.into_fd(), inode }, process);
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
