//! Lost work: its reason and the context that caused it.

use std::fmt;

use crate::uapi::{CtxStateFlags, Errno};

/// The reason why the GPU did not finish its work.
///
/// ```
/// use amdgpu_winsys::winsys::LossReason;
///
/// # let gpu = amdgpu_sim::SimDevice::new(amdgpu_sim::profile("navi21").ok_or("no such chip")?, amdgpu_sim::SimOptions::default());
/// # let device = amdgpu_winsys::winsys::Device::new(gpu.open())?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// gpu.unplug();
/// let loss = queue.check().unwrap_err().loss().ok_or("no loss")?;
/// assert_eq!(loss.reason, LossReason::Unplugged);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossReason {
    /// A job of this context hung and was stopped.
    Hung,
    /// A GPU reset discarded the work.
    Reset,
    /// A GPU reset lost the contents of VRAM. Contexts created before the reset cannot run jobs any more.
    VramLost,
    /// The GPU was removed.
    Unplugged,
    /// The GPU's memory has uncorrectable errors, and the kernel refuses further work.
    Poisoned,
}

/// The context that caused a loss, as far as the kernel reports it.
///
/// ```
/// use std::time::Duration;
/// use amdgpu_winsys::{cs::{Stream, Submission, pm4}, winsys::{Blame, Deadline, Ip}};
///
/// # let options = amdgpu_sim::SimOptions::hanging_for(Duration::from_millis(5));
/// # let gpu = amdgpu_sim::SimDevice::new(amdgpu_sim::profile("navi21").ok_or("no such chip")?, options);
/// # let device = amdgpu_winsys::winsys::Device::new(gpu.open())?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, Ip::Gfx, 0)?;
/// let list = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?.finish()?;
/// gpu.hang_next_job(Ip::Gfx, 0);
/// let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() })?;
/// let loss = fence.wait(Deadline::NEVER).unwrap_err().loss().ok_or("no loss")?;
/// assert_eq!(loss.blame, Blame::Guilty); // the job belonged to this context
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blame {
    /// A job of this context was the cause.
    Guilty,
    /// This context was not the cause: the kernel blames another context, or none. If only one ring was reset, Linux 6.12
    /// blames no context, not even the one at fault (`amdgpu_job.c`, `amdgpu_job_timedout`).
    Innocent,
    /// The kernel blames no context, or cannot be queried.
    Unknown,
}

/// The kernel's report of lost work.
///
/// ```
/// use amdgpu_winsys::winsys::{Blame, Loss, LossReason};
///
/// # let gpu = amdgpu_sim::SimDevice::new(amdgpu_sim::profile("navi21").ok_or("no such chip")?, amdgpu_sim::SimOptions::default());
/// # let device = amdgpu_winsys::winsys::Device::new(gpu.open())?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// gpu.reset_and_lose_vram();
/// let Loss { reason, blame, vram_lost, .. } = queue.check().unwrap_err().loss().ok_or("no loss")?;
/// assert_eq!((reason, blame, vram_lost), (LossReason::VramLost, Blame::Innocent, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loss {
    /// The reason for the loss.
    pub reason: LossReason,
    /// The context that caused it.
    pub blame: Blame,
    /// `true` if the contents of VRAM are now undefined. Handles and bindings remain valid, and so do the contents of
    /// system memory.
    pub vram_lost: bool,
    /// `true` if the reset was still running at the time of the query; always `false` before DRM 3.54.
    pub is_resetting: bool,
}

