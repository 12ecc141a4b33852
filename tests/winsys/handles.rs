//! Handles of shared objects: clones are equal, other objects of the same kind are not, and each says what it is of.

use std::fmt::Debug;

use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    cs::Queue,
    heaps::{MemoryManager, SparseRange, TableOptions, UsageTracker},
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::VaRequest,
    winsys::{Binding, Bo, BoHistory, BoRequest, Context, Device, Ip, Priority, ResidencySet, Syncobj, VaMap},
};

use crate::support::chip;

fn device(name: &str) -> Device {
    Device::new(SimKernel::open(chip(name))).unwrap()
}

/// Makes two objects of a kind, which are not the same.
fn assert_told_apart<T: Clone + PartialEq + Debug>(kind: &str, mut make: impl FnMut() -> T) {
    let (one, other) = (make(), make());
    let clone = one.clone();
    assert_eq!(one, clone, "{kind}");
    assert!(one != other && other != clone, "{kind}: {one:?} and {other:?}");
    assert!(format!("{one:?}").starts_with(kind), "{one:?}");
}

#[test]
fn handles_are_equal_if_they_are_of_one_object() {
    let device = device("navi21");
    let bo = || {
        let (domains, flags) = (GemDomain::GTT, GemCreateFlags::CPU_ACCESS_REQUIRED);
        Bo::create(&device, BoRequest { size: 4096, alignment: 0, domains, flags }).unwrap()
    };
    let bound = bo();
    let lease = || device.addresses().allocate(VaRequest::new(4096)).unwrap();
    let context = || Context::new(&device, Priority::Normal).unwrap();
    assert_told_apart("Device", || self::device("navi21"));
    assert_told_apart("Bo", bo);
    assert_told_apart("Binding", || Binding::new(&bound, lease(), VaFlags::READABLE).unwrap());
    assert_told_apart("Context", context);
    assert_told_apart("Queue", || Queue::new(&context(), Ip::Gfx, 0).unwrap());
    assert_told_apart("Syncobj", || Syncobj::new(&device, false).unwrap());
    assert_told_apart("ResidencySet", ResidencySet::new);
    assert_told_apart("Residents", || {
        let set = ResidencySet::new();
        set.add(&Binding::new(&bound, lease(), VaFlags::READABLE).unwrap());
        set.snapshot()
    });
    assert_eq!(ResidencySet::new().snapshot(), ResidencySet::new().snapshot(), "none has a member");
    assert_told_apart("UsageTracker", || UsageTracker::new(4096));
    assert_told_apart("VaMap", || VaMap::new(4));
    assert_told_apart("BoHistory", || BoHistory::new(4));
    assert_told_apart("MemoryManager", || MemoryManager::new(&device, &TableOptions::default()).unwrap());
    assert_told_apart("SparseRange", || SparseRange::new(&device, VaRequest::new(1 << 20)).unwrap());
}

#[test]
fn what_is_printed_of_a_handle_names_its_object() {
    let (big, small) = (device("navi21"), device("renoir"));
    assert!(format!("{big:?}").contains(big.info().chip_name()));
    assert!(format!("{small:?}").contains(small.info().chip_name()) && format!("{big:?}") != format!("{small:?}"));
    let lease = big.addresses().allocate(VaRequest::new(8192)).unwrap();
    let range = lease.range();
    assert_eq!(format!("{range:?}"), format!("{:#x}..{:#x}", range.start().as_u64(), range.end()));
    assert_eq!(format!("{lease:?}"), format!("VaLease({range:?})"));
    assert!(!range.is_empty() && range.len() == 8192);
    let addresses = format!("{:?}", big.addresses());
    assert!(addresses.starts_with("VaManager") && addresses.contains("windows"), "{addresses}");
    let queue = Queue::new(&Context::new(&big, Priority::Normal).unwrap(), Ip::Compute, 0).unwrap();
    let fence = format!("{:?}", queue.last());
    assert!(fence.starts_with("Fence") && fence.contains("sequence: 0") && fence.contains("Compute"), "{fence}");
}
