//! Coordinates of texels.

/// A texel: level, coordinates with the layer or slice in z, sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Texel {
    /// The level, counted from the view's first level.
    pub(crate) level: u32,
    pub(crate) x: u32,
    pub(crate) y: u32,
    /// The slice of a 3D image, or the layer, counted from the view's first.
    pub(crate) z: u32,
    pub(crate) sample: u32,
}
