//! Vertex outputs, clipping, viewports, culling and scissors.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::{Register, constants as r};

use super::FrontEnd;
use crate::Registers;

/// The exports of the vertex program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VertexOutputs {
    /// The number of position exports: the position, and vectors with sizes, layers and distances.
    pub positions: u32,
    /// The number of parameters of a vertex.
    pub parameters: u32,
    /// The number of parameters of a primitive.
    pub primitive_parameters: u32,
    /// `true` if the second position export has point size, layer and viewport.
    pub has_misc: bool,
    /// `true` if it has a layer.
    pub has_layer: bool,
    /// `true` if it has a viewport.
    pub has_viewport: bool,
    /// `true` if it has a point size.
    pub has_point_size: bool,
    /// `true` for each of the two vectors of four distances that is exported.
    pub has_distances: [bool; 2],
    /// The distances that clip: a bit each.
    pub clips: u32,
    /// The distances that cull: a bit each.
    pub culls: u32,
}

impl VertexOutputs {
    pub(super) fn new(registers: &Registers<'_>) -> Self {
        let level = registers.level();
        let control = |name| registers.is_set(r::PA_CL_VS_OUT_CNTL, name);
        let config = if level >= GfxLevel::Gfx12 { r::SPI_SHADER_GS_OUT_CONFIG_PS } else { r::SPI_VS_OUT_CONFIG };
        let exports_none = registers.is_set(config, "no_pc_export");
        let formats = registers.raw(r::SPI_SHADER_POS_FORMAT);
        let raw = registers.raw(r::PA_CL_VS_OUT_CNTL);
        Self {
            positions: (0..5).filter(|index| formats >> (4 * index) & 15 != 0).count() as u32,
            parameters: if exports_none { 0 } else { registers.field(config, "vs_export_count") + 1 },
            primitive_parameters: registers.field(config, "prim_export_count"),
            has_misc: control("vs_out_misc_vec_ena"),
            has_layer: control("use_vtx_render_target_indx"),
            has_viewport: control("use_vtx_viewport_indx"),
            has_point_size: control("use_vtx_point_size"),
            has_distances: [control("vs_out_ccdist0_vec_ena"), control("vs_out_ccdist1_vec_ena")],
            clips: raw & 0xff,
            culls: raw >> 8 & 0xff,
        }
    }
}

/// A rectangle of pixels, whose end is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// The first column and row.
    pub first: [i32; 2],
    /// The column and row behind the last.
    pub end: [i32; 2],
}

impl Rectangle {
    /// Returns `true` if no pixel is inside.
    pub const fn is_empty(&self) -> bool {
        self.first[0] >= self.end[0] || self.first[1] >= self.end[1]
    }

    /// Returns the pixels that are in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            first: [0, 1].map(|axis| self.first[axis].max(other.first[axis])),
            end: [0, 1].map(|axis| self.end[axis].min(other.end[axis])),
        }
    }

    /// Returns `true` if a pixel is inside.
    pub const fn contains(&self, x: i32, y: i32) -> bool {
        x >= self.first[0] && x < self.end[0] && y >= self.first[1] && y < self.end[1]
    }
}

/// A viewport, with its scissor and its range of depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// The factors for x, y and z after the division.
    pub scale: [f32; 3],
    /// The offsets of x, y and z.
    pub offset: [f32; 3],
    /// The smallest and the largest depth.
    pub depth: [f32; 2],
    /// The pixels that may be drawn: all scissors together.
    pub scissor: Rectangle,
}

/// The clipping of primitives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// `true` if nothing is clipped.
    pub is_off: bool,
    /// `true` if z lies between 0 and w, rather than between -w and w.
    pub is_half_depth: bool,
    /// `true` if there is a near plane.
    pub near: bool,
    /// `true` if there is a far plane.
    pub far: bool,
    /// The guard band: multiples of w beyond which x and y are clipped.
    pub guard: [f32; 2],
    /// `true` if nothing is rasterized.
    pub discards_all: bool,
}

/// The part of a triangle that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolygonMode {
    /// Its corners.
    Points,
    /// Its edges.
    Lines,
    /// Its area.
    Fill,
}

