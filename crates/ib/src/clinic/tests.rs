//! Whole inputs.

use super::{incident::End, rules::Blame, *};

fn examine(inputs: &[&str]) -> Diagnosis {
    let mut clinic = Clinic::default();
    for (index, input) in inputs.iter().enumerate() {
        clinic.read(&format!("input{index}"), input.as_bytes()).unwrap();
    }
    clinic.finish()
}

fn only(text: &str) -> Incident {
    let diagnosis = examine(&[text]);
    assert_eq!(diagnosis.incidents.len(), 1, "{:#?}", diagnosis.incidents);
    diagnosis.incidents.into_iter().next().unwrap()
}

macro_rules! case {
    ($name:literal) => {
        include_str!(concat!("../../tests/data/hangs/", $name, ".txt"))
    };
}

/// The twelve incidents: log, ring, process, class, to blame, and name of the state.
#[expect(clippy::type_complexity, reason = "a table")]
const CASES: [(&str, Option<&str>, Option<&str>, Class, Blame, &str); 12] = [
    (
        case!("01-gfx-ring-reset-ok"),
        Some("gfx_0.0.0"),
        Some("llama-server"),
        Class::LongWork,
        Blame::Unknown,
        "recovered-ring",
    ),
    (
        case!("02-compute-reset-then-vmid0-fault"),
        Some("comp_1.1.0"),
        Some("gst-plugin-scan"),
        Class::Unknown,
        Blame::Unknown,
        "recovered-ring",
    ),
    (case!("03-sdma-kernel-job"), Some("sdma0"), Some(""), Class::KernelJob, Blame::No, "recovered-full"),
    (case!("04-page-fault-read"), None, Some("kwin_wayland"), Class::PageFault, Blame::Unknown, "continues"),
    (
        case!("05-ring-reset-failed-baco-vram-lost"),
        Some("gfx_0.0.0"),
        Some("cosmic-comp"),
        Class::StuckJob,
        Blame::Unknown,
        "recovered-vram-lost",
    ),
    (
        case!("06-mes-reset-no-response"),
        Some("gfx_0.0.0"),
        Some("game.exe"),
        Class::StuckJob,
        Blame::Unknown,
        "unfinished",
    ),
    (case!("07-reset-failed-vce"), Some("vce0"), Some("ffmpeg"), Class::VideoEngine, Blame::Unknown, "failed"),
    (
        case!("08-smu-no-response"),
        Some("gfx_0.0.0"),
        Some("plasmashell"),
        Class::PowerController,
        Blame::No,
        "unfinished",
    ),
    (case!("09-firmware-missing"), None, None, Class::FirmwareMissing, Blame::No, "not-started"),
    (case!("10-enomem-at-cs"), None, None, Class::OutOfMemory, Blame::Unknown, "refused"),
    (case!("11-soft-recovered"), Some("gfx"), Some("app"), Class::PageFault, Blame::Yes, "recovered-soft"),
    (case!("12-thermal-shutdown"), None, None, Class::Overheated, Blame::No, "powering-off"),
];

fn assert_case(text: &str, index: usize, what: &str) {
    let (_, ring, process, class, blame, state) = CASES[index];
    let diagnosis = examine(&[text]);
    assert_eq!(diagnosis.incidents.len(), 1, "case {index} {what}: {:#?}", diagnosis.incidents);
    let incident = &diagnosis.incidents[0];
    let found = cause(incident);
    assert_eq!(incident.ring().map(|ring| ring.ring.as_str()), ring, "case {index} {what}");
    assert_eq!(incident.process().map(|process| process.name.as_str()), process, "case {index} {what}");
    assert_eq!((found.class, found.blame.0), (class, blame), "case {index} {what}: {}", found.text);
    assert_eq!(incident.state().name, state, "case {index} {what}");
}

#[test]
fn all_incidents_have_the_stated_diagnosis() {
    for (index, case) in CASES.iter().enumerate() {
        assert_case(case.0, index, "as it is");
    }
}

/// A change of a line.
type Form<'f> = Box<dyn Fn(&str) -> String + 'f>;

