//! Options of an allocation: sizes, rights, residency, gaps, priorities.

use std::{mem::offset_of, sync::Arc};

use crate::support::{chip, chips, device, job_time};
use amdgpu_layers::{Answered, FaultInjector, Ioctl, Layer};
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    heaps::{
        Addressing, AllocateError, AllocateFlags, AllocateInfo, MemoryManager, MemoryPolicy, MemoryPropertyFlags,
        OwnUsage, ResidencyPolicy, TableOptions, VkResult,
    },
    uapi::{Argument, GemCreateFlags, GemDomain, GemVa, MemoryInfo, VaFlags, query},
    vamgr::{VaLease, VaRange, VaRequest, VaWindow},
    winsys::{Device, Errno, PAGE_SIZE, Reservation},
};

const GIB: u64 = 1 << 30;

fn with_policy(name: &str, policy: MemoryPolicy) -> MemoryManager {
    MemoryManager::with_policy(&device(name), &TableOptions::default(), policy).unwrap()
}

fn manager(name: &str) -> MemoryManager {
    with_policy(name, MemoryPolicy::default())
}

/// An allocation does not check its request again.
#[test]
fn no_plan_breaks_a_rule_of_the_kernel() {
    for (name, drm_minor) in chips().into_iter().flat_map(|name| [46, 47, 57, 58, 60, 64].map(|minor| (name, minor))) {
        let options = SimOptions { drm_minor, ..SimOptions::default() };
        // The simulator has no older driver for newer chips.
        let Ok(device) = Device::new(SimDevice::new(chip(name), options).open()) else { continue };
        let options = TableOptions { zero_vram: drm_minor % 2 == 0, ..TableOptions::default() };
        let manager = MemoryManager::new(&device, &options).unwrap();
        for memory_type in 0..manager.properties().types().len() as u32 {
            let wishes = AllocateFlags::all().iter().chain([AllocateFlags::empty(), AllocateFlags::all()]);
            for (flags, size) in wishes.flat_map(|flags| [1, 4096, 1 << 21].map(|size| (flags, size))) {
                let info = AllocateInfo { flags, ..AllocateInfo::new(memory_type, size) };
                let plan = manager.properties().resolve(&info).unwrap();
                assert_eq!(plan.bo.check(device.info()), Ok(()), "{name} {drm_minor} {memory_type} {flags:?}");
            }
        }
    }
}

/// W-13: RADV caps an allocation at 0xFFFFFFFC bytes, whatever the heap has.
#[test]
fn an_allocation_may_have_more_than_4_gib_up_to_its_heap() {
    let manager = manager("navi21");
    let heap_size = manager.properties().heaps()[0].size;
    for size in [0xffff_fffc, 4 * GIB, 4 * GIB + 1, 5 * GIB] {
        let memory = manager.allocate(&AllocateInfo::new(0, size)).unwrap();
        assert_eq!(memory.size(), size.next_multiple_of(PAGE_SIZE));
        assert_eq!(manager.usage_tracker().usage().invisible_vram, memory.size());
    }
    assert!(manager.properties().resolve(&AllocateInfo::new(0, heap_size)).is_ok());
    let beyond = manager.allocate(&AllocateInfo::new(0, heap_size + 1)).unwrap_err();
    assert_eq!(beyond, AllocateError::BeyondHeap { size: heap_size + 1, heap: 0, heap_size }.into());
    assert_eq!(beyond.vk_result(), VkResult::OutOfDeviceMemory);
}

#[test]
fn sizes_are_rounded_to_pages_and_none_is_zero() {
    let manager = manager("vega10");
    for (size, rounded) in [(1, 4096), (4095, 4096), (4096, 4096), (4097, 8192), (65_537, 69_632)] {
        assert_eq!(manager.allocate(&AllocateInfo::new(1, size)).unwrap().size(), rounded);
    }
    let zero = manager.allocate(&AllocateInfo::new(1, 0)).unwrap_err();
    assert_eq!((zero.vk_result(), manager.usage_tracker().usage()), (VkResult::Success, OwnUsage::default()));
}

