//! DCC, CMASK and FMASK: what a driver has cleared by the metadata of a colour target.
//!
//! This crate keeps colours as they are. Before a draw writes a block that the metadata tells to be cleared, the block gets its clear
//! colour and the code of a plain one. DCC has a byte for 256 bytes of colour, CMASK four bits for 8 x 8 pixels. FMASK maps the samples of
//! each pixel to colours that are stored, and always each to its own here.

use std::collections::HashSet;

use amdgpu_hw::GfxLevel;
use amdgpu_surface::{
    Chip, addr1,
    addr2::{
        self,
        meta::{MetaImage, MetaKind, MetaUnits},
    },
    dcc::DccCode,
};

use super::{
    format::Format,
    plane::{Plane, colour_level, fmask_level, fmask_plane},
    value::Access,
};
use crate::{Colour, Feature, Surface};

/// The bytes of colour that a byte of DCC describes.
const BLOCK: u64 = 256;
/// The code of CMASK beside FMASK that gives all samples the first colour. Drivers put it into CMASK before its target is drawn to.
///
/// Source: Mesa 25.0.7, radeonsi's `si_texture_create_object` and RADV's `radv_init_color_image_metadata`.
const FIRST: u8 = 12;

/// The order of the codes.
#[derive(Clone, Debug)]
enum Order {
    /// As colours follow each other (GFX8).
    Beside,
    /// As texture units read them (GFX9 and later).
    Units(Box<MetaUnits>),
    /// Four bits for 8 x 8 pixels, row by row, and bytes from slice to slice. Nothing but the colour block reads them.
    Tiles { row: u64, slice: u64 },
    /// Four bits for 8 x 8 pixels in the order in which texture units read them (GFX8).
    Mask { tables: Box<addr1::mask::MaskTables>, slice: u64 },
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
#[derive(Clone, Debug)]
pub(in crate::execute) struct Dcc {
    level: GfxLevel,
    base: u64,
    order: Order,
    first_layer: u32,
    clear_words: [u32; 2],
    size: [u32; 2],
    /// `true` if the samples of a pixel have codes of their own.
    has_own_blocks: bool,
    /// The FMASK, and the code of CMASK with which it tells of all samples.
    fmask: Option<(Plane, u8)>,
    /// The blocks that are known to be plain: addresses of codes and their bits.
    plain: HashSet<(u64, u32)>,
    last: Option<(u64, u32)>,
    /// The block whose pixels all have the same codes, and that was opened last.
    last_block: Option<[u32; 3]>,
}

/// Makes the block of a pixel plain in all metadata of a target.
///
/// # Errors
///
/// A code that tells of compression, which nothing here writes.
pub(in crate::execute) fn open_all(
    all: &mut [Dcc],
    access: &mut Access<'_>,
    pixel: [u32; 3],
    target: (&Colour, &Format, &Plane),
) -> Result<(), u32> {
    if let Some((mask, dcc)) = all.split_last_mut()
        && mask.is_first(access, pixel, target.2)
    {
        let [x, y, layer] = pixel;
        let plane = target.2;
        for (row, column) in (y & !7..(y & !7) + 8).flat_map(|row| (x & !7..(x & !7) + 8).map(move |at| (row, at))) {
            let pixel = [column, row, layer];
            let Some(first) = plane.address(pixel, 0) else { continue };
            // DCC, if there is some, tells of the first colour of each pixel, and CMASK that it is that of all samples.
            dcc.iter_mut().try_for_each(|dcc| dcc.open(access, pixel, target))?;
            access.enter(Surface::Color);
            let element = access.load(first, plane.bytes);
            for at in (1..plane.samples).filter_map(|sample| plane.address(pixel, sample)) {
                access.store(at, plane.bytes, element);
            }
        }
    }
    all.iter_mut().try_for_each(|one| one.open(access, pixel, target))
}

impl Dcc {
    /// Returns `true` if CMASK says that all samples of a pixel have its first colour.
    fn is_first(&self, access: &mut Access<'_>, pixel: [u32; 3], plane: &Plane) -> bool {
        let Some((at, bit)) = self.place(pixel, 0, plane).filter(|_| self.fmask.is_some()) else { return false };
        access.enter(Surface::ColorMetadata);
        !self.plain.contains(&(at, bit)) && access.load(at, 1) as u8 >> bit & 15 == FIRST
    }

