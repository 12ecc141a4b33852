//! R49 and R99 to R106: sync objects in submissions, and what a submission waits for.

use std::{
    os::fd::{FromRawFd, OwnedFd},
    thread,
};

use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        CsChunkDep, GemCreateFlags, GemDomain, PRIME_CLOEXEC, QUERY_LAST_SUBMITTED, SyncobjHandle, SyncobjWaitFlags,
        chunk_id,
    },
    winsys::Ip,
};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use crate::support::{Chunk, DATA, File, Job, PAGE, Rig, card, file, long, patient_card};

const NO_SUCH: u32 = 4711;
const FOR_SUBMIT: u32 = SyncobjWaitFlags::WAIT_FOR_SUBMIT.bits();

impl File {
    fn with_chunk(&self, context: u32, chunk: Chunk) -> Result<u64, Errno> {
        Job::new(context).with(Chunk::ib(Ip::Gfx, 0, (0, 0))).with(chunk).send(self)
    }

    fn await_syncobj(&self, handle: u32) -> Result<(), Errno> {
        self.wait_syncobj(handle, long().cast_signed(), 0)
    }
}

impl Rig {
    /// A job that runs until the dword at a byte of the data is 1, already started.
    pub(crate) fn running(&self, ip: Ip, at: u64) -> u64 {
        let started = at + 0x8_0000;
        let program = [self.store(ip, started, 1), self.wait_value(ip, at, 1)].concat();
        let seq = self.run(ip, 0, &program).unwrap();
        self.await_value(started, 1);
        seq
    }

    /// Returns `true` if a job is still not done after everything else on the graphics ring had its turn.
    fn is_held_back(&self, context: u32, ip: Ip, seq: u64) -> bool {
        let witness = self.file.context();
        let number = self.job_of(witness, Ip::Gfx, 0, &[]).send(&self.file).unwrap();
        assert_eq!(self.wait_until(witness, Ip::Gfx, 0, number, long()), Ok(true));
        !self.wait_until(context, ip, 0, seq, 0).unwrap()
    }
}

// Checks R49.
#[test]
fn the_descriptor_of_a_sync_object_is_closed_on_exec() {
    let file = file();
    let mut export = SyncobjHandle { handle: file.syncobj(true), flags: 0, fd: -1, pad: 0 };
    file.send(&mut export).unwrap();
    #[expect(unsafe_code, reason = "a descriptor comes out of the ioctl")]
    // SAFETY: the simulated kernel just made the descriptor and gave it away.
    let descriptor = unsafe { OwnedFd::from_raw_fd(export.fd) };
    let flags = fcntl(&descriptor, FcntlArg::F_GETFD).unwrap();
    assert!(FdFlag::from_bits_retain(flags).contains(FdFlag::FD_CLOEXEC));
}

// Checks R99.
#[test]
fn sync_objects_to_wait_for_must_hold_a_fence() {
    let file = file();
    let context = file.context();
    let (empty, full) = (file.syncobj(false), file.syncobj(true));
    assert_eq!(file.with_chunk(context, Chunk::wait(NO_SUCH)), Err(Errno::ENOENT));
    assert_eq!(file.with_chunk(context, Chunk::wait(empty)), Err(Errno::EINVAL));
    assert_eq!(file.with_chunk(context, Chunk::wait(full)), Ok(1));
}

// Checks R99.
#[test]
fn one_chunk_of_sync_objects_to_signal() {
    let file = file();
    let context = file.context();
    let [binary, timeline] = [(); 2].map(|()| file.syncobj(false));
    for unknown in [Chunk::signal(NO_SUCH), Chunk::signal_point(NO_SUCH, 1)] {
        assert_eq!(file.with_chunk(context, unknown), Err(Errno::EINVAL), "and not ENOENT");
    }
    let job = || Job::new(context).with(Chunk::ib(Ip::Gfx, 0, (0, 0))).with(Chunk::signal(binary));
    for second in [Chunk::signal(timeline), Chunk::signal_point(timeline, 1)] {
        assert_eq!(job().with(second).send(&file), Err(Errno::EINVAL));
    }
    let both = Chunk::new(chunk_id::SYNCOBJ_OUT, &[binary, timeline]);
    assert_eq!(file.with_chunk(context, both), Ok(1));
    for handle in [binary, timeline] {
        file.await_syncobj(handle).unwrap();
    }
}

