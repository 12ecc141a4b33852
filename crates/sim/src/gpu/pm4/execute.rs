//! Dispatch from packets to their executors.

use amdgpu_hw::GfxLevel;
use amdgpu_packets::layout::records::pm4::{ContextControl, MemSemaphore, MemWrite, Packet, Timestamp};
use amdgpu_packets::layout::values::{
    AtomicCommand, CachePolicy, EngineSel, EngineSelIb, EventIndex, PwsCounter, SemSel, WaitSpace,
};
use amdgpu_packets::pm4::Event;

use crate::gpu::{
    CacheObserver, CacheOperation, Ended, Engine, Signal, Stop, WaitCondition,
    registers::{CONFIG, CONTEXT, PERSISTENT, USER_CONFIG},
    step::Step,
};

use super::{Flow, flow, late::Join};

/// The error for packets that only the kernel writes into its rings.
const KERNEL: &str = "belongs to the kernel and has no place in a user's IB";
/// The error for packets of user queues.
const USER_QUEUE: &str = "belongs to user queues, which this kernel does not have";
/// The error for packets whose effect no public source describes.
const UNDESCRIBED: &str = "what it does is not described anywhere, so it is not simulated";

impl Engine {
    /// Executes a packet. `rest` is the dwords of the IB after the packet.
    #[expect(clippy::too_many_lines, reason = "a table of packets, with one arm for each")]
    pub(super) fn execute(
        &mut self,
        packet: &Packet<'_>,
        step: &Step<'_, '_>,
        level: GfxLevel,
        rest: &[u32],
    ) -> Result<Flow, Stop> {
        match packet {
            Packet::IndirectBuffer(packet) => return flow::indirect_buffer(packet, step),
            Packet::CondExec(packet) => return flow::cond_exec(packet, step, rest),
            Packet::PredExec(packet) => return flow::pred_exec(*packet, step, rest),
            Packet::CondIndirectBuffer(packet) => return flow::cond_indirect_buffer(packet, step),
            Packet::IndirectBufferConst(packet) => return flow::indirect_buffer_const(packet, step),
            Packet::Rewind(packet) => {
                self.join_for(Join::All, step)?;
                flow::rewind(*packet, step)?;
            }
            Packet::SetPredication(packet) => self.set_predication(packet, step)?,

            Packet::SetConfigReg(packet) => self.set_registers(step, &CONFIG, packet.reg_offset, packet.data, level)?,
            Packet::SetContextReg(packet) => {
                self.set_registers(step, &CONTEXT, packet.reg_offset, packet.data, level)?;
            }
            Packet::SetContextRegIndex(packet) => {
                self.set_registers(step, &CONTEXT, packet.reg_offset, packet.data, level)?;
            }
            Packet::SetShReg(packet) => {
                self.set_sh_registers(step, packet.index, packet.reg_offset, packet.data, level)?;
            }
            Packet::SetShRegIndex(packet) => {
                self.set_sh_registers(step, packet.index, packet.reg_offset, packet.data, level)?;
            }
            Packet::SetUconfigReg(packet) => {
                self.set_registers(step, &USER_CONFIG, packet.reg_offset, packet.data, level)?;
            }
            Packet::SetUconfigRegIndex(packet) => {
                self.set_registers(step, &USER_CONFIG, packet.reg_offset, packet.data, level)?;
            }
            Packet::SetContextRegPairs(_) => self.set_pairs(step, &CONTEXT, level)?,
            Packet::SetShRegPairs(_) => self.set_pairs(step, &PERSISTENT, level)?,
            Packet::SetUconfigRegPairs(_) => self.set_pairs(step, &USER_CONFIG, level)?,
            Packet::SetContextRegPairsPacked(packet) => {
                self.set_packed_pairs(step, &CONTEXT, packet.reg_count, level)?;
            }
            Packet::SetShRegPairsPacked(packet) => {
                self.set_packed_pairs(step, &PERSISTENT, packet.reg_count, level)?;
            }
            Packet::SetShRegPairsPackedGfx12(packet) => {
                self.set_packed_pairs(step, &PERSISTENT, packet.reg_count, level)?;
            }
            Packet::SetShRegPairsPackedN(packet) => self.set_few_packed_pairs(step, packet.reg_count, level)?,
            Packet::LoadConfigReg(packet) => self.load_registers(step, &CONFIG, packet.addr, level)?,
            Packet::LoadContextReg(packet) => self.load_registers(step, &CONTEXT, packet.addr, level)?,
            Packet::LoadShReg(packet) => self.load_registers(step, &PERSISTENT, packet.addr, level)?,
            Packet::LoadUconfigReg(packet) => self.load_registers(step, &USER_CONFIG, packet.addr, level)?,
            Packet::LoadContextRegIndex(packet) => self.load_registers_indexed(step, &(*packet).into(), level)?,
            Packet::LoadShRegIndex(packet) => self.load_registers_indexed(step, &(*packet).into(), level)?,
            Packet::LoadUconfigRegIndex(packet) => self.load_registers_indexed(step, &(*packet).into(), level)?,
            Packet::ContextRegRmw(packet) => self.context_reg_rmw(packet, step, level)?,
            Packet::RegRmw(packet) => self.reg_rmw(packet, step, level)?,
            Packet::SetShRegOffset(packet) => self.set_sh_reg_offset(packet, step, level)?,
            Packet::SetBase(packet) => self.set_base(packet, step)?,
            Packet::ClearState(packet) => self.clear_state(*packet, step)?,
            Packet::ContextControl(packet) => context_control(packet, step)?,
            Packet::DrawPreamble(packet) => self.draw_preamble(packet, step, level)?,

            Packet::WriteData(packet) => {
                observe_engine(step, packet.engine_sel == EngineSel::PFP, packet.wr_confirm);
                observe_policies(step, CachePolicy::LRU, packet.cache_policy, level);
                self.write_data(packet, step, level)?;
            }
            Packet::CopyData(packet) => {
                observe_engine(step, packet.engine_sel == EngineSel::PFP, packet.wr_confirm);
                observe_policies(step, packet.src_cache_policy, packet.dst_cache_policy, level);
                self.copy_data(packet, step, level)?;
            }
            Packet::CpDma(packet) => {
                observe(step, |observer| observer.signal(Signal::Dma { waits_for_writes: packet.raw_wait }));
                self.dma(&(*packet).into(), step, level)?;
                observe_dma(step, packet.cp_sync);
            }
            Packet::DmaData(packet) => {
                observe(step, |observer| observer.signal(Signal::Dma { waits_for_writes: packet.raw_wait }));
                observe_policies(step, packet.src_cache_policy, packet.dst_cache_policy, level);
                self.dma(&(*packet).into(), step, level)?;
                observe_dma(step, packet.cp_sync);
            }
            Packet::CopyDw(packet) => self.copy_dw(packet, step, level)?,
            Packet::MemWrite(packet) => mem_write(packet, step)?,
            Packet::WriteGdsRam(packet) => self.write_gds_ram(packet),
            Packet::AtomicMem(packet) => {
                if packet.command == AtomicCommand::LOOP_UNTIL_COMPARE {
                    self.join_for(Join::All, step)?;
                }
                self.atomic_mem(packet, step)?;
            }
            Packet::MemSemaphore(packet) => {
                self.join_for(Join::All, step)?;
                mem_semaphore(packet, step)?;
            }
            Packet::CondWrite(packet) => self.cond_write(packet, step, level)?,
            Packet::StrmoutBufferUpdate(packet) => self.strmout_buffer_update(packet, step, level)?,

            Packet::WaitRegMem(packet) => {
                observe_policies(step, packet.cache_policy, CachePolicy::LRU, level);
                self.wait(&(*packet).into(), step, level)?;
                let va = (packet.mem_space != WaitSpace::REGISTER).then_some(packet.poll_addr);
                let (mask, reference) = (packet.mask.into(), packet.reference.into());
                let condition = WaitCondition { compare: step.compare(packet.function)?, mask, reference };
                observe_wait(step, va, packet.engine_sel, condition);
            }
            Packet::WaitRegMem64(packet) => {
                self.wait(&(*packet).into(), step, level)?;
                let is_register = packet.mem_space.number() == WaitSpace::REGISTER.number();
                let (mask, reference) = (packet.mask, packet.reference);
                let condition = WaitCondition { compare: step.compare(packet.function)?, mask, reference };
                observe_wait(step, (!is_register).then_some(packet.poll_addr), packet.engine_sel, condition);
            }
            Packet::EventWrite(packet) => {
                if let Some(join) = Join::of_event(packet.event_type) {
                    self.join_for(join, step)?;
                }
                self.event_write(packet, step)?;
                // The vertex shaders of a draw are followed by its pixel shaders, so a wait for the former is taken for one for both.
                let done = match packet.event_type {
                    Event::CS_PARTIAL_FLUSH => Some(Signal::ShadersDone),
                    Event::PS_PARTIAL_FLUSH | Event::VS_PARTIAL_FLUSH => Some(Signal::DrawsDone),
                    _ => None,
                };
                if let Some(done) = done {
                    observe(step, |observer| observer.signal(done));
                }
                if let Some(operation) = CacheOperation::of_plain_event(packet.event_type, level) {
                    observe(step, |observer| observer.operate(operation));
                }
            }
            Packet::EventWriteZpass(packet) => {
                self.join_for(Join::Draws, step)?;
                self.store_sample_counts(step.address("addr_lo", packet.addr)?, step.port);
            }
            Packet::EventWriteEop(packet) => {
                self.end_of_pipe(&(*packet).into(), step)?;
                let event = (packet.event_index, packet.event_type, packet.addr);
                observe_event(step, event, false, CacheOperation::of_event(packet, level));
            }
            Packet::ReleaseMem(packet) => {
                observe_policies(step, CachePolicy::LRU, packet.cache_policy, level);
                self.end_of_pipe(&(*packet).into(), step)?;
                let event = (packet.event_index, packet.event_type, packet.addr);
                observe_event(step, event, packet.pws_enable, CacheOperation::of_release(packet, level));
            }
            Packet::EventWriteEos(packet) => {
                self.end_of_shader(packet, step)?;
                observe(step, |observer| {
                    observer.signal(Signal::Stored { va: Some(packet.addr), ended: ended_by(packet.event_type) });
                });
            }
            Packet::OcclusionQuery(packet) => self.occlusion_query(packet, step)?,
            Packet::Timestamp(packet) => timestamp(packet, step)?,

            Packet::IndexBase(packet) => self.state.index.va = step.address("addr_lo", packet.addr)?,
            Packet::IndexBufferSize(packet) => self.state.index.count = packet.index_count,
            Packet::IndexType(packet) => self.set_index_type(*packet),
            Packet::NumInstances(packet) => self.state.instances = packet.instance_count,
            Packet::IndexAttributesIndirect(packet) => self.load_index_attributes(packet, step)?,
            Packet::DrawIndexAuto(packet) => self.draw_index_auto(*packet, step)?,
            Packet::DrawIndex2(packet) => self.draw_index_2(packet, step)?,
            Packet::DrawIndexOffset2(packet) => self.draw_index_offset_2(packet, step)?,
            Packet::DrawIndexImmd(packet) => self.draw_index_immd(packet, step)?,
            Packet::DrawIndirect(packet) => self.draw_indirect(&(*packet).into(), step, level)?,
            Packet::DrawIndexIndirect(packet) => self.draw_indirect(&(*packet).into(), step, level)?,
            Packet::DrawIndirectMulti(packet) => self.draw_indirect(&(*packet).into(), step, level)?,
            Packet::DrawIndexIndirectMulti(packet) => self.draw_indirect(&(*packet).into(), step, level)?,
            Packet::DispatchDirect(packet) => {
                self.dispatch(step, [packet.dim_x, packet.dim_y, packet.dim_z], packet.dispatch_initiator)?;
            }
            Packet::DispatchDirectInterleaved(packet) => {
                self.dispatch(step, [packet.dim_x, packet.dim_y, packet.dim_z], packet.dispatch_initiator)?;
            }
            Packet::DispatchTaskmeshDirectAce(packet) => {
                self.dispatch(step, [packet.dim_x, packet.dim_y, packet.dim_z], packet.dispatch_initiator)?;
            }
            Packet::DispatchIndirect(packet) => self.dispatch_indirect(packet, step)?,
            Packet::DispatchIndirectInterleaved(packet) => {
                self.dispatch_from_base(step, packet.data_offset, packet.dispatch_initiator)?;
            }
            Packet::DispatchMeshDirect(packet) => self.mesh(packet, step)?,
            Packet::DispatchMeshIndirectMulti(packet) => self.mesh_indirect(&(*packet).into(), step, level)?,
            Packet::DispatchTaskmeshIndirectMultiAce(packet) => {
                self.mesh_indirect(&(*packet).into(), step, level)?;
            }
            Packet::DispatchTaskmeshGfx(packet) => self.taskmesh(packet, step)?,

            // Packets about caches and ordering. They matter to an observer, and to work that is executed late.
            Packet::PfpSyncMe(_) => observe(step, |observer| observer.signal(Signal::PfpSync)),
            Packet::AcquireMem(packet) => {
                if packet.pws_ena {
                    self.join_for(Join::Pipe, step)?;
                } else if level < GfxLevel::Gfx10
                    && let Some(join) = Join::of_coher(packet.coher_cntl)
                {
                    self.join_for(join, step)?;
                }
                observe(step, |observer| {
                    if packet.pws_ena {
                        let counter = match packet.pws_counter_sel {
                            PwsCounter::PS => Ended::Draws,
                            PwsCounter::CS => Ended::Dispatches,
                            _ => Ended::All,
                        };
                        observer.signal(Signal::Counted { counter, outstanding: packet.pws_count });
                    }
                    observer.operate(CacheOperation::of_acquire(packet, level));
                });
            }
            Packet::SurfaceSync(packet) => {
                if let Some(join) = Join::of_coher(packet.coher_cntl) {
                    self.join_for(join, step)?;
                }
                observe(step, |observer| observer.operate(CacheOperation::of_surface_sync(packet, level)));
            }

            // Packets about counters, hints and ordering.
            Packet::Nop(_)
            | Packet::PrimeUtcl2(_)
            | Packet::PerfCounterWindow(_)
            | Packet::PerfmonControl(_)
            | Packet::GfxPipeLock(_)
            | Packet::UpdateDbSummarizerTimeouts(_)
            | Packet::PreambleCntl(_)
            | Packet::WaitOnAvailBuffer(_)
            | Packet::AllocGds(_)
            | Packet::ScratchRamWrite(_)
            | Packet::DispatchTaskStateInit(_) => {}

            Packet::MeInitialize(_)
            | Packet::FrameControl(_)
            | Packet::SwitchBuffer(_)
            | Packet::SetQPreemptionMode(_)
            | Packet::RunCleanerShader(_)
            | Packet::InvalidateTlbs(_)
            | Packet::IndirectBufferPriv(_)
            | Packet::IndirectBufferPasid(_)
            | Packet::GenPdepte(_)
            | Packet::SetQueueReg(_) => return Err(step.refuse(KERNEL)),
            Packet::HdpFlush(_) | Packet::FenceWaitMulti(_) | Packet::ProtectedFenceSignal(_) => {
                return Err(step.refuse(USER_QUEUE));
            }
            _ => return Err(step.refuse(UNDESCRIBED)),
        }
        Ok(Flow::On)
    }
}