    /// Returns `true` if different rows of 8 x 8 pixels share no byte of it.
    pub(in crate::execute) const fn has_rows_alone(&self) -> bool {
        // Codes of four bits share bytes, and blocks of GFX8 are what follows each other in memory.
        self.fmask.is_none() && matches!(self.order, Order::Units(_))
    }

    /// Prepares the metadata of a target: DCC, and CMASK with or without FMASK.
    pub(in crate::execute) fn new(
        level: GfxLevel,
        chip: Option<&Chip>,
        colour: &Colour,
        format: &Format,
        plane: &Plane,
    ) -> Result<Vec<Self>, Feature> {
        let meta = &colour.metadata;
        let has_dcc = colour.has_dcc && level < GfxLevel::Gfx12;
        let has_fmask = colour.has_fmask && colour.fragments > 0 && level < GfxLevel::Gfx11;
        let make = |order, base, has_own_blocks, fmask| Self {
            level,
            base,
            order,
            first_layer: colour.layers[0],
            clear_words: meta.clear_words,
            size: plane.size(),
            has_own_blocks,
            fmask,
            plain: HashSet::new(),
            last: None,
            last_block: None,
        };
        let mut all = Vec::new();
        if has_dcc {
            let found = match level {
                GfxLevel::Gfx6 | GfxLevel::Gfx7 => None,
                GfxLevel::Gfx8 => Some((Order::Beside, meta.dcc & !(swizzled(chip, colour, format) - 1))),
                _ => chip.and_then(|chip| units(chip, colour, format.bits())),
            };
            let (order, base) = found.ok_or(Feature::Dcc)?;
            let is_shared = matches!(&order, Order::Units(units) if units.shares_samples());
            all.push(make(order, base, plane.samples > 1 && !is_shared, None));
        }
        if has_fmask {
            let (order, base) = chip.and_then(|chip| mask(chip, colour)).ok_or(Feature::Cmask)?;
            let codes = [15, 13, 14, 15];
            let fmask = fmask_plane(level, chip, colour).ok_or(Feature::Fmask)?;
            all.push(make(order, base, false, Some((fmask, codes[colour.fragments as usize & 3]))));
        } else if colour.has_cmask && !has_dcc {
            let row = u64::from(plane.size()[0].div_ceil(8));
            all.push(make(Order::Tiles { row, slice: u64::from(meta.cmask_slice) }, meta.cmask, false, None));
        }
        Ok(all)
    }

    /// Returns the address of the code of a pixel, and its first bit.
    fn place(&self, [x, y, layer]: [u32; 3], sample: u32, plane: &Plane) -> Option<(u64, u32)> {
        let z = u64::from(layer) + u64::from(self.first_layer);
        let (offset, bit) = match &self.order {
            Order::Beside => (plane.offset([x, y, layer], sample)? / BLOCK, 0),
            Order::Units(units) => {
                let at = units.address([x, y, z as u32], sample)?;
                (at.byte, at.bit)
            }
            Order::Mask { tables, slice } => {
                let (byte, bit) = tables.address(x, y, 0);
                (z * slice + byte, bit)
            }
            Order::Tiles { row, slice } => {
                let number = u64::from(y / 8) * row + u64::from(x / 8);
                (z * slice + number / 2, (number as u32 & 1) * 4)
            }
        };
        Some((self.base.wrapping_add(offset) & 0xffff_ffff_ffff, bit))
    }

    /// Returns the block of a pixel, if all of its pixels have the same codes.
    const fn block(&self, [x, y, layer]: [u32; 3]) -> Option<[u32; 3]> {
        let [width, height] = match &self.order {
            Order::Units(units) => units.block(),
            Order::Tiles { .. } => [8; 2],
            Order::Beside | Order::Mask { .. } => return None,
        };
        Some([x / width, y / height, layer])
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
        let block = self.block(pixel);
        if block.is_some() && block == self.last_block {
            return Ok(());
        }
        // Samples of a pixel may lie in blocks of their own.
        let samples = if self.has_own_blocks { plane.samples } else { 1 };
        (0..samples).try_for_each(|sample| self.open_sample(access, pixel, sample, (colour, format, plane)))?;
        self.last_block = block;
        Ok(())
    }

