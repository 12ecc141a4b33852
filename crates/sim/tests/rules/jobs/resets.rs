//! R10, R130, R131 and R133: resets that no job caused, lost VRAM, and a GPU that is pulled out.

use std::{
    fs,
    os::unix::fs::FileExt,
    thread,
    time::{Duration, Instant},
};

use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        Argument, CTX_NO_RESET, CTX_UNKNOWN_RESET, CtxStateFlags, GemClose, GemCreateFlags, GemDomain, PRIME_CLOEXEC,
        Request, Version, query,
    },
    winsys::Ip,
};
use nix::unistd::{Whence, lseek};

use crate::support::{Chunk, DATA, PAGE, Rig, long, open, patient_card};

/// Address of a test's own BO.
const VA: u64 = 0x100_0000;

// Checks R131.
#[test]
fn a_reset_takes_what_has_started_and_nothing_else() {
    let device = patient_card();
    let (rig, idle) = (Rig::new(&device), Rig::new(&device));
    let started = rig.running(Ip::Gfx, 0);
    // Two that only wait: one behind the lost job in its entity, one in another context.
    let behind = rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1)).unwrap();
    let other = rig.file.context();
    let elsewhere = rig.job_of(other, Ip::Gfx, 0, &rig.store(Ip::Gfx, 8, 1));
    let elsewhere = elsewhere.with(Chunk::after(rig.context, Ip::Gfx, 0, started)).send(&rig.file).unwrap();
    device.reset();
    assert_eq!(rig.wait_until(other, Ip::Gfx, 0, elsewhere, long()), Ok(true));
    for seq in [started, behind] {
        assert_eq!(rig.finish(Ip::Gfx, 0, seq), Err(Errno::ECANCELED));
    }
    assert_eq!((rig.load(4), rig.load(8)), (0, 1));
    assert_eq!(rig.run(Ip::Gfx, 0, &[]), Err(Errno::ECANCELED), "the entity is broken");
    let seq = rig.run(Ip::Compute, 0, &[]).unwrap();
    rig.finish(Ip::Compute, 0, seq).unwrap();
    for (rig, context) in [(&rig, rig.context), (&rig, other), (&idle, idle.context)] {
        assert_eq!(rig.state(context), CtxStateFlags::RESET, "nobody is guilty");
        assert_eq!((rig.reset_status(context), rig.reset_status(context)), (CTX_UNKNOWN_RESET, CTX_NO_RESET));
    }
}

// Checks R130.
#[test]
fn lost_vram_ends_old_contexts_and_nothing_else() {
    let device = patient_card();
    let rig = Rig::new(&device);
    let losses = || rig.file.info::<u32>(query::VRAM_LOST_COUNTER, [0; 4]).unwrap();
    let in_vram = rig.file.try_create(PAGE, 0, GemDomain::VRAM, GemCreateFlags::empty()).unwrap();
    rig.file.bind(in_vram, VA, PAGE).unwrap();
    rig.poke(4, 7);
    let idle = rig.file.context();
    let started = rig.running(Ip::Gfx, 0);
    let waiting = rig.job_of(idle, Ip::Gfx, 0, &rig.store(Ip::Gfx, 8, 1));
    let waiting = waiting.with(Chunk::after(rig.context, Ip::Gfx, 0, started)).send(&rig.file).unwrap();
    assert_eq!(losses(), 0);
    device.reset_and_lose_vram();
    assert_eq!(losses(), 1);
    for (context, seq) in [(rig.context, started), (idle, waiting)] {
        assert_eq!(rig.wait_until(context, Ip::Gfx, 0, seq, long()), Err(Errno::ECANCELED));
        assert_eq!(rig.job_of(context, Ip::Compute, 0, &[]).send(&rig.file), Err(Errno::ECANCELED));
        assert_eq!(rig.state(context), CtxStateFlags::RESET | CtxStateFlags::VRAMLOST);
    }
    assert_eq!((rig.load(4), rig.load(8)), (7, 0), "GTT is kept, and what waited never ran");
    let fresh = rig.file.context();
    let program = [rig.copy(DATA + 4, VA), rig.copy(VA, DATA + 12)].concat();
    let seq = rig.job_of(fresh, Ip::Gfx, 0, &program).send(&rig.file).unwrap();
    assert_eq!(rig.wait_until(fresh, Ip::Gfx, 0, seq, long()), Ok(true));
    assert_eq!(rig.load(12), 7, "handles and bindings stay");
    assert_eq!(rig.state(fresh), CtxStateFlags::empty());
    assert_eq!(rig.file.complaints(), "");
}

