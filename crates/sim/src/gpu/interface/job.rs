//! The job that an engine executes.

use amdgpu_waves::{InstructionHazard, WaveMutation};

use super::{
    ib::Ib,
    memory::{FaultSource, PageFault},
    stop::Place,
};

/// The job that an engine executes.
pub trait Job {
    /// Returns `true` if a wait should continue. Called after each poll of memory that did not satisfy the wait; may sleep before
    /// it returns. Returns `false` if the job has timed out or was cancelled.
    fn keep_waiting(&self) -> bool;

    /// Reports a page fault of a packet. The packet continues: its writes to the page are lost, and its reads return zero. It is
    /// called once for each packet and kind of access.
    fn fault(&self, fault: PageFault, place: Place);

    /// Reports a page fault as [`fault`](Self::fault) does, with its source.
    fn fault_by(&self, fault: PageFault, source: FaultSource, place: Place) {
        let _ = source;
        self.fault(fault, place);
    }

    /// Reports why a wave of the job cannot continue.
    fn hung(&self, reason: &str) {
        let _ = reason;
    }

    /// Returns `true` if the job should end immediately, because it was cancelled or its time is over. Called at jumps to another
    /// IB, for every MiB of copies, every thousand packets and every few hundred instructions of a wave; does not sleep. Once it has
    /// returned `true`, it does so for ever.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Returns the job if several threads may query it at once.
    fn shared(&self) -> Option<&(dyn Job + Sync)> {
        None
    }

    /// Returns a deliberate mistake for the shaders of the job, if any.
    fn wave_mutation(&self) -> Option<WaveMutation> {
        None
    }

    /// Returns a deliberate mistake for the fixed functions of the job's draws, if any.
    fn draw_mutation(&self) -> Option<amdgpu_raster::DrawMutation> {
        None
    }

    /// Returns `true` if the memory of the job models caches, so that it wants to know the units of accesses.
    fn is_checked(&self) -> bool {
        false
    }

    /// Reports two instructions of a shader that the packet started, between which the hardware does not wait and code must. Called
    /// if [`is_checked`](Self::is_checked).
    fn hazard(&self, hazard: &InstructionHazard, place: Place) {
        let _ = (hazard, place);
    }

    /// Reports that an IB was fetched: a submitted IB, or one that was called or chained to.
    fn fetched(&self, ib: Ib, dwords: &[u32]) {
        let _ = (ib, dwords);
    }
}
