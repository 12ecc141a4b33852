//! The errors of gangs.

/// The maximum number of queues in a gang, including the leader.
///
/// Source: Linux 6.12 `amdgpu_cs.h`, `AMDGPU_CS_GANG_SIZE`.
pub const MAX_GANG: usize = 4;

/// The reason why queues cannot form a gang.
///
/// ```
/// use amdgpu_winsys::cs::{Error, Gang, GangFault};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// assert_eq!(Gang::new(&queue, &[]).unwrap_err(), Error::NoGang(GangFault::NoFollowers));
/// let five = Gang::new(&queue, &[&queue; 4]).unwrap_err();
/// assert_eq!(five, Error::NoGang(GangFault::TooMany { count: 5 }));
/// assert_eq!(Gang::new(&queue, &[&queue]).unwrap_err(), Error::NoGang(GangFault::Twice { at: 0 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GangFault {
    /// The gang has a leader but no followers.
    #[error("there are no followers")]
    NoFollowers,
    /// The gang has more than [`MAX_GANG`] queues.
    #[error("{count} queues, a gang has at most {MAX_GANG}")]
    TooMany {
        /// Number of queues, including the leader.
        count: usize,
    },
    /// A queue occurs twice in the gang.
    #[error("follower {at} is already in the gang")]
    Twice {
        /// Index of the follower, from 0.
        at: usize,
    },
    /// A follower and the leader belong to different contexts.
    #[error("follower {at} belongs to another context than the leader")]
    OtherContext {
        /// Index of the follower, from 0.
        at: usize,
    },
    /// The number of shares differs from the number of followers.
    #[error("{given} shares for {followers} followers")]
    Shares {
        /// Number of shares passed to [`Gang::submit`](super::Gang::submit).
        given: usize,
        /// Number of followers of the gang.
        followers: usize,
    },
}
