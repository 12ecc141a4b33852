//! The layouts of the images of descriptors.

use amdgpu_descriptors::{fields::image as f, view::ImageKind};
use amdgpu_hw::GfxLevel;
use amdgpu_surface::{Chip, addr1, addr2, addr3, tiler::Subresource};

use super::{error::ImageError, format::TexelFormat, reader::Reader};

/// The layout of an image on each group of generations.
#[derive(Debug)]
enum Order {
    /// GFX6 to GFX8.
    Tiles { chip: Chip, image: addr1::Image, layout: addr1::Layout },
    /// GFX9 to GFX11.5.
    Blocks { addresser: addr2::Addresser, image: addr2::Image, layout: addr2::Layout },
    /// GFX12.
    Modern(addr3::Image, addr3::Layout),
}

/// The layout of an image and its address.
#[derive(Debug)]
pub(super) struct Layout {
    order: Order,
    base: u64,
    /// The base-2 logarithm of a block's size in bytes, whose offsets are XOR-ed with the low bits of the address; 0 for linear
    /// images.
    block_bits: u32,
    /// The number of elements of a texel: three for 96 bits.
    elements: u32,
}

/// A level that is prepared for computing addresses.
#[derive(Debug)]
pub(super) struct Plane {
    level: Subresource,
    base: u64,
    xor: u64,
    elements: u32,
}

impl Plane {
    /// Returns the address of an element.
    pub(super) fn address(&self, x: u32, y: u32, z: u32, sample: u32) -> Result<u64, ImageError> {
        let offset = self.level.address(x * self.elements, y, z, sample)?;
        Ok(self.base.wrapping_add(offset ^ self.xor))
    }
}

/// The properties of an image that all generations need for its layout.
struct Facts {
    bits: u32,
    width: u32,
    height: u32,
    slices: u32,
    levels: u32,
    samples: u32,
}

