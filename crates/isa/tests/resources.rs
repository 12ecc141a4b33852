//! Descriptors that programs use, followed from the entry.

use std::collections::BTreeMap;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{ResourceKind, ResourceUse, WaveSize, assemble, resources};

/// Memory with these dwords from an address on.
fn memory(at: u64, dwords: &[u32]) -> BTreeMap<u64, u32> {
    (0..).zip(dwords).map(|(index, dword): (u64, _)| (at + 4 * index, *dword)).collect()
}

fn found(level: GfxLevel, user: &[u32], memory: &BTreeMap<u64, u32>, lines: &[&str]) -> Vec<ResourceUse> {
    let wave = WaveSize::Wave64;
    let program: Vec<u32> =
        lines.iter().flat_map(|line| assemble(level, wave, line).expect(line).dwords().to_vec()).collect();
    let user: Vec<_> = user.iter().copied().map(Some).collect();
    resources(level, wave, &program, &user, &|at| memory.get(&at).copied())
}

const STORE: &str = "buffer_store_dword v1, v2, s[4:7], 0 offen";
const SET: [u32; 4] = [0x8000, 0xffff_8000, 3, 4];

#[test]
fn user_data_are_descriptors_where_instructions_use_them_as_such() {
    let found = found(GfxLevel::Gfx9, &[0, 1, 2, 3, 4, 5, 6, 7], &BTreeMap::new(), &["s_nop 0", STORE]);
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((only.offset, only.kind, only.register, only.from), (4, ResourceKind::Buffer, 4, None));
    assert_eq!(only.words, [4, 5, 6, 7].map(Some));
}

#[test]
fn loads_are_followed_to_memory_on_every_generation() {
    for (level, load, constant) in [
        (GfxLevel::Gfx6, "s_load_dwordx4 s[4:7], s[2:3], 0x4", 16),
        (GfxLevel::Gfx8, "s_load_dwordx4 s[4:7], s[2:3], 0x10", 16),
        (GfxLevel::Gfx9, "s_load_dwordx4 s[4:7], s[2:3], 0x10", 16),
        (GfxLevel::Gfx10_3, "s_load_dwordx4 s[4:7], s[2:3], 0x10", 16),
        (GfxLevel::Gfx11, "s_load_b128 s[4:7], s[2:3], 0x10", 16),
        (GfxLevel::Gfx12, "s_load_b128 s[4:7], s[2:3], 0x10", 16),
    ] {
        let memory = memory(0x8000_0000_8000 + constant, &SET);
        let store = if level >= GfxLevel::Gfx11 { STORE.replace("dword", "b32") } else { STORE.to_owned() };
        let store = if level == GfxLevel::Gfx12 { store.replace(", 0 offen", ", null offen") } else { store };
        // RADV passes the low half, and the high half is a constant.
        let lines = ["s_mov_b32 s3, 0xffff8000", load, store.as_str()];
        let found = found(level, &[0, 0, 0x8000, 0], &memory, &lines);
        let [only] = found.as_slice() else { panic!("{level}: {found:?}") };
        assert_eq!(only.words, SET.map(Some), "{level}");
        assert_eq!(only.from, Some(0x8000_0000_8010), "{level}");
    }
}

#[test]
fn an_image_has_eight_dwords_and_its_sampler_four() {
    let lines = ["s_load_dwordx8 s[8:15], s[0:1], 0x0", "image_sample v[0:3], v[4:5], s[8:15], s[4:7] dmask:0xf"];
    let table: Vec<u32> = (100..108).collect();
    let found = found(GfxLevel::Gfx9, &[0x1000, 0, 0, 0, 4, 5, 6, 7], &memory(0x1000, &table), &lines);
    let [image, sampler] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(image.kind, ResourceKind::Image);
    assert_eq!(image.words, table.iter().copied().map(Some).collect::<Vec<_>>());
    assert_eq!((sampler.kind, sampler.register), (ResourceKind::Sampler, 4));
    assert_eq!(sampler.words, [4, 5, 6, 7].map(Some));
}

#[test]
fn memory_that_is_not_there_leaves_the_address() {
    let found = found(GfxLevel::Gfx9, &[0x1000, 0], &BTreeMap::new(), &["s_load_dwordx4 s[4:7], s[0:1], 0x20", STORE]);
    assert_eq!((found[0].from, found[0].words.as_slice()), (Some(0x1020), &[None; 4][..]));
}

#[test]
fn what_was_computed_is_unknown() {
    for write in [
        "s_add_u32 s6, s0, s1",
        "s_movreld_b32 s0, s1",
        "v_readfirstlane_b32 s6, v0",
        "s_load_dwordx4 s[4:7], s[0:1], s2",
        "s_load_dword s6, s[2:3], 0x0",
    ] {
        let found = found(GfxLevel::Gfx9, &[0, 1, 2, 3, 4, 5, 6, 7], &BTreeMap::new(), &[write, STORE]);
        assert_eq!(found[0].words[2], None, "{write}");
    }
}

#[test]
fn behind_the_target_of_a_branch_only_what_one_write_reaches_is_known() {
    let user = [0, 1, 2, 3, 4, 5, 6, 7];
    // The move may have been passed over.
    let passed = ["s_cbranch_scc0 1", "s_mov_b32 s6, 33", STORE];
    let known = found(GfxLevel::Gfx9, &user, &BTreeMap::new(), &passed);
    assert_eq!(known[0].words, [Some(4), Some(5), None, Some(7)]);
    // The loop's body changes it for the next round.
    let again = [STORE, "s_mov_b32 s6, 33", "s_cbranch_scc0 65532"];
    let known = found(GfxLevel::Gfx9, &user, &BTreeMap::new(), &again);
    assert_eq!(known[0].words[2], None);
    // What is written later reaches no line before.
    let later = ["s_cbranch_scc0 1", "s_nop 0", STORE, "s_mov_b32 s6, 33"];
    assert_eq!(found(GfxLevel::Gfx9, &user, &BTreeMap::new(), &later)[0].words[2], Some(6));
    // A load before the branch reaches both sides.
    let before = ["s_load_dwordx4 s[8:11], s[0:1], 0x0", "s_cbranch_scc0 1", "s_nop 0", "s_nop 0"];
    let used = "buffer_store_dword v1, v2, s[8:11], 0 offen";
    let lines: Vec<_> = before.into_iter().chain([used]).collect();
    assert_eq!(found(GfxLevel::Gfx9, &user, &BTreeMap::new(), &lines)[0].from, Some(0x1_0000_0000));
}
