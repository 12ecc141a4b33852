//! Incidents in the words of Linux 5.15 to 7.3, of several generations and engines, and what is no incident.

use super::{
    incident::End,
    rules::{Blame, Confidence},
    *,
};

macro_rules! log {
    ($name:literal) => {
        include_str!(concat!("../../tests/data/wordings/", $name, ".txt"))
    };
}

fn incidents(bytes: &[u8]) -> Vec<Incident> {
    let mut clinic = Clinic::default();
    clinic.read("log", bytes).unwrap();
    clinic.finish().incidents
}

fn only(text: &str) -> Incident {
    let mut found = incidents(text.as_bytes());
    assert_eq!(found.len(), 1, "{text}: {found:#?}");
    found.remove(0)
}

/// The expected answer to a log: ring, process, class, confidence, verdict on the program, and name of the state.
type Expected = (Option<&'static str>, Option<&'static str>, Class, Confidence, Blame, &'static str);

const LOGS: [(&str, Expected); 13] = [
    (
        log!("copy-engine-illegal-instruction"),
        (
            Some("sdma1"),
            Some("blender"),
            Class::InvalidCommands,
            Confidence::Likely,
            Blame::Unknown,
            "recovered-vram-lost",
        ),
    ),
    (
        log!("illegal-instruction"),
        (
            Some("gfx_0.0.0"),
            Some("Cyberpunk2077.e"),
            Class::InvalidCommands,
            Confidence::Likely,
            Blame::Unknown,
            "recovered-vram-lost",
        ),
    ),
    (
        log!("store-of-shader"),
        (
            Some("gfx_0.0.0"),
            Some("eldenring.exe"),
            Class::PageFault,
            Confidence::Likely,
            Blame::Yes,
            "recovered-vram-lost",
        ),
    ),
    (
        log!("write-to-read-only"),
        (
            Some("gfx_0.1.0"),
            Some("kernel pid 3 thread x"),
            Class::PageFault,
            Confidence::Likely,
            Blame::Unknown,
            "recovered-ring",
        ),
    ),
    (
        log!("command-processor-of-gfx9"),
        (None, Some("python3"), Class::PageFault, Confidence::Likely, Blame::Unknown, "continues"),
    ),
    (
        log!("scheduler-without-answer"),
        (None, None, Class::SchedulerFirmware, Confidence::Possible, Blame::Unknown, "recovered-full"),
    ),
    (
        log!("video-engine-without-power"),
        (
            Some("vcn_unified_0"),
            Some("sunshine"),
            Class::LostInterrupt,
            Confidence::Possible,
            Blame::No,
            "recovered-vram-lost",
        ),
    ),
    (
        log!("powerplay"),
        (Some("gfx"), Some("Xorg"), Class::PowerController, Confidence::Likely, Blame::No, "unfinished"),
    ),
    (
        log!("uncorrectable-error"),
        (None, None, Class::HardwareError, Confidence::Certain, Blame::No, "recovered-vram-lost"),
    ),
    (log!("card-removed"), (Some("gfx_0.0.0"), None, Class::LinkLost, Confidence::Certain, Blame::No, "failed")),
    (log!("killed-for-memory"), (None, None, Class::OutOfMemory, Confidence::Certain, Blame::Unknown, "refused")),
    (log!("display-firmware"), (None, None, Class::DisplayFirmware, Confidence::Possible, Blame::No, "unknown")),
    (log!("kernel-bug"), (None, None, Class::KernelBug, Confidence::Certain, Blame::No, "failed")),
];

#[test]
fn each_wording_has_its_diagnosis() {
    for (text, expected) in LOGS {
        for text in [text.to_owned(), text.replace('\n', "\r\n"), text.replace('\n', "\0\n")] {
            let incident = only(&text);
            let cause = cause(&incident);
            let ring = incident.ring().map(|ring| ring.ring.as_str());
            let process = incident.process().map(|process| process.name.as_str());
            let found = (ring, process, cause.class, cause.confidence, cause.blame.0, incident.state().name);
            assert_eq!(found, expected, "{text}: {}", cause.text);
        }
    }
}

#[test]
fn faults_of_one_address_space_are_counted_once_they_name_their_process_in_a_line_of_its_own() {
    let incident = only(log!("store-of-shader"));
    assert_eq!((incident.faults.len(), incident.faults[0].count), (1, 2));
    // The process of a fault that is counted with another one is not the one of a ring.
    let late = "[ 9.0] amdgpu 0000:03:00.0: ring sdma0 timeout, signaled seq=7000, emitted seq=7002\n\
                [ 9.1] amdgpu 0000:03:00.0: GPU reset begin!. Source:  1\n";
    let fault = |time: &str| {
        format!(
            "[ {time}] amdgpu 0000:03:00.0: [gfxhub] page fault (src_id:0 ring:24 vmid:4 pasid:10)\n\
             [ {time}] amdgpu 0000:03:00.0:  Process game pid 1671 thread game:cs0 pid 1722\n\
             [ {time}] amdgpu 0000:03:00.0:   in page starting at address 0x00000043800e8000 from client 10\n"
        )
    };
    let incident = only(&format!("{late}{}{}", fault("9.2"), fault("9.3")));
    assert_eq!((incident.faults.len(), incident.ring().unwrap().process.as_ref()), (1, None));
}

#[test]
fn what_a_gpu_does_after_a_failed_reset_is_a_consequence_until_the_driver_starts_again() {
    let text = log!("after-a-failed-reset");
    let causes = |text: &str| incidents(text.as_bytes()).iter().map(cause).collect::<Vec<_>>();
    let found = causes(text);
    assert_eq!((found[0].class, found[1].class, found[1].blame.0), (Class::StuckJob, Class::Unknown, Blame::No));
    assert!(found[1].text.starts_with("a consequence"), "{}", found[1].text);
    let started = "[ 5005.0] amdgpu 0000:c4:00.0: [drm] Initialized amdgpu 3.64.0 for 0000:c4:00.0 on minor 1\n";
    let (first, second) = text.split_at(text.find("[ 5010.900004]").unwrap());
    assert_eq!(causes(&format!("{first}{started}{second}"))[1].class, Class::KernelJob);
    // Another GPU.
    let other = second.replace("[drm:amdgpu_job_timedout [amdgpu]] *ERROR*", "amdgpu 0000:0b:00.0: amdgpu:");
    let other = other.replace("0000:c4", "0000:0b");
    assert_eq!(causes(&format!("{first}{other}"))[1].class, Class::KernelJob);
}

#[test]
fn counts_of_no_errors_and_counters_of_all_ones_are_no_certain_errors() {
    let line = |text: &str| format!("[ 8390.9] amdgpu 0000:68:00.0: amdgpu: {text}\n");
    for harmless in [
        "socket: 0, die: 0, 3 new correctable hardware errors detected in umc block",
        "2 new deferred hardware errors detected in umc block",
        "0 uncorrectable hardware errors detected in gfx block",
        "no uncorrectable hardware errors detected in umc block",
        "MEM ECC is active.",
        "RAS records:231 exceeds 90% of threshold:256",
        "WARN: GPU thermal throttling temperature reached, expect performance decrease. thermal",
        "smu driver if version = 0x00000035, smu fw if version = 0x00000040, smu fw program = 0",
        "Failed to send message 0x26, response 0xfe",
        "[drm] *ERROR* dc_dmub_srv_log_diagnostic_data: DMCUB error - collecting diagnostic data",
        "VM memory stats for proc kworker(0) task kworker(0) is non-zero when fini",
    ] {
        assert!(incidents(line(harmless).as_bytes()).is_empty(), "{harmless}");
    }
    for (text, confidence) in [
        ("1048560 uncorrectable hardware errors detected in umc block", Confidence::Possible),
        ("{12}socket: 0, die: 0, 1 new uncorrectable hardware errors detected in gfx block", Confidence::Certain),
        ("GPU reset for GFX RAS poison consumption is issued!", Confidence::Certain),
    ] {
        let found = cause(&only(&line(text)));
        assert_eq!((found.class, found.confidence), (Class::HardwareError, confidence), "{text}");
    }
}

#[test]
fn the_way_of_a_reset_is_told_with_its_result() {
    let mut clinic = Clinic::default();
    let log = "[ 9.0] amdgpu 0000:03:00.0: GPU reset begin!. Source:  3\n[ 9.5] amdgpu 0000:03:00.0: MODE1 reset\n\
               [ 12.0] amdgpu 0000:03:00.0: GPU reset(2) succeeded!\n";
    clinic.read("log", log.as_bytes()).unwrap();
    let text = page(&clinic.finish(), false);
    assert!(
        text.contains("resets      reset of the whole GPU (MODE1): succeeded after 3.0 s; reset number 2"),
        "{text}"
    );
}

#[test]
fn errors_that_lead_to_no_incident_are_told_and_those_of_other_drivers_are_not() {
    let read = |text: &str| {
        let mut clinic = Clinic::default();
        clinic.read("log", text.as_bytes()).unwrap();
        let diagnosis = clinic.finish();
        (page(&diagnosis, false), diagnosis.notes)
    };
    let unknown = "[ 3.1] amdgpu 0000:c1:00.0: [drm] *ERROR* dc_dmub_srv_log_diagnostic_data: DMCUB error - collecting diagnostic data\n\
                   [ 3.2] [drm:amdgpu_something [amdgpu]] *ERROR* of a release to come\n";
    let (text, notes) = read(unknown);
    assert!(text.starts_with("no hang of amdgpu found in log\n"), "{text}");
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("2 errors of amdgpu that no rule explains, the first: dc_dmub_srv"), "{notes:?}");
    assert!(notes[0].ends_with("[line 1]"), "{notes:?}");

    let other = "[ 3.2] [drm:intel_dp_aux_xfer [i915]] *ERROR* AUX A timed out\n";
    assert_eq!(read(other), ("no trouble of amdgpu found in log\n".to_owned(), Vec::new()));
    let incident =
        format!("{unknown}[ 9.0] amdgpu 0000:c1:00.0: ring sdma0 timeout, signaled seq=7000, emitted seq=7002\n");
    assert!(read(&incident).1.is_empty());
}

