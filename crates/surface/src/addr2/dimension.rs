//! The dimension of an image.

/// The dimension of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// A 1D image.
    D1,
    /// A 2D image or an array of 2D images.
    D2,
    /// A 3D image.
    D3,
}
