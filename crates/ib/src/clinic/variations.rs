//! Incidents of the kinds that the kernel's messages tell of, in the forms of several kernels.

use std::time::Duration;

use super::{rules::Blame, *};

/// Writes a line of a log: its time since boot, and its text.
type Form = fn(Duration, &str) -> String;

/// The prefixes of lines: Linux up to 6.18, Linux 7, a journal in another language, and FreeBSD.
const FORMS: [(&str, Form); 4] = [
    ("6.x", |time, text| format!("[{:12.6}] amdgpu 0000:03:00.0: amdgpu: {text}\n", time.as_secs_f64())),
    ("7.x", |time, text| format!("[{:12.6}] amdgpu 0000:03:00.0: {text}\r\n", time.as_secs_f64())),
    ("journal", |time, text| {
        let seconds = time.as_secs();
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("nov. 29 {hours:02}:{minutes:02}:{seconds:02} machine kernel: amdgpu 0000:03:00.0: amdgpu: {text}\n")
    }),
    ("FreeBSD", |_, text| format!("drmn0: [drm ERROR :function] {text}\n")),
];

/// Writes lines of the form `SECONDS TEXT` as a kernel does.
fn log(lines: &str, form: Form) -> String {
    let line = |line: &str| {
        line.split_once(' ').map(|(time, text)| form(Duration::from_secs_f64(time.parse().unwrap()), text))
    };
    lines.lines().filter_map(line).collect()
}

fn incidents(text: &str) -> Vec<Incident> {
    let mut clinic = Clinic::default();
    clinic.read("log", text.as_bytes()).unwrap();
    clinic.finish().incidents
}

/// Asserts ring, process, class, verdict on the program and state in all forms. Without times, as on FreeBSD, distances are unknown.
fn assert_each(lines: &str, expected: (Option<&str>, Option<&str>, Class, Blame, &str)) {
    for (name, form) in FORMS {
        let found = incidents(&log(lines, form));
        assert_eq!(found.len(), 1, "{name}: {found:#?}");
        let incident = &found[0];
        let cause = cause(incident);
        let ring = incident.ring().map(|ring| ring.ring.as_str());
        let process = incident.process().map(|process| process.name.as_str());
        let is = (ring, process, cause.class, cause.blame.0, incident.state().name);
        assert_eq!(is, expected, "{name}: {}", cause.text);
    }
}

#[test]
fn faults_of_gfx6_to_gfx8_name_process_client_and_address_space() {
    let lines = "\
        812.1 GPU fault detected: 147 0x0a284802 for process Shadow of War pid 4411 thread Shadow:cs0 pid 4420\n\
        812.1   VM_CONTEXT1_PROTECTION_FAULT_ADDR   0x00102F3D\n\
        812.1   VM_CONTEXT1_PROTECTION_FAULT_STATUS 0x0A048002\n\
        812.1 VM fault (0x02, vmid 5, pasid 32777) at page 1060669, read from 'TC4' (0x54433400) (72)\n\
        813.9 ring gfx timeout, signaled seq=400123, emitted seq=400125\n\
        813.9 Process information: process Shadow of War pid 4411 thread Shadow:cs0 pid 4420\n\
        814.0 GPU reset begin!\n\
        814.1 BACO reset\n\
        814.2 GPU reset succeeded, trying to resume\n\
        814.3 VRAM is lost due to GPU reset!\n\
        814.9 GPU reset(2) succeeded!\n";
    assert_each(lines, (Some("gfx"), Some("Shadow of War"), Class::PageFault, Blame::Yes, "recovered-vram-lost"));
    let fault = incidents(&log(lines, FORMS[0].1)).remove(0).faults.remove(0);
    assert_eq!((fault.vmid, fault.pasid, fault.address), (Some(5), Some(32_777), Some(0x1_02f3_d000)));
    // The address is known where the last line is cut off.
    let cut: String = lines.split_inclusive('\n').take(2).collect();
    let fault = incidents(&log(&cut, FORMS[0].1)).remove(0).faults.remove(0);
    assert_eq!((fault.vmid, fault.address), (None, Some(0x1_02f3_d000)));
}

