//! Inputs of decoding besides the bytes.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;

/// The configuration of the waves of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WaveConfig {
    pub(crate) level: GfxLevel,
    pub(crate) wave: WaveSize,
    /// VGPRs that may be used, with shared ones.
    pub(crate) vgprs: u32,
    /// `true` for stages that export and interpolate.
    pub(crate) is_graphics: bool,
}
