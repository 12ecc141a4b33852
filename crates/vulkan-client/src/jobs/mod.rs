//! Jobs of compute shaders on this driver, judged by their expected outputs.
//!
//! - [`folder`] reads jobs and SPIR-V.
//! - [`resources`] makes what a job binds.
//! - [`images`] makes its images.

mod folder;
mod images;
mod resources;

use std::path::Path;

use amdgpu_test_support::jobs::{Hex, Job};

use self::{folder::Task, resources::Resources};
use crate::{
    cli::Arguments,
    exit::Exit,
    gpu::{Constants, Dispatch, Gpu, Lane, MemoryPlace, Order, QueueKind},
    outcome::{ErrorContext, Outcome, Stop, fail, say, skip},
};

/// Features that say that a shader is one for robust access.
const ROBUST: &str = "robustBufferAccess";

/// Subgroup sizes that are tried.
const SIZES: [u32; 2] = [32, 64];

/// Counts of outcomes.
#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Counts {
    fn report(&mut self, name: &str, outcome: &Outcome) {
        let (word, text, count) = match outcome {
            Ok(figures) => ("pass", figures, &mut self.passed),
            Err(Stop::Skip(reason)) => ("skip", reason, &mut self.skipped),
            Err(Stop::Fail(evidence)) => ("fail", evidence, &mut self.failed),
        };
        *count += 1;
        say(&format!("{word}  {name:<32} {text}"));
    }
}

/// Runs the jobs of a folder on each queue, with each subgroup size.
pub(crate) fn run(directory: &Path, arguments: &Arguments) -> Exit {
    if arguments.subgroup_size.is_some_and(|size| !SIZES.contains(&size)) {
        eprintln!("subgroups have 32 or 64 lanes");
        return Exit::Invalid;
    }
    let tasks = match folder::read(directory) {
        Ok(tasks) => tasks,
        Err(error) => {
            eprintln!("{}: {error}", directory.display());
            return Exit::Invalid;
        }
    };
    let mut counts = Counts::default();
    let mut gpu = match Gpu::open_with_all_features(arguments.any_device) {
        Ok(gpu) => gpu,
        Err(stop) => {
            counts.report("device", &Err(stop));
            return Exit::of(counts.passed, counts.failed);
        }
    };
    for mut task in tasks {
        for (kind, lanes) in variants(&gpu, arguments) {
            let mut outcome = one(&gpu, &mut task, kind, lanes);
            if gpu.is_lost() {
                outcome = outcome.and_then(|_| fail("the device was lost"));
                drop(gpu);
                gpu = match Gpu::open_with_all_features(arguments.any_device) {
                    Ok(gpu) => gpu,
                    Err(_) => return Exit::Fail,
                };
            }
            counts.report(&format!("{}.{}.{lanes}", task.job.name, kind.name()), &outcome);
        }
        if let Some(target) = &arguments.save
            && let Err(stop) = save(target, &task.job)
        {
            counts.report(&task.job.name, &Err(stop));
        }
    }
    let Counts { passed, failed, skipped } = counts;
    say(&format!("{passed} passed, {failed} failed, {skipped} skipped"));
    Exit::of(passed, failed)
}

/// Returns the queues and the subgroup sizes that the device has and the caller asks for. A device that has neither 32 nor 64 lanes
/// runs with its own.
fn variants(gpu: &Gpu, arguments: &Arguments) -> Vec<(QueueKind, u32)> {
    let has_size = |size: u32| match &gpu.newer.subgroup_sizes {
        Some(sizes) => sizes.contains(&size),
        None => gpu.newer.subgroup_size == size,
    };
    let asked = |size: u32| arguments.subgroup_size.is_none_or(|asked| asked == size);
    let mut sizes: Vec<u32> = SIZES.into_iter().filter(|&size| has_size(size) && asked(size)).collect();
    if sizes.is_empty() && arguments.subgroup_size.is_none() {
        sizes.push(gpu.newer.subgroup_size);
    }
    let kinds = [QueueKind::Graphics, QueueKind::Compute].into_iter();
    let kinds = kinds.filter(|kind| arguments.queue.as_deref().is_none_or(|queue| queue == kind.name()));
    // A device without queues for compute alone has all of them in one.
    kinds
        .filter(|&kind| gpu.lane(kind).is_some())
        .flat_map(|kind| sizes.iter().map(move |&size| (kind, size)))
        .collect()
}

