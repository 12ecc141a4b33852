//! R241 to R248: errors of entities, and what the kernel tries before it resets the GPU.

use std::time::Duration;

use amdgpu_sim::{Features, KernelRelease, LockupTimeout, SimDevice, SimOptions, profile, sysfs::reset_files};
use amdgpu_uapi::{Errno, WedgedEvent};
use amdgpu_winsys::{uapi::CtxStateFlags, winsys::Ip};

use crate::support::{HANG, Rig, long, reference};

const GUILTY: CtxStateFlags = CtxStateFlags::GUILTY.union(CtxStateFlags::RESET);

/// A chip with Linux 7.2 that gives stuck rings up soon.
fn newer(chip: &str) -> SimDevice {
    newer_with(chip, LockupTimeout::all(HANG))
}

fn newer_with(chip: &str, lockup_timeout: LockupTimeout) -> SimDevice {
    let options = SimOptions { strict: false, ..SimOptions::of_kernel(KernelRelease::V7_2) };
    SimDevice::new(profile(chip).unwrap(), SimOptions { lockup_timeout, ..options })
}

fn outcome(rig: &Rig, ip: Ip, seq: u64) -> Result<(), Errno> {
    rig.wait_until(rig.context, ip, 0, seq, long()).map(|done| assert!(done, "a job takes too long"))
}

// Checks R241.
#[test]
fn a_ring_reset_ends_the_culprit_and_its_entity_and_runs_the_jobs_of_others() {
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        let device = newer("navi21");
        let (rig, other) = (Rig::new(&device), Rig::new(&device));
        let held = device.hold_ring(ip, 0);
        device.hang_next_job(ip, 0);
        let [hung, own, last] = [4, 8, 12].map(|at| rig.run(ip, 0, &rig.store(ip, at, 1)).unwrap());
        let behind = other.run(ip, 0, &other.store(ip, 4, 1)).unwrap();
        drop(held);
        assert_eq!(other.finish(ip, 0, behind), Ok(()), "{ip}");
        assert_eq!(other.load(4), 1, "{ip}");
        let lost = Err(Errno::ECANCELED);
        assert_eq!([last, own, hung].map(|seq| outcome(&rig, ip, seq)), [lost; 3], "{ip}: the entity's last error");
        assert_eq!([8, 12].map(|at| rig.load(at)), [0; 2], "{ip}");
        assert_eq!(rig.run(ip, 0, &[]).map(drop), lost, "{ip}");
        assert_eq!(rig.state(rig.context), CtxStateFlags::RESET, "{ip}: the last error is not that of the culprit");
        assert_eq!(other.state(other.context), CtxStateFlags::RESET, "{ip}");
    }
}

// Checks R242.
#[test]
fn a_full_reset_ends_the_culprit_with_etime_and_started_jobs_with_ecanceled() {
    // Its capture has microcode that cannot reset a ring.
    let lockup_timeout = LockupTimeout { gfx: HANG, ..LockupTimeout::all(Duration::from_mins(1)) };
    let device = newer_with("navi31", lockup_timeout);
    let (rig, other) = (Rig::new(&device), Rig::new(&device));
    let waits = other.run(Ip::Compute, 0, &other.wait_value(Ip::Compute, 0, 1)).unwrap();
    device.hang_next_job(Ip::Gfx, 0);
    let hung = rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1)).unwrap();
    assert_eq!(outcome(&rig, Ip::Gfx, hung), Err(Errno::ETIME));
    assert_eq!(outcome(&other, Ip::Compute, waits), Err(Errno::ECANCELED));
    assert_eq!(other.state(other.context), CtxStateFlags::RESET);
}

// Checks R243 and R244.
#[test]
fn an_error_belongs_to_its_entity_and_makes_the_context_guilty() {
    for chip in ["navi21", "navi31"] {
        let device = newer(chip);
        let (rig, other) = (Rig::new(&device), Rig::new(&device));
        device.hang_next_job(Ip::Gfx, 0);
        let hung = rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1)).unwrap();
        assert_eq!(outcome(&rig, Ip::Gfx, hung), Err(Errno::ETIME), "{chip}");
        assert_eq!(rig.run(Ip::Gfx, 0, &[]), Err(Errno::ETIME), "{chip}");
        assert_eq!(rig.state(rig.context), GUILTY, "{chip}");
        assert_eq!(other.state(other.context), CtxStateFlags::RESET, "{chip}");
        let next = rig.run(Ip::Compute, 0, &rig.store(Ip::Compute, 8, 1)).unwrap();
        assert_eq!(outcome(&rig, Ip::Compute, next), Ok(()), "{chip}: other entities work");
        assert_eq!(rig.load(8), 1, "{chip}");
        let fresh = rig.file.context();
        let again = rig.job_of(fresh, Ip::Gfx, 0, &rig.store(Ip::Gfx, 12, 1)).send(&rig.file).unwrap();
        assert_eq!(rig.wait_until(fresh, Ip::Gfx, 0, again, long()), Ok(true), "{chip}");
    }
}

// Checks R245.
#[test]
fn waves_are_killed_on_gfx7_and_gfx8_alone() {
    for (chip, expected) in [("polaris10", Errno::ENODATA), ("navi21", Errno::ETIME), ("vega10", Errno::ETIME)] {
        let device = newer(chip);
        let rig = Rig::new(&device);
        device.hang_next_job_in_a_shader(Ip::Gfx, 0);
        let hung = rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1)).unwrap();
        assert_eq!(outcome(&rig, Ip::Gfx, hung), Err(expected), "{chip}");
    }
}

