//! Requests that no recording covers, and refusals.

use amdgpu_winsys::{
    heaps::*,
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::GpuVa,
    winsys::GfxLevel,
};

use crate::captures::{facts, raw_facts};

fn card() -> MemoryProperties {
    MemoryProperties::new(&facts("navi10"), &TableOptions::default())
}

fn with_flags(memory: &MemoryProperties, memory_type: u32, flags: AllocateFlags) -> AllocationPlan {
    memory.resolve(&AllocateInfo { flags, ..AllocateInfo::new(memory_type, 4096) }).unwrap()
}

#[test]
fn no_bytes_are_refused_but_count_as_success() {
    let refused = card().resolve(&AllocateInfo::new(3, 0)).unwrap_err();
    assert_eq!(refused, AllocateError::ZeroSize { memory_type: 3 });
    assert_eq!(refused.vk_result() as i32, 0);
    assert_eq!(refused.to_string(), "allocation of no bytes of memory type 3");
}

#[test]
fn a_type_that_does_not_exist_is_refused_whatever_the_size() {
    for (memory_type, size) in [(11, 1), (32, 0), (u32::MAX, u64::MAX)] {
        let refused = card().resolve(&AllocateInfo::new(memory_type, size)).unwrap_err();
        assert_eq!(refused, AllocateError::NoSuchType { memory_type, count: 11 });
        assert_eq!(refused.vk_result() as i32, -13);
    }
}

#[test]
fn a_whole_heap_fits_and_a_byte_more_does_not() {
    let memory = card();
    for (memory_type, ty) in (0..).zip(memory.types()) {
        let heap_size = memory.heaps()[ty.heap as usize].size;
        let whole = memory.resolve(&AllocateInfo::new(memory_type, heap_size)).unwrap();
        assert_eq!(whole.bo.size, heap_size.next_multiple_of(4096));
        for size in [heap_size + 1, u64::MAX - 4095, u64::MAX] {
            let refused = memory.resolve(&AllocateInfo::new(memory_type, size)).unwrap_err();
            assert_eq!(refused, AllocateError::BeyondHeap { size, heap: ty.heap, heap_size });
            assert_eq!(refused.vk_result() as i32, -2);
        }
    }
}

#[test]
fn more_than_4_gib_may_be_asked_for_at_once() {
    assert_eq!(card().resolve(&AllocateInfo::new(0, 6 << 30)).unwrap().bo.size, 6 << 30);
}

#[test]
fn exported_vram_is_write_combined_and_never_always_valid() {
    let memory = card();
    for (memory_type, ty) in (0..).zip(memory.types()) {
        let flags = with_flags(&memory, memory_type, AllocateFlags::EXPORTABLE).bo.flags;
        assert!(!flags.contains(GemCreateFlags::VM_ALWAYS_VALID), "type {memory_type}");
        let was_combined = ty.create_flags.contains(GemCreateFlags::CPU_GTT_USWC);
        let is_vram = ty.domains.contains(GemDomain::VRAM);
        assert_eq!(flags.contains(GemCreateFlags::CPU_GTT_USWC), was_combined || is_vram, "type {memory_type}");
    }
}

#[test]
fn implicit_sync_clears_explicit_sync() {
    let flags = with_flags(&card(), 0, AllocateFlags::IMPLICIT_SYNC).bo.flags;
    assert_eq!(flags, GemCreateFlags::NO_CPU_ACCESS | GemCreateFlags::VM_ALWAYS_VALID);
}

#[test]
fn only_vram_is_asked_to_be_cleared() {
    let cleared = |memory_type| {
        with_flags(&card(), memory_type, AllocateFlags::ZERO).bo.flags.contains(GemCreateFlags::VRAM_CLEARED)
    };
    assert_eq!([0, 2, 3, 5].map(cleared), [true, false, true, false]);
}

