//! Admission of allocations, and refusals with a reason.

use std::{
    sync::{Arc, mpsc},
    time::Duration,
};

use amdgpu_winsys::{
    cs::{self, Stream, Submission, pm4},
    heaps::{
        AdmissionPolicy, AllocateFlags, AllocateInfo, AllocateMemoryError, DeviceMemory, Limit, MemoryPropertyFlags,
        Pool, Refusal, Response, VkResult, WorkingSet, WorkingSetError,
    },
    uapi::{Argument, GemCreate},
    winsys::{Bo, Errno, Error, Event, Ip},
};

use crate::{
    listener::Listener,
    rig::{GIB, MIB, Rig, gtt, memory_type, refusal, shared, vram},
    support::queue,
};

/// W-12, feature 70: RADV says yes until a submission fails and the device is lost.
#[test]
fn a_heap_holds_no_more_than_its_size_and_imports_count() {
    let rig = Rig::new("navi21");
    let other = rig.beside();
    let manager = rig.manager().with_admission(AdmissionPolicy::no_overallocation());
    let info = gtt(&manager, GIB);
    let heap = manager.properties().types()[info.memory_type as usize].heap;
    let size = manager.properties().heaps()[heap as usize].size;
    let own: Vec<_> = (0..size / GIB - 1).map(|_| manager.allocate(&info).unwrap()).collect();
    // Another process's memory, imported here, is held here as well.
    let theirs = other.manager();
    let memory = theirs.allocate(&shared(gtt(&theirs, GIB))).unwrap();
    let imported = Bo::import(&rig.device, memory.bo().export().unwrap()).unwrap();
    let before = rig.kernel.inner().census();
    let error = manager.allocate(&info).unwrap_err();
    assert_eq!(error.vk_result(), VkResult::OutOfDeviceMemory);
    let AllocateMemoryError::Refused(refused) = error else { panic!("{error}") };
    let usage = (size / GIB) * GIB;
    let Refusal { limit, most, heaps, .. } = *refused;
    assert_eq!((refused.size, refused.heap, refused.usage, limit, most), (GIB, heap, usage, Limit::HeapSize, size));
    assert_eq!(heaps.heaps().len(), manager.properties().heaps().len(), "all figures come along");
    assert_eq!(rig.kernel.inner().census(), before, "the kernel made nothing");
    drop((imported, own));
    assert!(manager.allocate(&info).is_ok(), "what was freed may be had");
}

#[test]
fn without_a_policy_everything_is_let_in_and_nothing_is_asked() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let calls = rig.kernel.calls();
    let _memory = manager.allocate(&gtt(&manager, MIB)).unwrap();
    assert_eq!(rig.kernel.calls() - calls, 2, "the BO and its binding");
}

/// Row 77.
#[test]
fn a_budget_that_others_have_used_up_refuses_until_they_free_it() {
    let rig = Rig::new("navi21");
    let manager = rig.manager().with_admission(AdmissionPolicy::within_budget());
    let other = rig.beside();
    let theirs = other.manager();
    let info = gtt(&manager, 2 * GIB);
    let heap = manager.properties().types()[info.memory_type as usize].heap as usize;
    let size = manager.properties().heaps()[heap].size;
    let memory = theirs.allocate(&gtt(&theirs, size - GIB)).unwrap();
    let refused = refusal(manager.allocate(&info));
    assert_eq!((refused.limit, refused.usage, refused.heap as usize), (Limit::Budget, 0, heap));
    assert!(refused.most <= GIB, "{}", refused.most);
    // The answer that is remembered still says no; it is not believed.
    drop(memory);
    assert!(manager.allocate(&info).is_ok());
}

#[test]
fn a_policy_that_only_reports_tells_and_lets_in() {
    let listener = Arc::new(Listener::default());
    let rig = Rig::observed("navi21", Arc::clone(&listener));
    let mut policy = AdmissionPolicy { quota: Response::Report, ..AdmissionPolicy::default() };
    let info = gtt(&rig.manager(), MIB);
    let heap = rig.manager().properties().types()[info.memory_type as usize].heap;
    policy.quotas[heap as usize] = Some(MIB);
    let manager = rig.manager().with_admission(policy);
    let told = || {
        let is_about_commitment = |event: &Event| matches!(event, Event::OverCommitted { .. });
        listener.take().into_iter().filter(is_about_commitment).collect::<Vec<_>>()
    };
    let _first = manager.allocate(&info).unwrap();
    assert_eq!(told(), []);
    let _second = manager.allocate(&info).unwrap();
    assert_eq!(told(), [Event::OverCommitted { heap, size: MIB, usage: MIB, limit: MIB, refused: false }]);
    let _elsewhere = manager.allocate(&vram(&manager, 4 * MIB)).unwrap();
    assert_eq!(told(), [], "other heaps have no quota");
}

