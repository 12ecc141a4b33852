//! Packets that copy data.

use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;
use amdgpu_packets::FieldError;
use amdgpu_packets::layout::Reader;
use amdgpu_packets::layout::records::pm4::{
    AtomicMem, CondWrite, CopyData, CopyDw, CpDma, DmaData, StrmoutBufferUpdate, WriteData, WriteGdsRam,
};
use amdgpu_packets::layout::values::{
    AtomicCommand, CopyDst, CopyDwSpace, CopySrc, CountSel, DmaDst, DmaSrc, Incr, MemReg, ScratchSpace, Space,
    StrmoutSource, Swap, WriteDst,
};
use amdgpu_packets::pm4::Register;
use amdgpu_packets::registers::CP_STRMOUT_CNTL;
use zerocopy::IntoBytes;

use crate::gpu::{
    Engine, Stop, Watched,
    atomic::Atomic,
    budget::Budget,
    late::{Source, Transfer},
    ram::Ram,
    step::Step,
};

use super::late::Join;

/// One side of a copy by CP DMA.
#[derive(Clone, Copy)]
enum Side {
    Memory(GpuVa),
    /// A byte offset into the global data share.
    Gds(u32),
    Register(Register),
    /// A pattern. As a destination, the data is dropped.
    Value(u32),
}

/// The fields of CP_DMA or DMA_DATA, which have the same meaning.
pub(super) struct Dma {
    source: DmaSrc,
    destination: DmaDst,
    from: u64,
    to: u64,
    pattern: u32,
    /// `true` for the source and the destination if they are registers instead of memory.
    names_registers: (bool, bool),
    /// `true` for the source and the destination if their address is fixed: every dword is read from or written to it.
    holds: (bool, bool),
    swaps: bool,
    is_indirect: bool,
    bytes: u32,
    /// `true` if the engine waits for this DMA and all before it.
    is_synced: bool,
}

impl From<CpDma> for Dma {
    fn from(packet: CpDma) -> Self {
        Self {
            source: packet.src_sel,
            destination: packet.dst_sel,
            from: packet.src_addr,
            to: packet.dst_addr,
            pattern: packet.data,
            names_registers: (packet.sas == MemReg::REGISTER, packet.das == MemReg::REGISTER),
            holds: (packet.saic == Incr::NO_INCREMENT, packet.daic == Incr::NO_INCREMENT),
            swaps: packet.src_swap != Swap::NONE || packet.dst_swap != Swap::NONE,
            is_indirect: false,
            bytes: packet.byte_count,
            is_synced: packet.cp_sync,
        }
    }
}

impl From<DmaData> for Dma {
    fn from(packet: DmaData) -> Self {
        Self {
            source: packet.src_sel,
            destination: packet.dst_sel,
            from: packet.src_addr,
            to: packet.dst_addr,
            pattern: packet.data,
            names_registers: (packet.sas == MemReg::REGISTER, packet.das == MemReg::REGISTER),
            holds: (packet.saic == Incr::NO_INCREMENT, packet.daic == Incr::NO_INCREMENT),
            swaps: packet.src_swap != Swap::NONE || packet.dst_swap != Swap::NONE,
            is_indirect: packet.src_indirect || packet.dst_indirect,
            bytes: packet.byte_count,
            is_synced: packet.cp_sync,
        }
    }
}

/// Iterates over registers from the first one on.
fn registers(first: Register) -> impl Iterator<Item = Register> {
    std::iter::successors(Some(first), |register| register.next())
}

impl Engine {
    /// Executes WRITE_DATA: writes dwords of the stream to memory, registers or the global data share.
    pub(super) fn write_data(
        &mut self,
        packet: &WriteData<'_>,
        step: &Step<'_, '_>,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let last = packet.data.len().saturating_sub(1);
        let data = if packet.no_increment { packet.data.get(last..).unwrap_or_default() } else { packet.data };
        match packet.dst_sel {
            WriteDst::REGISTER => {
                for (register, &value) in registers(step.register(packet.dst_reg)?).zip(data) {
                    self.set_register(register, value, level, step.port)?;
                }
            }
            WriteDst::MEMORY_GRBM_SYNC | WriteDst::TC_L2 | WriteDst::MEMORY => {
                step.port.write_dwords(step.address("dst_addr_lo", packet.dst_addr)?, data);
            }
            WriteDst::GDS => self.state.gds.write(packet.dst_gds, data.as_bytes()),
            value => return Err(step.wrong(FieldError::Unknown { field: "dst_sel", value: value.number() })),
        }
        Ok(())
    }

