//! Laws that hold for every device and every option, hostile numbers included.

use amdgpu_winsys::{
    heaps::*,
    winsys::{Chip, GfxLevel, PressureLevel, TilingRegisters},
};
use proptest::prelude::*;

use crate::captures::{devices, facts};

fn any_facts() -> impl Strategy<Value = MemoryFacts> {
    let bytes = || prop_oneof![Just(0), Just(1 << 48), 0..1u64 << 48, (0..64u64).prop_map(|mib| mib << 20), 0..9000u64];
    let sizes = (bytes(), bytes(), bytes());
    let chips = vec![Chip::CHIP_VEGA10, Chip::CHIP_RAVEN2, Chip::CHIP_NAVI10, Chip::CHIP_UNKNOWN];
    let chip = (any::<[bool; 2]>(), prop::sample::select(chips), prop::sample::select(GfxLevel::ALL.to_vec()));
    let pages = (12..32u32, any::<u32>(), 0..70u32);
    (sizes, chip, pages).prop_filter_map("no memory at all", |(sizes, chip, pages)| {
        let ((vram, visible_vram, gtt), ([has_dedicated_vram, offers_tmz], chip, gfx_level)) = (sizes, chip);
        let (page_log2, pte_fragment_size, drm_minor) = pages;
        let raw = RawMemoryFacts {
            vram,
            visible_vram,
            gtt,
            has_dedicated_vram,
            offers_tmz,
            chip,
            gart_page_size: 1 << page_log2,
            pte_fragment_size,
            drm_minor,
            gfx_level,
            tiling: TilingRegisters::default(),
        };
        MemoryFacts::new(&raw).ok()
    })
}

fn any_options() -> impl Strategy<Value = TableOptions> {
    let profile = prop::sample::select(vec![Profile::Radv, Profile::EightTypes, Profile::FourTypes]);
    let cap = prop_oneof![Just(None), Just(Some(0)), Just(Some(u32::MAX)), (0..40_000u32).prop_map(Some)];
    (profile, cap, any::<[bool; 6]>()).prop_map(|(profile, override_vram_mib, on)| TableOptions {
        profile,
        override_vram_mib,
        unified_heap_on_apu: on[0],
        hide_rebar: on[1],
        zero_vram: on[2],
        unordered_device_coherent: on[3],
        no_tmz: on[4],
        no_smem_mitigation: on[5],
    })
}

fn any_tables() -> impl Strategy<Value = MemoryProperties> {
    (any_facts(), any_options()).prop_map(|(facts, options)| MemoryProperties::new(&facts, &options))
}

/// Amounts near everything that matters: zero, the sizes of real heaps, and the end of the number range.
fn any_bytes() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), 0..1u64 << 36, (0..1u64 << 20).prop_map(|low| u64::MAX - low)]
}

fn any_usage() -> impl Strategy<Value = (OwnUsage, SystemUsage)> {
    let three = || (any_bytes(), any_bytes(), any_bytes());
    (three(), three()).prop_map(|(own, system)| {
        (
            OwnUsage { invisible_vram: own.0, visible_vram: own.1, gtt: own.2 },
            SystemUsage { vram: system.0, visible_vram: system.1, gtt: system.2 },
        )
    })
}

const RULES: [BudgetRule; 2] = [BudgetRule::Radv, BudgetRule::Corrected];