#[test]
fn registers_of_all_ones_are_those_of_a_gpu_that_is_gone() {
    let line = "[ 4001.3] amdgpu 0000:03:00.0: SMU: No response msg_reg: ffffffff resp_reg: ffffffff\n";
    let found = cause(&only(line));
    assert_eq!((found.class, found.confidence), (Class::LinkLost, Confidence::Possible));
    // The bus knows.
    for first in [
        "can't change power state from D3cold to D0 (config space inaccessible)",
        "Unable to change power state from D3cold to D0, device inaccessible",
        "not ready 65535ms after resume; giving up",
    ] {
        let found = cause(&only(&format!("[ 4001.2] amdgpu 0000:03:00.0: {first}\n{line}")));
        assert_eq!((found.class, found.confidence), (Class::LinkLost, Confidence::Certain), "{first}");
    }
}

#[test]
fn the_older_numbers_of_messages_to_the_scheduler_have_names() {
    let text = "[ 9.0] [drm:mes_v11_0_submit_pkt_and_poll_completion.constprop.0 [amdgpu]] *ERROR* MES failed to response msg=2\n\
                [ 12.0] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=900, emitted seq=901\n";
    let found = cause(&only(text));
    assert_eq!((found.class, found.confidence), (Class::SchedulerFirmware, Confidence::Likely));
    assert!(found.text.contains("ADD_QUEUE"), "{}", found.text);
}

