//! Executing copy-engine packets.

use amdgpu_winsys::cs::Target;
use amdgpu_winsys::cs::sdma::{self, Command, PollMem, Version};

use super::engine::{Budget, malformed};
use super::fetch::Frame;
use super::port::Port;
use super::{Engine, Environment, Ib, Stop, dma};

impl Engine {
    /// Executes an IB. The copy engine has neither calls nor chains, so one level is all there is.
    pub(super) fn run_sdma(&mut self, ib: Ib, version: Version, env: &Environment<'_>) -> Result<(), Stop> {
        let [frame, _] = &mut self.frames;
        frame.load(ib, env);
        level(frame, version, env)
    }
}

fn level(frame: &mut Frame, version: Version, env: &Environment<'_>) -> Result<(), Stop> {
    let target = Target::Sdma(version);
    let mut budget = Budget::new();
    loop {
        let Some(decoded) = sdma::decode_at(frame.dwords(), frame.next(), version) else {
            return frame.failed_fetch(target, 1).map_or(Ok(()), Err);
        };
        let decoded = decoded.map_err(|source| malformed(frame, target, 1, source))?;
        let place = frame.place(target, 1, decoded.command.name());
        budget.packet(place)?;
        tracing::trace!(%place, command = ?decoded.command);
        execute(&decoded.command, &Port::new(env, place))?;
        let len = decoded.len;
        frame.advance(len);
    }
}

fn execute(command: &Command<'_>, port: &Port<'_>) -> Result<(), Stop> {
    match *command {
        Command::Nop(_) => {}
        Command::CopyLinear(packet) => dma::copy(port, packet.to, packet.from, packet.bytes.into())?,
        Command::WriteLinear(packet) => port.write_dwords(packet.to, packet.data),
        Command::ConstFill(packet) => dma::fill(port, packet.to, packet.pattern, packet.bytes.into()),
        Command::Fence(packet) => port.write_dwords(packet.va, &[packet.value]),
        Command::Timestamp(packet) => port.write_u64(packet.va, port.env().clock.ticks()),
        Command::PollMem(packet) => poll_mem(&packet, port)?,
        Command::Unknown { op, sub_op, .. } => {
            return Err(Stop::Unknown { place: port.place(), opcode: u16::from_be_bytes([sub_op, op]) });
        }
        _ => return Err(Stop::Refused { place: port.place(), what: "not simulated" }),
    }
    Ok(())
}

/// Looks until the value compares, the retries are used up (then the engine goes on), or the job's patience ends.
fn poll_mem(packet: &PollMem, port: &Port<'_>) -> Result<(), Stop> {
    let PollMem { va, function, reference, mask, .. } = *packet;
    let mut looks = 0;
    loop {
        let last = port.read_u32(va);
        let out_of_retries = packet.retries != PollMem::FOREVER && looks >= packet.retries;
        if function.holds(last & mask, reference) || out_of_retries {
            return Ok(());
        }
        looks += 1;
        if !port.env().job.keep_waiting() {
            return Err(Stop::GaveUp { place: port.place(), va, function, mask, reference, last });
        }
    }
}