/// The pattern of lines of which only some pixels are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineStipple {
    /// A bit for each of 16 parts of a line, the lowest first: those that are set are drawn.
    pub pattern: u16,
    /// The number of pixels of a part, from 1 to 256.
    pub repeat: u32,
}

impl LineStipple {
    fn new(registers: &Registers<'_>) -> Option<Self> {
        let field = |name| registers.field(r::PA_SC_LINE_STIPPLE, name);
        let pattern = field("line_pattern") as u16;
        registers.is_set(r::PA_SC_MODE_CNTL_0, "line_stipple_enable").then(|| Self {
            pattern: if field("pattern_bit_order") == 0 { pattern } else { pattern.reverse_bits() },
            repeat: field("repeat_count") + 1,
        })
    }

    /// Returns `true` if a pixel is drawn, by its number on the line.
    pub(crate) const fn draws(self, number: u32) -> bool {
        self.pattern >> (number / self.repeat % 16) & 1 != 0
    }
}

/// The bias of depth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthBias {
    /// Sixteen times the factor of the slope, and the number of units that are added, of faces that face the viewer.
    pub front: Option<[f32; 2]>,
    /// The same of other faces.
    pub back: Option<[f32; 2]>,
    /// The largest bias, or the smallest if it is negative; 0 for none.
    pub limit: f32,
    /// The unit as a power of two; of floats from the exponent of the depth on.
    pub bits: i32,
    /// `true` if depth is a float.
    pub is_float: bool,
}

impl DepthBias {
    fn new(registers: &Registers<'_>) -> Self {
        let format = |name| registers.field(r::PA_SU_POLY_OFFSET_DB_FMT_CNTL, name);
        let of = |enable: &str, scale, offset| {
            registers
                .is_set(r::PA_SU_SC_MODE_CNTL, enable)
                .then(|| [scale, offset].map(|register| registers.float(register, 0)))
        };
        Self {
            front: of("poly_offset_front_enable", r::PA_SU_POLY_OFFSET_FRONT_SCALE, r::PA_SU_POLY_OFFSET_FRONT_OFFSET),
            back: of("poly_offset_back_enable", r::PA_SU_POLY_OFFSET_BACK_SCALE, r::PA_SU_POLY_OFFSET_BACK_OFFSET),
            limit: registers.float(r::PA_SU_POLY_OFFSET_CLAMP, 0),
            bits: i32::from((format("poly_offset_neg_num_db_bits") as u8).cast_signed()),
            is_float: format("poly_offset_db_is_float_fmt") != 0,
        }
    }
}

/// Clipping, viewports, culling and scissors.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// The clipping.
    pub clip: Clip,
    /// The viewports: one, or 16 if the vertex program chooses.
    pub viewports: Vec<Viewport>,
    /// `true` if triangles that face the viewer are not drawn.
    pub culls_front: bool,
    /// `true` if triangles that face away are not drawn.
    pub culls_back: bool,
    /// `true` if triangles whose vertices go round clockwise, as seen, face the viewer.
    pub front_is_clockwise: bool,
    /// The parts that are drawn of triangles that face the viewer, and of others.
    pub polygon_modes: [PolygonMode; 2],
    /// The bias of depth.
    pub depth_bias: DepthBias,
    /// `true` if the last vertex of a primitive gives its flat attributes.
    pub provokes_last: bool,
    /// The rule of clip rectangles: a bit for each set of rectangles that contain a pixel.
    pub clip_rule: u32,
    /// The four clip rectangles.
    pub clip_rectangles: [Rectangle; 4],
    /// The value that ends strips; `None` if restart is off.
    pub restart: Option<u32>,
    /// `true` if all 32 bits of the value are compared, whatever the size of indices.
    pub restart_compares_all: bool,
    /// `true` if primitives that the vertex program exports are rectangles (NGG).
    pub exports_rectangles: bool,
    /// The number of fractional bits of screen coordinates.
    pub fraction_bits: u32,
    /// The rounding of screen coordinates: 0 truncates, 1 rounds up ties, 2 rounds ties to even.
    pub rounding: u32,
    /// `true` if the centre of a pixel is at a half.
    pub centre_is_half: bool,
    /// `true` if lines are rectangles, with ends at right angles, rather than pixels on end.
    pub lines_are_rectangles: bool,
    /// The width of lines in pixels.
    pub line_width: f32,
    /// The pattern of lines that are pixels on end, if they have one.
    pub line_stipple: Option<LineStipple>,
    /// The width and height of points that have no size of their own, in pixels.
    pub point_size: [f32; 2],
    /// The smallest and the largest size of points in pixels.
    pub point_range: [f32; 2],
    /// `true` if any touched pixel counts as covered.
    pub is_conservative: bool,
}

