//! The page around the pictures.

use std::fmt::Write;

use super::{
    picture::{self, Span},
    sensors,
};
use crate::{
    output::markup::escaped,
    result::{
        check_result::CheckResult,
        conclusion::Conclusion,
        peers::{self, PeerCopy},
        report::{Facts, Report},
        soak::Soak,
        status::{Expected, Status},
    },
};

/// Colours and layout, for light and dark screens.
pub(crate) const STYLE: &str = include_str!("page.css");

/// Returns the whole page. Its content security policy forbids scripts and other files.
pub(super) fn document(report: &Report, spans: &[Span]) -> String {
    let label = escaped(&report.gpu.label());
    let name = report.gpu.facts.as_ref().map_or("GPU that does not open", |facts| &facts.name);
    let name = escaped(name);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>amdgpu-smoke: {name}, {label}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n\
         <p class=\"where\">amdgpu-smoke {}, level {}, {label}</p>\n",
        report.version, report.level
    );
    notices(&mut page, report);
    tiles(&mut page, report);
    conclusion(&mut page, report);
    facts(&mut page, report);
    if let Some(soak) = &report.soak {
        rates(&mut page, soak);
    }
    if let Some(Facts { heaps, .. }) = &report.gpu.facts {
        section(&mut page, "Heaps", &picture::heaps(heaps));
    }
    let bandwidths: Vec<_> = report.results.iter().flat_map(|result| &result.bandwidths).collect();
    if !bandwidths.is_empty() {
        section(&mut page, "Bandwidth", &picture::bandwidths(&bandwidths));
    }
    for copies in report.results.iter().map(|result| &result.peers).filter(|copies| !copies.is_empty()) {
        matrix(&mut page, copies);
    }
    if !spans.is_empty() {
        section(&mut page, "Timeline", &picture::timeline(spans));
    }
    hardware(&mut page, report, spans);
    checks(&mut page, &report.results);
    page.push_str("</body>\n</html>\n");
    page
}

fn section(page: &mut String, title: &str, body: &str) {
    // Writing into a string does not fail.
    let _ = write!(page, "<h2>{title}</h2>\n{body}");
}

/// Adds notices about everything that distinguishes the report from one of a healthy Radeon.
fn notices(page: &mut String, report: &Report) {
    let mut notices = Vec::new();
    if report.gpu.simulated {
        let broken = report.gpu.mutation.as_ref().map(|mutation| format!(", broken by {mutation}")).unwrap_or_default();
        let stands_in = if report.gpu.fallback { " There was no Radeon to test." } else { "" };
        notices.push(format!("This GPU is simulated: profile {}{broken}.{stands_in}", report.gpu.location));
    }
    if report.gpu.facts.as_ref().is_some_and(|facts| facts.stand_in) {
        notices.push("This kernel only pretends: it takes every request and does nothing.".to_owned());
    }
    notices.extend(report.gpu.others.iter().map(|other| format!("Not tested: the GPU {other}.")));
    if let Some(reason) = &report.reason {
        notices.push(format!("Aborted: {reason}; {} checks were not run.", report.summary.notrun));
    }
    for notice in notices {
        let _ = writeln!(page, "<p class=\"notice\">{}</p>", escaped(&notice));
    }
}

/// Adds what failed, with links to the rows of the checks, and what it has in common.
fn conclusion(page: &mut String, report: &Report) {
    let Some(conclusion) = Conclusion::of(&report.results) else { return };
    let mut body = String::new();
    // Writing into a string does not fail.
    for verdict in &conclusion.verdicts {
        let _ = writeln!(body, "<p class=\"notice\">{}</p>", escaped(&verdict.text));
    }
    for group in &conclusion.groups {
        let links = group.checks.iter().map(|id| format!("<a href=\"#{0}\">{0}</a>", escaped(id)));
        let _ = writeln!(
            body,
            "<details open><summary><b>{}</b> {}: {}</summary>{}</details>",
            group.checks.len(),
            if group.checks.len() == 1 { "check" } else { "checks" },
            escaped(&group.reason),
            links.collect::<Vec<_>>().join(" ")
        );
    }
    body.push_str("<ol>\n");
    for step in &conclusion.next {
        let _ = writeln!(body, "<li>{}</li>", escaped(step));
    }
    body.push_str("</ol>\n");
    section(page, "Failures", &body);
}

fn tiles(page: &mut String, report: &Report) {
    page.push_str("<div class=\"tiles\">\n");
    let count = |which: &dyn Fn(&CheckResult) -> bool| report.results.iter().filter(|result| which(result)).count();
    let known = |result: &CheckResult| matches!(result.expected, Some(Expected::Fail | Expected::Flake));
    let tiles = [
        ("pass", "passed", count(&|result| result.status == Status::Pass && !result.is_failure())),
        ("fail", "failed", count(&CheckResult::is_failure)),
        ("skip", "skipped", count(&|result| result.status == Status::Skip)),
        ("warn", "with warnings", count(&|result| matches!(result.status, Status::Warn | Status::DmesgWarn))),
        ("known", "known failures", count(&known)),
        ("skip", "not run", report.summary.notrun),
    ];
    for (class, what, count) in tiles.into_iter().filter(|(class, _, count)| *count > 0 || *class == "fail") {
        let _ = writeln!(page, "<div class=\"tile\"><b class=\"{class}\">{count}</b>{what}</div>");
    }
    page.push_str("</div>\n");
}

