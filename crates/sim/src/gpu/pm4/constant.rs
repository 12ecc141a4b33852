//! The constant engine of GFX6 to GFX10.3, which executes a second stream beside the graphics stream.
//!
//! It executes as far as it can whenever it gets an IB and whenever the draw engine's counter is incremented. This is a valid
//! schedule of two processors.

use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;
use amdgpu_packets::layout::records::pm4::{LoadConstRam, Packet};
use amdgpu_packets::layout::values::SetBaseIndex;
use amdgpu_packets::layout::{Fields, Misfit, Reader};
use amdgpu_packets::pm4;
use zerocopy::IntoBytes;

use crate::gpu::{
    Engine, Ib, Stop,
    fetch::Frame,
    step::{Step, wrong},
};

use super::{Flow, Walk};

/// The level of the constant engine's IB in a packet's location.
const LEVEL: u8 = 1;

impl Engine {
    /// Starts another IB on the constant engine after the earlier one has ended.
    pub(super) fn start_constant(&mut self, frame: &mut Frame, ib: Ib, walk: &Walk<'_>) -> Result<(), Stop> {
        self.finish_constant(frame, walk)?;
        frame.load(ib, walk.env);
        self.run_constant(frame, walk)
    }

    /// Finishes the work of the constant engine. It must not wait for the draw engine, which has ended.
    pub(super) fn finish_constant(&mut self, frame: &mut Frame, walk: &Walk<'_>) -> Result<(), Stop> {
        self.run_constant(frame, walk)?;
        if frame.next() < frame.dwords().len() {
            let place = frame.place(walk.target.into(), LEVEL, "WAIT_ON_DE_COUNTER");
            return Err(Stop::Refused { place, what: "waits for a draw engine that is done" });
        }
        Ok(())
    }

    /// Executes INCREMENT_DE_COUNTER of the draw engine.
    pub(super) fn increment_de(&mut self, frame: &mut Frame, walk: &Walk<'_>) -> Result<(), Stop> {
        self.state.constant.de = self.state.constant.de.wrapping_add(1);
        self.run_constant(frame, walk)
    }

    /// Executes WAIT_ON_CE_COUNTER of the draw engine.
    pub(super) fn wait_on_ce(&mut self, step: &Step<'_, '_>, frame: &mut Frame, walk: &Walk<'_>) -> Result<(), Stop> {
        self.run_constant(frame, walk)?;
        match self.state.constant.lead() {
            1.. => Ok(()),
            _ => Err(step.refuse("waits for a constant engine that does not come")),
        }
    }

    /// Executes up to the end of the IB and of the queued ones, or until the constant engine must wait for the draw engine.
    pub(super) fn run_constant(&mut self, frame: &mut Frame, walk: &Walk<'_>) -> Result<(), Stop> {
        let (target, level) = (walk.target, walk.target.level);
        loop {
            let start = frame.next();
            let Some(&header) = frame.dwords().get(start) else {
                if let Some(stop) = frame.failed_fetch(target.into(), LEVEL) {
                    return Err(stop);
                }
                let Some(next) = self.queued.pop() else { return Ok(()) };
                frame.load(next, walk.env);
                continue;
            };
            let len = match header {
                0xffff_1000 | 0x8000_0000 => 1,
                _ => (header >> 16 & 0x3fff) as usize + 2,
            };
            let opcode = (header >> 8) as u8;
            let name = pm4::opcode::name(opcode).unwrap_or("unknown");
            let place = frame.place(target.into(), LEVEL, name);
            walk.budget.packet(place, walk.env)?;
            let Some(packet) = frame.dwords().get(start..start + len) else {
                let cut = Stop::Refused { place, what: "runs past the end of the constant engine's IB" };
                return Err(frame.failed_fetch(target.into(), LEVEL).unwrap_or(cut));
            };
            if len == 1 || (header >> 30 == 3 && name == "NOP") {
                frame.advance(len);
                continue;
            }
            let reader = Reader::Constant(level);
            let fields = match Fields::read(packet, opcode, reader) {
                Ok(fields) if header >> 30 == 3 => fields,
                Err(Misfit::Field(name, source)) => {
                    return Err(wrong(frame.place(target.into(), LEVEL, name), packet, source));
                }
                _ => return Err(Stop::Unknown { place, opcode: opcode.into() }),
            };
            let Some(understood) = Packet::read(&fields) else {
                return Err(Stop::Unknown { place, opcode: opcode.into() });
            };
            let port = walk.port(place);
            let step = Step { dwords: packet, reader, port: &port };
            let rest = frame.dwords().get(start + len..).unwrap_or_default();
            match self.execute_constant(&understood, &step, level, rest)? {
                Flow::Blocked => return Ok(()),
                Flow::Skip(dwords) => frame.advance(len + dwords),
                Flow::Constant(ib) | Flow::Chain(ib) | Flow::Call(ib) => {
                    walk.budget.jump(ib, place, walk.env)?;
                    frame.load(ib, walk.env);
                }
                Flow::On => frame.advance(len),
            }
        }
    }

