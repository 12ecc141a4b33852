//! DCC and CMASK: what a driver has cleared by the metadata of a colour target.
//!
//! This crate keeps colours as they are. Before a draw writes a block that the metadata tells to be cleared, the block gets its clear
//! colour and the code of a plain one. DCC has a byte for 256 bytes of colour, CMASK four bits for 8 x 8 pixels.
//!
//! Sources: Mesa 25.0.7 `radv_meta_clear.c`, `gfx8_get_fast_clear_parameters` and `gfx11_get_fast_clear_parameters`, for the codes.

use std::collections::HashSet;

use amdgpu_hw::GfxLevel;
use amdgpu_surface::{
    Chip,
    addr2::{
        self,
        meta::{MetaAddresser, MetaImage, MetaKind, MetaTables},
    },
};

use super::{format::Format, plane::Plane, value::Access};
use crate::{Colour, Feature};

/// The bytes of colour that a byte of DCC describes.
const BLOCK: u64 = 256;
/// The code of a plain block.
const PLAIN: u8 = 0xff;

/// The order of the codes.
#[derive(Debug)]
enum Order {
    /// As colours follow each other (GFX8).
    Beside,
    /// By the equation of the hardware, and bytes from slice to slice.
    Equation { tables: Box<MetaTables>, slice: u64, size: [u32; 2] },
    /// Four bits for 8 x 8 pixels, row by row, and bytes from slice to slice. Nothing but the colour block reads them.
    Tiles { row: u64, slice: u64 },
}

/// The colour of a block, by its code.
enum Cleared {
    /// All pixels have it.
    To(u128),
    /// All pixels have that of the first one.
    ToFirst,
    /// The code tells of something else.
    Not,
}

/// The metadata of a target.
#[derive(Debug)]
pub(in crate::execute) struct Dcc {
    level: GfxLevel,
    base: u64,
    order: Order,
    first_layer: u32,
    clear_words: [u32; 2],
    size: [u32; 2],
    /// The blocks that are known to be plain: addresses of codes and their bits.
    plain: HashSet<(u64, u32)>,
    last: Option<(u64, u32)>,
}

impl Dcc {
    /// Prepares the metadata of a target; `None` if it has none.
    pub(in crate::execute) fn new(
        level: GfxLevel,
        chip: Option<&Chip>,
        colour: &Colour,
        format: &Format,
        plane: &Plane,
    ) -> Result<Option<Self>, Feature> {
        let meta = &colour.metadata;
        let (order, base) = if colour.has_dcc && level < GfxLevel::Gfx12 {
            let found = match level {
                GfxLevel::Gfx6 | GfxLevel::Gfx7 => None,
                GfxLevel::Gfx8 => Some((Order::Beside, 0)),
                _ => chip.and_then(|chip| equation(chip, colour, format.bits())),
            };
            let (order, offset) = found.ok_or(Feature::Dcc)?;
            (order, meta.dcc.wrapping_add(offset))
        } else if colour.has_cmask {
            let row = u64::from(plane.size()[0].div_ceil(8));
            (Order::Tiles { row, slice: u64::from(meta.cmask_slice) }, meta.cmask)
        } else {
            return Ok(None);
        };
        Ok(Some(Self {
            level,
            base,
            order,
            first_layer: colour.layers[0],
            clear_words: meta.clear_words,
            size: plane.size(),
            plain: HashSet::new(),
            last: None,
        }))
    }

    /// Returns the address of the code of a pixel, and its first bit.
    fn place(&self, [x, y, layer]: [u32; 3], plane: &Plane) -> Option<(u64, u32)> {
        let z = u64::from(layer) + u64::from(self.first_layer);
        let (offset, bit) = match &self.order {
            Order::Beside => (plane.offset(x, y, layer)? / BLOCK, 0),
            Order::Equation { tables, slice, size } => {
                let [x, y] = [x & !(size[0] - 1), y & !(size[1] - 1)];
                let (own, whole) = if *slice == 0 { (z as u32, 0) } else { (0, z * slice) };
                (whole + tables.address(x, y, own, 0).byte, 0)
            }
            Order::Tiles { row, slice } => {
                let number = u64::from(y / 8) * row + u64::from(x / 8);
                (z * slice + number / 2, (number as u32 & 1) * 4)
            }
        };
        Some((self.base.wrapping_add(offset) & 0xffff_ffff_ffff, bit))
    }

    /// Makes the block of a pixel plain.
    ///
    /// # Errors
    ///
    /// The code of a block that is compressed, which nothing here writes.
    pub(in crate::execute) fn open(
        &mut self,
        access: &mut Access<'_>,
        pixel: [u32; 3],
        (colour, format, plane): (&Colour, &Format, &Plane),
    ) -> Result<(), u32> {
        let Some(place) = self.place(pixel, plane) else { return Ok(()) };
        if self.last == Some(place) {
            return Ok(());
        }
        self.last = Some(place);
        if !self.plain.insert(place) {
            return Ok(());
        }
        let (at, bit) = place;
        let byte = access.load(at, 1) as u8;
        if matches!(self.order, Order::Tiles { .. }) {
            match byte >> bit & 15 {
                0 => self.fill_tile(access, pixel, plane),
                // Expanded, with the numbers of samples of all images.
                13..=15 => {}
                code => return Err(code.into()),
            }
            access.store(at, 1, u128::from(byte | 15 << bit));
            return Ok(());
        }
        if byte == PLAIN {
            return Ok(());
        }
        let [x, y, layer] = pixel;
        let Some(own) = plane.address(x, y, layer) else { return Ok(()) };
        let block = own & !(BLOCK - 1);
        let element = match self.cleared(byte, colour, format) {
            Cleared::To(element) => element,
            Cleared::ToFirst => access.load(block, plane.bytes),
            Cleared::Not => return Err(byte.into()),
        };
        for offset in (0..BLOCK).step_by(plane.bytes) {
            access.store(block + offset, plane.bytes, element);
        }
        access.store(at, 1, PLAIN.into());
        Ok(())
    }

