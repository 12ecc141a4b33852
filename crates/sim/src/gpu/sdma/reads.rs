//! The properties of a copy engine that the execution of packets depends on.

use amdgpu_packets::sdma::Version;
use amdgpu_surface::Chip;

/// The version of a copy engine and its tiling.
pub(super) struct Reads<'c> {
    pub(super) version: Version,
    /// The version whose format CONST_FILL has.
    pub(super) fills: Version,
    /// The tiling of images. Without it, no tiled image is copied.
    pub(super) chip: Option<&'c Chip>,
}
