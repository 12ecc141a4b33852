//! Video engines of a chip.

use amdgpu_hw::Ip;
use amdgpu_uapi::InfoHwIp;

/// A kind of video engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoBlock {
    /// The kind: UVD, VCE, UVD's or VCN's encoder, VCN's decoder, or JPEG.
    pub ip: Ip,
    /// The answer to HW_IP_INFO. A block may have no ring for user space.
    pub block: InfoHwIp,
    /// The answer to HW_IP_COUNT.
    pub instances: u32,
}