// Checks R100.
#[test]
fn a_submission_waits_for_a_point_to_be_submitted() {
    let file = &file();
    let context = file.context();
    let timeline = file.syncobj(false);
    thread::scope(|scope| {
        let sent = scope.spawn(move || file.with_chunk(context, Chunk::wait_point(timeline, 5, FOR_SUBMIT)));
        // Whichever comes first, the outcome is the same.
        file.signal_point(timeline, 7);
        assert_eq!(sent.join().unwrap(), Ok(1));
    });
}

// Checks R100.
#[test]
fn other_threads_submit_the_point_meanwhile() {
    let rig = &Rig::new(&card());
    let timeline = rig.file.syncobj(false);
    thread::scope(|scope| {
        let sent = scope.spawn(move || {
            let job = rig.job(Ip::Compute, 0, &rig.store(Ip::Compute, 0, 2));
            job.with(Chunk::wait_point(timeline, 1, FOR_SUBMIT)).send(&rig.file)
        });
        let first = rig.job(Ip::Gfx, 0, &rig.store(Ip::Gfx, 0, 1)).with(Chunk::signal_point(timeline, 1));
        first.send(&rig.file).unwrap();
        let second = sent.join().unwrap().unwrap();
        rig.finish(Ip::Compute, 0, second).unwrap();
    });
    assert_eq!(rig.load(0), 2);
}

// Checks R101.
#[test]
fn points_of_binary_sync_objects() {
    let file = file();
    let context = file.context();
    let binary = file.syncobj(true);
    assert_eq!(file.with_chunk(context, Chunk::wait_point(binary, 0, 0)), Ok(1));
    assert_eq!(file.with_chunk(context, Chunk::wait_point(binary, 1, 0)), Err(Errno::EINVAL));
    assert_eq!(file.with_chunk(context, Chunk::wait_point(NO_SUCH, 0, 0)), Err(Errno::ENOENT));
    let all_but_for_submit = SyncobjWaitFlags::WAIT_AVAILABLE.bits();
    assert_eq!(file.with_chunk(context, Chunk::wait_point(binary, 0, all_but_for_submit)), Err(Errno::EINVAL));
}

// Checks R102.
#[test]
fn what_is_signalled_holds_the_fence_at_once() {
    let rig = Rig::new(&patient_card());
    let [binary, timeline] = [(); 2].map(|()| rig.file.syncobj(false));
    let job = rig.job(Ip::Gfx, 0, &rig.wait_value(Ip::Gfx, 0, 1));
    job.with(Chunk::signal(binary)).send(&rig.file).unwrap();
    rig.job(Ip::Gfx, 0, &[]).with(Chunk::signal_point(timeline, 3)).send(&rig.file).unwrap();
    assert_eq!(rig.file.wait_syncobj(binary, 0, 0), Err(Errno::ETIME), "not EINVAL: there is a fence");
    assert_eq!(rig.file.query_syncobj(timeline, 0), 0);
    assert_eq!(rig.file.query_syncobj(timeline, QUERY_LAST_SUBMITTED), 3);
    rig.poke(0, 1);
    for handle in [binary, timeline] {
        rig.file.await_syncobj(handle).unwrap();
    }
    assert_eq!(rig.file.query_syncobj(timeline, 0), 3);
}

