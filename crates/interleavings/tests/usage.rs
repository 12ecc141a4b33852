//! Charges add up in every order.

mod support;

use amdgpu_winsys_interleaved::heaps::{Account, UsageTracker};
use shuttle::thread;
use support::in_many_orders;

const PAGE: u64 = 4096;

#[test]
fn charges_of_several_threads_add_up_and_end_at_zero() {
    in_many_orders(|| {
        let tracker = UsageTracker::new(PAGE);
        let threads: Vec<_> = (1..=3)
            .map(|pages| {
                let tracker = tracker.clone();
                thread::spawn(move || {
                    drop(tracker.charge(Account::Gtt, pages * PAGE));
                    tracker.charge(Account::Gtt, pages * PAGE - 1)
                })
            })
            .collect();
        // While they are at it: never more than two charges of each thread, and never below what is there for good.
        let seen = tracker.usage().gtt;
        assert!(seen <= 2 * 6 * PAGE, "{seen}");
        let charges: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
        assert_eq!(tracker.usage().gtt, 6 * PAGE);
        drop(charges);
        assert_eq!(tracker.usage().total(), 0);
    });
}

/// Charges that would pass `u64::MAX` are cut, and each takes off what it really added.
#[test]
fn charges_that_would_wrap_are_cut_and_taken_off_as_they_were_added() {
    in_many_orders(|| {
        let tracker = UsageTracker::new(PAGE);
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let tracker = tracker.clone();
                thread::spawn(move || tracker.charge(Account::VisibleVram, u64::MAX / 3 * 2))
            })
            .collect();
        let charges: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
        let added: u128 = charges.iter().map(|charge| u128::from(charge.bytes())).sum();
        assert_eq!(u128::from(tracker.usage().visible_vram), added, "no more than fits, and all of it");
        drop(charges);
        assert_eq!(tracker.usage().total(), 0);
    });
}
