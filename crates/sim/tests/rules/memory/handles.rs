//! R12 to R27: handles, PRIME and mmap.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    Answered, BoList, GemCreateFlags, GemDomain, GemMetadata, METADATA_OP_GET, METADATA_OP_SET, PRIME_CLOEXEC,
    PRIME_FD_TO_HANDLE, PRIME_RDWR, PrimeHandle, SyncobjDestroy, bo_list_op,
};
use nix::{
    fcntl::{FcntlArg, FdFlag, fcntl},
    sys::stat::fstat,
    unistd::{Whence, lseek},
};

use crate::support::{File, PAGE, RWX, card, file, open};

impl File {
    pub(crate) fn export(&self, handle: u32, flags: u32) -> Result<OwnedFd, Errno> {
        let mut request = PrimeHandle { handle, flags, fd: -1 };
        self.send(&mut request)?;
        #[expect(unsafe_code, reason = "a descriptor comes out of the ioctl")]
        // SAFETY: the simulated kernel just made the descriptor and gave it away.
        Ok(unsafe { OwnedFd::from_raw_fd(request.fd) })
    }

    pub(crate) fn import(&self, fd: &OwnedFd) -> Result<u32, Errno> {
        self.import_raw(fd.as_raw_fd())
    }

    fn import_raw(&self, fd: i32) -> Result<u32, Errno> {
        let mut request = PrimeHandle { handle: 0, flags: u32::MAX, fd };
        self.send_as(PRIME_FD_TO_HANDLE, &mut request)?;
        Ok(request.handle)
    }

    fn bo_list(&self) -> u32 {
        self.ask(BoList { operation: bo_list_op::CREATE, ..BoList::ZEROED }).unwrap().list_handle
    }
}

fn inode(fd: &OwnedFd) -> u64 {
    fstat(fd).unwrap().st_ino
}

// Checks R12.
#[test]
fn each_kind_of_number_starts_at_1_and_the_lowest_free_one_comes_back() {
    let file = file();
    let bos = [(); 4].map(|()| file.create(PAGE));
    assert_eq!(bos, [1, 2, 3, 4]);
    assert_eq!([(); 3].map(|()| file.syncobj(false)), [1, 2, 3]);
    assert_eq!([(); 3].map(|()| file.context()), [1, 2, 3]);
    assert_eq!([(); 2].map(|()| file.bo_list()), [1, 2]);
    file.close(3).unwrap();
    file.close(1).unwrap();
    assert_eq!([(); 3].map(|()| file.create(PAGE)), [1, 3, 5]);
    file.send(&mut SyncobjDestroy { handle: 2, pad: 0 }).unwrap();
    assert_eq!([(); 2].map(|()| file.syncobj(true)), [2, 4]);
}

// Checks R13.
#[test]
fn closing_what_is_not_open_is_einval() {
    let file = file();
    let bo = file.create(PAGE);
    assert_eq!(
        (file.close(0), file.close(2), file.close(u32::MAX)),
        (Err(Errno::EINVAL), Err(Errno::EINVAL), Err(Errno::EINVAL))
    );
    assert_eq!((file.close(bo), file.close(bo)), (Ok(()), Err(Errno::EINVAL)));
}

// Checks R14.
#[test]
fn the_numbers_of_one_file_mean_nothing_in_another() {
    let device = card();
    let (one, other) = (open(&device), open(&device));
    let (bo, syncobj) = (one.create(PAGE), one.syncobj(true));
    assert_eq!(other.close(bo), Err(Errno::EINVAL));
    assert_eq!(other.offset(bo), Err(Errno::ENOENT));
    assert_eq!(other.bind(bo, 0x10_0000, PAGE), Err(Errno::ENOENT));
    assert_eq!(other.wait_syncobj(syncobj, 0, 0), Err(Errno::ENOENT));
    assert_eq!(device.census().files, 2);
}

// Checks R15.
#[test]
fn exports_share_an_inode_and_come_home_to_their_handle() {
    let file = file();
    let _other = file.create(PAGE);
    let bo = file.create(PAGE);
    let [one, two] = [PRIME_CLOEXEC | PRIME_RDWR, PRIME_RDWR].map(|flags| file.export(bo, flags).unwrap());
    assert_eq!(inode(&one), inode(&two));
    assert_ne!(one.as_raw_fd(), two.as_raw_fd());
    assert_eq!((file.import(&one), file.import(&two)), (Ok(bo), Ok(bo)));
    let close_on_exec = |fd: &OwnedFd| fcntl(fd, FcntlArg::F_GETFD).unwrap() & FdFlag::FD_CLOEXEC.bits() != 0;
    assert_eq!((close_on_exec(&one), close_on_exec(&two)), (true, false));
}

