//! R64 to R66: BOs of user memory.

use amdgpu_winsys::{
    uapi::{UserptrFlags, VaFlags, VaOperation},
    winsys::Ip,
};
use nix::errno::Errno;

use crate::support::{Chunk, DATA, Job, PAGE, Pages, RWX, Range, Rig, card, file};

const REGISTER: UserptrFlags = UserptrFlags::REGISTER;
const CHECKED: UserptrFlags = REGISTER.union(UserptrFlags::VALIDATE);

#[test]
fn r64_what_user_memory_must_be() {
    let file = file();
    let memory = Pages::new(2);
    let at = memory.address();
    let anonymous = CHECKED | UserptrFlags::ANONONLY;
    assert_eq!(file.userptr(at + 8, PAGE, REGISTER), Err(Errno::EINVAL));
    assert_eq!(file.userptr(at, PAGE + 8, REGISTER), Err(Errno::EINVAL));
    assert_eq!(file.userptr(at, PAGE, UserptrFlags::from_bits_retain(16)), Err(Errno::EINVAL));
    assert_eq!(file.userptr(at, PAGE, UserptrFlags::ANONONLY), Err(Errno::EACCES));
    assert_eq!(file.userptr(at, 0, REGISTER), Err(Errno::ENOSPC));
    assert_eq!(file.userptr(0u64.wrapping_sub(PAGE), PAGE, REGISTER), Err(Errno::EOVERFLOW));
    assert_eq!(file.userptr(PAGE, PAGE, CHECKED), Err(Errno::EFAULT));
    let of_file = Pages::of_file();
    assert_eq!(file.userptr(of_file.address(), PAGE, anonymous), Err(Errno::EPERM));
    file.userptr(of_file.address(), PAGE, CHECKED).unwrap();
    let bo = file.userptr(at, 2 * PAGE, anonymous).unwrap();
    assert_eq!(file.offset(bo), Err(Errno::EPERM));
    let mut export = amdgpu_winsys::uapi::PrimeHandle { handle: bo, flags: 0, fd: 0 };
    assert_eq!(file.send(&mut export), Err(Errno::EPERM));
}

#[test]
fn r65_user_memory_is_shared_not_copied() {
    let rig = Rig::new(&card());
    let memory = Pages::new(1);
    let user = rig.file.userptr(memory.address(), PAGE, CHECKED).unwrap();
    rig.file.bind(user, 0x100_0000, PAGE).unwrap();
    memory.store(0x1111);
    let seq = rig.run(Ip::Gfx, 0, &rig.copy(0x100_0000, DATA)).unwrap();
    rig.finish(Ip::Gfx, 0, seq).unwrap();
    assert_eq!(rig.load(0), 0x1111);
    rig.poke(4, 0x2222);
    let seq = rig.run(Ip::Gfx, 0, &rig.copy(DATA + 4, 0x100_0000)).unwrap();
    rig.finish(Ip::Gfx, 0, seq).unwrap();
    assert_eq!(memory.load(), 0x2222);
}

#[test]
fn r65_read_only_user_memory_is_not_written() {
    let rig = Rig::new(&card());
    let memory = Pages::new(1);
    let user = rig.file.userptr(memory.address(), PAGE, UserptrFlags::READONLY).unwrap();
    rig.file.va(VaOperation::Map, RWX, user, Range { va: 0x100_0000, offset: 0, size: PAGE }).unwrap();
    rig.poke(4, 0x2222);
    let seq = rig.run(Ip::Gfx, 0, &rig.copy(DATA + 4, 0x100_0000)).unwrap();
    rig.finish(Ip::Gfx, 0, seq).unwrap();
    assert_eq!(memory.load(), 0);
    assert!(rig.file.complaints().contains("Write"), "{}", rig.file.complaints());
    assert!(RWX.contains(VaFlags::WRITEABLE));
}

#[test]
fn r66_user_memory_that_is_gone_makes_a_submission_efault() {
    let rig = Rig::new(&card());
    let memory = Pages::new(1);
    let user = rig.file.userptr(memory.address(), PAGE, REGISTER).unwrap();
    let job = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, rig.ib(&[]))).with(Chunk::bos(&[user]));
    assert_eq!(job.send(&rig.file), Ok(1));
    memory.take_away();
    assert_eq!(job.send(&rig.file), Err(Errno::EFAULT));
}
