//! R68 to R81: GPU bindings.

use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{VaFlags, VaOperation},
    winsys::Ip,
};

use crate::support::{DATA, File, PAGE, RWX, Range, Rig, card, device, file, open, patient_card};

const MAP: VaOperation = VaOperation::Map;
const UNMAP: VaOperation = VaOperation::Unmap;
const CLEAR: VaOperation = VaOperation::Clear;
const REPLACE: VaOperation = VaOperation::Replace;
const PRT: VaFlags = VaFlags::PRT;
/// A place for trials.
const VA: u64 = 0x1000_0000;

fn pages(first: u64, count: u64) -> Range {
    Range { va: VA + first * PAGE, offset: 0, size: count * PAGE }
}

impl File {
    fn clear(&self, range: Range) -> Result<(), Errno> {
        self.va(CLEAR, VaFlags::empty(), u32::MAX, range)
    }
}

// Checks R68.
#[test]
fn all_four_edges_can_be_bound() {
    for name in ["navi21", "polaris10", "renoir"] {
        let device = device(name);
        let file = open(&device);
        let bo = file.create(PAGE);
        let info = device.profile().dev_info;
        let mut edges = vec![info.virtual_address_offset, info.virtual_address_max - PAGE];
        if info.high_va_max != 0 {
            edges.extend([info.high_va_offset, info.high_va_max - PAGE]);
        }
        for edge in edges {
            assert_eq!(file.bind(bo, edge, PAGE), Ok(()), "{name} {edge:#x}");
        }
    }
}

// Checks R69.
#[test]
fn what_lies_outside_is_einval() {
    let file = file();
    let bo = file.create(2 * PAGE);
    let high_va_max = card().profile().dev_info.high_va_max;
    for va in [0, 0xf000, 1 << 47, 0x1234_5678_9000_0000, 0xffff_7fff_ffff_f000, high_va_max, u64::MAX - PAGE + 1] {
        assert_eq!(file.bind(bo, va, PAGE), Err(Errno::EINVAL), "{va:#x}");
    }
    assert_eq!(file.bind(bo, high_va_max - PAGE, 2 * PAGE), Err(Errno::EINVAL));
    // Flat 48-bit arithmetic after the check of the start: a range may run from the low into the high half.
    assert_eq!(file.bind(bo, (1 << 47) - PAGE, 2 * PAGE), Ok(()));
    assert_eq!(file.bind(bo, 0xffff_8000_0000_0000, PAGE), Err(Errno::EINVAL), "it is taken");
}

// Checks R70.
#[test]
fn overlap_is_einval_and_changes_nothing() {
    let file = file();
    let bo = file.create(4 * PAGE);
    file.va(MAP, RWX, bo, pages(4, 4)).unwrap();
    file.va(MAP, PRT, 0, pages(16, 4)).unwrap();
    let before = file.0.census();
    for (first, count) in [(4, 4), (3, 2), (7, 1), (7, 4), (1, 4), (3, 4), (15, 2), (17, 1), (19, 3)] {
        assert_eq!(file.va(MAP, RWX, bo, pages(first, count.min(4))), Err(Errno::EINVAL), "{first} {count}");
        assert_eq!(file.va(MAP, PRT, bo, pages(first, count)), Err(Errno::EINVAL), "{first} {count}");
    }
    assert_eq!(file.0.census(), before);
    file.va(MAP, RWX, bo, pages(0, 4)).unwrap();
    file.va(MAP, RWX, bo, pages(8, 4)).unwrap();
}

// Checks R71.
#[test]
fn sizes_and_alignment() {
    let file = file();
    let bo = file.create(PAGE + 1);
    let at = |va, offset, size| file.va(MAP, RWX, bo, Range { va, offset, size });
    for (va, offset, size) in [
        (VA, 0, 0),
        (VA + 1, 0, PAGE),
        (VA, 1, PAGE),
        (VA, 0, PAGE - 1),
        (VA, 0, 3 * PAGE),
        (VA, PAGE, 2 * PAGE),
        (VA, 2 * PAGE, PAGE),
        (VA, u64::MAX - PAGE + 1, PAGE),
        (VA, 0, u64::MAX - PAGE + 1),
        (VA, 0, 0u64.wrapping_sub(VA)),
    ] {
        assert_eq!(at(va, offset, size), Err(Errno::EINVAL), "{va:#x} {offset:#x} {size:#x}");
    }
    assert_eq!(at(VA, 0, 2 * PAGE), Ok(()), "the rounded size is the limit");
    assert_eq!(file.va(MAP, RWX, 99, pages(9, 1)), Err(Errno::ENOENT));
    assert_eq!(
        file.va(MAP, RWX, 99, Range { va: VA + 9 * PAGE, offset: 0, size: 1 }),
        Err(Errno::ENOENT),
        "lookup first"
    );
}

