//! The address of a texel.
//!
//! Reference: addrlib's `EgBasedLib::ComputeSurfaceAddrFromCoord*` and `SiLib::ComputePipeFromCoord`.

use super::image::{Image, Level};
use super::mode::{TileMode, TileType};
use super::table::TileInfo;
use crate::chip::{Chip, Family};
use crate::equation::Texel;
use crate::error::{AddrError, Cause, invalid};
use crate::tiler::Turn;

const fn bit(value: u32, index: u32) -> u32 {
    value >> index & 1
}

/// Returns the order of elements in a micro tile. For each bit of the element number: 0 to 7 for a bit of x, 8 to 15 for y, 16 to
/// 23 for z.
fn order(tile_type: TileType, bits: u32, thickness: u32) -> ([u8; 9], usize) {
    const fn p(text: &[u8; 12]) -> [u8; 6] {
        let mut out = [0; 6];
        let mut i = 0;
        while i < 6 {
            out[i] = (text[2 * i] - b'x') * 8 + (text[2 * i + 1] - b'0');
            i += 1;
        }
        out
    }
    let first = match (tile_type, bits) {
        (TileType::Display, 8) => p(b"x0x1x2y1y0y2"),
        (TileType::Display, 16) => p(b"x0x1x2y0y1y2"),
        (TileType::Display, 32) => p(b"x0x1y0x2y1y2"),
        (TileType::Display, 64) => p(b"x0y0x1x2y1y2"),
        (TileType::Display, _) => p(b"y0x0x1x2y1y2"),
        (TileType::NonDisplay | TileType::Depth, _) => p(b"x0y0x1y1x2y2"),
        (TileType::Rotated, 8) => p(b"y0y1y2x1x0x2"),
        (TileType::Rotated, 16) => p(b"y0y1y2x0x1x2"),
        (TileType::Rotated, 32) => p(b"y0y1x0y2x1x2"),
        (TileType::Rotated, _) => p(b"y0x0y1x1x2y2"),
        (TileType::Thick, 8 | 16) => p(b"x0y0x1y1z0z1"),
        (TileType::Thick, 32) => p(b"x0y0x1z0y1z1"),
        (TileType::Thick, _) => p(b"x0y0z0x1y1z1"),
    };
    let mut out = [0; 9];
    out[..6].copy_from_slice(&first);
    let mut len = 6;
    if tile_type == TileType::Thick {
        out[6] = 2;
        out[7] = 8 + 2;
        len = 8;
    } else if thickness > 1 {
        out[6] = 16;
        out[7] = 17;
        len = 8;
    }
    if thickness == 8 {
        out[len] = 18;
        len += 1;
    }
    (out, len)
}

/// A level with explicit tiling parameters, as in packets of copy engines and registers of depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// The tile mode of the level.
    pub mode: TileMode,
    /// The order of elements in a micro tile.
    pub tile_type: TileType,
    /// The macro tile parameters; unused without macro tiles.
    pub info: TileInfo,
    /// The size of an element in bits: 8 to 128.
    pub bits: u32,
    /// The row pitch of the level in elements.
    pub pitch: u32,
    /// The height of the level in elements, including padding.
    pub height: u32,
    /// The number of slices or layers of the level.
    pub depth: u32,
    /// The number of stored samples.
    pub samples: u32,
}

/// A level that is prepared for computing addresses.
#[derive(Clone, Copy, Debug)]
pub struct Addresser {
    pub(super) mode: TileMode,
    pub(super) tile_type: TileType,
    pub(super) info: TileInfo,
    order: [u8; 9],
    order_len: usize,
    bytes: u32,
    pub(super) samples: u32,
    pub(super) pitch: u32,
    pub(super) height: u32,
    depth: u32,
    bank_swizzle: u32,
    pipe_swizzle: u32,
    rotate_pipes_of_vega_m: bool,
}