/// Row 64: types differ in where their addresses are and in how the GPU caches them, not only in their names.
#[test]
fn memory_has_the_addresses_and_the_caching_of_its_type() {
    let (mut narrow_types, mut uncached_types) = (0, 0);
    for name in chips() {
        let manager = manager(name);
        let upper_half = manager.device().addresses().windows().address32_hi();
        for (index, ty) in (0..).zip(manager.properties().types()) {
            let memory = manager.allocate(&AllocateInfo::new(index, 4096)).unwrap();
            let is_narrow = memory.address().high() == upper_half;
            assert_eq!(is_narrow, ty.addressing == Addressing::Bits32, "{name}: type {index} at {}", memory.address());
            assert_eq!(manager.properties().types_32bit().contains(index), is_narrow, "{name}: type {index}");
            let is_uncached = memory.binding().flags() & VaFlags::MTYPE_MASK == VaFlags::MTYPE_UC;
            let promised = ty.properties.contains(MemoryPropertyFlags::DEVICE_UNCACHED_AMD);
            assert_eq!(is_uncached, promised, "{name}: type {index}");
            narrow_types += u32::from(is_narrow);
            uncached_types += u32::from(is_uncached);
        }
    }
    assert!(narrow_types >= 2 * 12 && uncached_types >= 3 * 8, "{narrow_types} and {uncached_types}");
}

/// Row 65.
#[test]
fn addresses_suit_any_image_and_whole_fragments_from_their_size_on() {
    for name in chips() {
        let manager = manager(name);
        let facts = *manager.properties().facts();
        let (any_image, fragment) = (facts.max_alignment(), facts.pte_fragment_size());
        assert!(any_image >= 1 << 15 && fragment >= 1 << 16, "{name}: {any_image:#x} and {fragment:#x}");
        for (index, ty) in (0..).zip(manager.properties().types()) {
            let window = if ty.addressing == Addressing::Bits32 { VaWindow::High32 } else { VaWindow::High };
            for size in [1, 4096, 5000, fragment - 4096, fragment - 4095, fragment, 3 * fragment + 1] {
                // The lowest free address is a multiple of a page and of nothing more.
                let odd_pages = [1, 2].map(|pages| VaRequest::new(pages * PAGE_SIZE).within(window));
                let _odd = odd_pages.map(|request| manager.device().addresses().allocate(request).unwrap());
                let memory = manager.allocate(&AllocateInfo::new(index, size)).unwrap();
                let what = format!("{name}: {size} bytes of type {index} at {}", memory.address());
                assert_eq!(memory.size(), size.next_multiple_of(PAGE_SIZE), "{what}");
                assert!(memory.address().is_aligned(any_image), "{what}");
                assert!(memory.size() < fragment || memory.address().is_aligned(fragment), "{what}");
                assert_eq!(memory.bo().create_info().unwrap().alignment, any_image, "{what}");
            }
        }
    }
}

/// W-46: always-valid memory takes the lock of the page tables, and is all moved in for every submission once it does not
/// fit; RADV has nothing else.
#[test]
fn memory_is_always_valid_while_it_fits_comfortably_and_listed_beyond() {
    // VRAM that the CPU never sees, VRAM that it sees, and GTT: each counts by itself.
    for memory_type in [0, 3, 5] {
        let local = |policy| {
            let manager = with_policy("navi21", MemoryPolicy { residency: policy, ..MemoryPolicy::default() });
            let heap = manager.properties().types()[memory_type as usize].heap;
            let info = AllocateInfo::new(memory_type, manager.properties().heaps()[heap as usize].size / 5);
            let memories: Vec<_> = (0..4).map(|_| manager.allocate(&info).unwrap()).collect();
            memories.iter().map(amdgpu_winsys::heaps::DeviceMemory::is_always_valid).collect::<Vec<_>>()
        };
        assert_eq!(local(ResidencyPolicy::AlwaysValid), [true; 4]);
        assert_eq!(local(ResidencyPolicy::Listed), [false; 4]);
        assert_eq!(local(ResidencyPolicy::UpTo { percent: 50 }), [true, true, false, false], "type {memory_type}");
        assert_eq!(local(ResidencyPolicy::UpTo { percent: 0 }), [false; 4]);
        assert_eq!(local(ResidencyPolicy::UpTo { percent: 200 }), [true; 4]);
    }
    let manager = manager("navi21");
    let listed = AllocateInfo { flags: AllocateFlags::LISTED, ..AllocateInfo::new(0, 4096) };
    assert!(!manager.allocate(&listed).unwrap().is_always_valid());
}

/// Tells another size of GTT.
struct Gtt(u64);

impl Layer for Gtt {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        let is_told = call.query().is_some_and(|info| info.query == query::MEMORY);
        let mut answered = call.forward();
        if is_told {
            answered.patch_info(offset_of!(MemoryInfo, gtt.total_heap_size), &self.0.to_le_bytes());
        }
        answered
    }
}

