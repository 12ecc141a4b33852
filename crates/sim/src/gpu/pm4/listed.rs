//! What each packet of the layout tables does: one table from names to deeds.

use amdgpu_hw::GfxLevel;

use crate::gpu::step::Step;
use crate::gpu::{Engine, Stop};

use super::{Flow, flow};

/// Packets that only the kernel puts into its rings, and what it says about one in a user's IB.
const KERNEL: &str = "belongs to the kernel and has no place in a user's IB";
/// Packets of queues that user space drives itself.
const USER_QUEUE: &str = "belongs to user queues, which this kernel does not have";
/// Packets whose effect nobody describes.
const UNDESCRIBED: &str = "what it does is not described anywhere, so it is not simulated";

impl Engine {
    /// Executes a packet; `rest` are the dwords of the IB behind it.
    pub(super) fn execute_listed(&mut self, step: &Step<'_, '_>, level: GfxLevel, rest: &[u32]) -> Result<Flow, Stop> {
        match step.fields.name() {
            "COND_EXEC" => return flow::cond_exec(step, rest),
            "PRED_EXEC" => return flow::pred_exec(step, rest),
            "COND_INDIRECT_BUFFER" => return flow::cond_indirect_buffer(step),
            "INDIRECT_BUFFER_CONST" => return flow::indirect_buffer_const(step),
            "REWIND" => flow::rewind(step)?,
            "SET_PREDICATION" => self.set_predication(step)?,

            "SET_CONFIG_REG"
            | "SET_CONTEXT_REG"
            | "SET_CONTEXT_REG_INDEX"
            | "SET_SH_REG"
            | "SET_SH_REG_INDEX"
            | "SET_UCONFIG_REG"
            | "SET_UCONFIG_REG_INDEX" => self.set_registers(step, level)?,
            "SET_CONTEXT_REG_PAIRS" | "SET_SH_REG_PAIRS" | "SET_UCONFIG_REG_PAIRS" => self.set_pairs(step, level)?,
            "SET_CONTEXT_REG_PAIRS_PACKED"
            | "SET_SH_REG_PAIRS_PACKED"
            | "SET_SH_REG_PAIRS_PACKED_GFX12"
            | "SET_SH_REG_PAIRS_PACKED_N" => {
                self.set_packed_pairs(step, level)?;
            }
            "LOAD_CONFIG_REG" | "LOAD_CONTEXT_REG" | "LOAD_SH_REG" | "LOAD_UCONFIG_REG" => {
                self.load_registers(step, level)?;
            }
            "LOAD_CONTEXT_REG_INDEX" | "LOAD_SH_REG_INDEX" | "LOAD_UCONFIG_REG_INDEX" => {
                self.load_registers_indexed(step, level)?;
            }
            "CONTEXT_REG_RMW" => self.context_reg_rmw(step, level)?,
            "REG_RMW" => self.reg_rmw(step, level)?,
            "SET_SH_REG_OFFSET" => self.set_sh_reg_offset(step, level)?,
            "SET_BASE" => self.set_base(step)?,
            "CLEAR_STATE" => self.clear_state(step)?,
            "CONTEXT_CONTROL" => context_control(step)?,
            "DRAW_PREAMBLE" => self.draw_preamble(step, level)?,

            "WRITE_DATA" => self.write_data_listed(step, level)?,
            "COPY_DATA" => self.copy_data_listed(step, level)?,
            "CP_DMA" | "DMA_DATA" => self.dma_listed(step, level)?,
            "COPY_DW" => self.copy_dw(step, level)?,
            "MEM_WRITE" => mem_write(step)?,
            "WRITE_GDS_RAM" => self.write_gds_ram(step),
            "ATOMIC_MEM" => self.atomic_mem(step)?,
            "MEM_SEMAPHORE" => mem_semaphore(step)?,
            "COND_WRITE" => self.cond_write(step, level)?,
            "STRMOUT_BUFFER_UPDATE" => self.strmout_buffer_update(step, level)?,

            "WAIT_REG_MEM" | "WAIT_REG_MEM64" => self.wait_listed(step, level)?,
            "EVENT_WRITE" | "EVENT_WRITE_ZPASS" => self.event_listed(step)?,
            "EVENT_WRITE_EOP" | "EVENT_WRITE_EOS" | "RELEASE_MEM" => self.end_of_pipe_listed(step)?,
            "OCCLUSION_QUERY" => self.occlusion_query(step)?,
            "TIMESTAMP" => timestamp(step)?,

            "INDEX_BASE" | "INDEX_BUFFER_SIZE" | "INDEX_TYPE" | "NUM_INSTANCES" | "INDEX_ATTRIBUTES_INDIRECT" => {
                self.set_draw_state(step)?;
            }
            "DRAW_INDEX_AUTO" | "DRAW_INDEX_2" | "DRAW_INDEX_OFFSET_2" | "DRAW_INDEX_IMMD" => self.draw(step)?,
            "DRAW_INDIRECT" | "DRAW_INDEX_INDIRECT" | "DRAW_INDIRECT_MULTI" | "DRAW_INDEX_INDIRECT_MULTI" => {
                self.draw_indirect(step, level)?;
            }
            "DISPATCH_DIRECT"
            | "DISPATCH_DIRECT_INTERLEAVED"
            | "DISPATCH_INDIRECT"
            | "DISPATCH_INDIRECT_INTERLEAVED"
            | "DISPATCH_TASKMESH_DIRECT_ACE" => self.dispatch(step)?,
            "DISPATCH_MESH_DIRECT" => self.mesh(step),
            "DISPATCH_MESH_INDIRECT_MULTI" | "DISPATCH_TASKMESH_INDIRECT_MULTI_ACE" => {
                self.mesh_indirect(step, level)?;
            }
            "DISPATCH_TASKMESH_GFX" => self.taskmesh(step),

            // Caches, counters, hints and the order of things: nothing is left to do.
            "ACQUIRE_MEM"
            | "SURFACE_SYNC"
            | "PRIME_UTCL2"
            | "PERF_COUNTER_WINDOW"
            | "PERFMON_CONTROL"
            | "GFX_PIPE_LOCK"
            | "UPDATE_DB_SUMMARIZER_TIMEOUTS"
            | "PREAMBLE_CNTL"
            | "WAIT_ON_AVAIL_BUFFER"
            | "ALLOC_GDS"
            | "SCRATCH_RAM_WRITE"
            | "DISPATCH_TASK_STATE_INIT" => {}

            "ME_INITIALIZE"
            | "FRAME_CONTROL"
            | "SWITCH_BUFFER"
            | "SET_Q_PREEMPTION_MODE"
            | "RUN_CLEANER_SHADER"
            | "INVALIDATE_TLBS"
            | "INDIRECT_BUFFER_PRIV"
            | "INDIRECT_BUFFER_PASID"
            | "GEN_PDEPTE"
            | "SET_QUEUE_REG" => return Err(step.refuse(KERNEL)),
            "HDP_FLUSH" | "FENCE_WAIT_MULTI" | "PROTECTED_FENCE_SIGNAL" => return Err(step.refuse(USER_QUEUE)),
            _ => return Err(step.refuse(UNDESCRIBED)),
        }
        Ok(Flow::On)
    }
}

