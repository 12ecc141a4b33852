//! Kernel contexts: who submits, with which priority, and whether the GPU was reset under it.

use std::sync::Arc;

use nix::errno::Errno;

use super::{Deadline, Device, Error, Ip, RELEASE_ATTEMPTS, Result, kernel::send};
use crate::uapi::{Answered, Argument, Ctx, CtxStateFlags, WaitCs, ctx_op, priority};

/// Scheduling priority of a context. Above normal needs CAP_SYS_NICE or the DRM master.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i32)]
pub enum Priority {
    /// VK_QUEUE_GLOBAL_PRIORITY_LOW.
    Low = priority::LOW,
    /// VK_QUEUE_GLOBAL_PRIORITY_MEDIUM: the default.
    #[default]
    Normal = priority::NORMAL,
    /// VK_QUEUE_GLOBAL_PRIORITY_HIGH.
    High = priority::HIGH,
    /// VK_QUEUE_GLOBAL_PRIORITY_REALTIME.
    VeryHigh = priority::VERY_HIGH,
}

/// A kernel context. Its queues are numbered by IP and ring; each is a FIFO of its own. Freed on drop: queued jobs
/// still run.
#[derive(Debug)]
pub struct Context {
    device: Arc<Device>,
    id: u32,
}

impl Context {
    /// Allocates a context.
    ///
    /// Request: AMDGPU_CTX (alloc).
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`]: `EACCES` for a priority the process may not have, `ENOSPC` beyond 4095 contexts.
    pub fn new(device: &Arc<Device>, priority: Priority) -> Result<Self> {
        let mut argument = Ctx { op: ctx_op::ALLOC_CTX, flags: 0, ctx_id: 0, priority: priority as i32 };
        send(device.kernel(), &mut argument).map_err(|errno| Error::Ioctl { request: Ctx::NAME, errno })?;
        // The answer to ALLOC_CTX is the first word.
        Ok(Self { device: Arc::clone(device), id: argument.op })
    }

    /// The kernel's name for the context within the device's file.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// What resets did to the context; the flags stay set for its life.
    ///
    /// Request: AMDGPU_CTX (query state 2).
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn state(&self) -> Result<CtxStateFlags> {
        let mut argument = Ctx { op: ctx_op::QUERY_STATE2, flags: 0, ctx_id: self.id, priority: 0 };
        send(self.device.kernel(), &mut argument).map_err(|errno| Error::Ioctl { request: Ctx::NAME, errno })?;
        Ok(CtxStateFlags::from_bits_retain(argument.answer().flags))
    }

    /// Waits for the submission `sequence` on the queue (`ip`, `ring`); false when the deadline came first.
    ///
    /// Sequence 0 has always passed, and so have those more than 32 submissions back.
    ///
    /// Request: AMDGPU_WAIT_CS.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceLost`] when the job ended with an error, [`Error::Ioctl`] with `EINVAL` for a sequence number
    /// that was not issued yet.
    pub fn wait(&self, ip: Ip, ring: u32, sequence: u64, deadline: Deadline) -> Result<bool> {
        let mut argument = WaitCs {
            handle: sequence,
            timeout: deadline.for_amdgpu(),
            ip_type: ip as u32,
            ip_instance: 0,
            ring,
            ctx_id: self.id,
        };
        send(self.device.kernel(), &mut argument).map_err(|errno| self.submission_error(WaitCs::NAME, errno))?;
        Ok(argument.answer().status == 0)
    }

    /// Tells a lost job from a refused request. A wait for submission inside CS gives up with ETIME too, so only waits
    /// and queues without such a wait may take ETIME for a reset.
    pub(super) fn submission_error(&self, request: &'static str, errno: Errno) -> Error {
        match errno {
            Errno::ECANCELED | Errno::ENODATA | Errno::ETIME => Error::DeviceLost { request, context: self.id, errno },
            _ => Error::Ioctl { request, errno },
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        for _ in 0..RELEASE_ATTEMPTS {
            let mut argument = Ctx { op: ctx_op::FREE_CTX, flags: 0, ctx_id: self.id, priority: 0 };
            match send(self.device.kernel(), &mut argument) {
                Ok(()) | Err(Errno::ENODEV) => return,
                Err(errno) => tracing::warn!(context = self.id, %errno, "context not freed"),
            }
        }
    }
}
