//! Control flow of a stream: skipped packets, waits, and jumps.

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_packets::FieldError;
use amdgpu_packets::layout::Reader;
use amdgpu_packets::layout::records::pm4::{
    CondExec, CondIndirectBuffer, IndirectBuffer, IndirectBufferConst, PredExec, Rewind, SetPredication,
};
use amdgpu_packets::layout::values::{
    CondIbMode, PredicationBool, PredicationContinue, PredicationHint, PredicationOp,
};
use amdgpu_packets::pm4::{Compare, Register, Ring};

use crate::gpu::{
    Engine, Ib, Stop, Watched,
    state::Predicate,
    step::{Step, holds},
    wait::{Condition, wait, wait_for_memory},
};

use super::Flow;

impl Engine {
    /// Executes SET_PREDICATION: evaluates the condition now, and stores the result for packets whose headers request predication.
    pub(super) fn set_predication(&mut self, packet: &SetPredication, step: &Step<'_, '_>) -> Result<(), Stop> {
        let multiple = match packet.op {
            PredicationOp::CLEAR => {
                self.state.predicate = Predicate::default();
                return Ok(());
            }
            PredicationOp::ZPASS | PredicationOp::PRIMCOUNT => 16,
            PredicationOp::BOOL64 => 8,
            _ => 4,
        };
        let va = step.aligned("addr_lo", packet.addr, multiple)?;
        let value = match packet.op {
            PredicationOp::ZPASS => {
                let waits = packet.hint == PredicationHint::WAIT;
                let Some(samples) = self.samples_between(step, va, waits)? else {
                    self.state.predicate.skips = false;
                    return Ok(());
                };
                samples
            }
            PredicationOp::PRIMCOUNT => u64::from(has_not_overflowed(step, va)),
            PredicationOp::BOOL64 => step.port.read_u64(va),
            _ => step.port.read_u32(va).into(),
        };
        let goes_on = packet.continues == PredicationContinue::ACCUMULATE;
        let before = if goes_on { self.state.predicate.sum } else { 0 };
        let sum = before.saturating_add(value);
        let draws_if_set = packet.boolean == PredicationBool::DRAW_IF_VISIBLE;
        self.state.predicate = Predicate { skips: (sum != 0) != draws_if_set, sum };
        Ok(())
    }

    /// Returns the number of samples that passed between the start and the end of an occlusion query, from a pair of counts for
    /// each render backend. If a count is missing, it waits or returns `None`.
    pub(super) fn samples_between(&self, step: &Step<'_, '_>, va: GpuVa, waits: bool) -> Result<Option<u64>, Stop> {
        const VALID: u64 = 1 << 63;
        let is_valid = Condition { function: Compare::Equal, mask: VALID, reference: VALID };
        let mut sum = 0u64;
        for backend in (0..32).filter(|backend| self.render_backends >> backend & 1 != 0) {
            let (Some(begin), Some(end)) = (va.checked_add(16 * backend), va.checked_add(16 * backend + 8)) else {
                break;
            };
            if waits {
                wait_for_memory(step.port, begin, true, &is_valid)?;
                wait_for_memory(step.port, end, true, &is_valid)?;
            }
            let (begin, end) = (step.port.read_u64(begin), step.port.read_u64(end));
            if begin & end & VALID == 0 {
                return Ok(None);
            }
            sum = sum.wrapping_add(end.wrapping_sub(begin));
        }
        Ok(Some(sum))
    }

    /// Waits for a register. Only this stream changes it.
    pub(super) fn wait_for_register(
        &self,
        step: &Step<'_, '_>,
        register: Register,
        wide: bool,
        condition: &Condition,
    ) -> Result<(), Stop> {
        let low = u64::from(self.state.register(register));
        let high = register.next().filter(|_| wide).map_or(0, |next| self.state.register(next));
        wait(step.port, Watched::Register(register), condition, || u64::from(high) << 32 | low)
    }
}

/// Checks the rules for IBs: MEC only chains, and sets `valid`; level 2 does not call; a chain has a target.
pub(super) fn indirect_buffer(packet: &IndirectBuffer, step: &Step<'_, '_>) -> Result<Flow, Stop> {
    /// The bits that the kernel sets in its own IBs: an address space, and the action after a preemption.
    const KERNEL: u32 = !(CACHE_POLICY | VALID | PREAMBLE | CHAIN | SIZE);
    const CACHE_POLICY: u32 = 3 << 28;
    const VALID: u32 = 1 << 23;
    const PREAMBLE: u32 = 1 << 21;
    const CHAIN: u32 = 1 << 20;
    const SIZE: u32 = 0xf_ffff;
    let is_mec = matches!(step.reader, Reader::Ring(target) if target.is_mec());
    let unknown = match step.reader {
        Reader::Ring(target) if target.level < GfxLevel::Gfx7 => KERNEL | PREAMBLE | CACHE_POLICY,
        Reader::Ring(target) if target.ring == Ring::Gfx && target.level >= GfxLevel::Gfx8 => KERNEL,
        _ => KERNEL | PREAMBLE,
    };
    match step.dwords.last().map_or(0, |control| control & unknown) {
        0 => {}
        bits => return Err(step.wrong(FieldError::Reserved { dword: 3, bits })),
    }
    let ib = Ib { va: step.address("addr_lo", packet.addr)?, dwords: packet.ib_size };
    if is_mec && !packet.valid {
        return Err(step.refuse("MEC takes no IB without the valid bit"));
    }
    if packet.chain {
        return if ib.dwords == 0 { Err(step.refuse("chains to an empty IB")) } else { Ok(Flow::Chain(ib)) };
    }
    if is_mec {
        return Err(step.refuse("MEC can not call an IB"));
    }
    if step.place().level > 1 {
        return Err(step.refuse("an IB that was called can not call another"));
    }
    Ok(if ib.dwords == 0 { Flow::On } else { Flow::Call(ib) })
}