/// Tells the observer of caches, if there is one.
fn observe(step: &Step<'_, '_>, act: impl FnOnce(&dyn CacheObserver)) {
    if let Some(observer) = step.port.env().observer() {
        act(observer);
    }
}

/// Tells the observer that the prefetch parser executes the packet, or that nothing waits for its writes.
fn observe_engine(step: &Step<'_, '_>, by_pfp: bool, is_confirmed: bool) {
    if by_pfp {
        observe(step, |observer| observer.signal(Signal::ByPfp));
    } else {
        observe(step, |observer| observer.signal(if is_confirmed { Signal::Confirmed } else { Signal::Unconfirmed }));
    }
}

/// Tells the observer that the cache policies of reads or writes bypass L2, if they do.
///
/// Source: Linux 6.12 `gfx_v10_0.c`, `gfx_v10_0_ring_emit_fence`, whose CACHE_POLICY of 3 keeps a fence out of L2.
fn observe_policies(step: &Step<'_, '_>, reads: CachePolicy, writes: CachePolicy, level: GfxLevel) {
    let [reads, writes] = [reads, writes].map(|policy| policy == CachePolicy::BYPASS);
    if level >= GfxLevel::Gfx9 && (reads || writes) {
        observe(step, |observer| observer.signal(Signal::Bypass { reads, writes }));
    }
}