#[test]
fn of_many_threads_only_as_many_are_let_in_as_there_is_room_for() {
    let rig = Rig::new("navi21");
    let mut policy = AdmissionPolicy { quota: Response::Refuse, ..AdmissionPolicy::default() };
    policy.quotas = [Some(MIB); 16];
    let manager = rig.manager().with_admission(policy);
    let info = gtt(&manager, 64 << 10);
    let kept: Vec<_> = std::thread::scope(|scope| {
        let worker = || (0..16).filter_map(|_| manager.allocate(&info).ok()).collect::<Vec<_>>();
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(kept.len(), 16);
}

/// Whichever limit refuses: what is let in and not charged yet counts for the next who asks.
#[test]
fn an_allocation_is_judged_when_the_one_before_it_is_charged() {
    let refuse = Response::Refuse;
    let quota = AdmissionPolicy { quota: refuse, quotas: [Some(3 * GIB / 2); 16], ..AdmissionPolicy::default() };
    let heap_size = AdmissionPolicy { heap_size: refuse, ..AdmissionPolicy::default() };
    let budget = AdmissionPolicy { budget: refuse, ..AdmissionPolicy::default() };
    for policy in [quota, heap_size, budget] {
        let rig = Rig::new("navi21");
        let manager = rig.manager().with_admission(policy);
        let heap = manager.properties().types()[gtt(&manager, 1).memory_type as usize].heap as usize;
        let half = manager.properties().heaps()[heap].size / 2 + GIB;
        let info = gtt(&manager, if policy == quota { GIB } else { half.next_multiple_of(4096) });
        let (in_kernel, arrived) = mpsc::channel();
        let (open, gate) = mpsc::channel::<()>();
        rig.kernel.fail_every_where(Errno::EIO, move |attempt| {
            if attempt.is(GemCreate::REQUEST) {
                // The second thread does not wait: the gate is not opened for it.
                let _ = in_kernel.send(());
                let _ = gate.recv_timeout(Duration::from_secs(1));
            }
            false
        });
        let outcomes = std::thread::scope(|scope| {
            let first = scope.spawn(|| manager.allocate(&info));
            arrived.recv().unwrap();
            // Let in, but not charged. The other one is given time to be judged too early.
            let second = scope.spawn(|| manager.allocate(&info));
            std::thread::sleep(Duration::from_millis(50));
            open.send(()).unwrap();
            [first, second].map(|thread| thread.join().unwrap())
        });
        let [first, second] = outcomes;
        assert!(first.is_ok(), "{policy:?}");
        assert!(matches!(second, Err(AllocateMemoryError::Refused(_))), "{policy:?}: {second:?}");
    }
}

/// W-12: what the kernel would refuse as a submission is known before.
#[test]
fn a_working_set_that_does_not_fit_is_found_before_it_is_submitted() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let usable = rig.device.memory_info().unwrap().gtt.usable_heap_size;
    let half = (usable / 2 + GIB).next_multiple_of(4096);
    let memories: Vec<_> = (0..2).map(|_| manager.allocate(&shared(gtt(&manager, half))).unwrap()).collect();
    let mut set = WorkingSet::new();
    let fits = |set: &WorkingSet| manager.check_working_set(set);
    set.add(memories[0].binding());
    set.add(memories[0].binding());
    assert_eq!((set.bytes(), fits(&set)), (half, Ok(())), "each BO once");
    set.add(memories[1].binding());
    let error = fits(&set).unwrap_err();
    let WorkingSetError::DoesNotFit(over) = &error else { panic!("{error}") };
    assert_eq!((over.pool, over.usable, error.vk_result()), (Pool::Gtt, usable, VkResult::OutOfDeviceMemory));
    assert!(over.needed >= 2 * half);
    // So says the kernel.
    let queue = queue(&rig.device, Ip::Gfx, 0);
    let mut stream = Stream::new(&rig.device, pm4::Target::gfx(rig.device.info().gfx_level), 16).unwrap();
    stream.push(&pm4::Nop::Skip(&[0])).unwrap();
    let list = stream.finish().unwrap();
    let listed: Vec<_> = memories.iter().map(|memory| memory.binding().clone()).collect();
    let error = queue.submit(&Submission { lists: &[&list], memory: &listed, ..Submission::default() }).unwrap_err();
    // The two memories, the stream's, and that of the invalidation before it.
    assert!(matches!(error, cs::SubmitError::Winsys(Error::OutOfMemory { bos: 4, .. })), "{error}");
    assert!(queue.submit(&Submission { lists: &[&list], memory: &&listed[..1], ..Submission::default() }).is_ok());
}

#[test]
fn what_is_always_valid_belongs_to_every_working_set() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let usable = rig.device.memory_info().unwrap().gtt.usable_heap_size;
    let half = (usable / 2 + GIB).next_multiple_of(4096);
    let own = manager.allocate(&gtt(&manager, half)).unwrap();
    let listed = manager.allocate(&shared(gtt(&manager, half))).unwrap();
    let mut set = WorkingSet::new();
    set.add(own.binding());
    assert_eq!(set.bytes(), 0, "it is not listed");
    assert!(manager.check_working_set(&set).is_ok());
    set.add(listed.binding());
    assert!(matches!(manager.check_working_set(&set), Err(WorkingSetError::DoesNotFit(_))));
    drop(own);
    assert!(manager.check_working_set(&set).is_ok());
}

