//! Framebuffers: BOs that are pictures of a format and modifier.
//!
//! Source: Linux 6.12 `drm_framebuffer.c`, `framebuffer_check`; `amdgpu_display.c`, `amdgpu_display_verify_sizes`,
//! `amdgpu_display_verify_plane` and `get_dcc_block_size`.

use std::{ops::Range, sync::Arc};

use amdgpu_hw::GfxLevel;
use amdgpu_surface::{
    Chip,
    modifier::{AmdModifier, Modifier, TileVersion},
    surface::{SurfaceConfig, SurfaceLayout, SurfaceUsage},
    tiler::{Region, Rows},
};
use amdgpu_uapi::Errno;

use super::{
    compression::Codes,
    format::Format,
    plane_modifiers::{self, LINEAR},
};
use crate::kernel::mm::bo::Bo;

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
    /// The pitches and offsets of the other planes: chroma of a format of two planes, or DCC.
    pub(crate) others: Vec<PlanePlace>,
    /// The modifier if the client gave one; otherwise the BO's tiling flags count.
    pub(crate) modifier: Option<u64>,
}

/// The place of a plane in the BO of a framebuffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlanePlace {
    /// The number of bytes from one row to the next.
    pub(crate) pitch: u32,
    /// The offset in the BO in bytes.
    pub(crate) offset: u32,
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
    fn of(modifier: AmdModifier, pixel: u32) -> Self {
        let bytes = match (modifier.version, modifier.tile) {
            (TileVersion::Gfx12, 1) => 8,
            (TileVersion::Gfx12, 2) => 12,
            (TileVersion::Gfx12, 4) | (_, 31) => 18,
            _ => 16,
        };
        Self::new(bytes, bytes, pixel)
    }

    /// Returns the block of a plane of DCC, which covers the pixels of 256 times its bytes.
    ///
    /// Source: Linux 6.12 `amdgpu_display.c`, `get_dcc_block_size`.
    fn of_dcc(modifier: AmdModifier, pixel: u32, is_aligned: bool) -> Self {
        let bytes = if modifier.version == TileVersion::Gfx9 {
            10 + if is_aligned { u32::from(modifier.rb) } else { 0 }
        } else {
            let pipes = u32::from(modifier.pipe_xor_bits);
            let has_more =
                modifier.version >= TileVersion::Gfx10RbPlus && pipes > 1 && modifier.packers == modifier.pipe_xor_bits;
            8 + if is_aligned { pipes + u32::from(has_more) } else { 0 }
        };
        let bytes = bytes.max(12);
        Self::new(bytes, bytes + 8, pixel)
    }

    fn new(bytes: u32, covered: u32, pixel: u32) -> Self {
        let pixels = covered - pixel.ilog2();
        Self { width: pixels.div_ceil(2), height: pixels / 2, bytes }
    }
}