    /// Executes COPY_DATA: copies a dword or qword between memory, registers, the packet and the clocks.
    pub(super) fn copy_data(&mut self, packet: &CopyData, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let wide = packet.count_sel == CountSel::QWORD;
        let bytes = if wide { 8 } else { 4 };
        let value = match packet.src_sel {
            CopySrc::REGISTER | CopySrc::PERF_REGISTER => {
                self.get_registers(step.register(packet.src_reg)?, wide, level, step)?
            }
            CopySrc::MEMORY | CopySrc::TC_L2 => {
                let va = step.aligned("src_addr_lo", packet.src_addr, bytes)?;
                if wide { step.port.read_u64(va) } else { step.port.read_u32(va).into() }
            }
            CopySrc::GDS => self.gds_qword(packet.src_gds),
            CopySrc::IMMEDIATE => packet.imm,
            CopySrc::ATOMIC_RETURN => self.state.atomic_return,
            CopySrc::GPU_CLOCK | CopySrc::SYSTEM_CLOCK => step.port.env().clock.ticks(),
            CopySrc::GDS_ATOMIC_RETURN0 | CopySrc::GDS_ATOMIC_RETURN1 => {
                return Err(step.refuse("asks for what a GDS atomic returned, which is not simulated"));
            }
            _ => return Err(step.refuse("asks for the argument of an EXECUTE_INDIRECT, which is not simulated")),
        };
        let halves = [value as u32, (value >> 32) as u32];
        let dwords = halves.get(..if wide { 2 } else { 1 }).unwrap_or_default();
        match packet.dst_sel {
            CopyDst::MEMORY_GRBM_SYNC | CopyDst::TC_L2 | CopyDst::MEMORY => {
                step.port.write_dwords(step.aligned("dst_addr_lo", packet.dst_addr, bytes)?, dwords);
            }
            CopyDst::GDS => self.state.gds.write(packet.dst_gds, dwords.as_bytes()),
            CopyDst::REGISTER | CopyDst::PERF_REGISTER | CopyDst::REGISTER_DC => {
                for (register, &half) in registers(step.register(packet.dst_reg)?).zip(dwords) {
                    self.set_register(register, half, level, step.port)?;
                }
            }
            _ => return Err(step.refuse("writes the spill table of an EXECUTE_INDIRECT, which is not simulated")),
        }
        Ok(())
    }

