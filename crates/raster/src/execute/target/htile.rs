//! HTILE: a dword for 8 x 8 pixels of depth and stencil.
//!
//! This crate keeps depth and stencil as they are. It only finds the tiles that a driver has cleared by their dword: before a draw
//! tests or writes such a tile, the tile gets its clear values and the dword of a plain one.
//!
//! Sources: Mesa 25.0.7 `radv_image.h` and `radv_meta_clear.c` for the fields of the dword and its initial values.

use std::collections::{HashMap, HashSet};

use amdgpu_hw::GfxLevel;
use amdgpu_surface::{
    Chip,
    addr2::{
        self,
        meta::{MetaImage, MetaKind, MetaUnits},
    },
};

use super::{plane::Plane, value::Access};
use crate::{Depth, DrawState, Surface};

/// The width and height of a tile.
const SIDE: u32 = 8;
/// The dword of a plain tile without stencil.
const PLAIN_DEPTH: u32 = 0xfffc_000f;
/// The fields of a plain tile with stencil: the depth, and the stencil without and with shading rates.
const PLAIN_RANGE: u32 = 0xffff_f00f;
const PLAIN_STENCIL: u32 = 0x3f0;
const PLAIN_STENCIL_WITH_RATES: u32 = 0x330;

/// The order of the dwords.
#[derive(Clone, Debug)]
enum Order {
    /// As the pixels of a plane follow each other (GFX8): a dword for the bytes of a tile. Depth and stencil follow each other
    /// differently, and each has its part of a dword where texture units look for it.
    Beside,
    /// Row by row. Up to GFX8 nothing but the depth block reads them, so that any order does.
    Rows { row: u64, slice: u64 },
    /// By the equation of the hardware.
    Equation(Box<MetaUnits>),
}

/// The tiles that have each dword, by its address.
type Tiles = HashMap<u64, Vec<[u32; 3]>>;

/// The part of a dword that tells of depth or of stencil.
#[derive(Clone, Copy)]
struct Part {
    /// 0 for depth, 1 for stencil.
    number: usize,
    /// The place and the mask of the code, which is 0 for a cleared tile and all ones for a plain one.
    shift: u32,
    bits: u32,
    /// The bits that change when a tile is opened, and their values.
    plain: [u32; 2],
}

/// The HTILE of a target.
#[derive(Clone, Debug)]
pub(in crate::execute) struct Htile {
    base: u64,
    order: Order,
    has_stencil: bool,
    has_rates: bool,
    first_layer: u32,
    size: [u32; 2],
    /// The stored forms of the clear values.
    clears: [u32; 2],
    /// The tiles of a layer by the address of their dword, where several may share one: of depth and of stencil.
    sharing: [Option<(u32, Tiles)>; 2],
    may_share: bool,
    /// The tiles that are known to be plain, and the last of them.
    plain: HashSet<[u32; 3]>,
    last: Option<[u32; 3]>,
}

