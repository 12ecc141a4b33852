//! The merged reports as JSON.

use serde_json::{Value, json};

use crate::collect::{
    analysis::{Analysis, Failure, Finding, Group, LIMIT},
    fleet::Fleet,
};

/// The name and version of the schema.
const SCHEMA: &str = "amdgpu-smoke-collect/1";

/// Returns the document.
pub(super) fn json(fleet: &Fleet, analysis: &Analysis) -> String {
    let groups: Vec<_> = analysis.groups.iter().map(|group| of_group(fleet, group)).collect();
    let left = fleet
        .left_out
        .iter()
        .map(|left| json!({ "file": left.file, "problem": left.problem.name(), "detail": left.detail }));
    let value = json!({
        "schema": SCHEMA,
        "version": env!("CARGO_PKG_VERSION"),
        "gpus": fleet.runs.len(),
        "machines": fleet.machines(),
        "simulated": fleet.runs.iter().any(|run| run.simulated),
        "unnamed": fleet.unnamed,
        "other_files": fleet.others,
        "pass": fleet.count("pass"),
        "fail": fleet.count("fail"),
        "stopped": fleet.count("stopped"),
        "skip": fleet.count("skip"),
        "left_out": left.collect::<Vec<_>>(),
        "tests": analysis.tests,
        "limit": LIMIT,
        "failures": groups,
    });
    format!("{value:#}\n")
}

fn of_group(fleet: &Fleet, group: &Group) -> Value {
    let kind = match group.failure {
        Failure::Any => "any",
        Failure::Stopped => "stopped",
        Failure::Check(_) => "check",
    };
    let failed = group.failed.iter().filter_map(|&at| fleet.runs.get(at)).map(|run| {
        let mut value = json!({
            "file": run.file, "machine": fleet.texts.get(run.machine), "gpu": fleet.texts.get(run.gpu),
        });
        if let (Some(reason), Some(object)) = (run.stopped, value.as_object_mut()) {
            object.insert("reason".to_owned(), fleet.texts.get(reason).into());
        }
        value
    });
    json!({
        "kind": kind,
        "name": group.failure.name(fleet),
        "known": group.known,
        "gpus": failed.collect::<Vec<_>>(),
        "findings": group.findings.iter().map(|finding| of_finding(fleet, finding)).collect::<Vec<_>>(),
    })
}

fn of_finding(fleet: &Fleet, finding: &Finding) -> Value {
    let counts = finding.counts;
    json!({
        "fact": fleet.texts.get(finding.name),
        "value": fleet.texts.get(finding.value),
        "with": counts.with,
        "failed_with": counts.failed_with,
        "without": counts.without(),
        "failed_without": counts.failed_without(),
        // A chance below the smallest double is 0 here; its logarithm is not.
        "chance": finding.chance.exp(),
        "log10_chance": finding.chance / std::f64::consts::LN_10,
        "same": finding.with.iter().map(|same| of_finding(fleet, same)).collect::<Vec<_>>(),
    })
}
