//! Framebuffers: BOs that are pictures of a format and modifier.
//!
//! Source: Linux 6.12 `drm_framebuffer.c`, `framebuffer_check`; `amdgpu_display.c`, `amdgpu_display_verify_sizes`.

use std::{ops::Range, sync::Arc};

use amdgpu_hw::GfxLevel;
use amdgpu_surface::{
    Chip,
    modifier::{FormatClass, ListOptions, Modifier, ModifierList},
    surface::{SurfaceConfig, SurfaceLayout, SurfaceUsage},
    tiler::{Region, Rows},
};
use amdgpu_uapi::Errno;

use crate::kernel::mm::bo::Bo;

/// The formats of primary planes (`drm_fourcc.h`) that every chip has.
///
/// Source: Linux 6.12 `amdgpu_dm_plane.c`, `rgb_formats`.
pub(crate) const PRIMARY: [[u8; 4]; 9] =
    [*b"XR24", *b"AR24", *b"XB24", *b"AB24", *b"RG16", *b"XR30", *b"AR30", *b"XB30", *b"AB30"];
/// The formats of cursors.
///
/// Source: Linux 6.12 `amdgpu_dm_plane.c`, `cursor_formats`.
pub(crate) const CURSOR: [[u8; 4]; 1] = [*b"AR24"];
/// DRM_FORMAT_MOD_LINEAR.
pub(super) const LINEAR: u64 = 0;

/// A format that can be scanned out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format([u8; 4]);

impl Format {
    /// Returns the format with a code.
    pub(crate) fn find(code: u32) -> Option<Self> {
        PRIMARY.into_iter().find(|known| *known == code.to_le_bytes()).map(Self)
    }

    /// Returns the format of a framebuffer that is described by its bits per pixel and its colour depth.
    ///
    /// Source: Linux 6.12 `drm_fourcc.c`, `drm_mode_legacy_fb_format`.
    pub(crate) const fn legacy(bits: u32, depth: u32) -> Option<Self> {
        match (bits, depth) {
            (16, 16) => Some(Self(*b"RG16")),
            (32, 24) => Some(Self(*b"XR24")),
            (32, 30) => Some(Self(*b"XR30")),
            (32, 32) => Some(Self(*b"AR24")),
            _ => None,
        }
    }

    /// Returns the format's code (`drm_fourcc.h`).
    pub(crate) const fn code(self) -> u32 {
        u32::from_le_bytes(self.0)
    }

    /// Returns `true` if the format has this code.
    pub(crate) fn is(self, code: [u8; 4]) -> bool {
        self.0 == code
    }

    /// Returns the bits per pixel and the colour depth. The latter is 0 for a format that is newer than such descriptions.
    ///
    /// Source: Linux 6.12 `drm_fourcc.c`, `__drm_format_info`.
    pub(crate) fn bits_and_depth(self) -> (u32, u32) {
        let depth = match &self.0 {
            b"RG16" => 16,
            b"XR24" | b"XB24" => 24,
            b"XR30" | b"XB30" | b"AR30" | b"AB30" => 30,
            _ => 32,
        };
        (self.bytes() * 8, depth)
    }

    /// Returns the number of bytes of a pixel.
    pub(crate) fn bytes(self) -> u32 {
        if self.0 == *b"RG16" { 2 } else { 4 }
    }

    /// Returns the modifiers of the format that the chip can scan out.
    pub(super) fn modifiers(self, chip: &Chip) -> Vec<u64> {
        let class = FormatClass { bits: self.bytes() * 8, compressed: false, depth_stencil: false, planes: 1 };
        let list = ModifierList::new(chip, class, ListOptions { dcc: false, retile: false });
        list.as_slice().iter().map(|modifier| modifier.encode()).collect()
    }

    /// Returns the red, green and blue components of a pixel, each with 8 bits.
    pub(super) fn colour(self, pixel: u32) -> [u8; 3] {
        let eight = |low: u32, bits: u32| (((pixel >> low) & ((1 << bits) - 1)) * 255 / ((1 << bits) - 1)) as u8;
        let [_, order, ..] = self.0;
        match &self.0[2..] {
            b"16" => [eight(11, 5), eight(5, 6), eight(0, 5)],
            b"30" if order == b'R' => [eight(20, 10), eight(10, 10), eight(0, 10)],
            b"30" => [eight(0, 10), eight(10, 10), eight(20, 10)],
            _ if order == b'R' => [eight(16, 8), eight(8, 8), eight(0, 8)],
            _ => [eight(0, 8), eight(8, 8), eight(16, 8)],
        }
    }
}

/// A picture in a BO.
#[derive(Clone, Debug)]
pub(crate) struct Framebuffer {
    /// The id; 0 before the framebuffer has one.
    pub(crate) id: u32,
    pub(crate) bo: Arc<Bo>,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) format: Format,
    /// The number of bytes from one row to the next.
    pub(crate) pitch: u32,
    /// The offset of the picture in the BO in bytes.
    pub(crate) offset: u32,
    /// The modifier if the client gave one; otherwise the BO's tiling flags count.
    pub(crate) modifier: Option<u64>,
}

