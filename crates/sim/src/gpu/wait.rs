//! Waits, for both types of engines.

use amdgpu_hw::GpuVa;
use amdgpu_packets::pm4::Compare;

use super::port::Port;
use super::step::holds;
use super::{Stop, Watched};

/// The condition of a wait.
#[derive(Clone, Copy)]
pub(super) struct Condition {
    pub(super) function: Compare,
    pub(super) mask: u64,
    pub(super) reference: u64,
}

impl Condition {
    /// Returns `true` if a value meets the condition.
    pub(super) const fn is_met(&self, value: u64) -> bool {
        holds(self.function, value & self.mask, self.reference)
    }
}

/// Waits until the condition is met or the job's wait limit is reached.
pub(super) fn wait(
    port: &Port<'_>,
    at: Watched,
    condition: &Condition,
    mut look: impl FnMut() -> u64,
) -> Result<(), Stop> {
    loop {
        let last = look();
        if condition.is_met(last) {
            return Ok(());
        }
        if !port.env().job.keep_waiting() {
            let Condition { function, mask, reference } = *condition;
            return Err(Stop::GaveUp { place: port.place(), at, function, mask, reference, last });
        }
    }
}

/// Waits for a dword or qword in memory.
pub(super) fn wait_for_memory(port: &Port<'_>, va: GpuVa, wide: bool, condition: &Condition) -> Result<(), Stop> {
    wait(port, Watched::Memory(va), condition, || if wide { port.read_u64(va) } else { port.read_u32(va).into() })
}

/// Performs a semaphore operation on a qword: a signal increments it (or sets it to one), a wait decrements it as soon as it is not
/// zero.
pub(super) fn semaphore(port: &Port<'_>, va: GpuVa, signals: bool, writes_one: bool) -> Result<(), Stop> {
    if signals {
        let raised = if writes_one { 1 } else { port.read_u64(va).wrapping_add(1) };
        port.write_u64(va, raised);
        return Ok(());
    }
    let is_raised = Condition { function: Compare::NotEqual, mask: u64::MAX, reference: 0 };
    wait_for_memory(port, va, true, &is_raised)?;
    port.write_u64(va, port.read_u64(va).wrapping_sub(1));
    Ok(())
}
