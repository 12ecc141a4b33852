//! The device-wide set.

use std::sync::Arc;

use amdgpu_winsys::{heaps::WorkingSet, winsys::ResidentSet};

use crate::rig::{MIB, Rig, gtt, shared};

/// Rows 38 and 57, W-31: RADV searches its global list to remove; always-valid memory is never on it.
#[test]
fn w31_the_device_wide_set_holds_what_must_be_listed_and_nothing_else() {
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
fn w30_a_snapshot_of_an_unchanged_set_is_not_a_copy() {
    let rig = Rig::new("navi21");
    let manager = rig.manager();
    let memories: Vec<_> = (0..100).map(|_| manager.allocate(&shared(gtt(&manager, 4096))).unwrap()).collect();
    let set = ResidentSet::new();
    for memory in &memories {
        set.add(memory.binding());
    }
    for memory in &memories {
        let (first, second) = (set.snapshot(), set.snapshot());
        assert!(Arc::ptr_eq(&first, &second));
        set.remove(memory.binding());
        assert!(!Arc::ptr_eq(&first, &set.snapshot()));
        assert!(first.iter().any(|member| Arc::ptr_eq(member, memory.binding())), "an old one stays as it was");
    }
    assert!(set.is_empty());
}