#[test]
fn a_fault_of_a_video_engine_is_no_shaders() {
    let lines = "\
        100.0 [mmhub] page fault (src_id:0 ring:8 vmid:6 pasid:32790)\n\
        100.0  Process mpv pid 3100 thread mpv:cs0 pid 3110\n\
        100.0   in page starting at address 0x0000000080400000 from client 18\n\
        100.0 MMVM_L2_PROTECTION_FAULT_STATUS:0x00604832\n\
        100.0 \t Faulty UTCL2 client ID: VCN0 (0x24)\n\
        101.9 ring vcn_dec_0 timeout, signaled seq=20, emitted seq=22\n\
        101.9  Process mpv pid 3100 thread mpv:cs0 pid 3110\n\
        101.9 GPU reset begin!. Source:  1\n\
        102.0 MODE1 reset\n\
        102.9 GPU reset(1) succeeded!\n";
    assert_each(lines, (Some("vcn_dec_0"), Some("mpv"), Class::PageFault, Blame::Unknown, "recovered-vram-lost"));
    let found = cause(&incidents(&log(lines, FORMS[0].1))[0]);
    assert!(found.text.starts_with("a video engine of mpv made a read"), "{}", found.text);
}

#[test]
fn the_status_of_an_earlier_fault_and_no_status_blame_nobody() {
    for status in ["0x00601031", "0x00000000"] {
        let lines = format!(
            "1822.3 [gfxhub] page fault (src_id:0 ring:24 vmid:4 pasid:10)\n\
             1822.3  Process game pid 1671 thread game:cs0 pid 1722\n\
             1822.3   in page starting at address 0x00000043800e8000 from client 10\n\
             1822.3 GCVM_L2_PROTECTION_FAULT_STATUS:{status}\n\
             1822.3 \t Faulty UTCL2 client ID: TCP (0x8)\n\
             1824.0 ring gfx_0.0.0 timeout, signaled seq=5000, emitted seq=5002\n\
             1824.0  Process game pid 1671 thread game:cs0 pid 1722\n"
        );
        assert_each(&lines, (Some("gfx_0.0.0"), Some("game"), Class::PageFault, Blame::Unknown, "unfinished"));
        let found = cause(&incidents(&log(&lines, FORMS[1].1))[0]);
        assert_eq!(found.confidence, rules::Confidence::Possible);
        assert!(found.text.starts_with("work of game made an access"), "{}", found.text);
    }
}

#[test]
fn a_refusal_of_the_security_processor_counts_before_the_time_out_alone() {
    let hang = "302.0 ring gfx_0.0.0 timeout, signaled seq=5000, emitted seq=5002\n\
                302.0  Process app pid 77 thread app:cs0 pid 78\n\
                302.1 GPU reset begin!. Source:  1\n\
                302.2 psp gfx command UNLOAD_TA(0x2) failed and response status is (0x117)\n\
                302.3 MODE2 reset\n\
                302.4 GPU reset(1) succeeded!\n";
    assert_each(hang, (Some("gfx_0.0.0"), Some("app"), Class::StuckJob, Blame::Unknown, "recovered-full"));
    let refused = "300.0 psp gfx command LOAD_IP_FW(0x6) failed and response status is (0xFFFF000D)\n";
    let lines = format!("{refused}{hang}");
    assert_each(&lines, (Some("gfx_0.0.0"), Some("app"), Class::SecurityProcessor, Blame::No, "recovered-full"));
    // Alone, and long before, it is no incident. Copy protection is refused on many machines.
    assert!(incidents(&log(refused, FORMS[0].1)).is_empty());
    for harmless in [refused.replace("300.0", "12.0"), refused.replace("LOAD_IP_FW(0x6)", "LOAD_TA(0x1)")] {
        let found = incidents(&log(&format!("{harmless}{hang}"), FORMS[0].1));
        assert_eq!((found.len(), cause(&found[0]).class), (1, Class::StuckJob), "{harmless}");
    }
}

#[test]
fn missing_firmware_is_no_trouble_where_the_driver_starts() {
    let missing =
        "[    4.1] amdgpu 0000:03:00.0: Direct firmware load for amdgpu/navi10_mes.bin failed with error -2\n";
    for started in [
        "[    6.0] [drm] Initialized amdgpu 3.57.0 for 0000:03:00.0 on minor 0\n",
        "[    6.0] amdgpu 0000:03:00.0: [drm] Initialized amdgpu 3.64.0 for 0000:03:00.0 on minor 1\n",
    ] {
        assert!(incidents(&format!("{missing}{started}")).is_empty());
        // Another GPU started.
        assert_eq!(incidents(&format!("{missing}{}", started.replace(":03:", ":0b:"))).len(), 1);
    }
    let alone = incidents(missing).remove(0);
    assert_eq!((cause(&alone).class, cause(&alone).confidence), (Class::FirmwareMissing, rules::Confidence::Possible));
}

