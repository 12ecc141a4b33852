//! The check that takes nearly all of a GPU's memory, on GPUs that have little of it.

mod support;

use amdgpu_sim::Profile;
use serde_json::Value;
use support::{Scratch, output, stdout};

/// Bytes of VRAM of the small GPU.
const VRAM: u64 = 40 << 20;

const ONLY: [&str; 4] = ["--level", "stress", "--filter", "^memory.whole$"];

/// Writes the capture of a chip with little memory, all of which the CPU sees.
fn small(scratch: &Scratch, chip: &str) -> String {
    let mut profile: Profile = amdgpu_sim::profile(chip).unwrap().clone();
    for pool in [&mut profile.memory.vram, &mut profile.memory.cpu_accessible_vram] {
        (pool.total_heap_size, pool.usable_heap_size, pool.heap_usage) = (VRAM, VRAM, 0);
        pool.max_allocation = VRAM * 3 / 4;
    }
    let path = scratch.path(&format!("{chip}.json"));
    std::fs::write(&path, profile.to_capture()).unwrap();
    path
}

fn run(arguments: &[&str]) -> Value {
    let output = output(&[&ONLY[..], arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn nine_tenths_of_the_free_memory_are_tested_and_the_result_has_the_share() {
    let scratch = Scratch::new("whole");
    let capture = small(&scratch, "navi21");
    let report = run(&["--sim", &capture]);
    let result = &report["results"][0];
    assert_eq!(result["status"], "pass", "{result}");
    let figure = |name: &str| result["tested"][name].as_u64().unwrap();
    let (bytes, free) = (figure("bytes"), figure("free"));
    assert!(free <= VRAM && bytes <= free * 9 / 10 && bytes + (2 << 20) > free * 9 / 10, "{result}");
    assert!(figure("written_per_second") > 0 && figure("read_per_second") > 0, "{result}");
    let detail = result["detail"].as_str().unwrap();
    let share = format!("{} of {} MiB free ({} %), 2 patterns, ", bytes >> 20, free >> 20, bytes * 100 / free);
    assert!(detail.starts_with(&share) && detail.contains("B/s, by sdma0"), "{detail}");
    let less = run(&["--sim", &capture, "--memory", "6M"]);
    assert_eq!(less["results"][0]["tested"]["bytes"], 6 << 20, "--memory is a limit");
}

#[test]
fn a_weak_cell_is_found_with_its_address_bit_and_channel() {
    let report = run(&["--sim", "navi21", "--memory", "32M", "--mutate", "weak-cell"]);
    let result = &report["results"][0];
    assert_eq!(result["status"], "fail", "{result}");
    let detail = result["detail"].as_str().unwrap();
    // One cell in each 4 MiB, wrong in the pattern or in its inverse.
    assert!(detail.starts_with("8 wrong bytes, bit 6, all in channel 10 of 16; "), "{detail}");
    let cell =
        regex::Regex::new(r"(0x[0-9a-f]+): found ([0-9a-f]{2}), expected ([0-9a-f]{2}), bit 6, channel 10 of 16");
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let mut cells = 0;
    for cell in cell.unwrap().captures_iter(detail) {
        assert_eq!(hex(&cell[1]) % (4 << 20), 0x3a_5a44, "{detail}");
        assert_eq!(hex(&cell[2]) ^ hex(&cell[3]), 0x40, "{detail}");
        cells += 1;
    }
    assert_eq!(cells, 8, "{detail}");
    assert_eq!(result["evidence"]["difference"]["bytes"], 8);
    let text = stdout(&output(&[&ONLY[..], &["--sim", "navi31", "--memory", "8M", "--mutate", "weak-cell"]].concat()));
    assert!(text.contains("2 wrong bytes, bit 6; 0x"), "24 channels have no number: {text}");
}

#[test]
fn a_long_check_tells_how_far_it_is() {
    let parent = std::process::id().to_string();
    let child = ["--sim", "navi21", "--memory", "16M", "--level", "stress", "--parent", &parent, "--child"];
    for check in ["memory.whole", "march.modulo"] {
        let lines = stdout(&output(&[&child[..], &[check]].concat()));
        let messages = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let percents: Vec<u64> = messages
            .filter(|message| message["kind"] == "progress")
            .map(|message| message["done"].as_u64().unwrap() * 100 / message["total"].as_u64().unwrap())
            .collect();
        assert!(percents.len() >= 4 && percents.is_sorted(), "{check}: {percents:?}");
        assert_eq!(percents.last(), Some(&100), "{check}: {percents:?}");
    }
}
