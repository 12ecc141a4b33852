//! The metadata of a level, as units that describe blocks of elements.

use amdgpu_hw::GfxLevel;

use super::gfx10::Blocks;
use super::image::{MetaImage, MetaKind, MetaLayout};
use super::prepared::MetaTables;
use super::{MetaAddress, MetaAddresser};
use crate::chip::Chip;
use crate::error::AddrError;

/// The order of units.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the larger one on")]
enum Order {
    /// By the equation of the hardware.
    Equation(MetaTables),
    /// A byte for each block and sample in rows. The address library has no addresses for DCC of several samples on GFX10
    /// and later, and for elements of a byte on GFX10 its equation gives several blocks one address. So this stands in for
    /// orders that no driver or shader computes; only their size counts.
    Rows { row: u64, samples: u32 },
}

/// The addresses of the units of one level's metadata: bytes of DCC, dwords of HTILE, nibbles of CMASK.
#[derive(Clone, Debug)]
pub struct MetaUnits {
    order: Order,
    /// The offset of the level in bytes.
    offset: u64,
    /// The level's place in the block of small levels, in elements.
    start: [u32; 2],
    /// The bytes from slice to slice; `None` where slices are part of the equation (GFX9).
    slice: Option<u64>,
    block: [u32; 2],
    shares_samples: bool,
}

impl MetaImage {
    /// Returns the units of a level as the hardware reads them; `None` for a level without metadata: of those that share a block only the first has some.
    ///
    /// `tail` is the place of the level's elements in the block of small levels of the image (`Level::tail`), which counts where their
    /// metadata share a block too. `pipe_xor` is the pipe XOR of the image, in units of 256 bytes, which only DCC has.
    ///
    /// Source of the levels: Mesa's `gfx9_compute_miptree`, `num_meta_levels`.
    ///
    /// # Errors
    /// The errors of [`layout`](Self::layout) and of [`MetaAddresser::new`], which knows no images with several levels on GFX9.
    pub fn units(
        &self,
        chip: &Chip,
        level: u32,
        tail: [u32; 2],
        pipe_xor: u32,
    ) -> Result<Option<MetaUnits>, AddrError> {
        let whole = self.layout_in(chip, Blocks::Read)?;
        let [width, height, _] = whole.compressed_block;
        // Elements of several samples fill a block of 256 bytes side by side, or sample by sample.
        let is_shared = u64::from(width * height * self.bits / 8) * u64::from(self.fragments) <= 256;
        let of = |order, offset, start, slice| {
            let shares_samples = self.kind != MetaKind::Dcc || is_shared;
            Some(MetaUnits { order, offset, start, slice, block: [width, height], shares_samples })
        };
        let first_tail = if self.levels > 1 { self.first_tail } else { 1 };
        if level > first_tail {
            return Ok(None);
        }
        if chip.level() == GfxLevel::Gfx9 {
            let tables = MetaAddresser::new(chip, self, &whole, pipe_xor)?.tables()?;
            return Ok(of(Order::Equation(tables), 0, [0; 2], None));
        }
        let of_level = whole.levels.get(level as usize).copied().unwrap_or_default();
        let start = if of_level.in_tail { tail } else { [0; 2] };
        let minify = |size: u32| size.checked_shr(level).unwrap_or(0).max(1);
        let alone = Self { width: minify(self.width), height: minify(self.height), levels: 1, ..*self };
        let own = alone.layout_in(chip, Blocks::Read)?;
        let is_byte = chip.level() == GfxLevel::Gfx10 && self.bits == 8;
        let order = if self.kind == MetaKind::Dcc && (self.fragments > 1 || is_byte) {
            let row = u64::from(own.pitch / width);
            let units = row * u64::from(own.height / height);
            Order::Rows { row, samples: (own.slice_bytes / units.max(1)).max(1) as u32 }
        } else {
            Order::Equation(MetaAddresser::new(chip, &alone, &own, pipe_xor)?.tables()?)
        };
        Ok(of(order, of_level.offset.into(), start, Some(whole.slice_bytes)))
    }

    /// Splits the address of metadata in a descriptor or register into that of the first byte and the pipe XOR. Drivers put the tile
    /// swizzle of the image into the low bits of the address of DCC, which has fewer such bits than a block of the image; other
    /// metadata has none.
    pub fn split_address(&self, chip: &Chip, layout: &MetaLayout, address: u64) -> (u64, u32) {
        let swizzled = match self.kind {
            MetaKind::Dcc => {
                let read = self.layout_in(chip, Blocks::Read).map_or(layout.align, |read| read.align);
                layout.align.min(read).min(1 << self.mode.block_bits(chip)).max(1)
            }
            MetaKind::Cmask | MetaKind::Htile => 1,
        };
        let low = address & (u64::from(swizzled) - 1);
        (address - low, (low >> 8) as u32)
    }
}

impl MetaUnits {
    /// Returns the width and height in elements, powers of two, of the block that a unit describes.
    pub const fn block(&self) -> [u32; 2] {
        self.block
    }

