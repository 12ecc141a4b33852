//! A kernel that fails on purpose.

use std::{fmt, sync::Arc};

use amdgpu_uapi::{Errno, Kernel, Request};
use parking_lot::Mutex;

use super::{Answered, Forward, Ioctl, Layer, Mapped, Mmap, Munmap, Reserve, Reserved, Unmapped};

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
        /// Size in bytes.
        len: usize,
        /// Offset in the node.
        offset: u64,
    },
    /// The end of a mapping.
    Munmap {
        /// Size in bytes.
        len: usize,
    },
    /// The end of a mapping whose addresses are kept.
    Reserve {
        /// Size in bytes.
        len: usize,
    },
}

impl Attempt<'_> {
    /// Returns `true` if it is this request, whatever size it is sent with.
    pub fn is(&self, wanted: Request) -> bool {
        matches!(self, Self::Ioctl { request, .. } if (request.kind(), request.number()) == (wanted.kind(), wanted.number()))
    }
}

/// Selects the calls that a fault counts.
type Counts = Box<dyn Fn(&Attempt<'_>) -> bool + Send>;

/// A planned failure.
struct Plan {
    counts: Counts,
    /// Calls of the kind still to let through.
    left: u64,
    errno: Errno,
    /// `true` if every later call of the kind fails too.
    forever: bool,
    fired: bool,
}

/// A kernel around any kernel that fails chosen calls of it, without passing them on.
///
/// ```
/// use amdgpu_layers::FaultInjector;
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::winsys::Device;
/// use amdgpu_uapi::Errno;
///
/// let kernel = FaultInjector::new(SimKernel::open(profile("navi21").ok_or("no such chip")?));
/// kernel.fail_nth(3, Errno::ENOMEM);
/// assert!(Device::new(kernel).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type FaultInjector<K> = Forward<K, Faults>;

/// The layer of a [`FaultInjector`]: counts calls, and fails those that are planned to.
///
/// Clones count together and fail by the same plan.
#[derive(Clone, Default)]
pub struct Faults {
    plan: Arc<Mutex<Option<Plan>>>,
    calls: Arc<Mutex<u64>>,
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults").field("calls", &*self.calls.lock()).finish_non_exhaustive()
    }
}

impl<K: Kernel> Forward<K, Faults> {
    /// Wraps a kernel; nothing fails yet.
    pub fn new(inner: K) -> Self {
        Faults::default().over(inner)
    }

    /// Wraps another kernel, whose calls are counted with those of this one and fail by the same plan: for what opens
    /// several files.
    pub fn beside<L: Kernel>(&self, inner: L) -> FaultInjector<L> {
        self.layer().clone().over(inner)
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
    /// use amdgpu_layers::{Attempt, FaultInjector};
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_uapi::Errno;
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
        *self.layer().plan.lock() = None;
    }

    /// Returns `true` if the planned failure has happened.
    pub fn has_fired(&self) -> bool {
        self.layer().plan.lock().as_ref().is_some_and(|plan| plan.fired)
    }

    /// Returns the number of calls so far, failed ones included.
    pub fn calls(&self) -> u64 {
        *self.layer().calls.lock()
    }

    fn plan(&self, counts: impl Fn(&Attempt<'_>) -> bool + Send + 'static, left: u64, errno: Errno, forever: bool) {
        *self.layer().plan.lock() = Some(Plan { counts: Box::new(counts), left, errno, forever, fired: false });
    }
}

impl Faults {
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

impl Layer for Faults {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        match self.pass(&Attempt::Ioctl { request: call.request(), argument: call.bytes() }) {
            Ok(()) => call.forward(),
            Err(errno) => call.refuse(errno),
        }
    }

    fn mmap<'c>(&self, call: Mmap<'c>) -> Mapped<'c> {
        match self.pass(&Attempt::Mmap { len: call.len(), offset: call.offset() }) {
            Ok(()) => call.forward(),
            Err(errno) => call.refuse(errno),
        }
    }

    fn munmap<'c>(&self, call: Munmap<'c>) -> Unmapped<'c> {
        match self.pass(&Attempt::Munmap { len: call.len() }) {
            Ok(()) => call.forward(),
            Err(errno) => call.refuse(errno),
        }
    }

    fn reserve<'c>(&self, call: Reserve<'c>) -> Reserved<'c> {
        match self.pass(&Attempt::Reserve { len: call.len() }) {
            Ok(()) => call.forward(),
            Err(errno) => call.refuse(errno),
        }
    }
}
