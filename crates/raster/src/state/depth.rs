//! Depth and stencil: the target and the tests.

use std::fmt;

use amdgpu_hw::GfxLevel;
use amdgpu_registers::{Register, constants as r};

use crate::Registers;

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the comparisons")]
pub enum Compare {
    Never,
    Less,
    Equal,
    LessOrEqual,
    Greater,
    NotEqual,
    GreaterOrEqual,
    Always,
}

impl Compare {
    const ALL: [Self; 8] = [
        Self::Never,
        Self::Less,
        Self::Equal,
        Self::LessOrEqual,
        Self::Greater,
        Self::NotEqual,
        Self::GreaterOrEqual,
        Self::Always,
    ];

    fn new(number: u32) -> Self {
        Self::ALL[number as usize & 7]
    }

    /// Returns `true` if a new value passes against an old one.
    pub(crate) fn passes<T: PartialOrd + Copy>(self, new: T, old: T) -> bool {
        match self {
            Self::Never => false,
            Self::Less => new < old,
            Self::Equal => new == old,
            Self::LessOrEqual => new <= old,
            Self::Greater => new > old,
            Self::NotEqual => new != old,
            Self::GreaterOrEqual => new >= old,
            Self::Always => true,
        }
    }
}

impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "never",
            Self::Less => "<",
            Self::Equal => "==",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::NotEqual => "!=",
            Self::GreaterOrEqual => ">=",
            Self::Always => "always",
        })
    }
}

/// An operation on a stencil value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the operations")]
pub enum StencilOp {
    Keep,
    Zero,
    Ones,
    ReplaceByReference,
    ReplaceByOperand,
    AddClamp,
    SubtractClamp,
    Invert,
    AddWrap,
    SubtractWrap,
    And,
    Or,
    Xor,
    Nand,
    Nor,
    Xnor,
}

impl StencilOp {
    const ALL: [Self; 16] = [
        Self::Keep,
        Self::Zero,
        Self::Ones,
        Self::ReplaceByReference,
        Self::ReplaceByOperand,
        Self::AddClamp,
        Self::SubtractClamp,
        Self::Invert,
        Self::AddWrap,
        Self::SubtractWrap,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Nand,
        Self::Nor,
        Self::Xnor,
    ];

    fn new(number: u32) -> Self {
        Self::ALL[number as usize & 15]
    }

    /// Returns the new value for an old one, the reference and the operand.
    pub(crate) fn apply(self, old: u8, reference: u8, operand: u8) -> u8 {
        match self {
            Self::Keep => old,
            Self::Zero => 0,
            Self::Ones => 0xff,
            Self::ReplaceByReference => reference,
            Self::ReplaceByOperand => operand,
            Self::AddClamp => old.saturating_add(operand),
            Self::SubtractClamp => old.saturating_sub(operand),
            Self::Invert => !old,
            Self::AddWrap => old.wrapping_add(operand),
            Self::SubtractWrap => old.wrapping_sub(operand),
            Self::And => old & operand,
            Self::Or => old | operand,
            Self::Xor => old ^ operand,
            Self::Nand => !(old & operand),
            Self::Nor => !(old | operand),
            Self::Xnor => !(old ^ operand),
        }
    }
}

/// The stencil test of front or back faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilFace {
    /// The comparison of the reference with the stored value.
    pub compare: Compare,
    /// The operation if the stencil test fails.
    pub fail: StencilOp,
    /// The operation if the stencil test passes and the depth test fails.
    pub depth_fail: StencilOp,
    /// The operation if both pass.
    pub pass: StencilOp,
    /// The reference.
    pub reference: u8,
    /// The bits that are compared.
    pub mask: u8,
    /// The bits that are written.
    pub write_mask: u8,
    /// The operand of operations.
    pub operand: u8,
}

/// The place of depth or of stencil in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthPlane {
    /// The format: 1 for 16 bits, 2 for 24 bits, 3 for floats; 1 for stencil.
    pub format: u32,
    /// The addresses that are read and written, with 48 bits.
    pub address: [u64; 2],
    /// The swizzle mode (GFX9 and later) or the index of the tile mode (GFX6); elsewhere 0.
    pub mode: u32,
}

/// The order of tests and the pixel shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Tests come last.
    Late,
    /// Tests come first, as far as the shader lets them.
    Early,
}

