//! Features 90 and 112: how submissions are cut into calls of the kernel.

use amdgpu_winsys::cs::{Call, CallLimits, NoRoomForIbs, plan};
use proptest::prelude::*;

/// The same by the obvious way: one IB after the other.
fn obvious(lists: &[usize], limits: CallLimits) -> Vec<Vec<(usize, usize)>> {
    let mut calls: Vec<Vec<(usize, usize)>> = Vec::new();
    let room = |call: usize| limits.per_call - if call == 0 { limits.around_first } else { limits.around_further };
    for (list, &ibs) in lists.iter().enumerate() {
        let fits = calls.last().is_some_and(|last| last.len() + ibs <= room(calls.len() - 1));
        // The rest of a list that was cut may have others behind it.
        if !fits && ibs > 0 {
            calls.push(Vec::new());
        }
        for ib in 0..ibs {
            if calls.last().is_none_or(|last| last.len() >= room(calls.len() - 1)) {
                calls.push(Vec::new());
            }
            calls.last_mut().unwrap().push((list, ib));
        }
    }
    calls
}

fn limits() -> impl Strategy<Value = CallLimits> {
    (1..20_usize, 0..4_usize, 0..4_usize).prop_map(|(room, around_first, around_further)| CallLimits {
        per_call: room + around_first.max(around_further),
        around_first,
        around_further,
    })
}

proptest! {
    /// W-32: RADV leaves what goes behind out of the count, and submits empty calls or never ends when one stream alone is
    /// too long.
    #[test]
    fn every_ib_is_in_one_call_in_order_and_no_call_is_empty_or_too_long(
        lists in prop::collection::vec(0..50_usize, 0..30),
        limits in limits(),
    ) {
        let calls: Vec<Call> = plan(lists.iter().copied(), limits).unwrap().collect();
        let total: usize = lists.iter().sum();
        let mut next = 0;
        for (index, call) in calls.iter().enumerate() {
            let around = if index == 0 { limits.around_first } else { limits.around_further };
            prop_assert_eq!((call.index, call.ibs.start), (index, next));
            prop_assert!(!call.ibs.is_empty() && call.ibs.len() + around <= limits.per_call);
            prop_assert_eq!(call.is_last, call.ibs.end == total);
            next = call.ibs.end;
        }
        prop_assert_eq!(next, total);
    }

    #[test]
    fn the_planner_agrees_with_the_obvious_way(
        lists in prop::collection::vec(0..50_usize, 0..30),
        limits in limits(),
    ) {
        let lengths: Vec<_> = plan(lists.iter().copied(), limits).unwrap().map(|call| call.ibs.len()).collect();
        let obvious: Vec<_> = obvious(&lists, limits).iter().map(Vec::len).collect();
        prop_assert_eq!(lengths, obvious);
    }

    /// The boundary, a call whose other BOs leave room for no IB or for one, is drawn every second time.
    #[test]
    fn a_call_that_is_full_before_the_first_ib_is_refused(
        (around, per_call) in (0..300_usize).prop_flat_map(|around| {
            (Just(around), prop_oneof![3 => around..around + 3, 1 => 0..300_usize])
        }),
    ) {
        let limits = CallLimits { per_call, around_first: 0, around_further: around };
        match plan([1].into_iter(), limits) {
            Ok(_) => prop_assert!(around < per_call),
            Err(error) => {
                prop_assert!(around >= per_call);
                prop_assert_eq!(error, NoRoomForIbs { around, per_call });
            }
        }
    }
}
