//! R15 to R21 and 2.7: dma-bufs between files and devices, their own ioctls, and what they do to implicit synchronisation.

use std::{
    os::fd::{AsFd, AsRawFd, OwnedFd},
    thread,
    time::Duration,
};

use amdgpu_sim::{SimDevice, SimMachine, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        DMA_BUF_EXPORT_SYNC_FILE, DMA_BUF_IMPORT_SYNC_FILE, DMA_BUF_SET_NAME, DMA_BUF_SET_NAME_32, DMA_BUF_SYNC,
        DmaBufSync, DmaBufSyncFile, GEM_OP_GET_CREATE_INFO, GEM_OP_SET_PLACEMENT, GemCreate, GemCreateFlags, GemDomain,
        GemOp, PRIME_CLOEXEC, PRIME_RDWR, Request, SYNC_END, SYNC_READ, SYNC_WRITE,
    },
    winsys::Ip,
};
use nix::{
    poll::PollFlags,
    sys::{
        mman::{MapFlags, ProtFlags, mmap, munmap},
        stat::fstat,
    },
};

use crate::support::{
    Chunk, DATA, File, Job, PAGE, Rig, address_mut, card, hanging_for, ioctl_on, is_readable, open, owned,
    patient_card, sync_file_info,
};

const SHARED: u32 = PRIME_CLOEXEC | PRIME_RDWR;
/// Address of shared BOs.
const VA: u64 = 0x40_0000;
const SOON: u16 = 20_000;

/// A card and an APU in one machine, neither of which gives up a job while the test runs.
fn two_devices() -> (SimMachine, SimDevice, SimDevice) {
    let machine = SimMachine::new();
    let options = SimOptions { strict: false, ..hanging_for(Duration::from_mins(1)) };
    let [card, apu] = ["navi21", "renoir"].map(|name| machine.add(profile(name).unwrap(), options));
    (machine, card, apu)
}

fn create_info(file: &File, handle: u32) -> GemCreate {
    let mut info = [GemCreate::ZEROED];
    file.send(&mut GemOp { handle, op: GEM_OP_GET_CREATE_INFO, value: address_mut(&mut info) }).unwrap();
    info[0]
}

// Checks R16.
#[test]
fn another_devices_bo_becomes_one_in_gtt_with_one_handle() {
    let (_, card, apu) = two_devices();
    let (one, other) = (open(&card), open(&apu));
    let flags = GemCreateFlags::CPU_GTT_USWC | GemCreateFlags::EXPLICIT_SYNC;
    let bo = one.try_create(3 * PAGE, 0, GemDomain::VRAM, flags).unwrap();
    let fd = one.dma_buf(bo, SHARED).unwrap();
    let foreign = other.open_dma_buf(&fd).unwrap();
    assert_eq!(other.open_dma_buf(&fd), Ok(foreign));
    let info = create_info(&other, foreign);
    assert_eq!((info.bo_size, info.domains), (3 * PAGE, GemDomain::GTT.bits()));
    assert_eq!(info.domain_flags, GemCreateFlags::CPU_GTT_USWC.bits(), "what says how to map it, and nothing else");
    let place =
        |domain: GemDomain| other.send(&mut GemOp { handle: foreign, op: GEM_OP_SET_PLACEMENT, value: domain.bits() });
    assert_eq!((place(GemDomain::VRAM), place(GemDomain::GTT)), (Err(Errno::EINVAL), Ok(())));
    // The node lets it be mapped; touching the pages would be a bus error.
    drop(other.view(foreign, PAGE));
    // Another file of the same device has a BO of its own.
    let third = open(&apu);
    let again = third.open_dma_buf(&fd).unwrap();
    assert_ne!(third.offset(again), other.offset(foreign));
    assert_eq!(apu.census().bos, 2);
}

// Checks R15.
#[test]
fn a_foreign_bo_is_exported_as_the_dma_buf_it_came_from() {
    let (_, card, apu) = two_devices();
    let (one, other) = (open(&card), open(&apu));
    let _first = one.create(PAGE);
    let bo = one.create(PAGE);
    let fd = one.dma_buf(bo, SHARED).unwrap();
    let back = other.dma_buf(other.open_dma_buf(&fd).unwrap(), SHARED).unwrap();
    assert_eq!(fstat(&back).unwrap().st_ino, fstat(&fd).unwrap().st_ino);
    assert_eq!(one.open_dma_buf(&back), Ok(bo));
}

