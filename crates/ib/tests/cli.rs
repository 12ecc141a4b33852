//! The command from outside: what it prints, and how it ends.

mod support;

use std::fs;

use support::{Scratch, data, run, text};

fn golden(name: &str) -> String {
    fs::read_to_string(data(name)).unwrap()
}

#[test]
fn hexadecimal_text_is_dumped_as_the_golden_file_has_it() {
    let output = run(&["dump", "compute.hex", "--chip", "navi21", "--ip", "compute"]);
    assert_eq!(text(&output.stdout), golden("compute.txt"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn json_is_what_the_golden_file_has() {
    let output = run(&["dump", "compute.hex", "--chip", "navi21", "--ip", "compute", "--json"]);
    assert_eq!(text(&output.stdout), golden("compute.json"));
}

#[test]
fn an_unknown_packet_ends_with_1_and_is_shown() {
    let output = run(&["dump", "unknown.hex", "--chip", "vega10"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("!! opcode 0x05 is not known here"));
}

#[test]
fn kept_ibs_are_followed_and_checked() {
    let kept = Scratch::new("kept");
    kept.put("000000-gfx-GFX10_3-100000.ib", &[0xc002_3f00, 0x20_0000, 0, 2 | 1 << 20]);
    kept.put("000001-gfx-GFX10_3-200000.ib", &[0xc000_4600, 0x407]);
    let directory = kept.0.to_str().unwrap();
    let output = run(&["dump", &format!("{directory}/000000-gfx-GFX10_3-100000.ib")]);
    assert!(text(&output.stdout).contains("-> goes on in IB 1"), "{}", text(&output.stdout));
    let output = run(&["check", directory]);
    assert_eq!(text(&output.stdout), "2 IBs, 2 packets, 6 dwords, 0 not understood\n0 of 0 register writes named\n");
    kept.put("000002-gfx-GFX10_3-300000.ib", &[0xc000_0500, 0]);
    assert_eq!(run(&["check", directory]).status.code(), Some(1));
}

#[test]
fn register_writes_without_a_name_are_counted() {
    let kept = Scratch::new("registers");
    kept.put("000000-gfx-GFX10_3-100000.ib", &[0xc002_7600, 0x20c, 1, 2, 0xc001_7600, 0x3f0, 3]);
    let directory = kept.0.to_str().unwrap();
    let output = run(&["check", "--named", "66", directory]);
    let shown = text(&output.stdout);
    assert!(shown.starts_with("register 0xbfc0 has no name: 1 writes\n"), "{shown}");
    assert!(shown.ends_with("2 of 3 register writes named\n"), "{shown}");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(run(&["check", "--named", "67", directory]).status.code(), Some(1));
}

#[test]
fn a_write_where_earlier_generations_had_a_register_is_told_with_its_name() {
    let kept = Scratch::new("former");
    // SET_CONTEXT_REG of 0x28338 and of 0x28ffc, which no generation has.
    kept.put("000000-gfx-GFX12-100000.ib", &[0xc001_6900, 0xce, 1, 0xc001_6900, 0x3ff, 1]);
    let directory = kept.0.to_str().unwrap();
    let output = run(&["check", "--named", "50", directory]);
    let shown = text(&output.stdout);
    assert!(
        shown.starts_with("GFX12 has no register at 0x28338, PA_SC_VPORT_ZMIN_13 until GFX11_5: 1 writes\n"),
        "{shown}"
    );
    assert!(shown.contains("register 0x28ffc has no name: 1 writes\n"), "{shown}");
    assert!(shown.ends_with("1 of 2 register writes named\n"), "{shown}");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(run(&["check", "--named", "51", directory]).status.code(), Some(1));
}

#[test]
fn a_wrong_command_line_ends_with_2_and_a_wrong_file_with_3() {
    assert_eq!(run(&["dump", "compute.hex"]).status.code(), Some(2));
    assert_eq!(run(&["dump", "compute.hex", "--chip", "voodoo"]).status.code(), Some(2));
    assert_eq!(run(&["shake"]).status.code(), Some(2));
    let output = run(&["dump", "nothing.hex", "--chip", "navi21"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).starts_with("amdgpu-ib: nothing.hex: "));
    let scratch = Scratch::new("odd");
    fs::write(scratch.0.join("odd"), [0xff; 5]).unwrap();
    let output = run(&["dump", scratch.0.join("odd").to_str().unwrap(), "--chip", "navi21"]);
    assert_eq!(output.status.code(), Some(3));
    let output = run(&["dump", scratch.0.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("is a directory; name one of its files, or use check"), "{output:?}");
}

/// A dispatch of the shader at 0x80000200 in wave32 on GFX10.3, after its address and user data were set.
const DISPATCH: [u32; 12] = [
    0xc002_7600,
    0x20c,
    0x80_0002,
    0, // COMPUTE_PGM_LO and _HI
    0xc001_7600,
    0x240,
    7, // COMPUTE_USER_DATA_0
    0xc003_1500,
    1,
    1,
    1,
    1 << 15 | 1,
];
/// `s_nop 0`, a branch back to it, `s_endpgm`.
const SHADER: [u32; 3] = [0xbf80_0000, 0xbf84_fffe, 0xbf81_0000];

#[test]
fn a_dispatch_is_shown_with_the_shader_that_was_kept_after_it() {
    let kept = Scratch::new("shader");
    kept.put("000004-gfx-GFX10_3-100000.ib", &DISPATCH);
    // One of an earlier dispatch, one of another wave size, and the one that ran.
    kept.put("000003-shader-GFX10_3-w32-80000200.bin", &[0xbf81_0000]);
    kept.put("000005-shader-GFX10_3-w64-80000200.bin", &[0xbf81_0000]);
    kept.put("000006-shader-GFX10_3-w32-80000200.bin", &SHADER);
    let ib = format!("{}/000004-gfx-GFX10_3-100000.ib", kept.0.display());
    let shown = text(&run(&["dump", &ib]).stdout);
    let wanted = "            shader at 0x80000200, wave32, 12 bytes\n              COMPUTE_PGM_LO <- 0x800002";
    assert!(shown.contains(wanted), "{shown}");
    assert!(shown.contains("COMPUTE_USER_DATA_0 <- 0x7\n            >0000: bf800000           s_nop 0\n"), "{shown}");
    assert!(
        shown.ends_with("s_cbranch_scc0 65534  ; to 0x0000\n             0008: bf810000           s_endpgm\n"),
        "{shown}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&text(&run(&["dump", &ib, "--json", "--state"]).stdout)).unwrap();
    let dispatch = &json["ibs"][0]["packets"][2];
    assert_eq!(dispatch["shader"]["wave"], 32);
    assert_eq!(dispatch["shader"]["instructions"][1]["target"], 0);
    assert_eq!(dispatch["state"].as_array().map(Vec::len), Some(3));
}

#[test]
fn the_state_before_a_dispatch_is_shown_on_request() {
    let kept = Scratch::new("state");
    kept.put("000004-gfx-GFX10_3-100000.ib", &DISPATCH);
    let ib = format!("{}/000004-gfx-GFX10_3-100000.ib", kept.0.display());
    assert!(!text(&run(&["dump", &ib]).stdout).contains("state:"));
    let shown = text(&run(&["dump", &ib, "--state"]).stdout);
    assert_eq!(shown.lines().filter(|line| line.starts_with("            state: COMPUTE_")).count(), 3, "{shown}");
}

#[test]
fn a_shader_is_disassembled_for_its_generation_and_wave_size() {
    let kept = Scratch::new("disassemble");
    kept.put("000006-shader-GFX10_3-w32-80000200.bin", &SHADER);
    kept.put("any.bin", &[0xffff_ffff, 0xbf81_0000]);
    let file = |name: &str| kept.0.join(name).to_str().unwrap().to_owned();
    let output = run(&["disassemble", &file("000006-shader-GFX10_3-w32-80000200.bin")]);
    assert_eq!(text(&output.stdout).lines().count(), 3);
    assert_eq!(output.status.code(), Some(0));
    let output = run(&["disassemble", &file("any.bin"), "--chip", "polaris10"]);
    assert!(text(&output.stdout).starts_with(" 0000: ffffffff           !! "), "{}", text(&output.stdout));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(run(&["disassemble", &file("any.bin")]).status.code(), Some(2));
    assert_eq!(run(&["disassemble", &file("nothing.bin"), "--chip", "gfx9"]).status.code(), Some(3));
}
