//! Executing PM4.

use amdgpu_winsys::cs::pm4::{
    self, Command, CopyData, CopySize, CopySource, CopyTo, CpDma, DmaSource, DmaTo, EndOfPipe, EopStore, Event,
    EventWrite, IndirectBuffer, Register, Target, WaitRegMem, WriteData, WriteTo,
};
use amdgpu_winsys::winsys::GfxLevel;

use super::engine::{Budget, malformed};
use super::fetch::Frame;
use super::port::Port;
use super::{Engine, Environment, Ib, Registers, Stop, dma};

/// Where the engine goes on.
enum Flow {
    /// Behind the packet.
    On,
    /// In another IB, without coming back.
    Chain(Ib),
    /// In another IB, and then behind the packet.
    Call(Ib),
}

impl Engine {
    pub(super) fn run_pm4(&mut self, ib: Ib, target: Target, env: &Environment<'_>) -> Result<(), Stop> {
        let mut frames = std::mem::replace(&mut self.frames, [Frame::new(), Frame::new()]);
        let ran = self.levels(&mut frames, ib, target, env);
        self.frames = frames;
        ran
    }

    /// Executes level 1, and level 2 whenever it is called.
    fn levels(
        &mut self,
        [outer, inner]: &mut [Frame; 2],
        ib: Ib,
        target: Target,
        env: &Environment<'_>,
    ) -> Result<(), Stop> {
        let mut budget = Budget::new();
        outer.load(ib, env);
        while let Some(called) = self.level(outer, 1, target, env, &mut budget)? {
            inner.load(called, env);
            // It calls nothing in turn: `indirect_buffer` refuses that on level 2.
            self.level(inner, 2, target, env, &mut budget)?;
        }
        Ok(())
    }

    /// Executes an IB and those it chains to, up to the end or to a call.
    fn level(
        &mut self,
        frame: &mut Frame,
        level: u8,
        target: Target,
        env: &Environment<'_>,
        budget: &mut Budget,
    ) -> Result<Option<Ib>, Stop> {
        loop {
            let Some(decoded) = pm4::decode_at(frame.dwords(), frame.next(), target) else {
                return frame.failed_fetch(target.into(), level).map_or(Ok(None), Err);
            };
            let decoded = decoded.map_err(|source| malformed(frame, target.into(), level, source))?;
            let place = frame.place(target.into(), level, decoded.command.name());
            budget.packet(place)?;
            tracing::trace!(%place, command = ?decoded.command);
            let flow = self.execute(&decoded.command, target, &Port::new(env, place))?;
            let len = decoded.len;
            frame.advance(len);
            match flow {
                Flow::On => {}
                Flow::Chain(ib) => {
                    budget.jump(ib, place, env)?;
                    frame.load(ib, env);
                }
                Flow::Call(ib) => {
                    budget.jump(ib, place, env)?;
                    return Ok(Some(ib));
                }
            }
        }
    }

    fn execute(&mut self, command: &Command<'_>, target: Target, port: &Port<'_>) -> Result<Flow, Stop> {
        match *command {
            // Each packet is finished before the next, and caches are not simulated.
            Command::Nop(_) | Command::AcquireMem(_) | Command::PfpSyncMe(_) => {}
            Command::WriteData(packet) => self.write_data(&packet, target.level, port)?,
            Command::CopyData(packet) => self.copy_data(&packet, target.level, port)?,
            Command::CpDma(packet) => cp_dma(&packet, port)?,
            Command::EndOfPipe(packet) => end_of_pipe(&packet, port),
            Command::WaitRegMem(packet) => wait_reg_mem(&packet, port)?,
            Command::EventWrite(packet) => self.event_write(packet, target.level, port)?,
            Command::IndirectBuffer(packet) => return indirect_buffer(&packet, target, port),
            Command::Unknown { opcode, .. } => {
                return Err(Stop::Unknown { place: port.place(), opcode: opcode.into() });
            }
            _ => return Err(Stop::Refused { place: port.place(), what: "not simulated" }),
        }
        Ok(Flow::On)
    }

    fn write_data(&mut self, packet: &WriteData<'_>, level: GfxLevel, port: &Port<'_>) -> Result<(), Stop> {
        let last = packet.data.len().saturating_sub(1);
        let data = if packet.no_increment { packet.data.get(last..).unwrap_or_default() } else { packet.data };
        match packet.to {
            WriteTo::Memory { va, .. } => port.write_dwords(va, data),
            WriteTo::Register(first) => {
                for (register, &value) in registers(first).zip(data) {
                    self.set_register(register, value, level, port)?;
                }
            }
        }
        Ok(())
    }

