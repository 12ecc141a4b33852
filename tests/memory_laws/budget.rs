//! Budgets are cheap to query and true.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};

use amdgpu_layers::Layer;
use amdgpu_winsys::{
    heaps::{
        BudgetRule, EffectivePool, HeapKind, HostMemory, MemoryManager, OwnUsage, PoolLimit, SystemUsage, TableOptions,
        suballocation::Clock,
    },
    uapi::{GemCreateFlags, GemDomain},
    winsys::{Bo, BoRequest, Device, Event, MoveCounters, PressureLevel, Sensor},
};
use parking_lot::Mutex;
use proptest::prelude::*;

use crate::{
    liar::{Liar, Told},
    listener::Listener,
    rig::{GIB, MIB, Rig, gpu, gtt, vram},
};

/// A clock that a test moves; milliseconds.
#[derive(Clone, Debug, Default)]
struct Hands(Arc<AtomicU64>);

impl Hands {
    fn advance(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for Hands {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

/// W-15, feature 76: RADV makes four to six ioctls for each query, and clients query before each allocation.
#[test]
fn a_budget_costs_one_ioctl_in_an_interval_and_none_in_between() {
    let rig = Rig::new("navi21");
    let hands = Hands::default();
    let manager = rig.manager().with_budget_interval(hands.clone(), Duration::from_millis(100));
    let calls = |query: &dyn Fn()| {
        let before = rig.kernel.calls();
        query();
        rig.kernel.calls() - before
    };
    let cached = || assert!(manager.cached_budgets(BudgetRule::Radv).is_ok());
    assert_eq!(manager.last_budgets(BudgetRule::Radv), None);
    assert_eq!(calls(&cached), 1, "the first");
    assert_eq!(calls(&|| (0..1000).for_each(|_| cached())), 0);
    hands.advance(99);
    assert_eq!(calls(&cached), 0);
    assert_eq!(manager.last_budgets(BudgetRule::Radv), manager.cached_budgets(BudgetRule::Radv).ok());
    hands.advance(1);
    assert_eq!(calls(&|| (0..1000).for_each(|_| cached())), 1);
    assert_eq!(calls(&|| assert!(manager.budgets(BudgetRule::Radv).is_ok())), 1, "asked for by name");
    hands.advance(99);
    assert_eq!(calls(&cached), 0, "that answer counts as well");
    assert_eq!(manager.cached_usage().unwrap().generation, 3);
}

#[test]
fn what_this_process_allocates_counts_at_once_and_what_others_do_after_a_refresh() {
    let (rig, hands) = (Rig::new("navi21"), Hands::default());
    let manager = rig.manager().with_budget_interval(hands.clone(), Duration::from_millis(100));
    let heap = manager.properties().types()[gtt(&manager, 1).memory_type as usize].heap as usize;
    let of_heap = |manager: &MemoryManager| manager.cached_budgets(BudgetRule::default()).unwrap().heaps()[heap];
    let before = of_heap(&manager);
    let _own = manager.allocate(&gtt(&manager, 64 * MIB)).unwrap();
    assert_eq!(of_heap(&manager).usage, before.usage + 64 * MIB);
    let other = rig.beside();
    let _theirs = other.manager().allocate(&gtt(&other.manager(), GIB)).unwrap();
    let stale = of_heap(&manager).budget;
    hands.advance(100);
    let fresh = of_heap(&manager).budget;
    assert!(stale >= fresh + GIB - 64 * MIB, "{stale} {fresh}");
}

#[test]
fn a_refused_question_is_an_error_and_the_next_one_is_asked() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    rig.kernel.fail_nth(0, amdgpu_winsys::winsys::Errno::EIO);
    assert!(manager.cached_budgets(BudgetRule::Radv).is_err());
    assert!(manager.cached_budgets(BudgetRule::Radv).is_ok());
}

/// A thread that finds no answer waits for the thread that asks, and takes its answer.
#[test]
fn the_kernel_is_asked_once_although_two_need_the_answer() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let (in_kernel, arrived) = mpsc::channel();
    let (open, gate) = mpsc::channel::<()>();
    rig.kernel.fail_every_where(amdgpu_winsys::winsys::Errno::EIO, move |_| {
        let _ = in_kernel.send(());
        let _ = gate.recv_timeout(Duration::from_secs(1));
        false
    });
    let before = rig.kernel.calls();
    let answers = std::thread::scope(|scope| {
        let first = scope.spawn(|| manager.cached_usage().unwrap());
        arrived.recv().unwrap();
        let second = scope.spawn(|| manager.cached_usage().unwrap());
        std::thread::sleep(Duration::from_millis(50));
        open.send(()).unwrap();
        [first, second].map(|thread| thread.join().unwrap())
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(rig.kernel.calls() - before, 1);
}

/// A thread that finds an old answer goes on with it while another one asks.
#[test]
fn nobody_waits_for_a_new_answer_while_there_is_an_old_one() {
    let rig = Rig::new("navi21");
    let hands = Hands::default();
    let manager = rig.manager().with_budget_interval(hands.clone(), Duration::from_millis(100));
    let first = manager.cached_usage().unwrap();
    hands.advance(100);
    let (in_kernel, arrived) = mpsc::channel();
    let (open, gate) = mpsc::channel::<()>();
    rig.kernel.fail_every_where(amdgpu_winsys::winsys::Errno::EIO, move |_| {
        let _ = in_kernel.send(());
        let _ = gate.recv_timeout(Duration::from_secs(20));
        false
    });
    std::thread::scope(|scope| {
        let asks = scope.spawn(|| manager.cached_usage().unwrap());
        arrived.recv().unwrap();
        let meanwhile = [manager.cached_usage().unwrap(), manager.cached_usage().unwrap()];
        let _ = open.send(());
        assert_eq!(meanwhile, [first, first]);
        assert_eq!(asks.join().unwrap().generation, 2);
    });
}

fn told_device(name: &str) -> (Device, Told, Arc<Listener>) {
    let (told, listener) = (Told::default(), Arc::new(Listener::default()));
    let kernel = Liar(Arc::clone(&told)).over(gpu(name).open());
    (Device::with_observer(kernel, Arc::clone(&listener)).unwrap(), told, listener)
}

fn any_usage() -> impl Strategy<Value = u64> {
    prop_oneof![0..64 * GIB, any::<u64>(), Just(u64::MAX), Just(0)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// W-16 and its kin: a heap of 16 MiB once got a budget of 16 EiB. The law holds for any usage that the kernel reports.
    #[test]
    fn no_budget_wraps_or_passes_its_heap_whatever_the_kernel_says(
        name in prop::sample::select(vec!["navi21", "polaris10", "renoir", "vangogh"]),
        answers in prop::collection::vec([any_usage(), any_usage(), any_usage()], 1..8),
        unified in any::<bool>(),
        host in (any_usage(), any_usage()),
    ) {
        let (device, told, _) = told_device(name);
        let options = TableOptions { unified_heap_on_apu: unified, ..TableOptions::default() };
        let manager = MemoryManager::new(&device, &options).unwrap();
        let facts = *manager.properties().facts();
        let host = HostMemory { total: host.0, available: host.1 };
        let _memory = manager.allocate(&gtt_or_any(&manager)).unwrap();
        for answer in answers {
            *told.lock() = Some(answer);
            for rule in [BudgetRule::Radv, BudgetRule::Corrected] {
                let system = manager.refresh_usage().unwrap().usage;
                prop_assert_eq!([system.vram, system.visible_vram, system.gtt], answer);
                for system in [system, system.capped_by(&facts, &host)] {
                    let budgets = manager.budgets_from(&system, rule);
                    for (heap, figures) in manager.properties().heaps().iter().zip(budgets.heaps()) {
                        prop_assert!(figures.budget <= heap.size, "{:?} of {:?}", figures, heap);
                        prop_assert!(figures.available() <= heap.size);
                        prop_assert!(rule == BudgetRule::Radv || figures.budget > 0);
                    }
                }
            }
            let pool = manager.effective_pool(&host).unwrap();
            prop_assert!(pool.available <= pool.size);
            prop_assert!(pool.size <= facts.vram().saturating_add(host.total));
            prop_assert!(pool.available <= facts.vram().saturating_add(host.available));
        }
    }

    /// W-11: an honest budget never has more free than the host can give beside free VRAM.
    #[test]
    fn honest_budgets_of_an_apu_add_up_to_no_more_than_there_is(
        own in [0..GIB, 0..GIB],
        system in [any_usage(), any_usage()],
        available in 0..32 * GIB,
    ) {
        let manager = Rig::new("renoir").manager();
        let facts = manager.properties().facts();
        let own = OwnUsage { invisible_vram: 0, visible_vram: own[0], gtt: own[1] };
        let system = SystemUsage { vram: system[0], visible_vram: system[0], gtt: system[1] };
        let host = HostMemory { total: 32 * GIB, available };
        let honest = system.capped_by(facts, &host);
        let budgets = manager.properties().budgets(&own, &honest, BudgetRule::Radv);
        let free: u64 = budgets.heaps().iter().map(|heap| heap.budget.saturating_sub(heap.usage)).sum();
        let free_vram = facts.vram().saturating_sub(system.visible_vram);
        prop_assert!(free <= free_vram + available, "{} > {} + {}", free, free_vram, available);
    }
}

fn gtt_or_any(manager: &MemoryManager) -> amdgpu_winsys::heaps::AllocateInfo {
    amdgpu_winsys::heaps::AllocateInfo::new(0, (manager.properties().heaps().len() as u64) << 20)
}

/// W-11: RADV offers the sum of carve-out and GTT, 135 GB on a machine of 128.
#[test]
fn the_effective_pool_of_an_apu_is_capped_by_the_memory_there_is() {
    let (device, told, _) = told_device("renoir");
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let facts = *manager.properties().facts();
    *told.lock() = Some([0, 0, 0]);
    let total = facts.gtt() / 2;
    let host = HostMemory { total, available: total / 2 };
    let pool = manager.effective_pool(&host).unwrap();
    let heaps: u64 = manager.properties().heaps().iter().map(|heap| heap.size).sum();
    assert!(pool.size < heaps, "the heaps promise {heaps}");
    assert_eq!(
        pool,
        EffectivePool {
            size: facts.reported_vram() + total,
            available: facts.reported_vram() + total / 2,
            own: 0,
            limit: PoolLimit::Host
        }
    );
    let ample = HostMemory { total: 1 << 40, available: 1 << 40 };
    let pool = manager.effective_pool(&ample).unwrap();
    assert_eq!((pool.size, pool.limit), (facts.reported_vram() + facts.gtt(), PoolLimit::Gpu));
}

#[test]
fn a_change_of_usage_and_a_crossing_of_pressure_are_told_once() {
    let (device, told, listener) = told_device("navi21");
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let (index, heap) = (0..).zip(manager.properties().heaps()).find(|(_, heap)| heap.kind == HeapKind::Gtt).unwrap();
    let _memory = manager.allocate(&gtt(&manager, GIB)).unwrap();
    listener.take();
    let free = |bytes: u64| *told.lock() = Some([0, 0, heap.size - bytes]);
    let heard = |bytes: u64| {
        free(bytes);
        manager.refresh_usage().unwrap();
        listener.take()
    };
    let level = |events: &[Event]| {
        events.iter().find_map(|event| match event {
            Event::Pressure { heap, level, .. } if *heap == index => Some(*level),
            _ => None,
        })
    };
    let calm = heard(8 * GIB);
    assert!(matches!(calm[..], [Event::BudgetChanged { generation: 1, vram: 0, .. }]), "{calm:?}");
    assert_eq!(heard(8 * GIB), [], "nothing has changed");
    // A budget of 1.25 GiB, of which 1 is used; then one that is a hair larger, and one that is much larger.
    assert_eq!(level(&heard(GIB / 4)), Some(PressureLevel::High));
    assert_eq!(level(&heard(GIB / 4 + MIB)), None, "not for a swing around the limit");
    assert_eq!(level(&heard(8 * GIB)), Some(PressureLevel::Low));
}

/// Rows 16 and 77: the kernel says that it moved memory, though not whose.
#[test]
fn evictions_are_told_as_what_came_since_the_last_time() {
    let listener = Arc::new(Listener::default());
    let rig = Rig::observed("navi21", Arc::clone(&listener));
    let manager = rig.manager();
    assert_eq!(manager.poll_evictions().unwrap(), MoveCounters::default(), "nothing to compare with");
    let size = (rig.device.memory_info().unwrap().vram.total_heap_size / 4 + MIB).next_multiple_of(4096);
    // Four that must be in VRAM and do not fit together: the last throws the first out.
    let only_vram = BoRequest { size, alignment: 0, domains: GemDomain::VRAM, flags: GemCreateFlags::NO_CPU_ACCESS };
    let _bos = [(); 4].map(|()| Bo::create(&rig.device, only_vram).unwrap());
    listener.take();
    let moved = manager.poll_evictions().unwrap();
    let MoveCounters { evictions, bytes_moved } = moved;
    let counters = rig.device.move_counters().unwrap();
    assert_eq!(counters, moved, "nobody else is there");
    assert!(evictions == 1 && bytes_moved >= size, "{moved:?}");
    assert_eq!(listener.take(), [Event::Evicted { evictions, bytes_moved }]);
    assert_eq!(manager.poll_evictions().unwrap(), MoveCounters::default());
}

#[test]
fn counters_that_start_over_count_from_zero() {
    let counters = |evictions, bytes_moved| MoveCounters { evictions, bytes_moved };
    assert_eq!(counters(5, 100).since(counters(3, 60)), counters(2, 40));
    assert_eq!(counters(1, 10).since(counters(3, 60)), counters(1, 10));
}

/// Row 16.
#[test]
fn the_kernels_counters_agree_with_each_other() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let _memory = manager.allocate(&vram(&manager, 8 * MIB)).unwrap();
    let (domains, flags) = (GemDomain::VRAM, GemCreateFlags::CPU_ACCESS_REQUIRED);
    let _visible = Bo::create(&rig.device, BoRequest { size: MIB, alignment: 0, domains, flags }).unwrap();
    let system = rig.device.system_usage().unwrap();
    let one_by_one = SystemUsage {
        vram: rig.device.vram_usage().unwrap(),
        visible_vram: rig.device.visible_vram_usage().unwrap(),
        gtt: rig.device.gtt_usage().unwrap(),
    };
    assert_eq!(system, one_by_one);
    assert!(system.vram >= 9 * MIB && system.visible_vram >= MIB);
    assert_eq!(rig.device.cpu_page_faults().unwrap(), 0);
    // The simulated GPU has no power management.
    assert!(Sensor::ALL.into_iter().all(|sensor| rig.device.sensor(sensor).unwrap().is_none()));
    rig.kernel.fail_nth(0, amdgpu_winsys::winsys::Errno::EIO);
    assert!(rig.device.sensor(Sensor::Temperature).is_err());
}

/// Readers, refreshers and allocations at once: nothing is lost, and no reader waits for the kernel's answer.
#[test]
fn threads_may_ask_and_refresh_at_once() {
    let rig = Rig::new("navi21");
    let manager = rig.manager().with_budget_interval(Hands::default(), Duration::from_millis(1));
    let totals = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (manager, totals) = (&manager, &totals);
            scope.spawn(move || {
                for round in 0..200 {
                    if (round + thread) % 8 == 0 {
                        manager.refresh_usage().unwrap();
                    }
                    let budgets = manager.cached_budgets(BudgetRule::Corrected).unwrap();
                    assert!(budgets.heaps().iter().all(|heap| heap.budget > 0));
                }
                totals.lock().push(manager.cached_usage().unwrap().generation);
            });
        }
    });
    assert!(totals.lock().iter().all(|&generation| generation >= 25));
}
