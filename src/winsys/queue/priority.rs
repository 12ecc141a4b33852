//! Priorities of contexts.

use crate::uapi::priority;

/// Scheduling priority of a context. Above normal needs CAP_SYS_NICE or the DRM master.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i32)]
pub enum Priority {
    /// VK_QUEUE_GLOBAL_PRIORITY_LOW.
    Low = priority::LOW,
    /// VK_QUEUE_GLOBAL_PRIORITY_MEDIUM: the default.
    #[default]
    Normal = priority::NORMAL,
    /// VK_QUEUE_GLOBAL_PRIORITY_HIGH.
    High = priority::HIGH,
    /// VK_QUEUE_GLOBAL_PRIORITY_REALTIME.
    VeryHigh = priority::VERY_HIGH,
}

impl Priority {
    /// The next lower one that needs fewer rights; `None` for those that anybody may have.
    pub(super) fn more_modest(self) -> Option<Self> {
        match self {
            Self::VeryHigh => Some(Self::High),
            Self::High => Some(Self::Normal),
            Self::Normal | Self::Low => None,
        }
    }
}
