//! R134: the jobs of a process that dies.

use amdgpu_uapi::Errno;
use amdgpu_winsys::winsys::Ip;

use crate::support::{Chunk, DATA, Rig, is_readable, long, open, patient_card, sync_file_info};

/// Longer than any job of these tests takes, in ms.
const SOON: u16 = 20_000;
/// Status of the fence of a job that was dropped.
const DROPPED: i32 = -(Errno::ESRCH.raw());
/// Places of the data that jobs store to.
const PLACES: [u64; 4] = [4, 8, 12, 16];

/// A rig whose graphics ring has a job that runs until the dword at 0 is 1, and four jobs behind it that store 1 to the
/// places. Returns the sync object of each of the four.
fn busy(rig: &Rig) -> [u32; 4] {
    rig.running(Ip::Gfx, 0);
    PLACES.map(|at| {
        let syncobj = rig.file.syncobj(false);
        rig.job(Ip::Gfx, 0, &rig.store(Ip::Gfx, at, 1)).with(Chunk::signal(syncobj)).send(&rig.file).unwrap();
        syncobj
    })
}

// Checks R134.
#[test]
fn a_killed_process_finishes_what_is_on_the_hardware_ring_and_drops_what_is_queued() {
    let device = patient_card();
    let machine = device.machine();
    let rig = Rig::new(&device);
    let syncobjs = busy(&rig);
    let other = open(&device);
    let [files, imports] = [(); 2].map(|()| syncobjs.map(|syncobj| rig.file.sync_file(syncobj).unwrap()));
    let handles = syncobjs.map(|syncobj| other.open_syncobj(&rig.file.syncobj_fd(syncobj, 0).unwrap()).unwrap());
    assert!(rig.file.0.has_queued_jobs());
    rig.file.0.kill();
    assert!(!files.iter().any(|file| is_readable(file, 0)), "all are behind the job that runs");
    rig.poke(0, 1);
    assert!(files.iter().all(|file| is_readable(file, SOON)));
    let statuses = files.each_ref().map(|file| sync_file_info(&machine, file, 1).unwrap().1[0].status);
    assert_eq!(statuses, [1, DROPPED, DROPPED, DROPPED], "one was on the hardware ring");
    assert_eq!(PLACES.map(|at| rig.load(at)), [1, 0, 0, 0]);
    for (handle, import) in handles.into_iter().zip(&imports) {
        assert_eq!(other.wait_syncobj(handle, i64::MAX, 0), Ok(()), "waits do not tell");
        other.import_sync_file(handle, import).unwrap();
        assert_eq!(other.wait_syncobj(handle, 0, 0), Ok(()));
    }
}

// Checks R134.
#[test]
fn what_gets_to_the_hardware_ring_within_a_second_runs() {
    let device = patient_card();
    let rig = Rig::new(&device);
    let held = device.hold_ring(Ip::Gfx, 0);
    let done = PLACES.map(|at| rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, at, 1)).unwrap());
    drop(held);
    rig.file.0.kill();
    assert_eq!(rig.finish(Ip::Gfx, 0, done[3]), Ok(()));
    assert_eq!(PLACES.map(|at| rig.load(at)), [1; 4]);
}

// Checks R134.
#[test]
fn a_dropped_job_ends_after_its_dependencies_and_not_after_other_files_jobs() {
    let device = patient_card();
    let [victim, other] = [(); 2].map(|()| Rig::new(&device));
    let machine = device.machine();
    other.running(Ip::Gfx, 0);
    // It takes the place behind the job that runs.
    other.run(Ip::Gfx, 0, &[]).unwrap();
    let copy = victim.running(Ip::Sdma, 0);
    let free = victim.file.syncobj(false);
    let store = victim.store(Ip::Gfx, 4, 1);
    victim.job(Ip::Gfx, 0, &store).with(Chunk::signal(free)).send(&victim.file).unwrap();
    let bound = victim.file.syncobj(false);
    let started = Chunk::after_start(victim.context, Ip::Sdma, 0, copy);
    let context = victim.file.context();
    let job = victim.job_of(context, Ip::Gfx, 0, &store).with(started).with(Chunk::signal(bound));
    job.send(&victim.file).unwrap();
    let [free, bound] = [free, bound].map(|syncobj| victim.file.sync_file(syncobj).unwrap());
    victim.file.0.kill();
    let status = |file| sync_file_info(&machine, file, 1).unwrap().1[0].status;
    assert_eq!([status(&free), status(&bound)], [DROPPED, 0], "the copy has started and has not ended");
    victim.poke(0, 1);
    other.poke(0, 1);
    assert!(is_readable(&bound, SOON));
    assert_eq!((status(&bound), victim.load(4)), (DROPPED, 0));
}

// Checks R134.
#[test]
fn a_dropped_job_ends_after_the_job_before_it() {
    let device = patient_card();
    let [victim, other] = [(); 2].map(|()| Rig::new(&device));
    victim.running(Ip::Gfx, 0);
    // It takes the place behind the job that runs.
    other.run(Ip::Gfx, 0, &[]).unwrap();
    let syncobj = victim.file.syncobj(false);
    victim.job(Ip::Gfx, 0, &[]).with(Chunk::signal(syncobj)).send(&victim.file).unwrap();
    let file = victim.file.sync_file(syncobj).unwrap();
    victim.file.0.kill();
    let status = || sync_file_info(&device.machine(), &file, 1).unwrap().1[0].status;
    assert_eq!(status(), 0);
    victim.poke(0, 1);
    assert!(is_readable(&file, SOON));
    assert_eq!(status(), DROPPED);
}

// Checks R134.
#[test]
fn no_other_file_is_disturbed() {
    let device = patient_card();
    let [victim, other] = [(); 2].map(|()| Rig::new(&device));
    busy(&victim);
    let after = other.run(Ip::Gfx, 0, &other.store(Ip::Gfx, 0, 7)).unwrap();
    // A BO of both: the other file's job comes after the victim's.
    let shared = other.file.open_dma_buf(&victim.file.dma_buf(victim.data, 0).unwrap()).unwrap();
    let size = 0x10_0000;
    other.file.bind(shared, DATA + size, size).unwrap();
    let ib = other.ib(&other.store(Ip::Compute, size + 20, 9));
    let job = crate::support::Job::new(other.context).with(Chunk::ib(Ip::Compute, 0, ib));
    let implicit = job.with(Chunk::bos(&[other.ibs, shared])).send(&other.file).unwrap();
    victim.file.0.kill();
    victim.poke(0, 1);
    for (ip, seq) in [(Ip::Gfx, after), (Ip::Compute, implicit)] {
        assert_eq!(other.wait_until(other.context, ip, 0, seq, long()), Ok(true));
    }
    assert_eq!((other.load(0), victim.load(20), victim.load(16)), (7, 9, 0));
}

// Checks R134.
#[test]
fn what_a_killed_process_submits_late_is_dropped() {
    let rig = Rig::new(&patient_card());
    rig.file.0.kill();
    let late = rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1)).unwrap();
    assert_eq!(rig.finish(Ip::Gfx, 0, late), Err(Errno::ESRCH));
    assert_eq!(rig.load(4), 0);
}
