//! Executing PM4: the way through IBs, and the packets that the library has types for.

mod constant;
mod draws;
mod flow;
mod listed;
mod memory;
mod registers;
mod signals;

use amdgpu_hw::GfxLevel;
use amdgpu_packets::pm4::{
    self, Command, CopyData, CopySize, CopySource, CopyTo, CpDma, DmaSource, DmaTo, EndOfPipe, EopStore, EventWrite,
    HeaderFlags, IndirectBuffer, Register, Target, WaitRegMem, WriteData, WriteTo,
};
use amdgpu_packets::{DecodeError, DecodeFault, FieldError};

use super::budget::Budget;
use super::engine::malformed;
use super::fetch::Frame;
use super::port::Port;
use super::step::{Step, wrong};
use super::wait::{Condition, wait_for_memory};
use super::{Engine, Environment, Ib, Place, Registers, Stop, dma};
use amdgpu_packets::layout::{Fields, Misfit, Reader, is_for_the_interface_queue};

/// Where the engine goes on.
enum Flow {
    /// Behind the packet.
    On,
    /// This many dwords behind the packet.
    Skip(usize),
    /// In another IB, without coming back.
    Chain(Ib),
    /// In another IB, and then behind the packet.
    Call(Ib),
    /// Behind the packet, and the constant engine in an IB of its own.
    Constant(Ib),
    /// Here again, when the draw engine has come further. Only the constant engine waits like this.
    Blocked,
}

/// What all levels of a job share.
struct Walk<'w> {
    target: Target,
    env: &'w Environment<'w>,
    budget: &'w Budget,
}

impl<'w> Walk<'w> {
    const fn port(&self, place: Place) -> Port<'w> {
        Port::new(self.env, self.budget, place)
    }
}

/// A packet, understood by the library or by the tables.
enum Understood<'f> {
    Typed(Command<'f>),
    Listed(Fields<'f>),
}

impl Understood<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Typed(command) => command.name(),
            Self::Listed(fields) => fields.name(),
        }
    }
}

impl Engine {
    pub(super) fn run_pm4(&mut self, ib: Ib, target: Target, env: &Environment<'_>) -> Result<(), Stop> {
        let mut frames = std::mem::replace(&mut self.frames, [Frame::new(), Frame::new(), Frame::new()]);
        let ran = self.levels(&mut frames, ib, &Walk { target, env, budget: &Budget::new() });
        self.frames = frames;
        ran
    }

    /// Executes level 1, and level 2 whenever it is called.
    fn levels(&mut self, [outer, inner, constant]: &mut [Frame; 3], ib: Ib, walk: &Walk<'_>) -> Result<(), Stop> {
        constant.clear();
        outer.load(ib, walk.env);
        while let Some(called) = self.level(outer, constant, 1, walk)? {
            inner.load(called, walk.env);
            // It calls nothing in turn: `indirect_buffer` refuses that on level 2.
            self.level(inner, constant, 2, walk)?;
        }
        self.finish_constant(constant, walk)
    }