impl Htile {
    /// Prepares the HTILE of a target; `None` if it has no addresses.
    pub(in crate::execute) fn new(
        state: &DrawState,
        chip: Option<&Chip>,
        plane: &Plane,
        bits: u32,
        clear: u32,
    ) -> Option<Self> {
        let (depth, chip) = (&state.depth, chip?);
        let size = plane.size();
        let order = match state.level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 if depth.htile.is_beside => Order::Beside,
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => {
                let [columns, rows] = size.map(|side| u64::from(side.div_ceil(SIDE)));
                Order::Rows { row: columns, slice: columns * rows }
            }
            _ => Order::Equation(Box::new(equation(depth, chip, bits)?)),
        };
        let may_share = matches!(order, Order::Beside) && depth.samples > 0;
        Some(Self {
            base: depth.htile.address,
            order,
            has_stencil: depth.htile.has_stencil,
            has_rates: depth.htile.has_rates,
            first_layer: depth.layers[0],
            size,
            clears: [clear, depth.htile.stencil_clear],
            // A tile of several samples is larger than the part of memory after which pipes take turns.
            may_share,
            sharing: [None, None],
            plain: HashSet::new(),
            last: None,
        })
    }

    /// Returns `true` if different rows of tiles share no dword of it.
    pub(in crate::execute) const fn has_rows_alone(&self) -> bool {
        !self.may_share
    }

    /// Returns the address of a tile's dword.
    fn address(&self, [x, y, layer]: [u32; 3], plane: &Plane) -> Option<u64> {
        let z = u64::from(layer) + u64::from(self.first_layer);
        let (px, py) = (x * SIDE, y * SIDE);
        let offset = match &self.order {
            Order::Beside => {
                let tile = 64 * plane.bytes as u64 * u64::from(plane.samples);
                plane.offset([px, py, layer], 0)? / tile * 4
            }
            Order::Rows { row, slice } => (z * slice + u64::from(y) * row + u64::from(x)) * 4,
            Order::Equation(units) => units.address([px, py, z as u32], 0)?.byte,
        };
        Some(self.base.wrapping_add(offset) & 0xffff_ffff_ffff)
    }

    /// Makes the tile of a pixel plain.
    ///
    /// # Errors
    ///
    /// The dword of a tile that is compressed, which nothing here writes.
    pub(in crate::execute) fn open(
        &mut self,
        access: &mut Access<'_>,
        [x, y, layer]: [u32; 3],
        [depth, stencil]: [Option<&Plane>; 2],
    ) -> Result<(), u32> {
        let tile = [x / SIDE, y / SIDE, layer];
        if self.last == Some(tile) {
            return Ok(());
        }
        self.last = Some(tile);
        if !self.plain.insert(tile) {
            return Ok(());
        }
        if let Some(plane) = depth {
            let plain = if self.has_stencil { [PLAIN_RANGE; 2] } else { [u32::MAX, PLAIN_DEPTH] };
            self.open_part(access, tile, plane, Part { number: 0, shift: 0, bits: 15, plain })?;
        }
        if let Some(plane) = stencil.filter(|_| self.has_stencil) {
            let plain = if self.has_rates { PLAIN_STENCIL_WITH_RATES } else { PLAIN_STENCIL };
            self.open_part(access, tile, plane, Part { number: 1, shift: 8, bits: 3, plain: [plain; 2] })?;
        }
        Ok(())
    }

    /// Makes the depth or the stencil of a tile plain.
    fn open_part(&mut self, access: &mut Access<'_>, tile: [u32; 3], plane: &Plane, part: Part) -> Result<(), u32> {
        let Some(at) = self.address(tile, plane) else { return Ok(()) };
        access.enter(Surface::DepthMetadata);
        let word = access.load(at, 4) as u32;
        match word >> part.shift & part.bits {
            0 => {
                let clear = self.clears[part.number];
                for tile in self.tiles(tile, at, plane, part.number) {
                    self.fill(access, tile, plane, clear);
                }
            }
            code if code == part.bits => {}
            _ => return Err(word),
        }
        let [mask, plain] = part.plain;
        let opened = word & !mask | plain;
        if opened != word {
            access.enter(Surface::DepthMetadata);
            access.store(at, 4, opened.into());
        }
        Ok(())
    }

    /// Returns the tiles that have the dword of a tile: itself, and others of several samples on GFX8.
    fn tiles(&mut self, tile: [u32; 3], at: u64, plane: &Plane, part: usize) -> Vec<[u32; 3]> {
        if !self.may_share {
            return vec![tile];
        }
        let layer = tile[2];
        if self.sharing[part].as_ref().is_none_or(|(known, _)| *known != layer) {
            let mut by_address = Tiles::new();
            let [columns, rows] = self.size.map(|side| side.div_ceil(SIDE));
            for other in (0..rows).flat_map(|y| (0..columns).map(move |x| [x, y, layer])) {
                if let Some(address) = self.address(other, plane) {
                    by_address.entry(address).or_default().push(other);
                }
            }
            self.sharing[part] = Some((layer, by_address));
        }
        self.sharing[part].as_ref().and_then(|(_, known)| known.get(&at)).cloned().unwrap_or_else(|| vec![tile])
    }

    /// Fills a tile with a clear value.
    fn fill(&self, access: &mut Access<'_>, [x, y, layer]: [u32; 3], plane: &Plane, value: u32) {
        access.enter(Surface::Depth);
        for row in y * SIDE..((y + 1) * SIDE).min(self.size[1]) {
            for column in x * SIDE..((x + 1) * SIDE).min(self.size[0]) {
                for sample in 0..plane.samples {
                    if let Some(at) = plane.address([column, row, layer], sample) {
                        access.store(at, plane.bytes, value.into());
                    }
                }
            }
        }
    }
}

