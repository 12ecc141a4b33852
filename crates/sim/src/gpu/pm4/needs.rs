//! The registers on which draws and dispatches depend. Each job sets them, for they keep what another process has left on the ring.

use amdgpu_hw::GfxLevel::{self, Gfx6, Gfx7, Gfx10, Gfx10_3, Gfx11, Gfx11_5, Gfx12};
use amdgpu_packets::{
    layout::Reader,
    pm4::Register,
    registers::{self as r, Register as NamedRegister},
};

use crate::gpu::{Engine, Work, step::Step};

/// A register, and the first and the last generation on which it is needed.
type Needed = (NamedRegister, GfxLevel, GfxLevel);

/// The registers of all dispatches.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_cmdbuf.c`, `ac_init_compute_preamble_state`; `src/amd/vulkan/radv_cmd_buffer.c`,
/// `radv_emit_compute_shader`.
const DISPATCH: &[Needed] = &[
    (r::COMPUTE_PGM_LO, Gfx6, Gfx12),
    (r::COMPUTE_PGM_HI, Gfx6, Gfx12),
    (r::COMPUTE_PGM_RSRC1, Gfx6, Gfx12),
    (r::COMPUTE_PGM_RSRC2, Gfx6, Gfx12),
    (r::COMPUTE_PGM_RSRC3, Gfx10, Gfx12),
    (r::COMPUTE_RESOURCE_LIMITS, Gfx6, Gfx12),
    (r::COMPUTE_NUM_THREAD_X, Gfx6, Gfx12),
    (r::COMPUTE_NUM_THREAD_Y, Gfx6, Gfx12),
    (r::COMPUTE_NUM_THREAD_Z, Gfx6, Gfx12),
    (r::COMPUTE_STATIC_THREAD_MGMT_SE0, Gfx6, Gfx12),
    (r::COMPUTE_STATIC_THREAD_MGMT_SE1, Gfx6, Gfx12),
    (r::COMPUTE_STATIC_THREAD_MGMT_SE2, Gfx7, Gfx12),
    (r::COMPUTE_STATIC_THREAD_MGMT_SE3, Gfx7, Gfx12),
    (r::COMPUTE_STATIC_THREAD_MGMT_SE4, Gfx11, Gfx12),
    (r::COMPUTE_STATIC_THREAD_MGMT_SE5, Gfx11, Gfx12),
    (r::COMPUTE_STATIC_THREAD_MGMT_SE6, Gfx11, Gfx12),
    (r::COMPUTE_STATIC_THREAD_MGMT_SE7, Gfx11, Gfx12),
    (r::COMPUTE_STATIC_THREAD_MGMT_SE8, Gfx12, Gfx12),
    (r::COMPUTE_USER_ACCUM_0, Gfx10, Gfx12),
    (r::COMPUTE_USER_ACCUM_1, Gfx10, Gfx12),
    (r::COMPUTE_USER_ACCUM_2, Gfx10, Gfx12),
    (r::COMPUTE_USER_ACCUM_3, Gfx10, Gfx12),
    (r::COMPUTE_DISPATCH_TUNNEL, Gfx10, Gfx12),
    (r::COMPUTE_DISPATCH_INTERLEAVE, Gfx11, Gfx12),
];

/// The first work-group, unless the packet says that it is 0.
const START: &[Needed] =
    &[(r::COMPUTE_START_X, Gfx6, Gfx12), (r::COMPUTE_START_Y, Gfx6, Gfx12), (r::COMPUTE_START_Z, Gfx6, Gfx12)];

/// The scratch memory of shaders that use it.
const SCRATCH: &[Needed] = &[
    (r::COMPUTE_TMPRING_SIZE, Gfx6, Gfx12),
    (r::COMPUTE_DISPATCH_SCRATCH_BASE_LO, Gfx11, Gfx12),
    (r::COMPUTE_DISPATCH_SCRATCH_BASE_HI, Gfx11, Gfx12),
];

