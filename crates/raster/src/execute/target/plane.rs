//! The addresses of pixels of targets.

use amdgpu_hw::GfxLevel;
use amdgpu_surface::{
    Chip, addr1, addr2, addr3,
    tiler::{Line, Subresource},
};

use crate::{Colour, Depth, DepthPlane, DrawState};

/// A level of a target, prepared for computing addresses.
#[derive(Clone, Debug)]
pub(in crate::execute) struct Plane {
    level: Subresource,
    base: u64,
    xor: u64,
    first_layer: u32,
    last_layer: u32,
    pub(in crate::execute) bytes: usize,
    /// The number of stored samples.
    pub(in crate::execute) samples: u32,
}

impl Plane {
    /// Returns the address of a sample of a pixel; `None` outside the target.
    pub(in crate::execute) fn address(&self, [x, y, layer]: [u32; 3], sample: u32) -> Option<u64> {
        let offset = self.offset([x, y, layer], sample)?;
        Some(self.at(offset))
    }

    /// Returns the address of an offset.
    const fn at(&self, offset: u64) -> u64 {
        self.base.wrapping_add(offset ^ self.xor) & 0xffff_ffff_ffff
    }

    /// Returns the offset of a sample of a pixel from the start of the target.
    pub(in crate::execute) fn offset(&self, [x, y, layer]: [u32; 3], sample: u32) -> Option<u64> {
        self.level.address(x, y, self.slice(layer)?, sample).ok()
    }

    /// Returns the addresses of pixels one after the other.
    pub(in crate::execute) const fn places(&self) -> Places<'_> {
        Places { plane: self, row: [0; 3], line: None }
    }

    /// Visits the addresses of pixels of a row, by y, layer and sample, each with what comes with its column. Pixels outside the target are
    /// left out.
    pub(in crate::execute) fn each<T>(
        &self,
        row: [u32; 3],
        columns: impl Iterator<Item = (u32, T)>,
        mut visit: impl FnMut(T, u64),
    ) {
        if let Some(line) = self.line(row) {
            line.each(columns, |one, offset| visit(one, self.at(offset)));
        }
    }

    /// Returns the row of a layer and sample; `None` outside the target.
    fn line(&self, [y, layer, sample]: [u32; 3]) -> Option<Line<'_>> {
        self.level.line(y, self.slice(layer)?, sample)
    }

    /// Returns the slice of a layer; `None` outside the target.
    fn slice(&self, layer: u32) -> Option<u32> {
        self.first_layer.checked_add(layer).filter(|z| *z <= self.last_layer)
    }

    /// Returns the padded width and height.
    pub(in crate::execute) fn size(&self) -> [u32; 2] {
        let [width, height, _] = self.level.extent();
        [width, height]
    }
}

/// The addresses of pixels that are asked for one after the other: what depends on the row is computed once for pixels of the same row.
pub(in crate::execute) struct Places<'p> {
    plane: &'p Plane,
    /// The row of the last pixel: y, layer and sample.
    row: [u32; 3],
    line: Option<Line<'p>>,
}

impl Places<'_> {
    /// Returns what [`Plane::address`] does.
    pub(in crate::execute) fn address(&mut self, [x, y, layer]: [u32; 3], sample: u32) -> Option<u64> {
        let row = [y, layer, sample];
        if self.row != row || self.line.is_none() {
            self.row = row;
            self.line = self.plane.line(row);
        }
        let offset = self.line.as_ref()?.address(x)?;
        Some(self.plane.at(offset))
    }
}

/// The parameters of a target's layout that all generations need.
struct Facts {
    bits: u32,
    size: [u32; 2],
    slices: u32,
    is_volume: bool,
    level: u32,
    last_level: u32,
    mode: u32,
    pitch: u32,
    address: u64,
    layers: [u32; 2],
    samples: u32,
    is_fmask: bool,
}

/// Returns the plane of depth or stencil; `None` if it has no addresses.
pub(in crate::execute) fn depth_plane(
    state: &DrawState,
    chip: Option<&Chip>,
    plane: &DepthPlane,
    bits: u32,
    split: u32,
) -> Option<Plane> {
    let depth = &state.depth;
    let facts = Facts {
        bits,
        size: depth.size,
        slices: depth.layers[1].checked_add(1)?,
        is_volume: false,
        level: depth.level,
        last_level: depth.last_level,
        mode: plane.mode,
        pitch: depth.pitch,
        // Reads and writes go to the same place, as all drivers have it.
        address: plane.address[1],
        layers: depth.layers,
        samples: 1 << depth.samples,
        is_fmask: false,
    };
    match state.level {
        GfxLevel::Gfx7 | GfxLevel::Gfx8 => tiled_depth(chip?, depth, &facts, split),
        level => self::plane(level, chip, &facts),
    }
}