/// HTILE: a dword for each tile of 8 x 8 pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Htile {
    /// The address with 48 bits.
    pub address: u64,
    /// `true` if dwords tell about stencil too.
    pub has_stencil: bool,
    /// `true` if dwords hold shading rates (GFX10.3).
    pub has_rates: bool,
    /// `true` if texture units read it, for which dwords follow each other as pixels do (GFX8).
    pub is_beside: bool,
    /// `true` if it is aligned to pipes (GFX9 and later).
    pub is_pipe_aligned: bool,
    /// `true` if it is aligned to render backends (GFX9).
    pub is_backend_aligned: bool,
    /// The depth of cleared tiles: the bits of a float.
    pub depth_clear: u32,
    /// The stencil of cleared tiles.
    pub stencil_clear: u32,
}

/// The way from alpha to a mask of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlphaToMask {
    /// The offset of each pixel of a quad, in quarters of a sample.
    pub offsets: [u32; 4],
    /// `true` if half a quarter is added.
    pub rounds: bool,
}

impl AlphaToMask {
    fn new(registers: &Registers<'_>) -> Option<Self> {
        let field = |name| registers.field(r::DB_ALPHA_TO_MASK, name);
        let names =
            ["alpha_to_mask_offset0", "alpha_to_mask_offset1", "alpha_to_mask_offset2", "alpha_to_mask_offset3"];
        (field("alpha_to_mask_enable") != 0)
            .then(|| Self { offsets: names.map(field), rounds: field("offset_round") != 0 })
    }
}

/// A copy of depth and stencil to a colour target, with which drivers make those readable that texture units cannot read in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthCopy {
    /// `true` if depth is copied, to the first component.
    pub depth: bool,
    /// `true` if stencil is copied, to the second component.
    pub stencil: bool,
    /// The sample that is copied.
    pub sample: u32,
}

/// Depth and stencil.
#[derive(Clone, Debug, PartialEq)]
pub struct Depth {
    /// The depth, if it is bound.
    pub plane: Option<DepthPlane>,
    /// The stencil, if it is bound.
    pub stencil: Option<DepthPlane>,
    /// The width and height in pixels: padded up to GFX8.
    pub size: [u32; 2],
    /// The elements of a slice (GFX6 to GFX8), or the pitch less one (GFX9).
    pub pitch: u32,
    /// The tiling parameters of GFX7 and GFX8: DB_DEPTH_INFO.
    pub tiling: u32,
    /// The tile split of depth and stencil (GFX6 to GFX8), as in the register.
    pub splits: [u32; 2],
    /// The mip level.
    pub level: u32,
    /// The number of the last mip level.
    pub last_level: u32,
    /// The first and the last layer.
    pub layers: [u32; 2],
    /// The base-2 logarithm of the number of samples.
    pub samples: u32,
    /// `true` if HTILE compresses the target.
    pub has_htile: bool,
    /// The HTILE.
    pub htile: Htile,
    /// `true` for depth and stencil if tiles are decompressed.
    pub decompresses: [bool; 2],
    /// The depth test, if it is on.
    pub test: Option<Compare>,
    /// `true` if depth is written.
    pub writes: bool,
    /// `true` if the image's depth is read-only.
    pub is_read_only: bool,
    /// `true` if the image's stencil is read-only.
    pub stencil_is_read_only: bool,
    /// The bounds of stored depths that pass, if the test is on.
    pub bounds: Option<[f32; 2]>,
    /// The stencil tests of front and back faces, if they are on.
    pub faces: Option<[StencilFace; 2]>,
    /// `true` if depth is not clamped to the viewport's range.
    pub is_unclamped: bool,
    /// The values that replace those of the draw: depth and stencil clears.
    pub clears: [Option<u32>; 2],
    /// The copy of depth and stencil to the first colour target, which takes the place of what the shader exports.
    pub copy: Option<DepthCopy>,
    /// `true` if the pixel shader does not run.
    pub without_pixel_shader: bool,
    /// `true` if the shader exports depth.
    pub exports_depth: bool,
    /// `true` if the shader exports a stencil reference.
    pub exports_stencil: bool,
    /// `true` if the shader exports a mask of samples.
    pub exports_mask: bool,
    /// `true` if the alpha that becomes a mask of samples is beside the exported depth, if something is exported there.
    ///
    /// Source: Mesa 25.0.7 `radv_cmd_buffer.c`, `radv_emit_db_shader_control`.
    pub exports_alpha: bool,
    /// `true` if the shader may discard pixels.
    pub kills: bool,
    /// `true` if the tests come before the shader, whatever it exports. Samples are then counted before it, too.
    pub is_forced_early: bool,
    /// `true` if the shader gets the samples that are left by tests before it, rather than those that the primitive covers.
    ///
    /// Source: Mesa 25.0.7 `radv_pipeline_graphics.c`, `radv_compute_db_shader_control`, for `post_depth_coverage`.
    pub covers_after_tests: bool,
    /// The order that the driver asks for.
    pub order: Order,
    /// The way in which alpha becomes a mask of samples, if it does.
    pub alpha_to_mask: Option<AlphaToMask>,
    /// `true` if pixel shaders of a pixel run in order.
    pub is_ordered: bool,
    /// `true` if the pixel shader runs even if it changes no target, as drivers have it for shaders that write memory.
    ///
    /// Source: Mesa 25.0.7 `radv_pipeline_graphics.c`, `radv_compute_db_shader_control`.
    pub runs_anyway: bool,
}