/// Tells the observer that the engine waits for DMA, if it does.
fn observe_dma(step: &Step<'_, '_>, is_synced: bool) {
    if is_synced {
        observe(step, |observer| observer.signal(Signal::DmaSync));
    }
}

/// Tells the observer of a wait for memory that is over.
fn observe_wait(step: &Step<'_, '_>, va: Option<u64>, engine: EngineSelIb, condition: WaitCondition) {
    if let Some(va) = va {
        let by_pfp = engine == EngineSelIb::PFP;
        observe(step, |observer| observer.signal(Signal::Waited { va, by_pfp, condition }));
    }
}

/// Tells the observer of an event at the end of the pipe or of shaders, after its store, and `true` if it is counted.
fn observe_event(
    step: &Step<'_, '_>,
    (index, event, va): (EventIndex, Event, u64),
    is_counted: bool,
    operation: CacheOperation,
) {
    observe(step, |observer| {
        if index == EventIndex::END_OF_PIPE {
            observer.signal(Signal::EndOfPipe);
        }
        // Addresses below the first page are those of events that store nothing.
        let va = Some(va).filter(|&va| va >= 4096 && !is_counted);
        if va.is_some() || is_counted {
            observer.signal(Signal::Stored { va, ended: ended_by(event) });
        }
        observer.operate(operation);
    });
}