#[test]
fn l2_is_bypassed_from_gfx9_on() {
    let bypassed = |device| {
        let memory = MemoryProperties::new(&facts(device), &TableOptions::default());
        with_flags(&memory, 2, AllocateFlags::BYPASS_L2).va_flags.contains(VaFlags::MTYPE_UC)
    };
    assert!(bypassed("vega10") && bypassed("navi31"));
    assert!(!bypassed("polaris10") && !bypassed("pitcairn"));
}

#[test]
fn what_the_kernel_is_too_old_for_is_not_asked() {
    let flags = |gfx_level, drm_minor| {
        let facts = MemoryFacts::new(&RawMemoryFacts { gfx_level, drm_minor, ..raw_facts("navi31") }).unwrap();
        let memory = MemoryProperties::new(&facts, &TableOptions::default());
        let wishes = AllocateFlags::DISCARDABLE | AllocateFlags::ALLOW_DCC;
        let asked = [0, 2, 3].map(|memory_type| with_flags(&memory, memory_type, wishes).bo.flags);
        let asked_for = |flag| asked.map(|flags: GemCreateFlags| flags.contains(flag));
        (asked_for(GemCreateFlags::DISCARDABLE), asked_for(GemCreateFlags::GFX12_DCC))
    };
    let (all, none, only_for_gpu) = ([true; 3], [false; 3], [true, false, false]);
    assert_eq!(flags(GfxLevel::Gfx11, 46), (none, none));
    assert_eq!(flags(GfxLevel::Gfx11, 47), (all, none));
    assert_eq!(flags(GfxLevel::Gfx11, 60), (all, none));
    assert_eq!(flags(GfxLevel::Gfx12, 59), (all, none));
    assert_eq!(flags(GfxLevel::Gfx12, 60), (all, only_for_gpu));
}

#[test]
fn memory_bypasses_the_infinity_cache_from_minor_47_on() {
    let bypassed = |drm_minor| {
        let facts = MemoryFacts::new(&RawMemoryFacts { drm_minor, ..raw_facts("navi31") }).unwrap();
        let memory = MemoryProperties::new(&facts, &TableOptions::default());
        let asked = with_flags(&memory, 0, AllocateFlags::BYPASS_INFINITY_CACHE).va_flags.contains(VaFlags::NOALLOC);
        assert!(!with_flags(&memory, 0, AllocateFlags::empty()).va_flags.contains(VaFlags::NOALLOC), "{drm_minor}");
        asked
    };
    assert_eq!([46, 47, 48].map(bypassed), [false, true, true]);
}

#[test]
fn the_drivers_own_memory_has_no_guard_page() {
    let memory = MemoryProperties::new(&facts("vega10"), &TableOptions::default());
    let guarded = with_flags(&memory, 0, AllocateFlags::empty());
    let own = with_flags(&memory, 0, AllocateFlags::INTERNAL);
    assert_eq!((guarded.guard_page, guarded.va_size), (true, 8192));
    assert_eq!((own.guard_page, own.va_size), (false, 4096));
    assert_eq!(guarded.guard_va_flags(), VaFlags::READABLE | VaFlags::EXECUTABLE);
}

#[test]
fn addresses_are_aligned_to_a_fragment_from_that_size_on() {
    let alignment = |size| card().resolve(&AllocateInfo::new(0, size)).unwrap().va_alignment;
    assert_eq!([1, (2 << 20) - 4096, (2 << 20) - 4095, 1 << 30].map(alignment), [1 << 16, 1 << 16, 2 << 20, 2 << 20]);
}

#[test]
fn priorities_stay_below_the_drivers_own() {
    let priority = |priority| card().resolve(&AllocateInfo { priority, ..AllocateInfo::new(0, 1) }).unwrap().priority;
    assert_eq!([0.0, 0.035, 0.036, 0.5, 0.99, 1.0].map(priority), [0, 0, 1, 14, 27, 27]);
    assert_eq!([f32::NAN, f32::NEG_INFINITY, -1.0, 1e30, f32::INFINITY].map(priority), [0, 0, 0, 27, 27]);
}