    /// Executes an IB and those it chains to, up to the end or to a call.
    fn level(
        &mut self,
        frame: &mut Frame,
        constant: &mut Frame,
        level: u8,
        walk: &Walk<'_>,
    ) -> Result<Option<Ib>, Stop> {
        let target = walk.target;
        loop {
            let Some((packet, len, is_predicated)) = understand(frame, level, target)? else {
                return frame.failed_fetch(target.into(), level).map_or(Ok(None), Err);
            };
            let place = frame.place(target.into(), level, packet.name());
            walk.budget.packet(place, walk.env)?;
            let port = walk.port(place);
            let flow = match packet {
                _ if is_predicated && self.state.predicate.skips && !target.is_mec() => Flow::On,
                Understood::Typed(command) => {
                    tracing::trace!(%place, ?command);
                    self.execute(&command, target, &port)?
                }
                Understood::Listed(fields) => {
                    tracing::trace!(%place);
                    let step = Step { fields, reader: Reader::Ring(target), port: &port };
                    let rest = frame.dwords().get(frame.next() + len..).unwrap_or_default();
                    match fields.name() {
                        // The draw engine came further, so the constant engine may.
                        "INCREMENT_DE_COUNTER" | "WAIT_ON_CE_COUNTER" => {
                            self.meet_constant(&step, constant, walk)?;
                            Flow::On
                        }
                        _ => self.execute_listed(&step, target.level, rest)?,
                    }
                }
            };
            frame.advance(len);
            match flow {
                Flow::On | Flow::Blocked => {}
                Flow::Skip(dwords) => frame.advance(dwords),
                Flow::Chain(ib) => {
                    walk.budget.jump(ib, place, walk.env)?;
                    frame.load(ib, walk.env);
                }
                Flow::Call(ib) => {
                    walk.budget.jump(ib, place, walk.env)?;
                    return Ok(Some(ib));
                }
                Flow::Constant(ib) => {
                    walk.budget.jump(ib, place, walk.env)?;
                    self.start_constant(constant, ib, walk)?;
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
            Command::EventWrite(EventWrite { event, at }) => {
                self.event(event.number().into(), at, target, port)?;
            }
            Command::IndirectBuffer(packet) => return indirect_buffer(&packet, target, port),
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
            Ok(self.state.registers.get(register))
        } else {
            Err(Stop::Refused { place: port.place(), what: "reads a register outside the apertures" })
        }
    }

    fn set_register(&mut self, register: Register, value: u32, level: GfxLevel, port: &Port<'_>) -> Result<(), Stop> {
        if Registers::may_write(register, level) {
            self.state.registers.set(register, value);
            Ok(())
        } else {
            Err(Stop::Refused { place: port.place(), what: "writes a register outside the apertures" })
        }
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
        (DmaSource::Pattern(pattern), DmaTo::Memory { va: to, .. }) => dma::fill(port, to, pattern, bytes)?,
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
    wait_for_memory(port, va, false, &Condition { function, mask: mask.into(), reference: reference.into() })
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

/// The packet at the frame's place, its length, and whether its header asks for predication; `None` at the end.
fn understand(frame: &Frame, level: u8, target: Target) -> Result<Option<(Understood<'_>, usize, bool)>, Stop> {
    let Some(decoded) = pm4::decode_at(frame.dwords(), frame.next(), target) else { return Ok(None) };
    let error = match decoded {
        Ok(pm4::Decoded { command: Command::Unknown { opcode, .. }, len, flags, .. }) => {
            let packet = frame.dwords().get(frame.next()..frame.next() + len).unwrap_or_default();
            let fields = listed(packet, opcode, frame, level, target)?;
            return Ok(Some((Understood::Listed(fields), len, flags.contains(HeaderFlags::PREDICATE))));
        }
        Ok(pm4::Decoded { command, len, flags, .. }) => {
            return Ok(Some((Understood::Typed(command), len, flags.contains(HeaderFlags::PREDICATE))));
        }
        Err(error) => error,
    };
    // A form of a known packet that the library does not write. IBs are as strict as the library has them.
    if let Some((packet, opcode)) = whole(frame, target.level, &error)
        && let Ok(fields) = Fields::read(packet, opcode, Reader::Ring(target))
        && fields.name() != "INDIRECT_BUFFER"
    {
        let is_predicated = HeaderFlags::from_bits_truncate(error.header).contains(HeaderFlags::PREDICATE);
        return Ok(Some((Understood::Listed(fields), packet.len(), is_predicated)));
    }
    Err(malformed(frame, target.into(), level, error))
}

/// The dwords and opcode of a packet that has a proper header, and a wrong field behind it.
fn whole<'f>(frame: &'f Frame, level: GfxLevel, error: &DecodeError) -> Option<(&'f [u32], u8)> {
    let header = error.header;
    let flags = HeaderFlags::known(level).bits();
    let is_field = matches!(error.fault, DecodeFault::Field { source, .. } if !matches!(source, FieldError::Reserved { dword: 0, .. }));
    if !is_field || header >> 30 != 3 || header & 0xff & !flags != 0 || header >> 16 & 0x3fff == 0x3fff {
        return None;
    }
    let len = (header >> 16 & 0x3fff) as usize + 2;
    Some((frame.dwords().get(frame.next()..frame.next() + len)?, (header >> 8) as u8))
}

/// A packet that only the tables know.
fn listed<'f>(packet: &'f [u32], opcode: u8, frame: &Frame, level: u8, target: Target) -> Result<Fields<'f>, Stop> {
    let place = |name| frame.place(target.into(), level, name);
    Fields::read(packet, opcode, Reader::Ring(target)).map_err(|misfit| match misfit {
        Misfit::Field(name, source) => wrong(place(name), packet, source),
        Misfit::Unknown => {
            let place = place(pm4::opcode::name(opcode).unwrap_or("unknown"));
            if is_for_the_interface_queue(opcode, target.level) {
                Stop::Refused { place, what: "only the kernel's interface queue takes this" }
            } else {
                Stop::Unknown { place, opcode: opcode.into() }
            }
        }
    })
}
