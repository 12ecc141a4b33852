//! The execution of PM4 IBs.

mod caches;
mod constant;
mod draws;
mod execute;
mod flow;
mod late;
mod memory;
mod needs;
mod registers;
mod signals;

use amdgpu_hw::GfxLevel;
use amdgpu_packets::layout::records::pm4::Packet;
use amdgpu_packets::layout::{self, Reader, is_for_the_interface_queue};
use amdgpu_packets::pm4::{self, Command, HeaderFlags, Register, Ring, Target};
use amdgpu_packets::{DecodeError, DecodeFault};

use self::late::Join;
use super::budget::Budget;
use super::engine::malformed;
use super::fetch::Frame;
use super::port::Port;
use super::registers::broadcast;
use super::step::{Step, wrong};
use super::{Engine, Environment, Ib, Place, Registers, Stop};

/// The place at which execution continues after a packet.
enum Flow {
    /// After the packet.
    On,
    /// This many dwords after the packet.
    Skip(usize),
    /// In another IB, without a return.
    Chain(Ib),
    /// In another IB, and then after the packet.
    Call(Ib),
    /// After the packet; the constant engine starts an IB of its own.
    Constant(Ib),
    /// At the same packet, when the draw engine has made progress. Only the constant engine waits in this way.
    Blocked,
}

/// The state shared by all levels of a job.
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

/// A decoded packet.
struct Understood<'f> {
    packet: Packet<'f>,
    name: &'static str,
    dwords: &'f [u32],
    /// `true` if the packet's header requests predication.
    is_predicated: bool,
}

impl Engine {
    pub(super) fn run_pm4(
        &mut self,
        constant: &[Ib],
        ibs: &[Ib],
        target: Target,
        env: &Environment<'_>,
    ) -> Result<(), Stop> {
        let mut frames = std::mem::replace(&mut self.frames, [Frame::new(), Frame::new(), Frame::new()]);
        self.queued.clear();
        if target.ring == Ring::Gfx && target.level <= GfxLevel::Gfx10_3 {
            self.queued.extend(constant.iter().rev());
        }
        if let Some(late) = &mut self.late {
            late.clear();
        }
        let budget = Budget::new();
        let ran = self
            .levels(&mut frames, ibs, &Walk { target, env, budget: &budget })
            .and_then(|()| self.join(Join::All, env, &budget));
        self.frames = frames;
        ran
    }

    /// Executes level 1, and level 2 whenever it is called.
    fn levels(&mut self, [outer, inner, constant]: &mut [Frame; 3], ibs: &[Ib], walk: &Walk<'_>) -> Result<(), Stop> {
        constant.clear();
        self.run_constant(constant, walk)?;
        for &ib in ibs {
            outer.load(ib, walk.env);
            while let Some(called) = self.level(outer, constant, 1, walk)? {
                inner.load(called, walk.env);
                // Level 2 calls no other IB: `indirect_buffer` refuses that.
                self.level(inner, constant, 2, walk)?;
            }
        }
        self.finish_constant(constant, walk)
    }

    /// Executes an IB and the IBs that it chains to, up to the end or a call.
    fn level(
        &mut self,
        frame: &mut Frame,
        constant: &mut Frame,
        level: u8,
        walk: &Walk<'_>,
    ) -> Result<Option<Ib>, Stop> {
        let target = walk.target;
        loop {
            let Some(understood) = understand(frame, level, target)? else {
                return frame.failed_fetch(target.into(), level).map_or(Ok(None), Err);
            };
            let Understood { packet, name, dwords, is_predicated } = understood;
            let place = frame.place(target.into(), level, name);
            walk.budget.packet(place, walk.env)?;
            let port = walk.port(place);
            if let Some(observer) = walk.env.observer() {
                observer.packet(place);
            }
            tracing::trace!(%place, ?packet);
            let len = dwords.len();
            let step = Step { dwords, reader: Reader::Ring(target), port: &port };
            let flow = match packet {
                _ if is_predicated && self.state.predicate.skips && !target.is_mec() => Flow::On,
                // The draw engine made progress, so the constant engine may continue.
                Packet::IncrementDeCounter(_) => {
                    self.increment_de(constant, walk)?;
                    Flow::On
                }
                Packet::WaitOnCeCounter(_) => {
                    self.wait_on_ce(&step, constant, walk)?;
                    Flow::On
                }
                packet => {
                    let rest = frame.dwords().get(frame.next() + len..).unwrap_or_default();
                    self.execute(&packet, &step, target.level, rest)?
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
            for copy in broadcast(register, level) {
                self.state.registers.set(copy, value);
            }
            Ok(())
        } else {
            Err(Stop::Refused { place: port.place(), what: "writes a register outside the apertures" })
        }
    }
}

/// Decodes the packet at the frame's position; `None` at the end.
fn understand(frame: &Frame, level: u8, target: Target) -> Result<Option<Understood<'_>>, Stop> {
    let rest = frame.dwords().get(frame.next()..).unwrap_or_default();
    let Some(found) = layout::packets(rest, target).next() else { return Ok(None) };
    let (dwords, is_predicated) = (found.dwords, found.flags.contains(HeaderFlags::PREDICATE));
    let fields = match found.content {
        Ok(Some(fields)) => fields,
        Ok(None) => {
            let packet = Packet::Nop(layout::records::pm4::Nop::default());
            return Ok(Some(Understood { packet, name: "NOP", dwords, is_predicated }));
        }
        Err(error) => return Err(misunderstood(frame, level, target, error)),
    };
    let name = fields.name();
    let Some(packet) = Packet::read(&fields) else {
        return Err(Stop::Unknown { place: frame.place(target.into(), level, name), opcode: fields.layout().opcode() });
    };
    Ok(Some(Understood { packet, name, dwords, is_predicated }))
}

/// Returns the stop for a packet that cannot be decoded. It contains the library's error if the library has a type for the packet.
fn misunderstood(frame: &Frame, level: u8, target: Target, error: DecodeError) -> Stop {
    let typed = match pm4::decode_at(frame.dwords(), frame.next(), target) {
        Some(Err(typed)) => return malformed(frame, target.into(), level, typed),
        Some(Ok(decoded)) => decoded.command,
        None => Command::Nop(pm4::Nop::Bare),
    };
    let place = |name| frame.place(target.into(), level, name);
    match (error.fault, typed) {
        (DecodeFault::UnknownOpcode { opcode }, Command::Unknown { opcode: byte, .. }) => {
            let place = place(pm4::opcode::name(byte).unwrap_or("unknown"));
            if is_for_the_interface_queue(byte, target.level) {
                Stop::Refused { place, what: "only the kernel's interface queue takes this" }
            } else {
                Stop::Unknown { place, opcode }
            }
        }
        (DecodeFault::Field { packet, source }, _) => {
            let dwords = frame.dwords().get(frame.next()..).unwrap_or_default();
            wrong(place(packet), dwords, source)
        }
        _ => malformed(frame, target.into(), level, DecodeError { offset: frame.next(), ..error }),
    }
}
