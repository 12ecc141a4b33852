//! R50 to R63: making BOs, and everything about one BO.

use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    GEM_OP_GET_CREATE_INFO, GEM_OP_SET_PLACEMENT, GemCreate, GemCreateFlags, GemDomain, GemMetadata, GemOp, GemUserptr,
    GemWaitIdle, METADATA_OP_GET, METADATA_OP_SET, UserptrFlags,
};
use amdgpu_winsys::winsys::Ip;

use crate::support::{DATA, File, HANG, PAGE, Pages, Rig, address_mut, after, card, file, long, patient_card};

const VRAM: GemDomain = GemDomain::VRAM;
const GTT: GemDomain = GemDomain::GTT;
const PLAIN: GemCreateFlags = GemCreateFlags::empty();
const MIB: u64 = 1 << 20;

impl File {
    pub(crate) fn create_info(&self, handle: u32) -> Result<GemCreate, Errno> {
        let mut info = [GemCreate::ZEROED];
        self.send(&mut GemOp { handle, op: GEM_OP_GET_CREATE_INFO, value: address_mut(&mut info) })?;
        Ok(info[0])
    }

    pub(crate) fn wait_idle(&self, handle: u32, timeout: u64) -> Result<bool, Errno> {
        let answer = self.ask(GemWaitIdle { handle, flags: 0, timeout })?;
        assert_eq!(answer.domain, 0);
        Ok(answer.status == 0)
    }

    pub(crate) fn userptr(&self, addr: u64, size: u64, flags: UserptrFlags) -> Result<u32, Errno> {
        let mut request = GemUserptr { addr, size, flags: flags.bits(), handle: 0 };
        self.send(&mut request).map(|()| request.handle)
    }
}

// Checks R50.
#[test]
fn size_zero_is_enospc_and_size_one_is_a_page() {
    let file = file();
    for domains in [VRAM, GTT] {
        assert_eq!(file.try_create(0, 0, domains, PLAIN), Err(Errno::ENOSPC));
        assert_eq!(file.try_create(u64::MAX, 0, domains, PLAIN), Err(Errno::ENOSPC), "rounds to zero");
        assert_eq!(file.try_create(0, 3 * PAGE, domains, PLAIN), Err(Errno::ENOSPC), "before the alignment");
        let bo = file.try_create(1, 0, domains, PLAIN).unwrap();
        assert_eq!(file.create_info(bo).unwrap().bo_size, PAGE);
    }
}

// Checks R51.
#[test]
fn what_is_larger_than_all_memory_is_enomem() {
    let file = file();
    assert_eq!(file.try_create(1 << 40, 0, VRAM, GemCreateFlags::NO_CPU_ACCESS), Err(Errno::ENOMEM));
    assert_eq!(file.try_create(1 << 40, 0, VRAM | GTT, PLAIN), Err(Errno::ENOMEM));
    assert_eq!(file.0.census().handles, 0);
}

// Checks R52.
#[test]
fn what_is_larger_than_vram_lands_in_gtt() {
    let device = crate::support::device("renoir");
    let file = crate::support::open(&device);
    let vram = device.profile().memory.vram.total_heap_size;
    let bo = file.try_create(vram + MIB, 0, VRAM, PLAIN).unwrap();
    assert_eq!(file.create_info(bo).unwrap().domains, (VRAM | GTT).bits());
    assert_eq!((device.census().vram_bytes, device.census().gtt_bytes), (0, vram + MIB));
}

// Checks R53.
#[test]
fn flags_that_user_space_may_not_pass() {
    let file = file();
    for bit in [4, 5, 8, 9, 11, 13, 14, 15].into_iter().chain(17..64) {
        let flags = GemCreateFlags::from_bits_retain(1 << bit);
        assert_eq!(file.try_create(PAGE, 0, VRAM, flags), Err(Errno::EINVAL), "bit {bit}");
    }
    for bit in [0, 1, 2, 3, 6, 7, 12, 16] {
        file.try_create(PAGE, 0, VRAM, GemCreateFlags::from_bits_retain(1 << bit)).unwrap();
    }
    assert_eq!(file.try_create(PAGE, 0, VRAM, GemCreateFlags::ENCRYPTED), Err(Errno::EINVAL), "no TMZ here");
}

