//! The device-wide set.

use amdgpu_winsys::{
    cs::{Stream, Submission, pm4},
    heaps::{Backing, SparseBind, SparseRange, WorkingSet},
    vamgr::VaRequest,
    winsys::{Ip, ResidencySet},
};

use crate::{
    rig::{MIB, PAGE, Rig, gtt, shared},
    support::{job_time, queue},
};

/// Rows 38 and 57, W-31: RADV searches its global list to remove; always-valid memory is never on it.
#[test]
fn the_device_wide_set_holds_what_must_be_listed_and_nothing_else() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let own = manager.allocate(&gtt(&manager, MIB)).unwrap();
    let other = manager.allocate(&shared(gtt(&manager, MIB))).unwrap();
    assert!(!manager.make_resident(own.binding()), "the kernel keeps it resident");
    assert!(manager.make_resident(other.binding()));
    assert_eq!(manager.residents().len(), 1);
    let mut set = WorkingSet::new();
    set.add_set(manager.residents());
    assert_eq!(set.bytes(), MIB);
    assert!(manager.residents().remove(other.binding()));
    assert!(manager.residents().is_empty());
}

/// W-30: RADV copies its global list for each submission. Snapshots between which nothing
/// came or went are the same allocation.
#[test]
fn a_snapshot_of_an_unchanged_set_is_not_a_copy() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let memories: Vec<_> = (0..100).map(|_| manager.allocate(&shared(gtt(&manager, 4096))).unwrap()).collect();
    let set = ResidencySet::new();
    for memory in &memories {
        set.add(memory.binding());
    }
    for memory in &memories {
        let (first, second) = (set.snapshot(), set.snapshot());
        assert_eq!(first, second);
        set.remove(memory.binding());
        assert_ne!(first, set.snapshot());
        assert!(first.iter().any(|member| member == memory.binding()), "an old one stays as it was");
    }
    assert!(set.is_empty());
}

fn bind(page: u64, memory: &amdgpu_winsys::heaps::DeviceMemory) -> SparseBind {
    let backing = Backing { memory: memory.binding().clone(), offset: 0 };
    SparseBind { offset: page * PAGE, len: PAGE, backing: Some(backing) }
}

/// Row 87: a sparse range stands for the memories that are bound in it, and each of them is listed once.
#[test]
fn a_sparse_range_expands_to_each_memory_once_however_often_it_is_bound() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let [one, two] = [(); 2].map(|()| manager.allocate(&shared(gtt(&manager, PAGE))).unwrap());
    let [first, second] = [(); 2].map(|()| SparseRange::new(&rig.device, VaRequest::new(64 * PAGE)).unwrap());
    for page in (0..64).step_by(2) {
        first.bind(&[bind(page, &one), bind(page + 1, &two)]).unwrap();
        second.bind(&[bind(page, &one)]).unwrap();
    }
    assert_eq!((first.residents().len(), second.residents().len()), (2, 1));
    let mut set = WorkingSet::new();
    set.add_set(first.residents());
    set.add_set(second.residents());
    assert_eq!(set.bytes(), 2 * PAGE);
}

/// W-23: RADV counts a sparse buffer's memories without a lock and lists them later under one, so that a bind in between
/// overruns the list. Here a submission lists one snapshot, whatever is bound meanwhile.
#[test]
fn a_range_may_be_bound_while_it_is_submitted() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let memories: Vec<_> = (0..32).map(|_| manager.allocate(&shared(gtt(&manager, PAGE))).unwrap()).collect();
    let range = SparseRange::new(&rig.device, VaRequest::new(32 * PAGE)).unwrap();
    let mut stream = Stream::new(&rig.device, pm4::Target::gfx(rig.device.info().gfx_level), 16).unwrap();
    stream.push(&pm4::Nop::Skip(&[0])).unwrap();
    let list = stream.finish().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..20 {
                for (page, memory) in (0..).zip(&memories) {
                    let change = bind(page, memory);
                    let change = if round % 2 == 0 { change } else { SparseBind { backing: None, ..change } };
                    range.bind(&[change]).unwrap();
                }
            }
        });
        let queue = queue(&rig.device, Ip::Gfx, 0);
        for _ in 0..200 {
            let sets = [range.residents()];
            queue.submit(&Submission { lists: &[&list], sets: &sets, ..Submission::default() }).unwrap();
        }
        assert!(queue.wait_idle(job_time()).unwrap());
    });
    assert!(range.residents().is_empty());
}