/// Executes COND_EXEC: skips the next dwords if the value in memory is zero.
pub(super) fn cond_exec(packet: &CondExec, step: &Step<'_, '_>, rest: &[u32]) -> Result<Flow, Stop> {
    let va = step.aligned("addr_lo", packet.addr, 4)?;
    skip_unless(step, step.port.read_u32(va) != 0, packet.exec_count, rest)
}

/// Executes PRED_EXEC: the next dwords are for the devices of a mask. The only device is number 0.
pub(super) fn pred_exec(packet: PredExec, step: &Step<'_, '_>, rest: &[u32]) -> Result<Flow, Stop> {
    skip_unless(step, packet.device_select & 1 != 0, packet.exec_count, rest)
}

/// Executes COND_INDIRECT_BUFFER: a call, or on MEC a jump, that depends on a qword.
pub(super) fn cond_indirect_buffer(packet: &CondIndirectBuffer, step: &Step<'_, '_>) -> Result<Flow, Stop> {
    let at = step.aligned("compare_addr_lo", packet.compare_addr, 8)?;
    let found = step.port.read_u64(at) & packet.mask;
    let (field, address, dwords) = if holds(step.compare(packet.function)?, found, packet.reference) {
        ("ib1_addr_lo", packet.ib1_addr, packet.ib1_size)
    } else if packet.mode == CondIbMode::IF_THEN_ELSE {
        ("ib2_addr_lo", packet.ib2_addr, packet.ib2_size)
    } else {
        return Ok(Flow::On);
    };
    let ib = Ib { va: step.address(field, address)?, dwords };
    let is_mec = matches!(step.reader, Reader::Ring(target) if target.ring == Ring::Compute);
    match ib.dwords {
        0 => Ok(Flow::On),
        _ if is_mec => Ok(Flow::Chain(ib)),
        _ if step.place().level > 1 => Err(step.refuse("an IB that was called can not call another")),
        _ => Ok(Flow::Call(ib)),
    }
}

/// Executes INDIRECT_BUFFER_CONST: starts an IB on the constant engine.
pub(super) fn indirect_buffer_const(packet: &IndirectBufferConst, step: &Step<'_, '_>) -> Result<Flow, Stop> {
    if packet.vmid != 0 {
        return Err(step.refuse("names an address space, which is the kernel's to choose"));
    }
    let ib = Ib { va: step.address("addr_lo", packet.addr)?, dwords: packet.ib_size };
    Ok(if ib.dwords == 0 { Flow::On } else { Flow::Constant(ib) })
}

/// Executes REWIND: reads the packet repeatedly until it says that the following packets are valid. These were fetched with the IB.
pub(super) fn rewind(packet: Rewind, step: &Step<'_, '_>) -> Result<(), Stop> {
    const VALID: u64 = 1 << 31;
    if packet.valid {
        return Ok(());
    }
    let place = step.place();
    let va = place.ib.va.checked_add(4 * (place.offset as u64 + 1));
    let va = va.ok_or_else(|| step.refuse("waits for a packet at the end of the address space"))?;
    let condition = Condition { function: Compare::Equal, mask: VALID, reference: VALID };
    wait_for_memory(step.port, va, false, &condition)
}

/// Returns `true` if stream-out did not overflow during a query. The query has statistics of its start and its end. Each has the
/// number of primitives that needed space and the number of written ones.
fn has_not_overflowed(step: &Step<'_, '_>, va: GpuVa) -> bool {
    let at = |offset| va.checked_add(offset).map_or(0, |va| step.port.read_u64(va));
    at(16).wrapping_sub(at(0)) == at(24).wrapping_sub(at(8))
}

/// Skips the packets in the next `exec_count` dwords unless `runs` is set. They must be complete, and all in this IB.
fn skip_unless(step: &Step<'_, '_>, runs: bool, count: u32, rest: &[u32]) -> Result<Flow, Stop> {
    let count = count as usize;
    let mut at = 0;
    while at < count {
        let header = rest.get(at).copied().ok_or_else(|| step.refuse("skips beyond the end of its IB"))?;
        at += match header >> 30 {
            2 => 1,
            3 if header == 0xffff_1000 => 1,
            _ => (header >> 16 & 0x3fff) as usize + 2,
        };
    }
    if at != count {
        return Err(step.refuse("what it skips ends in the middle of a packet"));
    }
    if count > rest.len() {
        return Err(step.refuse("skips beyond the end of its IB"));
    }
    Ok(if runs { Flow::On } else { Flow::Skip(count) })
}