// Checks R17.
#[test]
fn both_devices_gpus_see_the_same_bytes() {
    let (_, card, apu) = two_devices();
    let (one, other) = (Rig::new(&card), Rig::new(&apu));
    let fd = one.file.dma_buf(one.data, SHARED).unwrap();
    let foreign = other.file.open_dma_buf(&fd).unwrap();
    other.file.bind(foreign, VA, PAGE).unwrap();
    let store = one.store(Ip::Gfx, 64, 0xfeed_f00d);
    let number = one.run(Ip::Gfx, 0, &store).unwrap();
    one.finish(Ip::Gfx, 0, number).unwrap();
    let copy = other.copy(VA + 64, DATA);
    let number = other.run(Ip::Gfx, 0, &copy).unwrap();
    other.finish(Ip::Gfx, 0, number).unwrap();
    assert_eq!(other.load(0), 0xfeed_f00d);
    // And the other way round.
    let copy = other.copy(DATA, VA + 128);
    let number = other.run(Ip::Gfx, 0, &copy).unwrap();
    other.finish(Ip::Gfx, 0, number).unwrap();
    assert_eq!(one.load(128), 0xfeed_f00d);
}

// Checks R18.
#[test]
fn an_importer_keeps_the_exporters_memory() {
    let (_, card, apu) = two_devices();
    let (one, other) = (open(&card), Rig::new(&apu));
    let bo = one.create(PAGE);
    one.view(bo, PAGE).store(0, 77);
    let fd = one.dma_buf(bo, SHARED).unwrap();
    let foreign = other.file.open_dma_buf(&fd).unwrap();
    drop((one, fd));
    assert_eq!(card.census().bos, 1);
    other.file.bind(foreign, VA, PAGE).unwrap();
    let number = other.run(Ip::Gfx, 0, &other.copy(VA, DATA)).unwrap();
    other.finish(Ip::Gfx, 0, number).unwrap();
    assert_eq!(other.load(0), 77);
    other.file.close(foreign).unwrap();
    assert_eq!(card.census().bos, 0);
}

// Checks R18.
#[test]
fn a_dma_buf_keeps_its_bo_as_long_as_somebody_has_it() {
    let device = card();
    let file = open(&device);
    let bo = file.try_create(PAGE, 0, GemDomain::VRAM, GemCreateFlags::empty()).unwrap();
    let fd = file.dma_buf(bo, SHARED).unwrap();
    let copy = fd.try_clone().unwrap();
    drop(file);
    let alive = || (device.census().bos, device.census().vram_bytes);
    assert_eq!(alive(), (1, PAGE), "the memory is still taken");
    drop(fd);
    assert_eq!(alive(), (1, PAGE));
    let len = std::num::NonZeroUsize::new(PAGE as usize).unwrap();
    #[expect(unsafe_code, reason = "mmap of a descriptor")]
    // SAFETY: no address is asked for, so nothing that exists is replaced.
    let mapped = unsafe { mmap(None, len, ProtFlags::PROT_READ, MapFlags::MAP_SHARED, &copy, 0) }.unwrap();
    drop(copy);
    assert_eq!(alive(), (1, PAGE), "a mapping is a user too");
    #[expect(unsafe_code, reason = "munmap")]
    // SAFETY: the mapping was made above, and nothing refers to it.
    unsafe { munmap(mapped, PAGE as usize) }.unwrap();
    assert_eq!(alive(), (0, 0));
}

// Checks R18.
#[test]
fn closing_the_last_handle_and_importing_again_finds_the_same_dma_buf() {
    let device = card();
    let (one, other) = (open(&device), open(&device));
    let bo = one.create(PAGE);
    let offset = one.offset(bo);
    let fd = one.dma_buf(bo, PRIME_CLOEXEC).unwrap();
    one.close(bo).unwrap();
    let again = other.open_dma_buf(&fd).unwrap();
    assert_eq!(other.offset(again), offset);
    let second = other.dma_buf(again, SHARED).unwrap();
    assert_eq!(fstat(&second).unwrap().st_ino, fstat(&fd).unwrap().st_ino);
    drop((fd, second));
    other.close(again).unwrap();
    assert_eq!(device.census().bos, 0);
}