#[test]
fn the_form_of_the_lines_changes_nothing() {
    let each = |text: &str, change: &dyn Fn(&str) -> String| text.lines().map(change).collect::<Vec<_>>().join("\n");
    let after = |line: &str| line.split_once("] ").map_or(line, |(_, rest)| rest).to_owned();
    let time = |line: &str| line.split_once(']').map_or("", |(time, _)| time).trim_start_matches(['[', ' ']).to_owned();
    let day = |line: &str| {
        let time = time(line);
        let whole: u64 = time.split('.').next().unwrap().parse().unwrap();
        format!("{:02}:{:02}:{:02}", whole / 3600 % 24, whole / 60 % 60, whole % 60)
    };
    let micros = |line: &str| time(line).replace('.', "");
    let forms: Vec<(&str, Form<'_>)> = vec![
        ("CRLF", Box::new(|line| format!("{line}\r"))),
        ("raw", Box::new(|line| format!("<3>{line}"))),
        ("quoted", Box::new(|line| format!("> {line}"))),
        ("colours", Box::new(|line| format!("\x1b[32m{line}\x1b[0m"))),
        ("kmsg", Box::new(move |line| format!("3,77,{},-;{}", micros(line), after(line)))),
        ("short", Box::new(move |line| format!("Nov 29 {} host kernel: {}", day(line), after(line)))),
        ("German", Box::new(move |line| format!("Nov. 29 {} rechner kernel: {}", day(line), after(line)))),
        ("Japanese", Box::new(move |line| format!("11月 29 {} host kernel: {}", day(line), after(line)))),
        ("ISO", Box::new(move |line| format!("2026-11-29T{}+0100 host kernel: {}", day(line), after(line)))),
        ("dmesg -T", Box::new(move |line| format!("[Sun Nov 29 {} 2026] {}", day(line), after(line)))),
        ("monotonic", Box::new(move |line| format!("[{}] host kernel: {}", time(line), after(line)))),
        ("cat", Box::new(after)),
        (
            "JSON",
            Box::new(move |line| {
                serde_json::json!({"_TRANSPORT": "kernel", "_SOURCE_MONOTONIC_TIMESTAMP": micros(line), "MESSAGE": after(line)}).to_string()
            }),
        ),
        (
            "export",
            Box::new(move |line| {
                format!(
                    "__CURSOR=x\n__MONOTONIC_TIMESTAMP={}\n_TRANSPORT=kernel\nMESSAGE={}\n",
                    micros(line),
                    after(line)
                )
            }),
        ),
    ];
    for (index, case) in CASES.iter().enumerate() {
        for (name, form) in &forms {
            // Without a time the distance of the firmware's line from the start is not known, and nothing else changes.
            assert_case(&each(case.0, form), index, name);
        }
        assert_case(&format!("It hangs.\n```\n{}```\n", case.0), index, "fence");
    }
}

#[test]
fn an_input_cut_off_anywhere_is_no_trouble_and_nothing_is_invented() {
    for (index, case) in CASES.iter().enumerate() {
        for len in 0..case.0.len() {
            let diagnosis = examine(&[&case.0[..len]]);
            for incident in &diagnosis.incidents {
                let found = cause(incident);
                assert!(
                    found.blame.0 != Blame::Yes || case.4 == Blame::Yes,
                    "case {index}, {len} bytes: {}",
                    found.text
                );
                let _ = page(&diagnosis, true);
            }
        }
    }
}

#[test]
fn two_gpus_and_many_incidents_are_kept_apart() {
    // The lines of two GPUs alternate.
    let one: Vec<_> = CASES[0].0.lines().collect();
    let other: Vec<_> = CASES[4]
        .0
        .lines()
        .map(|line| {
            let (_, rest) = line.split_once(']').unwrap();
            format!("[ 5120.11]{rest}")
        })
        .collect();
    let mut mixed = String::new();
    for index in 0..one.len().max(other.len()) {
        mixed.extend(one.get(index).map(|line| format!("{line}\n")));
        mixed.extend(other.get(index).map(|line| format!("{line}\n")));
    }
    let diagnosis = examine(&[&mixed]);
    let found: Vec<_> =
        diagnosis.incidents.iter().map(|incident| (incident.process().unwrap().name.as_str(), incident.end)).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&("llama-server", End::Ring)) && found.contains(&("cosmic-comp", End::Full)), "{found:?}");
}

#[test]
fn two_incidents_in_one_log_are_two() {
    let both = format!("{}{}", CASES[4].0, CASES[0].0);
    let diagnosis = examine(&[&both]);
    let classes: Vec<_> = diagnosis.incidents.iter().map(|incident| cause(incident).class).collect();
    assert_eq!(classes, [Class::StuckJob, Class::LongWork]);
    // The same ring of the same GPU hangs again a minute later.
    let again = CASES[0].0.replace("[ 5120", "[ 5190").replace("llama-server", "other");
    let diagnosis = examine(&[&format!("{}{again}", CASES[0].0)]);
    assert_eq!(diagnosis.incidents.len(), 2);
    // Equal ones are folded.
    let again = CASES[0].0.replace("[ 5120", "[ 5190").replace("[ 5131", "[ 5201");
    let diagnosis = examine(&[&format!("{}{again}", CASES[0].0)]);
    assert_eq!((diagnosis.incidents.len(), diagnosis.incidents[0].repeats), (1, 1));
}

