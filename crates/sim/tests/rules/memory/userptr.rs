//! R64 to R66: BOs of user memory.

use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{UserptrFlags, VaFlags, VaOperation},
    winsys::Ip,
};

use crate::support::{Chunk, DATA, Job, PAGE, Pages, RWX, Range, Rig, card, file, patient_card};

const REGISTER: UserptrFlags = UserptrFlags::REGISTER;
const CHECKED: UserptrFlags = REGISTER.union(UserptrFlags::VALIDATE);

// Checks R64.
#[test]
fn what_user_memory_must_be() {
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

// Checks R65.
#[test]
fn user_memory_is_shared_not_copied() {
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

// Checks R65.
#[test]
fn read_only_user_memory_is_not_written() {
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

// Checks R66.
#[test]
fn user_memory_that_is_gone_makes_a_submission_efault() {
    let rig = Rig::new(&card());
    let memory = Pages::new(1);
    let user = rig.file.userptr(memory.address(), PAGE, REGISTER).unwrap();
    let job = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, rig.ib(&[]))).with(Chunk::bos(&[user]));
    assert_eq!(job.send(&rig.file), Ok(1));
    memory.take_away();
    assert_eq!(job.send(&rig.file), Err(Errno::EFAULT));
}

// Checks R66.
#[test]
fn mappings_change_only_when_no_job_uses_the_memory() {
    let device = patient_card();
    let rig = Rig::new(&device);
    let memory = Pages::new(3);
    let at = memory.address() + PAGE;
    let user = rig.file.userptr(at, PAGE, CHECKED).unwrap();
    rig.file.bind(user, 0x100_0000, PAGE).unwrap();
    rig.poke(4, 0x2222);
    let program = [rig.wait_value(Ip::Gfx, 0, 1), rig.copy(DATA + 4, 0x100_0000)].concat();
    let ib = Chunk::ib(Ip::Gfx, 0, rig.ib(&program));
    let seq = Job::new(rig.context).with(ib).with(Chunk::bos(&[rig.ibs, rig.data, user])).send(&rig.file).unwrap();
    // No other call waits, though the job is not done.
    for beside in [memory.address()..at, at + PAGE..at + 2 * PAGE, at..at] {
        device.before_user_memory_changes(beside);
    }
    assert!(!rig.is_done(Ip::Gfx, 0, seq));
    std::thread::scope(|scope| {
        let range = memory.address()..at + 2 * PAGE;
        let (device, rig) = (&device, &rig);
        let unmapper = scope.spawn(move || {
            device.before_user_memory_changes(range);
            assert!(rig.is_done(Ip::Gfx, 0, seq), "not before the job is done");
        });
        rig.poke(0, 1);
        unmapper.join().unwrap();
    });
    memory.take_away();
    let job = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, rig.ib(&[]))).with(Chunk::bos(&[user]));
    assert_eq!(job.send(&rig.file), Err(Errno::EFAULT));
    assert_eq!(rig.file.complaints(), "");
}

#[test]
fn user_memory_counts_as_gtt_once_it_was_looked_at() {
    let device = card();
    let rig = Rig::new(&device);
    let before = device.census().gtt_bytes;
    let memory = Pages::new(2);
    rig.file.userptr(memory.address(), 2 * PAGE, CHECKED).unwrap();
    assert_eq!(device.census().gtt_bytes, before + 2 * PAGE);
    let unchecked = rig.file.userptr(memory.address(), PAGE, REGISTER).unwrap();
    assert_eq!(device.census().gtt_bytes, before + 2 * PAGE);
    let job = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, rig.ib(&[]))).with(Chunk::bos(&[unchecked]));
    let seq = job.send(&rig.file).unwrap();
    assert_eq!(device.census().gtt_bytes, before + 3 * PAGE);
    rig.finish(Ip::Gfx, 0, seq).unwrap();
    drop(rig);
    assert_eq!(device.census().gtt_bytes, 0);
}