    fn gds_qword(&self, offset: u32) -> u64 {
        let mut bytes = [0; 8];
        self.state.gds.read(offset, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn get_registers(&self, first: Register, wide: bool, level: GfxLevel, step: &Step<'_, '_>) -> Result<u64, Stop> {
        let low = self.get_register(first, level, step.port)?;
        let high = match first.next().filter(|_| wide) {
            Some(next) => self.get_register(next, level, step.port)?,
            None => 0,
        };
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    /// Executes CP_DMA or DMA_DATA, between sides of all types.
    pub(super) fn dma(&mut self, packet: &Dma, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        if packet.swaps {
            return Err(step.refuse("swaps bytes, which is not simulated"));
        }
        if packet.is_indirect {
            return Err(step.refuse("takes its addresses from memory, which is not described anywhere"));
        }
        let (from, to) = (source(packet, step)?, destination(packet, step)?);
        let (bytes, (holds_from, holds_to)) = (packet.bytes, packet.holds);
        match (from, to) {
            // Data that is loaded into L2 has no effect here.
            (_, Side::Value(_)) => self.await_dma(packet, step),
            (Side::Memory(from), Side::Memory(to)) if !holds_from && !holds_to => {
                self.transfer(packet, Source::Memory(from), to, step)
            }
            (Side::Value(pattern), Side::Memory(to)) if !holds_to => {
                self.transfer(packet, Source::Pattern(pattern), to, step)
            }
            _ => {
                self.await_dma(packet, step)?;
                step.require_multiple("byte_count", bytes.into(), 4)?;
                // If a side has a fixed address or is not memory, the copy is made dword by dword.
                for offset in (0..bytes).step_by(4) {
                    step.port.spend(1)?;
                    let value = self.load(from, if holds_from { 0 } else { offset }, level, step)?;
                    self.store(to, if holds_to { 0 } else { offset }, value, level, step)?;
                }
                Ok(())
            }
        }
    }

    /// Moves bytes between memory, or a pattern to it.
    fn transfer(&mut self, packet: &Dma, source: Source, to: GpuVa, step: &Step<'_, '_>) -> Result<(), Stop> {
        let transfer = Transfer { source, to, bytes: packet.bytes.into(), place: step.place() };
        let Reader::Ring(target) = step.reader else { return Err(step.refuse("has no place on this engine")) };
        self.issue_transfer(transfer, packet.is_synced, target, step.port)
    }

    /// Executes the DMA before this one, if the engine waits for it.
    fn await_dma(&mut self, packet: &Dma, step: &Step<'_, '_>) -> Result<(), Stop> {
        if packet.is_synced { self.join_for(Join::Dma, step) } else { Ok(()) }
    }

    fn load(&self, side: Side, offset: u32, level: GfxLevel, step: &Step<'_, '_>) -> Result<u32, Stop> {
        Ok(match side {
            Side::Memory(va) => step.port.read_u32(at(va, offset, step)?),
            Side::Gds(base) => self.gds_qword(base.saturating_add(offset)) as u32,
            Side::Register(first) => {
                let register = Register::new(first.index().saturating_add(offset / 4));
                self.get_register(register, level, step.port)?
            }
            Side::Value(value) => value,
        })
    }

    fn store(&mut self, side: Side, offset: u32, value: u32, level: GfxLevel, step: &Step<'_, '_>) -> Result<(), Stop> {
        match side {
            Side::Memory(va) => step.port.write_dwords(at(va, offset, step)?, &[value]),
            Side::Gds(base) => self.state.gds.write(base.saturating_add(offset), value.as_bytes()),
            Side::Register(first) => {
                let register = Register::new(first.index().saturating_add(offset / 4));
                self.set_register(register, value, level, step.port)?;
            }
            Side::Value(_) => {}
        }
        Ok(())
    }

    /// Executes COPY_DW of GFX6 and GFX7: copies a dword between memory and registers.
    pub(super) fn copy_dw(&mut self, packet: &CopyDw, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let value = if packet.src_space == CopyDwSpace::MEMORY {
            step.port.read_u32(step.aligned("src_lo", packet.src, 4)?)
        } else {
            self.get_register(Register::new(packet.src as u32), level, step.port)?
        };
        if packet.dst_space == CopyDwSpace::MEMORY {
            step.port.write_dwords(step.aligned("dst_lo", packet.dst, 4)?, &[value]);
            return Ok(());
        }
        self.set_register(Register::new(packet.dst as u32), value, level, step.port)
    }

    /// Executes WRITE_GDS_RAM of GFX6.
    pub(super) fn write_gds_ram(&mut self, packet: &WriteGdsRam<'_>) {
        self.state.gds.write(packet.gds_index.saturating_mul(4), packet.data.as_bytes());
    }

    /// Executes ATOMIC_MEM: once, or until the comparison is true.
    pub(super) fn atomic_mem(&mut self, packet: &AtomicMem, step: &Step<'_, '_>) -> Result<(), Stop> {
        let unknown = FieldError::Unknown { field: "op", value: packet.op.number() };
        let atomic = Atomic::new(packet.op, packet.src, packet.cmp).ok_or_else(|| step.wrong(unknown))?;
        let va = step.aligned("addr_lo", packet.addr, atomic.bytes())?;
        loop {
            let done = atomic.run(step.port, va);
            if done.matched || packet.command != AtomicCommand::LOOP_UNTIL_COMPARE {
                if atomic.returns() {
                    self.state.atomic_return = done.before;
                }
                return Ok(());
            }
            if !step.port.env().job.keep_waiting() {
                return Err(Stop::GaveUp {
                    place: step.place(),
                    at: Watched::Memory(va),
                    function: amdgpu_packets::pm4::Compare::Equal,
                    mask: if atomic.bytes() == 8 { u64::MAX } else { u32::MAX.into() },
                    reference: packet.cmp,
                    last: done.before,
                });
            }
        }
    }

    /// Executes COND_WRITE: one comparison, and a write if it is true.
    pub(super) fn cond_write(&mut self, packet: &CondWrite, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let value = if packet.poll_space == Space::MEMORY {
            step.port.read_u32(step.aligned("poll_addr_lo", packet.poll_addr, 4)?)
        } else {
            self.get_register(Register::new(packet.poll_reg), level, step.port)?
        };
        if !step.compare(packet.function)?.holds(value & packet.mask, packet.reference) {
            return Ok(());
        }
        match packet.write_space {
            ScratchSpace::REGISTER => {
                self.set_register(Register::new(packet.write_reg), packet.data, level, step.port)?;
            }
            ScratchSpace::MEMORY => {
                step.port.write_dwords(step.aligned("write_addr_lo", packet.write_addr, 4)?, &[packet.data]);
            }
            _ => return Err(step.refuse("writes the firmware's scratch memory, which is not simulated")),
        }
        Ok(())
    }

    /// Executes STRMOUT_BUFFER_UPDATE: sets the filled size of a stream-out buffer, and stores it to memory. Bytes and dwords are
    /// stored without conversion, because no driver mixes them.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cmd_buffer.c`, `radv_emit_streamout_begin` and `_end`.
    pub(super) fn strmout_buffer_update(
        &mut self,
        packet: &StrmoutBufferUpdate,
        step: &Step<'_, '_>,
        level: GfxLevel,
    ) -> Result<(), Stop> {
        let buffer = packet.buffer_select as usize;
        if packet.update_memory {
            let filled = self.state.filled.get(buffer).copied().unwrap_or_default();
            step.port.write_dwords(step.address("dst_addr_lo", packet.dst_addr)?, &[filled]);
        }
        // Before GFX11, an offset and the low half of an address have the same field.
        let shared = packet.offset_or_src_addr;
        let offset = match packet.source_select {
            StrmoutSource::PACKET_OFFSET if level >= GfxLevel::Gfx11 => Some(packet.offset),
            StrmoutSource::PACKET_OFFSET => Some(shared as u32),
            StrmoutSource::MEMORY if level >= GfxLevel::Gfx11 => {
                Some(step.port.read_u32(step.address("src_addr_lo", packet.src_addr)?))
            }
            StrmoutSource::MEMORY => {
                let va = step.aligned("offset_or_src_addr_lo", packet.src_addr | shared, 4)?;
                Some(step.port.read_u32(va))
            }
            // The chip's own count is the one in the simulator's state.
            _ => None,
        };
        if let (Some(filled), Some(offset)) = (self.state.filled.get_mut(buffer), offset) {
            *filled = offset;
        }
        // CP_STRMOUT_CNTL reports that the update is done, for the wait that follows.
        match CP_STRMOUT_CNTL.offset(level).and_then(Register::at_byte) {
            Some(control) => self.set_register(control, 1, level, step.port),
            None => Ok(()),
        }
    }

    /// Copies a range of the global data share to memory.
    pub(super) fn store_gds(&self, step: &Step<'_, '_>, va: GpuVa, offset: u32, dwords: u32) -> Result<(), Stop> {
        let bytes = 4 * u64::from(dwords);
        step.port.spend(Budget::of_bytes(bytes))?;
        // The number of dwords has at most 16 bits.
        let mut data = vec![0; bytes.min(4 * Ram::SIZE as u64) as usize];
        self.state.gds.read(offset, &mut data);
        step.port.write(va, &data);
        Ok(())
    }
}

fn at(va: GpuVa, offset: u32, step: &Step<'_, '_>) -> Result<GpuVa, Stop> {
    va.checked_add(offset.into()).ok_or_else(|| step.refuse("runs over the end of the address space"))
}

fn source(packet: &Dma, step: &Step<'_, '_>) -> Result<Side, Stop> {
    Ok(match packet.source {
        DmaSrc::SAS_ADDRESS if packet.names_registers.0 => register_at(step, packet.from)?,
        DmaSrc::SAS_ADDRESS | DmaSrc::L2_ADDRESS => Side::Memory(step.address("src_addr_lo", packet.from)?),
        DmaSrc::GDS => Side::Gds(packet.from as u32),
        _ => Side::Value(packet.pattern),
    })
}

fn destination(packet: &Dma, step: &Step<'_, '_>) -> Result<Side, Stop> {
    Ok(match packet.destination {
        DmaDst::DAS_ADDRESS if packet.names_registers.1 => register_at(step, packet.to)?,
        DmaDst::DAS_ADDRESS | DmaDst::L2_ADDRESS => Side::Memory(step.address("dst_addr_lo", packet.to)?),
        DmaDst::GDS => Side::Gds(packet.to as u32),
        _ => Side::Value(0),
    })
}

/// Returns the register whose byte offset is the low half of an address.
fn register_at(step: &Step<'_, '_>, address: u64) -> Result<Side, Stop> {
    let byte = address as u32;
    let misaligned = FieldError::Misaligned { field: "register", value: byte.into(), multiple: 4 };
    Register::at_byte(byte).map(Side::Register).ok_or_else(|| step.wrong(misaligned))
}