#[test]
fn a_gpu_that_does_not_start_or_resume_is_no_hang_of_a_program() {
    let smu = "4.1 SMU: I'm not done with your previous command: SMN_C2PMSG_66:0x00000006 SMN_C2PMSG_82:0x00000000\n\
               4.2 hw_init of IP block <smu> failed -62\n\
               4.3 Fatal error during GPU init\n";
    assert_each(smu, (None, None, Class::NotStarted, Blame::No, "not-started"));
    let resume = "7206.0 resume of IP block <gfx_v10_0> failed -110\n7206.1 amdgpu_device_ip_resume failed (-110).\n";
    assert_each(resume, (None, None, Class::NotStarted, Blame::No, "failed"));
    let test = "6.0 IB test failed on gfx_0.0.0 (-110).\n6.1 ib ring test failed (-110).\n";
    assert_each(test, (None, None, Class::NotStarted, Blame::No, "failed"));
    assert_each("6.0 ring kiq_0.2.1.0 test failed (-110)\n", (None, None, Class::NotStarted, Blame::No, "failed"));
}

#[test]
fn each_reset_has_its_source() {
    for (source, class, blame) in [
        (2, Class::HardwareError, Blame::Unknown),
        (3, Class::SchedulerFirmware, Blame::Unknown),
        (4, Class::ComputeQueue, Blame::Unknown),
        (5, Class::Requested, Blame::No),
        (6, Class::StuckJob, Blame::Unknown),
    ] {
        let lines =
            format!("90.0 GPU reset begin!. Source:  {source}\n90.5 MODE1 reset\n91.0 GPU reset(1) succeeded!\n");
        assert_each(&lines, (None, None, class, blame, "recovered-vram-lost"));
    }
}

#[test]
fn rings_of_all_engines_are_told_apart() {
    for (ring, class) in [
        ("gfx", Class::StuckJob),
        ("gfx_low", Class::StuckJob),
        ("comp_0.1.2.0", Class::StuckJob),
        ("page0", Class::StuckJob),
        ("sdma0.0", Class::StuckJob),
        ("uvd_enc_0.0", Class::VideoEngine),
        ("vce2", Class::VideoEngine),
        ("vcn_unified_1", Class::VideoEngine),
        ("jpeg_dec_3", Class::VideoEngine),
        ("vpe", Class::VideoEngine),
        ("kiq_0.2.1.0", Class::StuckJob),
        ("mes_3.1.0", Class::StuckJob),
        ("umsch_mm_0", Class::StuckJob),
    ] {
        let lines = format!(
            "302.0 ring {ring} timeout, signaled seq=5000, emitted seq=5002\n\
             302.0  Process my app pid 77 thread my app:cs0 pid 78\n\
             302.2 GPU reset begin!. Source:  1\n302.3 MODE2 reset\n302.5 GPU reset(1) succeeded!\n"
        );
        assert_each(&lines, (Some(ring), Some("my app"), class, Blame::Unknown, "recovered-full"));
    }
}

#[test]
fn a_job_without_a_process_is_the_kernels_where_all_others_have_one() {
    let lines = "8120.0 ring gfx_0.0.0 timeout, signaled seq=121570, emitted seq=121572\n\
                 8120.1 Starting gfx_0.0.0 ring reset\n8120.2 Ring gfx_0.0.0 reset succeeded\n";
    let found = |form: usize, lines: &str| cause(&incidents(&log(lines, FORMS[form].1))[0]);
    assert_eq!((found(1, lines).class, found(1, lines).blame.0), (Class::KernelJob, Blame::No));
    // Up to Linux 6.14 every time-out has the line: it was left out by whoever quoted the log.
    assert_eq!(found(0, lines).class, Class::StuckJob);
    // Where the log ends after the first line, the next one may be cut off.
    assert_eq!(found(1, lines.lines().next().unwrap()).class, Class::LongWork);
}

#[test]
fn wrapped_compositors_only_show_what_programs_give_them() {
    for name in [".kwin_wayland-w", ".sway-wrapped", ".gnome-shell-wr", "kwin_x11"] {
        let lines = format!(
            "1822.3 [gfxhub] page fault (src_id:0 ring:24 vmid:4 pasid:10)\n\
             1822.3  Process {name} pid 1671 thread {name} pid 1722\n\
             1822.3   in page starting at address 0x00000043800e8000 from client 10\n\
             1822.3 GCVM_L2_PROTECTION_FAULT_STATUS:0x00401031\n"
        );
        assert_each(&lines, (None, Some(name), Class::PageFault, Blame::Unknown, "continues"));
    }
}

#[test]
fn an_innocent_context_of_radv_is_not_to_blame() {
    let found =
        incidents("radv/amdgpu: The CS has been cancelled because the context is lost. This context is innocent.\n");
    assert_eq!((found.len(), cause(&found[0]).blame.0), (1, Blame::No));
}

