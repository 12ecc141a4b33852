//! Compression metadata of GFX9 to GFX11: DCC, CMASK, HTILE and FMASK.

mod coord;
mod gfx10;
mod gfx9;
mod gfx9_equation;
mod image;
mod prepared;
mod units;

use amdgpu_hw::GfxLevel;

pub use super::choose::fmask_bits;
use super::dimension::Dimension;
use super::image::{Image, Layout, MAX_LEVELS, Usage};
use super::mode::{Order, SwizzleMode};
use crate::chip::{Chip, Family};
use crate::equation::Equation;
use crate::error::{AddrError, Cause, invalid};

use gfx10::Blocks;

pub use coord::{CoordTerm, MetaEquation9};
pub use image::{MetaImage, MetaKind, MetaLayout, MetaLevel};
pub use prepared::MetaTables;
pub use units::MetaUnits;

/// The address equation of metadata. Addresses count nibbles.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the larger one on")]
pub enum MetaEquation {
    /// The equation of GFX9, of the coordinates and the index of the meta block.
    Gfx9(MetaEquation9),
    /// The equation of GFX10 and later, of the coordinates inside the meta block.
    Gfx10(Equation),
}

fn check(chip: &Chip, image: &MetaImage) -> Result<(), AddrError> {
    if !(GfxLevel::Gfx9..GfxLevel::Gfx12).contains(&chip.level()) {
        return invalid(Cause::Generation);
    }
    if !matches!(image.bits, 8 | 16 | 32 | 64 | 128) {
        return invalid(Cause::ElementBits(image.bits));
    }
    if !image.mode.exists(chip.level()) || image.mode.is_linear() {
        return invalid(Cause::Mode(u32::from(image.mode.number())));
    }
    if !matches!(image.fragments, 1 | 2 | 4 | 8) || !matches!(image.samples, 1 | 2 | 4 | 8 | 16) {
        return invalid(Cause::Samples(image.fragments));
    }
    if image.levels == 0 || image.levels as usize > MAX_LEVELS {
        return invalid(Cause::Levels(image.levels));
    }
    let limit = super::MAX_EXTENT;
    if image.width > limit || image.height > limit || image.slices > limit {
        return invalid(Cause::Overflow);
    }
    Ok(())
}

impl MetaImage {
    /// Computes the sizes of the metadata, as Mesa 25.0.7 does: on GFX11 it makes more room for DCC of 8 samples than the hardware
    /// reads, whose addresses are those of [`units`](Self::units).
    ///
    /// # Errors
    /// [`AddrError`] if addrlib's `Addr2ComputeDccInfo`, `-CmaskInfo` or `-HtileInfo` returns an error.
    pub fn layout(&self, chip: &Chip) -> Result<MetaLayout, AddrError> {
        self.layout_in(chip, Blocks::Reserved)
    }

    /// Computes the sizes of the metadata in meta blocks of a kind.
    fn layout_in(&self, chip: &Chip, blocks: Blocks) -> Result<MetaLayout, AddrError> {
        let image = self.normalised();
        check(chip, &image)?;
        if chip.level() == GfxLevel::Gfx9 {
            Ok(gfx9::layout(chip, &image))
        } else {
            gfx10::layout(chip, &image, blocks)
        }
    }

    /// Returns the equation that addrlib reports with the sizes. For CMASK and HTILE it is the equation of a single-sampled image.
    ///
    /// # Errors
    /// [`AddrError`] if there is no equation (HTILE of GFX9), and the errors of [`Self::layout`].
    pub fn equation(&self, chip: &Chip, layout: &MetaLayout) -> Result<MetaEquation, AddrError> {
        let single = match self.kind {
            MetaKind::Dcc => *self,
            MetaKind::Cmask | MetaKind::Htile => Self { samples: 1, fragments: 1, ..*self },
        };
        if chip.level() == GfxLevel::Gfx9 && self.kind == MetaKind::Htile {
            return Err(AddrError::NotSupported(Cause::Metadata));
        }
        single.normalised().equation_of_addresses(chip, layout)
    }

    fn equation_of_addresses(&self, chip: &Chip, layout: &MetaLayout) -> Result<MetaEquation, AddrError> {
        if chip.level() == GfxLevel::Gfx9 {
            Ok(MetaEquation::Gfx9(gfx9_equation::of(chip, self, layout)))
        } else {
            gfx10::equation(chip, self).map(MetaEquation::Gfx10)
        }
    }
}

/// A converter from coordinates in an image to addresses of metadata.
#[derive(Clone, Debug)]
pub struct MetaAddresser {
    image: MetaImage,
    layout: MetaLayout,
    equation: MetaEquation,
    xor: u64,
}

/// The address of a unit of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaAddress {
    /// The offset in bytes from the start of the metadata.
    pub byte: u64,
    /// The lowest bit in that byte: 0 or 4 for CMASK, 0 otherwise.
    pub bit: u32,
}

