//! Submissions to video rings.

use amdgpu_winsys::{
    cs::{VideoIb, VideoSubmission},
    winsys::{Binding, Resident, Residents},
};

use super::{
    submission::{InlineVec, bindings, points, sets},
    video_queue::{agw_video_queue, video_queue},
};
use crate::{
    border::{Answer, Versioned, array, entry, put_unless_null, read},
    objects::{agw_bo, agw_residents, agw_sync_point, bo_body},
};

/// Commands for a video engine, stored in a BO.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_video_ib {
    /// The BO. The submission lists it and keeps it alive.
    pub bo: *const agw_bo,
    /// Offset of the first dword in bytes, a multiple of 4. The kernel recommends a multiple of `ib_alignment` of `struct
    /// agw_device_info`.
    pub offset: u64,
    /// Length in dwords, 1 to 0x7ffff0.
    pub dwords: u32,
    /// Reserved, zero.
    pub pad: u32,
}

/// A submission to a video ring. Its BOs and the members of its sets are kept alive until the queue has detected its
/// completion.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_video_submission {
    /// `sizeof(struct agw_video_submission)`.
    pub struct_size: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// IBs, which are executed in order: at least one, and at most `max_ibs` of `struct agw_device_info`.
    pub ibs: *const agw_video_ib,
    /// BOs that the engine accesses, such as bitstreams, pictures and sessions.
    pub bos: *const *const agw_bo,
    /// Residency sets of such BOs.
    pub sets: *const *const agw_residents,
    /// Points of sync objects to wait for.
    pub waits: *const agw_sync_point,
    /// Points of sync objects to signal.
    pub signals: *const agw_sync_point,
    /// Length of `ibs`.
    pub ib_count: u32,
    /// Length of `bos`.
    pub bo_count: u32,
    /// Length of `sets`.
    pub set_count: u32,
    /// Length of `waits`.
    pub wait_count: u32,
    /// Length of `signals`.
    pub signal_count: u32,
    /// Reserved, zero.
    pub pad: u32,
}

// SAFETY: integers and raw pointers, and the first two are the size and zero.
unsafe impl Versioned for agw_video_submission {
    const NAME: &'static str = "struct agw_video_submission";

    fn unused(&self) -> u32 {
        self.reserved | self.pad
    }
}

/// The memory of a submission: its BOs and the members of its sets.
pub(super) struct Memory {
    pub(super) bos: InlineVec<Binding>,
    pub(super) sets: InlineVec<Residents>,
}

impl Resident for Memory {
    fn each_binding(&self, each: &mut dyn FnMut(&Binding)) {
        self.bos.as_slice().each_binding(each);
        self.sets.as_slice().each_binding(each);
    }

    fn binding_count(&self) -> usize {
        self.bos.as_slice().binding_count() + self.sets.as_slice().binding_count()
    }
}

/// Submits to a video ring. Takes one ioctl, and one for each earlier submission that has completed. Writes the sequence number
/// of the submission, counted from 1, to `sequence`, unless that is null.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed; `submission` is null or a structure of its `struct_size`, whose arrays have
/// the lengths that it states and contain objects that were not freed; `sequence` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_video_queue_submit(
    queue: *const agw_video_queue,
    submission: *const agw_video_submission,
    sequence: *mut u64,
) -> i32 {
    entry(|| {
        // SAFETY: the caller promises that `queue` is null, which is answered, or a queue that nothing frees before this call returns. The
        // reference ends with the call, and until then the object is changed through its own cells only.
        let body = unsafe { video_queue(queue) }?;
        // SAFETY: the caller promises that `submission` is null, which is answered, or points to as many bytes as its first field says.
        // They are copied, so no reference to them stays.
        let submission = unsafe { read(submission) }?;
        // SAFETY: the caller promises that `submission.ibs` has the stated length, and that it and the objects in it stay as they are
        // until this call returns, in which all references to them end.
        let given = unsafe { array(submission.ibs, submission.ib_count, "ibs") }?;
        let ib = |ib: &agw_video_ib| {
            // SAFETY: the caller promises that `ib.bo` is null, which is answered, or a BO that is not freed before this call returns, in
            // which the reference ends.
            let memory = &unsafe { bo_body(ib.bo) }?.binding;
            Ok(VideoIb { memory, offset: ib.offset, dwords: ib.dwords })
        };
        let ibs: InlineVec<_> = given.iter().map(ib).collect::<Answer<_>>()?;
        let (mut bos, mut named_sets) = (InlineVec::new(), InlineVec::new());
        // SAFETY: the caller promises that `submission.bos` has the stated length, and that it and the objects in it stay as they are
        // until this call returns, in which all references to them end.
        unsafe { bindings(&mut bos, submission.bos, submission.bo_count) }?;
        // SAFETY: the caller promises that `submission.sets` has the stated length, and that it and the objects in it stay as they are
        // until this call returns, in which all references to them end.
        unsafe { sets(&mut named_sets, submission.sets, submission.set_count) }?;
        let (mut waits, mut signals) = (InlineVec::new(), InlineVec::new());
        // SAFETY: the caller promises that `submission.waits` has the stated length, and that it and the objects in it stay as they are
        // until this call returns, in which all references to them end.
        unsafe { points(&mut waits, submission.waits, submission.wait_count, "waits") }?;
        // SAFETY: the caller promises that `submission.signals` has the stated length, and that it and the objects in it stay as they are
        // until this call returns, in which all references to them end.
        unsafe { points(&mut signals, submission.signals, submission.signal_count, "signals") }?;
        let memory = Memory { bos, sets: named_sets.iter().map(|set| set.snapshot()).collect() };
        let fence = body.queue.submit(&VideoSubmission {
            ibs: &ibs,
            memory: &memory,
            waits: &waits,
            signals: &signals,
            ..VideoSubmission::default()
        })?;
        // SAFETY: the caller's promise.
        unsafe { put_unless_null(sequence, fence.sequence()) };
        Ok(())
    })
}