#[test]
fn what_may_spill_counts_in_both_pools_and_what_may_not_in_its_own() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let memory = rig.device.memory_info().unwrap();
    let (usable_vram, usable_gtt) = (memory.vram.usable_heap_size, memory.gtt.usable_heap_size);
    let sized = |info: AllocateInfo, size: u64| {
        let flags = info.flags | AllocateFlags::EXPORTABLE;
        manager.allocate(&AllocateInfo { size: size.next_multiple_of(4096), flags, ..info }).unwrap()
    };
    let checked = |memories: &[&DeviceMemory]| {
        let mut set = WorkingSet::new();
        for memory in memories {
            set.add(memory.binding());
        }
        manager.check_working_set(&set).map_err(|error| match error {
            WorkingSetError::DoesNotFit(over) => (over.pool, over.needed, over.usable),
            WorkingSetError::Winsys(error) => panic!("{error}"),
        })
    };
    let only_vram = AllocateInfo { flags: AllocateFlags::NO_SPILL, ..vram(&manager, 1) };
    let pinned = [(); 2].map(|()| sized(only_vram, usable_vram / 2 + GIB));
    let size = pinned[0].size();
    assert_eq!(checked(&[&pinned[0]]), Ok(()));
    assert_eq!(checked(&[&pinned[0], &pinned[1]]), Err((Pool::Vram, 2 * size, usable_vram)));
    drop(pinned);
    let free = [(); 4].map(|()| sized(vram(&manager, 1), (usable_vram + usable_gtt) / 4 + MIB));
    let size = free[0].size();
    assert_eq!(checked(&[&free[0], &free[1], &free[2]]), Ok(()), "more than VRAM or GTT alone");
    assert!(3 * size > usable_vram.max(usable_gtt));
    let both = usable_vram + usable_gtt;
    assert_eq!(checked(&free.each_ref()), Err((Pool::Both, 4 * size, both)));
}

/// Memory that is always valid counts wherever it is, although no set lists it.
#[test]
fn always_valid_memory_of_either_kind_leaves_less_for_what_is_listed() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let memory = rig.device.memory_info().unwrap();
    let both = memory.vram.usable_heap_size + memory.gtt.usable_heap_size;
    let visible = MemoryPropertyFlags::DEVICE_LOCAL | MemoryPropertyFlags::HOST_VISIBLE;
    let own_size = 128 * MIB;
    let quarter = ((both - own_size) / 4 + MIB).next_multiple_of(4096);
    let listed = [(); 4].map(|()| manager.allocate(&shared(vram(&manager, quarter))).unwrap());
    let mut set = WorkingSet::new();
    for memory in &listed {
        set.add(memory.binding());
    }
    assert_eq!(manager.check_working_set(&set), Ok(()));
    for info in [vram(&manager, own_size), AllocateInfo::new(memory_type(&manager, visible), own_size)] {
        let _own = manager.allocate(&info).unwrap();
        let error = manager.check_working_set(&set).unwrap_err();
        let WorkingSetError::DoesNotFit(over) = error else { panic!("{error}") };
        assert_eq!((over.pool, over.needed, over.usable), (Pool::Both, 4 * quarter + own_size, both));
    }
}
