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