#[test]
fn the_same_log_twice_is_one_incident() {
    for case in [CASES[0].0, CASES[3].0, CASES[6].0] {
        let diagnosis = examine(&[case, case]);
        assert_eq!(diagnosis.incidents.len(), 1, "{:#?}", diagnosis.incidents);
    }
}

#[test]
fn what_programs_write_is_no_incident() {
    let lines: Vec<_> = CASES[0].0.lines().map(|line| format!("Nov 29 10:16:18 host evil[9]: {line}")).collect();
    let text = lines.join("\n");
    assert!(examine(&[&text]).incidents.is_empty());
    assert!(examine(&["", "nothing about it\n"]).incidents.is_empty());
}

#[test]
fn the_time_out_in_force_is_stated() {
    let with = |head: &str, ring: &str| {
        let text =
            format!("{head}[ 9.0] amdgpu 0000:03:00.0: ring {ring} timeout, signaled seq=900, emitted seq=901\n");
        let incident = only(&text);
        let ring = incident.ring().unwrap();
        incident.kernel.time_out(ring.kind())
    };
    let time = with("[ 0.0] Linux version 7.2.13-1 (gcc)\n", "comp_1.0.0");
    assert_eq!((time.milliseconds, time.is_assumed), (Some(2000), false));
    let time = with("[ 0.0] Linux version 6.12.9 (gcc)\n", "comp_1.0.0");
    assert_eq!((time.milliseconds, time.is_assumed), (Some(60_000), false));
    let time =
        with("[ 0.0] Linux version 7.2.13-1 (gcc)\n[ 0.0] Command line: ro amdgpu.lockup_timeout=15000 quiet\n", "gfx");
    assert_eq!((time.milliseconds, time.is_assumed), (Some(15_000), false));
    assert!(with("", "gfx").is_assumed);
    assert!(with("[ 0.0] Linux version 6.19.1 (gcc)\n", "gfx").milliseconds.is_none());
}

const DUMP: &str = include_str!("../../tests/data/reports/fetched.txt");

#[test]
fn a_dump_and_the_log_of_the_same_hang_are_joined() {
    let log = "[ 5211.873] amdgpu 0000:03:00.0: ring gfx_0.0.0 timeout, signaled seq=7, emitted seq=8\n\
               [ 5211.874] amdgpu 0000:03:00.0:  Process game.exe pid 4711 thread game:cs0 pid 4713\n\
               [ 5211.875] amdgpu 0000:03:00.0: Starting gfx_0.0.0 ring reset\n\
               [ 5211.9] amdgpu 0000:03:00.0: Ring gfx_0.0.0 reset succeeded\n";
    for inputs in [vec![log, DUMP], vec![DUMP, log]] {
        let diagnosis = examine(&inputs);
        assert_eq!(diagnosis.incidents.len(), 1, "{:#?}", diagnosis.incidents);
        let incident = &diagnosis.incidents[0];
        assert_eq!(incident.end, End::Ring);
        assert!(incident.work.packet.as_ref().unwrap().contains("DISPATCH_DIRECT"));
        assert_eq!(incident.lead_fault().unwrap().address, Some(0xffff_8001_21a3_3000));
        let found = cause(incident);
        assert_eq!((found.class, found.blame.0), (Class::PageFault, Blame::Yes));
    }
    // In one text.
    assert_eq!(examine(&[&format!("{log}{DUMP}")]).incidents.len(), 1);
    assert_eq!(examine(&[&format!("```\n{DUMP}\n```\n{log}")]).incidents.len(), 1);
    // Another ring, another time, another process: two incidents.
    for other in [
        log.replace("gfx_0.0.0", "sdma0"),
        log.replace("[ 5211", "[ 9211"),
        log.replace("4711", "99").replace("game.exe", "x"),
    ] {
        assert_eq!(examine(&[&other, DUMP]).incidents.len(), 2, "{other}");
    }
}

#[test]
fn a_dump_without_a_latched_fault_is_no_null_pointer() {
    let dump = include_str!("../../tests/data/reports/without-rings.txt");
    let incident = only(dump);
    assert_eq!((incident.ring().unwrap().ring.as_str(), incident.faults.len()), ("sdma0", 0));
    let found = cause(&incident);
    assert!(found.blame.0 != Blame::Yes && found.class != Class::PageFault, "{}", found.text);
}