impl Layout {
    pub(super) fn new(
        reader: &Reader,
        kind: ImageKind,
        format: TexelFormat,
        samples: u32,
        chip: Option<&Chip>,
    ) -> Result<Self, ImageError> {
        let chip = chip.ok_or(ImageError::Chip)?;
        let get = |field| reader.get(field);
        let single = matches!(kind, ImageKind::D2Msaa | ImageKind::D2MsaaArray);
        let last = if reader.level >= GfxLevel::Gfx9 { get(f::MAX_MIP) } else { get(f::LAST_LEVEL) };
        let is_flat = matches!(kind, ImageKind::D1 | ImageKind::D1Array);
        let is_plain = matches!(kind, ImageKind::D1 | ImageKind::D2 | ImageKind::D2Msaa);
        let texels = format.texels();
        let facts = Facts {
            bits: format.bits,
            width: get(f::WIDTH).div_ceil(texels),
            height: if is_flat { 1 } else { get(f::HEIGHT).div_ceil(texels) },
            slices: match kind {
                _ if is_plain => 1,
                // From GFX9 on the field has the last layer of the view, which may be the first of a cube.
                ImageKind::Cube if reader.level >= GfxLevel::Gfx9 => (get(f::DEPTH) + 1).next_multiple_of(6),
                _ => get(f::DEPTH) + 1,
            },
            levels: if single { 1 } else { last + 1 },
            samples,
        };
        let base = reader.words.base_address(reader.level).low_48_bits();
        let elements = if format.bits == 96 { 3 } else { 1 };
        let (order, block_bits) = match reader.level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => (tiles(reader, chip, kind, format, &facts)?, 0),
            GfxLevel::Gfx12 => modern(reader, chip, kind, format, &facts)?,
            _ => blocks(reader, chip, kind, format, &facts)?,
        };
        Ok(Self { order, base, block_bits, elements })
    }

    /// Returns the address from which the metadata of a view counts: up to GFX8 the address of the view's first level.
    pub(super) fn start_of_view(&self, base_level: u32) -> u64 {
        let offset = match &self.order {
            Order::Tiles { layout, .. } => layout.level(base_level as usize).map_or(0, |(_, offset)| *offset),
            _ => 0,
        };
        self.start().wrapping_add(offset)
    }

    /// Returns the address of the image without the swizzle in its low bits.
    fn start(&self) -> u64 {
        let unit = match &self.order {
            Order::Tiles { layout, .. } => match layout.level(0) {
                Some((first, _)) if first.mode.is_macro() => 256 * first.info.pipes() * first.info.banks.max(1),
                _ => 1,
            },
            _ => 1 << self.block_bits,
        };
        self.base & !(u64::from(unit) - 1)
    }

    /// Returns the image of GFX9 to GFX11.5 and its sizes; `None` on other generations and for linear images.
    pub(super) fn blocks(&self) -> Option<(&addr2::Image, &addr2::Layout)> {
        match &self.order {
            Order::Blocks { image, layout, .. } if !image.mode.is_linear() => Some((image, layout)),
            _ => None,
        }
    }

    /// Returns the first level of an image in tiles of GFX6 to GFX8.
    pub(super) fn first_tiles(&self) -> Option<&addr1::Level> {
        match &self.order {
            Order::Tiles { layout, .. } => {
                layout.level(0).map(|(level, _)| level).filter(|level| !level.mode.is_linear())
            }
            _ => None,
        }
    }

    /// Returns `true` for an image of GFX6 to GFX8 in the order of depth.
    pub(super) fn is_depth(&self) -> bool {
        self.first_tiles().is_some_and(|level| level.tile_type == addr1::TileType::Depth)
    }

    /// Returns the stored samples of an image of GFX6 to GFX8.
    pub(super) fn samples(&self) -> u32 {
        match &self.order {
            Order::Tiles { image, .. } => image.stored(),
            _ => 1,
        }
    }

    /// Prepares a level, counted from level 0 of the image.
    pub(super) fn plane(&self, level: u32) -> Result<Plane, ImageError> {
        let mask = (1_u64 << self.block_bits) - 1;
        let (base, xor) = (self.base & !mask, self.base & mask);
        let elements = self.elements;
        Ok(match &self.order {
            Order::Blocks { addresser, .. } => {
                Plane { level: Subresource::gfx9(addresser, level)?, base, xor, elements }
            }
            Order::Modern(image, layout) => {
                Plane { level: Subresource::gfx12(image, layout, level)?, base, xor, elements }
            }
            Order::Tiles { chip, image, layout } => {
                let missing =
                    amdgpu_surface::tiler::TilerError::Missing { what: "level", number: level, count: image.levels };
                let (found, offset) = layout.level(level as usize).ok_or(missing)?;
                // The low bits of the address of an image with macro tiles rotate pipes and banks.
                let (pipes, banks) = (u64::from(found.info.pipes()), u64::from(found.info.banks.max(1)));
                let swizzle = self.base >> 8;
                let (pipe, bank) = if found.mode.is_macro() {
                    (swizzle & (pipes - 1), (swizzle / pipes) & (banks - 1))
                } else {
                    (0, 0)
                };
                let addresser = addr1::Addresser::new(chip, image, found, bank as u32, pipe as u32)?;
                let base = self.start().wrapping_add(*offset);
                Plane { level: Subresource::gfx6(&addresser)?, base, xor: 0, elements }
            }
        })
    }
}

/// Computes the layout of an image on GFX6 to GFX8. The descriptor contains the pitch and tile mode.
fn tiles(
    reader: &Reader,
    chip: &Chip,
    kind: ImageKind,
    format: TexelFormat,
    facts: &Facts,
) -> Result<Order, ImageError> {
    let get = |field| reader.get(field);
    let elements = if facts.bits == 96 { 3 } else { 1 };
    let mut usage = addr1::Usage::empty();
    usage.set(addr1::Usage::POW2_PAD, get(f::POW2_PAD) != 0);
    usage.set(addr1::Usage::VOLUME, kind == ImageKind::D3);
    usage.set(addr1::Usage::CUBE, kind == ImageKind::Cube);
    usage.set(addr1::Usage::FMASK, format.is_fmask());
    // The depth of a cube array counts cubes.
    let slices = if kind == ImageKind::Cube { facts.slices * 6 } else { facts.slices };
    let image = addr1::Image {
        mode: addr1::TileMode::LINEAR_ALIGNED,
        tile_type: addr1::TileType::Display,
        bits: facts.bits / elements,
        block_compressed: format.texels() > 1,
        width: get(f::PITCH).div_ceil(format.texels()) * elements,
        height: facts.height,
        slices: if kind == ImageKind::D3 { slices } else { slices.max(get(f::LAST_ARRAY) + 1) },
        levels: facts.levels,
        samples: facts.samples,
        fragments: 0,
        usage,
    };
    let layout = addr1::layout_of_view(chip, &image, get(f::TILING_INDEX))?;
    Ok(Order::Tiles { chip: *chip, image, layout })
}

