//! Colour targets and blending.

use std::fmt;

use amdgpu_hw::GfxLevel;
use amdgpu_registers::{Register, constants as r};

use crate::Registers;

/// A factor and a combination of blending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlendEquation {
    /// The factor of the shader's colour, in the numbers of GFX6.
    pub source: u32,
    /// The factor of the stored colour, in the numbers of GFX6.
    pub destination: u32,
    /// The combination: 0 adds, 1 subtracts the stored colour, 2 the smaller, 3 the larger, 4 subtracts from the stored colour.
    pub function: u32,
}

/// The names of factors, by the numbers of GFX6.
const FACTORS: [&str; 21] = [
    "0",
    "1",
    "src",
    "1-src",
    "src.a",
    "1-src.a",
    "dst.a",
    "1-dst.a",
    "dst",
    "1-dst",
    "saturate",
    "?",
    "?",
    "constant",
    "1-constant",
    "src1",
    "1-src1",
    "src1.a",
    "1-src1.a",
    "constant.a",
    "1-constant.a",
];

impl fmt::Display for BlendEquation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |factor: u32| FACTORS.get(factor as usize).copied().unwrap_or("?");
        let (source, destination) = (name(self.source), name(self.destination));
        match self.function {
            0 => write!(f, "src*{source} + dst*{destination}"),
            1 => write!(f, "src*{source} - dst*{destination}"),
            2 => f.write_str("min(src, dst)"),
            3 => f.write_str("max(src, dst)"),
            4 => write!(f, "dst*{destination} - src*{source}"),
            other => write!(f, "combination {other}"),
        }
    }
}

/// The blending of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blend {
    /// The equation of red, green and blue.
    pub colour: BlendEquation,
    /// The equation of alpha.
    pub alpha: BlendEquation,
}

impl Blend {
    /// Returns `true` if an equation has the second colour of the shader.
    pub fn is_dual(&self) -> bool {
        let is_second = |factor: u32| matches!(factor, 15..=18);
        [self.colour, self.alpha].iter().any(|one| is_second(one.source) || is_second(one.destination))
    }
}

/// Returns a factor in the numbers of GFX6. GFX11 has no gap before the constants.
///
/// Source: Mesa 25.0.7 `src/amd/registers/gfx6.json` and `gfx11.json`, the enum `BlendOp`.
fn factor(level: GfxLevel, number: u32) -> u32 {
    match number {
        11.. if level >= GfxLevel::Gfx11 => number + 2,
        number => number,
    }
}

/// The metadata of a colour target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The address of DCC with 48 bits.
    pub dcc: u64,
    /// The address of CMASK with 48 bits.
    pub cmask: u64,
    /// The size of a slice of CMASK in bytes.
    pub cmask_slice: u32,
    /// The address of FMASK with 48 bits.
    pub fmask: u64,
    /// The swizzle mode (GFX9 and later) or the index of the tile mode of FMASK.
    pub fmask_mode: u32,
    /// The pitch of FMASK in pixels (GFX7 and GFX8); elsewhere 0.
    pub fmask_pitch: u32,
    /// The pixels of a slice of FMASK (GFX6 to GFX8); elsewhere 0. FMASK may be padded to more rows than the colours.
    pub fmask_slice: u32,
    /// `true` if DCC is aligned to pipes (GFX9 and later).
    pub is_pipe_aligned: bool,
    /// `true` if DCC is aligned to render backends (GFX9).
    pub is_backend_aligned: bool,
    /// The colour of cleared blocks that have no code of their own.
    pub clear_words: [u32; 2],
}

