//! Submissions by number: waiting for several, and giving them to others.

use std::os::fd::{FromRawFd, OwnedFd};

use nix::errno::Errno;

use super::{
    Context, Deadline, Device, Error, Ip, Result, Syncobj, WaitFor,
    context::Suspects,
    kernel::{send, send_raw},
};
use crate::uapi::{Answered, Argument, CsFence, FENCE_TO_SYNC_FILE_FD, FENCE_TO_SYNCOBJ, FenceToHandle, WaitFences};

/// Waits for submissions of one file. For all: `Some(0)` when they are done; for any: which one; `None` when the deadline
/// came first. None at all are done at once.
///
/// Request: AMDGPU_WAIT_FENCES.
///
/// # Errors
///
/// [`Error::Ioctl`] with the errno of the first that is found to have ended with an error; ask its context about it.
/// `EINVAL` for a number that was not issued yet.
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
        fences: fences.as_ptr().expose_provenance() as u64,
        fence_count: u32::try_from(fences.len()).map_err(|_| refused(Errno::EINVAL))?,
        wait_all: (condition == WaitFor::All).into(),
        timeout_ns: deadline.for_amdgpu(),
    };
    // SAFETY: the one address is that of `fences`, as many as the count says, which the kernel only reads.
    unsafe { send_raw(device.kernel(), WaitFences::REQUEST, &mut argument) }.map_err(refused)?;
    let answer = argument.answer();
    // What the kernel says is input: an index out of range is not passed on.
    let first = (answer.first_signaled as usize).min(fences.len() - 1);
    Ok((answer.status != 0).then_some(first))
}

impl Context {
    /// A new sync object whose fence is that of the submission `sequence` on the queue (`ip`, `ring`).
    ///
    /// Request: AMDGPU_FENCE_TO_HANDLE.
    ///
    /// # Errors
    ///
    /// As [`Context::wait`].
    pub fn fence_to_syncobj(&self, ip: Ip, ring: u32, sequence: u64) -> Result<Syncobj> {
        let handle = self.fence_to_handle(ip, ring, sequence, FENCE_TO_SYNCOBJ)?;
        Ok(Syncobj::owning(self.device(), handle))
    }

    /// A sync file of the submission `sequence` on the queue (`ip`, `ring`): a descriptor that is readable when it is done
    /// and that other drivers understand. Closed on exec.
    ///
    /// Request: AMDGPU_FENCE_TO_HANDLE.
    ///
    /// # Errors
    ///
    /// As [`Context::wait`]; [`Error::Ioctl`] with `EMFILE`.
    pub fn fence_to_sync_file(&self, ip: Ip, ring: u32, sequence: u64) -> Result<OwnedFd> {
        let handle = self.fence_to_handle(ip, ring, sequence, FENCE_TO_SYNC_FILE_FD)?;
        if handle.cast_signed() < 0 {
            return Err(Error::Ioctl { request: FenceToHandle::NAME, errno: Errno::EBADF });
        }
        // SAFETY: the kernel just installed this descriptor for the caller, and nobody else knows its number.
        Ok(unsafe { OwnedFd::from_raw_fd(handle.cast_signed()) })
    }

    fn fence_to_handle(&self, ip: Ip, ring: u32, sequence: u64, what: u32) -> Result<u32> {
        let fence = CsFence { ctx_id: self.id(), ip_type: ip as u32, ip_instance: 0, ring, seq_no: sequence };
        let mut argument = FenceToHandle { fence, what, pad: 0 };
        send(self.device().kernel(), &mut argument)
            .map_err(|errno| self.submission_error((ip, ring), FenceToHandle::NAME, errno, Suspects::default()))?;
        Ok(argument.answer().handle)
    }
}