// Checks R16.
#[test]
fn an_import_is_one_handle_however_often_and_one_close_ends_it() {
    let device = card();
    let (one, other) = (open(&device), open(&device));
    let fd = one.export(one.create(PAGE), PRIME_CLOEXEC).unwrap();
    let _blocks_the_first_number = other.create(PAGE);
    assert_eq!((other.import(&fd), other.import(&fd)), (Ok(2), Ok(2)));
    assert_eq!((other.close(2), other.close(2)), (Ok(()), Err(Errno::EINVAL)));
    other.close(1).unwrap();
    assert_eq!(other.import(&fd), Ok(1), "the lowest free number, for the same BO");
}

// Checks R17.
#[test]
fn memory_and_metadata_are_shared() {
    let device = card();
    let (one, other) = (open(&device), open(&device));
    let bo = one.create(PAGE);
    let fd = one.export(bo, PRIME_CLOEXEC | PRIME_RDWR).unwrap();
    let imported = other.import(&fd).unwrap();
    one.view(bo, PAGE).store(16, 0x1234_5678);
    assert_eq!(other.view(imported, PAGE).load(16), 0x1234_5678);
    let mut metadata = GemMetadata { handle: bo, op: METADATA_OP_SET, tiling_info: 9, ..GemMetadata::ZEROED };
    one.send(&mut metadata).unwrap();
    let mut read = GemMetadata { handle: imported, op: METADATA_OP_GET, ..GemMetadata::ZEROED };
    other.send(&mut read).unwrap();
    assert_eq!(read.tiling_info, 9);
}

// Checks R18.
#[test]
fn a_dma_buf_outlives_the_handle_and_the_file_with_all_that_is_in_it() {
    let device = card();
    let (one, other) = (open(&device), open(&device));
    let bo = one.create(2 * PAGE);
    let offset = one.offset(bo).unwrap();
    one.view(bo, PAGE).store(0, 7);
    let fd = one.export(bo, PRIME_CLOEXEC | PRIME_RDWR).unwrap();
    // What is set after the export counts too.
    one.send(&mut GemMetadata { handle: bo, op: METADATA_OP_SET, tiling_info: 5, ..GemMetadata::ZEROED }).unwrap();
    one.close(bo).unwrap();
    drop(one);
    let imported = other.import(&fd).unwrap();
    assert_eq!(other.view(imported, 2 * PAGE).load(0), 7);
    assert_eq!(other.offset(imported), Ok(offset));
    let mut read = GemMetadata { handle: imported, op: METADATA_OP_GET, ..GemMetadata::ZEROED };
    other.send(&mut read).unwrap();
    assert_eq!(read.tiling_info, 5);
}

// Checks R19.
#[test]
fn a_dma_buf_tells_its_size_to_lseek() {
    let file = file();
    let fd = file.export(file.create(PAGE + 1), PRIME_CLOEXEC).unwrap();
    assert_eq!(lseek(fd.as_fd(), 0, Whence::SeekEnd), Ok((2 * PAGE).cast_signed()));
    assert_eq!(lseek(fd.as_fd(), 0, Whence::SeekSet), Ok(0));
}

// Checks R20.
#[test]
fn what_cannot_be_exported() {
    let file = file();
    let private = file.try_create(PAGE, 0, GemDomain::VRAM, GemCreateFlags::VM_ALWAYS_VALID).unwrap();
    let errno = |handle, flags| file.export(handle, flags).unwrap_err();
    assert_eq!(errno(private, 0), Errno::EPERM);
    assert_eq!(errno(99, 0), Errno::ENOENT);
    assert_eq!(errno(99, 4), Errno::EINVAL, "flags come first");
    assert_eq!(file.0.census().handles, 1);
}

// Checks R21.
#[test]
fn an_export_without_drm_rdwr_cannot_be_mapped_for_writing() {
    use nix::sys::mman::{MapFlags, ProtFlags, mmap};
    let file = file();
    let bo = file.create(PAGE);
    let read_only = file.export(bo, PRIME_CLOEXEC).unwrap();
    let later = file.export(bo, PRIME_CLOEXEC | PRIME_RDWR).unwrap();
    for fd in [&read_only, &later] {
        let len = std::num::NonZeroUsize::new(PAGE as usize).unwrap();
        #[expect(unsafe_code, reason = "mmap of a descriptor")]
        // SAFETY: no address is asked for, so nothing that exists is replaced; the call is expected to fail anyway.
        let mapped =
            unsafe { mmap(None, len, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_SHARED, fd, 0) };
        assert_eq!(mapped.map_err(Errno::from), Err(Errno::EACCES), "the first export fixes the mode");
    }
}