// Checks R54.
#[test]
fn no_domain_is_fine_and_mixtures_are_einval() {
    let file = file();
    file.try_create(PAGE, 0, GemDomain::empty(), PLAIN).unwrap();
    file.try_create(PAGE, 0, GemDomain::CPU, PLAIN).unwrap();
    for domains in [GemDomain::DOORBELL, GemDomain::GDS | VRAM, GemDomain::GDS | GemDomain::OA] {
        assert_eq!(file.try_create(PAGE, 0, domains, PLAIN), Err(Errno::EINVAL), "{domains:?}");
    }
    assert_eq!(file.try_create(PAGE, 0, GemDomain::from_bits_retain(0x80), PLAIN), Err(Errno::EINVAL));
    assert_eq!(file.try_create(4, 0, GemDomain::GDS, GemCreateFlags::VM_ALWAYS_VALID), Err(Errno::EINVAL));
}

// Checks R55.
#[test]
fn reported_flags() {
    let file = file();
    let asked = GemCreateFlags::CPU_ACCESS_REQUIRED | GemCreateFlags::EXPLICIT_SYNC;
    let bo = file.try_create(PAGE, 0, VRAM, asked).unwrap();
    let flags = |bo| GemCreateFlags::from_bits_retain(file.create_info(bo).unwrap().domain_flags);
    let forced = GemCreateFlags::from_bits_retain(0x208);
    assert_eq!(flags(bo), GemCreateFlags::EXPLICIT_SYNC | forced);
    file.view(bo, PAGE).store(0, 1);
    assert_eq!(flags(bo), asked | forced, "a CPU fault sets the hint again");
}

// Checks R56.
#[test]
fn new_memory_reads_zero_from_both_sides() {
    let rig = Rig::new(&card());
    for (domains, at) in [(VRAM, 0x100_0000), (GTT, 0x200_0000)] {
        let bo = rig.file.try_create(PAGE, 0, domains, PLAIN).unwrap();
        rig.file.bind(bo, at, PAGE).unwrap();
        rig.poke(0, u32::MAX);
        let seq = rig.run(Ip::Gfx, 0, &rig.copy(at + 64, DATA)).unwrap();
        rig.finish(Ip::Gfx, 0, seq).unwrap();
        assert_eq!((rig.load(0), rig.file.view(bo, PAGE).load(64)), (0, 0));
    }
}

// Checks R57.
#[test]
fn on_chip_resources_can_be_named() {
    let file = file();
    let sizes = [(GemDomain::GDS, 1024, 1024 * PAGE), (GemDomain::GWS, 1, PAGE), (GemDomain::OA, 1, PAGE)];
    for (domains, size, reported) in sizes {
        let bo = file.try_create(size, 0, domains, PLAIN).unwrap();
        assert_eq!(file.create_info(bo).unwrap().bo_size, reported);
        assert_eq!(file.offset(bo), Err(Errno::EPERM));
    }
}

// Checks R58.
#[test]
fn vram_is_aligned_to_powers_of_two() {
    let file = file();
    assert_eq!(file.try_create(PAGE, 3 * PAGE, VRAM, PLAIN), Err(Errno::EINVAL));
    file.try_create(PAGE, 3 * PAGE, GTT, PLAIN).unwrap();
    for (alignment, reported) in [(0, 0), (1, PAGE), (PAGE, PAGE), (2 * MIB, 2 * MIB)] {
        let bo = file.try_create(PAGE, alignment, VRAM, PLAIN).unwrap();
        assert_eq!(file.create_info(bo).unwrap().alignment, reported);
    }
}