impl Metadata {
    fn new(registers: &Registers<'_>, index: u32) -> Self {
        let level = registers.level();
        let attribute = |name| registers.element_field([r::CB_COLOR0_ATTRIB, r::CB_COLOR1_ATTRIB], index, name);
        let third = |name| registers.element_field([r::CB_COLOR0_ATTRIB3, r::CB_COLOR1_ATTRIB3], index, name);
        let raw_pitch = |name| registers.element_field([r::CB_COLOR0_PITCH, r::CB_COLOR1_PITCH], index, name);
        let tiled = level <= GfxLevel::Gfx8;
        let address = |low: [Register; 2], high: [Register; 2]| {
            let high = u64::from(registers.element(high, index) & 0xff);
            high << 40 | u64::from(registers.element(low, index)) << 8
        };
        Self {
            dcc: address(
                [r::CB_COLOR0_DCC_BASE, r::CB_COLOR1_DCC_BASE],
                [r::CB_COLOR0_DCC_BASE_EXT, r::CB_COLOR1_DCC_BASE_EXT],
            ),
            cmask: address(
                [r::CB_COLOR0_CMASK, r::CB_COLOR1_CMASK],
                [r::CB_COLOR0_CMASK_BASE_EXT, r::CB_COLOR1_CMASK_BASE_EXT],
            ),
            // The register counts squares of 128 pixels, which have 256 tiles of four bits.
            cmask_slice: 128
                * (registers.element_field([r::CB_COLOR0_CMASK_SLICE, r::CB_COLOR1_CMASK_SLICE], index, "tile_max")
                    + 1),
            fmask: address(
                [r::CB_COLOR0_FMASK, r::CB_COLOR1_FMASK],
                [r::CB_COLOR0_FMASK_BASE_EXT, r::CB_COLOR1_FMASK_BASE_EXT],
            ),
            fmask_mode: if tiled {
                attribute("fmask_tile_mode_index")
            } else {
                attribute("fmask_sw_mode") | third("fmask_sw_mode")
            },
            fmask_pitch: if matches!(level, GfxLevel::Gfx7 | GfxLevel::Gfx8) {
                8 * (raw_pitch("fmask_tile_max") + 1)
            } else {
                0
            },
            fmask_slice: if tiled {
                let slices = [r::CB_COLOR0_FMASK_SLICE, r::CB_COLOR1_FMASK_SLICE];
                64 * (registers.element_field(slices, index, "tile_max") + 1)
            } else {
                0
            },
            is_pipe_aligned: attribute("pipe_aligned") != 0 || third("dcc_pipe_aligned") != 0,
            is_backend_aligned: attribute("rb_aligned") != 0,
            clear_words: [
                registers.element([r::CB_COLOR0_CLEAR_WORD0, r::CB_COLOR1_CLEAR_WORD0], index),
                registers.element([r::CB_COLOR0_CLEAR_WORD1, r::CB_COLOR1_CLEAR_WORD1], index),
            ],
        }
    }
}

/// A colour target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// The number of the target.
    pub index: u32,
    /// The format of GFX6: its number of channels and their sizes.
    pub format: u32,
    /// The number type: 0 unorm, 1 snorm, 4 uint, 5 sint, 6 sRGB, 7 float.
    pub number: u32,
    /// The order of components: 0 standard, 1 alternate, 2 standard reversed, 3 alternate reversed.
    pub swap: u32,
    /// The address with 48 bits.
    pub address: u64,
    /// The width and height of level 0 in pixels: padded up to GFX8.
    pub size: [u32; 2],
    /// The pitch in pixels (GFX6 to GFX8), or the pitch less one (GFX9); 0 for the smallest.
    pub pitch: u32,
    /// The number of layers or slices of level 0.
    pub depth: u32,
    /// `true` for a 3D image.
    pub is_volume: bool,
    /// The swizzle mode (GFX9 and later) or the index of the tile mode.
    pub mode: u32,
    /// `true` for a linear image whose pitch has no alignment.
    pub is_linear: bool,
    /// The mip level.
    pub level: u32,
    /// The number of the last mip level.
    pub last_level: u32,
    /// The first and the last layer.
    pub layers: [u32; 2],
    /// The base-2 logarithm of the number of samples that are stored.
    pub fragments: u32,
    /// The components that are written: a bit each for red, green, blue and alpha.
    pub mask: u32,
    /// The components that the shader exports.
    pub shader_mask: u32,
    /// The blending, if it is on.
    pub blend: Option<Blend>,
    /// `true` if stored alpha reads as one.
    pub alpha_is_one: bool,
    /// `true` if CMASK may mark blocks as cleared.
    pub has_cmask: bool,
    /// `true` if FMASK maps samples to fragments.
    pub has_fmask: bool,
    /// `true` if DCC compresses the target.
    pub has_dcc: bool,
    /// The metadata.
    pub metadata: Metadata,
}

