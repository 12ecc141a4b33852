//! Executing copy-engine packets.

use amdgpu_hw::GfxLevel;
use amdgpu_packets::sdma::{self, Command, PollMem, Version};
use amdgpu_packets::{FieldError, Target};

use super::budget::Budget;
use super::engine::malformed;
use super::fetch::Frame;
use super::port::Port;
use super::step::{Step, wrong};
use super::wait::Condition;
use super::{Engine, Environment, Ib, State, Stop, Watched, dma};
use amdgpu_packets::layout::{Fields, Misfit, Reader};

mod listed;

impl Engine {
    /// Executes an IB. The copy engine has neither calls nor chains, so one level is all there is.
    pub(super) fn run_sdma(&mut self, ib: Ib, version: Version, env: &Environment<'_>) -> Result<(), Stop> {
        let [frame, ..] = &mut self.frames;
        frame.load(ib, env);
        level(frame, &mut self.state, version, env)
    }
}

/// The packet at the frame's place.
enum Understood<'f> {
    Typed(Command<'f>),
    Listed(Fields<'f>),
}

fn level(frame: &mut Frame, state: &mut State, version: Version, env: &Environment<'_>) -> Result<(), Stop> {
    let target = Target::Sdma(version);
    let budget = Budget::new();
    while let Some((packet, len)) = understand(frame, version)? {
        let name = match &packet {
            Understood::Typed(command) => command.name(),
            Understood::Listed(fields) => fields.name(),
        };
        let place = frame.place(target, 1, name);
        budget.packet(place, env)?;
        let port = Port::new(env, &budget, place);
        let skipped = match packet {
            Understood::Typed(command) => {
                tracing::trace!(%place, ?command);
                execute(&command, &port)?;
                0
            }
            Understood::Listed(fields) => {
                tracing::trace!(%place);
                let step = Step { fields, reader: Reader::Copy(version), port: &port };
                let rest = frame.dwords().get(frame.next() + len..).unwrap_or_default();
                listed::execute(&step, version, state, rest.len())?
            }
        };
        frame.advance(len + skipped);
    }
    frame.failed_fetch(target, 1).map_or(Ok(()), Err)
}

/// Reads the next packet, by the library or by the tables; `None` at the end.
fn understand(frame: &Frame, version: Version) -> Result<Option<(Understood<'_>, usize)>, Stop> {
    let target = Target::Sdma(version);
    let rest = frame.dwords().get(frame.next()..).unwrap_or_default();
    let (Some(&header), Some(decoded)) = (rest.first(), sdma::decode_at(frame.dwords(), frame.next(), version)) else {
        return Ok(None);
    };
    let error = match decoded {
        Ok(sdma::Decoded { command: Command::Unknown { .. }, .. }) => None,
        Ok(sdma::Decoded { command, len, .. }) => return Ok(Some((Understood::Typed(command), len))),
        Err(error) => Some(error),
    };
    let (opcode, known) = opcode(header, version);
    if let (None, Some((name, what))) = (&error, listed::refused(opcode, version)) {
        return Err(Stop::Refused { place: frame.place(target, 1, name), what });
    }
    let misfit = match Fields::read_copy(rest, opcode, Reader::Copy(version), known) {
        Ok(fields) => {
            let len = fields.len();
            return Ok(Some((Understood::Listed(fields), len)));
        }
        Err(misfit) => misfit,
    };
    let place = |name| frame.place(target, 1, name);
    Err(match (error, misfit) {
        (Some(error), _) => malformed(frame, target, 1, error),
        // The rest of the packet may lie where nothing could be fetched.
        (None, Misfit::Field(name, source)) => {
            let is_cut = matches!(source, FieldError::Missing { .. });
            let failed = frame.failed_fetch(target, 1).filter(|_| is_cut);
            failed.unwrap_or_else(|| wrong(place(name), rest, source))
        }
        (None, Misfit::Unknown) => Stop::Unknown { place: place("unknown"), opcode },
    })
}

/// The opcode, with the sub-opcode in bits 15:8, and the bits of the header that hold them. On 3.0 to 6.0 an atomic has
/// no sub-opcode, and zeros in its place.
const fn opcode(header: u32, version: Version) -> (u16, u32) {
    match version {
        Version::V1_0 => ((header >> 28) as u16, 0xf000_0000),
        _ => (header as u16, 0xffff),
    }
}

fn execute(command: &Command<'_>, port: &Port<'_>) -> Result<(), Stop> {
    match *command {
        Command::Nop(_) => {}
        Command::CopyLinear(packet) => dma::copy(port, packet.to, packet.from, packet.bytes.into())?,
        Command::WriteLinear(packet) => port.write_dwords(packet.to, packet.data),
        Command::ConstFill(packet) => dma::fill(port, packet.to, packet.pattern, packet.bytes.into())?,
        Command::Fence(packet) => port.write_dwords(packet.va, &[packet.value]),
        Command::Timestamp(packet) => port.write_u64(packet.va, port.env().clock.ticks()),
        Command::PollMem(packet) => poll_mem(&packet, port)?,
        _ => return Err(Stop::Refused { place: port.place(), what: "not simulated" }),
    }
    Ok(())
}

fn poll_mem(packet: &PollMem, port: &Port<'_>) -> Result<(), Stop> {
    let PollMem { va, function, reference, mask, .. } = *packet;
    let condition = Condition { function, mask: mask.into(), reference: reference.into() };
    let retries = (packet.retries != PollMem::FOREVER).then_some(packet.retries.into());
    poll(port, Watched::Memory(va), &condition, retries, || port.read_u32(va))
}

/// Looks until the value compares, the retries are used up (then the engine goes on), or the job's patience ends.
fn poll(
    port: &Port<'_>,
    at: Watched,
    condition: &Condition,
    retries: Option<u32>,
    mut look: impl FnMut() -> u32,
) -> Result<(), Stop> {
    let mut looks = 0;
    loop {
        let last = look().into();
        if condition.is_met(last) || retries.is_some_and(|retries| looks >= retries) {
            return Ok(());
        }
        looks += 1;
        if !port.env().job.keep_waiting() {
            let Condition { function, mask, reference } = *condition;
            return Err(Stop::GaveUp { place: port.place(), at, function, mask, reference, last });
        }
    }
}

/// A generation that has this version: what decides which registers there are.
const fn generation(version: Version) -> GfxLevel {
    match version {
        Version::V1_0 => GfxLevel::Gfx6,
        Version::V2_0 => GfxLevel::Gfx7,
        Version::V2_4 | Version::V3_0 => GfxLevel::Gfx8,
        Version::V4_0 => GfxLevel::Gfx9,
        Version::V5_0 => GfxLevel::Gfx10,
        Version::V5_2 => GfxLevel::Gfx10_3,
        Version::V6_0 => GfxLevel::Gfx11,
        Version::V7_0 => GfxLevel::Gfx12,
    }
}
