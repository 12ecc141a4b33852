//! `amdgpu-ib diff`: the alignment, and the status of diff(1).

mod support;

use support::{Scratch, data, printed, run, run_on, text};

const CHIP: [&str; 2] = ["--chip", "navi21"];

fn diff(arguments: &[&str], status: i32) -> String {
    printed(&[&["diff"], arguments, &CHIP].concat(), status)
}

#[test]
fn equal_files_print_nothing_and_end_with_0() {
    assert_eq!(diff(&["store-a.hex", "store-a.hex"], 0), "");
}

#[test]
fn packets_are_aligned_and_fields_that_differ_are_marked() {
    let shown = diff(&["store-a.hex", "store-b.hex"], 1);
    let marked: Vec<_> = shown.lines().filter(|line| line.starts_with(['-', '+'])).collect();
    assert_eq!(
        marked,
        [
            "--- store-a.hex",
            "+++ store-b.hex",
            "-            dst_addr = 0x8123456780",
            "-            +0    11111111",
            "+            dst_addr = 0x8177777780",
            "+            +0    22222222",
            "-            COMPUTE_PGM_LO <- 0x800002  shader at 0x80000200",
            "+            COMPUTE_PGM_LO <- 0x900002  shader at 0x90000200",
            "+       9: c0004600  EVENT_WRITE",
            "+            event_type = 16 (ps_partial_flush)",
            "+            event_index = 4 (partial_flush)",
            "+            offload_enable = 0",
        ]
    );
    // Equal packets are the context, in their first lines.
    assert!(shown.contains("\n        9: c0004600  EVENT_WRITE\n"), "{shown}");
    assert!(shown.ends_with("\n2 packets are equal, 2 differ, 0 are only in A, 1 only in B\n"), "{shown}");
}

#[test]
fn addresses_are_ignored_on_request_and_nothing_else_is() {
    let shown = diff(&["--ignore-addresses", "store-a.hex", "store-b.hex"], 1);
    assert!(!shown.contains("-            dst_addr") && !shown.contains("-            COMPUTE_PGM_LO"), "{shown}");
    assert!(shown.contains("\n-            +0    11111111\n+            +0    22222222\n"), "{shown}");
    assert!(shown.contains("3 packets are equal, 1 differ, 0 are only in A, 1 only in B"), "{shown}");
    let scratch = Scratch::new("moved");
    // The same IB elsewhere: the place of a kept IB is an address, too.
    let here = scratch.put("000000-gfx-GFX10_3-100000.ib", &[0xc003_3700, 0x10_0500, 0x1000, 0x81, 5]);
    let there = scratch.put("000001-gfx-GFX10_3-200000.ib", &[0xc003_3700, 0x10_0500, 0x9000, 0x81, 5]);
    assert!(printed(&["diff", &here, &there], 1).contains("-IB 0 at 0x100000"));
    assert_eq!(printed(&["diff", "--ignore-addresses", &here, &there], 0), "");
}

#[test]
fn addresses_of_a_colour_targets_metadata_are_ignored_and_their_sizes_are_not() {
    let scratch = Scratch::new("metadata");
    // CB_COLOR0_CMASK, its slice, CB_COLOR0_FMASK, its slice.
    let target = |cmask: u32, slice: u32, fmask: u32| vec![0xc004_6900, 0x31f, cmask, slice, fmask, 7];
    let here = scratch.put("000000-gfx-GFX8-100000.ib", &target(0x100_0838, 31, 0x100_0840));
    let there = scratch.put("000001-gfx-GFX8-200000.ib", &target(0x100_4038, 31, 0x100_4040));
    let larger = scratch.put("000002-gfx-GFX8-200000.ib", &target(0x100_4038, 63, 0x100_4040));
    assert_eq!(printed(&["diff", "--ignore-addresses", &here, &there], 0), "");
    assert!(printed(&["diff", "--ignore-addresses", &here, &larger], 1).contains("-            CB_COLOR0_CMASK_SLICE"));
}

#[test]
fn context_is_as_long_as_asked_for() {
    let scratch = Scratch::new("context");
    let [nop, event] = [vec![0xffff_1000], vec![0xc000_4600, 0x407]];
    let many = |last: u32| [event.repeat(9), nop.clone(), vec![0xc000_4600, last]].concat();
    let [a, b] = [("a", 0x410), ("b", 0x407)].map(|(name, last)| scratch.put(name, &many(last)));
    let heads = |context: &str| {
        let shown = diff(&["-C", context, &a, &b], 1);
        assert_eq!(shown.contains("      ...\n"), context != "20", "{shown}");
        shown.lines().filter(|line| line.starts_with(' ') && line.contains(": ")).count()
    };
    // The differing packet's own head is equal.
    assert_eq!(["0", "1", "3", "20"].map(heads), [1, 2, 4, 11]);
}

#[test]
fn devcoredumps_and_standard_input_are_compared_too() {
    let whole = std::fs::read_to_string(data("devcoredump.txt")).unwrap();
    let other = whole.replace("0x00008001", "0x00000001");
    let output = run_on(&["diff", "devcoredump.txt", "-"], other.as_bytes());
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(shown.matches("\n-            dispatch_initiator = 0x8001").count(), 2, "{shown}");
    assert!(shown.contains("+++ standard input\n") && shown.contains("\n ring gfx_0.0.0, from"), "{shown}");
    assert_eq!(run_on(&["diff", "devcoredump.txt", "-"], whole.as_bytes()).status.code(), Some(0));
}

#[test]
fn trouble_ends_with_2() {
    for arguments in [
        &["diff", "store-a.hex", "nothing.hex", "--chip", "navi21"][..],
        &["diff", "store-a.hex", "store-b.hex"],
        &["diff", "store-a.hex"],
        &["diff", "store-a.hex", "store-b.hex", "--chip", "voodoo"],
    ] {
        let output = run(arguments);
        assert_eq!((output.status.code(), output.stderr.is_empty()), (Some(2), false), "{arguments:?}");
    }
}
