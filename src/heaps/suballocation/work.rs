//! GPU work that may still use memory that the CPU has freed.

use std::fmt;

/// Work of the GPU that may not have completed yet.
///
/// Any closure that returns whether the work has completed implements this trait: `move || fence.is_signalled()`.
///
/// The allocators call it while they hold locks, so it must be quick, must not block, and must not call the allocator. Once it
/// has returned `true`, it must always return `true`.
///
/// ```
/// use amdgpu_winsys::heaps::suballocation::GpuWork;
///
/// struct Steps { timeline: std::sync::atomic::AtomicU64, wanted: u64 }
/// impl GpuWork for Steps {
///     fn is_done(&self) -> bool {
///         self.timeline.load(std::sync::atomic::Ordering::Acquire) >= self.wanted
///     }
/// }
/// let work = Steps { timeline: 4.into(), wanted: 5 };
/// assert!(!work.is_done());
/// work.timeline.store(5, std::sync::atomic::Ordering::Release);
/// assert!(work.is_done());
/// assert!((|| true).is_done()); // so is any closure
/// ```
pub trait GpuWork: Send + Sync {
    /// Returns `true` if the GPU has completed the work.
    fn is_done(&self) -> bool;
}

impl<F: Fn() -> bool + Send + Sync> GpuWork for F {
    fn is_done(&self) -> bool {
        self()
    }
}

/// The GPU work that an object waits for, possibly none.
#[derive(Default)]
pub(super) struct Pending(Vec<Box<dyn GpuWork>>);

impl Pending {
    /// No work. Takes no heap memory.
    pub(super) const NONE: Self = Self(Vec::new());

    pub(super) fn one(work: impl GpuWork + 'static) -> Self {
        Self(vec![Box::new(work)])
    }

    /// Adds other work to wait for.
    pub(super) fn add(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns `true` if all work has completed.
    pub(super) fn is_done(&self) -> bool {
        self.0.iter().all(|work| work.is_done())
    }

    /// Returns `true` if no work was added.
    pub(super) fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pending").field(&self.0.len()).finish()
    }
}
