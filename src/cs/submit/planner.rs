//! Splitting the IBs of a submission into calls of the kernel.

use std::ops::Range;

/// The most IBs of one call, whatever their queues take.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `RADV_MAX_IBS_PER_SUBMIT`; the kernel's own limits
/// are those of each IP (Linux 6.12 `amdgpu_ring.c`, `amdgpu_ring_max_ibs`).
pub const MAX_IBS_PER_CALL: usize = 192;

/// Limits of IBs in a call.
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
    /// IBs of one call, those around included: what the queue takes, at most [`MAX_IBS_PER_CALL`].
    pub per_call: usize,
    /// IBs that go in front of and behind those of the first call.
    pub around_first: usize,
    /// IBs that go in front of and behind those of every further call.
    pub around_further: usize,
}

impl CallLimits {
    /// IBs that go around those of a call, at most.
    fn around(&self) -> usize {
        self.around_first.max(self.around_further)
    }

    /// Returns `true` if a submission of this number of IBs is one call, which needs no plan.
    pub(super) fn take_at_once(&self, ibs: usize) -> bool {
        ibs > 0 && self.per_call > self.around() && ibs <= self.per_call - self.around_first
    }
}

/// A call without room for a single IB.
///
/// ```
/// use amdgpu_winsys::cs::{CallLimits, NoRoomForIbs, plan};
///
/// let limits = CallLimits { per_call: 4, around_first: 4, around_further: 1 };
/// let error = plan([1].into_iter(), limits).err();
/// assert_eq!(error, Some(NoRoomForIbs { around: 4, per_call: 4 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{around} preamble and postamble IBs leave no room in a kernel submission of at most {per_call}")]
pub struct NoRoomForIbs {
    /// IBs around.
    pub around: usize,
    /// IBs of one call.
    pub per_call: usize,
}

/// The part of a submission that goes into one call.
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
    /// Range of IBs, counted over all lists.
    pub ibs: Range<usize>,
    /// Number of the call, from 0.
    pub index: usize,
    /// `true` if it is the last.
    pub is_last: bool,
}

/// The calls of a submission. Every IB is in one call, in order, and no call is empty. A list is cut in two only if it is
/// longer than a call, which no list for the graphics or compute rings is, as the kernel is given only their first IB.
///
/// RADV does not count what goes behind, and submits calls without IBs, or for ever, when one list is too long (Mesa
/// 25.0.7 `radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_submit_internal`).
///
/// ```
/// use amdgpu_winsys::cs::{CallLimits, plan};
///
/// let limits = CallLimits { per_call: 4, around_first: 0, around_further: 0 };
/// let calls: Vec<_> = plan([3, 6, 1].into_iter(), limits)?.map(|call| call.ibs).collect();
/// assert_eq!(calls, [0..3, 3..7, 7..10]); // only the list of 6 IBs is cut in two
/// # Ok::<(), amdgpu_winsys::cs::NoRoomForIbs>(())
/// ```
#[derive(Clone, Debug)]
pub struct Calls<I> {
    /// Numbers of IBs of the lists not begun yet.
    lists: I,
    limits: CallLimits,
    total: usize,
    /// IBs in calls so far.
    done: usize,
    /// IBs left of the list that is begun.
    begun: usize,
    index: usize,
}

/// Plans a submission of lists with the given numbers of IBs.
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
/// [`NoRoomForIbs`].
pub fn plan<I: Iterator<Item = usize> + Clone>(lists: I, limits: CallLimits) -> Result<Calls<I>, NoRoomForIbs> {
    let around = limits.around();
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
    /// Takes whole lists as long as they fit, or part of one that never would, and returns the number of IBs.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_taken_at_once_is_what_a_plan_puts_into_one_call(
            lengths in prop::collection::vec(1..6_usize, 0..6),
            per_call in 0..24_usize,
            around_first in 0..4_usize,
            around_further in 0..4_usize,
        ) {
            let limits = CallLimits { per_call, around_first, around_further };
            let calls = plan(lengths.iter().copied(), limits).map_or(0, Iterator::count);
            prop_assert_eq!(limits.take_at_once(lengths.iter().sum()), calls == 1);
        }
    }
}
