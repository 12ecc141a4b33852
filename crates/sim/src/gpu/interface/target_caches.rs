//! The caches of render backends.

use bitflags::bitflags;

bitflags! {
    /// The caches of the render backends.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct TargetCaches: u8 {
        /// The values of colour targets.
        const COLOR = 1 << 0;
        /// The metadata of colour targets.
        const COLOR_METADATA = 1 << 1;
        /// The values of depth and stencil targets.
        const DEPTH = 1 << 2;
        /// The metadata of depth targets.
        const DEPTH_METADATA = 1 << 3;
    }
}
