//! A kernel that fails on purpose.

use std::{
    ffi::{c_int, c_void},
    fmt,
    ptr::NonNull,
    sync::Arc,
};

use amdgpu_uapi::{Kernel, NotReserved, OpenFile, Protection, Request};
use nix::errno::Errno;
use parking_lot::Mutex;

/// A call that may be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attempt<'c> {
    /// A request.
    Ioctl {
        /// Its number.
        request: Request,
        /// Its argument as it would go to the kernel.
        argument: &'c [u8],
    },
    /// A mapping.
    Mmap {
        /// Bytes.
        len: usize,
        /// Where in the node.
        offset: u64,
    },
    /// The end of a mapping.
    Munmap {
        /// Bytes.
        len: usize,
    },
    /// The end of a mapping whose addresses are kept.
    Reserve {
        /// Bytes.
        len: usize,
    },
}

impl Attempt<'_> {
    /// Whether it is this request, whatever size it is sent with.
    pub fn is(&self, wanted: Request) -> bool {
        matches!(self, Self::Ioctl { request, .. } if (request.kind(), request.number()) == (wanted.kind(), wanted.number()))
    }
}

/// Which calls a fault counts.
type Counts = Box<dyn Fn(&Attempt<'_>) -> bool + Send>;

/// A planned failure.
struct Plan {
    counts: Counts,
    /// Calls of the kind still to let through.
    left: u64,
    errno: Errno,
    /// Whether every later call of the kind fails too.
    forever: bool,
    fired: bool,
}

/// Wraps any kernel and fails chosen calls of it, without passing them on.
///
/// ```
/// use amdgpu_sim::{FaultInjector, SimKernel, profile};
/// use amdgpu_winsys::winsys::Device;
/// use nix::errno::Errno;
///
/// let kernel = FaultInjector::new(SimKernel::open(profile("navi21").ok_or("no such chip")?));
/// kernel.fail_nth(3, Errno::ENOMEM);
/// assert!(Device::new(kernel).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FaultInjector<K> {
    inner: K,
    plan: Arc<Mutex<Option<Plan>>>,
    calls: Arc<Mutex<u64>>,
}

impl<K: fmt::Debug> fmt::Debug for FaultInjector<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.calls();
        f.debug_struct("FaultInjector").field("inner", &self.inner).field("calls", &calls).finish_non_exhaustive()
    }
}

impl<K> FaultInjector<K> {
    /// Wraps a kernel; nothing fails yet.
    pub fn new(inner: K) -> Self {
        Self { inner, plan: Arc::default(), calls: Arc::default() }
    }

    /// Wraps another kernel, whose calls are counted with those of this one and fail by the same plan: for what opens
    /// several files.
    pub fn beside<L>(&self, inner: L) -> FaultInjector<L> {
        FaultInjector { inner, plan: Arc::clone(&self.plan), calls: Arc::clone(&self.calls) }
    }

    /// The kernel inside.
    pub fn inner(&self) -> &K {
        &self.inner
    }

    /// Fails the `n`-th call from now, counted from 0 over every ioctl, mmap and munmap; once.
    pub fn fail_nth(&self, n: u64, errno: Errno) {
        self.plan(|_| true, n, errno, false);
    }

    /// Fails the `n`-th call of one request from now, counted from 0; once.
    pub fn fail_nth_ioctl(&self, request: Request, n: u64, errno: Errno) {
        self.plan(move |attempt| attempt.is(request), n, errno, false);
    }

    /// Fails every call of one request from now on.
    pub fn fail_every_ioctl(&self, request: Request, errno: Errno) {
        self.plan(move |attempt| attempt.is(request), 0, errno, true);
    }

    /// Fails the `n`-th call from now that fits, counted from 0; once. The predicate must not call this injector.
    ///
    /// ```
    /// use amdgpu_sim::{Attempt, FaultInjector, SimKernel, profile};
    /// use nix::errno::Errno;
    ///
    /// let kernel = FaultInjector::new(SimKernel::open(profile("navi21").ok_or("no such chip")?));
    /// kernel.fail_nth_where(1, Errno::ENOMEM, |attempt| matches!(attempt, Attempt::Mmap { len, .. } if *len > 1 << 20));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fail_nth_where(&self, n: u64, errno: Errno, fits: impl Fn(&Attempt<'_>) -> bool + Send + 'static) {
        self.plan(fits, n, errno, false);
    }

    /// Fails every call that fits from now on. The predicate must not call this injector.
    pub fn fail_every_where(&self, errno: Errno, fits: impl Fn(&Attempt<'_>) -> bool + Send + 'static) {
        self.plan(fits, 0, errno, true);
    }

    /// Lets everything through again.
    pub fn stop(&self) {
        *self.plan.lock() = None;
    }

    /// Whether the planned failure has happened.
    pub fn has_fired(&self) -> bool {
        self.plan.lock().as_ref().is_some_and(|plan| plan.fired)
    }

    /// Calls so far, failed ones included.
    pub fn calls(&self) -> u64 {
        *self.calls.lock()
    }

    fn plan(&self, counts: impl Fn(&Attempt<'_>) -> bool + Send + 'static, left: u64, errno: Errno, forever: bool) {
        *self.plan.lock() = Some(Plan { counts: Box::new(counts), left, errno, forever, fired: false });
    }

    /// Counts a call, and fails it if the plan says so.
    fn pass(&self, attempt: &Attempt<'_>) -> Result<(), Errno> {
        *self.calls.lock() += 1;
        let mut plan = self.plan.lock();
        let Some(plan) = plan.as_mut() else { return Ok(()) };
        if (plan.fired && !plan.forever) || !(plan.counts)(attempt) {
            return Ok(());
        }
        if plan.left > 0 {
            plan.left -= 1;
            return Ok(());
        }
        plan.fired = true;
        Err(plan.errno)
    }
}

/// The pointer, or one that is not null.
fn some(argument: *mut c_void) -> *const u8 {
    NonNull::new(argument.cast::<u8>()).unwrap_or(NonNull::dangling()).as_ptr()
}

// SAFETY: a call is either refused without touching anything, or passed on unchanged; the promises are those of the inner
// kernel.
unsafe impl<K: Kernel> Kernel for FaultInjector<K> {
    fn open_file(&self) -> OpenFile<'_> {
        self.inner.open_file()
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        let bytes = if argument.is_null() { 0 } else { request.size() };
        // SAFETY: the caller vouches for `request.size()` readable bytes at `argument`, and lends them for the call; a null
        // pointer is replaced, with no bytes behind it.
        let argument_bytes = unsafe { std::slice::from_raw_parts(some(argument), bytes) };
        self.pass(&Attempt::Ioctl { request, argument: argument_bytes })?;
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.ioctl(request, argument) }
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        self.pass(&Attempt::Mmap { len, offset })?;
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.mmap(len, protection, at, offset) }
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        self.pass(&Attempt::Munmap { len })?;
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.munmap(address, len) }
    }

    unsafe fn reserve(&self, address: NonNull<u8>, len: usize) -> Result<(), NotReserved> {
        self.pass(&Attempt::Reserve { len }).map_err(|errno| NotReserved { errno, is_mapped: true })?;
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.reserve(address, len) }
    }
}
