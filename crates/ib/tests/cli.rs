//! The command from outside: what it prints, and how it ends.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn run(arguments: &[&str]) -> Output {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    Command::new(env!("CARGO_BIN_EXE_amdgpu-ib")).current_dir(directory).args(arguments).output().unwrap()
}

fn golden(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A directory that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("amdgpu-ib-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, dwords: &[u32]) {
        let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        fs::write(self.0.join(name), bytes).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
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
}
