//! The dimension of an image.

/// The dimension of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// One row.
    D1,
    /// Rows and columns, perhaps in layers.
    D2,
    /// A volume.
    D3,
}