impl Framebuffer {
    /// Makes the checks of a chip's display engine.
    ///
    /// # Errors
    ///
    /// EINVAL for a format that no plane has, for a modifier that the chip does not have for the format, for a pitch or an offset
    /// that is not aligned to blocks, and for a BO that is too small.
    pub(crate) fn check(&self, level: GfxLevel, chip: Option<&Chip>, formats: &[[u8; 4]]) -> Result<(), Errno> {
        let refuse_unless = |holds: bool| if holds { Ok(()) } else { Err(Errno::EINVAL) };
        refuse_unless(formats.iter().any(|known| self.format.is(*known)))?;
        if level < GfxLevel::Gfx9 {
            // Only their tiling flags count.
            return refuse_unless(self.modifier.is_none() && self.ends_within(self.rows()));
        }
        let modifier = match self.modifier {
            Some(modifier) => modifier,
            None if self.bo.metadata().tiling == 0 => LINEAR,
            // The kernel makes a modifier of the tiling flags; here the flags are used directly.
            None => return refuse_unless(self.ends_within(self.rows())),
        };
        if modifier == LINEAR {
            let is_aligned = |plane: &PlanePlace| plane.pitch.is_multiple_of(256) && plane.offset.is_multiple_of(256);
            let places = std::iter::once(self.first()).chain(self.others.iter().copied());
            let are_aligned = places.clone().all(|plane| is_aligned(&plane));
            let fit = places.zip(0..).all(|(plane, index)| {
                let rows = u64::from(self.height / if index > 0 { self.format.subsampling() } else { 1 });
                u64::from(plane.offset) + u64::from(plane.pitch) * rows <= self.bo.size()
            });
            return refuse_unless(are_aligned && fit);
        }
        let is_known = chip.is_some_and(|chip| plane_modifiers::supports(chip, self.format, modifier));
        let Some(Modifier::Amd(amd)) = Modifier::decode(modifier).ok().filter(|_| is_known) else {
            return Err(Errno::EINVAL);
        };
        let mut others = self.others.iter();
        self.check_plane(self.first(), &Block::of(amd, self.format.bytes()), self.format.bytes(), 1)?;
        for bytes in self.format.other_planes() {
            let place = others.next().ok_or(Errno::EINVAL)?;
            self.check_plane(*place, &Block::of(amd, *bytes), *bytes, self.format.subsampling())?;
        }
        let Some(dcc) = amd.dcc.filter(|_| amd.version != TileVersion::Gfx12) else { return Ok(()) };
        let pixel = self.format.bytes();
        if dcc.retile {
            let place = others.next().ok_or(Errno::EINVAL)?;
            self.check_plane(*place, &Block::of_dcc(amd, pixel, false), 1, 1)?;
        }
        let is_aligned = dcc.retile || dcc.pipe_align;
        let block = match amd.version {
            // The kernel aligns DCC to render backends, with pipes or without.
            TileVersion::Gfx9 => Block::of_dcc(amd, pixel, true),
            _ => Block::of_dcc(amd, pixel, is_aligned),
        };
        self.check_plane(*others.next().ok_or(Errno::EINVAL)?, &block, 1, 1)
    }

    /// Checks the place of a plane whose pixels have `bytes` bytes.
    fn check_plane(&self, place: PlanePlace, block: &Block, bytes: u32, subsampling: u32) -> Result<(), Errno> {
        let (pitch, offset) = (u64::from(place.pitch), u64::from(place.offset));
        let row = u64::from(bytes) << block.width;
        let least = (u64::from(self.width / subsampling) * u64::from(bytes)).next_multiple_of(row);
        if !pitch.is_multiple_of(row) || pitch < least || !offset.is_multiple_of(1 << block.bytes) {
            return Err(Errno::EINVAL);
        }
        let blocks = pitch / row * u64::from(self.height / subsampling).div_ceil(1 << block.height);
        if offset + (blocks << block.bytes) <= self.bo.size() { Ok(()) } else { Err(Errno::EINVAL) }
    }

