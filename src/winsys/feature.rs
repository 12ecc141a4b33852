//! Features that a driver or a chip may lack.

use std::fmt;

/// A feature that the driver or the chip does not support, in [`Error::Unsupported`](crate::winsys::Error::Unsupported).
///
/// ```
/// use amdgpu_winsys::winsys::{Error, Feature};
///
/// let error = Error::Unsupported { feature: Feature::Gangs };
/// assert_eq!(error.to_string(), "the driver or the chip does not support gangs");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// Submissions to several queues at once: see [`Capabilities::GANG_SUBMIT`](crate::winsys::Capabilities::GANG_SUBMIT).
    Gangs,
    /// Encrypted memory: see [`Capabilities::TMZ`](crate::winsys::Capabilities::TMZ).
    EncryptedMemory,
    /// Pinned clocks: see [`Capabilities::STABLE_PSTATE`](crate::winsys::Capabilities::STABLE_PSTATE).
    StableClocks,
    /// Timeline points in submissions: see
    /// [`Capabilities::TIMELINE_SYNCOBJ`](crate::winsys::Capabilities::TIMELINE_SYNCOBJ).
    SubmittedTimelines,
    /// Dependencies on the start of a submission: see
    /// [`Capabilities::SCHEDULED_DEPENDENCY`](crate::winsys::Capabilities::SCHEDULED_DEPENDENCY).
    StartDependencies,
    /// User queues, which a process fills itself: see [`UserRing`](crate::winsys::UserRing).
    UserQueues,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gangs => "gangs",
            Self::EncryptedMemory => "encrypted memory",
            Self::StableClocks => "pinned clocks",
            Self::SubmittedTimelines => "timeline sync objects in submissions",
            Self::StartDependencies => "dependencies on the start of a submission",
            Self::UserQueues => "user queues",
        })
    }
}
