//! Packets that move data: the forms that the library does not write, and those it has no types for.

use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;
use amdgpu_packets::FieldError;
use amdgpu_packets::pm4::Register;
use zerocopy::IntoBytes;

use crate::gpu::atomic::Atomic;
use crate::gpu::budget::Budget;
use crate::gpu::ram::Ram;
use crate::gpu::step::Step;
use crate::gpu::{Engine, Stop, Watched, dma};

use super::registers;

/// One side of a CP DMA.
#[derive(Clone, Copy)]
enum Side {
    Memory(GpuVa),
    /// A byte offset into global data share.
    Gds(u32),
    Register(Register),
    /// A pattern; as a destination, nowhere.
    Value(u32),
}

impl Engine {
    /// WRITE_DATA to where the library does not write.
    pub(super) fn write_data_listed(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        const GDS: u32 = 3;
        let data = step.fields.tail(4);
        let last = data.len().saturating_sub(1);
        let data = if step.is_set("no_increment") { data.get(last..).unwrap_or_default() } else { data };
        match step.get("dst_sel") {
            0 => {
                let first = step.register("dst_reg", "dst_reg_lo", "dst_reg_hi")?;
                for (register, &value) in registers(first).zip(data) {
                    self.set_register(register, value, level, step.port)?;
                }
            }
            1 | 2 | 5 => step.port.write_dwords(step.address("dst_addr_lo", "dst_addr_hi")?, data),
            GDS => self.state.gds.write(step.get("dst_gds"), data.as_bytes()),
            value => return Err(step.wrong(FieldError::Unknown { field: "dst_sel", value })),
        }
        Ok(())
    }