// Checks R22.
#[test]
fn machines_do_not_know_each_others_dma_bufs() {
    let (one, other) = (open(&card()), card());
    let fd = one.dma_buf(one.create(PAGE), SHARED).unwrap();
    assert_eq!(open(&other).open_dma_buf(&fd), Err(Errno::EINVAL));
    assert_eq!(other.machine().knows(fd.as_fd()), Ok(false));
}

// Checks R19.
#[test]
fn where_a_dma_buf_can_be_sought_and_mapped() {
    let device = card();
    let (file, machine) = (open(&device), device.machine());
    let fd = file.dma_buf(file.create(PAGE + 1), SHARED).unwrap();
    let seek = |offset, whence| machine.seek(fd.as_fd(), offset, whence);
    assert_eq!((seek(0, libc::SEEK_SET), seek(0, libc::SEEK_END)), (Ok(0), Ok(2 * PAGE)));
    for (offset, whence) in [(1, libc::SEEK_SET), (-1, libc::SEEK_END), (0, libc::SEEK_CUR)] {
        assert_eq!(seek(offset, whence), Err(Errno::EINVAL));
    }
    let map = |offset, len| machine.check_map(fd.as_fd(), offset, len);
    assert_eq!((map(0, 2 * PAGE), map(PAGE, PAGE), map(0, 1)), (Ok(()), Ok(()), Ok(())));
    assert_eq!((map(PAGE, 2 * PAGE), map(0, u64::MAX)), (Err(Errno::EINVAL), Err(Errno::EOVERFLOW)));
    let hidden = file.try_create(PAGE, 0, GemDomain::VRAM, GemCreateFlags::NO_CPU_ACCESS).unwrap();
    let hidden = file.dma_buf(hidden, SHARED).unwrap();
    assert_eq!(machine.check_map(hidden.as_fd(), 0, PAGE), Err(Errno::EPERM), "R26");
    let null = std::fs::File::open("/dev/null").unwrap();
    assert_eq!(machine.seek(null.as_fd(), 0, libc::SEEK_END), Err(Errno::EINVAL));
}

fn sync(machine: &SimMachine, fd: &OwnedFd, flags: u32) -> Result<(), Errno> {
    ioctl_on(machine, fd, DMA_BUF_SYNC, &mut DmaBufSync { flags: flags.into() })
}

fn export_fence(machine: &SimMachine, fd: &OwnedFd, flags: u32) -> Result<OwnedFd, Errno> {
    let mut request = DmaBufSyncFile { flags, fd: -1 };
    ioctl_on(machine, fd, DMA_BUF_EXPORT_SYNC_FILE, &mut request).map(|()| owned(request.fd))
}

fn import_fence(machine: &SimMachine, fd: &OwnedFd, flags: u32, fence: &OwnedFd) -> Result<(), Errno> {
    ioctl_on(machine, fd, DMA_BUF_IMPORT_SYNC_FILE, &mut DmaBufSyncFile { flags, fd: fence.as_raw_fd() })
}