// Checks R10.
#[test]
fn after_an_unplug_everything_is_enodev() {
    let device = patient_card();
    let file = open(&device);
    let bo = file.create(PAGE);
    let offset = file.offset(bo).unwrap();
    device.unplug();
    for kind in [b'd', b'f'] {
        for number in 0..=u8::MAX {
            assert_eq!(file.null(Request::bare(kind, number)), Err(Errno::ENODEV), "{kind} {number:#x}");
        }
    }
    assert_eq!(file.send(&mut { Version::ZEROED }), Err(Errno::ENODEV));
    assert_eq!(file.close(bo), Err(Errno::ENODEV));
    assert_eq!(file.map_at_offset(offset, PAGE).map(drop), Err(Errno::ENODEV));
    assert_eq!(open(&device).null(GemClose::REQUEST), Err(Errno::ENODEV));
}

// Checks R133.
#[test]
fn what_was_queued_before_an_unplug_never_runs() {
    let device = patient_card();
    let rig = Rig::new(&device);
    let memory = rig.file.export(rig.data, PRIME_CLOEXEC).unwrap();
    let started = rig.running(Ip::Compute, 0);
    let queued = rig.job_of(rig.file.context(), Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1));
    queued.with(Chunk::after(rig.context, Ip::Compute, 0, started)).send(&rig.file).unwrap();
    device.unplug();
    drop(rig);
    // Jobs keep BOs alive, so with none but the exported one all jobs are over.
    let begun = Instant::now();
    while device.census().bos > 1 {
        assert!(begun.elapsed() < Duration::from_secs(20), "a job does not end");
        thread::yield_now();
    }
    let mut stored = [9; 4];
    fs::File::from(memory).read_exact_at(&mut stored, 4).unwrap();
    assert_eq!(stored, [0; 4]);
}

// Checks R133.
#[test]
fn an_unplug_wakes_waiters_and_leaves_what_is_mapped() {
    let device = patient_card();
    let rig = Rig::new(&device);
    let view = rig.file.view(rig.data, PAGE);
    let dma_buf = rig.file.export(rig.data, PRIME_CLOEXEC).unwrap();
    let out = rig.file.syncobj(false);
    let first = rig.job(Ip::Gfx, 0, &rig.wait_value(Ip::Gfx, 0, 1)).with(Chunk::signal(out)).send(&rig.file).unwrap();
    (2..=32).for_each(|number| assert_eq!(rig.run(Ip::Gfx, 0, &[]), Ok(number)));
    let one_more = rig.job(Ip::Gfx, 0, &[]);
    thread::scope(|scope| {
        let rig = &rig;
        let by_number = scope.spawn(move || rig.wait_until(rig.context, Ip::Gfx, 0, first, u64::MAX));
        let by_syncobj = scope.spawn(move || rig.file.wait_syncobj(out, i64::MAX, 0));
        let submission = scope.spawn(move || one_more.send(&rig.file));
        device.unplug();
        // Those that come too late to wait are refused, a submission perhaps for what became of its entity.
        let late = Err(Errno::ENODEV);
        let by_number = by_number.join().unwrap();
        assert!(by_number == Err(Errno::ECANCELED) || by_number == late.map(|()| false), "{by_number:?}");
        let by_syncobj = by_syncobj.join().unwrap();
        assert!(by_syncobj == Ok(()) || by_syncobj == late, "{by_syncobj:?}");
        let submission = submission.join().unwrap();
        let broken = Err(Errno::ECANCELED);
        assert!([Ok(33), broken, late.map(|()| 0)].contains(&submission), "{submission:?}");
    });
    view.store(64, 7);
    assert_eq!(view.load(64), 7);
    assert!(lseek(&dma_buf, 0, Whence::SeekEnd).is_ok());
    drop(view);
    drop(rig);
    assert_eq!(device.census().files, 0);
}
