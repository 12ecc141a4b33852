//! A kernel that fails on purpose.

use std::{
    ffi::{c_int, c_void},
    ptr::NonNull,
};

use amdgpu_winsys::{
    uapi::Request,
    winsys::{Kernel, Protection},
};
use nix::errno::Errno;
use parking_lot::Mutex;

/// Which calls a fault counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Every ioctl, mmap and munmap.
    Any,
    /// One request, whatever size it is sent with.
    Ioctl(u8),
}

/// A planned failure.
#[derive(Clone, Copy, Debug)]
struct Plan {
    kind: Kind,
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
#[derive(Debug)]
pub struct FaultInjector<K> {
    inner: K,
    plan: Mutex<Option<Plan>>,
    calls: Mutex<u64>,
}

impl<K> FaultInjector<K> {
    /// Wraps a kernel; nothing fails yet.
    pub fn new(inner: K) -> Self {
        Self { inner, plan: Mutex::new(None), calls: Mutex::new(0) }
    }

    /// The kernel inside.
    pub fn inner(&self) -> &K {
        &self.inner
    }

    /// Fails the `n`-th call from now, counted from 0 over every ioctl, mmap and munmap; once.
    pub fn fail_nth(&self, n: u64, errno: Errno) {
        self.plan(Kind::Any, n, errno, false);
    }

    /// Fails the `n`-th call of one request from now, counted from 0; once.
    pub fn fail_nth_ioctl(&self, request: Request, n: u64, errno: Errno) {
        self.plan(Kind::Ioctl(request.number()), n, errno, false);
    }

    /// Fails every call of one request from now on.
    pub fn fail_every_ioctl(&self, request: Request, errno: Errno) {
        self.plan(Kind::Ioctl(request.number()), 0, errno, true);
    }

    /// Lets everything through again.
    pub fn stop(&self) {
        *self.plan.lock() = None;
    }

    /// Whether the planned failure has happened.
    pub fn has_fired(&self) -> bool {
        self.plan.lock().is_some_and(|plan| plan.fired)
    }

    /// Calls so far, failed ones included.
    pub fn calls(&self) -> u64 {
        *self.calls.lock()
    }

    fn plan(&self, kind: Kind, left: u64, errno: Errno, forever: bool) {
        *self.plan.lock() = Some(Plan { kind, left, errno, forever, fired: false });
    }

    /// Counts a call, and fails it if the plan says so.
    fn pass(&self, ioctl: Option<Request>) -> Result<(), Errno> {
        *self.calls.lock() += 1;
        let mut plan = self.plan.lock();
        let Some(plan) = plan.as_mut() else { return Ok(()) };
        let counts = match plan.kind {
            Kind::Any => true,
            Kind::Ioctl(number) => ioctl.is_some_and(|request| request.number() == number),
        };
        if !counts || (plan.fired && !plan.forever) {
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

// SAFETY: a call is either refused without touching anything, or passed on unchanged; the promises are those of the inner
// kernel.
unsafe impl<K: Kernel> Kernel for FaultInjector<K> {
    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        self.pass(Some(request))?;
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
        self.pass(None)?;
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.mmap(len, protection, at, offset) }
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        self.pass(None)?;
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.munmap(address, len) }
    }
}
