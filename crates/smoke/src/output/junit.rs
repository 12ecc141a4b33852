//! JUnit XML for CI systems: a test suite for the GPU, with its facts as properties.

use std::fmt::Write;

use crate::{
    hardware::state::Hardware,
    output::markup::escaped,
    result::{check_result::CheckResult, report::Report, status::Status},
};

/// Returns the report as a document.
pub(crate) fn document(report: &Report) -> String {
    // An aborted run is not green, whatever ended before.
    let is_cut = report.aborted && !report.results.iter().any(CheckResult::is_failure);
    let cut = CheckResult::new(
        "amdgpu-smoke.run",
        Status::Incomplete,
        report.reason.as_deref().unwrap_or("the run was aborted"),
        std::time::Duration::ZERO,
    );
    let results: Vec<&CheckResult> = report.results.iter().chain(is_cut.then_some(&cut)).collect();
    let count = |which: &dyn Fn(&CheckResult) -> bool| results.iter().filter(|result| which(result)).count();
    let failures = count(&|result| result.is_failure() && !is_error(result.status));
    let errors = count(&|result| result.is_failure() && is_error(result.status));
    let skipped = count(&|result| result.status == Status::Skip) + report.not_run.len();
    let time: f64 = results.iter().map(|result| result.time.as_secs_f64()).sum();
    let totals = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{time:.3}\"",
        results.len() + report.not_run.len()
    );
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let label = escaped(&report.gpu.label());
    // Writing into a string does not fail.
    let _ = writeln!(xml, "<testsuites name=\"amdgpu-smoke\" {totals}>");
    let _ = writeln!(xml, "  <testsuite name=\"{label}\" {totals}>");
    let _ = writeln!(xml, "    <properties>");
    for (name, value) in properties(report) {
        let _ = writeln!(xml, "      <property name=\"{name}\" value=\"{}\"/>", escaped(&value));
    }
    let _ = writeln!(xml, "    </properties>");
    for result in &results {
        case(&mut xml, result);
    }
    for id in &report.not_run {
        let (class, name) = id.split_once('.').unwrap_or(("", id));
        let (class, name) = (escaped(class), escaped(name));
        let _ = writeln!(
            xml,
            "    <testcase classname=\"{class}\" name=\"{name}\" time=\"0.000\">\n      <skipped message=\"not run\"/>\n    </testcase>"
        );
    }
    if let Some(reason) = &report.reason {
        let _ = writeln!(xml, "    <system-err>{}</system-err>", escaped(reason));
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// Returns `true` for a result that JUnit counts as an error rather than a failure.
const fn is_error(status: Status) -> bool {
    matches!(status, Status::Crash | Status::Timeout | Status::Incomplete)
}

fn properties(report: &Report) -> Vec<(&'static str, String)> {
    let mut properties = vec![
        ("location", report.gpu.location.clone()),
        ("simulated", report.gpu.simulated.to_string()),
        ("level", report.level.to_owned()),
        ("seed", report.seed.to_string()),
    ];
    properties.extend(report.gpu.chosen.iter().map(|reason| ("chosen because", reason.clone())));
    if let Some(watched) = &report.gpu.watched {
        properties.push(("watched", watched.sources.join(", ")));
        properties.push(("not watched", watched.missing.join(", ")));
        let events: Vec<_> = report.hardware_events().map(|(id, event)| format!("{id}: {event}")).collect();
        properties.push(("hardware events", events.join("\n")));
    }
    properties.extend(report.gpu.mutation.iter().map(|mutation| ("mutation", mutation.clone())));
    if let Some(facts) = &report.gpu.facts {
        let firmware: Vec<_> = facts.firmware.iter().map(|(name, version)| format!("{name} {version}")).collect();
        properties.extend([
            ("name", facts.name.clone()),
            ("chip", facts.chip.clone()),
            ("driver", facts.driver.clone()),
            ("kernel", facts.kernel.clone().unwrap_or_default()),
            ("firmware", firmware.join(", ")),
        ]);
    }
    properties
}

fn case(xml: &mut String, result: &CheckResult) {
    let (class, name) = result.id.split_once('.').unwrap_or(("", &result.id));
    let (class, name) = (escaped(class), escaped(name));
    let _ =
        write!(xml, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"{:.3}\"", result.time.as_secs_f64());
    let (detail, status) = (escaped(&result.detail), result.status.name());
    let evidence = escaped(&result.evidence_lines().join("\n"));
    let figures = result.hardware.as_ref().map(Hardware::line).filter(|figures| !figures.is_empty());
    let figures = figures.map(|figures| format!("\nhardware: {}", escaped(&figures))).unwrap_or_default();
    if result.is_failure() {
        let element = if is_error(result.status) { "error" } else { "failure" };
        let _ = writeln!(
            xml,
            ">\n      <{element} type=\"{status}\" message=\"{detail}\">{evidence}{figures}</{element}>\n    </testcase>"
        );
    } else if result.status == Status::Skip {
        let _ = writeln!(xml, ">\n      <skipped message=\"{detail}\"/>\n    </testcase>");
    } else {
        let lines = if evidence.is_empty() { evidence } else { format!("\n{evidence}") };
        let _ = writeln!(xml, ">\n      <system-out>{status}: {detail}{lines}{figures}</system-out>\n    </testcase>");
    }
}