#[test]
fn what_dma_buf_ioctls_refuse() {
    let device = card();
    let (file, machine) = (open(&device), device.machine());
    let fd = file.dma_buf(file.create(PAGE), SHARED).unwrap();
    for (flags, result) in [
        (SYNC_READ, Ok(())),
        (SYNC_READ | SYNC_WRITE | SYNC_END, Ok(())),
        (0, Err(Errno::EINVAL)),
        (SYNC_END, Err(Errno::EINVAL)),
        (8 | SYNC_READ, Err(Errno::EINVAL)),
    ] {
        assert_eq!(sync(&machine, &fd, flags), result, "{flags:#x}");
    }
    for flags in [0, SYNC_END, SYNC_READ | SYNC_END] {
        assert_eq!(export_fence(&machine, &fd, flags).unwrap_err(), Errno::EINVAL);
        assert_eq!(import_fence(&machine, &fd, flags, &fd), Err(Errno::EINVAL));
    }
    assert_eq!(import_fence(&machine, &fd, SYNC_READ, &fd), Err(Errno::EINVAL), "a dma-buf is no sync file");
    let idle = export_fence(&machine, &fd, SYNC_WRITE).unwrap();
    assert!(is_readable(&idle, 0), "nobody uses it");
    let unknown = Request::write::<DmaBufSync>(b'b', 7);
    assert_eq!(ioctl_on(&machine, &fd, unknown, &mut DmaBufSync::default()), Err(Errno::ENOTTY));
    let other_size = DMA_BUF_SYNC.with_size(4);
    assert_eq!(ioctl_on(&machine, &fd, other_size, &mut DmaBufSync::default()), Err(Errno::ENOTTY), "sizes count here");
}

#[test]
fn a_dma_buf_has_a_name_of_at_most_31_characters() {
    let device = card();
    let (file, machine) = (open(&device), device.machine());
    let fd = file.dma_buf(file.create(PAGE), SHARED).unwrap();
    let mut name = [b'x'; 32];
    assert_eq!(ioctl_on(&machine, &fd, DMA_BUF_SET_NAME, &mut name), Err(Errno::EINVAL));
    name[31] = 0;
    ioctl_on(&machine, &fd, DMA_BUF_SET_NAME, &mut name).unwrap();
    assert_eq!(machine.dma_buf_name(fd.as_fd()), Ok(vec![b'x'; 31]));
    ioctl_on(&machine, &fd, DMA_BUF_SET_NAME_32, &mut { *b"swap chain\0" }).unwrap();
    assert_eq!(machine.dma_buf_name(fd.as_fd()).as_deref(), Ok(&b"swap chain"[..]));
}

/// A rig with a job that waits for dword 0 of its data to become 1 and uses the BO, which is exported.
fn busy(device: &SimDevice) -> (Rig, u64, OwnedFd) {
    let rig = Rig::new(device);
    let bo = rig.file.create(PAGE);
    let ib = rig.ib(&rig.wait_value(Ip::Gfx, 0, 1));
    let chunks = Chunk::bos(&[rig.ibs, rig.data, bo]);
    let number = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, ib)).with(chunks).send(&rig.file).unwrap();
    let fd = rig.file.dma_buf(bo, SHARED).unwrap();
    (rig, number, fd)
}

#[test]
fn a_dma_buf_tells_when_the_jobs_that_use_it_are_done() {
    let device = patient_card();
    let (rig, number, fd) = busy(&device);
    let machine = device.machine();
    let both = PollFlags::POLLIN | PollFlags::POLLOUT;
    let poll = |timeout| machine.poll(fd.as_fd(), both, timeout);
    assert_eq!(poll(Some(0)), Ok(PollFlags::empty()));
    let [reading, writing] = [SYNC_READ, SYNC_WRITE].map(|flags| export_fence(&machine, &fd, flags).unwrap());
    assert!(!is_readable(&reading, 0) && !is_readable(&writing, 0), "a submission counts as a writer");
    thread::scope(|scope| {
        let polled = scope.spawn(|| poll(None));
        let synced = scope.spawn(|| sync(&machine, &fd, SYNC_READ));
        rig.poke(0, 1);
        assert_eq!((polled.join().unwrap(), synced.join().unwrap()), (Ok(both), Ok(())));
    });
    rig.finish(Ip::Gfx, 0, number).unwrap();
    assert!(is_readable(&reading, SOON) && is_readable(&writing, SOON));
    assert_eq!(sync_file_info(&machine, &reading, 0).unwrap().0.status, 1);
}