impl Addresser {
    /// Prepares the addresses of a level of an image.
    ///
    /// # Errors
    /// [`Cause::Mode`] if the level is not a possible level of this image.
    pub fn new(
        chip: &Chip,
        image: &Image,
        level: &Level,
        bank_swizzle: u32,
        pipe_swizzle: u32,
    ) -> Result<Self, AddrError> {
        let info = level.info;
        let counts = [info.banks, info.bank_width, info.bank_height, info.aspect];
        if level.mode.is_macro() && (counts.contains(&0) || info.tile_split == 0 || level.macro_tile.contains(&0)) {
            return invalid(Cause::Mode(u32::from(level.mode.number())));
        }
        // Rows have elements of 96 bits too, tiles have not.
        let is_row_of_96 = level.mode.is_linear() && image.bits == 96;
        if !is_row_of_96 && (!image.bits.is_power_of_two() || !(8..=128).contains(&image.bits)) {
            return invalid(Cause::ElementBits(image.bits));
        }
        let (order, order_len) = order(level.tile_type, image.bits, level.mode.thickness());
        Ok(Self {
            mode: level.mode,
            tile_type: level.tile_type,
            info,
            order,
            order_len,
            bytes: image.bits / 8,
            samples: image.stored(),
            pitch: level.pitch,
            height: level.height,
            depth: level.depth,
            bank_swizzle,
            pipe_swizzle,
            rotate_pipes_of_vega_m: chip.family == Family::VegaM && info.pipes() == 16,
        })
    }

    /// Prepares the addresses of a level with explicit tiling parameters.
    ///
    /// # Errors
    /// [`Cause::Mode`], [`Cause::ElementBits`] or [`Cause::Pitch`] if the tiling parameters contradict each other.
    pub fn of_tiles(chip: &Chip, tiles: &Tiles, bank_swizzle: u32, pipe_swizzle: u32) -> Result<Self, AddrError> {
        let &Tiles { mode, tile_type, info, bits, pitch, height, depth, samples } = tiles;
        if pitch == 0 || !pitch.is_multiple_of(8) {
            return invalid(Cause::Pitch(pitch));
        }
        let level = Level {
            mode,
            tile_type,
            tile_index: -1,
            macro_index: -1,
            info,
            pitch,
            height,
            depth,
            slice_bytes: 0,
            bytes: 0,
            base_align: 0,
            pitch_align: 0,
            height_align: 0,
            depth_align: 0,
            macro_tile: [1; 2],
            tc_compatible: false,
            no_dcc: false,
            stencil_index: -1,
            change: None,
        };
        let image = Image { samples, ..Image::new(mode, tile_type, bits, pitch, height) };
        Self::new(chip, &image, &level, bank_swizzle, pipe_swizzle)
    }

    /// Returns the address of a texel in bytes, relative to the start of its level.
    ///
    /// # Errors
    /// [`Cause::Coordinate`] if the texel is outside the level.
    pub fn address(&self, texel: Texel) -> Result<u64, AddrError> {
        let Texel { x, y, z, sample, .. } = texel;
        if x >= self.pitch || y >= self.height || z >= self.depth || sample >= self.samples {
            return invalid(Cause::Coordinate);
        }
        if self.mode.is_linear() {
            let area = u64::from(self.pitch) * u64::from(self.height);
            let plane = u64::from(z) + u64::from(sample) * u64::from(self.depth);
            return Ok((plane * area + u64::from(y) * u64::from(self.pitch) + u64::from(x)) * u64::from(self.bytes));
        }
        let slice = z / self.mode.thickness();
        let offset = self.in_tile(texel);
        if self.mode.is_micro() {
            return Ok(self.micro_slice_bytes() * u64::from(slice) + self.micro_tile(x, y) + u64::from(offset));
        }
        let tiles = self.macro_tiles();
        let (split, offset) = (offset / tiles.split_bytes, offset % tiles.split_bytes);
        let layers = u64::from(split) + u64::from(tiles.splits) * u64::from(slice);
        let total = tiles.slice_bytes * layers + tiles.tile(&self.info, x, y) + u64::from(offset);
        let (px, py) = tiles.turned(self.mode, x, y);
        let (pipes, banks) = self.turns();
        let pipe = (self.pipe_bits(px, py) ^ pipes.at(slice)) & pipes.mask;
        let bank = (self.bank_bits(px, py) ^ banks.at(slice) ^ self.split_rotation(split)) & banks.mask;
        let (pipe_bits, bank_bits) = (pipes.mask.count_ones(), banks.mask.count_ones());
        Ok(total & 0xff
            | u64::from(pipe) << 8
            | u64::from(bank) << (8 + pipe_bits)
            | (total >> 8) << (8 + pipe_bits + bank_bits))
    }

    /// Returns the padded width, height and depth, and the number of samples.
    pub(crate) const fn extent(&self) -> [u32; 4] {
        [self.pitch, self.height, self.depth, self.samples]
    }

    /// Returns the size of an element in bytes.
    pub(crate) const fn element_bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns `true` if the level is linear.
    pub(crate) fn is_linear(&self) -> bool {
        self.mode.is_linear()
    }

