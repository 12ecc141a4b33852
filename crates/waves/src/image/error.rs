//! Errors of image and sampler descriptors.

use amdgpu_surface::{AddrError, tiler::TilerError};

/// The reason why the texels of an image cannot be accessed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The format is invalid, or decoding it is not supported.
    #[error("image format {0} is not decoded")]
    Format(String),
    /// The location of the compression metadata is not known.
    #[error("compression metadata {0} is not read (RADV_DEBUG=nodcc,nohiz makes RADV do without)")]
    Meta(&'static str),
    /// The metadata marks the texels as compressed, or as cleared to the colour in a register of render targets.
    #[error("the {what} code {code:#x} is one that only render targets can read")]
    Code {
        /// The kind of metadata.
        what: &'static str,
        /// The value of the texel's metadata.
        code: u32,
    },
    /// The tiling of the chip (its pipes and banks) is not known.
    #[error("the chip's tiling is not known")]
    Chip,
    /// The swizzle mode does not exist.
    #[error("swizzle mode {0} does not exist")]
    Mode(i64),
    /// The layout of the image cannot be computed.
    #[error("the image has no layout: {0}")]
    Layout(#[from] AddrError),
    /// The addresses of a level cannot be computed.
    #[error("the level has no addresses: {0}")]
    Level(#[from] TilerError),
    /// The sampler uses a feature that is not supported.
    #[error("the sampler {0}")]
    Sampler(&'static str),
    /// Stores to the format are not supported.
    #[error("the format can not be stored")]
    Store,
    /// The instruction needs a texel of another size.
    #[error("the operation does not fit texels of {0} bytes")]
    Size(u32),
}