    fn open_sample(
        &mut self,
        access: &mut Access<'_>,
        pixel: [u32; 3],
        sample: u32,
        (colour, format, plane): (&Colour, &Format, &Plane),
    ) -> Result<(), u32> {
        let Some(place) = self.place(pixel, sample, plane) else { return Ok(()) };
        if self.last == Some(place) {
            return Ok(());
        }
        self.last = Some(place);
        if !self.plain.insert(place) {
            return Ok(());
        }
        let (at, bit) = place;
        access.enter(Surface::ColorMetadata);
        let byte = access.load(at, 1) as u8;
        let is_of_tiles = self.fmask.is_some() || matches!(self.order, Order::Tiles { .. });
        if is_of_tiles {
            let plain = self.fmask.as_ref().map_or(15, |(_, code)| *code);
            match byte >> bit & 15 {
                0 => self.fill_tile(access, pixel, plane, true),
                // All samples have the first colour, which `open_all` has copied.
                FIRST if self.fmask.is_some() => self.fill_tile(access, pixel, plane, false),
                // Expanded, with the numbers of samples of all images.
                13..=15 => return Ok(()),
                code => return Err(code.into()),
            }
            access.enter(Surface::ColorMetadata);
            access.store(at, 1, u128::from(byte & !(15 << bit) | plain << bit));
            return Ok(());
        }
        if byte == DccCode::PLAIN {
            return Ok(());
        }
        let Some(own) = plane.address(pixel, sample) else { return Ok(()) };
        let block = own & !(BLOCK - 1);
        // A block of several samples is one of pixels, of one sample or of all, which need not follow each other in memory.
        let sides = match &self.order {
            Order::Units(units) if plane.samples > 1 => Some(units.block()),
            _ => None,
        };
        let corner = sides.map_or([0; 2], |[width, height]| [pixel[0] & !(width - 1), pixel[1] & !(height - 1)]);
        let first = sides.and_then(|_| plane.address([corner[0], corner[1], pixel[2]], sample)).unwrap_or(block);
        access.enter(Surface::Color);
        let element = match self.cleared(byte, colour, format) {
            Cleared::To(element) => element,
            Cleared::ToFirst => access.load(first, plane.bytes),
            Cleared::Not => return Err(byte.into()),
        };
        if let Some([width, height]) = sides {
            let samples = if self.has_own_blocks { sample..sample + 1 } else { 0..plane.samples };
            for place in (0..width * height).map(|at| [corner[0] + at % width, corner[1] + at / width, pixel[2]]) {
                for at in samples.clone().filter_map(|sample| plane.address(place, sample)) {
                    access.store(at, plane.bytes, element);
                }
            }
        } else {
            for offset in (0..BLOCK).step_by(plane.bytes) {
                access.store(block + offset, plane.bytes, element);
            }
        }
        access.enter(Surface::ColorMetadata);
        access.store(at, 1, DccCode::PLAIN.into());
        Ok(())
    }

    /// Returns the colour of a cleared block.
    fn cleared(&self, code: u8, colour: &Colour, format: &Format) -> Cleared {
        let mask = format.bits_of(15);
        Cleared::To(match DccCode::of(self.level, code) {
            DccCode::Extremes { main, extra } => format.extremes(colour, main, extra),
            DccCode::Bits(is_set) => {
                if is_set {
                    mask
                } else {
                    0
                }
            }
            DccCode::Repeated(pixels) => pixels & mask,
            DccCode::HighestChannel(true) => format.last_channel(),
            DccCode::HighestChannel(false) => mask & !format.last_channel(),
            DccCode::First => return Cleared::ToFirst,
            DccCode::Registers => {
                let [low, high] = self.clear_words.map(u128::from);
                // The registers have 64 bits; pixels of 128 bits are cleared to equal colours, and alpha in the second word.
                if format.bits() == 128 { low | low << 32 | low << 64 | high << 96 } else { (low | high << 32) & mask }
            }
            DccCode::Plain | DccCode::Other => return Cleared::Not,
        })
    }

