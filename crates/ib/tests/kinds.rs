//! Files are recognised by their content, and others are refused by name.

mod support;

use std::fs;

use support::{Scratch, data, printed, run, run_on, text};

#[test]
fn standard_input_is_read_as_a_file_is() {
    let arguments = ["dump", "-", "--chip", "navi21", "--ip", "compute"];
    let output = run_on(&arguments, &fs::read(data("compute.hex")).unwrap());
    assert_eq!(text(&output.stdout), fs::read_to_string(data("compute.txt")).unwrap());
    let refused = run_on(&arguments, b"\x7fELF\x02");
    assert_eq!(refused.status.code(), Some(3));
    assert!(text(&refused.stderr).starts_with("amdgpu-ib: standard input: found an ELF file; "));
    let code = run_on(&["disassemble", "-", "--chip", "navi21"], &0xbf81_0000_u32.to_le_bytes());
    assert!(text(&code.stdout).contains("s_endpgm"));
}

#[test]
fn raw_dwords_are_told_from_hexadecimal_text() {
    let scratch = Scratch::new("raw");
    let raw = scratch.put("ib", &[0xc000_4600, 0x407]);
    assert!(printed(&["dump", &raw, "--chip", "navi21"], 0).contains("cs_partial_flush"));
    let text = scratch.write("text", b"# a comment\n0xC0004600, 407\n");
    assert!(printed(&["dump", &text, "--chip", "navi21"], 0).contains("cs_partial_flush"));
}

#[test]
fn a_devcoredump_shows_the_job_that_hung_and_the_rings_that_were_busy() {
    let shown = printed(&["dump", "devcoredump.txt"], 0);
    let titles: Vec<_> = shown.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(
        titles,
        [
            "devcoredump of Linux 6.17.0",
            "IB #0 of the job that hung, 9 dwords",
            "IB 0 at 0xffff800000100000, 9 dwords, for the GFX10_3 gfx ring",
            "ring gfx_0.0.0, from its read pointer to its write pointer",
            "IB 0, 5 dwords, for the GFX10_3 gfx ring",
            "IB 1 at 0xffff800000100000, 9 dwords, for the GFX10_3 gfx ring, called by IB 0 at dword 0",
        ]
    );
    // The ring's packets go on at its start.
    assert!(shown.contains("INDIRECT_BUFFER") && shown.contains("       4: ffff1000  NOP\n"), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&printed(&["dump", "devcoredump.txt", "--json"], 0)).unwrap();
    assert_eq!((&json["schema"], json["ibs"].as_array().unwrap().len()), (&"amdgpu-ib-file".into(), 2));
    assert_eq!(json["ibs"][1]["dump"]["ibs"][1]["packets"][1]["name"], "DISPATCH_DIRECT");
}

#[test]
fn a_devcoredump_without_packets_or_of_an_old_gpu_says_so() {
    let scratch = Scratch::new("coredump");
    let whole = fs::read_to_string(data("devcoredump.txt")).unwrap();
    let (without, _) = whole.split_once("Ring buffer information").unwrap();
    let shown = printed(&["dump", &scratch.write("without", without.as_bytes())], 1);
    assert!(shown.ends_with("  packets: no IBs and no ring contents in this dump\n"), "{shown}");
    let old = scratch.write("old", whole.replace("HWIP: GC", "HWIP: XX").as_bytes());
    assert_eq!(run(&["dump", &old]).status.code(), Some(2));
    assert!(printed(&["dump", &old, "--chip", "polaris10"], 0).contains("for the GFX8 gfx ring"));
    let known = whole.replace("HWIP: GC", "HWIP: XX").replace("SOC Family: 143", "SOC Family: 130");
    assert!(printed(&["dump", &scratch.write("known", known.as_bytes())], 0).contains("for the GFX8 gfx ring"));
}

#[test]
fn a_devcoredump_cut_off_anywhere_is_no_trouble() {
    let whole = fs::read(data("devcoredump.txt")).unwrap();
    for len in (0..whole.len()).step_by(97) {
        let code = run_on(&["dump", "-", "--chip", "navi21"], &whole[..len]).status.code();
        assert!(matches!(code, Some(0 | 1 | 3)), "{len} bytes: {code:?}");
    }
}

#[test]
fn a_dump_of_radv_gives_its_ibs_back() {
    let shown = printed(&["dump", "radv.txt", "--chip", "navi21"], 0);
    let ibs: Vec<_> = shown.lines().filter(|line| line.starts_with("IB ")).collect();
    assert_eq!(
        ibs,
        [
            "IB 0, 10 dwords, for the GFX10_3 gfx ring",
            "IB 1 at 0xffff800000200000, 6 dwords, for the GFX10_3 gfx ring, called by IB 0 at dword 4",
        ]
    );
    assert!(shown.starts_with("main - GFX\n") && shown.contains("DISPATCH_DIRECT"), "{shown}");
    assert!(shown.contains("       8: c0004600  EVENT_WRITE\n"), "{shown}");
}

#[test]
fn recordings_need_no_option_and_parts_of_other_files_cannot_be_selected() {
    let output = run(&["dump", "compute.hex", "--chip", "navi21", "--last"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("compute.hex: is not a recording"), "{}", text(&output.stderr));
    // The first bytes of a recording alone.
    let cut = run_on(&["dump", "-"], b"AMDGPUrr");
    assert_eq!(cut.status.code(), Some(3));
    assert!(text(&cut.stderr).contains("recording"), "{}", text(&cut.stderr));
}

#[test]
fn files_of_other_kinds_are_named_with_what_was_found() {
    let scratch = Scratch::new("foreign");
    for (content, found) in [
        (&b""[..], "an empty file"),
        (b"\x7fELF\x02\x01\x01\0", "an ELF file"),
        (b"\x1f\x8b\x08\0rest", "compressed with gzip, which zcat unpacks"),
        (b"\x28\xb5\x2f\xfdrest", "compressed with zstd"),
        (b"{\"schema\": 1}", "JSON"),
        (b"#!/bin/sh\nexit\n", "a script"),
        (b"\xff\xff\xff\xff\xff", "5 bytes of binary data"),
        (b"c0004600\n407 flush\n", "text, of which line 2 has \"flush\" where a hexadecimal dword belongs"),
        (b"+1 2 3", "\"+1\""),
        (b"123456789", "\"123456789\""),
    ] {
        let output = run(&["dump", &scratch.write("file", content), "--chip", "navi21"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("/file: found ") && said.contains(found) && said.contains("are read"), "{said}");
    }
    let output = run(&["dump", scratch.0.to_str().unwrap(), "--chip", "navi21"]);
    assert_eq!((output.status.code(), text(&output.stderr).contains("directory")), (Some(3), true));
}

#[test]
fn a_reader_that_goes_away_is_no_trouble() {
    let scratch = Scratch::new("pipe");
    let long = scratch.put("ib", &[[0xc000_4600, 0x407], [0xc000_4600, 0x410]].concat().repeat(50_000));
    let shell = format!("{} dump {long} --chip navi21 | head -n 1", env!("CARGO_BIN_EXE_amdgpu-ib"));
    let output = std::process::Command::new("bash").args(["-o", "pipefail", "-c", &shell]).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}