/// The size of a block in pixels and bytes, as exponents of two.
struct Block {
    width: u32,
    height: u32,
    bytes: u32,
}

impl Block {
    /// Returns the block of a modifier's tiles.
    ///
    /// Source: Linux 6.12 `amdgpu_display.c`, `get_block_dimensions` and `get_block_size_log2`.
    fn of(level: GfxLevel, modifier: u64, pixel: u32) -> Self {
        let tile = modifier >> 8 & 0x1f;
        let bytes = match (level, tile) {
            (GfxLevel::Gfx12, 1) => 8,
            (GfxLevel::Gfx12, 2) => 12,
            (GfxLevel::Gfx12, 4) | (_, 31) => 18,
            _ => 16,
        };
        let pixels = bytes - pixel.ilog2();
        Self { width: pixels.div_ceil(2), height: pixels / 2, bytes }
    }
}

impl Framebuffer {
    /// Makes the checks of a chip's display engine.
    ///
    /// # Errors
    ///
    /// EINVAL for a modifier that the chip does not have or that compresses, for a pitch or an offset that is not aligned to
    /// blocks, and for a BO that is too small.
    pub(crate) fn check(&self, level: GfxLevel, chip: Option<&Chip>) -> Result<(), Errno> {
        let pixel = self.format.bytes();
        if level < GfxLevel::Gfx9 {
            // Only their tiling flags count.
            return if self.modifier.is_none() && self.ends_within(self.rows()) { Ok(()) } else { Err(Errno::EINVAL) };
        }
        let modifier = match self.modifier {
            Some(modifier) => modifier,
            None if self.bo.metadata().tiling == 0 => LINEAR,
            // The kernel makes a modifier of the tiling flags; here the flags are used directly.
            None => return if self.ends_within(self.rows()) { Ok(()) } else { Err(Errno::EINVAL) },
        };
        let (pitch, offset) = (u64::from(self.pitch), u64::from(self.offset));
        if modifier == LINEAR {
            let is_aligned = pitch.is_multiple_of(256) && offset.is_multiple_of(256);
            return if is_aligned && self.ends_within(self.rows()) { Ok(()) } else { Err(Errno::EINVAL) };
        }
        let is_known = chip.is_some_and(|chip| self.format.modifiers(chip).contains(&modifier));
        let block = Block::of(level, modifier, pixel);
        let row = u64::from(pixel) << block.width;
        if !is_known || !pitch.is_multiple_of(row) || !offset.is_multiple_of(1 << block.bytes) {
            return Err(Errno::EINVAL);
        }
        let blocks = pitch / row * u64::from(self.height).div_ceil(1 << block.height);
        if self.ends_within(blocks << block.bytes) { Ok(()) } else { Err(Errno::EINVAL) }
    }

    fn rows(&self) -> u64 {
        u64::from(self.pitch) * u64::from(self.height)
    }

    fn ends_within(&self, bytes: u64) -> bool {
        u64::from(self.offset) + bytes <= self.bo.size()
    }

    /// Returns `true` if the framebuffer is linear.
    pub(super) fn is_linear(&self) -> bool {
        self.modifier.map_or_else(|| self.bo.metadata().tiling == 0, |modifier| modifier == LINEAR)
    }

    /// Returns rows of the picture, untiled; `None` if the layout of its tiles is unknown.
    pub(super) fn untiled(&self, chip: Option<&Chip>, wanted: Range<u32>) -> Option<Vec<u8>> {
        let height = wanted.end.saturating_sub(wanted.start);
        let mut rows = vec![0; usize::try_from(u64::from(self.pitch) * u64::from(height)).ok()?];
        let pixel = self.format.bytes();
        // A surface that is laid out for the pitch has rows of that length.
        let mut config = SurfaceConfig::new(self.pitch / pixel, self.height, pixel);
        config.usage = SurfaceUsage::DISABLE_DCC | SurfaceUsage::NO_FMASK | SurfaceUsage::NO_HTILE;
        let flags = self.bo.metadata().tiling;
        match self.modifier {
            Some(modifier) if modifier != LINEAR => config.modifier = Some(Modifier::decode(modifier).ok()?),
            None if flags != 0 => {
                config.usage |= SurfaceUsage::IMPORTED;
                config.apply_tiling_flags(chip?, flags).ok()?;
            }
            _ => {
                let before = u64::from(self.pitch) * u64::from(wanted.start);
                self.bo.read(u64::from(self.offset) + before, &mut rows);
                return Some(rows);
            }
        }
        let layout = SurfaceLayout::new(chip?, &config).ok()?;
        let end = u64::from(self.offset).checked_add(layout.total_bytes)?;
        let len = usize::try_from(layout.total_bytes).ok().filter(|_| end <= self.bo.size())?;
        let mut tiled = vec![0; len];
        self.bo.read(self.offset.into(), &mut tiled);
        let region = Region { first: [0, wanted.start, 0], extent: [config.width, height, 1], sample: 0 };
        let texels = layout.texels(chip?, &config, 0).ok()?;
        texels.detile(&region, &tiled, &mut rows, Rows { pitch: self.pitch as usize, slice: 0 }).ok()?;
        Some(rows)
    }
}
