//! R125, R126 and R128: what the kernel tries before it resets the whole GPU, and what is left of an entity then.

use std::time::Duration;

use amdgpu_sim::{KernelRelease, LockupTimeout, SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{CTX_NO_RESET, CTX_UNKNOWN_RESET, CtxStateFlags},
    winsys::Ip,
};

use crate::support::{Chunk, DATA, HANG, Job, Rig, card, long, reference};

const STOPPED: Result<(), Errno> = Err(Errno::ENODATA);
const LOST: Result<(), Errno> = Err(Errno::ECANCELED);

fn card_with(options: SimOptions) -> SimDevice {
    SimDevice::new(
        profile("navi21").unwrap(),
        SimOptions { lockup_timeout: LockupTimeout::all(HANG), strict: false, ..options },
    )
}

/// WAIT_CS to the end, in the rig's own context.
fn outcome(rig: &Rig, ip: Ip, seq: u64) -> Result<(), Errno> {
    rig.wait_until(rig.context, ip, 0, seq, long()).map(|done| assert!(done, "a job takes too long"))
}

// Checks R125.
#[test]
fn killing_the_waves_of_a_job_ends_it_alone_and_what_is_behind_it_runs() {
    for ip in [Ip::Gfx, Ip::Compute] {
        let device = card();
        let rig = Rig::new(&device);
        let held = device.hold_ring(ip, 0);
        device.hang_next_job_in_a_shader(ip, 0);
        let [hung, behind, last] = [4, 8, 12].map(|at| rig.run(ip, 0, &rig.store(ip, at, 1)).unwrap());
        drop(held);
        assert_eq!([last, behind].map(|seq| outcome(&rig, ip, seq)), [Ok(()); 2], "{ip}");
        assert_eq!(outcome(&rig, ip, hung), STOPPED, "{ip}: it is remembered how it ended");
        assert_eq!([4, 8, 12].map(|at| rig.load(at)), [1; 3], "{ip}");
        let next = rig.run(ip, 0, &rig.store(ip, 16, 1)).unwrap();
        assert_eq!(outcome(&rig, ip, next), Ok(()), "{ip}: the entity is well");
        assert_eq!(rig.state(rig.context), CtxStateFlags::RESET, "{ip}: the counter has moved and nobody is guilty");
        assert_eq!([(); 2].map(|()| rig.reset_status(rig.context)), [CTX_UNKNOWN_RESET, CTX_NO_RESET]);
    }
}

// Checks R125.
/// Source: Linux 6.12 `amdgpu_device.c`, `amdgpu_device_get_job_timeout_settings`.
#[test]
fn each_kind_of_ring_has_its_own_timeout() {
    let lockup_timeout = LockupTimeout { gfx: HANG, ..LockupTimeout::all(Duration::MAX) };
    let options = SimOptions { lockup_timeout, strict: false, ..reference() };
    let device = SimDevice::new(profile("navi21").unwrap(), options);
    let rig = Rig::new(&device);
    let run = |ip| {
        device.hang_next_job_in_a_shader(ip, 0);
        rig.run(ip, 0, &[]).unwrap()
    };
    let patient = run(Ip::Compute);
    assert_eq!(outcome(&rig, Ip::Gfx, run(Ip::Gfx)), STOPPED);
    assert!(!rig.is_done(Ip::Compute, 0, patient), "its ring waits for ever");
    device.reset();
    assert_eq!(outcome(&rig, Ip::Compute, patient), LOST);
}

// Checks R126.
#[test]
fn an_entity_whose_last_job_was_stopped_takes_no_more() {
    let device = card();
    let rig = Rig::new(&device);
    device.hang_next_job_in_a_shader(Ip::Compute, 0);
    let hung = rig.run(Ip::Compute, 0, &[]).unwrap();
    assert_eq!(outcome(&rig, Ip::Compute, hung), STOPPED);
    assert_eq!(outcome(&rig, Ip::Compute, 0), STOPPED, "nothing can be asked of it");
    assert_eq!(rig.run(Ip::Compute, 0, &[]), Err(Errno::ENODATA));
    for (ip, ring) in [(Ip::Compute, 1), (Ip::Gfx, 0)] {
        let seq = rig.run(ip, ring, &[]).unwrap();
        rig.finish(ip, ring, seq).unwrap();
    }
    assert_eq!(rig.state(rig.context), CtxStateFlags::RESET);
}

// Checks R125.
#[test]
fn jobs_of_other_contexts_behind_a_stopped_one_run() {
    let device = card();
    let rig = Rig::new(&device);
    let other = rig.file.context();
    let held = device.hold_ring(Ip::Gfx, 0);
    device.hang_next_job_in_a_shader(Ip::Gfx, 0);
    let hung = rig.run(Ip::Gfx, 0, &[]).unwrap();
    let behind = rig.job_of(other, Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1)).send(&rig.file).unwrap();
    let own = rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 8, 1)).unwrap();
    drop(held);
    assert_eq!(rig.wait_until(other, Ip::Gfx, 0, behind, long()), Ok(true));
    // Another context's job was on the hardware ring, so this entity's last job there was the one that was stopped.
    assert_eq!([hung, own].map(|seq| outcome(&rig, Ip::Gfx, seq)), [STOPPED; 2]);
    assert_eq!([4, 8].map(|at| rig.load(at)), [1, 0]);
}

