//! What an engine works on besides memory: a clock and a job.

use super::{
    ib::Ib,
    memory::{Memory, PageFault},
    stop::Place,
    work::Shaders,
};

/// The GPU's reference counter, the one that `AMDGPU_INFO_TIMESTAMP` answers from.
pub trait Clock {
    /// The counter now. It never goes back.
    fn ticks(&self) -> u64;
}

/// The job that an engine runs.
pub trait Job {
    /// Whether a wait goes on. Asked after each look at memory that did not satisfy it; may sleep for a while before it
    /// answers. False means that the job has timed out or was cancelled.
    fn keep_waiting(&self) -> bool;

    /// A packet's data was not there. The packet goes on: what it wrote there is lost, what it read there is zero. Told
    /// once for each packet and kind of access.
    fn fault(&self, fault: PageFault, place: Place);

    /// Whether the job shall end where it is. Asked whenever another IB begins, and now and then in
    /// between; does not sleep.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// An IB was fetched: the one submitted, or one that it calls or chains to.
    fn fetched(&self, ib: Ib, dwords: &[u32]) {
        let _ = (ib, dwords);
    }
}

/// All that an engine works on.
#[derive(Clone, Copy)]
pub struct Environment<'e> {
    /// The memory the packets see.
    pub memory: &'e dyn Memory,
    /// The counter that timestamps come from.
    pub clock: &'e dyn Clock,
    /// The job that is run.
    pub job: &'e dyn Job,
    /// What executes shaders; [`NoShaders`](super::NoShaders) for nothing.
    pub shaders: &'e dyn Shaders,
}
