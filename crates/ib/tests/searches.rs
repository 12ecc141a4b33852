//! `--grep`, folding and colour.

mod support;

use support::{Scratch, command, printed, run, text};

fn dump(file: &str, arguments: &[&str], status: i32) -> String {
    printed(&[&["dump", file, "--chip", "navi21"], arguments].concat(), status)
}

/// The places of the packets in a text.
fn places(shown: &str) -> Vec<usize> {
    let place = |line: &str| line.strip_prefix("  ")?.split(':').next()?.trim().parse().ok();
    shown.lines().filter_map(place).collect()
}

#[test]
fn only_packets_of_which_a_line_matches_are_shown() {
    let shown = dump("compute.hex", &["--grep", "EVENT|dst_addr"], 0);
    assert_eq!(places(&shown), [10, 12]);
    assert!(shown.starts_with("IB 0, 18 dwords") && shown.contains("dst_addr = 0x8123456780"), "{shown}");
    assert_eq!(places(&dump("compute.hex", &["--grep", "(?i)num_thread"], 0)), [0]);
    // A pattern is of a line, and so are its ends.
    assert_eq!(places(&dump("compute.hex", &["--grep", "NOP$"], 0)), [17]);
}

#[test]
fn context_stands_around_a_match_and_gaps_are_marked() {
    let shown = dump("compute.hex", &["--grep", "DISPATCH|NOP", "-C", "1"], 0);
    assert_eq!(places(&shown), [0, 5, 10, 12, 17]);
    assert!(!shown.contains("..."), "{shown}");
    let shown = dump("compute.hex", &["--grep", "SET_SH|NOP"], 0);
    assert_eq!(places(&shown), [0, 17]);
    assert_eq!(shown.matches("     ...\n").count(), 1, "{shown}");
}

#[test]
fn headings_stand_above_matches_alone() {
    let shown = printed(&["dump", "devcoredump.txt", "--grep", "INDIRECT"], 0);
    let headings: Vec<_> = shown.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(headings.len(), 2, "{shown}");
    assert!(headings[0].starts_with("ring gfx_0.0.0") && headings[1].starts_with("IB 0, 5 dwords"));
}

#[test]
fn without_a_match_nothing_is_printed_and_the_status_is_1() {
    assert_eq!(dump("compute.hex", &["--grep", "DRAW"], 1), "");
    let output = run(&["dump", "compute.hex", "--chip", "navi21", "--grep", "("]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("regex"), "{}", text(&output.stderr));
}

#[test]
fn repeated_packets_are_folded_but_for_two() {
    let scratch = Scratch::new("folds");
    let nops = |count: usize| scratch.put("ib", &[vec![0xffff_1000; count], vec![0xc000_4600, 0x407]].concat());
    let folded = "       0: ffff1000  NOP\n     ... 15 more of the same, the last at dword 15\n";
    let shown = dump(&nops(16), &[], 0);
    assert!(shown.contains(folded), "{shown}");
    assert_eq!(places(&shown), [0, 16]);
    assert_eq!(places(&dump(&nops(2), &[], 0)), [0, 1, 2]);
    assert_eq!(places(&dump(&nops(16), &["--no-fold"], 0)).len(), 17);
    assert_eq!(places(&dump(&nops(16), &["--raw"], 0)).len(), 17);
    // Two in a row that are not equal stay apart.
    let events = scratch.put("events", &[0xc000_4600, 0x407, 0xc000_4600, 0x410, 0xc000_4600, 0x407]);
    assert_eq!(places(&dump(&events, &[], 0)), [0, 2, 4]);
}

#[test]
fn colour_is_for_terminals_and_those_who_ask() {
    let coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let arguments = [&["dump", "unknown.hex", "--chip", "vega10"], arguments].concat();
        let output = command(&arguments).envs(variables.iter().copied()).output().unwrap();
        text(&output.stdout).contains('\x1b')
    };
    assert!(!coloured(&[], &[]), "this is no terminal");
    assert!(coloured(&["--color", "always"], &[]));
    assert!(coloured(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!coloured(&["--color", "never"], &[]));
    // On a terminal, of util-linux' script.
    let on_terminal = |variables: &str| {
        let program = env!("CARGO_BIN_EXE_amdgpu-ib");
        let line = format!("{variables} {program} dump {} --chip vega10", support::data("unknown.hex").display());
        let mut script = std::process::Command::new("script");
        let output = script.args(["-qec", &line, "/dev/null"]).env_remove("NO_COLOR").env("TERM", "xterm").output();
        output.ok().map(|output| text(&output.stdout).contains('\x1b'))
    };
    if let Some(coloured) = on_terminal("") {
        assert!(coloured);
        assert_eq!(on_terminal("NO_COLOR=1"), Some(false));
        assert_eq!(on_terminal("TERM=dumb"), Some(false));
    }
}
