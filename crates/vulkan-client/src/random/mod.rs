//! Compute shaders made at random, whose results on two drivers are compared.
//!
//! - [`generator`] is the grammar's statements; [`integer`], [`float`], [`edge`], [`shared`] and [`subgroup`] are its operations.
//! - [`module`] writes SPIR-V.
//!
//! The driver that is believed computes with `--save DIR`, the one that is tested with `--compare DIR`. A shader is its seed:
//! the second run makes the same programs again. When results differ, the SPIR-V of both runs lies in the folder.

mod edge;
mod float;
mod form;
mod generator;
mod integer;
mod kind;
mod module;
mod shared;
mod subgroup;

use std::{fs, io::Cursor, path::Path};

use ash::util::read_spv;

use self::{
    form::Subgroups,
    generator::Shader,
    kind::Scalar,
    module::{ATOMICS, GROUPS, LOCAL, OUTPUT},
};
use crate::{
    cli::Arguments,
    exit::Exit,
    gpu::{Gpu, MemoryPlace, Order, QueueKind},
    outcome::{ErrorContext, Outcome, Stop, fail, say, skip},
};

/// Runs `count` shaders, and keeps or compares their results.
pub(crate) fn run(count: u64, arguments: &Arguments) -> Exit {
    if ![32, 64].contains(&lanes(arguments)) {
        eprintln!("subgroups have 32 or 64 lanes");
        return Exit::Invalid;
    }
    let open = || match Gpu::open(arguments.any_device) {
        Ok(gpu) => Ok(gpu),
        Err(Stop::Skip(reason)) => {
            say(&format!("skip  {reason}"));
            Err(Exit::Skip)
        }
        Err(Stop::Fail(evidence)) => {
            say(&format!("fail  {evidence}"));
            Err(Exit::Fail)
        }
    };
    let mut gpu = match open() {
        Ok(gpu) => gpu,
        Err(exit) => return exit,
    };
    let mut exits = Vec::new();
    for seed in arguments.seed..arguments.seed.saturating_add(count) {
        let mut result = one(&gpu, seed, arguments);
        // A shader that hangs is a failure of its own seed alone, though its own wait may have ended well.
        if gpu.is_lost() {
            result = result.and_then(|_| fail("the device was lost"));
            drop(gpu);
            gpu = match open() {
                Ok(gpu) => gpu,
                Err(_) => return Exit::Fail,
            };
        }
        let (word, text, exit) = match result {
            Ok(figures) => ("pass", figures, Exit::Pass),
            Err(Stop::Skip(reason)) => ("skip", reason, Exit::Skip),
            Err(Stop::Fail(evidence)) => ("fail", evidence, Exit::Fail),
        };
        if exit != Exit::Pass {
            say(&format!("{word}  random.{seed:<25} {text}"));
        }
        exits.push(exit);
    }
    let count = |exit| exits.iter().filter(|&&one| one == exit).count();
    let (passed, failed, skipped) = (count(Exit::Pass), count(Exit::Fail), count(Exit::Skip));
    say(&format!("{passed} passed, {failed} failed, {skipped} skipped"));
    Exit::of(passed, failed)
}

/// Returns the number of lanes that the subgroups have.
fn lanes(arguments: &Arguments) -> u32 {
    arguments.subgroup_size.unwrap_or(64)
}

fn one(gpu: &Gpu, seed: u64, arguments: &Arguments) -> Outcome {
    let (size, saves) = (lanes(arguments), arguments.save.is_some());
    let subgroups = if saves { Subgroups::Emulated(size) } else { Subgroups::Native(size) };
    let shader = generator::shader(seed, subgroups).context("make a shader")?;
    supported(gpu, &shader)?;
    let needs = if saves { None } else { required_size(gpu, size)? };
    let input: Vec<u8> = generator::input_of(seed).into_iter().flat_map(u32::to_le_bytes).collect();
    let keep = |directory: &Path, ending: &str, bytes: &[u8]| {
        fs::write(directory.join(format!("{seed}.{ending}")), bytes).context("write a file")
    };
    let spirv: Vec<u8> = shader.words.iter().copied().flat_map(u32::to_le_bytes).collect();
    if let Some(directory) = &arguments.save {
        fs::create_dir_all(directory).context("make the folder")?;
        keep(directory, "saved.spv", &spirv)?;
        let output = compute(gpu, &spirv, &input, needs)?;
        keep(directory, "out", &output)?;
        return Ok(format!("{} probes", shader.probes.len()));
    }
    let output = compute(gpu, &spirv, &input, needs)?;
    let Some(directory) = &arguments.compare else { return Ok(format!("{} probes", shader.probes.len())) };
    let expected = fs::read(directory.join(format!("{seed}.out"))).context("read what was saved")?;
    match difference(&shader, &output, &expected) {
        None => Ok(format!("{} probes", shader.probes.len())),
        Some(text) => {
            keep(directory, "compared.spv", &spirv)?;
            keep(directory, "compared.out", &output)?;
            fail(format!("{text}; {}/{seed}.compared.spv, --subgroup-size {size}", directory.display()))
        }
    }
}