impl Colour {
    pub(super) fn new(registers: &Registers<'_>, index: u32) -> Option<Self> {
        let level = registers.level();
        let info = |name| registers.element_field([r::CB_COLOR0_INFO, r::CB_COLOR1_INFO], index, name);
        let format = info("format");
        if format == 0 {
            return None;
        }
        let view = |name| registers.element_field([r::CB_COLOR0_VIEW, r::CB_COLOR1_VIEW], index, name);
        let attribute = |name| registers.element_field([r::CB_COLOR0_ATTRIB, r::CB_COLOR1_ATTRIB], index, name);
        let second = |name| registers.element_field([r::CB_COLOR0_ATTRIB2, r::CB_COLOR1_ATTRIB2], index, name);
        let third = |name| registers.element_field([r::CB_COLOR0_ATTRIB3, r::CB_COLOR1_ATTRIB3], index, name);
        let low = registers.element([r::CB_COLOR0_BASE, r::CB_COLOR1_BASE], index);
        let high = registers.element([r::CB_COLOR0_BASE_EXT, r::CB_COLOR1_BASE_EXT], index) & 0xff;
        let tiled = level <= GfxLevel::Gfx8;
        let pitch = |name| registers.element_field([r::CB_COLOR0_PITCH, r::CB_COLOR1_PITCH], index, name);
        let slice = registers.element_field([r::CB_COLOR0_SLICE, r::CB_COLOR1_SLICE], index, "tile_max");
        let (size, pitch) = if tiled {
            let wide = 8 * (pitch("tile_max") + 1);
            ([wide, 64 * (slice + 1) / wide], wide)
        } else {
            let epitch = registers.element_field([r::CB_MRT0_EPITCH, r::CB_MRT1_EPITCH], index, "epitch");
            ([second("mip0_width") + 1, second("mip0_height") + 1], epitch)
        };
        let (depth, kind, mode, last_level) = match level {
            _ if tiled => (view("slice_max") + 1, 1, attribute("tile_mode_index"), 0),
            GfxLevel::Gfx9 => {
                (attribute("mip0_depth") + 1, attribute("resource_type"), attribute("color_sw_mode"), second("max_mip"))
            }
            GfxLevel::Gfx12 => {
                (third("mip0_depth") + 1, third("resource_type"), third("color_sw_mode"), third("max_mip"))
            }
            _ => (third("mip0_depth") + 1, third("resource_type"), third("color_sw_mode"), second("max_mip")),
        };
        let nibble = |register| registers.raw(register) >> (4 * index) & 15;
        let mip = if level >= GfxLevel::Gfx12 {
            registers.element_field([r::CB_COLOR0_VIEW2, r::CB_COLOR1_VIEW2], index, "mip_level")
        } else {
            view("mip_level")
        };
        let fdcc =
            registers.element_field([r::CB_COLOR0_FDCC_CONTROL, r::CB_COLOR1_FDCC_CONTROL], index, "fdcc_enable");
        Some(Self {
            index,
            format,
            number: info("number_type"),
            swap: info("comp_swap"),
            address: u64::from(high) << 40 | u64::from(low) << 8,
            size,
            pitch,
            depth,
            is_volume: kind == 2,
            mode,
            is_linear: tiled && info("linear_general") != 0,
            level: mip,
            last_level,
            layers: [view("slice_start"), view("slice_max")],
            fragments: attribute("num_fragments"),
            mask: nibble(r::CB_TARGET_MASK),
            shader_mask: nibble(r::CB_SHADER_MASK),
            blend: blend(registers, index).filter(|_| info("blend_bypass") == 0),
            alpha_is_one: attribute("force_dst_alpha_1") != 0,
            has_cmask: info("fast_clear") != 0,
            has_fmask: info("compression") != 0,
            has_dcc: info("dcc_enable") != 0 || fdcc != 0,
            metadata: Metadata::new(registers, index),
        })
    }

    /// Returns the components that a draw changes.
    pub const fn written(&self) -> u32 {
        self.mask & self.shader_mask
    }
}

/// Returns the blending of a target; `None` if it is off.
fn blend(registers: &Registers<'_>, index: u32) -> Option<Blend> {
    let field = |name| registers.element_field([r::CB_BLEND0_CONTROL, r::CB_BLEND1_CONTROL], index, name);
    let level = registers.level();
    if field("enable") == 0 {
        return None;
    }
    let equation = |source, destination, function| BlendEquation {
        source: factor(level, field(source)),
        destination: factor(level, field(destination)),
        function: field(function),
    };
    let colour = equation("color_srcblend", "color_destblend", "color_comb_fcn");
    let alpha = if field("separate_alpha_blend") != 0 {
        equation("alpha_srcblend", "alpha_destblend", "alpha_comb_fcn")
    } else {
        colour
    };
    Some(Blend { colour, alpha })
}

/// The operation of the colour block: CB_COLOR_CONTROL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColourOperation {
    /// The mode: 0 writes nothing, 1 writes colours, others work on metadata.
    pub mode: u32,
    /// The logic operation: a truth table of four bits, twice; 0xcc copies.
    pub logic: u32,
}

impl ColourOperation {
    pub(super) fn new(registers: &Registers<'_>) -> Self {
        let field = |name| registers.field(r::CB_COLOR_CONTROL, name);
        Self { mode: field("mode"), logic: field("rop3") }
    }
}