// Checks R72.
#[test]
fn unmap_goes_by_bo_and_start() {
    let file = file();
    let (bo, other) = (file.create(4 * PAGE), file.create(PAGE));
    file.va(MAP, RWX, bo, pages(0, 4)).unwrap();
    assert_eq!(file.va(UNMAP, RWX, other, pages(0, 4)), Err(Errno::ENOENT));
    assert_eq!(file.va(UNMAP, RWX, bo, pages(1, 1)), Err(Errno::ENOENT));
    assert_eq!(file.va(UNMAP, PRT, bo, pages(0, 4)), Err(Errno::ENOENT));
    assert_eq!(file.va(UNMAP, RWX, bo, Range { va: VA + 7, offset: 77, size: 3 }), Ok(()), "low bits do not count");
    assert_eq!(file.va(UNMAP, RWX, bo, pages(0, 4)), Err(Errno::ENOENT));
    assert_eq!(file.0.census().bindings, 0);
}

// Checks R73.
#[test]
fn clear_splits_and_the_pieces_translate_and_unmap_by_their_own_starts() {
    let rig = Rig::new(&card());
    let file = &rig.file;
    let bo = file.create(8 * PAGE);
    let view = file.view(bo, 8 * PAGE);
    (0..8).for_each(|page| view.store(page * PAGE as usize, 100 + page as u32));
    file.va(MAP, RWX, bo, pages(0, 8)).unwrap();
    file.clear(pages(2, 3)).unwrap();
    assert_eq!((file.0.census().bindings, file.0.census().bound_bytes), (4, 5 * PAGE + 2 * 0x10_0000));
    for (page, value) in [(0, 100), (1, 101), (2, 0), (4, 0), (5, 105), (7, 107)] {
        rig.poke(0, 0);
        let seq = rig.run(Ip::Gfx, 0, &rig.copy(VA + page * PAGE, DATA)).unwrap();
        rig.finish(Ip::Gfx, 0, seq).unwrap();
        assert_eq!(rig.load(0), value, "page {page}");
    }
    assert_eq!(file.va(UNMAP, RWX, bo, pages(2, 1)), Err(Errno::ENOENT));
    assert_eq!(file.va(UNMAP, RWX, bo, pages(5, 1)), Ok(()));
    assert_eq!(file.va(UNMAP, RWX, bo, pages(0, 1)), Ok(()));
}

// Checks R74.
#[test]
fn clear_over_nothing_is_fine_and_handles_do_not_matter() {
    let file = file();
    assert_eq!(file.clear(pages(0, 1000)), Ok(()));
    assert_eq!(file.va(MAP, PRT, 0xdead, pages(0, 4)), Ok(()));
    assert_eq!(file.va(UNMAP, PRT, 0xdead, pages(0, 4)), Ok(()));
    assert_eq!(file.va(REPLACE, PRT, 0xdead, pages(0, 4)), Ok(()));
    assert_eq!(file.clear(pages(0, 4)), Ok(()));
    assert_eq!(file.clear(Range { va: VA + 1, offset: 0, size: PAGE }), Err(Errno::EINVAL));
    assert_eq!(file.clear(pages(0, 0)), Err(Errno::EINVAL));
    assert_eq!(file.0.census().bindings, 0);
}

// Checks R75.
#[test]
fn replace_keeps_what_it_does_not_cover() {
    let file = file();
    let (old, new) = (file.create(8 * PAGE), file.create(4 * PAGE));
    file.va(MAP, RWX, old, pages(0, 8)).unwrap();
    file.va(REPLACE, RWX, new, pages(6, 4)).unwrap();
    file.va(REPLACE, PRT, 0, pages(2, 2)).unwrap();
    for (handle, flags, first) in [(old, RWX, 0), (old, RWX, 4), (new, RWX, 6), (0, PRT, 2)] {
        assert_eq!(file.va(UNMAP, flags, handle, pages(first, 1)), Ok(()), "{first}");
    }
    assert_eq!(file.0.census().bindings, 0);
    file.va(MAP, RWX, old, pages(0, 8)).unwrap();
    assert_eq!(file.va(REPLACE, RWX, new, pages(0, 5)), Err(Errno::EINVAL));
    assert_eq!(file.va(UNMAP, RWX, old, pages(0, 1)), Ok(()), "a refused REPLACE has cleared nothing");
}

// Checks R76.
#[test]
fn prt_excludes_access_rights() {
    let file = file();
    let bo = file.create(PAGE);
    for flags in [PRT | VaFlags::READABLE, PRT | VaFlags::WRITEABLE, PRT | VaFlags::EXECUTABLE] {
        assert_eq!(file.va(MAP, flags, bo, pages(0, 1)), Err(Errno::EINVAL));
    }
    for bit in 10..32 {
        assert_eq!(file.va(MAP, VaFlags::from_bits_retain(1 << bit), bo, pages(0, 1)), Err(Errno::EINVAL));
    }
    assert_eq!(file.va(MAP, PRT | VaFlags::DELAY_UPDATE, bo, pages(0, 1)), Ok(()));
    assert_eq!(file.va(MAP, VaFlags::empty(), bo, pages(1, 1)), Ok(()));
    assert_eq!(file.va(MAP, RWX | VaFlags::MTYPE_MASK | VaFlags::NOALLOC, bo, pages(2, 1)), Ok(()));
}

