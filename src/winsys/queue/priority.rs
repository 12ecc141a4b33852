//! Priorities of contexts.

use crate::uapi::priority;

/// The scheduling priority of a context. Priorities above normal need CAP_SYS_NICE or the DRM master.
///
/// ```
/// use amdgpu_winsys::winsys::{Context, Priority};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let context = Context::new_at_most(&device, Priority::VeryHigh)?; // or the highest permitted
/// assert!(context.priority() <= Priority::VeryHigh);
/// assert_eq!(Context::new(&device, Priority::Low)?.priority(), Priority::Low); // needs no privilege
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i32)]
pub enum Priority {
    /// Low priority: VK_QUEUE_GLOBAL_PRIORITY_LOW.
    Low = priority::LOW,
    /// Normal priority, the default: VK_QUEUE_GLOBAL_PRIORITY_MEDIUM.
    #[default]
    Normal = priority::NORMAL,
    /// High priority: VK_QUEUE_GLOBAL_PRIORITY_HIGH.
    High = priority::HIGH,
    /// The highest priority: VK_QUEUE_GLOBAL_PRIORITY_REALTIME.
    VeryHigh = priority::VERY_HIGH,
}

impl Priority {
    /// Returns the next lower priority that needs fewer privileges; `None` for those that need none.
    pub(super) fn more_modest(self) -> Option<Self> {
        match self {
            Self::VeryHigh => Some(Self::High),
            Self::High => Some(Self::Normal),
            Self::Normal | Self::Low => None,
        }
    }
}