/// Shadowing keeps registers in memory; a user's stream asks for it only where the kernel asked first, which this one
/// never does.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_shadowed_regs.c`.
fn context_control(step: &Step<'_, '_>) -> Result<(), Stop> {
    let names = ["shadow_global_config", "shadow_context", "shadow_uconfig", "shadow_gfx_sh", "shadow_cs_sh"];
    if step.is_set("update_shadow_enables") && names.iter().any(|name| step.is_set(name)) {
        return Err(step.refuse("registers that are shadowed in memory are not simulated"));
    }
    Ok(())
}

/// MEM_WRITE of GFX6: a dword, a qword or the clock.
fn mem_write(step: &Step<'_, '_>) -> Result<(), Stop> {
    let va = step.aligned("addr_lo", "addr_hi", 8)?;
    if step.is_set("clock_count") {
        step.port.write_u64(va, step.port.env().clock.ticks());
    } else if step.is_set("data32") {
        step.port.write_dwords(va, &[step.get("data_lo")]);
    } else {
        step.port.write_u64(va, step.fields.wide("data_lo", "data_hi"));
    }
    Ok(())
}

/// MEM_SEMAPHORE: a counter that is raised, or waited for and lowered.
fn mem_semaphore(step: &Step<'_, '_>) -> Result<(), Stop> {
    const SIGNAL: u32 = 6;
    let va = step.aligned("addr_lo", "addr_hi", 8)?;
    let signals = step.get("sem_sel") == SIGNAL;
    crate::gpu::wait::semaphore(step.port, va, signals, step.is_set("signal_type"))
}

/// TIMESTAMP of GFX11: the clock at the top, at the bottom, or at both.
fn timestamp(step: &Step<'_, '_>) -> Result<(), Stop> {
    for (enable, low, high) in
        [("enable_top", "top_addr_lo", "top_addr_hi"), ("enable_bottom", "bottom_addr_lo", "bottom_addr_hi")]
    {
        if step.is_set(enable) {
            step.port.write_u64(step.aligned(low, high, 8)?, step.port.env().clock.ticks());
        }
    }
    Ok(())
}