/// The registers of all draws.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_cmdbuf.c`, `ac_init_graphics_preamble_state`, and `radv_emit_graphics_pipeline` and its
/// callers. CLEAR_STATE sets those of a context.
const DRAW: &[Needed] = &[
    (r::SPI_SHADER_PGM_LO_PS, Gfx6, Gfx12),
    (r::SPI_SHADER_PGM_HI_PS, Gfx6, Gfx12),
    (r::SPI_SHADER_PGM_RSRC1_PS, Gfx6, Gfx12),
    (r::SPI_SHADER_PGM_RSRC2_PS, Gfx6, Gfx12),
    (r::SPI_SHADER_PGM_RSRC3_PS, Gfx7, Gfx11_5),
    (r::VGT_PRIMITIVE_TYPE, Gfx6, Gfx12),
    (r::VGT_SHADER_STAGES_EN, Gfx6, Gfx12),
    (r::SPI_PS_INPUT_ENA, Gfx6, Gfx12),
    (r::SPI_PS_INPUT_ADDR, Gfx6, Gfx12),
    (r::SPI_SHADER_COL_FORMAT, Gfx6, Gfx12),
    (r::SPI_SHADER_Z_FORMAT, Gfx6, Gfx12),
    (r::SPI_SHADER_POS_FORMAT, Gfx6, Gfx12),
    (r::CB_TARGET_MASK, Gfx6, Gfx12),
    (r::CB_SHADER_MASK, Gfx6, Gfx12),
    (r::DB_SHADER_CONTROL, Gfx6, Gfx12),
    (r::DB_DEPTH_CONTROL, Gfx6, Gfx12),
    (r::DB_RENDER_CONTROL, Gfx6, Gfx12),
    (r::PA_CL_CLIP_CNTL, Gfx6, Gfx12),
    (r::PA_CL_VTE_CNTL, Gfx6, Gfx12),
    (r::PA_CL_VS_OUT_CNTL, Gfx6, Gfx12),
    (r::PA_SU_SC_MODE_CNTL, Gfx6, Gfx12),
    (r::PA_SC_MODE_CNTL_0, Gfx6, Gfx12),
    (r::PA_SC_MODE_CNTL_1, Gfx6, Gfx12),
    (r::PA_SC_AA_CONFIG, Gfx6, Gfx12),
];

/// The registers of a vertex shader without other stages before it: on its own, and as a primitive shader.
const VERTEX: &[Needed] = &[
    (r::SPI_SHADER_PGM_LO_VS, Gfx6, Gfx10_3),
    (r::SPI_SHADER_PGM_HI_VS, Gfx6, Gfx10_3),
    (r::SPI_SHADER_PGM_RSRC1_VS, Gfx6, Gfx10_3),
    (r::SPI_SHADER_PGM_RSRC2_VS, Gfx6, Gfx10_3),
];
const PRIMITIVE: &[Needed] = &[
    (r::SPI_SHADER_PGM_LO_ES, Gfx10, Gfx12),
    (r::SPI_SHADER_PGM_HI_ES, Gfx10, Gfx12),
    (r::SPI_SHADER_PGM_RSRC1_GS, Gfx10, Gfx12),
    (r::SPI_SHADER_PGM_RSRC2_GS, Gfx10, Gfx12),
];

impl Engine {
    /// Returns the names of registers on which work depends and that the job has not set.
    ///
    /// The registers of a shader's arguments are not among them: shaders have arguments that they do not read. The interpreter tells of
    /// those that a shader reads.
    pub(super) fn unset(&self, work: &Work, step: &Step<'_, '_>) -> Vec<&'static str> {
        let Reader::Ring(target) = step.reader else { return Vec::new() };
        let lists: [&[Needed]; 3] = match work {
            Work::Dispatch(grid) => {
                const FORCE_START_AT_000: u32 = 1 << 2;
                const SCRATCH_EN: u32 = 1;
                let has_start = grid.initiator & FORCE_START_AT_000 == 0;
                let has_scratch = self.value(r::COMPUTE_PGM_RSRC2, target.level) & SCRATCH_EN != 0;
                [DISPATCH, if has_start { START } else { &[] }, if has_scratch { SCRATCH } else { &[] }]
            }
            Work::Draw(_) => [DRAW, self.front_end(target.level), &[]],
            Work::Mesh(_) => [&[], &[], &[]],
        };
        let needed = lists.into_iter().flatten().filter(|(_, first, last)| (first..=last).contains(&&target.level));
        let is_unset = |register: &NamedRegister| {
            let place = register.offset(target.level).and_then(Register::at_byte);
            place.is_some_and(|place| !self.state.registers.is_set(place))
        };
        needed
            .map(|(register, ..)| register)
            .filter(|register| is_unset(register))
            .map(|register| register.name())
            .collect()
    }

    /// Returns the registers of the vertex shader of a draw; none for a draw with other stages.
    fn front_end(&self, level: GfxLevel) -> &'static [Needed] {
        const HULL: u32 = 0b111;
        const GEOMETRY: u32 = 0b11_1000;
        const PRIMITIVES: u32 = 1 << 13;
        let stages = self.value(r::VGT_SHADER_STAGES_EN, level);
        let is_primitive = level >= Gfx10 && stages & PRIMITIVES != 0 || level >= Gfx11;
        match stages {
            _ if stages & HULL != 0 => &[],
            _ if is_primitive => PRIMITIVE,
            _ if stages & GEOMETRY != 0 => &[],
            _ => VERTEX,
        }
    }

    fn value(&self, register: NamedRegister, level: GfxLevel) -> u32 {
        let place = register.offset(level).and_then(Register::at_byte);
        place.map_or(0, |place| self.state.register(place))
    }
}
