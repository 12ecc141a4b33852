//! A soak: repeated execution of a plan.

use std::time::{Duration, Instant};

use crate::{
    isolation::parent::{Parent, Pass},
    options::Options,
    result::{
        check_result::CheckResult,
        report::{Gpu, Report},
        soak::{Round, Soak},
        status::Status,
    },
    run::{Ending, Observer},
};

/// Executes the plan repeatedly for a period of time, each round with the next seed. The first round is always complete; in later
/// rounds, no check begins after the end of the period. An interrupt ends the soak in the same way.
///
/// Observers see each check once, at its first failure or at the end, and rounds as [`Observer::soaked`].
pub(crate) fn run(
    parent: &Parent,
    time: Duration,
    gpu: &Gpu,
    options: &Options,
    observer: &mut dyn Observer,
) -> Report {
    observer.began(gpu);
    let mut watch = parent.watch(gpu);
    let start = Instant::now();
    let mut pass = Pass { seed: options.seed, ..Pass::default() };
    let (gpu, plan, mut opened) = match parent.plan(gpu, options, &pass, start, &mut watch, observer) {
        Ok(planned) => planned,
        Err(report) => return *report,
    };
    let mut ids: Vec<&str> = plan.iter().map(|step| &*step.id).collect();
    ids.dedup();
    observer.planned(&gpu, &ids);
    let mut soak = Soak::new(time);
    let mut last: Vec<CheckResult> = Vec::new();
    let mut ending = Ending::default();
    loop {
        let round = Round { number: soak.rounds + 1, seed: pass.seed };
        let (results, ended) = parent.follow(&plan, opened.take(), options, &pass, start, &mut watch, &mut ());
        let is_complete = results.len() == plan.len();
        for result in results {
            if parent.is_interrupted() && result.status == Status::Incomplete {
                continue;
            }
            if let Some(first) = soak.add(round, start.elapsed(), &result) {
                observer.finished(&first);
                pass.recorded.insert(first.id.clone());
                replace(&mut last, first);
            } else if !pass.recorded.contains(&result.id) {
                replace(&mut last, result);
            }
        }
        soak.rounds += u64::from(is_complete);
        soak.seconds = start.elapsed().as_secs_f64();
        soak.interrupted = parent.is_interrupted();
        observer.soaked(&soak);
        if soak.interrupted || plan.is_empty() {
            break;
        }
        if ended.reason.is_some() {
            ending = ended;
            break;
        }
        if start.elapsed() >= time {
            break;
        }
        pass.until = Some(start + time);
        pass.seed = pass.seed.wrapping_add(1);
    }
    for result in last.iter().filter(|result| !pass.recorded.contains(&result.id)) {
        observer.finished(result);
    }
    let report = Report { soak: Some(soak), ..Report::new(gpu, options, last, ending) };
    observer.ended(&report);
    report
}

/// Replaces the earlier result of the same check.
fn replace(results: &mut Vec<CheckResult>, result: CheckResult) {
    match results.iter_mut().find(|earlier| earlier.id == result.id) {
        Some(earlier) => *earlier = result,
        None => results.push(result),
    }
}
