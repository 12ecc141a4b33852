//! The manual page, the completions, and the README's excerpts.

mod support;

use std::fs;

use support::{printed, run, text};

#[test]
fn the_manual_page_has_every_command_examples_and_statuses() {
    let man = printed(&["man"], 0);
    for command in ["dump", "diff", "disassemble", "check", "man", "completions"] {
        assert!(man.contains(&format!(".SS {command}\n")), "{command}");
    }
    for section in ["EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"] {
        assert!(man.contains(&format!("\n.SH \"{section}\"\n")), "{section}");
    }
    for code in 0..4 {
        assert!(man.contains(&format!("\n.TP\n.B {code}\n")), "{code}");
    }
    assert!(man.contains("ignore\\-addresses"));
}

#[test]
fn completions_know_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let completions = printed(&["completions", shell], 0);
        assert!(completions.contains("disassemble") && completions.contains("ignore-addresses"), "{shell}");
    }
}

/// Each fenced block that begins with `$ amdgpu-ib` is what that command prints among the test data.
/// `AMDGPU_IB_WRITE_GOLDENS=1` writes them anew.
#[test]
fn every_command_of_the_readme_prints_what_it_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = fs::read_to_string(path).unwrap();
    let (mut written, mut rest, mut count) = (String::new(), readme.as_str(), 0);
    while let Some((before, block)) = rest.split_once("```text\n$ amdgpu-ib ") {
        let (line, _) = block.split_once('\n').unwrap();
        let (_, after) = block.split_once("\n```\n").unwrap();
        let output = run(&line.split_whitespace().collect::<Vec<_>>());
        assert!(output.stderr.is_empty(), "{line}: {}", text(&output.stderr));
        let printed = text(&output.stdout);
        written += &[before, "```text\n$ amdgpu-ib ", line, "\n", printed.trim_end(), "\n```\n"].concat();
        (rest, count) = (after, count + 1);
    }
    written += rest;
    assert!(count >= 3, "the README has lost its examples");
    if std::env::var_os("AMDGPU_IB_WRITE_GOLDENS").is_some() {
        fs::write(path, &written).unwrap();
    }
    assert_eq!(written, fs::read_to_string(path).unwrap());
}
