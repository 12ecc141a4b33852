//! The kinds of descriptors, as types.

/// Buffer descriptors (V#): 4 dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer;

/// Image descriptors (T#): 8 dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image;

/// Sampler descriptors (S#): 4 dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler;
