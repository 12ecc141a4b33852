//! R38, R125 to R129, R131 and R132: jobs that hang, and who is told what.

use amdgpu_sim::SimDevice;
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{CTX_NO_RESET, CTX_UNKNOWN_RESET, Cs, CtxStateFlags, GemCreateFlags, GemDomain, PRIME_CLOEXEC},
    winsys::Ip,
};

use crate::support::{Chunk, DATA, Job, PAGE, Rig, card, long, patient_card};

const IPS: [Ip; 3] = [Ip::Gfx, Ip::Compute, Ip::Sdma];
const LOST: Result<(), Errno> = Err(Errno::ECANCELED);

impl Rig {
    /// A job that never ends by itself.
    fn endless(&self, context: u32, ip: Ip) -> Job {
        self.job_of(context, ip, 0, &self.wait_value(ip, 0xff00, 1))
    }

    /// Lets a job of a new context hang until it is given up. The context.
    fn hang(&self) -> u32 {
        let culprit = self.file.context();
        let seq = self.endless(culprit, Ip::Gfx).send(&self.file).unwrap();
        assert_eq!(self.outcome(culprit, Ip::Gfx, seq), LOST);
        culprit
    }

    /// WAIT_CS to the end.
    fn outcome(&self, context: u32, ip: Ip, seq: u64) -> Result<(), Errno> {
        self.wait_until(context, ip, 0, seq, long()).map(|done| assert!(done, "a job takes too long"))
    }

    /// Runs a job in a context.
    fn try_run(&self, context: u32, ip: Ip) -> Result<(), Errno> {
        let seq = self.job_of(context, ip, 0, &[]).send(&self.file)?;
        self.outcome(context, ip, seq)
    }

    /// Submits a job with a sync object to signal.
    fn send_signalling(&self, job: Job) -> Result<(u64, u32), Errno> {
        let out = self.file.syncobj(false);
        job.with(Chunk::signal(out)).send(&self.file).map(|seq| (seq, out))
    }
}

/// Repeats an attempt that depends on the machine's speed until it goes the way that is wanted.
fn sometime<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    (0..100).find_map(|_| attempt()).expect("one of 100 attempts should have gone that way")
}

// Checks R125.
#[test]
fn a_job_that_hangs_is_given_up_and_ends_with_an_error() {
    for ip in IPS {
        let rig = Rig::new(&card());
        let seq = rig.endless(rig.context, ip).send(&rig.file).unwrap();
        assert_eq!(rig.outcome(rig.context, ip, seq), LOST, "{ip}");
        assert_eq!(rig.outcome(rig.context, ip, 0), LOST, "{ip}: nothing can be asked of the entity any more");
        assert!(rig.file.complaints().contains(" hangs: "), "{}", rig.file.complaints());
    }
}

// Checks R125.
#[test]
fn an_ib_that_cannot_be_followed_hangs() {
    for ip in IPS {
        let rig = Rig::new(&card());
        let nowhere = Job::new(rig.context).with(Chunk::ib(ip, 0, (0x7000_0000, 64)));
        let seq = nowhere.send(&rig.file).unwrap();
        assert_eq!(rig.outcome(rig.context, ip, seq), LOST, "{ip}");
    }
}

// Checks R38.
#[test]
fn waiting_for_a_sync_object_never_tells_how_it_ended() {
    let rig = Rig::new(&card());
    let [binary, timeline] = [(); 2].map(|()| rig.file.syncobj(false));
    let job = rig.endless(rig.context, Ip::Gfx).with(Chunk::signal(binary));
    job.send(&rig.file).unwrap();
    let job = rig.endless(rig.file.context(), Ip::Compute).with(Chunk::signal_point(timeline, 4));
    job.send(&rig.file).unwrap();
    for handle in [binary, timeline] {
        assert_eq!(rig.file.wait_syncobj(handle, long().cast_signed(), 0), Ok(()));
    }
    assert_eq!(rig.file.query_syncobj(timeline, 0), 4);
    assert_eq!(rig.outcome(rig.context, Ip::Gfx, 1), LOST, "by its number it is told");
}

// Checks R126.
#[test]
fn what_is_queued_behind_a_failure_in_its_entity_fails_alike() {
    // Queued they must be before the first is given up.
    let (rig, first, queued) = sometime(|| {
        let rig = Rig::new(&card());
        let first = rig.endless(rig.context, Ip::Compute).send(&rig.file).unwrap();
        let store = |at| rig.send_signalling(rig.job(Ip::Compute, 0, &rig.store(Ip::Compute, at, 1))).ok();
        let queued = [store(4)?, store(8)?];
        Some((rig, first, queued))
    });
    for (seq, out) in queued {
        assert_eq!(rig.file.wait_syncobj(out, long().cast_signed(), 0), Ok(()));
        assert_eq!(rig.outcome(rig.context, Ip::Compute, seq), LOST);
    }
    assert_eq!(rig.outcome(rig.context, Ip::Compute, first), LOST);
    assert_eq!((rig.load(4), rig.load(8)), (0, 0), "they never ran");
    assert_eq!(rig.run(Ip::Compute, 0, &[]), Err(Errno::ECANCELED));
}

