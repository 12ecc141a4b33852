//! A layer that makes selected calls fail, to test error paths.

use std::{fmt, sync::Arc};

use amdgpu_uapi::{Errno, Kernel, Request};
use parking_lot::Mutex;

use super::{Answered, Forward, Ioctl, Layer, Mapped, Mmap, Munmap, Reserve, Reserved, Unmapped};

/// A call that a [`FaultInjector`] may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attempt<'c> {
    /// An ioctl is made.
    Ioctl {
        /// The request, with its number and argument size.
        request: Request,
        /// The argument that would be passed to the kernel.
        argument: &'c [u8],
    },
    /// Memory of the device node is mapped (mmap).
    Mmap {
        /// Length of the mapping in bytes.
        len: usize,
        /// Offset in the device node, bytes.
        offset: u64,
    },
    /// A mapping is removed (munmap).
    Munmap {
        /// Length of the mapping in bytes.
        len: usize,
    },
    /// A reserve call, which ends a mapping and keeps its addresses reserved.
    Reserve {
        /// Length of the mapping in bytes.
        len: usize,
    },
}

impl Attempt<'_> {
    /// Returns `true` if the attempt is this request, regardless of the size of the argument.
    pub fn is(&self, wanted: Request) -> bool {
        matches!(self, Self::Ioctl { request, .. } if (request.kind(), request.number()) == (wanted.kind(), wanted.number()))
    }
}

/// A predicate that selects the calls to count.
type Counts = Box<dyn Fn(&Attempt<'_>) -> bool + Send>;

/// A planned failure.
struct Plan {
    counts: Counts,
    /// Number of selected calls still to forward.
    left: u64,
    errno: Errno,
    /// `true` if every later selected call fails too.
    forever: bool,
    fired: bool,
}

/// A kernel wrapper that fails selected calls without forwarding them.
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

/// The layer of a [`FaultInjector`]: it counts calls and fails the planned ones.
///
/// Clones share the counter and the plan.
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
    /// Wraps a kernel. No call fails yet.
    pub fn new(inner: K) -> Self {
        Faults::default().over(inner)
    }

    /// Wraps another kernel that shares the counter and the plan of this one, for clients that open several files.
    pub fn beside<L: Kernel>(&self, inner: L) -> FaultInjector<L> {
        self.layer().clone().over(inner)
    }

    /// Makes the `n`-th of the following kernel calls fail, once. All ioctl, mmap, munmap and reserve calls are counted, starting
    /// at 0. Replaces the previous plan.
    pub fn fail_nth(&self, n: u64, errno: Errno) {
        self.plan(|_| true, n, errno, false);
    }

    /// Makes the `n`-th of the following ioctls of this request fail, once. Ioctls are counted from 0. Replaces the previous plan.
    pub fn fail_nth_ioctl(&self, request: Request, n: u64, errno: Errno) {
        self.plan(move |attempt| attempt.is(request), n, errno, false);
    }

    /// Makes every following ioctl of this request fail. Replaces the previous plan.
    pub fn fail_every_ioctl(&self, request: Request, errno: Errno) {
        self.plan(move |attempt| attempt.is(request), 0, errno, true);
    }

    /// Makes the `n`-th of the following calls for which `fits` returns `true` fail, once. These calls are counted from 0. Replaces
    /// the previous plan. The predicate must not call this injector.
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

    /// Makes every following call for which `fits` returns `true` fail. Replaces the previous plan. The predicate must not call
    /// this injector.
    pub fn fail_every_where(&self, errno: Errno, fits: impl Fn(&Attempt<'_>) -> bool + Send + 'static) {
        self.plan(fits, 0, errno, true);
    }

    /// Removes the plan: all calls are forwarded again.
    pub fn stop(&self) {
        *self.layer().plan.lock() = None;
    }

    /// Returns `true` if the planned failure has occurred at least once.
    pub fn has_fired(&self) -> bool {
        self.layer().plan.lock().as_ref().is_some_and(|plan| plan.fired)
    }

    /// Returns the number of kernel calls made through the injector so far, including failed calls.
    pub fn calls(&self) -> u64 {
        *self.layer().calls.lock()
    }

    fn plan(&self, counts: impl Fn(&Attempt<'_>) -> bool + Send + 'static, left: u64, errno: Errno, forever: bool) {
        *self.layer().plan.lock() = Some(Plan { counts: Box::new(counts), left, errno, forever, fired: false });
    }
}

impl Faults {
    /// Counts a call, and returns an error if the plan fails it.
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