fn corner(value: u32, bits: u32) -> [i32; 2] {
    let mask = (1 << bits) - 1;
    [(value & mask) as i32, (value >> 16 & mask) as i32]
}

impl Geometry {
    pub(super) fn new(registers: &Registers<'_>, front_end: FrontEnd) -> Self {
        let level = registers.level();
        let mode = |name| registers.is_set(r::PA_SU_SC_MODE_CNTL, name);
        let clip = |name| registers.is_set(r::PA_CL_CLIP_CNTL, name);
        let restart_at = [r::GE_MULTI_PRIM_IB_RESET_EN, r::VGT_MULTI_PRIM_IB_RESET_EN];
        let restarts = |name| restart_at.iter().any(|register| registers.is_set(*register, name));
        let has_viewports = registers.is_set(r::PA_CL_VS_OUT_CNTL, "use_vtx_viewport_indx");
        let quantum = registers.field(r::PA_SU_VTX_CNTL, "quant_mode");
        let rectangles = [
            [r::PA_SC_CLIPRECT_0_TL, r::PA_SC_CLIPRECT_0_BR],
            [r::PA_SC_CLIPRECT_1_TL, r::PA_SC_CLIPRECT_1_BR],
            [r::PA_SC_CLIPRECT_2_TL, r::PA_SC_CLIPRECT_2_BR],
            [r::PA_SC_CLIPRECT_3_TL, r::PA_SC_CLIPRECT_3_BR],
        ];
        Self {
            clip: Clip {
                is_off: clip("clip_disable"),
                is_half_depth: clip("dx_clip_space_def"),
                near: !clip("zclip_near_disable"),
                far: !clip("zclip_far_disable"),
                guard: [r::PA_CL_GB_HORZ_CLIP_ADJ, r::PA_CL_GB_VERT_CLIP_ADJ].map(|at| registers.float(at, 0)),
                discards_all: clip("dx_rasterization_kill"),
            },
            viewports: (0..if has_viewports { 16 } else { 1 }).map(|index| viewport(registers, index)).collect(),
            culls_front: mode("cull_front"),
            culls_back: mode("cull_back"),
            front_is_clockwise: mode("face"),
            polygon_modes: ["polymode_front_ptype", "polymode_back_ptype"].map(|name| {
                let is_on = registers.field(r::PA_SU_SC_MODE_CNTL, "poly_mode") == 1;
                match registers.field(r::PA_SU_SC_MODE_CNTL, name) {
                    0 if is_on => PolygonMode::Points,
                    1 if is_on => PolygonMode::Lines,
                    _ => PolygonMode::Fill,
                }
            }),
            depth_bias: DepthBias::new(registers),
            provokes_last: mode("provoking_vtx_last"),
            clip_rule: registers.raw(r::PA_SC_CLIPRECT_RULE) & 0xffff,
            clip_rectangles: rectangles.map(|[first, end]| Rectangle {
                first: corner(registers.raw(first), 15),
                end: corner(registers.raw(end), 15),
            }),
            restart: restarts("reset_en").then(|| registers.raw(r::VGT_MULTI_PRIM_IB_RESET_INDX)),
            restart_compares_all: level <= GfxLevel::Gfx7 || restarts("match_all_bits"),
            exports_rectangles: front_end != FrontEnd::Legacy
                && matches!(registers.field(r::VGT_GS_OUT_PRIM_TYPE, "outprim_type"), 3 | 4),
            fraction_bits: match quantum {
                0 => 4,
                mode @ 1..=4 => 4 - mode,
                6 => 10,
                7 => 12,
                _ => 8,
            },
            rounding: registers.field(r::PA_SU_VTX_CNTL, "round_mode"),
            centre_is_half: registers.is_set(r::PA_SU_VTX_CNTL, "pix_center"),
            lines_are_rectangles: registers.is_set(r::PA_SC_LINE_CNTL, "perpendicular_endcap_ena"),
            line_stipple: LineStipple::new(registers),
            line_width: registers.field(r::PA_SU_LINE_CNTL, "width") as f32 / 8.0,
            // Registers have halves of sizes in sixteenths of a pixel.
            point_size: [16, 0].map(|shift: u32| (registers.raw(r::PA_SU_POINT_SIZE) >> shift & 0xffff) as f32 / 8.0),
            point_range: [0, 16]
                .map(|shift: u32| (registers.raw(r::PA_SU_POINT_MINMAX) >> shift & 0xffff) as f32 / 8.0),
            is_conservative: registers.is_set(r::PA_SC_CONSERVATIVE_RASTERIZATION_CNTL, "over_rast_enable"),
        }
    }
}

