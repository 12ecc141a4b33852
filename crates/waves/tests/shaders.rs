//! Shaders that RADV compiled compute on every chip and with both wave sizes what another driver computes.
//!
//! `AMDGPU_ISA_SHADERS` names another folder of the same form: jobs in `NAME.json` or `jobs.jsonl`, machine code in
//! `code/CHIP.waveN.jsonl`, each plain or with `.gz`.

#[expect(clippy::cast_sign_loss, reason = "positions that are not negative")]
mod support;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, decode};
use amdgpu_surface::Chip;
use serde_json::Value;
use support::{
    files::{bytes, folder, jobs, text},
    image,
    job::{Execution, check},
};

const CHIPS: [&str; 9] =
    ["pitcairn", "bonaire", "polaris10", "vega10", "renoir", "navi10", "navi21", "navi31", "gfx1201"];

/// Runs every shader of a chip; returns how many were right, and what was wrong.
fn run_chip(jobs: &[Value], chip: &Chip, code: &str, execution: Execution<'_>) -> (u32, Vec<String>) {
    let (mut right, mut wrong) = (0, Vec::new());
    for line in code.lines() {
        let code: Value = serde_json::from_str(line).unwrap();
        let name = code["shader"].as_str().unwrap();
        let Some(job) = jobs.iter().find(|job| job["name"] == name) else {
            wrong.push(format!("{name}: no job"));
            continue;
        };
        match check(chip, job, &code, execution) {
            Ok(()) => right += 1,
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    (right, wrong)
}

fn all_chips(execution: Execution<'_>) -> Vec<String> {
    let folder = folder();
    let jobs = jobs(&folder);
    let mut all = Vec::new();
    let mut total = 0;
    for chip in CHIPS {
        let facts = image::chip(chip);
        for lanes in [32, 64] {
            let path = folder.join(format!("code/{chip}.wave{lanes}.jsonl"));
            let Some(code) = text(&path) else { continue };
            let (right, wrong) = run_chip(&jobs, &facts, &code, execution);
            println!("{chip} wave{lanes}: {right} right, {} wrong", wrong.len());
            total += right;
            all.extend(wrong.into_iter().map(|wrong| format!("{chip} wave{lanes} {wrong}")));
        }
    }
    assert!(total > 0, "no shaders in {}", folder.display());
    all
}

#[test]
fn every_shader_computes_what_is_expected() {
    let wrong = all_chips(Execution::Threads(1));
    for line in &wrong {
        println!("{line}");
    }
    assert_eq!(wrong.len(), 0);
}

#[test]
fn no_shader_lacks_a_wait() {
    let wrong = all_chips(Execution::Watched);
    for line in &wrong {
        println!("{line}");
    }
    assert_eq!(wrong.len(), 0);
}

/// Returns the code of a shader with `s_nop` in place of waits.
fn without_waits(level: GfxLevel, code: &Value) -> Value {
    const NOP: u32 = 0xbf80_0000;
    let wave = if code["wave_size"] == 32 { WaveSize::Wave32 } else { WaveSize::Wave64 };
    let bytes = bytes(code["code"].as_str().unwrap());
    let mut words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let (mut at, end) = (0, code["exec_size"].as_u64().unwrap() as usize / 4);
    while at < end {
        let instruction = decode(level, wave, &words[at..]).unwrap();
        if instruction.name().starts_with("s_wait") {
            words[at] = NOP;
        }
        at += instruction.dwords().len();
    }
    let mut code = code.clone();
    let digits: Vec<String> = words.iter().map(|word| format!("{:08x}", word.swap_bytes())).collect();
    code["code"] = digits.concat().into();
    code
}

#[test]
fn every_shader_without_its_waits_lacks_some() {
    let folder = folder();
    let jobs = jobs(&folder);
    for chip in CHIPS {
        let facts = image::chip(chip);
        for lanes in [32, 64] {
            let Some(code) = text(&folder.join(format!("code/{chip}.wave{lanes}.jsonl"))) else { continue };
            for line in code.lines() {
                let code: Value = serde_json::from_str(line).unwrap();
                let job = jobs.iter().find(|job| job["name"] == code["shader"]).unwrap();
                let found = check(&facts, job, &without_waits(facts.level(), &code), Execution::Watched);
                let found = found.expect_err("no wait is missing");
                assert!(found.contains("missing wait"), "{chip} wave{lanes} {}: {found}", code["shader"]);
            }
        }
    }
}

/// An instruction of a shader that does nothing but keep others apart.
struct Guard {
    offset: u64,
    text: String,
    /// `true` for `s_nop` before the start of a loop, which lies at a multiple of 64 bytes.
    aligns: bool,
}

fn guards(level: GfxLevel, code: &Value) -> Vec<Guard> {
    let wave = if code["wave_size"] == 32 { WaveSize::Wave32 } else { WaveSize::Wave64 };
    let bytes = bytes(code["code"].as_str().unwrap());
    let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let (mut at, end) = (0, code["exec_size"].as_u64().unwrap() as usize / 4);
    let mut all: Vec<Guard> = Vec::new();
    // The index of the first of a row of `s_nop`.
    let mut row = 0;
    while at < end {
        let instruction = decode(level, wave, &words[at..]).unwrap();
        let (name, text) = (instruction.name(), instruction.to_string());
        if name != "s_nop" {
            row = all.len();
        }
        if ["s_nop", "v_nop", "s_wait"].iter().any(|start| name.starts_with(start)) {
            row += usize::from(name != "s_nop");
            all.push(Guard { offset: 4 * at as u64, text, aligns: false });
        }
        at += instruction.dwords().len();
        if name == "s_nop" && at % 16 == 0 {
            all[row..].iter_mut().for_each(|guard| guard.aligns = true);
        }
    }
    all
}

/// Returns the number of findings in a program without some of its guards.
fn findings(facts: &Chip, job: &Value, code: &Value, without: &[u64]) -> usize {
    let found = check(facts, job, code, Execution::Without(without));
    found.err().map_or(0, |found| found.lines().filter(|line| !line.is_empty()).count())
}

/// Each wait and `s_nop` of a compiler is taken away alone. If that is not noticed, either it only aligns a loop, or another one
/// protects the same: of all guards, it alone leaves less to find than none. At least 95 of 100 others are noticed; the rest protects
/// paths that no wave takes, of which GFX10.1 has most, or is `s_nop` before the release of registers on GFX12, which the rules only
/// ask for on GFX11.
#[test]
fn the_absence_of_each_guard_is_noticed_unless_another_one_protects_the_same() {
    let folder = folder();
    let jobs = jobs(&folder);
    let mut total = (0, 0);
    for chip in CHIPS {
        let facts = image::chip(chip);
        for lanes in [32, 64] {
            let Some(code) = text(&folder.join(format!("code/{chip}.wave{lanes}.jsonl"))) else { continue };
            let (mut noticed, mut covered, mut unnoticed) = (0, 0, Vec::new());
            for line in code.lines() {
                let code: Value = serde_json::from_str(line).unwrap();
                let job = jobs.iter().find(|job| job["name"] == code["shader"]).unwrap();
                let guards = guards(facts.level(), &code);
                let all: Vec<u64> = guards.iter().map(|guard| guard.offset).collect();
                let without_all = findings(&facts, job, &code, &all);
                for Guard { offset, text, aligns } in &guards {
                    if findings(&facts, job, &code, &[*offset]) > 0 {
                        noticed += 1;
                    } else if !aligns {
                        let others: Vec<u64> = all.iter().copied().filter(|other| other != offset).collect();
                        if findings(&facts, job, &code, &others) < without_all {
                            covered += 1;
                        } else {
                            unnoticed.push(format!("{} {offset:#x} {text}", code["shader"]));
                        }
                    }
                }
            }
            println!("{chip} wave{lanes}: {noticed} noticed, {covered} covered, {}: {unnoticed:#?}", unnoticed.len());
            let needed = noticed + unnoticed.len();
            assert!(noticed * 100 >= needed * 85, "{chip} wave{lanes}: {noticed} of {needed}: {unnoticed:#?}");
            total = (total.0 + noticed, total.1 + needed);
        }
    }
    println!("{} of {}", total.0, total.1);
    assert!(total.0 * 100 >= total.1 * 95, "{} of {}", total.0, total.1);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let folder = folder();
    let jobs = jobs(&folder);
    let code = text(&folder.join("code/navi31.wave32.jsonl")).expect("the file of one chip");
    for threads in [2, 7] {
        let (right, wrong) = run_chip(&jobs, &image::chip("navi31"), &code, Execution::Threads(threads));
        assert!(right > 50 && wrong.is_empty(), "{threads} threads: {wrong:?}");
    }
}