/// Fails or skips a job that the device lacks a feature for.
fn supported(gpu: &Gpu, job: &Job) -> Result<(), Stop> {
    let robust = job.robust.then_some(ROBUST);
    for name in job.requires.iter().map(String::as_str).chain(robust) {
        match gpu.all_features.as_ref().and_then(|all| all.has(name)) {
            Some(true) => {}
            Some(false) => return skip(format!("no {name} here")),
            None => return fail(format!("the job requires {name}, which is no known feature")),
        }
    }
    Ok(())
}

/// Runs a job and judges it. Where nothing is expected yet, the outputs become what is expected.
fn one(gpu: &Gpu, task: &mut Task, kind: QueueKind, lanes: u32) -> Outcome {
    let lane = gpu.need(kind)?;
    supported(gpu, &task.job)?;
    let words = match &task.spirv {
        Ok(words) => words,
        Err(reason) => return fail(reason.clone()),
    };
    let job = &task.job;
    // RADV copies images on a graphics queue with draws, so images are filled and read on a compute queue.
    let copies = gpu.lane(QueueKind::Compute).unwrap_or(lane);
    let mut resources = Resources::new(gpu, job, kind == QueueKind::Graphics)?;
    resources.fill(gpu, copies)?;
    dispatch(gpu, lane, job, words, &resources, lanes)?;
    let outputs = resources.read(gpu, copies)?;
    if job.expected.is_empty() && job.model.is_none() {
        task.job.expected = outputs.into_iter().map(|(key, bytes)| (key, Hex(bytes))).collect();
        return Ok("recorded".into());
    }
    let find = |key: &str| outputs.iter().find(|(name, _)| name == key).map(|(_, bytes)| bytes.clone());
    job.judge(lanes, find).map_err(Stop::Fail)?;
    Ok(format!("{} bytes", outputs.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()))
}

/// Submits all dispatches of a job, and waits.
fn dispatch(
    gpu: &Gpu,
    lane: &Lane,
    job: &Job,
    words: &[u32],
    resources: &Resources<'_>,
    lanes: u32,
) -> Result<(), Stop> {
    let push = resources.push(job)?;
    let asks = gpu.newer.subgroup_sizes.as_ref().is_some_and(|sizes| sizes.contains(&lanes));
    let is_full = job.local.is_some_and(|[x, ..]| x.is_multiple_of(lanes));
    let constants = Constants {
        spec: job.spec.clone(),
        push: push.len() as u32,
        subgroup: asks.then_some((lanes, is_full)),
        has_base: job.base.is_some(),
    };
    let views = resources.views()?;
    let program = gpu.program(words, &views.slots(), &constants).context("make a pipeline")?;
    let counts = gpu.program_buffer(12, MemoryPlace::Host).context("make a buffer")?;
    let bytes: Vec<u8> = job.groups.into_iter().flat_map(u32::to_le_bytes).collect();
    counts.memory().write(0, &bytes);
    let groups = match job.base {
        Some(base) => Dispatch::Base(base, job.groups),
        None if job.indirect => Dispatch::Indirect(&counts, 0),
        None => Dispatch::Groups(job.groups),
    };
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.bind(&program, &push);
        for _ in 0..job.dispatches {
            record.dispatch_bound(groups);
            record.barrier();
        }
    });
    work.context("submit")?.finish().context("finish")
}

/// Writes the job with what is expected now.
fn save(directory: &Path, job: &Job) -> Result<(), Stop> {
    std::fs::create_dir_all(directory).context("make the folder")?;
    let text = job.to_json().context("write the job")?;
    std::fs::write(directory.join(format!("{}.json", job.name)), text + "\n").context("write the job")
}
