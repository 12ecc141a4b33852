//! Text that others wrote, and files that others planted.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use proptest::prelude::*;

use crate::{
    server::Served,
    sim,
    support::{Directory, run, run_with},
};

/// Returns `true` for characters other than tabs, which tools print themselves, that move a cursor, change colours or the direction of text.
fn is_hidden(letter: char) -> bool {
    !matches!(letter, '\n' | '\t')
        && (letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}'))
}

/// Returns a recording all of whose strings that are names are hostile.
fn recording(hostile: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(&sim(&["--json"]).stdout).unwrap();
    let gpu = &mut value["gpus"][0];
    for key in ["name", "chip", "pci", "render", "driver", "power", "vram_vendor"] {
        gpu[key] = hostile.into();
    }
    for process in gpu["processes"].as_array_mut().unwrap() {
        for key in ["name", "user", "cgroup"] {
            process[key] = hostile.into();
        }
    }
    gpu["missing"][0]["reason"] = hostile.into();
    value["time"] = hostile.into();
    serde_json::to_string(&value).unwrap()
}

/// The commands that print text of a recording.
const COMMANDS: &[&[&str]] = &[
    &["show"],
    &["list"],
    &["ps"],
    &["ps", "--tree", "--clients"],
    &["heaps"],
    &["heaps", "--as-vulkan"],
    &["explain"],
    &["check"],
    &["--json", "show"],
    &["--jsonl", "show"],
    &["--csv", "ps"],
    &["--color", "never", "--verbose", "show"],
    &["plot", "--format", "braille"],
    &["plot", "--by", "process"],
    &["replay"],
];

fn is_harmless(hostile: &str) {
    let text = recording(hostile);
    for command in COMMANDS {
        let output = run_with(&[&["--from", "-"], *command].concat(), text.as_bytes());
        assert_ne!(output.code, 101, "{command:?}: {}", output.stderr);
        for shown in [&output.stdout, &output.stderr] {
            let shown = shown.replace("\r\n", "\n");
            assert!(!shown.contains(is_hidden), "{command:?}: {hostile:?} in {shown:?}");
        }
    }
}