/// Returns a viewport with all scissors.
fn viewport(registers: &Registers<'_>, index: u32) -> Viewport {
    let level = registers.level();
    let newest = level >= GfxLevel::Gfx12;
    let pair = |first: Register, second: Register| [first, second];
    let transform = pair(r::PA_CL_VPORT_XSCALE, r::PA_CL_VPORT_XSCALE_1);
    let depths = pair(r::PA_SC_VPORT_ZMIN_0, r::PA_SC_VPORT_ZMIN_1);
    let distance = |[first, second]: [Register; 2]| {
        second.offset(level).zip(first.offset(level)).map_or(0, |(second, first)| second - first) * index
    };
    let at = distance(transform);
    let enables = registers.raw(r::PA_CL_VTE_CNTL);
    let read = |number: u32, neutral: f32| {
        if enables >> number & 1 == 0 { neutral } else { registers.float(r::PA_CL_VPORT_XSCALE, at + 4 * number) }
    };
    let bits = if newest { 16 } else { 15 };
    // The newest generation has the last pixel inside, the others the first one outside.
    let past = i32::from(newest);
    let rectangle = |first: u32, end: u32| {
        let [x, y] = corner(end, bits);
        Rectangle { first: corner(first, bits), end: [x + past, y + past] }
    };
    let window = registers.raw(r::PA_SC_WINDOW_OFFSET);
    let offset = [window & 0xffff, window >> 16].map(|half| i32::from((half as u16).cast_signed()));
    let moved = |first: u32, end: u32| {
        let found = rectangle(first, end);
        if newest || first >> 31 != 0 {
            return found;
        }
        Rectangle {
            first: [0, 1].map(|axis| found.first[axis] + offset[axis]),
            end: [0, 1].map(|axis| found.end[axis] + offset[axis]),
        }
    };
    let raw = |register| registers.raw(register);
    let screen = (raw(r::PA_SC_SCREEN_SCISSOR_TL), raw(r::PA_SC_SCREEN_SCISSOR_BR));
    let mut scissor = Rectangle { first: corner(screen.0, 16), end: corner(screen.1, 16) };
    scissor = scissor.and(&moved(raw(r::PA_SC_WINDOW_SCISSOR_TL), raw(r::PA_SC_WINDOW_SCISSOR_BR)));
    scissor = scissor.and(&moved(raw(r::PA_SC_GENERIC_SCISSOR_TL), raw(r::PA_SC_GENERIC_SCISSOR_BR)));
    if registers.is_set(r::PA_SC_MODE_CNTL_0, "vport_scissor_enable") {
        let (first, end) = (
            registers.at(r::PA_SC_VPORT_SCISSOR_0_TL, 8 * index),
            registers.at(r::PA_SC_VPORT_SCISSOR_0_BR, 8 * index),
        );
        scissor = scissor.and(&moved(first, end));
    }
    Viewport {
        scale: [read(0, 1.0), read(2, 1.0), read(4, 1.0)],
        offset: [read(1, 0.0), read(3, 0.0), read(5, 0.0)],
        depth: [r::PA_SC_VPORT_ZMIN_0, r::PA_SC_VPORT_ZMAX_0]
            .map(|register| registers.float(register, distance(depths))),
        scissor,
    }
}
