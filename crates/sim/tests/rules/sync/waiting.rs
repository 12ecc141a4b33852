//! R89, R92 to R94 and R107 to R109: numbers, and waiting for them.

use std::{sync::mpsc, thread, time::Duration};

use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{CsFence, Ctx, FenceToHandle, WaitFences, WaitFencesAnswer, ctx_op},
    winsys::Ip,
};
use zerocopy::{FromBytes, IntoBytes};

use super::sw_sync::Timeline;
use crate::support::{Chunk, HANG, Rig, address, after, card, long, patient_card};

const FOREVER: u64 = u64::MAX;
/// Value of first_signaled if nothing has signalled.
const NONE: u32 = u32::MAX;

/// The dwords that end a job when the byte at `at` of the data is 1.
fn until_poked(rig: &Rig, ip: Ip, at: u64) -> Vec<u32> {
    rig.wait_value(ip, at, 1)
}

fn number(context: u32, ip: Ip, ring: u32, seq_no: u64) -> CsFence {
    CsFence { ctx_id: context, ip_type: ip as u32, ip_instance: 0, ring, seq_no }
}

/// WAIT_FENCES: the outcome, and what the argument then holds, which is `None` when it is as it was.
fn wait_fences(
    rig: &Rig,
    fences: &[CsFence],
    wait_all: bool,
    timeout_ns: u64,
) -> (Result<(), Errno>, Option<(u32, u32)>) {
    let (fence_count, fences) = (fences.len() as u32, address(fences));
    let question = WaitFences { fences, fence_count, wait_all: wait_all.into(), timeout_ns };
    let mut request = question;
    let result = rig.file.send(&mut request);
    let WaitFencesAnswer { status, first_signaled } = FromBytes::read_from_prefix(request.as_bytes()).unwrap().0;
    (result, (request != question).then_some((status, first_signaled)))
}

// Checks R89.
#[test]
fn every_entity_counts_from_1() {
    let rig = Rig::new(&card());
    let other = rig.file.context();
    let entities = [(Ip::Gfx, 0), (Ip::Compute, 0), (Ip::Compute, 3), (Ip::Sdma, 0), (Ip::Sdma, 1)];
    for expected in 1..=3 {
        for (ip, ring) in entities {
            for context in [rig.context, other] {
                assert_eq!(rig.job_of(context, ip, ring, &[]).send(&rig.file), Ok(expected), "{ip} {ring}");
            }
        }
    }
    let (latest, next) = (rig.run(Ip::Gfx, 0, &[]), rig.job_of(other, Ip::Gfx, 0, &[]).send(&rig.file));
    assert_eq!((latest, next), (Ok(4), Ok(4)));
}

// Checks R92.
#[test]
fn waiting_tells_done_from_busy() {
    let rig = Rig::new(&patient_card());
    let wait = |number, timeout| rig.wait_until(rig.context, Ip::Gfx, 0, number, timeout);
    assert_eq!((wait(0, 0), wait(u64::MAX, 0)), (Ok(true), Ok(true)), "nothing was issued yet");
    assert_eq!(wait(1, 0), Err(Errno::EINVAL));
    let seq = rig.run(Ip::Gfx, 0, &until_poked(&rig, Ip::Gfx, 0)).unwrap();
    assert_eq!((wait(seq, 0), wait(u64::MAX, 0), wait(0, 0)), (Ok(false), Ok(false), Ok(true)));
    assert_eq!((wait(seq + 1, 0), wait(u64::MAX - 1, 0)), (Err(Errno::EINVAL), Err(Errno::EINVAL)));
    rig.poke(0, 1);
    assert_eq!(wait(u64::MAX, long()), Ok(true));
    assert_eq!(wait(seq, 0), Ok(true));
}

// Checks R92.
#[test]
fn numbers_long_past_are_done() {
    let rig = Rig::new(&card());
    let last = (0..40).map(|_| rig.run(Ip::Compute, 1, &[]).unwrap()).last().unwrap();
    assert_eq!(last, 40);
    assert!(rig.is_done(Ip::Compute, 1, 1));
    rig.finish(Ip::Compute, 1, last).unwrap();
    assert!((0..=last).all(|number| rig.is_done(Ip::Compute, 1, number)));
}

// Checks R92.
#[test]
fn an_entity_is_looked_up_before_its_numbers() {
    let rig = Rig::new(&card());
    let wait = |context, ip, ring| rig.wait_until(context, ip, ring, 0, 0);
    assert_eq!(wait(rig.context + 1, Ip::Gfx, 0), Err(Errno::EINVAL));
    assert_eq!(wait(rig.context, Ip::Gfx, 1), Err(Errno::EINVAL));
    assert_eq!(wait(rig.context, Ip::VcnDec, 0), Ok(true), "an entity without a ring never has anything to do");
    assert_eq!(rig.wait_until(rig.context, Ip::VcnDec, 0, 1, 0), Err(Errno::EINVAL));
}

