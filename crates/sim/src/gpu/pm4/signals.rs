//! Waits, events and end-of-pipe stores.

use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;
use amdgpu_packets::FieldError;
use amdgpu_packets::layout::Reader;
use amdgpu_packets::layout::records::pm4::{
    EventWrite, EventWriteEop, EventWriteEos, OcclusionQuery, ReleaseMem, WaitRegMem, WaitRegMem64,
};
use amdgpu_packets::layout::values::{Compare, EopData, EopDst, EosCmd, EventIndex, WaitOp, WaitSpace};
use amdgpu_packets::pm4::{Event, Register, Ring, Target};

use crate::gpu::{
    Engine, Signal, Stop,
    late::{Data, Store},
    port::Port,
    step::Step,
    wait::{Condition, wait_for_memory},
};

use super::late::Join;

/// The bit that marks a count as stored.
const STORED: u64 = 1 << 63;

/// The fields of WAIT_REG_MEM, or of its form for qwords.
pub(super) struct Wait {
    wide: bool,
    function: Compare,
    mask: u64,
    reference: u64,
    operation: WaitOp,
    space: WaitSpace,
    address: u64,
    register: u32,
    /// The register that is written, for the operation that writes one register before and after it waits for another.
    written: u32,
    watched: u32,
}

impl From<WaitRegMem> for Wait {
    fn from(packet: WaitRegMem) -> Self {
        Self {
            wide: false,
            function: packet.function,
            mask: packet.mask.into(),
            reference: packet.reference.into(),
            operation: packet.operation,
            space: packet.mem_space,
            address: packet.poll_addr,
            register: packet.poll_reg,
            written: packet.write_reg,
            watched: packet.wait_reg,
        }
    }
}

impl From<WaitRegMem64> for Wait {
    fn from(packet: WaitRegMem64) -> Self {
        Self {
            wide: true,
            function: packet.function,
            mask: packet.mask,
            reference: packet.reference,
            operation: packet.operation,
            space: WaitSpace::new(packet.mem_space.number()),
            address: packet.poll_addr,
            register: packet.poll_reg,
            written: packet.write_reg,
            watched: packet.wait_reg,
        }
    }
}

/// The fields of EVENT_WRITE_EOP or RELEASE_MEM.
pub(super) struct EndOfPipe {
    is_wait: bool,
    destination: EopDst,
    store: EopData,
    address: u64,
    data: u64,
}

impl From<EventWriteEop> for EndOfPipe {
    fn from(packet: EventWriteEop) -> Self {
        let EventWriteEop { dst_sel, data_sel, addr, data, .. } = packet;
        Self { is_wait: false, destination: dst_sel, store: data_sel, address: addr, data }
    }
}

impl From<ReleaseMem> for EndOfPipe {
    fn from(packet: ReleaseMem) -> Self {
        let ReleaseMem { pws_enable, dst_sel, data_sel, addr, data, .. } = packet;
        Self { is_wait: pws_enable, destination: dst_sel, store: data_sel, address: addr, data }
    }
}

impl Engine {
    /// Executes WAIT_REG_MEM: waits until the comparison of memory or a register is true.
    pub(super) fn wait(&mut self, packet: &Wait, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let Wait { wide, mask, reference, .. } = *packet;
        let condition = Condition { function: step.compare(packet.function)?, mask, reference };
        self.catch_up(packet, &condition, step)?;
        if packet.operation == WaitOp::WRITE_WAIT_WRITE_REG {
            let (write, wait) = (Register::new(packet.written), Register::new(packet.watched));
            self.set_register(write, reference as u32, level, step.port)?;
            self.get_register(wait, level, step.port)?;
            self.wait_for_register(step, wait, wide, &condition)?;
            return self.set_register(write, reference as u32, level, step.port);
        }
        if packet.space != WaitSpace::REGISTER {
            let va = step.aligned("poll_addr_lo", packet.address, if wide { 8 } else { 4 })?;
            return wait_for_memory(step.port, va, wide, &condition);
        }
        let register = Register::new(packet.register);
        self.get_register(register, level, step.port)?;
        self.wait_for_register(step, register, wide, &condition)
    }

