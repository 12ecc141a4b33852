//! Devcoredumps and dumps in the forms in which people attach them to public reports.

mod support;

use std::fs;

use serde_json::Value;
use support::{Scratch, data, printed, run, run_on, text};

fn report(name: &str) -> String {
    format!("reports/{name}")
}

fn json(arguments: &[&str], status: i32) -> Value {
    serde_json::from_str(&printed(&[arguments, &["--json"]].concat(), status)).unwrap()
}

fn content(name: &str) -> String {
    fs::read_to_string(data(&report(name))).unwrap()
}

#[test]
fn a_dump_without_rings_says_which_ring_timed_out_and_claims_nothing_else() {
    let file = report("without-rings.txt");
    let shown = printed(&["dump", &file], 1);
    for wanted in [
        "devcoredump of Linux 6.19.8-zen1-1-zen\n",
        "chip: gfx1200 (device 0x7590, family 152, external revision 65)\n",
        "timed out: ring sdma0 (IP type 2)\n",
        "page fault: none recorded by gfxhub (status 0)\n",
        "ring sdma0: timed out, busy; its contents are not in this dump\n",
        "packets: no IBs and no ring contents in this dump\n",
    ] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    assert!(!shown.contains("idle"), "{shown}");
    let json = json(&["dump", &file], 1);
    assert_eq!(json["coredumps"][0]["timed_out"]["ring"], "sdma0");
    assert_eq!(json["coredumps"][0]["faults"][0]["is_recorded"], false);
    assert_eq!(json["ibs"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_ring_that_timed_out_is_busy_although_all_of_it_was_fetched() {
    let file = report("fetched.txt");
    let shown = printed(&["dump", &file], 0);
    for wanted in [
        "timed out: ring gfx_0.0.0 (IP type 0)\n",
        "ring gfx_0.0.0: timed out, busy; everything up to its write pointer 0x1250 was fetched, which does not mean",
        "page fault: 0xffff800121a33000, gfxhub, status 0x501031: VMID 5, client 8 (TCP), read, PERMISSION 3, MORE 1\n",
        "packet: ME was at DISPATCH_DIRECT [compute] (CP_ME_HEADER_DUMP 0xc0031502)\n",
        "IB: CP_IB1_BASE is 0xffff800100400000\n",
        "contents not in this dump: IB #0 of the job that hung, 64 dwords at 0xffff800100400000\n",
        "ring gfx_0.0.0, its last 16 dwords before its write pointer\n",
        "last job: INDIRECT_BUFFER to 0xffff800100400000, 0x40 dwords, VMID 5\n",
        "last job: RELEASE_MEM, fence 0x2410c6 to 0x20a0c0\n",
    ] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    assert!(!shown.contains("idle"), "{shown}");
    let json = json(&["dump", &file], 0);
    let fault = &json["coredumps"][0]["faults"][0];
    assert_eq!((&fault["vmid"], &fault["client_name"]), (&5.into(), &"TCP".into()));
    let packets = json["ibs"][0]["dump"]["ibs"][0]["packets"].as_array().unwrap();
    let names: Vec<_> = packets.iter().map(|packet| packet["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["CONTEXT_CONTROL", "INDIRECT_BUFFER", "RELEASE_MEM", "NOP"]);
    assert_eq!(packets[1]["next"][0]["va"].as_u64(), Some(0xffff_8001_0040_0000));
}

#[test]
fn the_rings_of_all_engines_that_timed_out_are_busy_and_no_other_ring_is_called_so() {
    let whole = content("fetched.txt");
    for name in ["comp_1.0.0", "sdma1", "vcn_dec_0"] {
        let output = run_on(&["dump", "-"], whole.replace("gfx_0.0.0", name).as_bytes());
        let shown = text(&output.stdout);
        assert!(shown.contains(&format!("ring {name}: timed out, busy; ")), "{shown}");
        assert!(matches!(output.status.code(), Some(0 | 1)));
    }
    // Here another ring timed out.
    let other = whole.replace("Ring Name: gfx_0.0.0", "Ring Name: comp_1.0.0");
    let shown = text(&run_on(&["dump", "-"], other.as_bytes()).stdout);
    assert!(shown.contains("ring gfx_0.0.0: everything up to its write pointer"), "{shown}");
    assert!(shown.contains("ring comp_1.0.0: timed out, busy; its contents are not in this dump"), "{shown}");
    // Nothing says which ring timed out.
    let none = whole.replace("IP Type: 0 Ring Name: gfx_0.0.0", "");
    let shown = text(&run_on(&["dump", "-"], none.as_bytes()).stdout);
    assert!(shown.contains("timed out: not stated\n") && !shown.contains("idle"), "{shown}");
}

#[test]
fn a_fault_status_of_zero_is_no_fault_and_address_zero_may_be_one() {
    let whole = content("fetched.txt");
    let none = whole.replace("0x501031", "0x0");
    assert!(text(&run_on(&["dump", "-"], none.as_bytes()).stdout).contains("none recorded by gfxhub (status 0)"));
    let null = whole.replace("0x0000800121a33000", "0x0000000000000000");
    assert!(
        text(&run_on(&["dump", "-"], null.as_bytes()).stdout).contains("page fault: 0x0, gfxhub, status 0x501031: ")
    );
}

#[test]
fn devcoredumps_without_packets_cannot_be_compared() {
    let file = report("without-rings.txt");
    let output = run(&["diff", &file, &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("found a devcoredump without packets"), "{}", text(&output.stderr));
}

#[test]
fn a_dump_in_a_fence_is_read_as_the_dump_itself_and_the_rest_is_told_to_be_skipped() {
    let alone = printed(&["dump", &report("fetched-with-ib.txt")], 0);
    assert_eq!(printed(&["dump", &report("crlf.txt")], 0), alone);
    let output = run(&["dump", &report("pasted.md")]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), alone.clone()));
    let said = text(&output.stderr);
    assert!(said.contains("pasted.md: read lines 2 to ") && said.contains(", skipped 2 other lines\n"), "{said}");
    let whole = content("fetched-with-ib.txt");
    let indented = |by: &str| whole.lines().map(|line| [by, line, "\n"].concat()).collect::<String>();
    for pasted in [
        format!("My GPU hangs.\n\n~~~~ text\n{whole}~~~~\n\nAny `idea`?\n"),
        format!("Before\n```\ndmesg: nothing\n```\nand\n```console\r\n{}```\r\n", whole.replace('\n', "\r\n")),
        format!("- item\n\n  ```\n{}  ```\n", indented("  ")),
        format!("<details>\n<summary>dump</summary>\n\n```\n{whole}```\n</details>\n"),
        format!("Not closed:\n```\n{whole}"),
        format!("On Monday, someone wrote:\n{}", indented("> ")),
        format!("> Quoted fence:\n> ```\n{}> ```\n", indented("> ")),
        format!("As code:\n\n{}", indented("    ")),
        format!("Below other text:\n{whole}"),
        format!("\u{feff}```\n{whole}```\n"),
    ] {
        let output = run_on(&["dump", "-"], pasted.as_bytes());
        assert_eq!(text(&output.stdout), alone, "{}", &pasted[..pasted.len().min(60)]);
        assert!(text(&output.stderr).contains("skipped") || pasted.starts_with('\u{feff}'), "{pasted:.60}");
    }
}

#[test]
fn hexadecimal_dwords_and_streams_of_umr_may_be_in_fences_too() {
    let hex = content("count-right.hex");
    let arguments = ["--chip", "renoir", "--ip", "compute"];
    let alone = printed(&[&["dump", &report("count-right.hex")][..], &arguments].concat(), 0);
    let pasted = format!("It is:\n```\n{hex}```\nEnd.\n");
    let output = run_on(&[&["dump", "-"][..], &arguments].concat(), pasted.as_bytes());
    assert_eq!(text(&output.stdout), alone);
    let umr = content("umr.txt");
    let alone = printed(&["dump", &report("umr.txt"), "--chip", "navi21"], 0);
    let output = run_on(&["dump", "-", "--chip", "navi21"], format!("```\n{umr}\n```\n").as_bytes());
    assert_eq!(text(&output.stdout), alone);
}

#[test]
fn a_stream_of_umr_gives_its_dwords() {
    let json = json(&["dump", &report("umr.txt"), "--chip", "navi21"], 0);
    assert_eq!(json["ibs"][0]["title"], "IB at 0@0x0, 6 of 257 dwords");
    let packets = json["ibs"][0]["dump"]["ibs"][0]["packets"].as_array().unwrap();
    let seen: Vec<_> =
        packets.iter().map(|packet| (packet["name"].as_str().unwrap(), packet["dwords"].clone())).collect();
    assert_eq!(seen[0], ("NOP", [0xffff_1000_u32].as_slice().into()));
    assert_eq!(seen[1], ("COND_EXEC", [0xc003_2200_u32, 0x40_0080, 0xff, 0, 0x2f].as_slice().into()));
}

#[test]
fn several_ibs_of_umr_keep_their_address_space_and_address_and_colours_are_skipped() {
    let stream = "Decoding IB at 0@0x0 from 0@0x0 of 4 words (type 4)\n\
        [\x1b[1;34m0\x1b[0m@\x1b[1;34m0x00000000\x1b[0m + 0x0000]\t[\x1b[35m0xc0023f00\x1b[0m]\tOpcode 0x3f [\x1b[1mPKT3_INDIRECT_BUFFER\x1b[0m] (3 words)\n\
        [0@0x00000000 + 0x0004]\t[0x00100000]\t|---> IB_BASE_LO=0x100000\n\
        [0@0x00000000 + 0x0008]\t[0x00008000]\t|---> IB_BASE_HI=0x8000\n\
        Decoding IB at 5@0x800000100000 from 0@0x0 of 2 words (type 4)\n\
        [5@0x800000100000 + 0x0000]\t[0xc0004600]\tOpcode 0x46 [PKT3_EVENT_WRITE] (1 words)\n\
        [5@0x800000100000 + 0x0004]\t[0x00000407]\t|---> EVENT_TYPE=0x7\n\
        Done decoding IB\n\
        \n\
        [0@0x00000000 + 0x000c]\t[0x00000002]\t|---> IB_SIZE=2\n";
    let output = run_on(&["dump", "-", "--chip", "navi21", "--json"], stream.as_bytes());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let titles: Vec<_> = json["ibs"].as_array().unwrap().iter().map(|ib| ib["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["IB at 0@0x0, 4 dwords", "IB at 5@0x800000100000, 2 dwords"]);
    let second = &json["ibs"][1]["dump"]["ibs"][0];
    assert_eq!(
        (second["va"].as_u64(), &second["packets"][0]["name"]),
        (Some(0xffff_8000_0010_0000), &"EVENT_WRITE".into())
    );
    // The caller goes on after the IB that it calls.
    assert_eq!(json["ibs"][0]["dump"]["ibs"][1]["va"].as_u64(), Some(0xffff_8000_0010_0000));
}

#[test]
fn a_count_that_is_too_large_is_explained_if_the_rest_decodes_with_the_right_one() {
    let arguments = ["--chip", "renoir", "--ip", "compute"];
    let shown = |name: &str, status| printed(&[&["dump", &report(name)][..], &arguments].concat(), status);
    let wrong = shown("count-wrong.hex", 1);
    assert!(wrong.contains(" 1 dword follows the last field\n"), "{wrong}");
    let hint =
        "ACQUIRE_MEM has 6 dwords after its header here, and the header says 7; with 0xc0055802 the rest decodes";
    assert!(wrong.contains(hint), "{wrong}");
    let right = shown("count-right.hex", 0);
    assert!(!right.contains("the rest decodes") && !right.contains("shader type"), "{right}");
    let missing = shown("shader-type-missing.hex", 0);
    let remark = "bit 1 of the header (shader type) is 0, which drivers set on compute rings";
    assert_eq!(missing.matches(remark).count(), 1, "{missing}");
    // On a graphics ring it is a graphics packet in a stream, which is no mistake there.
    let graphics = printed(&["dump", &report("shader-type-missing.hex"), "--chip", "renoir"], 0);
    assert!(!graphics.contains("shader type"), "{graphics}");
}

#[test]
fn reports_cut_off_anywhere_are_no_trouble() {
    let scratch = Scratch::new("cut");
    for name in ["fetched.txt", "pasted.md", "umr.txt", "without-rings.txt"] {
        let whole = content(name);
        for len in (0..whole.len()).step_by(211) {
            let file = scratch.write("cut", &whole.as_bytes()[..len]);
            let code = run(&["dump", &file, "--chip", "navi21"]).status.code();
            assert!(matches!(code, Some(0 | 1 | 3)), "{name}, {len} bytes: {code:?}");
        }
    }
}
