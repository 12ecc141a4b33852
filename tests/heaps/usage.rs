//! The counters of own usage against a plain list of what lives.

use std::thread;

use amdgpu_winsys::{
    heaps::{Account, Charge, OwnUsage, UsageTracker},
    uapi::{GemCreateFlags, GemDomain},
};
use proptest::{collection::vec, prelude::*, sample::Index};

use crate::captures::facts;

fn tracker() -> UsageTracker {
    UsageTracker::new(facts("navi10").page_size())
}

fn sums(live: &[Charge]) -> OwnUsage {
    let sum = |account| live.iter().filter(|charge| charge.account() == account).map(Charge::bytes).sum();
    OwnUsage {
        invisible_vram: sum(Account::InvisibleVram),
        visible_vram: sum(Account::VisibleVram),
        gtt: sum(Account::Gtt),
    }
}

#[derive(Clone, Debug)]
enum Op {
    Charge(Account, u64),
    Free(Index),
}

fn any_op() -> impl Strategy<Value = Op> {
    let account = prop::sample::select(Account::ALL.to_vec());
    let bytes = prop_oneof![0..1u64 << 24, 0..1u64 << 40, any::<u64>(), Just(u64::MAX)];
    prop_oneof![(account, bytes).prop_map(|(a, b)| Op::Charge(a, b)), any::<Index>().prop_map(Op::Free)]
}

proptest! {
    /// Also when the sizes are absurd: the counters equal the sum of what lives, which never passes u64::MAX.
    #[test]
    fn counters_are_what_lives_and_end_at_zero(ops in vec(any_op(), 0..60)) {
        let tracker = tracker();
        let mut live: Vec<Charge> = Vec::new();
        for op in ops {
            match op {
                Op::Charge(account, bytes) => live.push(tracker.charge(account, bytes)),
                Op::Free(index) if !live.is_empty() => drop(live.swap_remove(index.index(live.len()))),
                Op::Free(_) => {}
            }
            prop_assert_eq!(tracker.usage(), sums(&live));
        }
        drop(live);
        prop_assert_eq!(tracker.usage(), OwnUsage::default());
    }
}

#[test]
fn charges_are_whole_pages() {
    let tracker = tracker();
    let charge = |bytes| tracker.charge(Account::Gtt, bytes).bytes();
    assert_eq!([0, 1, 4096, 4097].map(charge), [0, 4096, 4096, 8192]);
}

#[test]
fn a_full_counter_takes_only_what_fits_and_gives_back_as_much() {
    let tracker = tracker();
    let huge = tracker.charge(Account::Gtt, u64::MAX - 4095);
    let rest = tracker.charge(Account::Gtt, 1 << 20);
    assert_eq!((huge.bytes(), rest.bytes()), (u64::MAX - 4095, 4095));
    drop(huge);
    assert_eq!(tracker.usage().gtt, 4095);
    drop(rest);
    assert_eq!(tracker.usage(), OwnUsage::default());
}

/// W-08, W-09, feature 42. RADV 25.0 gets it wrong: it would count an imported VRAM BO as invisible, and take it off the visible counter.
#[test]
fn an_import_is_charged_once_and_to_the_account_it_is_taken_off_again() {
    let vram_and_gtt = GemDomain::VRAM | GemDomain::GTT;
    let account = |domains, flags| Account::of_bo(domains, flags);
    assert_eq!(account(vram_and_gtt, GemCreateFlags::empty()), Some(Account::VisibleVram));
    assert_eq!(account(vram_and_gtt, GemCreateFlags::NO_CPU_ACCESS), Some(Account::InvisibleVram));
    assert_eq!(account(GemDomain::GTT, GemCreateFlags::NO_CPU_ACCESS), Some(Account::Gtt));
    assert_eq!(account(GemDomain::GDS | GemDomain::OA, GemCreateFlags::empty()), None);
    assert_eq!(account(GemDomain::empty(), GemCreateFlags::empty()), None);
}

#[test]
fn threads_charge_and_free_without_losing_a_byte() {
    let tracker = tracker();
    let kept: Vec<Charge> = thread::scope(|scope| {
        let worker = || {
            let mut kept = Vec::new();
            for round in 0..2000u64 {
                let charge = tracker.charge(Account::ALL[(round % 3) as usize], round << 12);
                if round % 7 == 0 {
                    kept.push(charge);
                }
            }
            kept
        };
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(tracker.usage(), sums(&kept));
    drop(kept);
    assert_eq!(tracker.usage(), OwnUsage::default());
}

#[test]
fn what_one_thread_charges_another_may_free() {
    let tracker = tracker();
    for bytes in [4096, 5 << 30] {
        let charges = thread::scope(|scope| {
            let charge = || Account::ALL.map(|account| tracker.charge(account, bytes));
            let workers: Vec<_> = (0..20).map(|_| scope.spawn(charge)).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(tracker.usage(), OwnUsage { invisible_vram: 20 * bytes, visible_vram: 20 * bytes, gtt: 20 * bytes });
        thread::spawn(|| drop(charges)).join().unwrap();
        assert_eq!(tracker.usage(), OwnUsage::default());
    }
}

#[test]
fn pages_of_a_tracker_may_be_larger_than_4_gib() {
    let tracker = UsageTracker::new(1 << 33);
    let charge = |bytes| tracker.charge(Account::Gtt, bytes).bytes();
    assert_eq!([0, 1, 1 << 32, 1 << 33, (1 << 33) + 1].map(charge), [0, 1 << 33, 1 << 33, 1 << 33, 2 << 33]);
    // What is no page size counts as the smallest.
    for page in [0, 1, 2048, 5000, u64::MAX] {
        assert_eq!(UsageTracker::new(page).charge(Account::Gtt, 1).bytes(), 4096, "{page}");
    }
}

#[test]
fn all_accounts_together_never_pass_the_largest_number() {
    let usage = |invisible_vram, visible_vram, gtt| OwnUsage { invisible_vram, visible_vram, gtt };
    assert_eq!(usage(5 << 32, 3 << 33, 7).total(), (11 << 32) + 7);
    assert_eq!(usage(u64::MAX, 1, 1).total(), u64::MAX);
    assert_eq!(usage(1, u64::MAX, 1).total(), u64::MAX);
}

/// A small charge is not counted where it could pass the largest number with the large ones.
#[test]
fn small_charges_take_only_what_fits_beside_large_ones_of_either_kind() {
    let tracker = tracker();
    let _huge = tracker.charge(Account::VisibleVram, u64::MAX - 8191);
    let (fits, rest) = (tracker.charge(Account::VisibleVram, 4096), tracker.charge(Account::VisibleVram, 8192));
    assert_eq!((fits.bytes(), rest.bytes()), (4096, 4095));
    assert_eq!(tracker.charge(Account::Gtt, 8192).bytes(), 8192, "another account");
}
