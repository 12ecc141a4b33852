//! Shaders that RADV compiled compute on every chip and with both wave sizes what another driver computes.
//!
//! `AMDGPU_ISA_SHADERS` names another folder of the same form: jobs in `NAME.json` or `jobs.jsonl`, machine code in
//! `code/CHIP.waveN.jsonl`, each plain or with `.gz`.

#[expect(clippy::cast_sign_loss, reason = "positions that are not negative")]
mod support;

use amdgpu_surface::Chip;
use serde_json::Value;
use support::{
    files::{folder, jobs, text},
    image,
    job::check,
};

const CHIPS: [&str; 9] =
    ["pitcairn", "bonaire", "polaris10", "vega10", "renoir", "navi10", "navi21", "navi31", "gfx1201"];

/// Runs every shader of a chip; returns how many were right, and what was wrong.
fn run_chip(jobs: &[Value], chip: &Chip, code: &str, threads: usize) -> (u32, Vec<String>) {
    let (mut right, mut wrong) = (0, Vec::new());
    for line in code.lines() {
        let code: Value = serde_json::from_str(line).unwrap();
        let name = code["shader"].as_str().unwrap();
        let Some(job) = jobs.iter().find(|job| job["name"] == name) else {
            wrong.push(format!("{name}: no job"));
            continue;
        };
        match check(chip, job, &code, threads) {
            Ok(()) => right += 1,
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    (right, wrong)
}

fn all_chips(threads: usize) -> Vec<String> {
    let folder = folder();
    let jobs = jobs(&folder);
    let mut all = Vec::new();
    let mut total = 0;
    for chip in CHIPS {
        let facts = image::chip(chip);
        for lanes in [32, 64] {
            let path = folder.join(format!("code/{chip}.wave{lanes}.jsonl"));
            let Some(code) = text(&path) else { continue };
            let (right, wrong) = run_chip(&jobs, &facts, &code, threads);
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
    let wrong = all_chips(1);
    for line in &wrong {
        println!("{line}");
    }
    assert_eq!(wrong.len(), 0);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let folder = folder();
    let jobs = jobs(&folder);
    let code = text(&folder.join("code/navi31.wave32.jsonl")).expect("the file of one chip");
    for threads in [2, 7] {
        let (right, wrong) = run_chip(&jobs, &image::chip("navi31"), &code, threads);
        assert!(right > 50 && wrong.is_empty(), "{threads} threads: {wrong:?}");
    }
}
