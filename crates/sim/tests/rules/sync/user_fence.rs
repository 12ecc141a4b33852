//! R95 and R96: where the GPU writes a submission's number.

use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain, UserptrFlags},
    winsys::Ip,
};

use crate::support::{Chunk, File, Job, PAGE, Pages, Rig, card, file, patient_card};

fn with_fence(file: &File, context: u32, handle: u32, offset: u32) -> Result<u64, Errno> {
    Job::new(context).with(Chunk::ib(Ip::Gfx, 0, (0, 0))).with(Chunk::user_fence(handle, offset)).send(file)
}

// Checks R95.
#[test]
fn a_user_fence_lies_in_a_bo_of_one_page() {
    let file = file();
    let context = file.context();
    let page = file.create(PAGE);
    assert_eq!(with_fence(&file, context, file.create(2 * PAGE), 0), Err(Errno::EINVAL));
    assert_eq!(with_fence(&file, context, page + 9, 0), Err(Errno::EINVAL), "no such BO, and not ENOENT");
    for beyond in [4089, 4096, u32::MAX] {
        assert_eq!(with_fence(&file, context, page, beyond), Err(Errno::EINVAL), "{beyond}");
    }
    let memory = Pages::new(1);
    let user = file.userptr(memory.address(), PAGE, UserptrFlags::ANONONLY | UserptrFlags::REGISTER).unwrap();
    assert_eq!(with_fence(&file, context, user, 0), Err(Errno::EINVAL), "memory of the process");
    let twice = Job::new(context).with(Chunk::ib(Ip::Gfx, 0, (0, 0))).with(Chunk::user_fence(page, 0));
    assert_eq!(twice.with(Chunk::user_fence(page, 0)).send(&file), Err(Errno::EINVAL));
    assert_eq!(with_fence(&file, context, page, 4088), Ok(1));
    assert_eq!(with_fence(&file, context, page, 3), Ok(2), "alignment is the caller's");
}

// Checks R95.
#[test]
fn the_number_is_there_before_anyone_wakes() {
    let rig = Rig::new(&card());
    let page = rig.file.create(PAGE);
    let view = rig.file.view(page, PAGE);
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        view.store_all(8, &[u32::MAX, u32::MAX]);
        for expected in 1..=20 {
            let seq = rig.job(ip, 0, &[]).with(Chunk::user_fence(page, 8)).send(&rig.file).unwrap();
            rig.finish(ip, 0, seq).unwrap();
            assert_eq!((u64::from(view.load(8)), view.load(12), seq), (expected, 0, expected), "{ip}");
        }
    }
}

// Checks R96.
#[test]
fn the_bo_is_neither_listed_nor_bound_and_lives_as_long_as_the_job() {
    for domains in [GemDomain::VRAM, GemDomain::GTT] {
        let device = patient_card();
        let rig = Rig::new(&device);
        let page = rig.file.try_create(PAGE, 0, domains, GemCreateFlags::empty()).unwrap();
        let view = rig.file.view(page, PAGE);
        let wait = rig.wait_value(Ip::Gfx, 0, 1);
        let job = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, rig.ib(&wait))).with(Chunk::user_fence(page, 0));
        let seq = job.send(&rig.file).unwrap();
        assert_eq!(rig.file.wait_idle(page, 0), Ok(false), "the job uses it");
        rig.file.close(page).unwrap();
        rig.poke(0, 1);
        rig.finish(Ip::Gfx, 0, seq).unwrap();
        assert_eq!(u64::from(view.load(0)), seq);
    }
}

// Checks R95.
#[test]
fn a_failed_job_writes_no_number() {
    let rig = Rig::new(&card());
    let page = rig.file.create(PAGE);
    let view = rig.file.view(page, PAGE);
    let job = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, (0, 64))).with(Chunk::user_fence(page, 0));
    let seq = job.send(&rig.file).unwrap();
    assert_eq!(rig.finish(Ip::Gfx, 0, seq), Err(Errno::ECANCELED));
    assert_eq!(view.load(0), 0);
}
