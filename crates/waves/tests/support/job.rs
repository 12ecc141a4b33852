//! One shader on one chip: descriptors, user data, dispatch, and the check of its outputs.

use std::ops::ControlFlow;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::WaveSize;
use amdgpu_surface::Chip;
use amdgpu_test_support::jobs::Job;
use amdgpu_waves::{Dispatch, Limits, Outcome, Watch, run, run_on_threads, run_watched};
use serde_json::Value;

use super::{
    arena::{Arena, START},
    files::bytes,
    image::{TestImage, sampler},
};

/// A buffer or an image of a job.
struct Output {
    name: String,
    place: Place,
}

enum Place {
    Buffer(u64, usize),
    Image(Box<TestImage>),
}

fn number(value: &Value) -> u64 {
    match value {
        Value::String(text) => u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap(),
        other => other.as_u64().unwrap_or(0),
    }
}

fn triple(value: &Value) -> [u32; 3] {
    [0, 1, 2].map(|axis| value[axis].as_u64().unwrap() as u32)
}

/// Returns the third word of a descriptor of 32-bit data, or of a texel buffer's format.
fn word3(level: GfxLevel, format: Option<&str>) -> u32 {
    let selects = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    let (data, numbers, unified10, unified11) = match format {
        Some("R8G8B8A8_UNORM") => (10, 0, 56, 42),
        Some("R32_UINT") => (4, 4, 20, 20),
        None => (4, 7, 22, 22),
        Some(other) => panic!("no code for {other}"),
    };
    // Texel buffers check the index, others bytes.
    let bounds = if format.is_some() { 1 } else { 3 };
    match level {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx9 => selects | numbers << 12 | data << 15,
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => selects | unified10 << 12 | 1 << 24 | bounds << 28,
        _ => selects | unified11 << 12 | bounds << 28,
    }
}

fn descriptor(level: GfxLevel, va: u64, len: usize, format: Option<&str>) -> [u32; 4] {
    let stride = if format.is_some() { 4 } else { 0 };
    // Counted in elements, but on GFX8.
    let records = if stride == 0 || level == GfxLevel::Gfx8 { len } else { len / 4 };
    [va as u32, (va >> 32) as u32 & 0xffff | stride << 16, records as u32, word3(level, format)]
}

/// Adds the descriptors of an image, as RADV places them, to those of a set.
fn add_image(set: &mut Vec<u8>, level: GfxLevel, image: &TestImage, binding: &Value, high: u64) {
    let is_combined = binding["type"] == "combined_image_sampler";
    let start = set.len().next_multiple_of(32);
    set.resize(start, 0);
    let mut push = |words: &[u32]| set.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    push(&image.descriptor(!is_combined, high));
    if is_combined {
        push(&[0; 12]);
        push(&sampler(level, binding));
    }
}

/// The way in which a job is executed.
#[derive(Clone, Copy)]
pub(crate) enum Execution<'e> {
    Threads(usize),
    /// Watched for missing waits and hazards.
    Watched,
    /// The same, without the instructions at these offsets. Fails if anything is found.
    Without(&'e [u64]),
}

/// Executes a dispatch. Fails if a wait is missing or instructions have a hazard.
fn execute(dispatch: &Dispatch, arena: &Arena, execution: Execution<'_>) -> Result<Outcome, String> {
    let limits = Limits::default();
    match execution {
        Execution::Threads(1) => Ok(run(dispatch, arena, limits)),
        Execution::Threads(threads) => Ok(run_on_threads(dispatch, arena, limits, threads)),
        Execution::Watched | Execution::Without(_) => {
            let without = match execution {
                Execution::Without(offsets) => offsets.iter().map(|offset| dispatch.program + offset).collect(),
                _ => Vec::new(),
            };
            let watch = Watch { waits: true, hazards: true, without, ..Watch::default() };
            let mut found = String::new();
            let (outcome, report) = run_watched(dispatch, arena, limits, &watch, &mut |event| {
                found = format!("{found}\n  {event}");
                ControlFlow::Continue(())
            });
            if report.waits + report.hazards > 0 || !found.is_empty() { Err(found) } else { Ok(outcome) }
        }
    }
}