// Checks R93.
#[test]
fn waiting_for_all_or_any() {
    let rig = Rig::new(&patient_card());
    let done = rig.run(Ip::Compute, 0, &[]).unwrap();
    rig.finish(Ip::Compute, 0, done).unwrap();
    let busy = rig.run(Ip::Gfx, 0, &until_poked(&rig, Ip::Gfx, 0)).unwrap();
    let [busy, done] = [number(rig.context, Ip::Gfx, 0, busy), number(rig.context, Ip::Compute, 0, done)];
    assert_eq!(wait_fences(&rig, &[busy, done], false, 0), (Ok(()), Some((1, 1))));
    assert_eq!(wait_fences(&rig, &[busy, busy], false, 0), (Ok(()), Some((0, NONE))));
    assert_eq!(wait_fences(&rig, &[busy, CsFence { seq_no: 0, ..busy }], false, 0), (Ok(()), Some((1, 1))));
    assert_eq!(wait_fences(&rig, &[done, busy], true, 0), (Ok(()), Some((0, 0))));
    assert_eq!(wait_fences(&rig, &[done, done], true, 0), (Ok(()), Some((1, 0))));
    assert_eq!(wait_fences(&rig, &[], true, 0), (Ok(()), Some((1, 0))));
    assert_eq!(wait_fences(&rig, &[], false, 0), (Err(Errno::EINVAL), None));
    rig.poke(0, 1);
    assert_eq!(wait_fences(&rig, &[busy, done], true, long()), (Ok(()), Some((1, 0))));
}

// Checks R93.
#[test]
fn numbers_are_looked_up_in_order() {
    let rig = Rig::new(&patient_card());
    let busy = rig.run(Ip::Gfx, 0, &until_poked(&rig, Ip::Gfx, 0)).unwrap();
    let busy = number(rig.context, Ip::Gfx, 0, busy);
    let [future, past] = [2, 0].map(|seq_no| CsFence { seq_no, ..busy });
    let wait = |fences: [CsFence; 2], all| wait_fences(&rig, &fences, all, 0);
    assert_eq!(wait([busy, future], false), (Err(Errno::EINVAL), None));
    assert_eq!(wait([past, future], false), (Ok(()), Some((1, 0))), "the first is done: nobody looks further");
    assert_eq!(wait([past, future], true), (Err(Errno::EINVAL), None));
    assert_eq!(wait([busy, future], true), (Ok(()), Some((0, 0))), "timed out before it was looked up");
    assert_eq!(wait([busy, CsFence { ctx_id: 9, ..past }], false), (Err(Errno::EINVAL), None));
    let request = WaitFences { fences: 0, fence_count: 1, ..WaitFences::ZEROED };
    assert_eq!(rig.file.send(&mut { request }), Err(Errno::EFAULT));
    rig.poke(0, 1);
}

// Checks R93.
#[test]
fn a_failure_while_waiting_for_any_is_told_with_its_index() {
    // Once a job has failed its entity is refused outright. To be told the index, the wait must have begun before.
    for _ in 0..100 {
        let device = card();
        let rig = Rig::new(&device);
        // A job that does not fail, for it does not start.
        let (timeline, never) = (Timeline::new(&device), rig.file.syncobj(false));
        rig.file.import_sync_file(never, &timeline.fence(1)).unwrap();
        let held = rig.job(Ip::Compute, 0, &[]).with(Chunk::wait(never)).send(&rig.file).unwrap();
        let held = number(rig.context, Ip::Compute, 0, held);
        let seq = rig.run(Ip::Gfx, 0, &until_poked(&rig, Ip::Gfx, 0)).unwrap();
        let failing = number(rig.context, Ip::Gfx, 0, seq);
        let (result, written) = wait_fences(&rig, &[held, failing, held], false, long());
        assert_eq!(result, Err(Errno::ECANCELED));
        if let Some(answer) = written {
            assert_eq!(answer, (1, 1));
            return;
        }
    }
    panic!("in no attempt the wait began before the job was given up");
}

// Checks R94.
#[test]
fn timeouts_are_moments_and_passing_them_is_no_failure() {
    let rig = Rig::new(&patient_card());
    let seq = rig.run(Ip::Gfx, 0, &until_poked(&rig, Ip::Gfx, 0)).unwrap();
    let fence = [number(rig.context, Ip::Gfx, 0, seq)];
    let past = after(Duration::ZERO) - 1;
    for timeout in [0, 1, past, after(HANG / 10)] {
        assert_eq!(rig.wait_until(rig.context, Ip::Gfx, 0, seq, timeout), Ok(false));
        assert_eq!(wait_fences(&rig, &fence, true, timeout), (Ok(()), Some((0, 0))));
        assert_eq!(wait_fences(&rig, &fence, false, timeout), (Ok(()), Some((0, NONE))));
        assert_eq!(rig.file.wait_idle(rig.data, timeout), Ok(false));
    }
    thread::scope(|scope| {
        let waits = [FOREVER, 1 << 63].map(|timeout| {
            let (rig, fence) = (&rig, &fence);
            scope.spawn(move || {
                assert_eq!(rig.wait_until(rig.context, Ip::Gfx, 0, seq, timeout), Ok(true));
                assert_eq!(wait_fences(rig, fence, false, timeout), (Ok(()), Some((1, 0))));
                assert_eq!(rig.file.wait_idle(rig.data, timeout), Ok(true));
            })
        });
        rig.poke(0, 1);
        for wait in waits {
            wait.join().unwrap();
        }
    });
}

