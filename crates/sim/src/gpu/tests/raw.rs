//! Packets dword by dword, as a foreign driver would write them.

use amdgpu_packets::pm4::{Register, Target as Pm4};

use super::*;

/// A type-3 packet.
pub(super) fn packet(opcode: u32, body: &[u32]) -> Vec<u32> {
    [&[3 << 30 | (body.len() as u32 - 1) << 16 | opcode << 8], body].concat()
}

/// The same, with the predicate bit.
pub(super) fn predicated(opcode: u32, body: &[u32]) -> Vec<u32> {
    let mut dwords = packet(opcode, body);
    dwords[0] |= 1;
    dwords
}

/// The halves of an address.
pub(super) fn halves(at: u64) -> [u32; 2] {
    [at as u32, (at >> 32) as u32]
}

/// A store of a dword, by ME, in the form of every generation: six dwords with the filler behind it.
pub(super) fn store(at: u64, value: u32) -> Vec<u32> {
    [packet(0x37, &[0x500, at as u32, (at >> 32) as u32, value]), vec![0x8000_0000]].concat()
}

/// Runs packets on a new engine.
pub(super) fn run(rig: &Rig, target: impl Into<Target>, packets: &[Vec<u32>]) -> Result<Engine, Stop> {
    let mut engine = Engine::new(target.into()).with_render_backends(0b11);
    rig.run(&mut engine, &packets.concat()).map(|()| engine)
}

/// Returns the value of a register, by byte offset.
pub(super) fn register(engine: &Engine, byte: u32) -> u32 {
    engine.registers().get(Register::at_byte(byte).unwrap())
}

/// The graphics rings from one generation to another.
pub(super) fn gfx(first: GfxLevel, last: GfxLevel) -> impl Iterator<Item = Pm4> {
    GfxLevel::ALL.into_iter().filter(move |level| (first..=last).contains(level)).map(Pm4::gfx)
}

/// Every graphics and compute ring from a generation on.
pub(super) fn rings(first: GfxLevel) -> impl Iterator<Item = Pm4> {
    Pm4::all().filter(move |target| target.level >= first)
}

/// Returns the engine's words for refusing a packet.
pub(super) fn refusal(target: impl Into<Target>, packets: &[Vec<u32>]) -> String {
    run(&Rig::new(), target, packets).unwrap_err().to_string()
}