    fn execute_constant(
        &mut self,
        packet: &Packet<'_>,
        step: &Step<'_, '_>,
        level: GfxLevel,
        rest: &[u32],
    ) -> Result<Flow, Stop> {
        match packet {
            Packet::WriteConstRam(packet) => {
                self.state.constant.ram.write(packet.ram_offset, packet.data.as_bytes());
            }
            Packet::LoadConstRam(packet) => self.load_const_ram(packet, step)?,
            Packet::DumpConstRam(packet) => {
                let va = step.aligned("addr_lo", packet.addr, 4)?;
                self.dump_const_ram(step, va, packet.ram_offset, packet.num_dwords, packet.increment_ce);
            }
            Packet::DumpConstRamOffset(packet) => {
                let base = self.state.base(SetBaseIndex::CE_DST).checked_add(packet.addr_offset.into());
                let va = base.ok_or_else(|| step.refuse("dumps beyond the end of the address space"))?;
                self.dump_const_ram(step, va, packet.ram_offset, packet.num_dwords, packet.increment_ce);
            }
            Packet::IncrementCeCounter(_) => self.raise_ce(),
            Packet::SetCeDeCounters(packet) => {
                let (low, high) = (packet.counter as u32, (packet.counter >> 32) as u32);
                // From GFX7 on, one dword is for both counters.
                self.state.constant.ce = low;
                self.state.constant.de = if level == GfxLevel::Gfx6 { high } else { low };
            }
            Packet::WaitOnDeCounter(_) if self.state.constant.lead() > 0 => return Ok(Flow::Blocked),
            Packet::WaitOnDeCounterDiff(packet) if self.state.constant.lead() >= packet.diff.cast_signed() => {
                return Ok(Flow::Blocked);
            }
            Packet::WaitOnDeCounter(_) | Packet::WaitOnDeCounterDiff(_) | Packet::SwitchBuffer(_) => {}
            Packet::IndirectBufferConst(packet) if !packet.chain => {
                return Err(step.refuse("the constant engine can not call an IB"));
            }
            packet => return self.execute(packet, step, level, rest),
        }
        Ok(Flow::On)
    }

    const fn raise_ce(&mut self) {
        self.state.constant.ce = self.state.constant.ce.wrapping_add(1);
    }

    /// Executes LOAD_CONST_RAM: copies memory of the GPU to the engine's own memory.
    fn load_const_ram(&mut self, packet: &LoadConstRam, step: &Step<'_, '_>) -> Result<(), Stop> {
        let va = step.aligned("addr_lo", packet.addr, 32)?;
        step.require_multiple("num_dwords", packet.num_dwords.into(), 8)?;
        // The number of dwords has at most 15 bits.
        let mut data = vec![0; 4 * packet.num_dwords as usize];
        step.port.read(va, &mut data);
        self.state.constant.ram.write(packet.ram_offset, &data);
        Ok(())
    }

    /// Executes DUMP_CONST_RAM or its relative form: copies the engine's own memory to memory of the GPU.
    fn dump_const_ram(&mut self, step: &Step<'_, '_>, va: GpuVa, offset: u32, dwords: u32, increments_ce: bool) {
        // The number of dwords has at most 15 bits.
        let mut data = vec![0; 4 * dwords as usize];
        self.state.constant.ram.read(offset, &mut data);
        step.port.write(va, &data);
        if increments_ce {
            self.raise_ce();
        }
    }
}