    fn tile_bytes(&self) -> u32 {
        64 * self.mode.thickness() * self.bytes * self.samples
    }

    /// Returns the offset of an element in its tile.
    pub(super) fn in_tile(&self, texel: Texel) -> u32 {
        let coordinates = [texel.x, texel.y, texel.z];
        let mut element = 0;
        for (index, &source) in self.order[..self.order_len].iter().enumerate() {
            element |= bit(coordinates[usize::from(source >> 3)], u32::from(source & 7)) << index;
        }
        if self.tile_type == TileType::Depth {
            (element * self.samples + texel.sample) * self.bytes
        } else {
            texel.sample * (self.tile_bytes() / self.samples) + element * self.bytes
        }
    }

    /// Returns the size in bytes of a layer of micro tiles that are stored in rows.
    pub(super) fn micro_slice_bytes(&self) -> u64 {
        u64::from(self.pitch) * u64::from(self.height) * u64::from(self.tile_bytes() / 64)
    }

    /// Returns the offset of a micro tile in a level whose micro tiles are stored in rows.
    pub(super) fn micro_tile(&self, x: u32, y: u32) -> u64 {
        (u64::from(y / 8) * u64::from(self.pitch / 8) + u64::from(x / 8)) * u64::from(self.tile_bytes())
    }

    /// Returns the macro tile parameters. Without macro tiles, each micro tile counts as one.
    pub(super) fn macro_tiles(&self) -> MacroTiles {
        let (info, tile_bytes) = (&self.info, self.tile_bytes());
        if !self.mode.is_macro() {
            return MacroTiles {
                splits: 1,
                split_bytes: tile_bytes,
                size: [8; 2],
                bytes: 0,
                per_row: 0,
                slice_bytes: 0,
            };
        }
        let is_split = self.mode.thickness() == 1 && tile_bytes > info.tile_split;
        let split_bytes = if is_split { info.tile_split } else { tile_bytes };
        let (width, height) =
            (8 * info.bank_width * info.pipes() * info.aspect, 8 * info.bank_height * info.banks / info.aspect);
        let bytes = u64::from(split_bytes) * u64::from(info.bank_width * info.bank_height);
        let per_row = u64::from(self.pitch / width);
        let slice_bytes = per_row * u64::from(self.height / height) * bytes;
        MacroTiles { splits: tile_bytes / split_bytes, split_bytes, size: [width, height], bytes, per_row, slice_bytes }
    }

    /// Returns the rotations of pipes and of banks from slice to slice.
    pub(super) fn turns(&self) -> (Turn, Turn) {
        let (pipes, banks) = (self.info.pipes(), self.info.banks);
        let rotation = (pipes / 2).saturating_sub(1).max(1);
        let (pipe_step, bank_step, shift) = match self.mode {
            TileMode::THIN_2D | TileMode::THICK_2D | TileMode::XTHICK_2D => (0, (banks / 2).saturating_sub(1), 0),
            TileMode::THIN_3D | TileMode::THICK_3D | TileMode::XTHICK_3D => (rotation, rotation, pipes.ilog2()),
            _ => (0, 0, 0),
        };
        let turn = |start, step, shift, count| Turn { start, step, shift, mask: count - 1 };
        (turn(self.pipe_swizzle, pipe_step, 0, pipes), turn(self.bank_swizzle, bank_step, shift, banks))
    }

    /// Returns the rotation of banks for a part of a split tile.
    pub(super) fn split_rotation(&self, split: u32) -> u32 {
        match self.mode {
            TileMode::THIN_2D | TileMode::THIN_3D | TileMode::PRT_THIN_2D | TileMode::PRT_THIN_3D => {
                (self.info.banks / 2 + 1).wrapping_mul(split)
            }
            _ => 0,
        }
    }

    /// Returns the pipe of an element in the first slice.
    pub(super) fn pipe_bits(&self, x: u32, y: u32) -> u32 {
        pipe_bits(&self.info, self.rotate_pipes_of_vega_m, x, y) & (self.info.pipes() - 1)
    }

    /// Returns `true` if the bank is not a XOR of coordinate bits.
    pub(super) const fn banks_are_no_xor(&self) -> bool {
        matches!(self.info.pipe_config, 8 | 15) && self.info.bank_width == 1
    }

