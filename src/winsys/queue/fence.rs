//! Submissions by number: waiting for several, and giving them to others.

use std::os::fd::OwnedFd;

use amdgpu_hw::num::{self, wide};

use super::context::Suspects;
use crate::{
    uapi::{Answered, Argument, CsFence, Errno, FENCE_TO_SYNC_FILE_FD, FENCE_TO_SYNCOBJ_FD, FenceToHandle, WaitFences},
    winsys::{
        Context, Deadline, Device, Error, Ip, Result, Syncobj, WaitFor,
        answers::{Occupied, UNWRITTEN, descriptor},
        kernel::{send, send_raw},
    },
};

/// Waits for submissions of one file. For all: `Some(0)` when they are done; for any: which one; `None` when the deadline
/// came first. An empty list is done at once.
///
/// Request: AMDGPU_WAIT_FENCES.
///
/// # Errors
///
/// [`Error::Ioctl`] with the errno of the first that is found to have ended with an error; ask its context about it.
/// `EINVAL` for a number that was not issued yet. [`Error::Absurd`] for an impossible answer.
pub fn wait_fences(
    device: &Device,
    fences: &[CsFence],
    condition: WaitFor,
    deadline: Deadline,
) -> Result<Option<usize>> {
    let refused = |errno| Error::Ioctl { request: WaitFences::NAME, errno };
    if fences.is_empty() {
        return Ok(Some(0));
    }
    let mut argument = WaitFences {
        fences: wide(fences.as_ptr().expose_provenance()),
        fence_count: u32::try_from(fences.len()).map_err(|_| refused(Errno::EINVAL))?,
        wait_all: (condition == WaitFor::All).into(),
        timeout_ns: deadline.for_amdgpu(),
    };
    // SAFETY: the one address is that of `fences`, as many as the count says, which the kernel only reads.
    unsafe { send_raw(device.kernel(), WaitFences::REQUEST, &mut argument) }.map_err(refused)?;
    let answer = argument.answer();
    let index = num::index(answer.first_signaled);
    match (answer.status, condition) {
        (0, _) => Ok(None),
        (1, WaitFor::All) => Ok(Some(0)),
        (1, WaitFor::Any) if index < fences.len() => Ok(Some(index)),
        (1, WaitFor::Any) => {
            let value = answer.first_signaled.into();
            Err(Error::Absurd { field: "first_signaled", value, reason: "not one of the fences" })
        }
        // What was not written is half of the address that the question starts with.
        (value, _) => Err(Error::Absurd { field: "status", value: value.into(), reason: "neither 0 nor 1" }),
    }
}

impl Context {
    /// Creates a new sync object whose fence is that of the submission `sequence` on the queue (`ip`, `ring`).
    ///
    /// It passes through a descriptor: a handle that FENCE_TO_HANDLE answers could not be distinguished from the context's id, over
    /// which it is written.
    ///
    /// Requests: AMDGPU_FENCE_TO_HANDLE, SYNCOBJ_FD_TO_HANDLE.
    ///
    /// # Errors
    ///
    /// Those of [`Context::wait`]; [`Error::Ioctl`] with `EMFILE`, and with `EBADF` when the kernel reports success without making one.
    pub fn fence_to_syncobj(&self, ip: Ip, ring: u32, sequence: u64) -> Result<Syncobj> {
        let shared = self.fence_to_descriptor(ip, ring, sequence, FENCE_TO_SYNCOBJ_FD)?;
        Syncobj::import(self.device(), shared)
    }

    /// Creates a sync file of the submission `sequence` on the queue (`ip`, `ring`): a descriptor that is readable when it is
    /// done and that other drivers understand. Closed on exec.
    ///
    /// Request: AMDGPU_FENCE_TO_HANDLE.
    ///
    /// # Errors
    ///
    /// Those of [`Context::wait`]; [`Error::Ioctl`] with `EMFILE`, and with `EBADF` when the kernel reports success without making one.
    pub fn fence_to_sync_file(&self, ip: Ip, ring: u32, sequence: u64) -> Result<OwnedFd> {
        self.fence_to_descriptor(ip, ring, sequence, FENCE_TO_SYNC_FILE_FD)
    }

    fn fence_to_descriptor(&self, ip: Ip, ring: u32, sequence: u64, what: u32) -> Result<OwnedFd> {
        let refused = |errno| Error::Ioctl { request: FenceToHandle::NAME, errno };
        let fence = CsFence { ctx_id: self.id(), ip_type: ip.raw(), ip_instance: 0, ring, seq_no: sequence };
        let mut argument = FenceToHandle { fence, what, pad: 0 };
        // The answer is written over the context's id. While a descriptor has that number, no new one can.
        let _occupied = Occupied::new(self.id()).map_err(refused)?;
        send(self.device().kernel(), &mut argument)
            .map_err(|errno| self.submission_error((ip, ring), FenceToHandle::NAME, errno, Suspects::default()))?;
        match argument.answer().handle {
            unwritten if unwritten == self.id() => Err(refused(UNWRITTEN)),
            written => descriptor(written.cast_signed()).map_err(refused),
        }
    }
}
