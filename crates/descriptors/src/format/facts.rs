//! The properties of formats.

use core::fmt;

use amdgpu_hw::GfxLevel;
use amdgpu_surface::Chip;
use thiserror::Error;

use super::id::Format;
use super::row::{FormatRow, Usage};
use super::swizzle::Swizzle;
use super::table::FORMATS;

/// A use of a format by the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FormatUse {
    /// Loads from and stores to buffers.
    #[error("buffers")]
    Buffer,
    /// Loads from and stores to images.
    #[error("images")]
    Image,
    /// Rendering to colour targets.
    #[error("colour targets")]
    Color,
    /// Rendering to depth targets.
    #[error("depth targets")]
    Depth,
}

/// The error of a format that the generation does not support for a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{format} is no format of {usage} on {level}")]
pub struct NoFormat {
    /// The format that is not supported.
    pub format: Format,
    /// The use for which it is not supported.
    pub usage: FormatUse,
    /// The generation of the chip.
    pub level: GfxLevel,
}

/// The two format numbers of GFX6 to GFX9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegacyFormat {
    /// The layout of the components (data format).
    pub data: u32,
    /// The numeric type (number format).
    pub number: u32,
}

/// The format numbers of a colour target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorFormat {
    /// The layout of the components (`ColorFormat`).
    pub format: u32,
    /// The numeric type (`SurfaceNumber`).
    pub number: u32,
    /// The order of the components (`SurfaceSwap`).
    pub swap: u32,
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The family ID of Raven, and the first external revision that is Raven2 or Renoir.
const RAVEN2: (u32, u32) = (0x8e, 0x81);

/// The row for an index beyond the table, which no valid [`Format`] has.
static NONE: FormatRow = FormatRow {
    name: "UNKNOWN",
    vulkan: 0,
    bytes: 1,
    block: (1, 1),
    swizzle: *b"0000",
    legacy: [-1; 4],
    numbers: [0; 2],
    usage: Usage::BufferOnly,
    color: &[],
    depth: &[],
    bc_swizzle: 0,
    alpha_on_msb: [0; 2],
};