    /// Returns the bank of an element in the first slice.
    pub(super) fn bank_bits(&self, x: u32, y: u32) -> u32 {
        let info = &self.info;
        let tx = x / 8 / (info.bank_width * info.pipes());
        let ty = y / 8 / info.bank_height;
        let (x3, x4, x5, x6) = (bit(tx, 0), bit(tx, 1), bit(tx, 2), bit(tx, 3));
        let (y3, y4, y5, y6) = (bit(ty, 0), bit(ty, 1), bit(ty, 2), bit(ty, 3));
        let bank = match info.banks {
            16 => (x3 ^ y6) | (x4 ^ y5 ^ y6) << 1 | (x5 ^ y4) << 2 | (x6 ^ y3) << 3,
            8 => (x3 ^ y5) | (x4 ^ y4 ^ y5) << 1 | (x5 ^ y3) << 2,
            4 => (x3 ^ y4) | (x4 ^ y3) << 1,
            _ => x3 ^ y3,
        };
        if self.banks_are_no_xor() { bank | (bit(bank, 0) ^ bit(x, 4) ^ bit(x, 5)) } else { bank }
    }
}

/// The macro tile parameters of a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct MacroTiles {
    /// The number of parts that a micro tile is split into.
    pub(super) splits: u32,
    /// The size of such a part in bytes.
    pub(super) split_bytes: u32,
    size: [u32; 2],
    /// The size in bytes in one pipe and bank.
    bytes: u64,
    per_row: u64,
    /// The size in bytes of all macro tiles of a slice in one pipe and bank.
    pub(super) slice_bytes: u64,
}

impl MacroTiles {
    /// Returns the offset of a micro tile in its pipe and bank.
    pub(super) fn tile(&self, info: &TileInfo, x: u32, y: u32) -> u64 {
        let [width, height] = self.size;
        let tile = ((y / 8) % info.bank_height) * info.bank_width + (x / 8 / info.pipes()) % info.bank_width;
        let macro_tile = u64::from(y / height) * self.per_row + u64::from(x / width);
        macro_tile * self.bytes + u64::from(tile * self.split_bytes)
    }

    /// Returns the coordinates that determine pipe and bank.
    pub(super) fn turned(&self, mode: TileMode, x: u32, y: u32) -> (u32, u32) {
        let [width, height] = self.size;
        if matches!(mode, TileMode::PRT_THIN | TileMode::PRT_THICK) { (x % width, y % height) } else { (x, y) }
    }
}

/// Returns the pipe of a pixel without swizzle and rotation.
pub(super) fn pipe_of(chip: &Chip, info: &TileInfo, x: u32, y: u32) -> u32 {
    pipe_bits(info, chip.family == Family::VegaM && info.pipes() == 16, x, y)
}

fn pipe_bits(info: &TileInfo, vega_m: bool, x: u32, y: u32) -> u32 {
    let (x3, x4, x5, x6) = (bit(x, 3), bit(x, 4), bit(x, 5), bit(x, 6));
    let (y3, y4, y5, y6) = (bit(y, 3), bit(y, 4), bit(y, 5), bit(y, 6));
    let bits = match info.pipe_config {
        5 => [x4 ^ y3, x3 ^ y4, 0, 0],
        6 => [x3 ^ y3 ^ x4, x4 ^ y4, 0, 0],
        7 => [x3 ^ y3 ^ x4, x4 ^ y5, 0, 0],
        8 => [x3 ^ y3 ^ x5, x5 ^ y5, 0, 0],
        9 => [x4 ^ y3 ^ x5, x3 ^ y5, 0, 0],
        10 => [x4 ^ y3 ^ x5, x3 ^ y4, x4 ^ y5, 0],
        11 => [x4 ^ y3 ^ x5, x3 ^ y4, x5 ^ y5, 0],
        12 => [x3 ^ y3 ^ x4, x5 ^ y4, x4 ^ y5, 0],
        13 => [x3 ^ y3 ^ x4, x4 ^ y4, x5 ^ y5, 0],
        14 => [x3 ^ y3 ^ x4, x4 ^ y6, x5 ^ y5, 0],
        15 => [x3 ^ y3 ^ x5, x6 ^ y5, x5 ^ y6, 0],
        17 => [x4 ^ y3, x3 ^ y4, x5 ^ y6, x6 ^ y5],
        18 => [x3 ^ y3 ^ x4, x4 ^ y4, x5 ^ y6, x6 ^ y5],
        _ => [x3 ^ y3, 0, 0, 0],
    };
    let [b0, b1, b2, b3] = if vega_m { [bits[1], bits[2], bits[3], bits[0]] } else { bits };
    b0 | b1 << 1 | b2 << 2 | b3 << 3
}