proptest! {
    #[test]
    fn heaps_are_real_and_hold_no_more_than_the_device(memory in any_tables()) {
        let facts = memory.facts();
        let device = facts.vram() + facts.gtt();
        prop_assert!(memory.heaps().len() <= 3);
        prop_assert!(memory.heaps().iter().all(|heap| heap.size > 0));
        prop_assert!(memory.heaps().iter().map(|heap| heap.size).sum::<u64>() <= device);
        for heap in memory.heaps() {
            let is_local = heap.flags.contains(HeapFlags::DEVICE_LOCAL);
            prop_assert_eq!(is_local, heap.kind != HeapKind::Gtt);
            let same_kind = memory.heaps().iter().filter(|other| other.kind == heap.kind).count();
            prop_assert_eq!(same_kind, 1);
        }
    }

    /// Vulkan's own rules about the two tables.
    #[test]
    fn types_obey_vulkan(memory in any_tables()) {
        let types = memory.types();
        prop_assert!(types.len() <= MAX_TYPES);
        for (index, ty) in types.iter().enumerate() {
            let heap = &memory.heaps()[ty.heap as usize];
            let is_local = ty.properties.contains(MemoryPropertyFlags::DEVICE_LOCAL);
            prop_assert_eq!(is_local, heap.flags.contains(HeapFlags::DEVICE_LOCAL));
            for later in &types[index + 1..] {
                // RADV's one exception: protected GTT after protected VRAM.
                let excepted = later.properties == MemoryPropertyFlags::PROTECTED;
                let is_strict_subset = ty.properties != later.properties && ty.properties.contains(later.properties);
                prop_assert!(excepted || !is_strict_subset, "{:?} before {:?}", ty, later);
            }
        }
        if !memory.heaps().is_empty() {
            let host = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_COHERENT;
            let has_host = types.iter().any(|ty| ty.properties.contains(host));
            let all_invisible = memory.heaps().iter().all(|heap| heap.kind == HeapKind::InvisibleVram);
            prop_assert!(has_host || all_invisible);
        }
    }

    #[test]
    fn masks_divide_the_types_among_them(memory in any_tables()) {
        let all = (1u64 << memory.types().len()) - 1;
        let parts = [(Addressing::Bits64, false), (Addressing::Bits64, true), (Addressing::Bits32, false), (Addressing::Bits32, true)]
            .map(|(addressing, protected)| memory.buffer_types(addressing, protected).bits());
        prop_assert_eq!(u64::from(parts.iter().fold(0, |union, part| union | part)), all);
        prop_assert_eq!(parts.iter().map(|part| part.count_ones()).sum::<u32>(), memory.types().len() as u32);
        prop_assert_eq!(memory.types_32bit().bits(), parts[2] | parts[3]);
        prop_assert_eq!(memory.types_protected().bits(), parts[1] | parts[3]);
        prop_assert!(memory.host_pointer_types().bits().count_ones() <= 1);
    }

    #[test]
    fn a_request_is_made_or_refused_but_never_panics(
        memory in any_tables(), memory_type in 0..40u32, size in any_bytes(), wishes in any::<u32>(), priority in any::<f32>(),
    ) {
        let flags = AllocateFlags::from_bits_truncate(wishes);
        let info = AllocateInfo { flags, priority, ..AllocateInfo::new(memory_type, size) };
        if let Ok(plan) = memory.resolve(&info) {
            prop_assert!(plan.bo.size >= size && plan.bo.size - size < 4096 && plan.bo.size % 4096 == 0);
            prop_assert!(plan.bo.alignment.is_power_of_two());
            prop_assert!(plan.va_size >= plan.bo.size && plan.va_alignment >= plan.bo.alignment);
            prop_assert!(plan.priority < 28);
            prop_assert_eq!(plan.bo.domains.is_empty(), false);
        }
    }

    #[test]
    fn budgets_never_wrap_and_never_pass_the_heap(memory in any_tables(), usage in any_usage()) {
        let (own, system) = usage;
        for rule in RULES {
            let budgets = memory.budgets(&own, &system, rule);
            prop_assert_eq!(budgets.heaps().len(), memory.heaps().len());
            for (heap, budget) in memory.heaps().iter().zip(budgets.heaps()) {
                prop_assert!(budget.budget <= heap.size);
                // What is there already is part of the budget, as far as the heap holds it.
                prop_assert!(budget.budget >= budget.usage.min(heap.size));
                prop_assert!(rule == BudgetRule::Radv || budget.budget > 0);
            }
            let (sizes, usages) = budgets.arrays();
            prop_assert!(sizes[memory.heaps().len()..].iter().chain(&usages[memory.heaps().len()..]).all(|&byte| byte == 0));
        }
    }

    /// Every byte of own usage is reported in exactly one heap, if each account has a heap to be reported in.
    #[test]
    fn usage_is_told_once(device in prop::sample::select(devices()), options in any_options(), own in any::<[u32; 3]>()) {
        let memory = MemoryProperties::new(&facts(&device), &options);
        prop_assume!(memory.heap_of_kind(HeapKind::VisibleVram).is_some());
        let [invisible_vram, visible_vram, gtt] = own.map(u64::from);
        let own = OwnUsage { invisible_vram, visible_vram, gtt };
        let budgets = memory.budgets(&own, &SystemUsage::default(), BudgetRule::Corrected);
        prop_assert_eq!(budgets.heaps().iter().map(|heap| heap.usage).sum::<u64>(), invisible_vram + visible_vram + gtt);
    }

    /// Memory of others can only shrink what is left for this process.
    #[test]
    fn more_system_usage_never_raises_the_sum_of_budgets(memory in any_tables(), usage in any_usage(), more in any_bytes()) {
        let (own, system) = usage;
        // All VRAM includes its visible part.
        let vram = system.vram.max(system.visible_vram);
        let before = SystemUsage { vram, ..system };
        let after = SystemUsage { vram: vram.saturating_add(more), gtt: system.gtt.saturating_add(more), ..before };
        for rule in RULES {
            let total = |system| memory.budgets(&own, system, rule).heaps().iter().map(|heap| heap.budget).sum::<u64>();
            prop_assert!(total(&after) <= total(&before));
        }
    }
}

/// Behind a small BAR, 200 MiB of visible VRAM in use leave the invisible heap alone.
/// W-10, feature 75: RADV takes the usage of all VRAM off the invisible heap, so what is visible is counted against both.
#[test]
fn the_corrected_rule_counts_visible_usage_once() {
    let memory = MemoryProperties::new(&facts("navi10"), &TableOptions::default());
    let system = SystemUsage { vram: 300 << 20, visible_vram: 200 << 20, gtt: 0 };
    let mib = |rule| {
        let budgets = memory.budgets(&OwnUsage::default(), &system, rule);
        [0, 2].map(|heap: usize| budgets.heaps()[heap].budget >> 20)
    };
    assert_eq!(mib(BudgetRule::Radv), [7936 - 300, 256 - 200]);
    assert_eq!(mib(BudgetRule::Corrected), [7936 - 100, 256 - 200]);
}