// Checks R77.
#[test]
fn one_bo_may_be_bound_often() {
    let file = file();
    let bo = file.create(PAGE);
    (0..100).for_each(|page| file.va(MAP, RWX, bo, pages(2 * page, 1)).unwrap());
    assert_eq!(file.0.census().bindings, 100);
    file.close(bo).unwrap();
    assert_eq!(file.0.census().bindings, 0);
}

// Checks R78.
#[test]
fn closing_the_handle_frees_the_addresses_at_once() {
    let file = file();
    let (one, other) = (file.create(4 * PAGE), file.create(4 * PAGE));
    file.va(MAP, RWX, one, pages(0, 4)).unwrap();
    file.clear(pages(1, 1)).unwrap();
    assert_eq!(file.va(MAP, RWX, other, pages(0, 4)), Err(Errno::EINVAL));
    file.close(one).unwrap();
    assert_eq!(file.va(MAP, RWX, other, pages(0, 4)), Ok(()));
}

// Checks R79.
#[test]
fn a_delayed_binding_is_in_force_for_the_next_submission() {
    let rig = Rig::new(&card());
    let bo = rig.file.create(PAGE);
    rig.file.view(bo, PAGE).store(0, 5);
    rig.file.va(MAP, RWX | VaFlags::DELAY_UPDATE, bo, pages(0, 1)).unwrap();
    let seq = rig.run(Ip::Gfx, 0, &rig.copy(VA, DATA)).unwrap();
    rig.finish(Ip::Gfx, 0, seq).unwrap();
    assert_eq!(rig.load(0), 5);
}

// Checks R80.
#[test]
fn unbinding_does_not_disturb_a_running_job() {
    let rig = Rig::new(&patient_card());
    let bo = rig.file.create(PAGE);
    rig.file.view(bo, PAGE).store(0, 5);
    rig.file.bind(bo, VA, PAGE).unwrap();
    let program = [rig.wait_value(Ip::Gfx, 4, 1), rig.copy(VA, DATA)].concat();
    let job = rig.job(Ip::Gfx, 0, &program);
    let seq = job.send(&rig.file).unwrap();
    rig.file.unbind(bo, VA).unwrap();
    let other = rig.file.create(PAGE);
    rig.file.view(other, PAGE).store(0, 6);
    rig.file.bind(other, VA, PAGE).unwrap();
    rig.poke(4, 1);
    rig.finish(Ip::Gfx, 0, seq).unwrap();
    assert_eq!(rig.load(0), 5);
    let seq = job.send(&rig.file).unwrap();
    rig.finish(Ip::Gfx, 0, seq).unwrap();
    assert_eq!(rig.load(0), 6);
}

// Checks R81.
#[test]
fn bindings_belong_to_the_file() {
    let device = card();
    let (one, two) = (Rig::new(&device), Rig::new(&device));
    let bo = one.file.create(PAGE);
    one.file.view(bo, PAGE).store(0, 5);
    one.file.bind(bo, VA, PAGE).unwrap();
    two.poke(0, 9);
    let seq = two.run(Ip::Gfx, 0, &two.copy(VA, DATA)).unwrap();
    two.finish(Ip::Gfx, 0, seq).unwrap();
    assert_eq!(two.load(0), 0, "nothing is bound there");
    assert!(two.file.complaints().contains("page fault: Read"), "{}", two.file.complaints());
}

#[test]
fn rights_and_prt_are_what_the_gpu_sees() {
    let rig = Rig::new(&card());
    let bo = rig.file.create(2 * PAGE);
    rig.file.va(MAP, VaFlags::READABLE, bo, pages(0, 1)).unwrap();
    rig.file.va(MAP, PRT, 0, pages(1, 1)).unwrap();
    let program = [rig.copy(DATA, VA), rig.copy(DATA, VA + PAGE), rig.copy(VA + PAGE, DATA + 8)].concat();
    rig.poke(0, 7);
    rig.poke(8, 7);
    let seq = rig.run(Ip::Gfx, 0, &program).unwrap();
    rig.finish(Ip::Gfx, 0, seq).unwrap();
    assert_eq!(rig.file.view(bo, PAGE).load(0), 0, "the page is read-only");
    assert_eq!(rig.load(8), 0, "PRT reads zero");
    assert_eq!(rig.file.0.complaints().len(), 1, "and takes writes: {}", rig.file.complaints());
}
