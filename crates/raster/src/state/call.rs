//! The packet of a draw, and its primitives.

use std::fmt;

/// The parameters of a draw packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The number of vertices or indices; `None` if it is in memory.
    pub count: Option<u32>,
    /// The number of instances; `None` if it is in memory.
    pub instances: Option<u32>,
    /// The first vertex or index.
    pub first: u32,
    /// The indices; `None` for a draw without.
    pub indices: Option<Indices>,
    /// The value of VGT_DRAW_INITIATOR.
    pub initiator: u32,
}

/// An index buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indices {
    /// The address of the first index.
    pub va: u64,
    /// The number of indices; those behind read as 0.
    pub count: u32,
    /// The size of an index: 1, 2 or 4 bytes.
    pub bytes: u32,
}

/// The primitives that vertices make: VGT_PRIMITIVE_TYPE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Topology {
    /// No primitive type was set.
    None,
    /// A point for each vertex.
    Points,
    /// A line for each pair of vertices.
    Lines,
    /// A line for each vertex but the first.
    LineStrip,
    /// A triangle for each three vertices.
    Triangles,
    /// Triangles around the first vertex.
    TriangleFan,
    /// A triangle for each vertex but the first two.
    TriangleStrip,
    /// Lines or triangles with adjacent vertices, by number.
    Adjacency(u32),
    /// Patches.
    Patches,
    /// A rectangle for each three corners.
    Rectangles,
    /// Another type, by number.
    Other(u32),
}

impl Topology {
    pub(super) const fn new(number: u32) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Points,
            2 => Self::Lines,
            3 => Self::LineStrip,
            4 => Self::Triangles,
            5 => Self::TriangleFan,
            6 => Self::TriangleStrip,
            9 => Self::Patches,
            10..=13 => Self::Adjacency(number),
            17 => Self::Rectangles,
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no primitives",
            Self::Points => "points",
            Self::Lines => "lines",
            Self::LineStrip => "line strip",
            Self::Triangles => "triangles",
            Self::TriangleFan => "triangle fan",
            Self::TriangleStrip => "triangle strip",
            Self::Patches => "patches",
            Self::Rectangles => "rectangles",
            Self::Adjacency(number) => return write!(f, "adjacency topology {number}"),
            Self::Other(number) => return write!(f, "topology {number}"),
        })
    }
}
