//! Exports and interpolated attributes of waves of graphics stages.

/// The values of an attribute for a primitive: P0, P10 and P20 of each component.
pub type Interpolant = [[u32; 3]; 4];

/// An export of a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The number of the target.
    pub target: u8,
    /// The components that are exported: a bit each.
    pub enabled: u8,
    /// `true` if components have 16 bits.
    pub is_compressed: bool,
    /// `true` for the last export of its kind.
    pub is_last: bool,
    /// `true` if lanes that are off are discarded.
    pub is_valid_mask: bool,
    /// The lanes that are on.
    pub lanes: u64,
    /// The components of each lane; 0 for those that are not exported.
    pub values: [[u32; 64]; 4],
}
