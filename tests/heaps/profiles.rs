//! The tables written out, for each generation of them and for devices that no capture covers.

use amdgpu_winsys::{
    heaps::*,
    winsys::{Chip, GfxLevel},
};

use crate::captures::{facts, raw_facts};

const MIB: u64 = 1 << 20;

fn tables(device: &str, options: TableOptions) -> MemoryProperties {
    MemoryProperties::new(&facts(device), &options)
}

/// Sizes in MiB, with what each heap is made of.
fn heaps(memory: &MemoryProperties) -> Vec<(HeapKind, u64)> {
    memory.heaps().iter().map(|heap| (heap.kind, heap.size / MIB)).collect()
}

/// Heap index, property bits, and whether the addresses are 32-bit.
fn types(memory: &MemoryProperties) -> Vec<(u32, u32, bool)> {
    let is_narrow = |ty: &MemoryType| ty.addressing == Addressing::Bits32;
    memory.types().iter().map(|ty| (ty.heap, ty.properties.bits(), is_narrow(ty))).collect()
}

#[test]
fn four_types_are_vram_write_combined_gtt_visible_vram_and_cached_gtt() {
    let memory = tables("navi10", TableOptions { profile: Profile::FourTypes, ..Default::default() });
    let kinds = [(HeapKind::InvisibleVram, 7936), (HeapKind::VisibleVram, 256), (HeapKind::Gtt, 7971)];
    assert_eq!(heaps(&memory), kinds);
    assert_eq!(types(&memory), [(0, 0x1, false), (2, 0x6, false), (1, 0x7, false), (2, 0xe, false)]);
    assert!(memory.types_32bit().is_empty());
    assert_eq!(memory.host_pointer_types().bits(), 0b1000);
}

#[test]
fn four_types_tell_the_sizes_as_they_are() {
    let four = TableOptions { profile: Profile::FourTypes, ..Default::default() };
    // The remainder of the rounding, which later tables leave out.
    assert_eq!(heaps(&tables("navi31", four))[0], (HeapKind::InvisibleVram, 16));
    // The carve-out and GTT, which later tables throw together and share out.
    let apu = tables("renoir", four);
    assert_eq!(heaps(&apu), [(HeapKind::VisibleVram, 64), (HeapKind::Gtt, 4096)]);
    assert_eq!(apu.accounting(), Accounting::PerHeap);
    assert_eq!(types(&apu), [(0, 0x1, false), (1, 0x6, false), (0, 0x7, false), (1, 0xe, false)]);
}

#[test]
fn eight_types_are_four_and_their_uncached_copies() {
    let eight = TableOptions { profile: Profile::EightTypes, ..Default::default() };
    let card = tables("vega10", eight);
    assert_eq!(card.heaps(), tables("vega10", TableOptions::default()).heaps());
    let base = [(0, 0x1, false), (1, 0x6, false), (2, 0x7, false), (1, 0xe, false)];
    let uncached = base.map(|(heap, properties, narrow)| (heap, properties | 0xc0, narrow));
    assert_eq!(types(&card), [base, uncached].concat());
    assert_eq!(types(&tables("polaris10", eight)), base, "nothing is uncached before GFX9");
}

#[test]
fn an_apu_with_half_a_gib_and_three_gib_shows_two_thirds_as_its_own() {
    let mut raw = raw_facts("raven");
    (raw.vram, raw.visible_vram, raw.gtt) = (512 * MIB, 512 * MIB, 3072 * MIB);
    let memory = MemoryProperties::new(&MemoryFacts::new(&raw).unwrap(), &TableOptions::default());
    let sizes: Vec<_> = memory.heaps().iter().map(|heap| heap.size).collect();
    assert_eq!(sizes, [0x4aaa_a000, 0x9555_6000]);
}

