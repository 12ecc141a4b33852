//! The README shows what the program prints.

mod support;

use support::{golden, run};

/// Each fenced block that begins with `$ amdgpu-budget` is what that command prints.
#[test]
fn every_command_of_the_readme_prints_what_it_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let mut written = String::new();
    let mut rest = readme.as_str();
    let mut count = 0;
    while let Some((before, block)) = rest.split_once("```text\n$ amdgpu-budget ") {
        let (command, _) = block.split_once('\n').unwrap();
        let (_, after) = block.split_once("\n```\n").unwrap();
        let output = run(&command.split_whitespace().collect::<Vec<_>>());
        let printed = output.stdout.trim_end();
        written.push_str(&[before, "```text\n$ amdgpu-budget ", command, "\n", printed, "\n```\n"].concat());
        rest = after;
        count += 1;
    }
    written.push_str(rest);
    assert!(count >= 5, "the README has lost its examples");
    golden("README.md", &written);
}

#[test]
fn the_picture_of_the_readme_is_what_top_shows() {
    let arguments = "--sim navi21 --sim-step 0 top --once 100x26 --samples 15 --svg --color always";
    let output = run(&arguments.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.code, 0, "{}", output.stderr);
    golden("doc/top.svg", &output.stdout);
}
