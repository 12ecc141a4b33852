//! The kinds of descriptors, as types.

/// The kind of buffer descriptors (V#), which have 4 dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer;

/// The kind of image descriptors (T#), which have 8 dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image;

/// The kind of sampler descriptors (S#), which have 4 dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler;