#[test]
fn an_imported_reader_keeps_writers_out_and_readers_not() {
    let device = patient_card();
    let (rig, _, busy_fd) = busy(&device);
    let machine = device.machine();
    let fence = export_fence(&machine, &busy_fd, SYNC_WRITE).unwrap();
    let idle = rig.file.dma_buf(rig.file.create(PAGE), SHARED).unwrap();
    import_fence(&machine, &idle, SYNC_READ, &fence).unwrap();
    let both = PollFlags::POLLIN | PollFlags::POLLOUT;
    assert_eq!(machine.poll(idle.as_fd(), both, Some(0)), Ok(PollFlags::POLLIN));
    assert!(is_readable(&export_fence(&machine, &idle, SYNC_READ).unwrap(), 0));
    assert!(!is_readable(&export_fence(&machine, &idle, SYNC_WRITE).unwrap(), 0));
    assert_eq!(sync(&machine, &idle, SYNC_READ), Ok(()), "does not wait");
    rig.poke(0, 1);
    assert_eq!(sync(&machine, &idle, SYNC_WRITE), Ok(()), "waits");
    assert_eq!(machine.poll(idle.as_fd(), both, Some(0)), Ok(both));
}

/// A job that stores at dword 1 of its data and lists a BO.
fn store(rig: &Rig, bo: u32) -> u64 {
    let ib = rig.ib(&rig.store(Ip::Compute, 4, 9));
    let chunks = Chunk::bos(&[rig.ibs, rig.data, bo]);
    Job::new(rig.context).with(Chunk::ib(Ip::Compute, 0, ib)).with(chunks).send(&rig.file).unwrap()
}

// Checks R106.
#[test]
fn submissions_wait_for_imported_fences_of_other_files() {
    let device = patient_card();
    let (rig, _, busy_fd) = busy(&device);
    let machine = device.machine();
    let fence = export_fence(&machine, &busy_fd, SYNC_WRITE).unwrap();
    let other = Rig::new(&device);
    let mut shared = Vec::new();
    for flags in [GemCreateFlags::empty(), GemCreateFlags::EXPLICIT_SYNC] {
        let bo = other.file.try_create(PAGE, 0, GemDomain::GTT, flags).unwrap();
        import_fence(&machine, &other.file.dma_buf(bo, SHARED).unwrap(), SYNC_WRITE, &fence).unwrap();
        shared.push(bo);
    }
    // The other file's BO that does not opt out waits; one that does, does not, and neither does the file of the job.
    let free = store(&other, shared[1]);
    other.finish(Ip::Compute, 0, free).unwrap();
    let mine = rig.file.open_dma_buf(&other.file.dma_buf(shared[0], SHARED).unwrap()).unwrap();
    let own = store(&rig, mine);
    rig.finish(Ip::Compute, 0, own).unwrap();
    let waiting = store(&other, shared[0]);
    assert!(!other.is_done(Ip::Compute, 0, waiting));
    rig.poke(0, 1);
    other.finish(Ip::Compute, 0, waiting).unwrap();
}

// Checks R106.
#[test]
fn two_devices_are_ordered_by_the_bo_they_share() {
    let (_, card, apu) = two_devices();
    let (rig, _, fd) = busy(&card);
    let other = Rig::new(&apu);
    let foreign = other.file.open_dma_buf(&fd).unwrap();
    let waiting = store(&other, foreign);
    assert!(!other.is_done(Ip::Compute, 0, waiting));
    rig.poke(0, 1);
    other.finish(Ip::Compute, 0, waiting).unwrap();
    assert_eq!(other.load(4), 9);
}

/// A dma-buf has one size for life: a client that could truncate it would take the memory away from all others.
#[test]
fn nobody_changes_the_size_of_a_dma_buf() {
    let card = card();
    let file = open(&card);
    for domain in [GemDomain::GTT, GemDomain::VRAM] {
        let bo = file.try_create(2 * PAGE, 0, domain, GemCreateFlags::CPU_ACCESS_REQUIRED).unwrap();
        let fd = file.dma_buf(bo, SHARED).unwrap();
        let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
        let again: OwnedFd = std::fs::File::options().read(true).write(true).open(path).unwrap().into();
        for fd in [&fd, &again] {
            for len in [0, PAGE, 4 * PAGE] {
                assert_eq!(
                    nix::unistd::ftruncate(fd, len.cast_signed()),
                    Err(nix::errno::Errno::EPERM),
                    "{domain:?}, {len} bytes"
                );
            }
        }
        assert_eq!(fstat(&fd).unwrap().st_size, 2 * PAGE.cast_signed());
    }
}