/// Runs a job. Returns what is wrong.
pub(crate) fn check(chip: &Chip, job: &Value, code: &Value, execution: Execution<'_>) -> Result<(), String> {
    let level = chip.level();
    let arena = Arena::new();
    let high = if level >= GfxLevel::Gfx9 { 0x8000_u64 << 32 } else { 0 };
    let mut outputs = Vec::new();
    let mut sets: [Vec<u8>; 4] = Default::default();
    let mut push = bytes(job["push"].as_str().unwrap_or(""));
    for binding in job["bindings"].as_array().unwrap() {
        let set = number(&binding["set"]) as usize;
        if binding["type"].as_str().unwrap().contains("image") {
            let data = bytes(binding["init"].as_str().unwrap_or(""));
            let image = TestImage::new(chip, &arena, binding, &data);
            add_image(&mut sets[set], level, &image, binding, high);
            let name = format!("{set}.{}.0", binding["binding"]);
            outputs.push(Output { name, place: Place::Image(Box::new(image)) });
            continue;
        }
        let len = number(&binding["size"]) as usize;
        let mut init = bytes(binding["init"].as_str().unwrap_or(""));
        let count = binding["array"].as_u64().unwrap_or(1) as usize;
        init.resize(len * count, 0);
        for element in 0..count {
            let va = high | arena.add(&init[element * len..][..len]);
            let words = descriptor(level, va, len, binding["format"].as_str());
            sets[set].extend(words.iter().flat_map(|word| word.to_le_bytes()));
            if let Some(at) = binding["push_address"].as_u64() {
                // Device addresses are not those of descriptors, but any address will do.
                push[at as usize..][..8].copy_from_slice(&va.to_le_bytes());
            }
            let name = format!("{set}.{}.{element}", binding["binding"]);
            outputs.push(Output { name, place: Place::Buffer(va, len) });
        }
    }
    let dispatch = dispatch(chip, job, code, &arena, (&sets, &push));
    for _ in 0..job["dispatches"].as_u64().unwrap_or(1) {
        match execute(&dispatch, &arena, execution)? {
            Outcome::Done(_) => {}
            Outcome::Hang(hang) => return Err(hang.to_string()),
            other => return Err(format!("{other:?}")),
        }
    }
    let judged: Job = serde_json::from_value(job.clone()).unwrap();
    judged.judge(number(&code["wave_size"]) as u32, |name| {
        let output = outputs.iter().find(|output| output.name == name)?;
        Some(match &output.place {
            Place::Buffer(va, len) => arena.read(*va, *len),
            Place::Image(image) => image.read(&arena),
        })
    })
}

fn dispatch(chip: &Chip, job: &Value, code: &Value, arena: &Arena, (sets, push): (&[Vec<u8>], &[u8])) -> Dispatch {
    let level = chip.level();
    let program = arena.add(&bytes(code["code"].as_str().unwrap()));
    let groups = triple(&job["groups"]);
    let start = if job["base"].is_array() { triple(&job["base"]) } else { [0; 3] };
    let end = [0, 1, 2].map(|axis| start[axis] + groups[axis]);
    let resources = ["rsrc1", "rsrc2", "rsrc3"].map(|name| number(&code[name]) as u32);
    let lanes = number(&code["wave_size"]);
    let scratch = number(&code["scratch_bytes_per_wave"]);
    let (ring_units, high_bits) = if level >= GfxLevel::Gfx11 { (256, 0) } else { (1024, 1 << 31) };
    let scratch_base = arena.add(&vec![0; scratch as usize * 8]);
    let mut user_data = [0; 16];
    let positions = &code["user_data"];
    let mut place = |name: &str, values: &[u32]| {
        if let Some(at) = positions[name][0].as_i64().filter(|at| *at >= 0) {
            user_data[at as usize..][..values.len()].copy_from_slice(values);
        }
    };
    place("scratch_ring_offsets", &[scratch_base as u32, high_bits | if level >= GfxLevel::Gfx9 { 0x8000 } else { 0 }]);
    place("push_constants", &[arena.add(push) as u32]);
    let mask = number(&code["inline_push_mask"]);
    let inlined: Vec<u32> = (0..64)
        .filter(|bit| mask >> bit & 1 != 0)
        .map(|bit| u32::from_le_bytes(push[4 * bit..][..4].try_into().unwrap()))
        .collect();
    place("inline_push_constants", &inlined);
    if positions["cs_grid_size"][1].as_u64() == Some(2) {
        let sizes: Vec<u8> = groups.iter().flat_map(|count| count.to_le_bytes()).collect();
        let va = arena.add(&sizes);
        place("cs_grid_size", &[va as u32, 0]);
    } else {
        place("cs_grid_size", &groups);
    }
    for (set, table) in sets.iter().enumerate() {
        if let Some(at) = positions["descriptor_sets"][set][0].as_i64().filter(|at| *at >= 0) {
            user_data[at as usize] = arena.add(table) as u32;
        }
    }
    assert!(program >= START);
    Dispatch {
        level,
        wave: if lanes == 32 { WaveSize::Wave32 } else { WaveSize::Wave64 },
        program,
        resources,
        user_data,
        threads: triple(&code["block"]),
        partial: [0; 3],
        start,
        end,
        scratch_ring: 8 | ((scratch.div_ceil(ring_units)) as u32) << 12,
        scratch_base,
        chip: Some(*chip),
        border_colors: 0,
    }
}