fn facts(page: &mut String, report: &Report) {
    let Some(facts) = &report.gpu.facts else { return };
    let firmware: Vec<_> = facts.firmware.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let unread = if report.gpu.simulated { "simulated" } else { "unknown" };
    let rows = [
        ("chip", format!("{}, {}", facts.chip, facts.gfx_level)),
        ("at", report.gpu.label()),
        ("kernel", format!("{}, amdgpu {}", facts.kernel.as_deref().unwrap_or(unread), facts.driver)),
        ("firmware", firmware.join(", ")),
        ("rings", facts.rings.join(" ")),
        ("seed", report.seed.to_string()),
    ];
    let chosen = report.gpu.chosen.iter().map(|reason| ("chosen because", reason.clone()));
    page.push_str("<dl>\n");
    for (name, value) in rows.into_iter().chain(chosen) {
        let _ = writeln!(page, "<dt>{name}</dt><dd>{}</dd>", escaped(&value));
    }
    page.push_str("</dl>\n");
}

/// Adds the table of copies between GPUs.
fn matrix(page: &mut String, copies: &[PeerCopy]) {
    let mut table = String::from("<table class=\"peers\">\n");
    for (row, is_head) in peers::table(copies).iter().zip(std::iter::once(true).chain(std::iter::repeat(false))) {
        table.push_str("<tr>");
        for (cell, is_first) in row.iter().zip(std::iter::once(true).chain(std::iter::repeat(false))) {
            let tag = if is_head || is_first { "th" } else { "td" };
            // Writing into a string does not fail.
            let _ = write!(table, "<{tag}>{}</{tag}>", escaped(cell));
        }
        table.push_str("</tr>\n");
    }
    table.push_str("</table>\n");
    for copy in copies {
        if let Some(words) = &copy.refused {
            let _ =
                writeln!(table, "<p>{} to {}: {}</p>", escaped(&copy.engine), escaped(&copy.memory), escaped(words));
        }
    }
    section(page, "Copies between GPUs", &table);
}

/// Adds the graphs of temperature, power and clock, and the hardware events.
fn hardware(page: &mut String, report: &Report, spans: &[Span]) {
    let course = sensors::course(spans);
    let mut events = String::new();
    for (id, event) in report.hardware_events() {
        let class = if event.rule.is_fatal() { "fail" } else { "warn" };
        let _ = writeln!(
            events,
            "<tr><td class=\"{class}\">{}</td><td class=\"id\">{}</td><td>{}</td></tr>",
            if event.rule.is_fatal() { "fatal" } else { "warning" },
            escaped(id),
            escaped(&event.to_string())
        );
    }
    if course.is_empty() && events.is_empty() {
        return;
    }
    let mut body = course;
    if let Some(watched) = &report.gpu.watched {
        let _ = writeln!(body, "<p>Watched around each check: {}.</p>", escaped(&watched.to_string()));
    }
    if !events.is_empty() {
        let _ = writeln!(body, "<table>\n<tr><th>event</th><th>check</th><th>detail</th></tr>\n{events}</table>");
    }
    section(page, "Hardware", &body);
}

/// Adds the failure rates of a soak.
fn rates(page: &mut String, soak: &Soak) {
    let lines = soak.lines().join("\n");
    section(page, "Soak", &format!("<pre>{}</pre>\n", escaped(&lines)));
}

fn checks(page: &mut String, results: &[CheckResult]) {
    page.push_str("<h2>Checks</h2>\n<table>\n<tr><th>result</th><th>check</th><th>ms</th><th>detail</th></tr>\n");
    // Failures first, in the order of the plan.
    let failures = results.iter().filter(|result| result.is_failure());
    for result in failures.chain(results.iter().filter(|result| !result.is_failure())) {
        let (class, status) = match result.expected {
            Some(Expected::Fail) => ("known", "ExpectedFail"),
            Some(Expected::Flake) => ("known", "KnownFlake"),
            Some(Expected::UnexpectedPass) => ("fail", "UnexpectedImprovement"),
            Some(Expected::Skip) | None => (result.status.name(), result.status.name()),
        };
        let lines = result.evidence_lines().join("\n");
        let open = if result.is_failure() { " open" } else { "" };
        let evidence = if lines.is_empty() {
            String::new()
        } else {
            format!("<details{open}><summary>evidence</summary><pre>{}</pre></details>", escaped(&lines))
        };
        let _ = writeln!(
            page,
            "<tr id=\"{0}\"><td class=\"{class}\">{status}</td><td class=\"id\">{0}</td><td class=\"figure\">{1:.1}</td><td>{2}{evidence}</td></tr>",
            escaped(&result.id),
            result.time.as_secs_f64() * 1e3,
            escaped(&result.detail)
        );
    }
    page.push_str("</table>\n");
}