    /// Executes all late work before a wait that is not over at once, and that the work may end.
    fn catch_up(&mut self, packet: &Wait, condition: &Condition, step: &Step<'_, '_>) -> Result<(), Stop> {
        if !self.is_behind() {
            return Ok(());
        }
        let is_met = packet.space != WaitSpace::REGISTER && {
            let va = step.address("poll_addr_lo", packet.address)?;
            condition.is_met(if packet.wide { step.port.read_u64(va) } else { step.port.read_u32(va).into() })
        };
        if is_met { Ok(()) } else { self.join_for(Join::All, step) }
    }

    /// Executes EVENT_WRITE.
    pub(super) fn event_write(&self, packet: &EventWrite, step: &Step<'_, '_>) -> Result<(), Stop> {
        let Reader::Ring(target) = step.reader else { return Err(step.refuse("has no place on this engine")) };
        let (event, index) = (packet.event_type, packet.event_index);
        if !indices(event, target.level).contains(&index) {
            return Err(step.wrong(FieldError::Unknown { field: "event_index", value: index.number() }));
        }
        // The dwords after this event are not an address.
        let has_address = step.dwords.len() > 2 && event != Event::PIXEL_PIPE_STAT_CONTROL;
        let at = if has_address { Some(step.address("addr_lo", packet.addr)?) } else { None };
        // Drivers stop the statistics around draws of their own.
        match event {
            Event::PIPELINESTAT_START => self.state.set_counts_statistics(true),
            Event::PIPELINESTAT_STOP => self.state.set_counts_statistics(false),
            _ => {}
        }
        self.event(event, at, target, step.port)
    }

    /// Stores the result of an event. Samples that passed are counted and so are statistics of the pipeline, except those of stages that are not
    /// simulated and of dispatches. Bit 63 marks a count of samples as stored.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_query.c`, where the layouts of the pools are.
    fn event(&self, event: Event, at: Option<GpuVa>, target: Target, port: &Port<'_>) -> Result<(), Stop> {
        let stores = match event {
            Event::ZPASS_DONE => target.level < GfxLevel::Gfx11,
            Event::PIXEL_PIPE_STAT_DUMP
            | Event::SAMPLE_PIPELINESTAT
            | Event::SAMPLE_STREAMOUTSTATS
            | Event::SAMPLE_STREAMOUTSTATS1
            | Event::SAMPLE_STREAMOUTSTATS2
            | Event::SAMPLE_STREAMOUTSTATS3 => true,
            _ => false,
        };
        let refuse = |what| Err(Stop::Refused { place: port.place(), what });
        let Some(va) = at else {
            return if stores { refuse("samples, and says nowhere to store it") } else { Ok(()) };
        };
        match event {
            _ if !stores => return refuse("names an address for an event that stores nothing"),
            Event::ZPASS_DONE | Event::PIXEL_PIPE_STAT_DUMP => {
                self.store_sample_counts(va, port);
                if let (Event::ZPASS_DONE, Some(observer)) = (event, port.env().observer()) {
                    observer.signal(Signal::SampleCounts);
                }
            }
            Event::SAMPLE_PIPELINESTAT => {
                let counters = match (target.is_mec(), target.level >= GfxLevel::Gfx11) {
                    // MEC gets the address of the only counter that it has.
                    (true, _) => 1,
                    (false, true) => 14,
                    (false, false) => 11,
                };
                let all = if target.is_mec() { [0; 14] } else { self.state.statistics() };
                let bytes: Vec<u8> = all[..counters].iter().flat_map(|count| count.to_le_bytes()).collect();
                port.write(va, &bytes);
            }
            _ => {
                port.write_u64(va, STORED);
                if let Some(written) = va.checked_add(8) {
                    port.write_u64(written, STORED);
                }
            }
        }
        Ok(())
    }

    /// Stores the count of each present render backend, at intervals of 16 bytes. The first one has counted all samples.
    pub(super) fn store_sample_counts(&self, va: GpuVa, port: &Port<'_>) {
        let mut count = self.state.samples() & (STORED - 1);
        for backend in (0..32).filter(|backend| self.render_backends >> backend & 1 != 0) {
            if let Some(slot) = va.checked_add(16 * backend) {
                port.write_u64(slot, STORED | std::mem::take(&mut count));
            }
        }
    }