/// The events of resets that a machine has sent.
fn wedged(device: &SimDevice) -> Vec<WedgedEvent> {
    let events = device.machine().uevents_after(0);
    assert!(events.iter().enumerate().all(|(index, event)| event.number == index as u64 + 1));
    events.iter().map(|event| WedgedEvent::parse(&event.message).unwrap()).collect()
}

// Checks R246.
#[test]
fn a_reset_sends_an_event_that_names_the_process_and_soft_recovery_sends_none() {
    use KernelRelease as K;
    let own = (std::process::id(), std::fs::read_to_string("/proc/self/comm").unwrap().trim_end().to_owned());
    // Of these chips the second one resets the whole GPU.
    for (kernel, chip, is_sent, is_named) in [
        (K::V6_13, "navi21", false, false),
        (K::V6_16, "navi31", true, false),
        (K::V6_17, "navi21", true, true),
        (K::V7_2, "navi21", true, true),
        (K::V7_2, "navi31", true, true),
    ] {
        let options =
            SimOptions { strict: false, lockup_timeout: LockupTimeout::all(HANG), ..SimOptions::of_kernel(kernel) };
        let device = SimDevice::new(profile(chip).unwrap(), options);
        let rig = Rig::new(&device);
        device.hang_next_job(Ip::Gfx, 0);
        let hung = rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1)).unwrap();
        outcome(&rig, Ip::Gfx, hung).unwrap_err();
        let events = wedged(&device);
        assert_eq!(events.len(), usize::from(is_sent), "{kernel} {chip}");
        for event in &events {
            assert_eq!((event.methods.as_str(), event.is_of("0000:03:00.0")), ("none", true), "{kernel}");
            assert_eq!(event.path, "/devices/pci0000:03/0000:03:00.0/drm/card0");
            assert_eq!(event.process, is_named.then(|| own.clone()), "{kernel} {chip}");
        }
        // A reset that no job caused names no process.
        device.reset();
        let last = wedged(&device).pop();
        assert_eq!(last.map(|event| event.process), is_sent.then_some(None), "{kernel} {chip}");
    }
    let device = newer("polaris10");
    let rig = Rig::new(&device);
    device.hang_next_job_in_a_shader(Ip::Gfx, 0);
    let hung = rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1)).unwrap();
    assert_eq!(outcome(&rig, Ip::Gfx, hung), Err(Errno::ENODATA));
    assert_eq!(wedged(&device), [], "soft recovery");
}

// Checks R248.
#[test]
fn the_block_of_old_chips_is_reset_before_the_gpu_and_the_oldest_job_of_each_of_its_rings_is_a_culprit() {
    for (kernel, expected) in [(KernelRelease::V7_2, Errno::ECANCELED), (KernelRelease::V7_3, Errno::ETIME)] {
        let lockup_timeout = LockupTimeout { gfx: HANG, ..LockupTimeout::all(Duration::from_mins(1)) };
        let options = SimOptions { strict: false, lockup_timeout, ..SimOptions::of_kernel(kernel) };
        let device = SimDevice::new(profile("polaris10").unwrap(), options);
        let (rig, other) = (Rig::new(&device), Rig::new(&device));
        let waits = |ip| {
            let at = 16 * ip as u64;
            let started = [other.store(ip, at, 1), other.wait_value(ip, at + 4, 1)].concat();
            let job = other.run(ip, 0, &started).unwrap();
            other.await_value(at, 1);
            job
        };
        let (compute, copies) = (waits(Ip::Compute), waits(Ip::Sdma));
        device.hang_next_job(Ip::Gfx, 0);
        let hung = rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 4, 1)).unwrap();
        assert_eq!(outcome(&rig, Ip::Gfx, hung), Err(Errno::ETIME), "{kernel}");
        assert_eq!(outcome(&other, Ip::Compute, compute), Err(expected), "{kernel}");
        let is_culprit = other.state(other.context).contains(CtxStateFlags::GUILTY);
        assert_eq!((is_culprit, wedged(&device).len()), (expected == Errno::ETIME, 1), "{kernel}");
        // The copy engine is another block.
        other.poke(16 * Ip::Sdma as u64 + 4, 1);
        let copied = outcome(&other, Ip::Sdma, copies);
        assert_eq!(copied.is_ok(), kernel == KernelRelease::V7_3, "{kernel}: {copied:?}");
    }
}

// Checks R247.
#[test]
fn files_of_resets_name_what_each_kernel_does() {
    let gfx = |chip, features| {
        let device = SimDevice::new(profile(chip).unwrap(), SimOptions { features, ..reference() });
        reset_files(&device).into_iter().find(|(name, _)| *name == "gfx_reset_mask").map(|(_, text)| text)
    };
    let of = |chip, release| gfx(chip, Features::of(release));
    assert_eq!(of("navi21", KernelRelease::V7_0).unwrap(), "soft queue full \n");
    assert_eq!(of("navi21", KernelRelease::V7_2).unwrap(), "queue full \n");
    assert_eq!(of("vega10", KernelRelease::V7_0).unwrap(), "soft full \n");
    assert_eq!(of("vega10", KernelRelease::V7_2).unwrap(), "queue full \n");
    let renamed = Features::of(KernelRelease::V7_0) | Features::SOFT_RECOVERY_WORD;
    assert_eq!(gfx("navi21", renamed).unwrap(), "soft_recovery queue full \n");
}
