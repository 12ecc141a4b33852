//! The state of a draw, from registers.

mod call;
mod colour;
mod depth;
mod geometry;
mod pixel;
mod program;
mod samples;

pub use call::{Call, Indices, Topology};
pub use colour::{Blend, BlendEquation, Colour, ColourOperation, Metadata};
pub use depth::{AlphaToMask, Compare, Depth, DepthCopy, DepthPlane, Htile, Order, StencilFace, StencilOp};
pub use geometry::{Clip, DepthBias, Geometry, LineStipple, PolygonMode, Rectangle, VertexOutputs, Viewport};
pub use pixel::{Attribute, PixelInputs, PointValue, PointValues};
pub use program::{FrontEnd, Program};
pub use samples::Samples;

use amdgpu_hw::GfxLevel;
use amdgpu_registers::constants as r;

use crate::{DrawMutation, Registers};

/// The state of a draw: its packet and all registers that apply to it. It is a value without any reference to its engine.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawState {
    /// The generation.
    pub level: GfxLevel,
    /// The parameters of the packet.
    pub call: Call,
    /// The primitives that vertices make.
    pub topology: Topology,
    /// The stages before the rasterizer.
    pub front_end: FrontEnd,
    /// The program that computes positions.
    pub vertex: Program,
    /// The pixel shader.
    pub pixel: Program,
    /// The exports of the vertex program.
    pub outputs: VertexOutputs,
    /// Clipping, viewports, culling and scissors.
    pub geometry: Geometry,
    /// The inputs of the pixel shader.
    pub inputs: PixelInputs,
    /// Depth and stencil: target and tests.
    pub depth: Depth,
    /// The colour targets that are bound, in ascending order of their numbers.
    pub colours: Vec<Colour>,
    /// The operation of the colour block.
    pub operation: ColourOperation,
    /// The number of samples.
    pub samples: u32,
    /// The places of samples, and how often the pixel shader runs.
    pub sampling: Samples,
    /// The samples of the four pixels of a quad that may be covered: 16 bits each.
    pub sample_mask: [u32; 2],
    /// The components that the pixel shader exports, four bits for each target: CB_SHADER_MASK.
    pub shader_mask: u32,
    /// The formats of the pixel shader's colour exports, four bits each: SPI_SHADER_COL_FORMAT.
    pub colour_formats: u32,
    /// The format of the export of depth, stencil and mask: SPI_SHADER_Z_FORMAT.
    pub depth_format: u32,
    /// The constants of blending: red, green, blue and alpha.
    pub blend_constants: [f32; 4],
    /// `true` if samples that pass are counted.
    pub counts_samples: bool,
    /// The buffers that vertices are streamed out to, a bit for each.
    pub stream_out: u32,
    /// The address of the attribute ring (GFX11 and later).
    pub attribute_ring: u64,
    /// The size of the attribute ring of a shader engine in bytes (GFX11 and later).
    pub attribute_ring_bytes: u64,
    /// The value of SPI_TMPRING_SIZE.
    pub scratch_ring: u32,
    /// The address of scratch memory that the hardware adds (GFX11 and later).
    pub scratch_base: u64,
    /// VGT_DMA and GE values that are added to each index.
    pub index_offset: u32,
    /// `true` if a vertex that several primitives have may be computed once: not if the program gets the number of its primitive.
    pub reuses_vertices: bool,
    /// Values of GE_USER_VGPR_EN, with which the geometry engine loads values of its own.
    pub user_vgprs: u32,
    /// The deliberate mistake with which the draw is executed; `None` as a rule.
    pub mutation: Option<DrawMutation>,
}

impl DrawState {
    /// Creates the state of a draw from its packet and the registers.
    pub fn new(call: Call, registers: &Registers<'_>) -> Self {
        let level = registers.level();
        let field = |register, name| registers.field(register, name);
        let front_end = FrontEnd::new(registers);
        let legacy = level < GfxLevel::Gfx11;
        let samples = if registers.is_set(r::PA_SC_MODE_CNTL_0, "msaa_enable") {
            1 << field(r::PA_SC_AA_CONFIG, "msaa_num_samples")
        } else {
            1
        };
        Self {
            level,
            call,
            topology: Topology::new(field(r::VGT_PRIMITIVE_TYPE, "prim_type")),
            front_end,
            vertex: Program::vertex(registers, front_end),
            pixel: Program::pixel(registers),
            outputs: VertexOutputs::new(registers),
            geometry: Geometry::new(registers, front_end),
            inputs: PixelInputs::new(registers),
            depth: Depth::new(registers),
            colours: (0..8).filter_map(|index| Colour::new(registers, index)).collect(),
            operation: ColourOperation::new(registers),
            samples,
            sampling: Samples::new(registers, samples),
            sample_mask: [registers.raw(r::PA_SC_AA_MASK_X0Y0_X1Y0), registers.raw(r::PA_SC_AA_MASK_X0Y1_X1Y1)],
            shader_mask: registers.raw(r::CB_SHADER_MASK),
            colour_formats: registers.raw(r::SPI_SHADER_COL_FORMAT),
            depth_format: field(r::SPI_SHADER_Z_FORMAT, "z_export_format"),
            blend_constants: [r::CB_BLEND_RED, r::CB_BLEND_GREEN, r::CB_BLEND_BLUE, r::CB_BLEND_ALPHA]
                .map(|register| registers.float(register, 0)),
            counts_samples: field(r::DB_COUNT_CONTROL, "zpass_increment_disable") == 0
                && (level == GfxLevel::Gfx6 || field(r::DB_COUNT_CONTROL, "zpass_enable") != 0),
            stream_out: if legacy { registers.raw(r::VGT_STRMOUT_CONFIG) & 15 } else { 0 },
            attribute_ring: (i64::from(registers.raw(r::SPI_ATTRIBUTE_RING_BASE)) << 16).cast_unsigned()
                & 0xffff_ffff_ffff,
            attribute_ring_bytes: (u64::from(registers.raw(r::SPI_ATTRIBUTE_RING_SIZE) & 0xff) + 1) << 16,
            scratch_ring: registers.raw(r::SPI_TMPRING_SIZE),
            scratch_base: (u64::from(registers.raw(r::SPI_GFX_SCRATCH_BASE_HI) & 0xff) << 32
                | u64::from(registers.raw(r::SPI_GFX_SCRATCH_BASE_LO)))
                << 8,
            index_offset: registers.raw(if level >= GfxLevel::Gfx10 { r::GE_INDX_OFFSET } else { r::VGT_INDX_OFFSET }),
            reuses_vertices: !(registers.is_set(r::VGT_PRIMITIVEID_EN, "primitiveid_en")
                || registers.is_set(r::VGT_PRIMITIVEID_EN, "ngg_disable_provok_reuse")
                || registers.raw(r::VGT_REUSE_OFF) & 1 != 0),
            user_vgprs: registers.raw(r::GE_USER_VGPR_EN) & 7,
            mutation: None,
        }
    }

    /// Returns `true` if the pixel shader may be left out because it has no effect: it is not there, or the draw's operation replaces
    /// it.
    pub(crate) fn has_pixel_shader(&self) -> bool {
        self.pixel.address != 0 && !self.depth.without_pixel_shader
    }

    /// Returns `true` if all tests of depth and stencil come before the pixel shader, which cannot change their result.
    pub(crate) fn tests_early(&self) -> bool {
        let depth = &self.depth;
        depth.is_forced_early
            || !(depth.exports_depth
                || depth.exports_stencil
                || depth.exports_mask
                || depth.alpha_to_mask.is_some()
                || depth.kills
                || depth.order == Order::Late)
    }
}