impl Loss {
    /// Returns the loss that an errno and the flags of QUERY_STATE2 describe.
    ///
    /// ENODATA means that a job was stopped without a reset, ETIME that a reset had to stop it. ECANCELED is all other work
    /// that a reset discarded.
    ///
    /// Source: Linux 6.12 `amdgpu_ring.c`, `amdgpu_ring_soft_recovery`; `amdgpu_job.c`, `amdgpu_job_timedout`;
    /// `amdgpu_ctx.c`, `amdgpu_ctx_query2`.
    pub(in crate::winsys) fn new(errno: Errno, state: CtxStateFlags) -> Self {
        let hung = state.contains(CtxStateFlags::GUILTY) || matches!(errno, Errno::ENODATA | Errno::ETIME);
        let vram_lost = state.contains(CtxStateFlags::VRAMLOST);
        let reason = match errno {
            Errno::ENODEV => LossReason::Unplugged,
            Errno::EHWPOISON => LossReason::Poisoned,
            _ if hung => LossReason::Hung,
            _ if vram_lost => LossReason::VramLost,
            _ => LossReason::Reset,
        };
        let blame = match reason {
            LossReason::Hung => Blame::Guilty,
            LossReason::Unplugged | LossReason::Poisoned => Blame::Unknown,
            _ if state.contains(CtxStateFlags::RESET) => Blame::Innocent,
            _ => Blame::Unknown,
        };
        Self { reason, blame, vram_lost, is_resetting: state.contains(CtxStateFlags::RESET_IN_PROGRESS) }
    }

    /// Returns `true` if an errno of CS or WAIT_CS can mean that work was lost.
    pub(super) fn is_behind(errno: Errno) -> bool {
        matches!(errno, Errno::ECANCELED | Errno::ENODATA | Errno::ETIME | Errno::ENODEV | Errno::EHWPOISON)
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.reason {
            LossReason::Hung => "a job hung",
            LossReason::Reset => "the GPU was reset",
            LossReason::VramLost => "the GPU was reset and lost its memory",
            LossReason::Unplugged => "the GPU was removed",
            LossReason::Poisoned => "the GPU's memory has uncorrectable errors",
        })?;
        f.write_str(match self.blame {
            Blame::Guilty => ", this context is guilty",
            Blame::Innocent => ", this context is innocent",
            Blame::Unknown => "",
        })?;
        f.write_str(if self.vram_lost && self.reason != LossReason::VramLost { ", VRAM was lost" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_of_errno_and_flags_names_one_culprit() {
        let none = CtxStateFlags::empty();
        let (reset, guilty) = (CtxStateFlags::RESET, CtxStateFlags::RESET | CtxStateFlags::GUILTY);
        let lost = CtxStateFlags::RESET | CtxStateFlags::VRAMLOST;
        for (errno, state, reason, blame) in [
            (Errno::ECANCELED, guilty, LossReason::Hung, Blame::Guilty),
            (Errno::ECANCELED, guilty | lost, LossReason::Hung, Blame::Guilty),
            (Errno::ECANCELED, reset, LossReason::Reset, Blame::Innocent),
            (Errno::ECANCELED, lost, LossReason::VramLost, Blame::Innocent),
            (Errno::ECANCELED, none, LossReason::Reset, Blame::Unknown),
            (Errno::ENODATA, reset, LossReason::Hung, Blame::Guilty),
            (Errno::ETIME, reset, LossReason::Hung, Blame::Guilty),
            (Errno::ENODEV, none, LossReason::Unplugged, Blame::Unknown),
            (Errno::EHWPOISON, none, LossReason::Poisoned, Blame::Unknown),
        ] {
            let loss = Loss::new(errno, state);
            assert_eq!((loss.reason, loss.blame), (reason, blame), "{errno} {state:?}");
            assert_eq!(loss.vram_lost, state.contains(CtxStateFlags::VRAMLOST));
        }
        assert_eq!(
            Loss::new(Errno::ECANCELED, guilty | lost).to_string(),
            "a job hung, this context is guilty, VRAM was lost"
        );
    }

    #[test]
    fn a_loss_says_once_that_vram_was_lost() {
        let text =
            |reason, vram_lost| Loss { reason, blame: Blame::Innocent, vram_lost, is_resetting: false }.to_string();
        assert_eq!(text(LossReason::Reset, false), "the GPU was reset, this context is innocent");
        assert_eq!(text(LossReason::Reset, true), "the GPU was reset, this context is innocent, VRAM was lost");
        let lost = "the GPU was reset and lost its memory, this context is innocent";
        assert_eq!((text(LossReason::VramLost, true), text(LossReason::VramLost, false)), (lost.into(), lost.into()));
    }
}