    /// COPY_DATA with selectors that the library does not write.
    pub(super) fn copy_data_listed(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let wide = step.is_set("count_sel");
        let bytes = if wide { 8 } else { 4 };
        let value = match step.get("src_sel") {
            0 | 4 => {
                let first = step.register("src_reg", "src_reg_lo", "src_reg_hi")?;
                self.get_registers(first, wide, level, step)?
            }
            1 | 2 if wide => step.port.read_u64(step.aligned("src_addr_lo", "src_addr_hi", bytes)?),
            1 | 2 => step.port.read_u32(step.aligned("src_addr_lo", "src_addr_hi", bytes)?).into(),
            3 => self.gds_qword(step.get("src_gds")),
            5 => step.fields.wide("imm_lo", "imm_hi"),
            6 => self.state.atomic_return,
            9 | 10 => step.port.env().clock.ticks(),
            7 | 8 => return Err(step.refuse("asks for what a GDS atomic returned, which is not simulated")),
            _ => return Err(step.refuse("asks for the argument of an EXECUTE_INDIRECT, which is not simulated")),
        };
        let halves = [value as u32, (value >> 32) as u32];
        let dwords = halves.get(..if wide { 2 } else { 1 }).unwrap_or_default();
        match step.get("dst_sel") {
            1 | 2 | 5 => step.port.write_dwords(step.aligned("dst_addr_lo", "dst_addr_hi", bytes)?, dwords),
            3 => self.state.gds.write(step.get("dst_gds"), dwords.as_bytes()),
            0 | 4 | 6 => {
                let first = step.register("dst_reg", "dst_reg_lo", "dst_reg_hi")?;
                for (register, &half) in registers(first).zip(dwords) {
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

    /// CP_DMA and DMA_DATA between sides of all kinds.
    pub(super) fn dma_listed(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        if step.is_set("src_swap") || step.is_set("dst_swap") {
            return Err(step.refuse("swaps bytes, which is not simulated"));
        }
        if step.is_set("src_indirect") || step.is_set("dst_indirect") {
            return Err(step.refuse("takes its addresses from memory, which is not described anywhere"));
        }
        let (from, to) = (source(step)?, destination(step)?);
        let bytes = step.get("byte_count");
        let (holds_from, holds_to) = (step.is_set("saic"), step.is_set("daic"));
        match (from, to) {
            (_, Side::Value(_)) => Ok(()),
            (Side::Memory(from), Side::Memory(to)) if !holds_from && !holds_to => {
                dma::copy(step.port, to, from, bytes.into())
            }
            (Side::Value(pattern), Side::Memory(to)) if !holds_to => dma::fill(step.port, to, pattern, bytes.into()),
            _ => {
                step.require_multiple("byte_count", bytes.into(), 4)?;
                // A side that stays where it is, or one that is no memory: dword by dword.
                for offset in (0..bytes).step_by(4) {
                    step.port.spend(1)?;
                    let value = self.load(from, if holds_from { 0 } else { offset }, level, step)?;
                    self.store(to, if holds_to { 0 } else { offset }, value, level, step)?;
                }
                Ok(())
            }
        }
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

    /// COPY_DW of GFX6 and GFX7: a dword between memory and registers.
    pub(super) fn copy_dw(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let value = if step.is_set("src_space") {
            step.port.read_u32(step.aligned("src_lo", "src_hi", 4)?)
        } else {
            self.get_register(Register::new(step.get("src_lo")), level, step.port)?
        };
        if step.is_set("dst_space") {
            step.port.write_dwords(step.aligned("dst_lo", "dst_hi", 4)?, &[value]);
            return Ok(());
        }
        self.set_register(Register::new(step.get("dst_lo")), value, level, step.port)
    }

    /// WRITE_GDS_RAM of GFX6.
    pub(super) fn write_gds_ram(&mut self, step: &Step<'_, '_>) {
        let offset = step.get("gds_index").saturating_mul(4);
        self.state.gds.write(offset, step.fields.tail(2).as_bytes());
    }

    /// ATOMIC_MEM: once, or until the comparison holds.
    pub(super) fn atomic_mem(&mut self, step: &Step<'_, '_>) -> Result<(), Stop> {
        const LOOP: u32 = 1;
        let source = step.fields.wide("src_lo", "src_hi");
        let compare = step.fields.wide("cmp_lo", "cmp_hi");
        let number = step.get("op");
        let unknown = FieldError::Unknown { field: "op", value: number };
        let atomic = Atomic::new(number, source, compare).ok_or_else(|| step.wrong(unknown))?;
        let va = step.aligned("addr_lo", "addr_hi", atomic.bytes())?;
        loop {
            let done = atomic.run(step.port, va);
            if done.matched || step.get("command") != LOOP {
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
                    reference: compare,
                    last: done.before,
                });
            }
        }
    }

    /// COND_WRITE: one look, and a store if it holds.
    pub(super) fn cond_write(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let value = if step.is_set("poll_space") {
            step.port.read_u32(step.aligned("poll_addr_lo", "poll_addr_hi", 4)?)
        } else {
            self.get_register(Register::new(step.get("poll_reg")), level, step.port)?
        };
        if !step.compare()?.holds(value & step.get("mask"), step.get("reference")) {
            return Ok(());
        }
        let data = step.get("data");
        match step.get("write_space") {
            0 => self.set_register(Register::new(step.get("write_reg")), data, level, step.port)?,
            1 => step.port.write_dwords(step.aligned("write_addr_lo", "write_addr_hi", 4)?, &[data]),
            _ => return Err(step.refuse("writes the firmware's scratch memory, which is not simulated")),
        }
        Ok(())
    }

    /// STRMOUT_BUFFER_UPDATE: how far a stream-out buffer is filled, from here or there, and to memory. Bytes and dwords are
    /// stored as they come, as no recorder mixes them.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cmd_buffer.c`, `radv_emit_streamout_begin` and `_end`.
    pub(super) fn strmout_buffer_update(&mut self, step: &Step<'_, '_>, level: GfxLevel) -> Result<(), Stop> {
        let buffer = step.get("buffer_select") as usize;
        if step.is_set("update_memory") {
            let filled = self.state.filled.get(buffer).copied().unwrap_or_default();
            step.port.write_dwords(step.address("dst_addr_lo", "dst_addr_hi")?, &[filled]);
        }
        let offset = match step.get("source_select") {
            0 if level >= GfxLevel::Gfx11 => Some(step.get("offset")),
            0 => Some(step.get("offset_or_src_addr_lo")),
            2 if level >= GfxLevel::Gfx11 => Some(step.port.read_u32(step.address("src_addr_lo", "src_addr_hi")?)),
            2 => Some(step.port.read_u32(step.aligned("offset_or_src_addr_lo", "src_addr_hi", 4)?)),
            // The chip's own count is the one that is kept here.
            _ => None,
        };
        if let (Some(filled), Some(offset)) = (self.state.filled.get_mut(buffer), offset) {
            *filled = offset;
        }
        // CP_STRMOUT_CNTL says that the update is done, for the wait that comes next.
        match level {
            GfxLevel::Gfx6 => self.set_register(Register::new(0x84fc / 4), 1, level, step.port),
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 | GfxLevel::Gfx12 => Ok(()),
            _ => self.set_register(Register::new(0x300fc / 4), 1, level, step.port),
        }
    }

    /// Copies a range of global data share to memory.
    pub(super) fn store_gds(&self, step: &Step<'_, '_>, va: GpuVa, offset: u32, dwords: u32) -> Result<(), Stop> {
        let bytes = 4 * u64::from(dwords);
        step.port.spend(Budget::of_bytes(bytes))?;
        // At most 16 bits' worth of dwords.
        let mut data = vec![0; bytes.min(4 * Ram::SIZE as u64) as usize];
        self.state.gds.read(offset, &mut data);
        step.port.write(va, &data);
        Ok(())
    }
}

fn at(va: GpuVa, offset: u32, step: &Step<'_, '_>) -> Result<GpuVa, Stop> {
    va.checked_add(offset.into()).ok_or_else(|| step.refuse("runs over the end of the address space"))
}

fn source(step: &Step<'_, '_>) -> Result<Side, Stop> {
    Ok(match step.get("src_sel") {
        0 if step.is_set("sas") => register_at(step, step.get("src_addr_lo"))?,
        0 | 3 => Side::Memory(step.address("src_addr_lo", "src_addr_hi")?),
        1 => Side::Gds(step.get("src_addr_lo")),
        _ => Side::Value(step.get("data")),
    })
}

fn destination(step: &Step<'_, '_>) -> Result<Side, Stop> {
    Ok(match step.get("dst_sel") {
        0 if step.is_set("das") => register_at(step, step.get("dst_addr_lo"))?,
        0 | 3 => Side::Memory(step.address("dst_addr_lo", "dst_addr_hi")?),
        1 => Side::Gds(step.get("dst_addr_lo")),
        _ => Side::Value(0),
    })
}

fn register_at(step: &Step<'_, '_>, byte: u32) -> Result<Side, Stop> {
    let misaligned = FieldError::Misaligned { field: "register", value: byte.into(), multiple: 4 };
    Register::at_byte(byte).map(Side::Register).ok_or_else(|| step.wrong(misaligned))
}