#[test]
fn a_fault_before_the_schedulers_firmware_is_stuck_is_the_cause_and_not_the_firmware() {
    let lines = "\
        864.1 [gfxhub] page fault (src_id:0 ring:88 vmid:8 pasid:32787)\n\
        864.1  Process darktable pid 70131 thread worker 0 pid 70175\n\
        864.1   in page starting at address 0x0000000000000000 from client 10\n\
        864.1 GCVM_L2_PROTECTION_FAULT_STATUS:0x008012B0\n\
        864.1 \t Faulty UTCL2 client ID: SQC (inst) (0x9)\n\
        866.8 MES failed to respond to msg=REMOVE_QUEUE\n\
        866.8 MES might be in unrecoverable state, issue a GPU reset\n\
        866.8 GPU reset begin!\n\
        867.8 MODE1 reset\n\
        868.8 GPU reset(3) succeeded!\n";
    assert_each(lines, (None, Some("darktable"), Class::PageFault, Blame::Yes, "recovered-vram-lost"));
    let found = cause(&incidents(&log(lines, FORMS[0].1))[0]);
    assert!(found.text.contains("null pointer") && found.text.contains("take the queue away"), "{}", found.text);
    // The address space is ROCm's, for which RADV has no advice.
    assert!(found.next[0].contains("AMD_SERIALIZE_KERNEL") && !found.next[0].contains("RADV"), "{:?}", found.next);
    // Without the fault the firmware is all that is known.
    let later: String = lines.split_inclusive('\n').skip(5).collect();
    assert_eq!(cause(&incidents(&log(&later, FORMS[0].1))[0]).class, Class::SchedulerFirmware);
}

#[test]
fn a_firmware_without_an_answer_and_without_a_hang_is_no_likely_cause_of_one() {
    let lines = "732.1 MES failed to respond to msg=MISC (WAIT_REG_MEM)\n732.2 failed to reg_write_reg_wait\n";
    assert_each(lines, (None, None, Class::SchedulerFirmware, Blame::No, "unknown"));
    let found = cause(&incidents(&log(lines, FORMS[0].1))[0]);
    assert_eq!(found.confidence, rules::Confidence::Possible);
    assert!(found.text.contains("no reset follows"), "{}", found.text);
}

#[test]
fn a_part_that_does_not_come_back_after_suspend_is_no_unfinished_reset() {
    let lines = "\
        121.9 MODE1 reset\n\
        123.3 SMU is resumed successfully!\n\
        124.5 IB test failed on gfx_0.0.0 (-110).\n\
        124.6 ib ring test failed (-110).\n\
        124.7 PM: dpm_run_callback(): pci_pm_resume returns -110\n\
        124.8 PM: failed to resume async: error -110\n";
    assert_each(lines, (None, None, Class::NotStarted, Blame::No, "failed"));
    let found = cause(&incidents(&log(lines, FORMS[0].1))[0]);
    assert!(found.text.contains("did not come back after suspend"), "{}", found.text);
    // A reset because of a job is another matter.
    let hung =
        format!("121.8 ring gfx_0.0.0 timeout, signaled seq=900, emitted seq=901\n121.8 GPU reset begin!\n{lines}");
    assert_eq!(incidents(&log(&hung, FORMS[0].1))[0].state().name, "unfinished");
}

#[test]
fn a_driver_that_is_not_bound_says_why() {
    let lines = "\
        25.1 Will use PSP to load VCN firmware\n\
        25.2 PSP create ring failed!\n\
        25.3 probe with driver amdgpu failed with error -22\n";
    assert_each(lines, (None, None, Class::NotStarted, Blame::No, "not-started"));
    let found = cause(&incidents(&log(lines, FORMS[0].1))[0]);
    assert!(found.text.contains("PSP refuses to create its ring"), "{}", found.text);
}

#[test]
fn a_fault_of_the_multimedia_hub_has_no_advice_for_shaders() {
    let lines = "\
        230.1 [mmhub0] retry page fault (src_id:0 ring:0 vmid:5 pasid:32771, for process ffmpeg pid 2825 thread ffmpeg:cs0 pid 2826)\n\
        230.1   in page starting at address 0x0000800148718000 from client 18\n\
        230.1 VM_L2_PROTECTION_FAULT_STATUS:0x00540451\n\
        230.1 \t Faulty UTCL2 client ID: 0x2\n";
    assert_each(lines, (None, Some("ffmpeg"), Class::PageFault, Blame::Unknown, "continues"));
    let found = cause(&incidents(&log(lines, FORMS[0].1))[0]);
    assert!(found.next.iter().all(|next| !next.contains("RADV")), "{:?}", found.next);
}