#[test]
fn a_fault_of_another_vmid_or_process_is_not_taken_as_the_cause() {
    // The job of the dump has VMID 5, and the status another one.
    let other = DUMP.replace("0x501031", "0x301031");
    let found = cause(&only(&other));
    assert!(found.blame.0 != Blame::Yes || found.confidence < rules::Confidence::Likely, "{found:?}");
    let log = CASES[10].0.replace("gfx timeout, but soft recovered", "gfx timeout, signaled seq=400, emitted seq=401")
        + "[ 3305.100200] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* Process information: process other pid 99 thread o pid 99\n";
    let found = cause(&only(&log));
    assert!(found.class != Class::PageFault && found.blame.0 != Blame::Yes, "{found:?}");
}

#[test]
fn a_wedged_event_is_part_of_its_incident_or_one_of_its_own() {
    let event = "KERNEL[5120.118900] change   /devices/pci0000:00/0000:00:01.1/0000:c2:00.0/drm/card1 (drm)\nACTION=change\n\
                 DEVPATH=/devices/pci0000:00/0000:00:01.1/0000:c2:00.0/drm/card1\nSUBSYSTEM=drm\nWEDGED=none\nPID=12519\nTASK=llama-server\n";
    let diagnosis = examine(&[CASES[0].0, event]);
    assert_eq!(diagnosis.incidents.len(), 1);
    let alone = only(event);
    assert_eq!(alone.process().unwrap().name, "llama-server");
    assert_eq!((alone.state().name, cause(&alone).class), ("recovered", Class::Unknown));
    assert_eq!(only(&event.replace("WEDGED=none", "WEDGED=rebind,bus-reset")).end, End::Wedged);
}

#[test]
fn unknown_and_late_jobs_are_told_apart() {
    let line = |jobs: &str| {
        format!(
            "[ 50.0] amdgpu 0000:03:00.0: ring gfx_0.0.0 timeout, {jobs}\n[ 50.1] amdgpu 0000:03:00.0: Starting gfx_0.0.0 ring reset\n"
        )
    };
    assert_eq!(cause(&only(&line("signaled seq=9000, emitted seq=9000"))).class, Class::LostInterrupt);
    assert_eq!(cause(&only("[ 9.0] amdgpu 0000:03:00.0: MES failed to respond to msg=ADD_QUEUE\n[ 12.0] amdgpu 0000:03:00.0: ring gfx_0.0.0 timeout, signaled seq=900, emitted seq=901\n")).class, Class::SchedulerFirmware);
    assert_eq!(
        cause(&only("[ 9.0] amdgpu 0000:03:00.0: Fence fallback timer expired on ring sdma0\n")).class,
        Class::LostInterrupt
    );
    assert_eq!(
        cause(&only("[ 9.0] [drm:amdgpu_cs_ioctl [amdgpu]] *ERROR* Failed to initialize parser -125!\n")).class,
        Class::Unknown
    );
    assert_eq!(cause(&only("[ 9.0] [drm:gfx_v10_0_priv_inst_irq [amdgpu]] *ERROR* Illegal opcode in command stream\n[ 19.0] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=900, emitted seq=901\n")).class, Class::InvalidCommands);
}

#[test]
fn the_page_has_at_most_forty_lines_and_hostile_text_stays_text() {
    for first in CASES {
        for second in CASES {
            let text = format!("{}[99999.0] amdgpu 0000:ff:00.0: GPU reset begin!\n", first.0);
            let shown = page(&examine(&[first.0, second.0, &text]), false);
            assert!(shown.lines().count() <= 60, "{shown}");
        }
        let shown = page(&examine(&[first.0]), false);
        assert!(shown.lines().count() <= 40, "{shown}");
    }
    let evil = CASES[0].0.replace("llama-server", "\x1b[2Jevil\x07");
    let diagnosis = examine(&[&evil]);
    assert_eq!(diagnosis.incidents.len(), 1);
}

#[test]
fn memory_is_bounded_whatever_repeats() {
    let mut text = String::new();
    for round in 0..3000 {
        text += &CASES[0]
            .0
            .replace("[ 5120", &format!("[ {}", 10_000 + 40 * round))
            .replace("[ 5131", &format!("[ {}", 10_011 + 40 * round))
            .replace("12519", &format!("{round}"));
    }
    let diagnosis = examine(&[&text]);
    assert_eq!(diagnosis.incidents.len() as u64 + diagnosis.dropped, 3000);
    let faults: String = (0..5000).map(|round| CASES[3].0.replace("pasid:10", &format!("pasid:{round}"))).collect();
    let diagnosis = examine(&[&faults]);
    assert!(diagnosis.incidents.iter().all(|incident| incident.faults.len() <= 32));
}
