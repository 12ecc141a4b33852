//! Text that others wrote is shown and not sent to the terminal.

mod support;

use std::process::Output;

use support::{Scratch, run, run_on, text};

/// Sequences that change titles and colours, hide text, and turn its direction.
const HOSTILE: &str = "\x1b]0;title\x07\x1b[8m\u{9b}2J\u{7f}\u{202e}\u{2066}\x08\x0b";

/// Checks that nothing of a run moves a cursor, changes colours or turns text.
fn is_harmless(output: &Output, what: &str) {
    for shown in [&output.stdout, &output.stderr] {
        let shown = text(shown);
        let is_hidden = |letter: char| {
            letter != '\n'
                && (letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        };
        assert!(!shown.contains(is_hidden), "{what}: {shown:?}");
    }
    assert_ne!(output.status.code(), Some(101), "{what}: {}", text(&output.stderr));
}

#[test]
fn hostile_text_in_files_of_every_kind_is_visible() {
    let kinds = [
        format!(
            "------------------ main {HOSTILE} - GFX begin ------------------\nc0004600 EVENT {HOSTILE}\n00000407\n------------------- main end -------------------\n"
        ),
        format!(
            "**** AMDGPU Device Coredump ****\nversion: 1\nkernel: 6{HOSTILE}\nprocess_name: a{HOSTILE} PID: 1\n\
             HWIP: GC[1][0]: v10.3.0.0.0\nIP Type: 0 Ring Name: gfx{HOSTILE}\n[gfx{HOSTILE}] Page fault observed\n\
             Faulty page starting at address: 0x1000\nProtection fault status register: 0x501031\n\
             ring name: gfx{HOSTILE}\nRptr: 0x0 Wptr: 0x2 RB mask: f\n0x0 \t 0xc0004600\n0x4 \t 0x407\nIB #0{HOSTILE} 0x1000 2 dw\n"
        ),
        format!(
            "Decoding IB at 0@0x0 from 0@0x0 of 1 words (type {HOSTILE})\n[0@0x0 + 0x0]\t[0xffff1000]\t{HOSTILE}\n"
        ),
        format!("c0004600\n407 {HOSTILE}\n"),
        format!("text {HOSTILE}\n```\n{HOSTILE}\nc0004600 00000407\n```\n"),
        format!("{{\"{HOSTILE}\": 1}}"),
        format!("AMDGPUrr{HOSTILE}"),
    ];
    for kind in &kinds {
        for arguments in [
            &["dump", "-", "--chip", "navi21"][..],
            &["dump", "-", "--chip", "navi21", "--json"],
            &["dump", "-", "--chip", "navi21", "--raw", "--state"],
            &["disassemble", "-", "--chip", "navi21"],
        ] {
            is_harmless(&run_on(arguments, kind.as_bytes()), &format!("{arguments:?} of {kind:?}"));
        }
        let scratch = Scratch::new("hostile");
        let (one, two) = (scratch.write("one", kind.as_bytes()), scratch.write("two", kinds[0].as_bytes()));
        is_harmless(&run(&["diff", &one, &two, "--chip", "navi21"]), "diff");
    }
}

#[test]
fn hostile_names_of_files_and_arguments_are_visible() {
    let scratch = Scratch::new("hostile-names");
    let name = format!("name\n{}", HOSTILE.replace('\x08', ""));
    let file = scratch.write(&name, b"c0004600\n407 x\n");
    let folder = scratch.0.join(format!("folder{HOSTILE}"));
    std::fs::create_dir(&folder).unwrap();
    let kept = scratch.write(&format!("folder{HOSTILE}/000000-gfx-GFX10_3-100000.ib"), &[0, 5, 0, 0xc0]);
    let other = scratch.write(&format!("other{HOSTILE}"), b"c0004600\n407\n");
    for arguments in [
        &["dump", &file][..],
        &["dump", &file, "--chip", "navi21"],
        &["dump", &format!("{file}.none")],
        &["dump", folder.to_str().unwrap()],
        &["dump", &kept],
        &["dump", "x", "--chip", HOSTILE],
        &["dump", &other, "--last", "--chip", "navi21"],
        &["diff", &other, &kept, "--chip", "navi21"],
        &["check", folder.to_str().unwrap()],
        &["check", &format!("{file}.none")],
        &["disassemble", &file],
        &[HOSTILE],
    ] {
        let output = run(arguments);
        is_harmless(&output, &format!("{arguments:?}"));
        // The end of a line in a name does not end the message.
        let lines = text(&output.stderr).lines().filter(|line| line.starts_with("amdgpu-ib: ")).count();
        assert!(lines <= 1, "{}", text(&output.stderr));
    }
    assert!(text(&run(&["dump", &file]).stderr).contains("name[U+000A][U+001B]]0;title"));
}

#[test]
fn the_commands_own_colours_stay() {
    let shown = text(&run(&["dump", "compute.hex", "--chip", "navi21", "--ip", "compute", "--color", "always"]).stdout);
    assert!(shown.contains("\x1b[36m") || shown.contains("\x1b[1m"), "{shown:?}");
    assert!(!shown.contains("\x1b_"), "{shown:?}");
}