#[test]
fn a_warning_of_the_kernel_is_no_failure_and_a_failure_of_another_driver_is_not_the_graphics_drivers() {
    let bug = log!("kernel-bug");
    let warning = bug.replace("BUG: kernel NULL pointer dereference, address", "WARNING: CPU: 3 PID: 3321 at");
    assert!(incidents(warning.as_bytes()).is_empty());
    let other =
        bug.replace("RIP: 0010:amdgpu_vm_bo_update+0x61/0x7a0 [amdgpu]", "RIP: 0010:iwl_rx+0x61/0x7a0 [iwlwifi]");
    assert!(incidents(other.as_bytes()).is_empty());
    // The function of a report further down is another one's.
    let far = bug.replace("[ 2210.000007]", &format!("{}[ 2210.000007]", "[ 2210.000006] x\n".repeat(50)));
    assert!(incidents(far.as_bytes()).is_empty());
}

#[test]
fn a_process_without_a_name_is_called_by_its_number() {
    let text = "[drm ERROR :gfx_v9_0_priv_reg_irq] Illegal register access in command stream\n\
                drmn0: ring gfx timeout, signaled seq=14416844, emitted seq=14416847\n\
                drmn0: Process information: process  pid 167175 thread  pid 167175\n\
                drmn0: GPU reset begin!\ndrmn0: MODE2 reset\ndrmn0: GPU reset(2) succeeded!\n";
    let incident = only(text);
    let found = cause(&incident);
    assert_eq!((found.class, found.blame.0), (Class::InvalidCommands, Blame::Unknown));
    assert!(found.text.contains("of process 167175"), "{}", found.text);
}