// Checks R102.
#[test]
fn the_leader_signals_whatever_its_gang_still_does() {
    let rig = Rig::new(&patient_card());
    let out = rig.file.syncobj(false);
    let member = rig.job(Ip::Gfx, 0, &rig.wait_value(Ip::Gfx, 0, 1));
    let leader = rig.store(Ip::Compute, 4, 7);
    let gang = member.with(Chunk::ib(Ip::Compute, 0, rig.ib(&leader))).with(Chunk::signal(out));
    gang.send(&rig.file).unwrap();
    rig.file.await_syncobj(out).unwrap();
    assert_eq!((rig.load(4), rig.file.wait_idle(rig.data, 0)), (7, Ok(false)));
    rig.poke(0, 1);
    assert_eq!(rig.file.wait_idle(rig.data, long()), Ok(true));
}

// Checks R103.
#[test]
fn dependencies_name_what_was_submitted() {
    let rig = Rig::new(&card());
    let done = rig.run(Ip::Compute, 0, &[]).unwrap();
    rig.finish(Ip::Compute, 0, done).unwrap();
    let on = |context, ip, ring, number| {
        let kinds = [Chunk::after(context, ip, ring, number), Chunk::after_start(context, ip, ring, number)];
        kinds.map(|chunk| rig.file.with_chunk(rig.context, chunk).map(drop))
    };
    for (context, ip, ring, number) in [
        (rig.context, Ip::Compute, 0, done + 1),
        (rig.context, Ip::Compute, 4, done),
        (rig.context + 1, Ip::Compute, 0, done),
    ] {
        assert_eq!(on(context, ip, ring, number), [Err(Errno::EINVAL); 2], "{context} {ip} {ring} {number}");
    }
    for number in [0, done, u64::MAX] {
        assert_eq!(on(rig.context, Ip::Compute, 0, number), [Ok(()); 2]);
    }
    assert_eq!(on(rig.context, Ip::VcnDec, 0, u64::MAX), [Ok(()); 2], "nothing ever ran there");
    let wrong = CsChunkDep { ip_instance: 1, ctx_id: rig.context, ..CsChunkDep::ZEROED };
    let wrong = Chunk::new(chunk_id::DEPENDENCIES, &[wrong]);
    assert_eq!(rig.file.with_chunk(rig.context, wrong), Err(Errno::EINVAL));
}

// Checks R103.
#[test]
fn a_job_starts_when_the_other_has_finished() {
    let rig = Rig::new(&patient_card());
    let first = rig.running(Ip::Compute, 0);
    for chunk in [Chunk::after(rig.context, Ip::Compute, 0, first), Chunk::after(rig.context, Ip::Compute, 0, u64::MAX)]
    {
        let job = rig.job(Ip::Gfx, 0, &rig.copy(DATA, DATA + 4)).with(chunk);
        let second = job.send(&rig.file).unwrap();
        assert!(rig.is_held_back(rig.context, Ip::Gfx, second));
    }
    rig.poke(0, 1);
    rig.finish(Ip::Gfx, 0, 2).unwrap();
    assert_eq!(rig.load(4), 1, "it saw what the other waited for");
}

// Checks R103.
#[test]
fn sync_objects_order_jobs_too() {
    let rig = Rig::new(&patient_card());
    let [binary, timeline] = [(); 2].map(|()| rig.file.syncobj(false));
    let first = rig.job(Ip::Compute, 0, &rig.wait_value(Ip::Compute, 0, 1));
    first.with(Chunk::signal(binary)).send(&rig.file).unwrap();
    let second = rig.job(Ip::Compute, 0, &[]).with(Chunk::signal_point(timeline, 9));
    second.send(&rig.file).unwrap();
    for (number, chunk) in (1..).zip([Chunk::wait(binary), Chunk::wait_point(timeline, 4, 0)]) {
        let context = rig.file.context();
        let waiting = rig.job_of(context, Ip::Gfx, 0, &[]).with(chunk).send(&rig.file).unwrap();
        assert!(rig.is_held_back(context, Ip::Gfx, waiting), "{number}");
    }
    rig.poke(0, 1);
    rig.file.await_syncobj(timeline).unwrap();
}