#[test]
fn a_hidden_bar_fills_its_visible_heap_first_under_either_rule() {
    let memory = MemoryProperties::new(&facts("navi31"), &TableOptions { hide_rebar: true, ..Default::default() });
    // The kernel reports one number twice; which of the two is read matters only if it does not.
    let system = SystemUsage { vram: 300 << 20, visible_vram: 100 << 20, gtt: 1 << 20 };
    for rule in RULES {
        let free = memory.budgets(&OwnUsage::default(), &system, rule).heaps().to_vec();
        let used: Vec<_> =
            memory.heaps().iter().zip(free).map(|(heap, free)| (heap.size - free.budget) >> 20).collect();
        let floor = if rule == BudgetRule::Corrected { 255 } else { 256 };
        assert_eq!(used, [44, 1, floor], "{rule:?}: a corrected budget is never zero");
    }
}

/// The numbers are worked by hand from the formula: 2/3 of what is free, then the rest.
#[test]
fn an_apu_shares_out_what_all_its_users_left() {
    let memory = MemoryProperties::new(&facts("renoir"), &TableOptions::default());
    let own = OwnUsage { invisible_vram: 8 << 20, visible_vram: 8 << 20, gtt: 32 << 20 };
    let system = SystemUsage { vram: 64 << 20, visible_vram: 64 << 20, gtt: 896 << 20 };
    let budgets = memory.budgets(&own, &system, BudgetRule::Radv);
    // 4160 MiB in all, 960 in use, 3200 free: 2133 and a third for the device-local heap.
    let free_local = 2133 * (1 << 20) + (1 << 20) / 3 / 4096 * 4096;
    let local = HeapBudget { budget: free_local + (16 << 20), usage: 16 << 20 };
    let gtt = HeapBudget { budget: (3200 << 20) - free_local + (32 << 20), usage: 32 << 20 };
    assert_eq!(budgets.heaps(), [gtt, local]);
}

#[test]
fn one_pool_counts_everything_together() {
    let memory =
        MemoryProperties::new(&facts("renoir"), &TableOptions { unified_heap_on_apu: true, ..Default::default() });
    let own = OwnUsage { invisible_vram: 1 << 20, visible_vram: 2 << 20, gtt: 4 << 20 };
    let system = SystemUsage { vram: 64 << 20, visible_vram: 64 << 20, gtt: 936 << 20 };
    let budgets = memory.budgets(&own, &system, BudgetRule::Radv);
    assert_eq!(budgets.heaps(), [HeapBudget { budget: (4160 - 1000 + 7) << 20, usage: 7 << 20 }]);
}

/// Four fifths and all of the budget, each left a twentieth of it lower than it was reached.
#[test]
fn a_level_of_pressure_is_left_lower_than_it_was_reached() {
    use PressureLevel::{Exceeded, High, Low};
    let level = |usage, before| HeapBudget { budget: 100, usage }.pressure(before);
    for (usage, from) in [
        (0, [Low, Low, Low]),
        (75, [Low, Low, Low]),
        (76, [Low, High, High]),
        (79, [Low, High, High]),
        (80, [High, High, High]),
        (95, [High, High, High]),
        (96, [High, High, Exceeded]),
        (100, [High, High, Exceeded]),
        (101, [Exceeded, Exceeded, Exceeded]),
    ] {
        assert_eq!([Low, High, Exceeded].map(|before| level(usage, before)), from, "{usage} of 100");
    }
    for (budget, usage, expected) in [(0, 0, Low), (0, 1, Exceeded), (u64::MAX, u64::MAX, High)] {
        assert_eq!(HeapBudget { budget, usage }.pressure(Low), expected, "{usage} of {budget}");
    }
}

#[test]
fn an_effective_pool_has_left_what_neither_the_gpu_nor_the_host_has_given_away() {
    const MIB: u64 = 1 << 20;
    let facts = facts("navi10");
    let (vram, gtt) = (facts.reported_vram(), facts.gtt());
    let own = OwnUsage { invisible_vram: MIB, visible_vram: 2 * MIB, gtt: 4 * MIB };
    let system = SystemUsage { vram: 100 * MIB, visible_vram: 50 * MIB, gtt: 200 * MIB };
    let ample = HostMemory { total: 1 << 44, available: 1 << 44 };
    let pool = EffectivePool::new(&facts, &own, &system, &ample);
    let (size, available) = (vram + gtt, vram + gtt - 300 * MIB);
    assert_eq!(pool, EffectivePool { size, available, own: 7 * MIB, limit: PoolLimit::Gpu });
    let short = HostMemory { total: 2048 * MIB, available: 10 * MIB };
    let pool = EffectivePool::new(&facts, &own, &system, &short);
    let (size, available) = (vram + 2048 * MIB, vram - 100 * MIB + 10 * MIB);
    assert_eq!(pool, EffectivePool { size, available, own: 7 * MIB, limit: PoolLimit::Host });
}
