//! The errors of video queues.

use super::VideoIbFault;
use crate::{
    cs,
    vk_result::VkResult,
    winsys::{self, Ip, Loss},
};

/// An error of a [`VideoQueue`](super::VideoQueue).
///
/// ```
/// use amdgpu_winsys::{cs::{VideoError, VideoQueue}, heaps::VkResult, winsys::Ip};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// let refused = VideoQueue::new(&context, Ip::Sdma, 0).unwrap_err();
/// assert_eq!(refused, VideoError::NotVideo { ip: Ip::Sdma });
/// let refused = VideoQueue::new(&context, Ip::Uvd, 0).unwrap_err(); // this chip has VCN
/// assert_eq!(refused, VideoError::NoSuchRing { ip: Ip::Uvd, ring: 0, rings: 0 });
/// assert_eq!(refused.vk_result(), VkResult::FeatureNotPresent);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VideoError {
    /// The IP is not a video engine that the library supports. [`Queue`](crate::cs::Queue) submits to the other IPs.
    #[error("{ip} is not a supported video engine")]
    NotVideo {
        /// The IP that was requested.
        ip: Ip,
    },

    /// The chip has no ring of this IP, or no ring with this index, or the kernel is too old to report the IP.
    #[error("ring {ring} of {ip} does not exist: the chip has {rings} rings")]
    NoSuchRing {
        /// The IP that was requested.
        ip: Ip,
        /// The requested index of the ring, from 0.
        ring: u32,
        /// Number of rings that the IP has.
        rings: u32,
    },

    /// Another [`VideoQueue`](super::VideoQueue) exists for this ring of the context.
    #[error("context {context} already has a queue for ring {ring} of {ip}")]
    QueueTaken {
        /// The kernel's ID of the context.
        context: u32,
        /// The IP of the queue.
        ip: Ip,
        /// Index of the ring.
        ring: u32,
    },

    /// A submission without IBs. The kernel refuses it, so it could not wait or signal either.
    #[error("a submission to {ip} without an IB")]
    NoIb {
        /// The IP of the queue.
        ip: Ip,
    },

    /// More IBs than the engine accepts in one submission.
    #[error("{ibs} IBs for {ip} in one submission, at most {limit} are allowed")]
    TooManyIbs {
        /// The IP of the queue.
        ip: Ip,
        /// Number of IBs in the submission.
        ibs: usize,
        /// The maximum number of IBs, see [`GpuInfo::max_ibs`](crate::winsys::GpuInfo::max_ibs).
        limit: usize,
    },

    /// An IB with an invalid offset or length.
    #[error("IB {index}: {fault}")]
    Ib {
        /// Index of the IB, from 0.
        index: usize,
        /// The fault of the offset or length.
        fault: VideoIbFault,
    },

    /// A list was copied into a stream for another engine.
    #[error("commands for {recorded} cannot be copied into a stream for {ip}")]
    OtherEngine {
        /// The IP that the list was recorded for.
        recorded: Ip,
        /// The IP of the stream.
        ip: Ip,
    },

    /// A [`VideoStream`](super::VideoStream) cannot hold so many dwords, or found no memory or address.
    #[error(transparent)]
    Recording(#[from] cs::RecordError),

    /// More BOs than one submission can list.
    #[error("{count} BOs in one submission, at most {limit} are allowed", limit = crate::uapi::BO_LIST_MAX_ENTRIES)]
    TooManyBos {
        /// Number of BOs in the submission.
        count: usize,
    },

    /// The kernel or the winsys layer refused a request.
    #[error(transparent)]
    Winsys(winsys::Error),
}

/// Each error of the winsys layer, of any operation.
impl<E: Into<winsys::Error>> From<E> for VideoError {
    fn from(error: E) -> Self {
        Self::Winsys(error.into())
    }
}

impl VideoError {
    /// Returns the loss of work that the error reports, if any.
    pub fn loss(&self) -> Option<Loss> {
        match self {
            Self::Winsys(error) => error.loss(),
            Self::Recording(error) => error.loss(),
            _ => None,
        }
    }

    /// Returns the result that a Vulkan driver returns for this error.
    pub fn vk_result(&self) -> VkResult {
        match self {
            Self::Winsys(error) => error.vk_result(),
            Self::NotVideo { .. } | Self::NoSuchRing { .. } => VkResult::FeatureNotPresent,
            Self::Recording(error) => error.vk_result(),
            Self::TooManyBos { .. } => VkResult::OutOfDeviceMemory,
            Self::QueueTaken { .. }
            | Self::NoIb { .. }
            | Self::TooManyIbs { .. }
            | Self::Ib { .. }
            | Self::OtherEngine { .. } => VkResult::Unknown,
        }
    }
}