/// Returns the order of HTILE on GFX9 to GFX11.5; `None` for a level that has none, and for small levels on GFX9.
fn equation(depth: &Depth, chip: &Chip, bits: u32) -> Option<MetaUnits> {
    let mode = depth.plane.or(depth.stencil)?.mode;
    let mode = u8::try_from(mode).ok().and_then(addr2::SwizzleMode::new)?;
    let [width, height] = depth.size;
    let levels = depth.last_level.checked_add(1)?;
    let image = addr2::Image {
        slices: depth.layers[1].checked_add(1)?,
        levels,
        samples: 1 << depth.samples,
        usage: addr2::Usage::TEXTURE,
        ..addr2::Image::new(mode, bits, width, height)
    };
    let sizes = addr2::layout(chip, &image).ok()?;
    let is_newer = chip.level() > GfxLevel::Gfx9;
    let whole = MetaImage {
        kind: MetaKind::Htile,
        mode,
        dimension: addr2::Dimension::D2,
        bits,
        width,
        height,
        slices: image.slices,
        levels,
        samples: 1 << depth.samples,
        fragments: 1 << depth.samples,
        pipe_aligned: depth.htile.is_pipe_aligned,
        rb_aligned: if is_newer { depth.htile.is_pipe_aligned } else { depth.htile.is_backend_aligned },
        first_tail: sizes.first_tail,
    };
    if !is_newer && depth.level > 0 {
        return None;
    }
    let [tail_x, tail_y, _] = sizes.levels.as_slice().get(depth.level as usize)?.tail;
    whole.units(chip, depth.level, [tail_x, tail_y], 0).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Registers};
    use amdgpu_registers::constants as r;
    use amdgpu_surface::ChipRegisters;

    #[test]
    fn the_first_of_the_levels_that_share_a_block_has_dwords_of_its_own_and_the_others_have_none() {
        let level = GfxLevel::Gfx11;
        // The configuration of a Navi 31.
        let chip = Chip::new(&ChipRegisters::new(level, 145, 1, 0x545)).unwrap();
        let units = |mip: u32| {
            // Five levels of 16 x 16 pixels, all of which share a block of 64 KiB in the order of depth.
            let values = [
                (r::DB_Z_INFO, 3 | 24 << 4 | 4 << 16),
                (r::DB_DEPTH_SIZE_XY, 15 | 15 << 16),
                (r::DB_HTILE_SURFACE, 1 << 18),
                (r::DB_DEPTH_VIEW, mip << 26),
            ];
            let read = |at| values.iter().find(|(one, _)| one.offset(level) == Some(at)).map(|(_, value)| *value);
            let state = DrawState::new(Call::default(), &Registers::new(level, &read));
            assert_eq!((state.depth.level, state.depth.last_level), (mip, 4));
            equation(&state.depth, &chip, 32)
        };
        let first = units(0).unwrap();
        let places: HashSet<u64> =
            (0..4).map(|tile| first.address([8 * (tile & 1), 8 * (tile >> 1), 0], 0).unwrap().byte).collect();
        // RADV makes room for 128 KiB.
        assert!(places.len() == 4 && places.iter().all(|at| at % 4 == 0 && *at < 0x2_0000), "{places:x?}");
        assert!(units(1).is_none() && units(4).is_none());
    }
}
