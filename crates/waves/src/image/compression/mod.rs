//! Compression metadata: DCC of colours, HTILE of depth and stencil, CMASK of FMASK.
//!
//! Render targets write compressed texels; shaders and drivers' fills leave three states: plain texels, cleared ones whose
//! value is in the metadata, and (GFX10 and later) blocks whose texels all have the value of the first. Those are read here, and
//! stores turn them into plain texels. Any other code is refused by name.

pub(crate) mod code;
mod place;

use amdgpu_descriptors::fields::image as f;
use amdgpu_hw::GfxLevel;
use amdgpu_surface::{Chip, addr2::SwizzleMode};

use self::code::{Coding, Kind};
use self::place::Places;
pub(crate) use self::place::Unit;
use super::{error::ImageError, format::TexelFormat, layout::Layout, reader::Reader};

/// The metadata of an image.
#[derive(Debug)]
pub(super) struct Compression {
    pub(super) coding: Coding,
    /// Stores keep the metadata in step; otherwise they are the driver's, which knows that the texels are plain.
    pub(super) is_written: bool,
    pub(super) places: Places,
}

impl Compression {
    /// Reads the fields of a descriptor; `None` for an image without compression.
    ///
    /// Source: Mesa's `ac_set_mutable_tex_desc_fields` and `ac_build_fmask_descriptor`, which fill them.
    pub(super) fn new(
        reader: &Reader,
        format: TexelFormat,
        layout: &Layout,
        chip: Option<&Chip>,
    ) -> Result<Option<Self>, ImageError> {
        let (level, get) = (reader.level, |field| reader.get(field));
        // Compression is a property of pages on GFX12, behind which texels are plain here.
        if level >= GfxLevel::Gfx12 || get(f::COMPRESSION_EN) == 0 {
            return Ok(None);
        }
        let chip = chip.ok_or(ImageError::Chip)?;
        let is_depth = match level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => layout.is_depth(),
            GfxLevel::Gfx9 => SwizzleMode::new(get(f::SW_MODE) as u8).is_some_and(place::is_depth_order),
            // Colour has blocks of 256 bytes (2), depth leaves the field at 0.
            _ => get(f::MAX_UNCOMPRESSED_BLOCK_SIZE) == 0,
        };
        let kind = match (format.is_fmask(), is_depth, format.bits) {
            (true, ..) => Kind::Cmask,
            (_, true, 8) => Kind::Stencil,
            (_, true, _) => Kind::Depth,
            _ => Kind::Dcc,
        };
        let coding = Coding { kind, level, is_alpha_on_msb: get(f::ALPHA_IS_ON_MSB) != 0 };
        let is_written = get(f::WRITE_COMPRESS_ENABLE) != 0;
        let places = Places::new(reader, kind, format, layout, chip)?;
        Ok(Some(Self { coding, is_written, places }))
    }
}