/// Returns the facts of a colour target.
fn colour_facts(colour: &Colour, bits: u32) -> Facts {
    Facts {
        bits,
        size: colour.size,
        slices: colour.depth,
        is_volume: colour.is_volume,
        level: colour.level,
        last_level: colour.last_level,
        mode: colour.mode,
        pitch: colour.pitch,
        address: colour.address,
        layers: colour.layers,
        samples: 1 << colour.fragments,
        is_fmask: false,
    }
}

/// Returns the plane of a colour target; `None` if it has no addresses.
pub(in crate::execute) fn colour_plane(
    level: GfxLevel,
    chip: Option<&Chip>,
    colour: &Colour,
    bits: u32,
) -> Option<Plane> {
    plane(level, chip, &colour_facts(colour, bits))
}

/// Returns the first level of a colour target on GFX6 to GFX8.
pub(in crate::execute) fn colour_level(chip: &Chip, colour: &Colour, bits: u32) -> Option<addr1::Level> {
    first_level(chip, &colour_facts(colour, bits))
}

/// Returns the first level of an image in tiles.
fn first_level(chip: &Chip, facts: &Facts) -> Option<addr1::Level> {
    let layout = addr1::layout_of_view(chip, &tiled_image(facts), facts.mode).ok()?;
    layout.level(0).map(|(level, _)| *level)
}

/// Returns the facts of a target's FMASK, which is an image with one sample.
fn fmask_facts(colour: &Colour) -> Facts {
    let meta = &colour.metadata;
    let width = if meta.fmask_pitch == 0 { colour.size[0] } else { meta.fmask_pitch };
    Facts {
        bits: if colour.fragments > 2 { 32 } else { 8 },
        // Up to GFX8 sizes are padded ones, of which FMASK has its own.
        size: if meta.fmask_slice == 0 { colour.size } else { [width, meta.fmask_slice.div_ceil(width)] },
        slices: colour.depth,
        is_volume: false,
        level: 0,
        last_level: 0,
        mode: meta.fmask_mode,
        pitch: 0,
        address: meta.fmask,
        layers: colour.layers,
        samples: 1,
        is_fmask: true,
    }
}

/// Returns the plane of a target's FMASK; `None` if it has no addresses.
pub(in crate::execute) fn fmask_plane(level: GfxLevel, chip: Option<&Chip>, colour: &Colour) -> Option<Plane> {
    plane(level, chip, &fmask_facts(colour))
}

/// Returns the first level of a target's FMASK on GFX6 to GFX8.
pub(in crate::execute) fn fmask_level(chip: &Chip, colour: &Colour) -> Option<addr1::Level> {
    first_level(chip, &fmask_facts(colour))
}

/// Returns the plane of a target; `None` if it has no addresses.
fn plane(level: GfxLevel, chip: Option<&Chip>, facts: &Facts) -> Option<Plane> {
    let chip = chip?;
    match level {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => tiles(chip, facts),
        GfxLevel::Gfx12 => modern(chip, facts),
        _ => blocks(chip, facts),
    }
}

fn finish(level: Subresource, base: u64, block_bits: u32, facts: &Facts) -> Plane {
    let mask = (1_u64 << block_bits) - 1;
    let [first_layer, last_layer] = facts.layers;
    let bytes = (facts.bits / 8) as usize;
    Plane { level, base: base & !mask, xor: base & mask, first_layer, last_layer, bytes, samples: facts.samples }
}

/// Returns the plane of a level in macro tiles, whose address has the rotation of pipes and banks in its low bits.
fn rotated(
    facts: &Facts,
    info: &addr1::TileInfo,
    is_macro: bool,
    addresser: impl Fn(u32, u32) -> Option<addr1::Addresser>,
) -> Option<Plane> {
    let (pipes, banks) = (u64::from(info.pipes()), u64::from(info.banks.max(1)));
    let swizzle = facts.address >> 8;
    let (pipe, bank, unit) = if is_macro {
        (swizzle & (pipes - 1), (swizzle / pipes) & (banks - 1), 256 * pipes * banks)
    } else {
        (0, 0, 1)
    };
    let level = Subresource::gfx6(&addresser(bank as u32, pipe as u32)?).ok()?;
    Some(finish(level, facts.address & !(unit - 1), 0, facts))
}