    /// Returns `true` if all samples of an element share a unit.
    pub const fn shares_samples(&self) -> bool {
        self.shares_samples
    }

    /// Returns the address of the unit of an element of the level; `None` for a sample without metadata: fragments beyond those that
    /// the chip compresses have none.
    pub fn address(&self, [x, y, z]: [u32; 3], sample: u32) -> Option<MetaAddress> {
        let [width, height] = self.block;
        let [x, y] = [x.wrapping_add(self.start[0]), y.wrapping_add(self.start[1])];
        let (z, offset) = match self.slice {
            None => (z, self.offset),
            Some(slice) => (0, self.offset + u64::from(z) * slice),
        };
        match &self.order {
            Order::Equation(tables) => {
                // Equations of GFX10 have bits below those of small elements' blocks, whose first element counts.
                let at = tables.address(x & !(width - 1), y & !(height - 1), z, sample);
                Some(MetaAddress { byte: offset + at.byte, ..at })
            }
            Order::Rows { row, samples } => {
                let number = (u64::from(y / height) * row + u64::from(x / width)) * u64::from(*samples);
                let sample = if self.shares_samples { 0 } else { sample };
                (sample < *samples).then(|| MetaAddress { byte: offset + number + u64::from(sample), bit: 0 })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr2::{Dimension, SwizzleMode};
    use crate::chip::ChipRegisters;

    /// The GB_ADDR_CONFIG of a chip, the swizzle mode, the bits of a texel, the size of the image, and the bytes of both layers in
    /// releases 25.0.7 and 26.2.6.
    type Answer = (u32, u8, u32, [u32; 2], [u64; 2]);

    /// The answers that RADV prints with `RADV_DEBUG=img` about DCC of images of 8 samples and two layers.
    const RADV: [Answer; 18] = [
        // Navi 33 and Strix Halo.
        (0x343, 27, 8, [100, 60], [16384, 8192]),
        (0x343, 27, 16, [523, 503], [65536, 49152]),
        (0x343, 27, 32, [100, 60], [16384, 8192]),
        (0x343, 27, 32, [523, 503], [98304, 98304]),
        (0x343, 31, 64, [523, 503], [196_608, 163_840]),
        (0x343, 31, 128, [100, 60], [16384, 8192]),
        (0x343, 27, 128, [100, 60], [16384, 16384]),
        // Navi 32.
        (0x444, 27, 8, [100, 60], [32768, 16384]),
        (0x444, 27, 32, [523, 503], [131_072, 98304]),
        (0x444, 31, 64, [100, 60], [32768, 16384]),
        (0x444, 31, 128, [100, 60], [32768, 32768]),
        // Navi 31.
        (0x545, 27, 8, [100, 60], [65536, 32768]),
        (0x545, 27, 32, [100, 60], [65536, 65536]),
        (0x545, 31, 64, [523, 503], [262_144, 196_608]),
        (0x545, 31, 128, [100, 60], [131_072, 131_072]),
        // Phoenix.
        (0x242, 27, 8, [100, 60], [8192, 8192]),
        (0x242, 27, 32, [523, 503], [98304, 98304]),
        (0x242, 27, 128, [523, 503], [327_680, 327_680]),
    ];

    fn chip(gb_addr_config: u32) -> Chip {
        Chip::new(&ChipRegisters::new(GfxLevel::Gfx11, 145, 1, gb_addr_config)).expect("a chip")
    }

    /// An image of 8 samples and two layers.
    fn image(mode: u8, bits: u32, [width, height]: [u32; 2]) -> MetaImage {
        MetaImage {
            kind: MetaKind::Dcc,
            mode: SwizzleMode::new(mode).expect("a mode"),
            dimension: Dimension::D2,
            bits,
            width,
            height,
            slices: 2,
            levels: 1,
            samples: 8,
            fragments: 8,
            pipe_aligned: true,
            rb_aligned: true,
            first_tail: 0,
        }
    }

    #[test]
    fn units_of_8_samples_fit_into_what_either_release_of_radv_makes_room_for() {
        for (config, mode, bits, [width, height], [reserved, read]) in RADV {
            let chip = chip(config);
            let image = image(mode, bits, [width, height]);
            let about = std::format!("{config:#x}, mode {mode}, {bits} bits, {width}x{height}");
            assert_eq!(image.layout(&chip).expect("sizes").bytes, reserved, "{about}");
            let units = image.units(&chip, 0, [0; 2], 0).expect("units").expect("a level");
            assert_eq!(units.slice, Some(read / 2), "{about}");
            let last = units.address([width - 1, height - 1, 1], 7).expect("a unit");
            assert!(last.byte < read, "{about}: the last unit is at {:#x}", last.byte);
        }
    }

    #[test]
    fn the_pipe_of_an_address_has_the_bits_below_the_blocks_that_the_hardware_reads() {
        let (chip, image) = (chip(0x343), image(27, 32, [100, 60]));
        let layout = image.layout(&chip).expect("sizes");
        assert_eq!(image.split_address(&chip, &layout, 0x80_1700), (0x80_1000, 7));
    }
}