    /// Fills the tile of a pixel with the colour of the registers, and its FMASK.
    fn fill_tile(&self, access: &mut Access<'_>, [x, y, layer]: [u32; 3], plane: &Plane, has_colour: bool) {
        let [low, high] = self.clear_words.map(u128::from);
        let element = if plane.bytes == 16 { low | low << 32 | low << 64 | high << 96 } else { low | high << 32 };
        access.enter(Surface::Color);
        for row in (y & !7)..((y & !7) + 8).min(self.size[1]) {
            for column in (x & !7)..((x & !7) + 8).min(self.size[0]) {
                let pixel = [column, row, layer];
                for sample in 0..if has_colour { plane.samples } else { 0 } {
                    if let Some(at) = plane.address(pixel, sample) {
                        access.store(at, plane.bytes, element);
                    }
                }
                if let Some((fmask, _)) = &self.fmask
                    && let Some(at) = fmask.address(pixel, 0)
                {
                    // Each sample has the number of its own colour: two bits for four samples, four bits for eight.
                    let numbers = match plane.samples {
                        2 => 0x02,
                        4 => 0xe4,
                        _ => 0x7654_3210,
                    };
                    access.store(at, fmask.bytes, numbers);
                }
            }
        }
    }
}

/// Returns the bytes over which the tile swizzle of a target spreads on GFX8: the low bits of the address of DCC have a part of it.
fn swizzled(chip: Option<&Chip>, colour: &Colour, format: &Format) -> u64 {
    let level = chip.and_then(|chip| colour_level(chip, colour, format.bits()));
    level
        .filter(|level| level.mode.is_macro())
        .map_or(256, |level| 256 * u64::from(level.info.pipes().max(1)) * u64::from(level.info.banks.max(1)))
}

/// Returns the order of the CMASK of a target with FMASK, and its address.
fn mask(chip: &Chip, colour: &Colour) -> Option<(Order, u64)> {
    let meta = &colour.metadata;
    if chip.level() <= GfxLevel::Gfx8 {
        let level = fmask_level(chip, colour)?;
        let mask = addr1::mask::cmask(chip, &level, false);
        let bytes = u64::from(mask.pitch) * u64::from(mask.height) / 128;
        let pipes = u64::from(level.info.pipes().max(1));
        let order = Order::Mask { tables: Box::new(mask.tables(chip)), slice: bytes.next_multiple_of(256 * pipes) };
        // Drivers put the tile swizzle of FMASK into the low bits of both addresses. CMASK comes behind FMASK, which is aligned to all
        // pipes and banks.
        let unit = if level.mode.is_macro() { 256 * pipes * u64::from(level.info.banks.max(1)) } else { 256 * pipes };
        return Some((order, meta.cmask & !(unit - 1)));
    }
    let image = MetaImage {
        kind: MetaKind::Cmask,
        mode: u8::try_from(meta.fmask_mode).ok().and_then(addr2::SwizzleMode::new)?,
        dimension: addr2::Dimension::D2,
        bits: if colour.fragments > 2 { 32 } else { 8 },
        width: colour.size[0],
        height: colour.size[1],
        slices: colour.depth,
        levels: 1,
        samples: 1 << colour.fragments,
        fragments: 1 << colour.fragments,
        // CMASK is always aligned to pipes and render backends: no driver has it otherwise.
        pipe_aligned: true,
        rb_aligned: true,
        first_tail: 0,
    };
    Some((Order::Units(Box::new(image.units(chip, 0, [0; 2], 0).ok()??)), meta.cmask))
}

/// Returns the order of DCC on GFX9 to GFX11.5, and the address of its first byte.
fn units(chip: &Chip, colour: &Colour, bits: u32) -> Option<(Order, u64)> {
    let mode = u8::try_from(colour.mode).ok().and_then(addr2::SwizzleMode::new)?;
    if colour.is_volume || mode.is_linear() {
        return None;
    }
    let [width, height] = colour.size;
    let levels = colour.last_level.checked_add(1)?;
    let image = addr2::Image {
        slices: colour.depth,
        levels,
        samples: 1 << colour.fragments,
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
        samples: 1 << colour.fragments,
        fragments: 1 << colour.fragments,
        pipe_aligned: meta.is_pipe_aligned,
        rb_aligned: if is_newer { meta.is_pipe_aligned } else { meta.is_backend_aligned },
        first_tail: sizes.first_tail,
    };
    let (base, xor) = whole.split_address(chip, &whole.layout(chip).ok()?, meta.dcc);
    let [tail_x, tail_y, _] = sizes.levels.as_slice().get(colour.level as usize)?.tail;
    let units = whole.units(chip, colour.level, [tail_x, tail_y], xor).ok()??;
    Some((Order::Units(Box::new(units)), base))
}
