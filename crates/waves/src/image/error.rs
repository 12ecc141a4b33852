//! Refusals of image and sampler descriptors.

use amdgpu_surface::{AddrError, tiler::TilerError};

/// The reason why the texels behind a descriptor can not be accessed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The format is none, or one that is not decoded.
    #[error("image format {0} is not decoded")]
    Format(String),
    /// The place of the compression metadata is not known.
    #[error("compression metadata {0} is not read (RADV_DEBUG=nodcc,nohiz makes RADV do without)")]
    Meta(&'static str),
    /// The metadata says that the texels are compressed, or cleared to the colour in a register of render targets.
    #[error("the {what} code {code:#x} is one that only render targets can read")]
    Code {
        /// Kind of metadata.
        what: &'static str,
        /// The metadata of the texel.
        code: u32,
    },
    /// The chip's pipes and banks are not known.
    #[error("the chip's tiling is not known")]
    Chip,
    /// The swizzle mode is none.
    #[error("swizzle mode {0} does not exist")]
    Mode(i64),
    /// The image can not be laid out.
    #[error("the image has no layout: {0}")]
    Layout(#[from] AddrError),
    /// A level has no addresses.
    #[error("the level has no addresses: {0}")]
    Level(#[from] TilerError),
    /// The sampler asks for something that is not done.
    #[error("the sampler {0}")]
    Sampler(&'static str),
    /// The format can not be stored.
    #[error("the format can not be stored")]
    Store,
    /// The instruction wants a texel of another size.
    #[error("the operation does not fit texels of {0} bytes")]
    Size(u32),
}