/// Returns the address in a register of 256-byte units and its upper half.
fn address(registers: &Registers<'_>, low: Register, high: Register) -> u64 {
    let high = u64::from(registers.raw(high) & 0xff);
    (high << 40 | u64::from(registers.raw(low)) << 8) & 0xffff_ffff_ffff
}

impl Depth {
    pub(super) fn new(registers: &Registers<'_>) -> Self {
        let level = registers.level();
        let field = |register, name| registers.field(register, name);
        let control = |name| registers.is_set(r::DB_DEPTH_CONTROL, name);
        let shader = |name| registers.is_set(r::DB_SHADER_CONTROL, name);
        let render = |name| registers.is_set(r::DB_RENDER_CONTROL, name);
        let newest = level >= GfxLevel::Gfx12;
        let tiled = level <= GfxLevel::Gfx8;
        let view = if newest { r::DB_DEPTH_VIEW1 } else { r::DB_DEPTH_VIEW };
        let mode = if tiled { "tile_mode_index" } else { "sw_mode" };
        let plane = |info, format, addresses: [[Register; 2]; 2]| {
            (format != 0).then(|| DepthPlane {
                format,
                address: addresses.map(|[low, high]| address(registers, low, high)),
                mode: field(info, mode),
            })
        };
        let size = if tiled {
            [field(r::DB_DEPTH_SIZE, "pitch_tile_max"), field(r::DB_DEPTH_SIZE, "height_tile_max")]
                .map(|tiles| 8 * (tiles + 1))
        } else {
            let register = if level == GfxLevel::Gfx9 { r::DB_DEPTH_SIZE } else { r::DB_DEPTH_SIZE_XY };
            [field(register, "x_max") + 1, field(register, "y_max") + 1]
        };
        let first = field(r::DB_DEPTH_VIEW, "slice_start") | field(r::DB_DEPTH_VIEW, "slice_start_hi") << 11;
        let last = field(r::DB_DEPTH_VIEW, "slice_max") | field(r::DB_DEPTH_VIEW, "slice_max_hi") << 11;
        let bounds = [r::DB_DEPTH_BOUNDS_MIN, r::DB_DEPTH_BOUNDS_MAX].map(|register| registers.float(register, 0));
        Self {
            plane: plane(
                r::DB_Z_INFO,
                field(r::DB_Z_INFO, "format"),
                [[r::DB_Z_READ_BASE, r::DB_Z_READ_BASE_HI], [r::DB_Z_WRITE_BASE, r::DB_Z_WRITE_BASE_HI]],
            ),
            stencil: plane(
                r::DB_STENCIL_INFO,
                field(r::DB_STENCIL_INFO, "format"),
                [
                    [r::DB_STENCIL_READ_BASE, r::DB_STENCIL_READ_BASE_HI],
                    [r::DB_STENCIL_WRITE_BASE, r::DB_STENCIL_WRITE_BASE_HI],
                ],
            ),
            size,
            pitch: match level {
                GfxLevel::Gfx9 => field(r::DB_Z_INFO2, "epitch"),
                _ if tiled => registers.raw(r::DB_DEPTH_SLICE),
                _ => 0,
            },
            tiling: registers.raw(r::DB_DEPTH_INFO),
            splits: [field(r::DB_Z_INFO, "tile_split"), field(r::DB_STENCIL_INFO, "tile_split")],
            level: field(view, "mipid"),
            last_level: field(r::DB_Z_INFO, "maxmip"),
            layers: [first, last],
            samples: field(r::DB_Z_INFO, "num_samples"),
            has_htile: !newest && field(r::DB_Z_INFO, "tile_surface_enable") != 0,
            htile: Htile {
                address: address(registers, r::DB_HTILE_DATA_BASE, r::DB_HTILE_DATA_BASE_HI),
                has_stencil: field(r::DB_STENCIL_INFO, "tile_stencil_disable") == 0,
                has_rates: field(r::DB_HTILE_SURFACE, "vrs_htile_encoding") != 0,
                is_beside: field(r::DB_HTILE_SURFACE, "tc_compatible") != 0,
                is_pipe_aligned: field(r::DB_HTILE_SURFACE, "pipe_aligned") != 0,
                is_backend_aligned: field(r::DB_HTILE_SURFACE, "rb_aligned") != 0,
                depth_clear: registers.raw(r::DB_DEPTH_CLEAR),
                stencil_clear: registers.raw(r::DB_STENCIL_CLEAR) & 0xff,
            },
            decompresses: [render("depth_compress_disable"), render("stencil_compress_disable")],
            test: control("z_enable").then(|| Compare::new(field(r::DB_DEPTH_CONTROL, "zfunc"))),
            writes: control("z_enable") && control("z_write_enable"),
            is_read_only: registers.is_set(view, "z_read_only"),
            stencil_is_read_only: registers.is_set(view, "stencil_read_only"),
            bounds: control("depth_bounds_enable").then_some(bounds),
            faces: control("stencil_enable").then(|| faces(registers)),
            is_unclamped: registers.is_set(r::DB_RENDER_OVERRIDE, "disable_viewport_clamp")
                || registers.is_set(r::DB_VIEWPORT_CONTROL, "disable_viewport_clamp"),
            clears: [
                (!newest && render("depth_clear_enable")).then(|| registers.raw(r::DB_DEPTH_CLEAR)),
                (!newest && render("stencil_clear_enable")).then(|| registers.raw(r::DB_STENCIL_CLEAR) & 0xff),
            ],
            copy: (render("depth_copy") || render("stencil_copy")).then(|| DepthCopy {
                depth: render("depth_copy"),
                stencil: render("stencil_copy"),
                sample: field(r::DB_RENDER_CONTROL, "copy_sample"),
            }),
            without_pixel_shader: render("ps_invoke_disable"),
            exports_depth: shader("z_export_enable"),
            exports_stencil: shader("stencil_test_val_export_enable"),
            exports_mask: shader("mask_export_enable"),
            exports_alpha: level >= GfxLevel::Gfx11 || shader("coverage_to_mask_enable"),
            kills: shader("kill_enable"),
            is_forced_early: shader("depth_before_shader"),
            covers_after_tests: shader("pre_shader_depth_coverage_enable"),
            order: if field(r::DB_SHADER_CONTROL, "z_order") == 0 { Order::Late } else { Order::Early },
            alpha_to_mask: AlphaToMask::new(registers),
            is_ordered: shader("primitive_ordered_pixel_shader"),
            runs_anyway: shader("exec_on_hier_fail") || shader("exec_on_noop"),
        }
    }
}