/// Skips a shader that the device lacks a feature for.
fn supported(gpu: &Gpu, shader: &Shader) -> Result<(), Stop> {
    let core = gpu.features();
    for kind in &shader.kinds {
        let has = match kind {
            Scalar::U16 => core.shader_int16 != 0,
            Scalar::U64 => core.shader_int64 != 0,
            Scalar::F64 => core.shader_float64 != 0,
            Scalar::F16 => gpu.newer.float16,
            Scalar::Bool | Scalar::U32 | Scalar::F32 => true,
        };
        if !has {
            return skip(format!("no {kind:?} in shaders here"));
        }
    }
    if !gpu.newer.dot_product {
        return skip("no dot products of packed bytes here");
    }
    Ok(())
}

/// Returns the size to ask a pipeline's subgroups to have: `None` where they have it anyway. Skips a size that there is not.
fn required_size(gpu: &Gpu, size: u32) -> Result<Option<u32>, Stop> {
    match &gpu.newer.subgroup_sizes {
        Some(sizes) if sizes.contains(&size) => Ok(Some(size)),
        None if gpu.newer.subgroup_size == size => Ok(None),
        _ => skip(format!("no subgroups of {size} lanes here")),
    }
}

/// Runs a shader, and returns its output buffer.
fn compute(gpu: &Gpu, spirv: &[u8], input: &[u8], subgroup: Option<u32>) -> Result<Vec<u8>, Stop> {
    let words = read_spv(&mut Cursor::new(spirv)).context("read the SPIR-V")?;
    let bytes = u64::from(OUTPUT) * 4;
    let source = gpu.storage_buffer(input.len() as u64, MemoryPlace::Host).context("make a buffer")?;
    let target = gpu.storage_buffer(bytes, MemoryPlace::Host).context("make a buffer")?;
    source.memory().write(0, input);
    target.memory().write(0, &vec![0; bytes as usize]);
    let pipeline = gpu.pipeline(&words, &[&source, &target], subgroup).context("make a pipeline")?;
    let queue = gpu.lane(QueueKind::Compute).map_or_else(|| gpu.need(QueueKind::Graphics), Ok)?;
    let submission = gpu
        .submit(queue, &Order::free(), |commands| {
            commands.dispatch(&pipeline, [GROUPS, 1, 1]);
            commands.barrier();
        })
        .context("submit a dispatch")?;
    submission.finish().context("wait for the dispatch")?;
    drop(submission);
    Ok(target.memory().read(0, bytes as usize))
}

/// Describes the first word that differs.
fn difference(shader: &Shader, found: &[u8], expected: &[u8]) -> Option<String> {
    let words =
        |bytes: &[u8]| -> Vec<u32> { bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect() };
    let (found, expected) = (words(found), words(expected));
    if found.len() != expected.len() {
        return Some(format!("{} words were saved, and {} computed", expected.len(), found.len()));
    }
    let differing: Vec<_> = (0_u32..).zip(found.iter().zip(&expected)).filter(|(_, (a, b))| a != b).collect();
    // The atomics come first in the buffer, and depend on everything.
    let &(index, (found, expected)) = differing.iter().find(|(index, _)| *index >= ATOMICS).or(differing.first())?;
    let place = match index.checked_sub(ATOMICS) {
        None => format!("atomic word {index}"),
        Some(probe) => {
            let (probe, invocation) = (probe / (LOCAL * GROUPS), probe % (LOCAL * GROUPS));
            let name = shader.probes.get(probe as usize).map_or("nothing", String::as_str);
            format!("probe {probe}, {name}, of invocation {invocation}")
        }
    };
    Some(format!("{place} is {found:#010x} and {expected:#010x} was saved; {} words differ", differing.len()))
}

#[cfg(test)]
mod tests {
    use super::{form::Subgroups, generator, module::PROBES};

    #[test]
    fn a_seed_makes_one_shader_with_the_same_probes_in_both_forms() {
        for seed in 0..64 {
            let make = |subgroups| generator::shader(seed, subgroups).expect("every instruction is in a block");
            let (native, again) = (make(Subgroups::Native(32)), make(Subgroups::Native(32)));
            assert_eq!(native.words, again.words, "seed {seed}");
            assert_eq!(native.probes, make(Subgroups::Emulated(32)).probes, "seed {seed}");
            assert!((1..=PROBES as usize).contains(&native.probes.len()), "seed {seed}: {}", native.probes.len());
        }
    }

    #[test]
    fn every_shader_parses() {
        for seed in 0..64 {
            for subgroups in [Subgroups::Native(64), Subgroups::Emulated(64)] {
                let shader = generator::shader(seed, subgroups).expect("every instruction is in a block");
                let module = rspirv::dr::load_words(&shader.words);
                assert!(module.is_ok(), "seed {seed}: {:?}", module.err());
            }
        }
    }
}
