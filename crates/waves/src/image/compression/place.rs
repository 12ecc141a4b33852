//! Addresses of metadata.

use amdgpu_descriptors::fields::image as f;
use amdgpu_hw::GfxLevel;
use amdgpu_surface::{
    Chip, addr1,
    addr2::{
        self, Order, SwizzleMode,
        meta::{MetaImage, MetaKind, MetaUnits},
    },
};

use super::code::Kind;
use crate::image::{error::ImageError, format::TexelFormat, layout::Layout, reader::Reader, texel::Texel};

/// A unit of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Address of the first byte.
    pub(crate) address: u64,
    /// Bytes: 1 or 4.
    pub(crate) bytes: u8,
    /// The first bit of a unit of four bits: 0 or 4.
    pub(crate) bit: u32,
}

/// The texels that a unit of metadata describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Width and height in texels, powers of two.
    pub(crate) size: [u32; 2],
    /// All samples of a texel share the unit.
    pub(crate) shares_samples: bool,
}

/// The units of a level, once they are known; `None` inside for a level without metadata.
type Level = Option<Option<Box<MetaUnits>>>;

/// Images of GFX9 and later.
#[derive(Debug)]
pub(crate) struct Blocks {
    chip: Chip,
    request: MetaImage,
    image: addr2::Layout,
    block: Block,
    /// The address of the first byte.
    base: u64,
    xor: u32,
    levels: [Level; addr2::MAX_LEVELS],
}

/// Addresses of metadata.
#[derive(Debug)]
pub(crate) enum Places {
    /// DCC and HTILE of GFX8, in the order of the texels: a unit for each `2^shift` bytes.
    Beside { base: u64, shift: u32, bytes: u8 },
    /// CMASK of GFX8, and bytes from slice to slice.
    Mask { base: u64, mask: Box<addr1::mask::MaskTables>, slice: u64 },
    /// All metadata of GFX9 and later.
    Blocks(Box<Blocks>),
}

/// Returns `true` for modes in the order of depth.
pub(super) fn is_depth_order(mode: SwizzleMode) -> bool {
    mode.order() == Order::Z
}

impl Places {
    pub(super) fn new(
        reader: &Reader,
        kind: Kind,
        format: TexelFormat,
        layout: &Layout,
        chip: &Chip,
    ) -> Result<Self, ImageError> {
        let address = reader.address(f::META_DATA_ADDRESS);
        if reader.level > GfxLevel::Gfx8 {
            return Ok(Self::Blocks(Box::new(Blocks::new(reader, kind, layout, chip)?)));
        }
        // DCC and HTILE of texture units follow the texels: addrlib's `CiLib::HwlComputeDccInfo` and `ComputeHtileInfo`
        // size them so.
        let level = layout.first_tiles().ok_or(ImageError::Meta("of an image in rows"))?;
        let (pipes, banks) = (level.info.pipes().max(1), level.info.banks.max(1));
        let aligned = |align: u32| address & !(u64::from(align) - 1);
        Ok(match kind {
            Kind::Dcc => Self::Beside { base: aligned(256 * pipes * banks), shift: 8, bytes: 1 },
            Kind::Depth | Kind::Stencil => {
                Self::Beside { base: address, shift: 3 + (format.bits * layout.samples()).ilog2(), bytes: 4 }
            }
            Kind::Cmask => {
                let mask = addr1::mask::cmask(chip, level, false);
                let bytes = u64::from(mask.pitch) * u64::from(mask.height) / 128;
                let slice = bytes.next_multiple_of(u64::from(256 * pipes));
                // Drivers put the tile swizzle of FMASK, of pipes and of banks, into the low bits of the address (Mesa's
                // `ac_build_fmask_descriptor` and, for the colour block, `ac_set_mutable_cb_surface_fields`).
                let unit = if level.mode.is_macro() { 256 * pipes * banks } else { 256 * pipes };
                Self::Mask { base: aligned(unit), mask: Box::new(mask.tables(chip)), slice }
            }
        })
    }