impl MetaAddresser {
    /// Prepares the addresses of metadata with this layout. `pipe_xor` is the pipe XOR of the image.
    ///
    /// # Errors
    /// [`AddrError`] if addrlib does not define the addresses: images with several levels, and on GFX10 and later DCC of
    /// multisampled images.
    pub fn new(chip: &Chip, image: &MetaImage, layout: &MetaLayout, pipe_xor: u32) -> Result<Self, AddrError> {
        let image = image.normalised();
        let several = match image.kind {
            MetaKind::Dcc => image.levels > 1 || (chip.level() > GfxLevel::Gfx9 && image.fragments > 1),
            MetaKind::Htile => image.levels > 1,
            MetaKind::Cmask => false,
        };
        if several {
            return Err(AddrError::NotImplemented(Cause::Levels(image.levels)));
        }
        let equation = image.equation_of_addresses(chip, layout)?;
        let xor = if chip.level() == GfxLevel::Gfx9 {
            let bits = gfx9_equation::pipe_bits(chip, image.mode, image.pipe_aligned);
            u64::from(pipe_xor & crate::bits::mask(bits)) << 8
        } else {
            let pipes = u64::from(pipe_xor & crate::bits::mask(chip.config.pipes)) << 8;
            pipes & u64::from(layout.block_bytes - 1)
        };
        Ok(Self { image, layout: *layout, equation, xor })
    }

    /// Returns the address of the metadata of an element. `sample` is only used for DCC.
    pub fn address(&self, x: u32, y: u32, slice: u32, sample: u32) -> MetaAddress {
        let layout = &self.layout;
        let [w, h, d] = layout.block;
        let row = u64::from(layout.pitch / w);
        let nibble = match &self.equation {
            MetaEquation::Gfx9(equation) => {
                let sheet = u64::from(layout.height / h) * row;
                let index = u64::from(slice / d) * sheet + u64::from(y / h) * row + u64::from(x / w);
                equation.evaluate(x, y, slice, sample, index)
            }
            MetaEquation::Gfx10(equation) => {
                let sample = if self.image.kind == MetaKind::Dcc { 0 } else { sample };
                let inside = u64::from(equation.evaluate(x, y, slice, sample));
                let index = u64::from(y / h) * row + u64::from(x / w);
                let base = u64::from(slice) * layout.slice_bytes + index * u64::from(layout.block_bytes);
                (base << 1) + inside
            }
        };
        let bit = if self.image.kind == MetaKind::Cmask { (nibble as u32 & 1) << 2 } else { 0 };
        MetaAddress { byte: (nibble >> 1) ^ self.xor, bit }
    }
}

/// Computes the sizes of FMASK, which is an image itself.
///
/// # Errors
/// [`AddrError`] if addrlib's `Addr2ComputeFmaskInfo` returns an error: always on GFX11, and for modes without Z order.
pub fn fmask(chip: &Chip, image: &Image) -> Result<Layout, AddrError> {
    let image = image.normalised();
    if image.mode.order() != Order::Z || image.mode.is_linear() {
        return invalid(Cause::Mode(u32::from(image.mode.number())));
    }
    let usage = Usage::FMASK | (image.usage & (Usage::META_PIPE_UNALIGNED | Usage::META_RB_UNALIGNED));
    let inner = Image {
        dimension: Dimension::D2,
        bits: fmask_bits(image.samples, image.fragments),
        levels: 1,
        samples: 1,
        fragments: 1,
        usage,
        pitch: 0,
        ..image
    };
    super::layout(chip, &inner)
}

impl Chip {
    /// Returns `true` if the chip has the fixes of metadata alignment: all GFX9 chips but the first ones
    /// (`Gfx9Lib::HwlConvertChipFamily`).
    fn meta_alias_fix(&self) -> bool {
        !matches!(self.family, Family::Vega10 | Family::Raven | Family::Raven2)
    }
}

/// Returns the size in bytes of the largest meta block of a chip (GFX10 and later).
pub(crate) fn max_block(chip: &Chip) -> u32 {
    let mut most = 0;
    let mut image = MetaImage {
        kind: MetaKind::Dcc,
        mode: SwizzleMode::LINEAR,
        dimension: Dimension::D2,
        bits: 8,
        width: 1,
        height: 1,
        slices: 1,
        levels: 1,
        samples: 1,
        fragments: 1,
        pipe_aligned: true,
        rb_aligned: true,
        first_tail: 0,
    };
    let variable = if chip.level() >= GfxLevel::Gfx10_3 { 28 } else { 24 };
    for number in [24, 25, 26, 27, variable, 31].into_iter().filter_map(SwizzleMode::new) {
        image.mode = number;
        if matches!(number.number(), 28..=31) && chip.level() < GfxLevel::Gfx10_3 {
            continue;
        }
        for kind in [MetaKind::Htile, MetaKind::Cmask, MetaKind::Dcc] {
            for (dimension, bits, fragments) in (0..2 * 5 * 4).map(|n: u32| (n & 1, 8 << (n / 2 % 5), 1 << (n / 10))) {
                image.kind = kind;
                image.dimension = if dimension == 0 { Dimension::D2 } else { Dimension::D3 };
                (image.bits, image.fragments, image.samples) = (bits, fragments, fragments);
                if image.dimension == Dimension::D3 && (kind != MetaKind::Dcc || fragments > 1) {
                    continue;
                }
                most = most.max(gfx10::block(chip, &image, Blocks::Reserved).bytes_log2);
            }
        }
    }
    1 << most
}
