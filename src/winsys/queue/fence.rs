//! Waits for submissions by sequence number, and exports of their fences.

use std::os::fd::OwnedFd;

use amdgpu_hw::num::{self, wide};

use super::context::Suspects;
use crate::{
    uapi::{Answered, Argument, CsFence, Errno, FENCE_TO_SYNC_FILE_FD, FENCE_TO_SYNCOBJ_FD, FenceToHandle, WaitFences},
    winsys::{
        Context, Deadline, Device, Error, InvalidReply, Ip, KernelError, Result, Syncobj, WaitFor,
        answers::{Occupied, UNWRITTEN, descriptor},
        kernel::send_raw,
        own::send,
    },
};

/// Waits for submissions of one device. With [`WaitFor::All`] the result is `Some(0)`, with [`WaitFor::Any`] the index of a
/// finished submission; `None` if the deadline passes first. An empty list is always finished, with `Some(0)`.
///
/// Request: AMDGPU_WAIT_FENCES.
///
/// # Errors
///
/// * [`Error::Kernel`] if a submission ended with an error, with its errno ([`Context::check`] tells more), or if the kernel
///   refuses the request: `EINVAL` for a sequence number that has not been issued yet;
/// * [`Error::InvalidReply`] if the kernel's answer is out of range.
pub fn wait_fences(
    device: &Device,
    fences: &[CsFence],
    condition: WaitFor,
    deadline: Deadline,
) -> Result<Option<usize>> {
    let refused = |errno| Error::Kernel(KernelError::new(WaitFences::NAME, errno));
    if fences.is_empty() {
        return Ok(Some(0));
    }
    let mut argument = WaitFences {
        fences: wide(fences.as_ptr().expose_provenance()),
        fence_count: u32::try_from(fences.len()).map_err(|_| refused(Errno::EINVAL))?,
        wait_all: (condition == WaitFor::All).into(),
        timeout_ns: deadline.for_amdgpu(),
    };
    // SAFETY: the only address is that of `fences`, which has `fence_count` elements; the kernel only reads them. The request is a wait.
    unsafe { send_raw(device.kernel(), WaitFences::REQUEST, &mut argument) }.map_err(refused)?;
    let answer = argument.answer();
    let index = num::index(answer.first_signaled);
    match (answer.status, condition) {
        (0, _) => Ok(None),
        (1, WaitFor::All) => Ok(Some(0)),
        (1, WaitFor::Any) if index < fences.len() => Ok(Some(index)),
        (1, WaitFor::Any) => {
            let value = answer.first_signaled.into();
            Err(Error::InvalidReply(InvalidReply { field: "first_signaled", value, reason: "not one of the fences" }))
        }
        // An unwritten status is half of the address that the request starts with.
        (value, _) => {
            Err(Error::InvalidReply(InvalidReply { field: "status", value: value.into(), reason: "neither 0 nor 1" }))
        }
    }
}

impl Context {
    /// Creates a sync object with the fence of the submission `sequence` of the queue (`ip`, `ring`).
    ///
    /// The fence is passed through a descriptor, because FENCE_TO_HANDLE overwrites the context's ID with a handle, so that a
    /// handle could not be distinguished from an answer that was not written.
    ///
    /// Requests: AMDGPU_FENCE_TO_HANDLE, SYNCOBJ_FD_TO_HANDLE.
    ///
    /// # Errors
    ///
    /// The errors of [`Context::wait`]; [`Error::Kernel`] with `EMFILE` if the process has no free descriptor, and with
    /// `EBADF` if the kernel reports success without creating one.
    pub fn fence_to_syncobj(&self, ip: Ip, ring: u32, sequence: u64) -> Result<Syncobj> {
        let shared = self.fence_to_descriptor(ip, ring, sequence, FENCE_TO_SYNCOBJ_FD)?;
        Syncobj::import(self.device(), shared)
    }

    /// Creates a sync file of the submission `sequence` of the queue (`ip`, `ring`). The descriptor becomes readable when
    /// the submission is finished, other drivers can import it, and it is closed on exec.
    ///
    /// Request: AMDGPU_FENCE_TO_HANDLE.
    ///
    /// # Errors
    ///
    /// The errors of [`Context::wait`]; [`Error::Kernel`] with `EMFILE` if the process has no free descriptor, and with
    /// `EBADF` if the kernel reports success without creating one.
    pub fn fence_to_sync_file(&self, ip: Ip, ring: u32, sequence: u64) -> Result<OwnedFd> {
        self.fence_to_descriptor(ip, ring, sequence, FENCE_TO_SYNC_FILE_FD)
    }

    fn fence_to_descriptor(&self, ip: Ip, ring: u32, sequence: u64, what: u32) -> Result<OwnedFd> {
        let refused = |errno| Error::Kernel(KernelError::new(FenceToHandle::NAME, errno));
        let fence = CsFence { ctx_id: self.id(), ip_type: ip.raw(), ip_instance: 0, ring, seq_no: sequence };
        let mut argument = FenceToHandle { fence, what, pad: 0 };
        // The kernel writes the descriptor over the context's id. The guard keeps a descriptor with that number open, so
        // that a new one cannot have it.
        let _occupied = Occupied::new(self.id()).map_err(refused)?;
        send(self.device().kernel(), &mut argument)
            .map_err(|errno| self.submission_error((ip, ring), FenceToHandle::NAME, errno, Suspects::default()))?;
        match argument.answer().handle {
            unwritten if unwritten == self.id() => Err(refused(UNWRITTEN)),
            written => descriptor(written.cast_signed()).map_err(refused),
        }
    }
}