// Checks R107.
#[test]
fn the_33rd_submission_waits_for_the_first() {
    let rig = Rig::new(&patient_card());
    let first = rig.run(Ip::Gfx, 0, &until_poked(&rig, Ip::Gfx, 0)).unwrap();
    (2..=32).for_each(|number| assert_eq!(rig.run(Ip::Gfx, 0, &[]), Ok(number)));
    assert!(!rig.is_done(Ip::Gfx, 0, first), "32 fit");
    let (about_to, when) = mpsc::channel();
    thread::scope(|scope| {
        let rig = &rig;
        scope.spawn(move || {
            when.recv().unwrap();
            // The longer this waits, the likelier a submission that does not wait is caught. One that does is not hurt.
            thread::sleep(HANG);
            rig.poke(0, 1);
        });
        about_to.send(()).unwrap();
        assert_eq!(rig.run(Ip::Gfx, 0, &[]), Ok(33));
        assert!(rig.is_done(Ip::Gfx, 0, first));
    });
    rig.finish(Ip::Gfx, 0, 33).unwrap();
}

// Checks R107.
#[test]
fn every_entity_has_room_of_its_own() {
    let rig = Rig::new(&patient_card());
    let other = rig.file.context();
    rig.run(Ip::Gfx, 0, &until_poked(&rig, Ip::Gfx, 0)).unwrap();
    (2..=32).for_each(|number| assert_eq!(rig.run(Ip::Gfx, 0, &[]), Ok(number)));
    assert_eq!(rig.run(Ip::Compute, 0, &[]), Ok(1));
    assert_eq!(rig.job_of(other, Ip::Gfx, 0, &[]).send(&rig.file), Ok(1));
    rig.poke(0, 1);
    rig.finish(Ip::Gfx, 0, 32).unwrap();
}

/// FENCE_TO_HANDLE as a sync object.
fn to_syncobj(rig: &Rig, fence: CsFence) -> Result<u32, Errno> {
    rig.file.ask(FenceToHandle { fence, what: 0, pad: 0 }).map(|answer| answer.handle)
}

// Checks R108.
#[test]
fn a_number_becomes_a_sync_object() {
    let rig = Rig::new(&patient_card());
    let seq = rig.run(Ip::Gfx, 0, &until_poked(&rig, Ip::Gfx, 0)).unwrap();
    let fence = number(rig.context, Ip::Gfx, 0, seq);
    let [busy, past] = [fence, CsFence { seq_no: 0, ..fence }].map(|fence| to_syncobj(&rig, fence).unwrap());
    assert_eq!(rig.file.wait_syncobj(busy, 0, 0), Err(Errno::ETIME));
    assert_eq!(rig.file.wait_syncobj(past, 0, 0), Ok(()));
    assert_eq!(to_syncobj(&rig, CsFence { seq_no: 2, ..fence }), Err(Errno::EINVAL));
    assert_eq!(to_syncobj(&rig, CsFence { ctx_id: 9, ..fence }), Err(Errno::EINVAL));
    for what in [3, u32::MAX] {
        assert_eq!(rig.file.send(&mut FenceToHandle { fence, what, pad: 0 }), Err(Errno::EINVAL));
    }
    rig.poke(0, 1);
    assert_eq!(rig.file.wait_syncobj(busy, long().cast_signed(), 0), Ok(()));
}

// Checks R109.
#[test]
fn what_was_submitted_survives_its_context() {
    let rig = Rig::new(&patient_card());
    let out = rig.file.syncobj(false);
    let program = [until_poked(&rig, Ip::Gfx, 0), rig.store(Ip::Gfx, 4, 7)].concat();
    rig.job(Ip::Gfx, 0, &until_poked(&rig, Ip::Gfx, 0)).send(&rig.file).unwrap();
    let queued = rig.job(Ip::Gfx, 0, &program).with(Chunk::signal(out)).send(&rig.file).unwrap();
    rig.file.send(&mut Ctx { op: ctx_op::FREE_CTX, ctx_id: rig.context, ..Ctx::ZEROED }).unwrap();
    assert_eq!(rig.wait_until(rig.context, Ip::Gfx, 0, queued, 0), Err(Errno::EINVAL));
    assert_eq!(rig.run(Ip::Gfx, 0, &[]), Err(Errno::EINVAL));
    assert_eq!(rig.file.wait_syncobj(out, 0, 0), Err(Errno::ETIME));
    rig.poke(0, 1);
    rig.file.wait_syncobj(out, long().cast_signed(), 0).unwrap();
    assert_eq!(rig.load(4), 7);
}