#[test]
fn a_card_that_leaves_its_slot_is_told_of_and_one_that_is_unbound_is_not() {
    let unplugged = "[  500.000000] pcieport 0000:00:07.0: pciehp: Slot(12): Link Down\n\
                     [  500.000100] pcieport 0000:00:07.0: pciehp: Slot(12): Card not present\n\
                     [  500.100000] amdgpu 0000:3f:00.0: amdgpu: amdgpu: finishing device.\n\
                     [  500.200000] [drm] amdgpu: ttm finalized\n";
    let incident = only(unplugged);
    let found = cause(&incident);
    assert_eq!((found.class, found.confidence, found.blame.0), (Class::LinkLost, Confidence::Certain, Blame::No));
    assert_eq!((incident.state().name, found.lines.len()), ("removed", 2));
    assert_eq!(incident.gpu.map(|gpu| gpu.to_string()).as_deref(), Some("0000:3f:00.0"));
    // Whoever unloads the module lets go of the GPU, too; and another slot may lose its card a minute before.
    let unbound = unplugged.lines().skip(2).collect::<Vec<_>>().join("\n");
    assert!(incidents(unbound.as_bytes()).is_empty());
    assert!(incidents(unplugged.replace("500.1000", "570.1000").as_bytes()).is_empty());
    let corrected =
        unplugged.replace("pciehp: Slot(12): Link Down", "AER: Uncorrected error").replace("Card not present", "x");
    assert!(incidents(corrected.as_bytes()).is_empty());
}

#[test]
fn nothing_draws_in_an_address_space_of_rocm() {
    let lines = |vmid: u32, status: u32| {
        format!(
            "[  600.1] amdgpu 0000:83:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:0 vmid:{vmid} pasid:32780)\n\
             [  600.2] amdgpu 0000:83:00.0: amdgpu:  for process python3 pid 8000 thread python3 pid 8000)\n\
             [  600.3] amdgpu 0000:83:00.0: amdgpu:   in page starting at address 0x00007f2200000000 from IH client 0x1b (UTCL2)\n\
             [  600.4] amdgpu 0000:83:00.0: amdgpu: VM_L2_PROTECTION_FAULT_STATUS:{status:#010x}\n"
        )
    };
    let of_rocm = only(&lines(8, 0x0080_0030));
    assert!(cause(&of_rocm).text.starts_with("work of python3 made a read"), "{}", cause(&of_rocm).text);
    assert!(!of_rocm.faults[0].text().contains(" by "), "{}", of_rocm.faults[0].text());
    let of_graphics = only(&lines(3, 0x0030_0030));
    assert!(cause(&of_graphics).text.starts_with("drawing of python3 made a read"), "{}", cause(&of_graphics).text);
}

/// With two seconds the first work of a program after the start of the machine is long enough.
#[test]
fn a_first_job_may_be_long_where_the_time_out_is_short() {
    let lines = |release: &str| {
        format!(
            "[    0.000000] Linux version {release}\n\
             [  180.000000] amdgpu 0000:03:00.0: amdgpu: ring comp_1.0.0 timeout, signaled seq=10, emitted seq=11\n\
             [  180.000010] amdgpu 0000:03:00.0: amdgpu:  Process llama-cli pid 300 thread llama-cli pid 301\n\
             [  180.000020] amdgpu 0000:03:00.0: amdgpu: Starting comp_1.0.0 ring reset\n\
             [  180.010000] amdgpu 0000:03:00.0: amdgpu: Ring comp_1.0.0 reset succeeded\n"
        )
    };
    let (new, old) = (cause(&only(&lines("7.2.0-1"))), cause(&only(&lines("6.12.0-1"))));
    assert_eq!((new.class, old.class), (Class::Unknown, Class::Unknown));
    let tells = |found: &super::rules::Cause| {
        (found.also.join(" ").contains("2 s"), found.next.join(" ").contains("lockup_timeout"))
    };
    assert_eq!((tells(&new), tells(&old)), ((true, true), (false, false)), "{new:?}");
}

