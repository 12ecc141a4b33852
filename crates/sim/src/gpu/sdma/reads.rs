//! The facts of a copy engine that its packets are executed with.

use amdgpu_packets::sdma::Version;
use amdgpu_surface::Chip;

/// The version of a copy engine and its tiling.
pub(super) struct Reads<'c> {
    pub(super) version: Version,
    /// The version whose form CONST_FILL has.
    pub(super) fills: Version,
    /// The tiling of images, without which none is copied.
    pub(super) chip: Option<&'c Chip>,
}