/// Returns the work that is over when an event stores.
const fn ended_by(event: Event) -> Ended {
    match event {
        Event::CS_DONE => Ended::Dispatches,
        Event::PS_DONE => Ended::Draws,
        _ => Ended::All,
    }
}

/// Executes CONTEXT_CONTROL. Shadowing keeps registers in memory. A user's stream requests it only if the kernel requested it
/// before, and the simulated kernel never does.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_shadowed_regs.c`.
fn context_control(packet: &ContextControl, step: &Step<'_, '_>) -> Result<(), Stop> {
    let shadows = packet.shadow_global_config
        || packet.shadow_context
        || packet.shadow_uconfig
        || packet.shadow_gfx_sh
        || packet.shadow_cs_sh;
    if packet.update_shadow_enables && shadows {
        return Err(step.refuse("registers that are shadowed in memory are not simulated"));
    }
    Ok(())
}

/// Executes MEM_WRITE of GFX6: writes a dword, a qword or the clock.
fn mem_write(packet: &MemWrite, step: &Step<'_, '_>) -> Result<(), Stop> {
    let va = step.aligned("addr_lo", packet.addr, 8)?;
    if packet.clock_count {
        step.port.write_u64(va, step.port.env().clock.ticks());
    } else if packet.data32 {
        step.port.write_dwords(va, &[packet.data as u32]);
    } else {
        step.port.write_u64(va, packet.data);
    }
    Ok(())
}

/// Executes MEM_SEMAPHORE: increments a counter, or waits for it and decrements it.
fn mem_semaphore(packet: &MemSemaphore, step: &Step<'_, '_>) -> Result<(), Stop> {
    let va = step.aligned("addr_lo", packet.addr, 8)?;
    crate::gpu::wait::semaphore(step.port, va, packet.sem_sel == SemSel::SIGNAL, packet.signal_type)
}

/// Executes TIMESTAMP of GFX11: stores the clock at the top of the pipe, the bottom, or both.
fn timestamp(packet: &Timestamp, step: &Step<'_, '_>) -> Result<(), Stop> {
    for (is_enabled, field, va) in [
        (packet.enable_top, "top_addr_lo", packet.top_addr),
        (packet.enable_bottom, "bottom_addr_lo", packet.bottom_addr),
    ] {
        if is_enabled {
            step.port.write_u64(step.aligned(field, va, 8)?, step.port.env().clock.ticks());
        }
    }
    Ok(())
}
