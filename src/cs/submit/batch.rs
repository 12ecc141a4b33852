//! Limits of kernel calls, and the splitting of the IBs of a submission into several calls.

use std::ops::Range;

use crate::cs::NoRoomForIbs;

/// The maximum number of IBs in one kernel call, regardless of the limits of its queues.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `RADV_MAX_IBS_PER_SUBMIT`; the kernel's own limits
/// are those of each IP (Linux 6.12 `amdgpu_ring.c`, `amdgpu_ring_max_ibs`).
pub const MAX_IBS_PER_CALL: usize = 192;

/// The limits on the number of IBs in a kernel call.
///
/// ```
/// use amdgpu_winsys::cs::{CallLimits, plan};
///
/// let calls = |limits| plan([1, 1, 1, 1].into_iter(), limits).map(Iterator::count);
/// let bare = CallLimits { per_call: 4, around_first: 0, around_further: 0 };
/// assert_eq!(calls(bare)?, 1);
/// assert_eq!(calls(CallLimits { around_first: 2, around_further: 2, ..bare })?, 2); // preambles take room
/// # Ok::<(), amdgpu_winsys::cs::NoRoomForIbs>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// The maximum number of IBs in one call, including preambles and postambles: the limit of the queue, at most
    /// [`MAX_IBS_PER_CALL`].
    pub per_call: usize,
    /// Number of preamble and postamble IBs in the first call.
    pub around_first: usize,
    /// Number of preamble and postamble IBs in every further call.
    pub around_further: usize,
}

/// A kernel call that is part of a submission.
///
/// ```
/// use amdgpu_winsys::cs::{Call, CallLimits, plan};
///
/// let limits = CallLimits { per_call: 3, around_first: 1, around_further: 1 };
/// for Call { ibs, index, is_last } in plan([2, 2, 1].into_iter(), limits)? {
///     let (waits, signals) = (index == 0, is_last); // the first call waits, the last one signals
///     assert_eq!((waits, signals), (ibs.start == 0, ibs.end == 5));
/// }
/// # Ok::<(), amdgpu_winsys::cs::NoRoomForIbs>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Range of the IBs in this call, as indices over all lists.
    pub ibs: Range<usize>,
    /// Index of the call, from 0.
    pub index: usize,
    /// `true` for the last call of the submission.
    pub is_last: bool,
}

/// An iterator over the calls of a submission. Every IB is in one call, in order, and no call is empty. A list is split only if it
/// is longer than a call. This never happens on the graphics and compute rings, because only the first IB of a list is submitted
/// there.
///
/// RADV does not count postambles, and if a list is too long it submits calls without IBs, or loops forever (Mesa 25.0.7
/// `radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_submit_internal`).
///
/// ```
/// use amdgpu_winsys::cs::{CallLimits, plan};
///
/// let limits = CallLimits { per_call: 4, around_first: 0, around_further: 0 };
/// let calls: Vec<_> = plan([3, 6, 1].into_iter(), limits)?.map(|call| call.ibs).collect();
/// assert_eq!(calls, [0..3, 3..7, 7..10]); // only the list of 6 IBs is split
/// # Ok::<(), amdgpu_winsys::cs::NoRoomForIbs>(())
/// ```
#[derive(Clone, Debug)]
pub struct Calls<I> {
    /// The numbers of IBs of the remaining lists.
    lists: I,
    limits: CallLimits,
    total: usize,
    /// Number of IBs in the calls so far.
    done: usize,
    /// Number of remaining IBs of the current list.
    begun: usize,
    index: usize,
}

/// Plans the kernel calls of a submission. `lists` gives the number of IBs of each list.
///
/// ```
/// use amdgpu_winsys::cs::{CallLimits, plan};
///
/// let limits = CallLimits { per_call: 5, around_first: 1, around_further: 2 };
/// let calls: Vec<_> = plan([3, 2, 1, 1].into_iter(), limits)?.map(|call| call.ibs).collect();
/// assert_eq!(calls, [0..3, 3..6, 6..7]);
/// # Ok::<(), amdgpu_winsys::cs::NoRoomForIbs>(())
/// ```
///
/// # Errors
///
/// [`NoRoomForIbs`] if preambles and postambles leave no room for an IB in a call.
pub fn plan<I: Iterator<Item = usize> + Clone>(lists: I, limits: CallLimits) -> Result<Calls<I>, NoRoomForIbs> {
    let around = limits.around_first.max(limits.around_further);
    if limits.per_call <= around {
        return Err(NoRoomForIbs { around, per_call: limits.per_call });
    }
    let total = lists.clone().sum();
    Ok(Calls { lists, limits, total, done: 0, begun: 0, index: 0 })
}

impl<I: Iterator<Item = usize>> Iterator for Calls<I> {
    type Item = Call;

    fn next(&mut self) -> Option<Call> {
        if self.done >= self.total {
            return None;
        }
        let around = if self.index == 0 { self.limits.around_first } else { self.limits.around_further };
        let taken = self.take(self.limits.per_call - around);
        let call =
            Call { ibs: self.done..self.done + taken, index: self.index, is_last: self.done + taken >= self.total };
        self.done += taken;
        self.index += 1;
        Some(call)
    }
}

impl<I: Iterator<Item = usize>> Calls<I> {
    /// Takes whole lists while they fit, or a part of a list that is longer than a call, and returns the number of IBs.
    fn take(&mut self, room: usize) -> usize {
        let mut taken = 0;
        loop {
            if self.begun == 0 {
                match self.lists.next() {
                    Some(ibs) => self.begun = ibs,
                    None => return taken,
                }
            }
            let left = room - taken;
            if self.begun <= left {
                taken += std::mem::take(&mut self.begun);
            } else if taken == 0 {
                self.begun -= room;
                return room;
            } else {
                return taken;
            }
        }
    }
}