/// Returns the image of a target on GFX6 to GFX8.
fn tiled_image(facts: &Facts) -> addr1::Image {
    let mut image = addr1::Image::new(
        addr1::TileMode::LINEAR_ALIGNED,
        addr1::TileType::Display,
        facts.bits,
        facts.size[0],
        facts.size[1],
    );
    image.slices = facts.slices;
    image.samples = facts.samples;
    if facts.is_fmask {
        image.usage = addr1::Usage::FMASK;
    }
    image
}

/// GFX6 to GFX8: the address is that of the level, whose tiling is in a table of the chip.
fn tiles(chip: &Chip, facts: &Facts) -> Option<Plane> {
    let image = tiled_image(facts);
    let layout = addr1::layout_of_view(chip, &image, facts.mode).ok()?;
    let (level, _) = layout.level(0)?;
    rotated(facts, &level.info, level.mode.is_macro(), |bank, pipe| {
        addr1::Addresser::new(chip, &image, level, bank, pipe).ok()
    })
}

/// GFX7 and GFX8: the tiling of depth is in DB_DEPTH_INFO.
fn tiled_depth(chip: &Chip, depth: &Depth, facts: &Facts, split: u32) -> Option<Plane> {
    let field = |low: u32, bits: u32| depth.tiling >> low & ((1 << bits) - 1);
    let info = addr1::TileInfo {
        banks: 2 << field(19, 2),
        bank_width: 1 << field(13, 2),
        bank_height: 1 << field(15, 2),
        aspect: 1 << field(17, 2),
        tile_split: 64 << split.min(6),
        pipe_config: field(8, 5) + 1,
    };
    let mode = addr1::TileMode::of_register(false, field(4, 4));
    let tiles = addr1::Tiles {
        mode,
        tile_type: addr1::TileType::Depth,
        info,
        bits: facts.bits,
        pitch: facts.size[0],
        height: facts.size[1],
        depth: facts.slices,
        samples: facts.samples,
    };
    rotated(facts, &info, mode.is_macro(), |bank, pipe| addr1::Addresser::of_tiles(chip, &tiles, bank, pipe).ok())
}

/// GFX9 to GFX11.5.
fn blocks(chip: &Chip, facts: &Facts) -> Option<Plane> {
    let mode = u8::try_from(facts.mode).ok().and_then(addr2::SwizzleMode::new)?;
    let [width, height] = facts.size;
    let mut image = addr2::Image {
        dimension: if facts.is_volume { addr2::Dimension::D3 } else { addr2::Dimension::D2 },
        slices: facts.slices,
        levels: facts.last_level.checked_add(1)?,
        samples: facts.samples,
        usage: if facts.is_fmask { addr2::Usage::FMASK } else { addr2::Usage::TEXTURE },
        ..addr2::Image::new(mode, facts.bits, width, height)
    };
    let mut layout = addr2::layout(chip, &image).ok()?;
    let pitch = facts.pitch.saturating_add(1);
    let is_other =
        chip.level() == GfxLevel::Gfx9 && !facts.is_fmask && facts.last_level == 0 && pitch > layout.pixel_pitch;
    if is_other && !layout.epitch_is_height {
        image.pitch = pitch;
        layout = addr2::layout(chip, &image).ok()?;
    }
    let bits = if mode.is_linear() { 0 } else { layout.align.max(1).ilog2() };
    let addresser = addr2::Addresser::new(chip, &image, &layout, 0).ok()?;
    Some(finish(Subresource::gfx9(&addresser, facts.level).ok()?, facts.address, bits, facts))
}

/// GFX12.
fn modern(chip: &Chip, facts: &Facts) -> Option<Plane> {
    let mode = u8::try_from(facts.mode).ok().and_then(addr3::Mode::new)?;
    let [width, height] = facts.size;
    let image = addr3::Image {
        dimension: if facts.is_volume { addr3::Dimension::D3 } else { addr3::Dimension::D2 },
        slices: facts.slices,
        levels: facts.last_level.checked_add(1)?,
        samples: facts.samples,
        ..addr3::Image::new(mode, facts.bits, width, height)
    };
    let layout = addr3::layout(chip, &image).ok()?;
    let bits = if mode.is_linear() { 0 } else { mode.block_bits() };
    Some(finish(Subresource::gfx12(&image, &layout, facts.level).ok()?, facts.address, bits, facts))
}
