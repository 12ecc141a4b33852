//! The stages of a draw and their programs.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::{Register, constants as r};

use crate::Registers;

/// The stages before the rasterizer: VGT_SHADER_STAGES_EN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrontEnd {
    /// A vertex shader in the hardware's VS stage, which exports positions and parameters.
    Legacy,
    /// A vertex shader in the GS stage, which also exports primitives (NGG).
    Ngg {
        /// `true` if the first VGPR holds a primitive that is ready to be exported.
        is_passthrough: bool,
        /// `true` if the program does not request space for its exports.
        allocates_itself: bool,
    },
    /// A geometry shader, with or without NGG.
    GeometryShader,
    /// Hull and domain shaders, with or without a geometry shader.
    Tessellation,
    /// A mesh shader.
    Mesh,
}

impl FrontEnd {
    pub(super) fn new(registers: &Registers<'_>) -> Self {
        let level = registers.level();
        let field = |name| registers.field(r::VGT_SHADER_STAGES_EN, name);
        if field("hs_en") != 0 {
            return Self::Tessellation;
        }
        if field("gs_fast_launch") != 0 {
            return Self::Mesh;
        }
        if field("gs_en") != 0 {
            return Self::GeometryShader;
        }
        let no_message = field("primgen_passthru_no_msg") != 0;
        if level >= GfxLevel::Gfx12 {
            return Self::Ngg { is_passthrough: true, allocates_itself: no_message };
        }
        if level >= GfxLevel::Gfx11 || level >= GfxLevel::Gfx10 && field("primgen_en") != 0 {
            return Self::Ngg { is_passthrough: field("primgen_passthru_en") != 0, allocates_itself: no_message };
        }
        Self::Legacy
    }
}

/// A program and the registers with which its waves start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The address with 48 bits; 0 for none.
    pub address: u64,
    /// The values of RSRC1 and RSRC2.
    pub resources: [u32; 2],
    /// The number of lanes of a wave: 32 or 64.
    pub lanes: u32,
    /// The values of the user data registers that waves get.
    pub user_data: Vec<u32>,
    /// The byte offset of the first of these registers.
    pub user_data_offset: u32,
    /// The scalar register of a wave that gets the first of these values.
    pub first_user_data: u32,
    /// The values of the two scalar registers before the user data of merged stages; zeroes for other stages.
    pub first_scalars: [u32; 2],
    /// `true` if waves use scratch memory.
    pub has_scratch: bool,
    /// `true` if the third scalar word of pixel shaders of GFX10.3 and later tells provoking vertices.
    pub loads_provoking_vertex: bool,
    /// `true` if the program's rounding of conversions to 16 bits saturates.
    pub saturates16: bool,
    /// The LDS size of a work-group in bytes.
    pub lds_bytes: u32,
}

/// The registers of a stage.
struct Names {
    low: Register,
    high: Register,
    resources: [Register; 2],
    user_data: Register,
}

impl Program {
    pub(super) fn vertex(registers: &Registers<'_>, front_end: FrontEnd) -> Self {
        let level = registers.level();
        if front_end == FrontEnd::Legacy {
            let names = Names {
                low: r::SPI_SHADER_PGM_LO_VS,
                high: r::SPI_SHADER_PGM_HI_VS,
                resources: [r::SPI_SHADER_PGM_RSRC1_VS, r::SPI_SHADER_PGM_RSRC2_VS],
                user_data: r::SPI_SHADER_USER_DATA_VS_0,
            };
            let is_short = level >= GfxLevel::Gfx10 && registers.is_set(r::VGT_SHADER_STAGES_EN, "vs_w32_en");
            return Self::new(registers, &names, is_short);
        }
        let names = Names {
            low: r::SPI_SHADER_PGM_LO_ES,
            high: r::SPI_SHADER_PGM_HI_ES,
            resources: [r::SPI_SHADER_PGM_RSRC1_GS, r::SPI_SHADER_PGM_RSRC2_GS],
            user_data: r::SPI_SHADER_USER_DATA_GS_0,
        };
        let is_short = level >= GfxLevel::Gfx10 && registers.is_set(r::VGT_SHADER_STAGES_EN, "gs_w32_en");
        let first = if level >= GfxLevel::Gfx11 {
            [r::SPI_SHADER_PGM_LO_GS, r::SPI_SHADER_PGM_HI_GS]
        } else {
            [r::SPI_SHADER_USER_DATA_ADDR_LO_GS, r::SPI_SHADER_USER_DATA_ADDR_HI_GS]
        };
        let lds_bytes = registers.field(r::SPI_SHADER_PGM_RSRC2_GS, "lds_size") * 512;
        let first_scalars = first.map(|register| registers.raw(register));
        Self { first_scalars, first_user_data: 8, lds_bytes, ..Self::new(registers, &names, is_short) }
    }

    pub(super) fn pixel(registers: &Registers<'_>) -> Self {
        let names = Names {
            low: r::SPI_SHADER_PGM_LO_PS,
            high: r::SPI_SHADER_PGM_HI_PS,
            resources: [r::SPI_SHADER_PGM_RSRC1_PS, r::SPI_SHADER_PGM_RSRC2_PS],
            user_data: r::SPI_SHADER_USER_DATA_PS_0,
        };
        let is_short = registers.is_set(r::SPI_PS_IN_CONTROL, "ps_w32_en");
        let loads_provoking_vertex = registers.is_set(r::SPI_SHADER_PGM_RSRC1_PS, "load_provoking_vtx");
        Self { loads_provoking_vertex, ..Self::new(registers, &names, is_short) }
    }

    fn new(registers: &Registers<'_>, names: &Names, is_short: bool) -> Self {
        let [low, high] = [names.low, names.high].map(|register| u64::from(registers.raw(register)));
        let resources = names.resources.map(|register| registers.raw(register));
        let [first, second] = names.resources;
        let count = registers.field(second, "user_sgpr") | registers.field(second, "user_sgpr_msb") << 5;
        let most = if registers.level() >= GfxLevel::Gfx9 { 32 } else { 16 };
        Self {
            address: (high & 0xff) << 40 | low << 8,
            resources,
            lanes: if is_short { 32 } else { 64 },
            user_data: (0..count.min(most)).map(|index| registers.at(names.user_data, 4 * index)).collect(),
            user_data_offset: names.user_data.offset(registers.level()).unwrap_or_default(),
            first_user_data: 0,
            first_scalars: [0; 2],
            has_scratch: registers.is_set(second, "scratch_en"),
            loads_provoking_vertex: false,
            saturates16: registers.is_set(first, "fp16_ovfl"),
            lds_bytes: 0,
        }
    }
}