// Checks R104.
#[test]
fn a_scheduled_dependency_is_over_when_the_other_starts() {
    let rig = Rig::new(&patient_card());
    let running = rig.running(Ip::Compute, 0);
    let free = rig.job(Ip::Gfx, 0, &[]).with(Chunk::after_start(rig.context, Ip::Compute, 0, running));
    let free = free.send(&rig.file).unwrap();
    rig.finish(Ip::Gfx, 0, free).unwrap();
    assert!(!rig.is_done(Ip::Compute, 0, running));
    // Behind the running one nothing starts.
    let queued = rig.run(Ip::Compute, 0, &[]).unwrap();
    let held = rig.job(Ip::Gfx, 0, &[]).with(Chunk::after_start(rig.context, Ip::Compute, 0, queued));
    let held = held.send(&rig.file).unwrap();
    assert!(rig.is_held_back(rig.context, Ip::Gfx, held));
    rig.poke(0, 1);
    rig.finish(Ip::Gfx, 0, held).unwrap();
}

// Checks R105.
#[test]
fn an_entity_is_a_queue_and_two_contexts_are_two() {
    let rig = Rig::new(&patient_card());
    let running = rig.running(Ip::Compute, 0);
    let first = rig.job(Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1)).with(Chunk::after(rig.context, Ip::Compute, 0, running));
    let first = first.send(&rig.file).unwrap();
    let second = rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 2)).unwrap();
    assert!(rig.is_held_back(rig.context, Ip::Gfx, second), "another context overtakes it");
    assert!(!rig.is_done(Ip::Gfx, 0, first));
    rig.poke(0, 1);
    rig.finish(Ip::Gfx, 0, second).unwrap();
    assert!(rig.is_done(Ip::Gfx, 0, first));
    assert_eq!(rig.load(4), 2);
}

/// A BO of one file, and the handle of the same BO in another.
fn share(from: &File, to: &File, flags: GemCreateFlags) -> (u32, u32) {
    let handle = from.try_create(PAGE, 0, GemDomain::GTT, flags).unwrap();
    let dma_buf = from.export(handle, PRIME_CLOEXEC).unwrap();
    (handle, to.import(&dma_buf).unwrap())
}

// Checks R106.
#[test]
fn files_wait_for_each_other_at_a_shared_bo_unless_it_opts_out() {
    for (flags, waits) in [(GemCreateFlags::empty(), true), (GemCreateFlags::EXPLICIT_SYNC, false)] {
        let device = patient_card();
        let (one, two) = (Rig::new(&device), Rig::new(&device));
        let (mine, yours) = share(&one.file, &two.file, flags);
        let wait = one.ib(&one.wait_value(Ip::Compute, 0, 1));
        let job = Job::new(one.context).with(Chunk::ib(Ip::Compute, 0, wait)).with(Chunk::bos(&[mine]));
        let first = job.send(&one.file).unwrap();
        let job = Job::new(two.context).with(Chunk::ib(Ip::Gfx, 0, (0, 0))).with(Chunk::bos(&[yours]));
        let second = job.send(&two.file).unwrap();
        assert_eq!(two.is_held_back(two.context, Ip::Gfx, second), waits);
        one.poke(0, 1);
        one.finish(Ip::Compute, 0, first).unwrap();
        two.finish(Ip::Gfx, 0, second).unwrap();
    }
}

// Checks R106.
#[test]
fn a_file_never_waits_for_itself() {
    let rig = Rig::new(&patient_card());
    let shared = rig.file.create(PAGE);
    let wait = rig.ib(&rig.wait_value(Ip::Compute, 0, 1));
    let job = |ip, ib| Job::new(rig.context).with(Chunk::ib(ip, 0, ib)).with(Chunk::bos(&[shared]));
    let first = job(Ip::Compute, wait).send(&rig.file).unwrap();
    let second = job(Ip::Gfx, (0, 0)).send(&rig.file).unwrap();
    rig.finish(Ip::Gfx, 0, second).unwrap();
    assert!(!rig.is_done(Ip::Compute, 0, first));
    rig.poke(0, 1);
    rig.finish(Ip::Compute, 0, first).unwrap();
}