// Checks R22.
#[test]
fn what_cannot_be_imported() {
    let file = file();
    let null = OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
    assert_eq!(file.import(&null), Err(Errno::EINVAL));
    assert_eq!((file.import_raw(-1), file.import_raw(i32::MAX)), (Err(Errno::EBADF), Err(Errno::EBADF)));
}

// Checks R23.
#[test]
fn mmap_offsets_are_high_stable_and_the_same_in_every_file() {
    let device = card();
    let (one, other) = (open(&device), open(&device));
    let bos = [(); 3].map(|()| one.create(PAGE));
    let offsets = bos.map(|bo| one.offset(bo).unwrap());
    assert_eq!(bos.map(|bo| one.offset(bo).unwrap()), offsets);
    assert!(offsets.iter().all(|offset| *offset >= 1 << 32 && offset.is_multiple_of(PAGE)), "{offsets:#x?}");
    let imported = other.import(&one.export(bos[2], PRIME_CLOEXEC).unwrap()).unwrap();
    assert_eq!(other.offset(imported), Ok(offsets[2]));
}

// Checks R24.
#[test]
fn mmap_takes_whole_bos_from_their_start_or_less() {
    let device = card();
    let (one, other) = (open(&device), open(&device));
    let bo = one.create(4 * PAGE);
    let offset = one.offset(bo).unwrap();
    let errno = |file: &File, offset, len| file.map_at_offset(offset, len).unwrap_err();
    assert_eq!(errno(&one, offset + PAGE, PAGE), Errno::EINVAL);
    assert_eq!(errno(&one, offset, 4 * PAGE + 1), Errno::EINVAL);
    assert_eq!(errno(&one, 0, PAGE), Errno::EINVAL);
    assert_eq!(errno(&other, offset, PAGE), Errno::EACCES);
    assert_eq!(errno(&other, offset, 5 * PAGE), Errno::EINVAL, "the length comes before the right");
    one.map_at_offset(offset, PAGE).unwrap().store(0, 1);
    one.map_at_offset(offset, 3 * PAGE + 4).unwrap().store(3 * PAGE as usize, 2);
}

// Checks R25.
#[test]
fn a_mapping_outlives_the_handle() {
    let device = card();
    let file = open(&device);
    let bo = file.create(PAGE);
    let offset = file.offset(bo).unwrap();
    let view = file.view(bo, PAGE);
    view.store(0, 3);
    file.close(bo).unwrap();
    assert_eq!(view.load(0), 3);
    assert_eq!(file.map_at_offset(offset, PAGE).unwrap_err(), Errno::EACCES);
    assert_eq!((device.census().bos, device.census().gtt_bytes), (1, PAGE));
    drop(view);
    assert_eq!((device.census().bos, device.census().gtt_bytes), (0, 0));
    assert_eq!(file.map_at_offset(offset, PAGE).unwrap_err(), Errno::EINVAL);
}

// Checks R26.
#[test]
fn a_bo_without_cpu_access_cannot_be_mapped() {
    let file = file();
    let bo = file.try_create(PAGE, 0, GemDomain::VRAM, GemCreateFlags::NO_CPU_ACCESS).unwrap();
    assert_eq!(file.offset(bo), Err(Errno::EPERM));
    file.bind(bo, 0x10_0000, PAGE).unwrap();
}

// Checks R27.
#[test]
fn two_owners_of_one_file_share_it() {
    // A kernel behind an `Arc` is what a dup'ed descriptor is: the same file.
    let device = card();
    let one = std::sync::Arc::new(open(&device));
    let two = std::sync::Arc::clone(&one);
    let bo = one.create(PAGE);
    two.bind(bo, 0x10_0000, PAGE).unwrap();
    drop(one);
    assert_eq!(
        two.va(
            amdgpu_winsys::uapi::VaOperation::Unmap,
            RWX,
            bo,
            crate::support::Range { va: 0x10_0000, offset: 0, size: 0 }
        ),
        Ok(())
    );
    assert_eq!(device.census().files, 1);
}

#[test]
fn closing_a_file_gives_everything_back() {
    let device = card();
    let file = open(&device);
    let bo = file.try_create(1 << 20, 0, GemDomain::VRAM, GemCreateFlags::empty()).unwrap();
    file.bind(bo, 0x10_0000, PAGE).unwrap();
    let (_context, _syncobj, _list) = (file.context(), file.syncobj(true), file.bo_list());
    assert_eq!(BoList::ZEROED.answer().list_handle, 0);
    drop(file);
    assert_eq!(device.census(), amdgpu_sim::DeviceCensus::default());
}
