//! The results of a run in the format of IGT's runner, for tools that read this format.
//!
//! Source: igt-gpu-tools `runner/resultgen.c`, whose `results.json` has version 10; `piglit` summarises such files.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::{
    hardware::state::Hardware,
    result::{check_result::CheckResult, report::Report, status::Status},
};

/// The version of the format.
const RESULTS_VERSION: u32 = 10;

/// Returns a writer of the results, which remembers the start of the run.
pub(crate) fn documents() -> impl Fn(&Report) -> String {
    let started = now();
    move |report| format!("{:#}\n", document(report, started, now()))
}

/// Returns the current time in seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

fn time(start: f64, end: f64) -> Value {
    json!({ "__type__": "TimeAttribute", "start": start, "end": end })
}

fn document(report: &Report, start: f64, end: f64) -> Value {
    let name = |id: &str| format!("igt@amdgpu-smoke@{id}");
    let mut tests: Map<String, Value> = report.results.iter().map(|result| (name(&result.id), test(result))).collect();
    tests.extend(report.not_run.iter().map(|id| (name(id), json!({ "result": "notrun" }))));
    let mut totals: Map<String, Value> =
        Status::ALL.map(|status| (status.name().to_owned(), report.summary.count(status).into())).into_iter().collect();
    totals.insert("notrun".to_owned(), report.summary.notrun.into());
    totals.insert("dmesg-fail".to_owned(), 0.into());
    totals.insert("abort".to_owned(), u8::from(report.aborted).into());
    let spent: f64 = report.results.iter().map(|result| result.time.as_secs_f64()).sum();
    json!({
        "__type__": "TestrunResult",
        "results_version": RESULTS_VERSION,
        "name": format!("amdgpu-smoke {} {}", report.level, report.gpu.label()),
        "uname": report.gpu.facts.as_ref().and_then(|facts| facts.kernel.clone()).unwrap_or_default(),
        "time_elapsed": time(start, end),
        "tests": tests,
        "totals": { "": totals, "root": totals },
        "runtimes": { "igt@amdgpu-smoke": { "time": time(0.0, spent) } },
    })
}

fn test(result: &CheckResult) -> Value {
    let evidence = result.evidence.as_ref();
    let lines = result.evidence_lines().join("\n");
    let figures = result.hardware.as_ref().map(Hardware::line).filter(|figures| !figures.is_empty());
    let figures = figures.map(|figures| format!("hardware: {figures}\n")).unwrap_or_default();
    json!({
        "result": result.status.name(),
        "igt-version": format!("amdgpu-smoke {}", env!("CARGO_PKG_VERSION")),
        "time": time(0.0, result.time.as_secs_f64()),
        "out": format!("{}\n{figures}", result.detail),
        "err": lines,
        "dmesg": evidence.map(|evidence| evidence.messages.join("\n")).unwrap_or_default(),
    })
}