// Checks R60.
#[test]
fn metadata_travels_whole() {
    let file = file();
    let bo = file.create(PAGE);
    let data: [u32; 64] = std::array::from_fn(|index| index as u32 * 3);
    let set = GemMetadata {
        handle: bo,
        op: METADATA_OP_SET,
        flags: 0x1234,
        tiling_info: 1 << 60,
        data_size_bytes: 256,
        data,
        pad: 0,
    };
    file.send(&mut { set }).unwrap();
    let get = || {
        let mut request = GemMetadata { handle: bo, op: METADATA_OP_GET, ..GemMetadata::ZEROED };
        file.send(&mut request).unwrap();
        request
    };
    assert_eq!(get(), GemMetadata { op: METADATA_OP_GET, ..set });
    assert_eq!(file.send(&mut GemMetadata { data_size_bytes: 257, ..set }), Err(Errno::EINVAL));
    assert_eq!(file.send(&mut GemMetadata { op: 9, ..set }), Ok(()));
    assert_eq!(file.send(&mut GemMetadata { handle: 99, ..set }), Err(Errno::ENOENT));
    file.send(&mut GemMetadata { data_size_bytes: 0, flags: 1, tiling_info: 2, ..set }).unwrap();
    assert_eq!((get().tiling_info, get().data_size_bytes, get().flags), (2, 0, 0x1234), "the flags stay");
}

// Checks R60.
#[test]
fn old_chips_check_the_tile_split() {
    let set = |file: &File| {
        let handle = file.create(PAGE);
        file.send(&mut GemMetadata { handle, op: METADATA_OP_SET, tiling_info: 7 << 9, ..GemMetadata::ZEROED })
    };
    assert_eq!(set(&crate::support::open(&crate::support::device("pitcairn"))), Err(Errno::EINVAL));
    assert_eq!(set(&file()), Ok(()));
}

// Checks R61.
#[test]
fn waiting_for_idle_times_out_successfully() {
    let rig = Rig::new(&patient_card());
    assert_eq!(rig.file.wait_idle(rig.data, 0), Ok(true));
    assert_eq!(rig.file.wait_idle(99, 0), Err(Errno::ENOENT));
    let seq = rig.run(Ip::Gfx, 0, &rig.wait_value(Ip::Gfx, 0, 1)).unwrap();
    assert_eq!(rig.file.wait_idle(rig.data, 0), Ok(false));
    assert_eq!(rig.file.wait_idle(rig.data, after(HANG / 10)), Ok(false));
    rig.poke(0, 1);
    assert_eq!(rig.file.wait_idle(rig.data, u64::MAX), Ok(true));
    rig.finish(Ip::Gfx, 0, seq).unwrap();
}

// Checks R62.
#[test]
fn only_jobs_that_list_a_bo_make_it_busy_unless_it_is_always_valid() {
    let rig = Rig::new(&patient_card());
    let unlisted = rig.file.create(PAGE);
    let always = rig.file.try_create(PAGE, 0, VRAM, GemCreateFlags::VM_ALWAYS_VALID).unwrap();
    rig.run(Ip::Gfx, 0, &rig.wait_value(Ip::Gfx, 0, 1)).unwrap();
    assert_eq!(rig.file.wait_idle(unlisted, 0), Ok(true));
    assert_eq!(rig.file.wait_idle(always, 0), Ok(false));
    rig.poke(0, 1);
    assert_eq!(rig.file.wait_idle(always, long()), Ok(true));
}

// Checks R63.
#[test]
fn an_unknown_gem_op_is_einval_and_user_memory_is_not_placed() {
    let file = file();
    let bo = file.try_create(PAGE, 0, VRAM, PLAIN).unwrap();
    assert_eq!(file.send(&mut GemOp { handle: bo, op: 2, value: 0 }), Err(Errno::EINVAL));
    assert_eq!(file.send(&mut GemOp { handle: 99, op: 2, value: 0 }), Err(Errno::ENOENT));
    assert_eq!(file.send(&mut GemOp { handle: bo, op: GEM_OP_GET_CREATE_INFO, value: 0 }), Err(Errno::EFAULT));
    let place =
        |domains: GemDomain| file.send(&mut GemOp { handle: bo, op: GEM_OP_SET_PLACEMENT, value: domains.bits() });
    place(GTT | GemDomain::OA).unwrap();
    assert_eq!(file.create_info(bo).unwrap().domains, GTT.bits(), "unknown bits are ignored");
    let memory = Pages::new(1);
    let user = file.userptr(memory.address(), PAGE, UserptrFlags::REGISTER).unwrap();
    let request = GemOp { handle: user, op: GEM_OP_SET_PLACEMENT, value: VRAM.bits() };
    assert_eq!(file.send(&mut { request }), Err(Errno::EPERM));
}