    /// Returns the place of the first plane.
    pub(crate) const fn first(&self) -> PlanePlace {
        PlanePlace { pitch: self.pitch, offset: self.offset }
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

    /// Returns rows of the picture as pixels that lie one after the other; `None` if the layout of its tiles is unknown.
    pub(super) fn scan(&self, chip: Option<&Chip>, wanted: Range<u32>) -> Option<Scan> {
        let pitch = self.pitch as usize;
        // The first pixel of a block may stand for all of it, so whole blocks are read.
        let codes = chip.and_then(|chip| self.codes(chip));
        let first = codes.as_ref().map_or(wanted.start, |codes| wanted.start / codes.height() * codes.height());
        let mut rows = self.untiled(chip, self.first(), (self.format.bytes(), 1), first..wanted.end)?;
        if let Some(codes) = codes {
            codes.fill(self.format, &mut rows, pitch, first);
            rows.drain(..pitch * (wanted.start - first) as usize);
        }
        let Some(&bytes) = self.format.other_planes().first() else {
            return Some(Scan { rows, pitch, pixel: self.format.bytes() as usize, format: self.format });
        };
        let place = *self.others.first()?;
        let chroma = self.untiled(chip, place, (bytes, 2), wanted.start / 2..wanted.end.div_ceil(2))?;
        let width = self.width as usize;
        let mut out = Vec::with_capacity(width * 4 * wanted.len());
        for row in wanted.clone() {
            let luma = rows.get((row - wanted.start) as usize * pitch..)?;
            let colours = chroma.get((row / 2 - wanted.start / 2) as usize * place.pitch as usize..)?;
            for column in 0..width {
                out.extend(self.format.of_luma(luma, colours, column));
            }
        }
        Some(Scan { rows: out, pitch: width * 4, pixel: 4, format: Format::OPAQUE })
    }

    /// Returns the codes of DCC; `None` without any. GFX12 has none: its compression is a property of pages.
    ///
    /// Source: Linux 6.12 `amdgpu_display.c`, `convert_tiling_flags_to_modifier`, for framebuffers without a modifier.
    fn codes(&self, chip: &Chip) -> Option<Codes> {
        if !(GfxLevel::Gfx9..GfxLevel::Gfx12).contains(&chip.level()) {
            return None;
        }
        let pixel = self.format.bytes();
        let mut config = SurfaceConfig::new(self.pitch / pixel, self.height, pixel);
        config.usage = SurfaceUsage::NO_FMASK | SurfaceUsage::NO_HTILE | SurfaceUsage::SCANOUT;
        let offset = match self.modifier {
            Some(LINEAR) => return None,
            Some(modifier) => {
                let Ok(Modifier::Amd(amd)) = Modifier::decode(modifier) else { return None };
                amd.dcc?;
                config.modifier = Some(Modifier::Amd(amd));
                u64::from(self.others.first()?.offset)
            }
            None => {
                let flags = self.bo.metadata().tiling;
                config.usage |= SurfaceUsage::IMPORTED;
                config.apply_tiling_flags(chip, flags).ok()?;
                let units = flags >> 5 & 0xff_ffff;
                (units != 0).then_some(u64::from(self.offset) + units * 256)?
            }
        };
        Codes::read(chip, &config, &self.bo, offset)
    }

    /// Returns rows of a plane, untiled. The simulated GPU does not compress pixels, so these are those of compressed pictures too, but for
    /// blocks that are cleared.
    fn untiled(
        &self,
        chip: Option<&Chip>,
        place: PlanePlace,
        (pixel, subsampling): (u32, u32),
        wanted: Range<u32>,
    ) -> Option<Vec<u8>> {
        let PlanePlace { pitch, offset } = place;
        let height = wanted.end.saturating_sub(wanted.start);
        let mut rows = vec![0; usize::try_from(u64::from(pitch) * u64::from(height)).ok()?];
        // A surface that is laid out for the pitch has rows of that length.
        let mut config = SurfaceConfig::new(pitch / pixel, self.height.div_ceil(subsampling), pixel);
        config.usage = SurfaceUsage::DISABLE_DCC | SurfaceUsage::NO_FMASK | SurfaceUsage::NO_HTILE;
        let flags = self.bo.metadata().tiling;
        match self.modifier {
            Some(modifier) if modifier != LINEAR => {
                let Modifier::Amd(amd) = Modifier::decode(modifier).ok()? else { return None };
                // The pixels lie alike with DCC and without.
                let plain = AmdModifier { dcc: None, rb: 0, pipe: 0, ..amd };
                config.modifier = Some(Modifier::Amd(plain));
            }
            None if flags != 0 => {
                config.usage |= SurfaceUsage::IMPORTED;
                config.apply_tiling_flags(chip?, flags).ok()?;
            }
            _ => {
                let before = u64::from(pitch) * u64::from(wanted.start);
                self.bo.read(u64::from(offset) + before, &mut rows);
                return Some(rows);
            }
        }
        let layout = SurfaceLayout::new(chip?, &config).ok()?;
        let end = u64::from(offset).checked_add(layout.total_bytes)?;
        let len = usize::try_from(layout.total_bytes).ok().filter(|_| end <= self.bo.size())?;
        let mut tiled = vec![0; len];
        self.bo.read(offset.into(), &mut tiled);
        let region = Region { first: [0, wanted.start, 0], extent: [config.width, height, 1], sample: 0 };
        let texels = layout.texels(chip?, &config, 0).ok()?;
        texels.detile(&region, &tiled, &mut rows, Rows { pitch: pitch as usize, slice: 0 }).ok()?;
        Some(rows)
    }
}

/// Rows of a picture.
pub(super) struct Scan {
    pub(super) rows: Vec<u8>,
    /// The number of bytes from one row to the next.
    pub(super) pitch: usize,
    /// The number of bytes of a pixel.
    pub(super) pixel: usize,
    pub(super) format: Format,
}