// Checks R128.
#[test]
fn a_stuck_front_end_or_a_copy_engine_is_beyond_soft_recovery() {
    for ip in [Ip::Gfx, Ip::Sdma] {
        let device = card();
        let rig = Rig::new(&device);
        if ip == Ip::Sdma {
            device.hang_next_job_in_a_shader(ip, 0);
        } else {
            device.hang_next_job(ip, 0);
        }
        let hung = rig.run(ip, 0, &[]).unwrap();
        assert_eq!(outcome(&rig, ip, hung), LOST, "{ip}");
        assert_eq!(rig.state(rig.context), CtxStateFlags::RESET | CtxStateFlags::GUILTY, "{ip}");
    }
}

// Checks R125.
#[test]
fn a_ring_that_is_reset_alone_takes_its_job_and_no_others() {
    let device = card_with(SimOptions { ring_reset: true, ..reference() });
    let (rig, other) = (Rig::new(&device), Rig::new(&device));
    let held = device.hold_ring(Ip::Gfx, 0);
    // Soft recovery comes first; where it helps there is no reset.
    device.hang_next_job_in_a_shader(Ip::Gfx, 0);
    device.hang_next_job(Ip::Gfx, 0);
    let [stopped, lost] = [(); 2].map(|()| rig.run(Ip::Gfx, 0, &[]).unwrap());
    drop(held);
    let seq = other.run(Ip::Compute, 0, &other.store(Ip::Compute, 4, 1)).unwrap();
    assert_eq!(outcome(&rig, Ip::Gfx, lost), LOST);
    assert_eq!(outcome(&rig, Ip::Gfx, stopped), LOST, "the entity's error hides how earlier jobs ended");
    assert_eq!(other.finish(Ip::Compute, 0, seq), Ok(()));
    for rig in [&rig, &other] {
        assert_eq!(rig.state(rig.context), CtxStateFlags::RESET, "nobody is guilty");
    }
    // A copy engine takes the whole GPU along.
    device.hang_next_job(Ip::Sdma, 0);
    let hung = rig.run(Ip::Sdma, 0, &[]).unwrap();
    assert_eq!(outcome(&rig, Ip::Sdma, hung), LOST);
    assert!(rig.state(rig.context).contains(CtxStateFlags::GUILTY));
}

#[test]
fn what_a_submission_does_not_list_faults_on_a_strict_device_only() {
    for (strict, expected) in [(true, 0), (false, 7)] {
        let rig = Rig::new(&SimDevice::new(profile("navi21").unwrap(), SimOptions { strict, ..reference() }));
        let program = rig.store(Ip::Compute, 4, 7);
        let job = Job::new(rig.context).with(Chunk::ib(Ip::Compute, 0, rig.ib(&program)));
        let seq = job.with(Chunk::bos(&[rig.ibs])).send(&rig.file).unwrap();
        rig.finish(Ip::Compute, 0, seq).unwrap();
        assert_eq!(rig.load(4), expected);
        let complaint = format!("a job touches {:#x}", DATA + 4);
        assert_eq!(rig.file.complaints().contains("does not list"), strict, "{complaint}");
    }
}

/// Source: Linux 6.17 `amdgpu_ring.c`, `amdgpu_ring_reset_helper_end`; `amdgpu_fence.c`,
/// `amdgpu_fence_driver_guilty_force_completion`.
#[test]
fn linux_6_17_resets_a_ring_alone_and_runs_the_jobs_of_others_behind_the_one_that_hangs() {
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        let device = card_with(SimOptions::of_kernel(KernelRelease::V6_17));
        let (rig, other) = (Rig::new(&device), Rig::new(&device));
        let held = device.hold_ring(ip, 0);
        device.hang_next_job(ip, 0);
        let [hung, own] = [4, 8].map(|at| rig.run(ip, 0, &rig.store(ip, at, 1)).unwrap());
        let behind = other.run(ip, 0, &other.store(ip, 4, 1)).unwrap();
        drop(held);
        assert_eq!(other.finish(ip, 0, behind), Ok(()), "{ip}");
        assert_eq!(other.load(4), 1, "{ip}");
        assert_eq!([hung, own].map(|seq| outcome(&rig, ip, seq)), [Err(Errno::ETIME); 2], "{ip}");
        assert_eq!(rig.load(8), 0, "{ip}: what is behind it in its own entity does not run");
        assert_eq!(rig.run(ip, 0, &[]), Err(Errno::ETIME), "{ip}");
        for rig in [&rig, &other] {
            assert_eq!(rig.state(rig.context), CtxStateFlags::RESET, "{ip}: nobody is guilty");
        }
    }
}

#[test]
fn linux_6_17_resets_the_gpu_where_it_has_no_reset_of_the_ring() {
    // Its capture has microcode that cannot.
    let options = SimOptions { strict: false, ring_reset: true, ..SimOptions::of_kernel(KernelRelease::V6_17) };
    let options = SimOptions { lockup_timeout: LockupTimeout::all(HANG), ..options };
    let device = SimDevice::new(profile("navi31").unwrap(), options);
    let rig = Rig::new(&device);
    device.hang_next_job(Ip::Gfx, 0);
    let hung = rig.run(Ip::Gfx, 0, &[]).unwrap();
    assert_eq!(outcome(&rig, Ip::Gfx, hung), LOST);
    assert!(rig.state(rig.context).contains(CtxStateFlags::GUILTY));
}
