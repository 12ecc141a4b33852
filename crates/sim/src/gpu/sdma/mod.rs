//! The execution of copy-engine IBs.

use amdgpu_packets::layout::records::sdma::Packet;
use amdgpu_packets::layout::{self, Reader};
use amdgpu_packets::sdma::{self, Version};
use amdgpu_packets::{DecodeError, DecodeFault, FieldError, Target};

use super::budget::Budget;
use super::engine::malformed;
use super::fetch::Frame;
use super::port::Port;
use super::step::{Step, wrong};
use super::{Engine, Environment, Ib, State, Stop};

mod compressed;
mod execute;
mod poll;
mod reads;
mod tiled;
mod windows;

use reads::Reads;

impl Engine {
    /// Executes an IB. The copy engine has neither calls nor chains, so there is only one level.
    pub(super) fn run_sdma(&mut self, ib: Ib, version: Version, env: &Environment<'_>) -> Result<(), Stop> {
        let [frame, ..] = &mut self.frames;
        frame.load(ib, env);
        let is_narrow = (Version::V4_0..=Version::V5_0).contains(&version);
        let fills = if self.wide_fills && is_narrow { Version::V6_0 } else { version };
        level(frame, &mut self.state, &Reads { version, fills, chip: self.chip.as_ref() }, env)
    }
}

/// A decoded packet.
struct Understood<'f> {
    packet: Packet<'f>,
    name: &'static str,
    dwords: &'f [u32],
}

/// Executes the packets of an IB. CONST_FILL has the format of the version `reads.fills`.
fn level(frame: &mut Frame, state: &mut State, reads: &Reads<'_>, env: &Environment<'_>) -> Result<(), Stop> {
    let Reads { version, fills, .. } = *reads;
    let target = Target::Sdma(version);
    let budget = Budget::new();
    while let Some(Understood { packet, name, dwords }) = understand(frame, version, fills)? {
        let place = frame.place(target, 1, name);
        budget.packet(place, env)?;
        let port = Port::new(env, &budget, place);
        if let Some(observer) = env.observer() {
            observer.packet(place);
        }
        tracing::trace!(%place, ?packet);
        let len = dwords.len();
        let step = Step { dwords, reader: Reader::Copy(version), port: &port };
        let left = frame.dwords().len().saturating_sub(frame.next() + len);
        let skipped = execute::execute(&packet, &step, reads, state, left)?;
        frame.advance(len + skipped);
    }
    frame.failed_fetch(target, 1).map_or(Ok(()), Err)
}

/// Decodes the next packet; `None` at the end.
fn understand(frame: &Frame, version: Version, fills: Version) -> Result<Option<Understood<'_>>, Stop> {
    let rest = frame.dwords().get(frame.next()..).unwrap_or_default();
    let is_fill = rest.first().is_some_and(|&header| header as u16 == layout::sdma::CONST_FILL.opcode());
    let Some(found) = layout::packets(rest, if is_fill { fills } else { version }).next() else { return Ok(None) };
    match found.content {
        Ok(Some(fields)) => {
            let (name, dwords) = (fields.name(), found.dwords);
            let target = Target::Sdma(version);
            let place = frame.place(target, 1, name);
            let unknown = Stop::Unknown { place, opcode: fields.layout().opcode() };
            let packet = Packet::read(&fields).ok_or(unknown)?;
            Ok(Some(Understood { packet, name, dwords }))
        }
        Ok(None) => Ok(None),
        Err(error) => Err(misunderstood(frame, version, error)),
    }
}

/// Returns the stop for a packet that cannot be decoded. It contains the library's error if the library has a type for the packet.
fn misunderstood(frame: &Frame, version: Version, error: DecodeError) -> Stop {
    let target = Target::Sdma(version);
    if let Some(Err(typed)) = sdma::decode_at(frame.dwords(), frame.next(), version) {
        return malformed(frame, target, 1, typed);
    }
    let place = |name| frame.place(target, 1, name);
    if let Some((name, what)) = execute::refused(error.header, version) {
        return Stop::Refused { place: place(name), what };
    }
    match error.fault {
        DecodeFault::Field { packet, source } => {
            let dwords = frame.dwords().get(frame.next()..).unwrap_or_default();
            // The rest of the packet may be in memory that could not be fetched.
            let is_cut = matches!(source, FieldError::Missing { .. });
            let failed = frame.failed_fetch(target, 1).filter(|_| is_cut);
            failed.unwrap_or_else(|| wrong(place(packet), dwords, source))
        }
        DecodeFault::UnknownOpcode { opcode } => Stop::Unknown { place: place("unknown"), opcode },
        _ => malformed(frame, target, 1, DecodeError { offset: frame.next(), ..error }),
    }
}
