//! The calling process: its memory and descriptors are those that an ioctl's argument names.
//!
//! The library calls [`SimKernel`](crate::SimKernel) from its own process, and nothing here is needed. A server that
//! answers for other processes wraps each call in [`enter`], as the kernel has its `current`: everything the handlers
//! read, write, look up or hand out through `user.rs` is then the client's.

use std::{
    cell::RefCell,
    fmt,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use amdgpu_uapi::Errno;

/// Another process, in the middle of an ioctl.
pub trait Client: fmt::Debug + Send + Sync {
    /// Its process id. Its memory is reached with `process_vm_readv` and `process_vm_writev`.
    fn pid(&self) -> libc::pid_t;

    /// A copy of its descriptor of that number.
    ///
    /// # Errors
    ///
    /// EBADF when it has none.
    fn descriptor(&self, fd: RawFd) -> Result<OwnedFd, Errno>;

    /// Gives it a descriptor; the number it has there.
    ///
    /// # Errors
    ///
    /// EMFILE when it has too many.
    fn install(&self, fd: OwnedFd, close_on_exec: bool) -> Result<RawFd, Errno>;

    /// Returns `true` if a signal arrived that ends the call, or the process is gone.
    fn is_interrupted(&self) -> bool;
}

/// The call that this thread serves.
struct Call {
    client: Arc<dyn Client>,
    /// Copies of descriptors that the argument named; closed when the call ends.
    borrowed: Vec<OwnedFd>,
    /// `true` if a wait was given up.
    interrupted: bool,
}

thread_local! {
    static CURRENT: RefCell<Option<Call>> = const { RefCell::new(None) };
}

/// `true` if any thread ever served a client: where none does, asking for the thread's costs more than what is asked for.
static HAS_CLIENTS: AtomicBool = AtomicBool::new(false);

/// A client that is served until this is dropped.
pub(crate) struct Entered(());

/// From now on this thread serves that client.
pub(crate) fn enter(client: Arc<dyn Client>) -> Entered {
    HAS_CLIENTS.store(true, Relaxed);
    CURRENT.set(Some(Call { client, borrowed: Vec::new(), interrupted: false }));
    Entered(())
}

/// Returns `true` if a wait of this call was given up because the client was interrupted.
pub(crate) fn was_interrupted() -> bool {
    CURRENT.with_borrow(|call| call.as_ref().is_some_and(|call| call.interrupted))
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.take();
    }
}

fn current() -> Option<Arc<dyn Client>> {
    CURRENT.with_borrow(|call| call.as_ref().map(|call| Arc::clone(&call.client)))
}

/// The process of the client, if it is another one than ours.
#[inline]
pub(crate) fn foreign_pid() -> Option<libc::pid_t> {
    if !HAS_CLIENTS.load(Relaxed) {
        return None;
    }
    CURRENT.with_borrow(|call| call.as_ref().map(|call| call.client.pid()))
}

/// The process that is being served: the client's, or our own.
pub(crate) fn pid() -> libc::pid_t {
    foreign_pid().unwrap_or_else(|| std::process::id().cast_signed())
}

/// A copy of a foreign client's descriptor, which lives until the call ends; `None` when we serve ourselves.
pub(crate) fn borrow_descriptor(fd: RawFd) -> Option<Result<RawFd, Errno>> {
    let client = current()?;
    Some(client.descriptor(fd).map(|copy| {
        let number = copy.as_fd().as_raw_fd();
        CURRENT.with_borrow_mut(|call| {
            if let Some(call) = call {
                call.borrowed.push(copy);
            }
        });
        number
    }))
}

/// Gives a descriptor to the client and returns its number there. It closes on exec if the given one does.
pub(crate) fn install(fd: OwnedFd) -> Result<RawFd, Errno> {
    use std::os::fd::IntoRawFd as _;
    match current() {
        None => Ok(fd.into_raw_fd()),
        Some(client) => {
            let close_on_exec = closes_on_exec(fd.as_fd())?;
            client.install(fd, close_on_exec)
        }
    }
}

fn closes_on_exec(fd: BorrowedFd<'_>) -> Result<bool, Errno> {
    use nix::fcntl::{FcntlArg, FdFlag, fcntl};
    let flags = fcntl(fd, FcntlArg::F_GETFD)?;
    Ok(FdFlag::from_bits_retain(flags).contains(FdFlag::FD_CLOEXEC))
}

/// Returns `true` if this thread waits for a client that may go away meanwhile.
pub(crate) fn is_foreign() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

/// Returns `true` if the wait of this thread is to be given up; remembered until the call ends.
pub(crate) fn is_interrupted() -> bool {
    let interrupted = current().is_some_and(|client| client.is_interrupted());
    if interrupted {
        CURRENT.with_borrow_mut(|call| call.iter_mut().for_each(|call| call.interrupted = true));
    }
    interrupted
}
