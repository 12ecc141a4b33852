//! Register values of plain graphics pipelines: a vertex shader with one parameter, a pixel shader that writes one colour.
//!
//! All registers that decide what is drawn are written, because on a graphics ring they have the values that another process left
//! there. Registers that only tune the hardware, and those that describe the chip, keep theirs.
//!
//! Source: Mesa 25.0.7 `src/amd/vulkan/radv_cmd_buffer.c`, `radv_queue.c` (`radv_emit_graphics`), `radv_shader.c` and
//! `src/amd/common/ac_preamble.c`.

mod fixed;
mod geometry;
mod sheet;
mod stages;

use amdgpu_hw::{GfxLevel, GpuVa};

use crate::error::DescriptorError;
use crate::target::RegisterWrite;
use sheet::Sheet;

/// The primitives that vertices make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// A triangle for each three vertices.
    Triangles,
    /// A rectangle for each three corners, along the axes of the screen. It is neither clipped nor culled.
    Rectangles,
}

/// A program of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage<'p> {
    /// The address of the program: a multiple of 256.
    pub code: GpuVa,
    /// The number of vector registers of the program.
    pub vectors: u32,
    /// The number of scalar registers of the program, without VCC and those behind it.
    pub scalars: u32,
    /// The values of the user data registers: at most 16, which all generations have.
    pub user: &'p [u32],
}

/// The memory in which geometry is kept on GFX11 and later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeometryRings {
    /// The address of the attribute rings: a multiple of 64 KiB.
    pub attributes: GpuVa,
    /// The size of the attribute ring of a shader engine in bytes: a multiple of 64 KiB.
    pub attributes_per_engine: u64,
    /// The address of the position rings (GFX12): a multiple of 64 KiB.
    pub positions: GpuVa,
    /// The size of a position ring in bytes (GFX12): a multiple of 32.
    pub positions_per_engine: u64,
    /// The address of the primitive rings (GFX12): a multiple of 64 KiB.
    pub primitives: GpuVa,
    /// The size of a primitive ring in bytes (GFX12): a multiple of 32.
    pub primitives_per_engine: u64,
}

/// A plain graphics pipeline: no blending, no culling, one sample, one colour target.
///
/// Up to GFX9 the vertex shader is in the hardware's VS stage. From GFX10 on it is in the GS stage, with waves of 64 lanes, one wave
/// a group, and gets primitives that are ready to be exported (NGG pass-through). It exports a position and one parameter of four
/// components. The pixel shader gets barycentric coordinates of pixel centres with perspective, and exports four 32-bit
/// components to target 0.
///
/// ```
/// use amdgpu_descriptors::pipeline::{Pipeline, Primitive, Stage};
/// use amdgpu_hw::{GfxLevel, GpuVa};
///
/// let stage = Stage { code: GpuVa::new(0x10_0000)?, vectors: 16, scalars: 16, user: &[] };
/// let pipeline =
///     Pipeline { primitive: Primitive::Triangles, size: [64, 64], vertex: stage, pixel: stage, tests_depth: false, rings: None };
/// let mut names = Vec::new();
/// pipeline.writes(GfxLevel::Gfx9, &mut |write| names.push(write.register.name()))?;
/// assert!(names.contains(&"SPI_SHADER_PGM_LO_VS") && !names.contains(&"SPI_SHADER_PGM_LO_ES"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline<'p> {
    /// The primitives.
    pub primitive: Primitive,
    /// The width and height of the viewport and the scissor in pixels: 1 to 16383. Both start at the corner of the target.
    pub size: [u32; 2],
    /// The vertex shader.
    pub vertex: Stage<'p>,
    /// The pixel shader.
    pub pixel: Stage<'p>,
    /// `true` to draw and to store depths that are less than the stored ones. Without it the depth target is unbound.
    pub tests_depth: bool,
    /// The memory for geometry, which GFX11 and later need.
    pub rings: Option<GeometryRings>,
}

impl Pipeline<'_> {
    /// Hands out the register writes of the pipeline, without those of targets.
    ///
    /// # Errors
    ///
    /// [`DescriptorError::Register`] if a number does not fit into its field.
    pub fn writes(&self, level: GfxLevel, out: &mut dyn FnMut(RegisterWrite)) -> Result<(), DescriptorError> {
        let mut sheet = Sheet::new(level, out);
        self.stages(&mut sheet)?;
        self.geometry(&mut sheet)?;
        self.raster(&mut sheet)?;
        self.pixels(&mut sheet)
    }
}

/// Returns `true` if vertex shaders are in the GS stage.
pub(super) fn is_merged(level: GfxLevel) -> bool {
    level >= GfxLevel::Gfx10
}
