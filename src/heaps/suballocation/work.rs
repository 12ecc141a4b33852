//! GPU work that may still use memory that the CPU has freed.

use std::fmt;

/// Work of the GPU that may not be done yet.
///
/// Any closure that says whether it is done will do: `move || fence.is_signalled()`.
///
/// It is asked while locks are held, so it must be quick, must not block, and must not call what asks it. Once it has
/// answered true it must not take it back.
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
    /// Returns `true` if the GPU has finished.
    fn is_done(&self) -> bool;
}

impl<F: Fn() -> bool + Send + Sync> GpuWork for F {
    fn is_done(&self) -> bool {
        self()
    }
}

/// Some work, or none.
#[derive(Default)]
pub(super) struct Pending(Vec<Box<dyn GpuWork>>);

impl Pending {
    /// Nothing to wait for. Takes no memory.
    pub(super) const NONE: Self = Self(Vec::new());

    pub(super) fn one(work: impl GpuWork + 'static) -> Self {
        Self(vec![Box::new(work)])
    }

    /// Both, one after the other.
    pub(super) fn add(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns `true` if all of it has finished.
    pub(super) fn is_done(&self) -> bool {
        self.0.iter().all(|work| work.is_done())
    }

    /// Returns `true` if there never was any.
    pub(super) fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pending").field(&self.0.len()).finish()
    }
}
