//! Features of draws that are not executed.

use std::fmt;

/// A feature of a draw that this crate does not execute. Its text form is a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// A hull and a domain shader.
    Tessellation,
    /// A geometry shader.
    GeometryShader,
    /// Mesh shaders.
    MeshShader,
    /// Vertices are written to buffers.
    StreamOut,
    /// Adjacency, quads, polygons and other primitives that Vulkan lacks.
    Topology(u32),
    /// A number of samples: more than eight, or another one than targets have.
    Samples(u32),
    /// Pixel shaders of one pixel run in order.
    OrderedPixels,
    /// Coverage of any touched pixel.
    Conservative,
    /// A colour format, by number.
    ColourFormat(u32),
    /// A tile or swizzle mode that has no addresses, by number.
    Tiling(u32),
    /// DCC of a colour target.
    Dcc,
    /// CMASK of a colour target.
    Cmask,
    /// FMASK of a colour target.
    Fmask,
    /// HTILE of a depth target.
    Htile,
    /// An operation of the colour block other than writing, by number.
    ColourMode(u32),
    /// The vertex offset of the fixed function, which drivers leave at zero.
    IndexOffset,
    /// Vertex shaders get values that the geometry engine computes from user data.
    UserVgprs,
    /// Attributes of 16 bits.
    HalfAttributes,
    /// The draw takes its count from a stream-out buffer.
    OpaqueCount,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Tessellation => "tessellation",
            Self::GeometryShader => "geometry shader",
            Self::MeshShader => "mesh shader",
            Self::StreamOut => "stream-out",
            Self::Topology(number) => return write!(f, "topology {number}"),
            Self::Samples(count) => return write!(f, "{count} samples"),
            Self::OrderedPixels => "ordered pixel shaders",
            Self::Conservative => "conservative rasterization",
            Self::ColourFormat(number) => return write!(f, "colour format {number}"),
            Self::Tiling(number) => return write!(f, "tiling mode {number}"),
            Self::Dcc => "DCC",
            Self::Cmask => "CMASK",
            Self::Fmask => "FMASK",
            Self::Htile => "HTILE",
            Self::ColourMode(number) => {
                let name = match number {
                    2 => "eliminate fast clear",
                    3 => "resolve",
                    4 => "decompress",
                    5 => "FMASK decompress",
                    6 => "DCC decompress",
                    _ => return write!(f, "colour mode {number}"),
                };
                return write!(f, "colour mode {name}");
            }
            Self::IndexOffset => "index offset",
            Self::UserVgprs => "user VGPRs",
            Self::HalfAttributes => "16-bit attributes",
            Self::OpaqueCount => "count of a stream-out buffer",
        };
        f.write_str(name)
    }
}
