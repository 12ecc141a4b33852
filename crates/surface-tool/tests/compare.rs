//! RADV's answers about images beside the layouts. The answers are some of those that `.ci/vulkan/radv-surfaces` compares: Mesa 25.0.7 on
//! simulated chips, asked by `amdgpu-vulkan-client --images`.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use amdgpu_surface_tool::{Exit, run};

const CHIPS: [&str; 5] = ["pitcairn", "polaris10", "raven", "navi10", "navi31"];

fn answers(chip: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/answers/{chip}.jsonl"))
}

/// Compares a file; returns the exit status, the output and the errors.
fn compare(file: &Path, chip: &str) -> (Exit, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words = ["amdgpu-surface", "compare", "--gpu", chip].map(OsString::from);
    let exit = run(words.into_iter().chain([file.as_os_str().to_owned()]), &mut out, &mut err);
    (exit, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// Compares RADV's answers about a chip with one text in them replaced; returns the exit status and the output.
fn changed(name: &str, chip: &str, from: &str, to: &str) -> (Exit, String) {
    let text = fs::read_to_string(answers(chip)).unwrap();
    assert!(text.contains(from), "{chip} has no {from}");
    let file = std::env::temp_dir().join(format!("amdgpu-surface-{}-{name}.jsonl", std::process::id()));
    fs::write(&file, text.replacen(from, to, 1)).unwrap();
    let (exit, out, _) = compare(&file, chip);
    fs::remove_file(file).unwrap();
    (exit, out)
}

#[test]
fn radvs_answers_are_ours() {
    for chip in CHIPS {
        let (exit, out, err) = compare(&answers(chip), chip);
        assert_eq!((exit, err.as_str()), (Exit::Answered, ""), "{out}");
        assert!(out.contains(": 0 differ"), "{out}");
    }
}

#[test]
fn each_kind_of_answer_is_compared() {
    for (name, chip, from, to, found) in [
        ("size", "navi10", "\"samples\":1,\"size\":", "\"samples\":1,\"size\":1", "size: 1 differ, the first is ours "),
        ("alignment", "navi10", "\"alignment\":", "\"alignment\":1", "alignment: 1 differ, the first is ours "),
        ("pitch", "polaris10", "\"row_pitch\":", "\"row_pitch\":1", "part: 1 differ, the first is ours "),
        ("tail", "polaris10", "\"first_tail\":", "\"first_tail\":1", "pages: 1 differ, the first is ours "),
        ("planes", "navi31", "\"planes\":", "\"planes\":1", "planes of a modifier: 1 differ, the first is "),
        ("modifier", "navi31", "\"modifier\":1", "\"modifier\":2", "modifiers: 1 differ, the first is "),
        ("tiling", "polaris10", "\"tiling\":", "\"tiling\":1", "tiling word: 1 differ, the first is ours "),
        ("words", "polaris10", "\"words\":[1,", "\"words\":[2,", "words of memory: 1 differ, the first is ours "),
        ("extent", "navi31", "\"extent\":[2560,", "\"extent\":[2561,", "extent of a modifier: 1 differ, the first is "),
    ] {
        let (exit, out) = changed(name, chip, from, to);
        assert_eq!(exit, Exit::Refused, "{name}");
        assert!(out.contains(found), "{name}: {out}");
    }
}

#[test]
fn an_image_that_the_driver_refuses_is_a_difference() {
    let (exit, out) = changed("refused", "navi10", "\"samples\":", "\"refused\":\"ERROR_UNKNOWN\",\"samples\":");
    assert_eq!(exit, Exit::Refused);
    assert!(out.contains("refused: 1 differ, the first is ERROR_UNKNOWN"), "{out}");
}

#[test]
fn a_format_that_the_tables_lack_is_a_difference() {
    let (exit, out) = changed("format", "navi10", "\"format\":", "\"format\":9999");
    assert_eq!(exit, Exit::Refused);
    assert!(out.contains("no format of ours"), "{out}");
}

#[test]
fn what_is_no_answer_is_named_with_its_line() {
    let (exit, _) = changed("line", "navi10", "\"device\"", "\"gadget\"");
    assert_eq!(exit, Exit::Input);
}