#[test]
fn all_json_forms_of_the_journal_and_utf16_give_the_same() {
    let source = log!("write-to-read-only");
    let entry = |line: &str| {
        let (time, message) = line.split_once("] ").unwrap();
        let time = time.trim_start_matches(['[', ' ']).replace('.', "");
        serde_json::json!({"_TRANSPORT": "kernel", "__MONOTONIC_TIMESTAMP": time, "PRIORITY": "3", "MESSAGE": message})
    };
    let entries: Vec<_> = source.lines().map(entry).collect();
    let each = |form: &dyn Fn(&serde_json::Value) -> String| entries.iter().map(form).collect::<String>();
    let units: Vec<u16> = source.encode_utf16().collect();
    let compact = serde_json::to_string(&entries).unwrap();
    // Longer than the longest line, and than a block.
    let other = serde_json::json!({"_TRANSPORT": "stdout", "MESSAGE": "of interest {to} \"nobody\""}).to_string();
    let padded = format!("[{},{}]", format!("{other},").repeat(40_000), compact.trim_matches(['[', ']']));
    let records: Vec<_> = entries
        .iter()
        .map(|entry| {
            let micros: f64 = entry["__MONOTONIC_TIMESTAMP"].as_str().unwrap().parse().unwrap();
            serde_json::json!({"pri": 3, "time": micros / 1e6, "msg": entry["MESSAGE"]})
        })
        .collect();
    let renamed = compact.replace("\"MESSAGE\"", "\"message\"");
    let forms: Vec<(&str, Vec<u8>)> = vec![
        ("an array on one line", compact.clone().into_bytes()),
        ("a long array on one line", padded.into_bytes()),
        ("an array on one line within an object", format!("{{\"entries\":{compact}}}").into_bytes()),
        ("objects one after another on one line", each(&|entry| entry.to_string()).into_bytes()),
        ("what collectors of logs make of it", renamed.into_bytes()),
        ("dmesg --json on one line", serde_json::json!({"dmesg": records}).to_string().into_bytes()),
        ("json-pretty", each(&|entry| format!("{entry:#}\n")).into_bytes()),
        ("an array", serde_json::to_string_pretty(&entries).unwrap().into_bytes()),
        ("json-seq", each(&|entry| format!("\x1e{entry}\n")).into_bytes()),
        ("json-sse", each(&|entry| format!("data: {entry}\n\n")).into_bytes()),
        ("an array with an entry on each line", format!("[{}]", each(&|entry| format!("{entry},\n"))).into_bytes()),
        ("UTF-16, little-endian", units.iter().flat_map(|unit| unit.to_le_bytes()).collect()),
        ("UTF-16, big-endian", units.iter().flat_map(|unit| unit.to_be_bytes()).collect()),
    ];
    for (name, bytes) in forms {
        let found = incidents(&bytes);
        assert_eq!(found.len(), 1, "{name}");
        let incident = &found[0];
        assert_eq!(incident.ring().map(|ring| ring.ring.as_str()), Some("gfx_0.1.0"), "{name}");
        assert_eq!((cause(incident).class, incident.end), (Class::PageFault, End::Ring), "{name}");
        let start = incident.start.map(|start| start.to_string());
        assert_eq!(start.as_deref(), Some("771.000100 s after boot"), "{name}");
    }
    // An array that was cut off loses its end alone.
    let cut = incidents(&compact.as_bytes()[..compact.len() - 40]);
    assert_eq!((cut.len(), cut[0].ring().map(|ring| ring.ring.as_str())), (1, Some("gfx_0.1.0")));
    // What a program wrote is not the kernel's, and texts without a writer in a collector are of programs.
    assert!(incidents(compact.replace("\"kernel\"", "\"stdout\"").as_bytes()).is_empty());
    let of_programs = compact.replace("\"MESSAGE\"", "\"message\"").replace("\"_TRANSPORT\"", "\"level\"");
    assert!(incidents(of_programs.as_bytes()).is_empty());
    assert!(incidents(of_programs.replace("\"message\"", "\"msg\"").as_bytes()).is_empty());
    let evil = each(&|entry| format!("{entry:#}\n").replace("\"kernel\"", "\"stdout\""));
    assert!(incidents(evil.as_bytes()).is_empty());
}