#[test]
fn sequences_of_terminals_in_recordings_are_shown_and_not_sent() {
    is_harmless("\u{1b}]0;title\u{7}\u{1b}[31m\u{9b}2J\u{7f}\u{202e}\u{2066}\n\r\t end");
    // An end of a line in a name is no end of a line.
    let shown = run_with(&["--from", "-", "ps"], recording("a\nb").as_bytes()).stdout;
    assert!(shown.contains("a[U+000A]b"), "{shown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn no_text_command_passes_hidden_characters_on(hostile in "(\u{1b}\\[[0-9;]{0,3}[a-zA-Z]|\\PC|[\\x00-\\x1f\\x7f-\u{9f}\u{202a}-\u{202e}]){1,12}") {
        is_harmless(&hostile);
    }
}

#[test]
fn names_in_messages_and_arguments_are_shown_too() {
    for arguments in [
        &["--from", "no\u{1b}[31m\u{202e}file"][..],
        &["\u{1b}]0;x\u{7}"],
        &["--root", "no\u{1b}[2Jfolder"],
        &["--sim", "navi\u{1b}[31m"],
        &["--sim", "navi21", "--gpu", "\u{1b}[31m"],
        &["--sim", "navi21", "explain", "\u{1b}[31m"],
        &["va", "no\u{1b}[31mfile"],
        &["check", "--root", "no\u{1b}[2Jfolder"],
    ] {
        let output = run(arguments);
        assert_ne!(output.code, 0, "{arguments:?}");
        let said = format!("{}{}", output.stdout, output.stderr);
        let is_shown = said.contains("[U+001B]") || said.contains("\\u{1b}");
        assert!(is_shown && !said.contains(is_hidden), "{arguments:?}: {said:?}");
    }
}

#[test]
fn the_tools_own_colours_stay() {
    let shown = sim(&["--color", "always", "show"]).stdout;
    assert!(shown.contains("\u{1b}[1m") && shown.contains("\u{1b}[0m"), "{shown:?}");
    assert!(!shown.contains("\u{1b}_"), "{shown:?}");
}

#[test]
fn only_hosts_of_the_server_are_answered_and_pages_of_others_read_nothing() {
    let served = Served::with("navi21", &["--allow-host", "gpu.example"]);
    for (host, status) in [
        ("localhost", "200"),
        ("127.0.0.1:9417", "200"),
        ("gpu.example", "200"),
        ("attacker.example.com", "421"),
        ("127.0.0.1.attacker.example", "421"),
        ("192.168.7.7", "421"),
    ] {
        for path in ["/", "/api/snapshot", "/api/explain", "/metrics", "/nothing"] {
            let answer = served.say(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
            let answer = String::from_utf8(answer).unwrap();
            let expected = if path == "/nothing" && status == "200" { "404" } else { status };
            assert!(answer.starts_with(&format!("HTTP/1.1 {expected} ")), "{host} {path}: {answer:.80}");
            let (head, _) = answer.split_once("\r\n\r\n").unwrap();
            for header in [
                "X-Content-Type-Options: nosniff",
                "Cache-Control: no-store",
                "Content-Security-Policy: default-src 'none'",
            ] {
                assert!(head.contains(header), "{host} {path}: {head}");
            }
        }
    }
}

/// Scripts run under the policy if they have its number, which is another one each time.
#[test]
fn the_pages_script_has_the_number_of_its_policy() {
    let served = Served::with("navi21", &[]);
    let number = || {
        let page = served.get("/");
        let (_, rest) = page.split_once("script-src 'nonce-").unwrap();
        let (number, _) = rest.split_once('\'').unwrap();
        assert_eq!(page.matches("<script").count(), page.matches(&format!("<script nonce=\"{number}\">")).count());
        assert!(!page.contains("onclick=") && page.contains("connect-src 'self'"));
        number.to_owned()
    };
    assert_ne!(number(), number());
}

#[test]
fn planted_links_in_shared_folders_lead_nowhere() {
    let folder = Directory::new();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let victim = Directory::new();
    let precious = victim.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in ["a.svg", "a.jsonl", "a.jsonl.gz", "a.prom"] {
        symlink(&precious, path(name)).unwrap();
    }
    for (arguments, expected) in [
        (["plot", "-n", "2", "--interval", "0.01", "-o", &path("a.svg")].as_slice(), 4),
        (&["record", "-n", "1", &path("a.jsonl")], 4),
        (&["record", "-n", "1", &path("a.jsonl.gz")], 4),
        // The link itself is replaced.
        (&["serve", "--textfile", &path("a.prom")], 0),
    ] {
        let output = sim(arguments);
        assert_eq!(
            (output.code == 0, fs::read_to_string(&precious).unwrap().as_str()),
            (expected == 0, "precious"),
            "{arguments:?}: {}",
            output.stderr
        );
        assert!(expected == 0 || output.stderr.contains("in a folder that others can write"), "{}", output.stderr);
    }
    assert!(fs::read_to_string(path("a.prom")).unwrap().contains("amdgpu_"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left beside");
}

/// A snapshot many times over needs no more memory than a part of them.
#[test]
fn a_plot_of_a_long_recording_needs_little_memory() {
    use std::io::Write as _;

    let line = sim(&["--jsonl"]).stdout;
    let folder = Directory::new();
    let path = folder.path().join("long.jsonl.gz");
    let mut file = flate2::write::GzEncoder::new(fs::File::create(&path).unwrap(), flate2::Compression::fast());
    for second in 0..3000_u64 {
        let mut value: serde_json::Value = serde_json::from_str(&line).unwrap();
        value["monotonic_ns"] = (second * 1_000_000_000).into();
        writeln!(file, "{value}").unwrap();
    }
    file.finish().unwrap();
    for by in ["domain", "process"] {
        let output = run(&["plot", "--from", path.to_str().unwrap(), "--by", by]);
        assert!(output.code == 0 && output.stdout.starts_with("<svg"), "{}", output.stderr);
    }
}