impl Format {
    /// Returns all formats of the tables.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        (0..FORMATS.len() as u8).map(Self)
    }

    /// Returns the format with a name such as `R8G8B8A8_UNORM`; `None` if the tables do not have it.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name() == name)
    }

    /// Returns the format with a `VkFormat` number; `None` if the tables do not have it.
    pub fn of_vulkan(number: u32) -> Option<Self> {
        Self::all().find(|format| format.row().vulkan == number)
    }

    fn row(self) -> &'static FormatRow {
        FORMATS.get(usize::from(self.0)).unwrap_or(&NONE)
    }

    /// Returns the name in Vulkan without the prefix `VK_FORMAT_`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the format's number in Vulkan (`VkFormat`).
    pub fn vulkan(self) -> u32 {
        self.row().vulkan
    }

    /// Returns the size of an element in bytes. An element is a texel or a compressed block.
    pub fn bytes(self) -> u32 {
        u32::from(self.row().bytes)
    }

    /// Returns the width and height of an element in texels.
    pub fn block(self) -> (u32, u32) {
        let (width, height) = self.row().block;
        (u32::from(width), u32::from(height))
    }

    /// Returns `true` if the format is block-compressed.
    pub fn is_compressed(self) -> bool {
        self.block().1 > 1
    }

    /// Returns `true` if the format has depth or stencil.
    pub fn is_depth_or_stencil(self) -> bool {
        !self.row().depth.is_empty()
    }

    /// Returns `true` if the format is one 64-bit integer, which shaders access as two halves of 32 bits.
    pub fn has_halves(self) -> bool {
        matches!(self, Self::R64_UINT | Self::R64_SINT)
    }

    /// Returns `true` if the format has stencil.
    pub fn has_stencil(self) -> bool {
        self.is_depth_or_stencil() && self.name().ends_with("S8_UINT")
    }

    /// Returns `true` if the format has depth.
    pub fn has_depth(self) -> bool {
        self.is_depth_or_stencil() && self != Self::S8_UINT
    }

    /// Returns the source of each of x, y, z and w among the components in memory.
    pub fn swizzle(self) -> Swizzle {
        Swizzle::named(self.row().swizzle).unwrap_or(Swizzle::ZERO)
    }

    fn missing(self, usage: FormatUse, level: GfxLevel) -> NoFormat {
        NoFormat { format: self, usage, level }
    }

    /// Returns the format numbers for images on GFX6 to GFX9.
    ///
    /// # Errors
    ///
    /// [`NoFormat`] if images cannot have the format, or the generation is later than GFX9.
    pub fn legacy_image(self, level: GfxLevel) -> Result<LegacyFormat, NoFormat> {
        let [data, number, _, _] = self.row().legacy.map(u32::try_from);
        match (data, number) {
            (Ok(data), Ok(number)) if level <= GfxLevel::Gfx9 => Ok(LegacyFormat { data, number }),
            _ => Err(self.missing(FormatUse::Image, level)),
        }
    }

    /// Returns the format numbers for buffers on GFX6 to GFX9.
    ///
    /// # Errors
    ///
    /// [`NoFormat`] if buffers cannot have the format, or the generation is later than GFX9.
    pub fn legacy_buffer(self, level: GfxLevel) -> Result<LegacyFormat, NoFormat> {
        let [_, _, data, number] = self.row().legacy.map(u32::try_from);
        match (data, number) {
            (Ok(data @ 1..), Ok(number)) if level <= GfxLevel::Gfx9 => Ok(LegacyFormat { data, number }),
            _ => Err(self.missing(FormatUse::Buffer, level)),
        }
    }

    fn number(self, level: GfxLevel) -> u32 {
        let [gfx10, gfx11] = self.row().numbers;
        u32::from(if level >= GfxLevel::Gfx11 { gfx11 } else { gfx10 })
    }

    /// Returns the format number for images on GFX10 and later.
    ///
    /// # Errors
    ///
    /// [`NoFormat`] if images cannot have the format, or the generation is earlier than GFX10.
    pub fn image(self, level: GfxLevel) -> Result<u32, NoFormat> {
        let number = self.number(level);
        let can = level >= GfxLevel::Gfx10 && number != 0 && self.row().usage == Usage::Any;
        if can { Ok(number) } else { Err(self.missing(FormatUse::Image, level)) }
    }

    /// Returns the format number for buffers on GFX10 and later. Formats whose numbers exceed the field of buffer descriptors are
    /// for images only.
    ///
    /// # Errors
    ///
    /// [`NoFormat`] if buffers cannot have the format, or the generation is earlier than GFX10.
    pub fn buffer(self, level: GfxLevel) -> Result<u32, NoFormat> {
        let (number, end) = (self.number(level), if level >= GfxLevel::Gfx11 { 64 } else { 128 });
        let can = level >= GfxLevel::Gfx10 && (1..end).contains(&number);
        if can { Ok(number) } else { Err(self.missing(FormatUse::Buffer, level)) }
    }

    /// Returns the format numbers for colour targets. `E5B9G9R9_UFLOAT_PACK32` is supported on GFX10.3 and later.
    ///
    /// # Errors
    ///
    /// [`NoFormat`] if colour targets of the generation cannot have the format.
    pub fn color(self, level: GfxLevel) -> Result<ColorFormat, NoFormat> {
        let too_early = self == Self::E5B9G9R9_UFLOAT_PACK32 && level < GfxLevel::Gfx10_3;
        match *self.row().color {
            [format, number, swap] if !too_early => {
                Ok(ColorFormat { format: format.into(), number: number.into(), swap: swap.into() })
            }
            _ => Err(self.missing(FormatUse::Color, level)),
        }
    }

    /// Returns the fields of the tiling word of GFX12 that the format decides: the number type and the data format of colour targets,
    /// with which the kernel compresses and decompresses the image when it moves it. They are 0 on other generations. Formats of blocks
    /// count as floating-point numbers without a data format, as in RADV.
    ///
    /// Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`, `AMDGPU_TILING_GFX12_DCC_NUMBER_TYPE` and
    /// `AMDGPU_TILING_GFX12_DCC_DATA_FORMAT`; answers of RADV 25.0.7.
    pub fn compression_tiling(self, level: GfxLevel) -> u64 {
        if level != GfxLevel::Gfx12 {
            return 0;
        }
        // Depth and stencil have the numbers of colour formats with channels of the same sizes.
        let [format, number] = match self {
            Self::D16_UNORM | Self::R10X6_UNORM_PACK16 | Self::R12X4_UNORM_PACK16 => [2, 0],
            Self::R10X6G10X6_UNORM_2PACK16 | Self::R12X4G12X4_UNORM_2PACK16 => [5, 0],
            Self::D16_UNORM_S8_UINT => [0, 0],
            Self::X8_D24_UNORM_PACK32 | Self::D24_UNORM_S8_UINT => [20, 0],
            Self::D32_SFLOAT => [4, 7],
            Self::D32_SFLOAT_S8_UINT => [22, 7],
            Self::S8_UINT => [1, 4],
            _ => self.color(level).map_or([0, 7], |color| [color.format, color.number]),
        };
        u64::from(number & 7) << 5 | u64::from(format & 63) << 8
    }

    /// Returns the format number for depth targets (`ZFormat`); 0 if the format has only stencil.
    ///
    /// # Errors
    ///
    /// [`NoFormat`] if the format has neither depth nor stencil.
    pub fn depth(self, level: GfxLevel) -> Result<u32, NoFormat> {
        let number = self.row().depth.first().copied();
        number.map(u32::from).ok_or_else(|| self.missing(FormatUse::Depth, level))
    }

    /// Returns the order of components for border colours, the field `bc_swizzle` of image descriptors (GFX9 and later).
    pub fn bc_swizzle(self) -> u32 {
        u32::from(self.row().bc_swizzle)
    }

    /// Returns the number of colour and alpha channels.
    pub fn channel_count(self) -> u32 {
        let first = self.name().split('_').next().unwrap_or_default().as_bytes();
        let is_channel = |pair: &&[u8; 2]| b"RGBA".contains(&pair[0]) && pair[1].is_ascii_digit();
        first.array_windows().filter(is_channel).count() as u32
    }

    /// Returns `true` if alpha is the most significant component, which DCC needs to know (GFX8 to GFX10.3). Some chips differ from
    /// their generation, see [`alpha_is_on_msb_of`](Self::alpha_is_on_msb_of).
    pub fn alpha_is_on_msb(self, level: GfxLevel) -> bool {
        let [before, since] = self.row().alpha_on_msb;
        (if level >= GfxLevel::Gfx11 { since } else { before }) != 0
    }

    /// Returns `true` if alpha is the most significant component on this chip. On Raven2 and Renoir, single-channel formats have
    /// the opposite value to the rest of the generation.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_formats.c`, `ac_alpha_is_on_msb`.
    pub fn alpha_is_on_msb_of(self, chip: &Chip) -> bool {
        let registers = chip.registers();
        let inverts = registers.family_id == RAVEN2.0 && registers.external_rev >= RAVEN2.1;
        self.alpha_is_on_msb(chip.level()) != (inverts && self.channel_count() == 1)
    }
}