#[test]
fn lines_of_two_gpus_between_each_other_describe_each_its_own_fault() {
    let log = "\
        [  500.10] amdgpu 0000:03:00.0: [gfxhub] page fault (src_id:0 ring:24 vmid:4 pasid:10)\n\
        [  500.10] amdgpu 0000:0b:00.0: [gfxhub] page fault (src_id:0 ring:24 vmid:5 pasid:11)\n\
        [  500.11] amdgpu 0000:03:00.0:  Process game pid 1671 thread game:cs0 pid 1722\n\
        [  500.11] amdgpu 0000:0b:00.0:  Process other pid 1 thread other:cs0 pid 2\n\
        [  500.12] amdgpu 0000:03:00.0:   in page starting at address 0x00000043800e8000 from client 10\n\
        [  500.12] amdgpu 0000:0b:00.0:   in page starting at address 0x0000004390000000 from client 10\n\
        [  500.13] amdgpu 0000:0b:00.0: ring gfx_0.0.0 timeout, signaled seq=70, emitted seq=72\n\
        [  500.14] amdgpu 0000:03:00.0: GCVM_L2_PROTECTION_FAULT_STATUS:0x00401031\n";
    let found = incidents(log);
    let fault = |gpu: &str| {
        let of_gpu = found.iter().find(|incident| incident.gpu == line::Bus::parse(gpu)).unwrap();
        let fault = &of_gpu.faults[0];
        (fault.process.as_ref().unwrap().pid, fault.address, fault.status.map(|status| status.0))
    };
    assert_eq!(fault("0000:03:00.0"), (1671, Some(0x43_800e_8000), Some(0x0040_1031)));
    assert_eq!(fault("0000:0b:00.0"), (1, Some(0x43_9000_0000), None));
}

#[test]
fn a_thread_that_waits_in_the_driver_is_told_and_names_no_cause() {
    let log = "\
        [ 4712.310001] INFO: task kworker/u64:3:51234 blocked for more than 122 seconds.\n\
        [ 4712.310005]       Tainted: G        W          6.12.30-amd64 #1 Debian 6.12.30-1\n\
        [ 4712.310012] Workqueue: amdgpu-reset-dev drm_sched_job_timedout [gpu_sched]\n\
        [ 4712.310019]  __schedule+0x505/0xbf0\n\
        [ 4712.310021]  amdgpu_device_lock_reset_domain+0x1b/0x60 [amdgpu]\n\
        [ 4712.310023]  amdgpu_job_timedout+0x21a/0x3a0 [amdgpu]\n";
    let found = incidents(log);
    let cause = cause(&found[0]);
    assert_eq!((found.len(), cause.class, cause.confidence), (1, Class::Unknown, rules::Confidence::Unknown));
    assert!(cause.text.contains("kworker/u64:3:51234") && cause.text.contains("amdgpu_device_lock_reset_domain"));
    // A thread that waits for a disk is none of the driver's.
    assert!(incidents(&log.replace("amdgpu_", "btrfs_").replace("[amdgpu]", "[btrfs]")).is_empty());
    // Warnings have traces of the same form.
    let warning = log.replace("INFO: task kworker/u64:3:51234 blocked for more than 122 seconds.", "WARNING: CPU: 1");
    assert!(incidents(&warning).is_empty());
}

#[test]
fn what_other_drivers_say_is_no_trouble_of_this_one() {
    let log = "\
        [  100.1] i915 0000:00:02.0: [drm] GPU HANG: ecode 12:1:85dffffb, in game [4011]\n\
        [  101.2] i915 0000:00:02.0: [drm] *ERROR* [CRTC:80:pipe A] flip_done timed out\n\
        [  102.2] [drm:drm_atomic_helper_wait_for_flip_done [drm_kms_helper]] *ERROR* [CRTC:51:pipe A] flip_done timed out\n\
        [  102.3] [drm:drm_atomic_helper_wait_for_flip_done [drm_kms_helper]] *ERROR* [CRTC:51:head-0] flip_done timed out\n\
        [  103.2] radeon 0000:01:00.0: ring 0 stalled for more than 10240msec\n\
        [  103.4] NVRM: Xid (PCI:0000:01:00): 79, pid=1234, GPU has fallen off the bus.\n\
        [  104.5] pcieport 0000:00:01.1: AER: Correctable error message received from 0000:00:01.1\n";
    assert!(incidents(log).is_empty(), "{:#?}", incidents(log));
    let own = log.replace("pipe A", "crtc-0");
    assert!(!incidents(&own).is_empty());
}