#[test]
fn an_invisible_remainder_is_a_heap_from_a_ninth_of_the_visible_part_on() {
    let kinds = |visible_vram| {
        let raw = RawMemoryFacts { vram: 2560 * MIB, visible_vram, ..raw_facts("navi10") };
        let memory = MemoryProperties::new(&MemoryFacts::new(&raw).unwrap(), &TableOptions::default());
        memory.heaps().iter().map(|heap| heap.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(2304 * MIB), [HeapKind::InvisibleVram, HeapKind::Gtt, HeapKind::VisibleVram]);
    assert_eq!(kinds(2304 * MIB + 1), [HeapKind::Gtt, HeapKind::VisibleVram]);
}

/// No captured device has TMZ where RADV uses it, so this table is RADV's source written out, not a recording.
#[test]
fn protected_types_stand_between_the_base_types_and_the_uncached_ones() {
    let mut raw = raw_facts("navi10");
    raw.offers_tmz = true;
    let facts = MemoryFacts::new(&raw).unwrap();
    let memory = MemoryProperties::new(&facts, &TableOptions::default());
    let all = types(&memory);
    assert_eq!(all.len(), 17);
    assert_eq!(all[..7], types(&tables("navi10", TableOptions::default()))[..7]);
    let protected =
        [(0, 0x21, false), (0, 0x21, true), (2, 0x21, false), (2, 0x21, true), (1, 0x20, false), (1, 0x20, true)];
    assert_eq!(all[7..13], protected);
    assert_eq!(all[13..], types(&tables("navi10", TableOptions::default()))[7..]);

    assert_eq!(memory.types_protected().bits(), 0x3f << 7);
    assert_eq!(memory.buffer_types(Addressing::Bits64, true).iter().collect::<Vec<_>>(), [7, 9, 11]);
    assert_eq!(memory.buffer_types(Addressing::Bits32, true).iter().collect::<Vec<_>>(), [8, 10, 12]);
    assert!(memory.buffer_types(Addressing::Bits64, false).intersection(memory.types_protected()).is_empty());
    for (index, flags) in [(7, 0x4c2), (9, 0x4c0), (11, 0x4c0)] {
        assert_eq!(memory.resolve(&AllocateInfo::new(index, 4096)).unwrap().bo.flags.bits(), flags, "type {index}");
    }
    let without = MemoryProperties::new(&facts, &TableOptions { no_tmz: true, ..Default::default() });
    assert_eq!(types(&without), types(&tables("navi10", TableOptions::default())));
}

#[test]
fn gfx12_has_uncached_types_only_on_request() {
    let mut raw = raw_facts("navi31");
    raw.gfx_level = GfxLevel::Gfx12;
    let facts = MemoryFacts::new(&raw).unwrap();
    let count = |options| MemoryProperties::new(&facts, &options).types().len();
    assert_eq!(count(TableOptions::default()), 7);
    assert_eq!(count(TableOptions { unordered_device_coherent: true, ..Default::default() }), 11);
}

#[test]
fn hiding_a_bar_of_at_most_256_mib_changes_nothing() {
    for override_vram_mib in [Some(0), Some(128), Some(256)] {
        let shown = TableOptions { override_vram_mib, ..Default::default() };
        let hidden = TableOptions { hide_rebar: true, ..shown };
        assert_eq!(tables("navi31", hidden).heaps(), tables("navi31", shown).heaps(), "{override_vram_mib:?} MiB");
    }
}

#[test]
fn guard_pages_follow_the_chip() {
    let guarded = |gfx_level, chip, no_smem_mitigation| {
        let raw = RawMemoryFacts { gfx_level, chip, ..raw_facts("navi10") };
        let options = TableOptions { no_smem_mitigation, ..Default::default() };
        MemoryProperties::new(&MemoryFacts::new(&raw).unwrap(), &options).has_guard_pages()
    };
    for (level, chip, plain, unmitigated) in [
        (GfxLevel::Gfx6, Chip::CHIP_TAHITI, true, false),
        (GfxLevel::Gfx7, Chip::CHIP_HAWAII, true, false),
        (GfxLevel::Gfx8, Chip::CHIP_FIJI, false, false),
        (GfxLevel::Gfx9, Chip::CHIP_VEGA10, true, true),
        (GfxLevel::Gfx9, Chip::CHIP_VEGA20, true, true),
        (GfxLevel::Gfx9, Chip::CHIP_RAVEN, true, true),
        (GfxLevel::Gfx9, Chip::CHIP_RAVEN2, false, false),
        (GfxLevel::Gfx9, Chip::CHIP_RENOIR, false, false),
        (GfxLevel::Gfx10, Chip::CHIP_NAVI10, false, false),
    ] {
        assert_eq!((guarded(level, chip, false), guarded(level, chip, true)), (plain, unmitigated), "{chip:?}");
    }
}

#[test]
fn the_best_type_has_what_is_required_and_most_of_what_is_preferred() {
    use MemoryPropertyFlags as P;
    let memory = tables("navi10", TableOptions::default());
    let any = memory.buffer_types(Addressing::Bits64, false);
    let host = P::HOST_VISIBLE | P::HOST_COHERENT;
    for (required, preferred, wanted) in [
        (P::empty(), P::empty(), Some(0)),
        (P::DEVICE_LOCAL, P::empty(), Some(0)),
        (host, P::empty(), Some(2)),
        (host, P::DEVICE_LOCAL, Some(3)),
        (P::HOST_VISIBLE, P::HOST_CACHED, Some(5)),
        (P::DEVICE_LOCAL | P::HOST_CACHED, P::empty(), None),
        (P::PROTECTED, P::empty(), None),
        (P::DEVICE_COHERENT_AMD, P::empty(), Some(7)),
        (P::DEVICE_LOCAL, P::DEVICE_UNCACHED_AMD, Some(7)),
    ] {
        assert_eq!(memory.find_type(any, required, preferred), wanted, "{required:?}, rather {preferred:?}");
    }
    assert_eq!(memory.find_type(memory.types_32bit(), P::empty(), P::HOST_CACHED), Some(6));
    assert_eq!(memory.find_type(TypeMask::NONE, P::empty(), P::empty()), None);
    assert_eq!(memory.find_type(TypeMask::from_bits(1 << 31), P::empty(), P::empty()), None);
}