    /// Returns the unit of a texel whose element is at `offset` from the start of the view; `None` for a level without metadata.
    pub(crate) fn unit(&mut self, level: u32, texel: Texel, offset: u64) -> Result<Option<Unit>, ImageError> {
        Ok(match self {
            Self::Beside { base, shift, bytes } => {
                let address = base.wrapping_add((offset >> *shift) * u64::from(*bytes));
                Some(Unit { address, bytes: *bytes, bit: 0 })
            }
            Self::Mask { base, mask, slice } => {
                let (byte, bit) = mask.address(texel.x, texel.y, 0);
                Some(Unit { address: base.wrapping_add(u64::from(texel.z) * *slice + byte), bytes: 1, bit })
            }
            Self::Blocks(blocks) => blocks.unit(level, texel)?,
        })
    }

    /// Returns the texels of a unit; `None` up to GFX8, where stores do not need them.
    pub(crate) fn block(&self) -> Option<Block> {
        match self {
            Self::Blocks(blocks) => Some(blocks.block),
            _ => None,
        }
    }
}

impl Blocks {
    fn new(reader: &Reader, kind: Kind, layout: &Layout, chip: &Chip) -> Result<Self, ImageError> {
        let (image, sizes) = layout.blocks().ok_or(ImageError::Meta("of an image in another order"))?;
        if image.dimension != addr2::Dimension::D2 {
            return Err(ImageError::Meta("of a volume or a line"));
        }
        if kind == Kind::Stencil && image.levels > 1 {
            // Small levels of stencil follow those of depth, whose texels have another size.
            return Err(ImageError::Meta("of stencil with several levels"));
        }
        let is_aligned = reader.get(f::META_PIPE_ALIGNED) != 0;
        let fragments = image.samples.max(1);
        let request = MetaImage {
            kind: match kind {
                Kind::Dcc => MetaKind::Dcc,
                Kind::Depth | Kind::Stencil => MetaKind::Htile,
                Kind::Cmask => MetaKind::Cmask,
            },
            mode: image.mode,
            dimension: image.dimension,
            // The dwords of stencil are those of the depth beside it.
            bits: reader.depth_bits_of_stencil().unwrap_or(image.bits),
            width: image.width,
            height: image.height,
            slices: image.slices,
            levels: image.levels,
            samples: fragments,
            fragments,
            pipe_aligned: is_aligned,
            rb_aligned: if reader.level == GfxLevel::Gfx9 { reader.get(f::META_RB_ALIGNED) != 0 } else { is_aligned },
            first_tail: sizes.first_tail,
        };
        let meta = request.layout(chip)?;
        let [width, height, _] = meta.compressed_block;
        // Texels of several samples fill a block of 256 bytes side by side, or sample by sample.
        let is_shared = u64::from(width * height * image.bits / 8) * u64::from(fragments) <= 256;
        let block = Block { size: [width, height], shares_samples: kind != Kind::Dcc || is_shared };
        let (base, xor) = request.split_address(chip, &meta, reader.address(f::META_DATA_ADDRESS));
        let levels = [const { None }; addr2::MAX_LEVELS];
        Ok(Self { chip: *chip, request, image: *sizes, block, base, xor, levels })
    }

    fn unit(&mut self, level: u32, Texel { x, y, z, sample, .. }: Texel) -> Result<Option<Unit>, ImageError> {
        let Some(known) = self.levels.get_mut(level as usize) else { return Ok(None) };
        let units = if let Some(units) = known {
            units
        } else {
            let found = self.image.levels.as_slice().get(level as usize);
            let [tail_x, tail_y, _] = found.map_or([0; 3], |level| level.tail);
            known.insert(self.request.units(&self.chip, level, [tail_x, tail_y], self.xor)?.map(Box::new))
        };
        let bytes = if self.request.kind == MetaKind::Htile { 4 } else { 1 };
        let found = units.as_ref().and_then(|units| units.address([x, y, z], sample));
        Ok(found.map(|at| Unit { address: self.base.wrapping_add(at.byte), bytes, bit: at.bit }))
    }
}