#[test]
fn the_address_to_replay_is_passed_on() {
    let replay = Replay::At(GpuVa::new(0xffff_8001_0002_0000).unwrap());
    assert_eq!(card().resolve(&AllocateInfo { replay, ..AllocateInfo::new(0, 1) }).unwrap().replay, replay);
}

/// Row 73: what the kernel says of a BO, and the types of a card that it may be imported as. The types are, in this order:
/// invisible VRAM, the same with 32-bit addresses, write-combined GTT, visible VRAM and cached GTT with 32-bit twins, and
/// uncached copies of the four that are no twins.
///
/// Source: Mesa 25.0.7 `radv_device.c`, `radv_compute_valid_memory_types`, worked by hand.
#[test]
fn a_bo_may_become_the_types_that_share_its_place_and_its_caching() {
    const HIDDEN: GemCreateFlags = GemCreateFlags::NO_CPU_ACCESS;
    const COMBINED: GemCreateFlags = GemCreateFlags::CPU_GTT_USWC;
    let none = GemCreateFlags::empty();
    let (vram, gtt, either) = (GemDomain::VRAM, GemDomain::GTT, GemDomain::VRAM | GemDomain::GTT);
    let (invisible, visible): (&[u32], &[u32]) = (&[0, 1, 7], &[3, 4, 9]);
    let (combined, cached, all_gtt): (&[u32], &[u32], &[u32]) = (&[2, 8], &[5, 6, 10], &[2, 5, 6, 8, 10]);
    let memory = card();
    for (domains, flags, types) in [
        (vram, HIDDEN, invisible),
        (either, HIDDEN, invisible),
        (either, HIDDEN | GemCreateFlags::CPU_ACCESS_REQUIRED | GemCreateFlags::VRAM_CLEARED, invisible),
        (vram, none, visible),
        (either, none, visible),
        (either, GemCreateFlags::CPU_ACCESS_REQUIRED, visible),
        (gtt, COMBINED, combined),
        (gtt, none, cached),
        // No type of VRAM is write-combined, as exported VRAM is; what the CPU sees of it still counts.
        (either, COMBINED, visible),
        (either, HIDDEN | COMBINED, invisible),
        // No type of GTT is hidden from the CPU, so nothing but the place counts.
        (gtt, HIDDEN, all_gtt),
        (gtt, HIDDEN | COMBINED, all_gtt),
        // There is no encrypted type, and no type of another place.
        (vram, GemCreateFlags::ENCRYPTED, &[]),
        (GemDomain::GDS, none, &[]),
        (vram | GemDomain::OA, none, &[]),
    ] {
        let found: Vec<_> = memory.types_of_memory(domains, flags).iter().collect();
        assert_eq!(found, types, "{domains:?} with {flags:?}");
    }
}

/// Row 73: encrypted memory becomes protected types only, and nothing else does.
#[test]
fn encrypted_memory_may_become_protected_types_only() {
    let raw = RawMemoryFacts { offers_tmz: true, ..raw_facts("navi10") };
    let memory = MemoryProperties::new(&MemoryFacts::new(&raw).unwrap(), &TableOptions::default());
    let protected = memory.types_protected();
    assert!(!protected.is_empty());
    for domains in [GemDomain::VRAM, GemDomain::GTT, GemDomain::VRAM | GemDomain::GTT] {
        for hidden in [GemCreateFlags::empty(), GemCreateFlags::NO_CPU_ACCESS] {
            let plain = memory.types_of_memory(domains, hidden);
            let encrypted = memory.types_of_memory(domains, hidden | GemCreateFlags::ENCRYPTED);
            assert!(!plain.is_empty() && plain.intersection(protected).is_empty(), "{domains:?}, {hidden:?}");
            assert!(!encrypted.is_empty() && encrypted.intersection(protected) == encrypted, "{domains:?}, {hidden:?}");
        }
    }
}