    /// Returns the colour of a cleared block.
    fn cleared(&self, code: u8, colour: &Colour, format: &Format) -> Cleared {
        let words = u128::from(self.clear_words[0]) | u128::from(self.clear_words[1]) << 32;
        let mask = format.bits_of(15);
        let repeated =
            |word: u128, bits: u32| (0..128 / bits).fold(0, |all, index| all | word << (bits * index)) & mask;
        let ones = |main: bool, alpha: bool| Cleared::To(format.extremes(colour, main, alpha));
        if self.level >= GfxLevel::Gfx11 {
            return match code {
                0x00 => Cleared::To(0),
                0x01 => Cleared::ToFirst,
                0x02 => Cleared::To(mask),
                0x04 => Cleared::To(repeated(0x3c00, 16)),
                0x06 => Cleared::To(repeated(0x3f80_0000, 32)),
                0x08 => Cleared::To(format.last_channel()),
                0x0a => Cleared::To(mask & !format.last_channel()),
                _ => Cleared::Not,
            };
        }
        match code {
            0x00 => Cleared::To(0),
            0x40 => ones(false, true),
            0x80 => ones(true, false),
            0xc0 => ones(true, true),
            0x10 if self.level >= GfxLevel::Gfx9 => Cleared::ToFirst,
            // The registers have 64 bits; pixels of 128 bits are cleared to equal colours, and alpha in the second word.
            0x20 if format.bits() == 128 => {
                let [rgb, alpha] = self.clear_words.map(u128::from);
                Cleared::To(rgb | rgb << 32 | rgb << 64 | alpha << 96)
            }
            0x20 => Cleared::To(words & mask),
            _ => Cleared::Not,
        }
    }

    /// Fills the tile of a pixel with the colour of the registers.
    fn fill_tile(&self, access: &mut Access<'_>, [x, y, layer]: [u32; 3], plane: &Plane) {
        let [low, high] = self.clear_words.map(u128::from);
        let element = if plane.bytes == 16 { low | low << 32 | low << 64 | high << 96 } else { low | high << 32 };
        for row in (y & !7)..((y & !7) + 8).min(self.size[1]) {
            for column in (x & !7)..((x & !7) + 8).min(self.size[0]) {
                if let Some(at) = plane.address(column, row, layer) {
                    access.store(at, plane.bytes, element);
                }
            }
        }
    }
}

/// Returns the order of DCC on GFX9 to GFX11.5, and the offset of the level.
fn equation(chip: &Chip, colour: &Colour, bits: u32) -> Option<(Order, u64)> {
    let mode = u8::try_from(colour.mode).ok().and_then(addr2::SwizzleMode::new)?;
    if colour.is_volume || mode.is_linear() {
        return None;
    }
    let [width, height] = colour.size;
    let levels = colour.last_level.checked_add(1)?;
    let image = addr2::Image {
        slices: colour.depth,
        levels,
        usage: addr2::Usage::TEXTURE,
        ..addr2::Image::new(mode, bits, width, height)
    };
    let sizes = addr2::layout(chip, &image).ok()?;
    let is_newer = chip.level() > GfxLevel::Gfx9;
    let meta = &colour.metadata;
    let whole = MetaImage {
        kind: MetaKind::Dcc,
        mode,
        dimension: addr2::Dimension::D2,
        bits,
        width,
        height,
        slices: colour.depth,
        levels,
        samples: 1,
        fragments: 1,
        pipe_aligned: meta.is_pipe_aligned,
        rb_aligned: if is_newer { meta.is_pipe_aligned } else { meta.is_backend_aligned },
        first_tail: sizes.first_tail,
    };
    let layout = whole.layout(chip).ok()?;
    let [block_width, block_height, _] = layout.compressed_block;
    let size = [block_width, block_height];
    // The tile swizzle of the image is in the low bits of the address of its DCC.
    let swizzled = u64::from(layout.align.min(1 << mode.block_bits(chip)).max(1));
    let low = meta.dcc & (swizzled - 1);
    let xor = (low >> 8) as u32;
    let without = 0_u64.wrapping_sub(low);
    if !is_newer {
        if levels > 1 {
            return None;
        }
        let tables = MetaAddresser::new(chip, &whole, &layout, xor).ok()?.tables().ok()?;
        return Some((Order::Equation { tables: Box::new(tables), slice: 0, size }, without));
    }
    let level = layout.levels.get(colour.level as usize).copied().unwrap_or_default();
    // The address library gives several blocks of single bytes one address on GFX10.
    if level.in_tail && levels > 1 || chip.level() == GfxLevel::Gfx10 && bits == 8 {
        return None;
    }
    let minify = |size: u32| size.checked_shr(colour.level).unwrap_or(0).max(1);
    let alone = MetaImage { width: minify(width), height: minify(height), levels: 1, ..whole };
    let own = alone.layout(chip).ok()?;
    let tables = MetaAddresser::new(chip, &alone, &own, xor).ok()?.tables().ok()?;
    let offset = u64::from(level.offset).wrapping_add(without);
    Some((Order::Equation { tables: Box::new(tables), slice: layout.slice_bytes, size }, offset))
}