fn dimension(kind: ImageKind) -> addr2::Dimension {
    match kind {
        ImageKind::D1 | ImageKind::D1Array => addr2::Dimension::D1,
        ImageKind::D3 => addr2::Dimension::D3,
        _ => addr2::Dimension::D2,
    }
}

/// Returns the kind of element that addrlib distinguishes.
fn element_kind(format: TexelFormat, facts: &Facts) -> addr2::Format {
    match (format.texels(), facts.bits) {
        (1, 96) => addr2::Format::Rgb96,
        (1, _) => addr2::Format::Plain,
        _ => addr2::Format::BlockCompressed,
    }
}

/// Returns the pitch in the descriptor of a linear image, which has it in place of the depth (GFX10.3 and later).
fn custom_pitch(reader: &Reader, kind: ImageKind, is_linear: bool) -> u32 {
    let pitch = reader.get(f::PITCH);
    let fits = is_linear && matches!(kind, ImageKind::D1 | ImageKind::D2) && reader.level >= GfxLevel::Gfx10_3;
    // A depth of zero, less one, means the hardware's default pitch.
    if fits && pitch > 1 { pitch } else { 0 }
}

/// Computes the layout of an image on GFX9 to GFX11.5, and the base-2 logarithm of a block's size in bytes.
fn blocks(
    reader: &Reader,
    chip: &Chip,
    kind: ImageKind,
    format: TexelFormat,
    facts: &Facts,
) -> Result<(Order, u32), ImageError> {
    let number = reader.get(f::SW_MODE);
    let wrong = ImageError::Mode(number.into());
    let mode = u8::try_from(number).ok().and_then(addr2::SwizzleMode::new).ok_or(wrong)?;
    let mut image = addr2::Image {
        mode,
        dimension: dimension(kind),
        format: element_kind(format, facts),
        bits: facts.bits,
        width: facts.width,
        height: facts.height,
        slices: facts.slices,
        levels: facts.levels,
        samples: facts.samples,
        fragments: 0,
        usage: if format.is_fmask() { addr2::Usage::FMASK } else { addr2::Usage::TEXTURE },
        pitch: custom_pitch(reader, kind, mode.is_linear()),
    };
    let mut layout = addr2::layout(chip, &image)?;
    let pitch = reader.get(f::PITCH);
    let is_other = chip.level() == GfxLevel::Gfx9 && facts.levels == 1 && layout.pixel_pitch != pitch;
    if is_other && !layout.epitch_is_height && pitch > layout.pixel_pitch {
        image.pitch = pitch;
        layout = addr2::layout(chip, &image)?;
    }
    // Elements of 96 bits are laid out as three of 32.
    if facts.bits == 96 {
        image = addr2::Image { format: addr2::Format::Plain, bits: 32, width: image.width * 3, ..image };
    }
    let bits = if mode.is_linear() { 0 } else { layout.align.max(1).ilog2() };
    Ok((Order::Blocks { addresser: addr2::Addresser::new(chip, &image, &layout, 0)?, image, layout }, bits))
}

/// Computes the layout of an image on GFX12, and the base-2 logarithm of a block's size in bytes.
fn modern(
    reader: &Reader,
    chip: &Chip,
    kind: ImageKind,
    format: TexelFormat,
    facts: &Facts,
) -> Result<(Order, u32), ImageError> {
    let number = reader.get(f::SW_MODE);
    let wrong = ImageError::Mode(number.into());
    let mode = u8::try_from(number).ok().and_then(addr3::Mode::new).ok_or(wrong)?;
    let mut image = addr3::Image {
        mode,
        dimension: dimension(kind),
        format: element_kind(format, facts),
        bits: facts.bits,
        width: facts.width,
        height: facts.height,
        slices: facts.slices,
        levels: facts.levels,
        samples: facts.samples,
        usage: addr3::Usage::empty(),
        pitch: custom_pitch(reader, kind, mode.is_linear()),
    };
    let layout = addr3::layout(chip, &image)?;
    if facts.bits == 96 {
        image = addr3::Image { format: addr3::Format::Plain, bits: 32, width: image.width * 3, ..image };
    }
    let bits = if mode.is_linear() { 0 } else { mode.block_bits() };
    Ok((Order::Modern(image, layout), bits))
}