    /// Executes EVENT_WRITE_EOP or RELEASE_MEM: a store, or nothing, at the end of the pipe.
    pub(super) fn end_of_pipe(&mut self, packet: &EndOfPipe, step: &Step<'_, '_>) -> Result<(), Stop> {
        if packet.is_wait {
            return Ok(());
        }
        if packet.destination > EopDst::TC_L2 {
            return Err(step.refuse("writes a queue's pointers, which is the kernel's to do"));
        }
        let aligned = |bytes| step.aligned("addr_lo", packet.address, bytes);
        let store = match packet.store {
            EopData::NONE => return Ok(()),
            EopData::DWORD => Store { to: aligned(4)?, data: Data::Dword(packet.data as u32) },
            EopData::QWORD => Store { to: aligned(8)?, data: Data::Qword(packet.data) },
            EopData::GDS_BLOCK => {
                let (offset, dwords) = (packet.data as u32 & 0xffff, packet.data as u32 >> 16);
                let to = aligned(4)?;
                self.join_for(Join::Pipe, step)?;
                return self.store_gds(step, to, offset, dwords);
            }
            // The clocks: those of the GPU and the system, and the emulated one of shaders.
            _ => Store { to: aligned(8)?, data: Data::Clock },
        };
        self.issue_store(store, step.port)
    }

    /// Executes EVENT_WRITE_EOS: a store after shaders are done.
    pub(super) fn end_of_shader(&mut self, packet: &EventWriteEos, step: &Step<'_, '_>) -> Result<(), Stop> {
        let to = step.aligned("addr_lo", packet.addr, 4)?;
        match packet.command {
            EosCmd::STORE_GDS => {
                self.join_for(Join::Pipe, step)?;
                self.store_gds(step, to, packet.gds_index, packet.gds_dwords)
            }
            EosCmd::STORE_DWORD => self.issue_store(Store { to, data: Data::Dword(packet.data) }, step.port),
            _ => Err(step.refuse("stores an append counter, which is not simulated")),
        }
    }

    /// Executes OCCLUSION_QUERY: stores the sum of the differences between end and start counts.
    pub(super) fn occlusion_query(&self, packet: &OcclusionQuery, step: &Step<'_, '_>) -> Result<(), Stop> {
        let pairs = step.aligned("start_addr_lo", packet.start_addr, 16)?;
        let to = step.aligned("query_addr_lo", packet.query_addr, 4)?;
        let sum = self.samples_between(step, pairs, true)?.unwrap_or_default();
        step.port.write_dwords(to, &[sum as u32]);
        Ok(())
    }
}

/// Returns the valid indices of an event. AMD PAL numbers the stream-out statistics of GFX11 by stream; Mesa does not.
const fn indices(event: Event, level: GfxLevel) -> &'static [EventIndex] {
    match event {
        Event::ZPASS_DONE if (level as u8) < GfxLevel::Gfx11 as u8 => &[EventIndex::ZPASS_OR_PIXEL_PIPE_STAT],
        Event::PIXEL_PIPE_STAT_CONTROL | Event::PIXEL_PIPE_STAT_DUMP => &[EventIndex::ZPASS_OR_PIXEL_PIPE_STAT],
        Event::SAMPLE_PIPELINESTAT => &[EventIndex::SAMPLE_PIPELINESTAT],
        Event::SAMPLE_STREAMOUTSTATS
        | Event::SAMPLE_STREAMOUTSTATS1
        | Event::SAMPLE_STREAMOUTSTATS2
        | Event::SAMPLE_STREAMOUTSTATS3 => &[
            EventIndex::SAMPLE_STREAMOUTSTATS,
            EventIndex::SAMPLE_STREAMOUTSTATS0,
            EventIndex::SAMPLE_STREAMOUTSTATS1,
            EventIndex::SAMPLE_STREAMOUTSTATS2,
            EventIndex::SAMPLE_STREAMOUTSTATS3,
        ],
        Event::CS_PARTIAL_FLUSH | Event::VS_PARTIAL_FLUSH | Event::PS_PARTIAL_FLUSH => &[EventIndex::PARTIAL_FLUSH],
        _ => &[EventIndex::OTHER],
    }
}

/// Returns `true` if a packet's ring is a graphics ring, or any ring of GFX6, where all read the graphics forms.
pub(super) fn is_graphics(step: &Step<'_, '_>) -> bool {
    !matches!(step.reader, Reader::Ring(target) if target.ring == Ring::Compute && target.is_mec())
}