    fn copy_data(&mut self, packet: &CopyData, level: GfxLevel, port: &Port<'_>) -> Result<(), Stop> {
        let wide = packet.size == CopySize::Qword;
        let value = match packet.from {
            CopySource::Memory(va) | CopySource::L2(va) if wide => port.read_u64(va),
            CopySource::Memory(va) | CopySource::L2(va) => port.read_u32(va).into(),
            CopySource::Immediate(value) => value,
            CopySource::GpuClock | CopySource::SystemClock => port.env().clock.ticks(),
            CopySource::Register(first) => {
                let mut value = 0;
                for (register, shift) in registers(first).zip(if wide { 0..2 } else { 0..1 }) {
                    value |= u64::from(self.get_register(register, level, port)?) << (32 * shift);
                }
                value
            }
        };
        match packet.to {
            CopyTo::Memory(va) | CopyTo::L2(va) | CopyTo::Grbm(va) if wide => port.write_u64(va, value),
            CopyTo::Memory(va) | CopyTo::L2(va) | CopyTo::Grbm(va) => port.write_dwords(va, &[value as u32]),
            CopyTo::Register(first) => {
                let halves = [value as u32, (value >> 32) as u32];
                for (register, half) in registers(first).zip(halves).take(if wide { 2 } else { 1 }) {
                    self.set_register(register, half, level, port)?;
                }
            }
        }
        Ok(())
    }

    fn get_register(&self, register: Register, level: GfxLevel, port: &Port<'_>) -> Result<u32, Stop> {
        if Registers::may_read(register, level) {
            Ok(self.registers.get(register))
        } else {
            Err(Stop::Refused { place: port.place(), what: "reads a register outside the apertures" })
        }
    }

    fn set_register(&mut self, register: Register, value: u32, level: GfxLevel, port: &Port<'_>) -> Result<(), Stop> {
        if Registers::may_write(register, level) {
            self.registers.set(register, value);
            Ok(())
        } else {
            Err(Stop::Refused { place: port.place(), what: "writes a register outside the apertures" })
        }
    }

    /// Nothing is ever drawn, so every sample count is zero; bit 63 says that it was stored.
    fn event_write(&self, packet: EventWrite, level: GfxLevel, port: &Port<'_>) -> Result<(), Stop> {
        let Some(va) = packet.at else { return Ok(()) };
        let counts_samples = match packet.event {
            Event::ZPASS_DONE => level < GfxLevel::Gfx11,
            event => event == Event::PIXEL_PIPE_STAT_DUMP,
        };
        if !counts_samples {
            return Err(Stop::Refused { place: port.place(), what: "samples statistics that are not simulated" });
        }
        for backend in (0..32).filter(|backend| self.render_backends >> backend & 1 != 0) {
            if let Some(slot) = va.checked_add(16 * backend) {
                port.write_u64(slot, 1 << 63);
            }
        }
        Ok(())
    }
}

/// A register and those behind it.
fn registers(first: Register) -> impl Iterator<Item = Register> {
    std::iter::successors(Some(first), |register| register.next())
}

fn cp_dma(packet: &CpDma, port: &Port<'_>) -> Result<(), Stop> {
    let bytes = packet.bytes.into();
    match (packet.from, packet.to) {
        (DmaSource::Memory { va: from, .. }, DmaTo::Memory { va: to, .. }) => dma::copy(port, to, from, bytes)?,
        (DmaSource::Pattern(pattern), DmaTo::Memory { va: to, .. }) => dma::fill(port, to, pattern, bytes),
        // What is brought into L2 has no effect here.
        (_, DmaTo::Nowhere(_)) => {}
    }
    Ok(())
}

fn end_of_pipe(packet: &EndOfPipe, port: &Port<'_>) {
    match packet.store {
        EopStore::Nothing => {}
        EopStore::Dword { va, value } => port.write_dwords(va, &[value]),
        EopStore::Qword { va, value } => port.write_u64(va, value),
        EopStore::GpuClock { va } | EopStore::SystemClock { va } => port.write_u64(va, port.env().clock.ticks()),
    }
}

fn wait_reg_mem(packet: &WaitRegMem, port: &Port<'_>) -> Result<(), Stop> {
    let WaitRegMem { va, function, reference, mask, .. } = *packet;
    loop {
        let last = port.read_u32(va);
        if function.holds(last & mask, reference) {
            return Ok(());
        }
        if !port.env().job.keep_waiting() {
            return Err(Stop::GaveUp { place: port.place(), va, function, mask, reference, last });
        }
    }
}

/// The rules of levels: MEC chains only, and says `valid`; level 2 does not call; a chain leads somewhere.
fn indirect_buffer(packet: &IndirectBuffer, target: Target, port: &Port<'_>) -> Result<Flow, Stop> {
    let ib = Ib { va: packet.va, dwords: packet.dwords };
    let refused = |what| Err(Stop::Refused { place: port.place(), what });
    if target.is_mec() && !packet.valid {
        return refused("MEC takes no IB without the valid bit");
    }
    if packet.chain {
        return if ib.dwords == 0 { refused("chains to an empty IB") } else { Ok(Flow::Chain(ib)) };
    }
    if target.is_mec() {
        return refused("MEC can not call an IB");
    }
    if port.place().level > 1 {
        return refused("an IB that was called can not call another");
    }
    Ok(if ib.dwords == 0 { Flow::On } else { Flow::Call(ib) })
}
