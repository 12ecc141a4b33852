//! The job that an engine runs.

use amdgpu_waves::Flaw;

use super::{ib::Ib, memory::PageFault, stop::Place};

/// The job that an engine runs.
pub trait Job {
    /// Returns `true` if a wait goes on. Asked after each look at memory that did not satisfy it; may sleep for a while
    /// before it answers. False means that the job has timed out or was cancelled.
    fn keep_waiting(&self) -> bool;

    /// A packet's data was not there. The packet goes on: what it wrote there is lost, what it read there is zero. Told
    /// once for each packet and kind of access.
    fn fault(&self, fault: PageFault, place: Place);

    /// Takes the reason why a wave of the job can not go on, in words.
    fn hung(&self, reason: &str) {
        let _ = reason;
    }

    /// Returns `true` if the job shall end where it is. Asked whenever another IB begins, and now and then in
    /// between; does not sleep.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Returns a mistake that the shaders of the job make on purpose.
    fn flaw(&self) -> Option<Flaw> {
        None
    }

    /// An IB was fetched: the one submitted, or one that it calls or chains to.
    fn fetched(&self, ib: Ib, dwords: &[u32]) {
        let _ = (ib, dwords);
    }
}
