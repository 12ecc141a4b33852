//! The video engines of a chip.

use amdgpu_hw::Ip;
use amdgpu_uapi::InfoHwIp;

/// A type of video engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoBlock {
    /// The type: UVD, VCE, the encoder of UVD or VCN, the decoder of VCN, or JPEG.
    pub ip: Ip,
    /// The answer to HW_IP_INFO. A block may have no rings for user space.
    pub block: InfoHwIp,
    /// The answer to HW_IP_COUNT.
    pub instances: u32,
}
