//! Waits for memory or a register.

use amdgpu_hw::GfxLevel;
use amdgpu_packets::layout::records::sdma::{PollRegMem, PollRegmem};
use amdgpu_packets::layout::values::Compare;
use amdgpu_packets::pm4::Register;
use amdgpu_packets::sdma::Version;

use crate::gpu::{Registers, State, Stop, Watched, port::Port, step::Step, wait::Condition};

/// The fields of POLL_REGMEM, or of POLL_REG_MEM of version 1.0.
pub(super) struct Poll {
    is_memory: bool,
    address: u64,
    function: Compare,
    mask: u32,
    reference: u32,
    retries: u32,
}

impl From<PollRegmem> for Poll {
    fn from(packet: PollRegmem) -> Self {
        let PollRegmem { mem_poll, addr, function, mask, value, retry_count, .. } = packet;
        Self { is_memory: mem_poll, address: addr, function, mask, reference: value, retries: retry_count }
    }
}

impl From<PollRegMem> for Poll {
    fn from(packet: PollRegMem) -> Self {
        let PollRegMem { mem_poll, addr, function, mask, reference, retry_count, .. } = packet;
        Self { is_memory: mem_poll, address: addr, function, mask, reference, retries: retry_count }
    }
}

/// Waits for memory or a register.
pub(super) fn poll_reg_mem(packet: &Poll, step: &Step<'_, '_>, version: Version, state: &State) -> Result<(), Stop> {
    const FOREVER: u32 = 0xfff;
    let function = step.compare(packet.function)?;
    let condition = Condition { function, mask: packet.mask.into(), reference: packet.reference.into() };
    let retries = Some(packet.retries).filter(|&retries| retries != FOREVER);
    let va = step.aligned("addr_lo", packet.address, 4)?;
    if packet.is_memory {
        return poll(step.port, Watched::Memory(va), &condition, retries, || step.port.read_u32(va));
    }
    let register = Register::new((packet.address / 4) as u32);
    if !Registers::may_read(register, generation(version)) {
        return Err(step.refuse("reads a register outside the apertures"));
    }
    poll(step.port, Watched::Register(register), &condition, retries, || state.register(register))
}

/// Polls until the comparison is true, the retries are used up (the engine then continues), or the job's wait limit is reached.
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

/// Returns a generation with this version. It decides which registers there are.
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
