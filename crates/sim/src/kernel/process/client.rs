//! The client process of a request, whose memory and descriptors the argument refers to.
//!
//! When the library calls [`SimKernel`](crate::SimKernel) in its own process, this module is not used. A server for other processes
//! wraps each call in [`enter`], which corresponds to the kernel's `current`: the request handlers then access the client's memory
//! and descriptors through `user.rs`.

use std::{
    cell::{Cell, RefCell},
    fmt,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use amdgpu_uapi::Errno;

use crate::kernel::process_memory::ProcessMemory;

/// Another process that performs an ioctl.
pub trait Client: fmt::Debug + Send + Sync {
    /// Returns the process ID, which is told and compared. Nothing is accessed by it.
    fn pid(&self) -> libc::pid_t;

    /// Returns the client's memory; `None` if the client is this process, whose memory is copied with `process_vm_readv` and
    /// `process_vm_writev` then, so that bad addresses are errors. Called for each copy; must not wait for the client.
    ///
    /// # Errors
    ///
    /// The errno for requests that have to access the memory, if the client has not given access to it.
    fn memory(&self) -> Result<Option<Arc<ProcessMemory>>, Errno> {
        Ok(None)
    }

    /// Returns a copy of the client's descriptor with this number.
    ///
    /// # Errors
    ///
    /// EBADF if the client has no such descriptor.
    fn descriptor(&self, fd: RawFd) -> Result<OwnedFd, Errno>;

    /// Installs a descriptor in the client and returns its number there.
    ///
    /// # Errors
    ///
    /// EMFILE if the client has too many descriptors.
    fn install(&self, fd: OwnedFd, close_on_exec: bool) -> Result<RawFd, Errno>;

    /// Returns the path of the process's cgroup, such as `/games`; `None` if it is not known, which counts as the root.
    fn cgroup(&self) -> Option<String> {
        None
    }

    /// Returns `true` if a signal interrupted the call, or if the process has ended.
    fn is_interrupted(&self) -> bool;
}

/// The request that this thread performs.
struct Call {
    client: Arc<dyn Client>,
    /// Copies of descriptors in the argument, which are closed when the request ends.
    borrowed: Vec<OwnedFd>,
    /// `true` if a wait was interrupted.
    interrupted: bool,
}

thread_local! {
    static CURRENT: RefCell<Option<Call>> = const { RefCell::new(None) };
}

/// `true` if any thread ever served a client. If none did, reading the thread-local client would cost more than the request itself.
static HAS_CLIENTS: AtomicBool = AtomicBool::new(false);

/// A scope in which this thread serves a client.
pub(crate) struct Entered(());

/// Makes this thread serve the client until the returned value is dropped.
pub(crate) fn enter(client: Arc<dyn Client>) -> Entered {
    HAS_CLIENTS.store(true, Relaxed);
    CURRENT.set(Some(Call { client, borrowed: Vec::new(), interrupted: false }));
    Entered(())
}

/// Returns `true` if a wait of this request was interrupted.
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

/// Returns the path of the client's cgroup; `None` if it is not known.
pub(crate) fn cgroup() -> Option<String> {
    current()?.cgroup()
}

/// Returns the client's process ID if this thread serves a client.
#[inline]
fn foreign_pid() -> Option<libc::pid_t> {
    if !HAS_CLIENTS.load(Relaxed) {
        return None;
    }
    CURRENT.with_borrow(|call| call.as_ref().map(|call| call.client.pid()))
}

/// Returns `true` if any thread ever served a client.
#[inline]
pub(crate) fn is_anywhere() -> bool {
    HAS_CLIENTS.load(Relaxed)
}

/// Returns the memory of the client, as [`Client::memory`] does; `None` if this thread serves no client.
pub(crate) fn memory() -> Option<Result<Option<Arc<ProcessMemory>>, Errno>> {
    CURRENT.with_borrow(|call| call.as_ref().map(|call| call.client.memory()))
}

/// Returns the process ID of the client, or of this process if there is no client.
pub(crate) fn pid() -> libc::pid_t {
    foreign_pid().unwrap_or_else(|| std::process::id().cast_signed())
}

thread_local! {
    static ACTING_FOR: Cell<Option<libc::pid_t>> = const { Cell::new(None) };
}

/// Performs an action that a process has asked for by other means than an ioctl: the opening of a node, or an access to a file of
/// sysfs. If the action wakes a suspended GPU, [`SimDevice::wake_ups`](crate::SimDevice::wake_ups) names that process.
pub fn on_behalf_of<T>(pid: libc::pid_t, action: impl FnOnce() -> T) -> T {
    let before = ACTING_FOR.replace(Some(pid));
    let result = action();
    ACTING_FOR.set(before);
    result
}

/// Returns the process ID of the process that accesses the GPU on this thread.
pub(crate) fn accessing() -> libc::pid_t {
    ACTING_FOR.get().unwrap_or_else(pid)
}

/// Returns a copy of a client's descriptor, which is closed when the request ends; `None` without a client.
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

/// Installs a descriptor in the client and returns its number there. The close-on-exec flag is kept.
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

/// Returns `true` if this thread serves a client, which may end during a wait.
pub(crate) fn is_foreign() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

/// Returns `true` if the wait of this thread should be interrupted. The result is stored until the request ends.
pub(crate) fn is_interrupted() -> bool {
    let interrupted = current().is_some_and(|client| client.is_interrupted());
    if interrupted {
        CURRENT.with_borrow_mut(|call| call.iter_mut().for_each(|call| call.interrupted = true));
    }
    interrupted
}