// Checks R127.
#[test]
fn what_waited_for_a_failed_job_runs() {
    let rig = Rig::new(&card());
    let culprit = rig.file.context();
    let (seq, out) = rig.send_signalling(rig.endless(culprit, Ip::Compute)).unwrap();
    let by_number = rig.job(Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1)).with(Chunk::after(culprit, Ip::Compute, 0, seq));
    // Should the first have been given up by now, its entity answers nothing.
    let by_number = by_number.send(&rig.file).or_else(|errno| {
        assert_eq!(errno, Errno::ECANCELED);
        rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1))
    });
    let by_syncobj = rig.job(Ip::Gfx, 0, &rig.store(Ip::Gfx, 8, 1)).with(Chunk::wait(out)).send(&rig.file);
    for seq in [by_number, by_syncobj] {
        rig.finish(Ip::Gfx, 0, seq.unwrap()).unwrap();
    }
    assert_eq!((rig.load(4), rig.load(8)), (1, 1));
    assert_eq!(rig.outcome(culprit, Ip::Compute, seq), LOST);
}

// Checks R128.
#[test]
fn the_culprit_is_cut_off_and_told_so() {
    let rig = Rig::new(&card());
    let culprit = rig.hang();
    for ip in IPS {
        let refused = rig.job_of(culprit, ip, 0, &[]).send(&rig.file);
        assert_eq!(refused, Err(Errno::ECANCELED), "{ip}: at once, on every entity of it");
    }
    let nonsense = Cs { ctx_id: culprit, num_chunks: 1, chunks: 0, ..Cs::ZEROED };
    assert_eq!(rig.file.send(&mut { nonsense }), Err(Errno::ECANCELED), "before anything else is read");
    assert_eq!(rig.state(culprit), CtxStateFlags::RESET | CtxStateFlags::GUILTY);
    assert_eq!((rig.reset_status(culprit), rig.reset_status(culprit)), (CTX_UNKNOWN_RESET, CTX_NO_RESET));
    let fresh = rig.file.context();
    for ip in IPS {
        rig.try_run(fresh, ip).unwrap();
    }
    assert_eq!((rig.state(fresh), rig.reset_status(fresh)), (CtxStateFlags::empty(), CTX_NO_RESET));
}

// Checks R129.
#[test]
fn the_idle_and_innocent_only_hear_of_it() {
    let device = card();
    let (rig, other) = (Rig::new(&device), Rig::new(&device));
    // It has run something, and is done with it.
    rig.try_run(rig.context, Ip::Gfx).unwrap();
    rig.hang();
    for rig in [rig, other] {
        assert_eq!(rig.state(rig.context), CtxStateFlags::RESET);
        assert_eq!((rig.reset_status(rig.context), rig.reset_status(rig.context)), (CTX_UNKNOWN_RESET, CTX_NO_RESET));
        assert_eq!(rig.state(rig.context), CtxStateFlags::RESET, "this one is not forgotten");
        rig.try_run(rig.context, Ip::Gfx).unwrap();
    }
}

/// Two jobs run side by side until the first is given up. `None` when the second was still to start then, or was given up
/// by itself.
fn loses_a_started_job(device: &SimDevice) -> Option<Rig> {
    let (guilty, innocent) = (Rig::new(device), Rig::new(device));
    let hung = guilty.endless(guilty.context, Ip::Compute).send(&guilty.file).unwrap();
    let lost = innocent.endless(innocent.context, Ip::Gfx).send(&innocent.file).unwrap();
    assert_eq!(innocent.outcome(innocent.context, Ip::Gfx, lost), LOST);
    assert_eq!(guilty.outcome(guilty.context, Ip::Compute, hung), LOST);
    (!innocent.state(innocent.context).contains(CtxStateFlags::GUILTY)).then_some(innocent)
}

// Checks R131.
#[test]
fn the_innocent_lose_what_had_started_and_its_entity() {
    // Which of the two is given up first depends on the machine.
    let device = card();
    let innocent = sometime(|| loses_a_started_job(&device));
    assert_eq!(innocent.state(innocent.context), CtxStateFlags::RESET);
    assert_eq!(innocent.try_run(innocent.context, Ip::Gfx), LOST, "the entity is broken");
    innocent.try_run(innocent.context, Ip::Compute).unwrap();
    innocent.try_run(innocent.file.context(), Ip::Gfx).unwrap();
}

// Checks R132.
#[test]
fn submitting_behind_a_job_that_never_ends_is_never_stuck() {
    let rig = Rig::new(&card());
    let mut results = vec![rig.endless(rig.context, Ip::Gfx).send(&rig.file)];
    results.extend((1..200).map(|_| rig.run(Ip::Gfx, 0, &[])));
    let taken = results.iter().take_while(|result| result.is_ok()).count();
    assert!((1..=33).contains(&taken), "{taken}: the 33rd waits, and those behind it find the context guilty");
    assert!(results[taken..].iter().all(|result| *result == Err(Errno::ECANCELED)), "{results:?}");
}

#[test]
fn closing_a_file_lets_its_jobs_finish_and_disturbs_nobody() {
    const SHARED: u64 = 0x10_0000;
    let device = patient_card();
    let (one, two) = (Rig::new(&device), Rig::new(&device));
    let mine = one.file.try_create(PAGE, 0, GemDomain::GTT, GemCreateFlags::empty()).unwrap();
    one.file.bind(mine, DATA + SHARED, PAGE).unwrap();
    let yours = two.file.import(&one.file.export(mine, PRIME_CLOEXEC).unwrap()).unwrap();
    one.run(Ip::Gfx, 0, &one.wait_value(Ip::Gfx, SHARED, 1)).unwrap();
    one.run(Ip::Gfx, 0, &one.store(Ip::Gfx, SHARED + 4, 7)).unwrap();
    drop(one);
    let view = two.file.view(yours, PAGE);
    two.try_run(two.context, Ip::Compute).unwrap();
    assert_eq!(view.load(4), 0);
    view.store(0, 1);
    view.await_value(4, 7);
    assert_eq!(two.state(two.context), CtxStateFlags::empty());
    assert_eq!(two.file.complaints(), "");
}