/// Returns the stencil tests of front and back faces.
fn faces(registers: &Registers<'_>) -> [StencilFace; 2] {
    let newest = registers.level() >= GfxLevel::Gfx12;
    let control = |name: &str| registers.field(r::DB_DEPTH_CONTROL, name);
    let op = |name: &str| StencilOp::new(registers.field(r::DB_STENCIL_CONTROL, name));
    let byte = |register, shift: u32| (registers.raw(register) >> shift) as u8;
    let values = |back: bool| {
        if newest {
            let shift = if back { 8 } else { 0 };
            [r::DB_STENCIL_REF, r::DB_STENCIL_READ_MASK, r::DB_STENCIL_WRITE_MASK, r::DB_STENCIL_OPVAL]
                .map(|register| byte(register, shift))
        } else {
            let register = if back { r::DB_STENCILREFMASK_BF } else { r::DB_STENCILREFMASK };
            [0, 8, 16, 24].map(|shift| byte(register, shift))
        }
    };
    let face = |back: bool, [compare, fail, depth_fail, pass]: [&str; 4]| {
        let [reference, mask, write_mask, operand] = values(back);
        StencilFace {
            compare: Compare::new(control(compare)),
            fail: op(fail),
            depth_fail: op(depth_fail),
            pass: op(pass),
            reference,
            mask,
            write_mask,
            operand,
        }
    };
    let front = face(false, ["stencilfunc", "stencilfail", "stencilzfail", "stencilzpass"]);
    if control("backface_enable") == 0 {
        return [front, front];
    }
    [front, face(true, ["stencilfunc_bf", "stencilfail_bf", "stencilzfail_bf", "stencilzpass_bf"])]
}