#[test]
fn a_limit_of_always_valid_memory_is_met_to_the_byte() {
    const HEAP: u64 = 100 << 25;
    let residency = ResidencyPolicy::UpTo { percent: 50 };
    for (more, is_within) in [(0, true), (1, false)] {
        let device = Device::new(Gtt(HEAP).over(SimKernel::open(chip("navi21")))).unwrap();
        let policy = MemoryPolicy { residency, ..MemoryPolicy::default() };
        let manager = MemoryManager::with_policy(&device, &TableOptions::default(), policy).unwrap();
        let heap = manager.properties().types()[5].heap as usize;
        assert_eq!(manager.properties().heaps()[heap].size, HEAP);
        let first = manager.allocate(&AllocateInfo::new(5, PAGE_SIZE)).unwrap();
        let rest = manager.allocate(&AllocateInfo::new(5, HEAP / 2 - PAGE_SIZE + more)).unwrap();
        assert_eq!((first.is_always_valid(), rest.is_always_valid()), (true, is_within), "{more}");
    }
}

#[test]
fn vram_spills_to_gtt_unless_it_must_not() {
    let manager = manager("navi21");
    let domains = |flags| {
        let info = AllocateInfo { flags, ..AllocateInfo::new(0, 4096) };
        manager.allocate(&info).unwrap().bo().create_info().unwrap().domains
    };
    assert_eq!(domains(AllocateFlags::empty()), GemDomain::VRAM | GemDomain::GTT);
    assert_eq!(domains(AllocateFlags::NO_SPILL), GemDomain::VRAM);
    let gtt = AllocateInfo { flags: AllocateFlags::NO_SPILL, ..AllocateInfo::new(2, 4096) };
    assert_eq!(manager.allocate(&gtt).unwrap().bo().domains(), GemDomain::GTT, "there is nothing to leave out");
}

#[test]
fn wishes_reach_the_kernel() {
    let manager = manager("navi21");
    let flags = |flags, memory_type| {
        let info = AllocateInfo { flags, ..AllocateInfo::new(memory_type, 4096) };
        manager.allocate(&info).unwrap().bo().create_info().unwrap().flags
    };
    let none = AllocateFlags::empty();
    assert!(flags(AllocateFlags::DISCARDABLE, 0).contains(GemCreateFlags::DISCARDABLE));
    assert!(flags(none, 0).contains(GemCreateFlags::EXPLICIT_SYNC | GemCreateFlags::NO_CPU_ACCESS));
    assert!(!flags(AllocateFlags::IMPLICIT_SYNC, 0).contains(GemCreateFlags::EXPLICIT_SYNC));
    assert!(flags(AllocateFlags::ZERO, 0).contains(GemCreateFlags::VRAM_CLEARED));
    assert!(!flags(AllocateFlags::ALLOW_DCC, 0).contains(GemCreateFlags::GFX12_DCC), "not before GFX12");
    assert!(flags(AllocateFlags::EXPORTABLE, 0).contains(GemCreateFlags::CPU_GTT_USWC));
}

#[test]
fn guard_gaps_leave_addresses_free_behind_every_allocation() {
    for name in chips() {
        let manager = with_policy(name, MemoryPolicy { guard_gaps: true, ..MemoryPolicy::default() });
        let [one, two] = [(); 2].map(|()| manager.allocate(&AllocateInfo::new(1, 4096)).unwrap());
        let distance = two.address().as_u64() - one.address().as_u64();
        assert!(distance >= one.size() + (64 << 10), "{name}: {distance:#x}");
        assert!(distance >= 4 * manager.properties().facts().max_alignment(), "{name}: {distance:#x}");
    }
}

#[test]
fn a_priority_can_change_and_is_radvs() {
    let manager = manager("navi21");
    let memory = manager.allocate(&AllocateInfo { priority: 1.0, ..AllocateInfo::new(0, 4096) }).unwrap();
    assert_eq!((memory.priority(), memory.binding().priority()), (27, 27));
    for (wish, priority) in [(0.0, 0), (0.5, 14), (0.999, 27), (-3.0, 0), (7.0, 27), (f32::NAN, 0)] {
        memory.set_priority(wish);
        assert_eq!(memory.binding().priority(), priority, "{wish}");
    }
    assert!(memory.bo().wait_idle(job_time()).unwrap());
}

/// W-17: a refused reservation of sparse addresses leaves nothing behind; RADV leaks the array of its ranges.
#[test]
fn a_refused_reservation_gives_its_addresses_back() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let before = (kernel.inner().census(), device.addresses().leased_bytes());
    let lease = device.addresses().allocate(VaRequest::new(GIB)).unwrap();
    let range: VaRange = lease.range();
    kernel.fail_nth_ioctl(GemVa::REQUEST, 0, Errno::ENOMEM);
    let (lease, error) = Reservation::new(&device, lease).unwrap_err();
    assert_eq!((VaLease::range(&lease), error.errno()), (range, Some(Errno::ENOMEM)));
    drop(lease);
    assert_eq!((kernel.inner().census(), device.addresses().leased_bytes()), before);
}
