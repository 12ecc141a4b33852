//! The merged reports as a page that needs no other file and runs no script.

use std::fmt::Write as _;

use crate::{
    collect::{
        analysis::{Analysis, Finding, Group, chance_words},
        fleet::{Fleet, Problem},
        text::{method, summary},
    },
    output::{html::STYLE, markup::escaped},
};

/// The rules that the style of a report's page lacks.
const MORE: &str = include_str!("page.css");
/// Files of a kind that are shown; a page with ten thousand is of no use.
const SHOWN: usize = 100;

/// Returns the page. Its content security policy forbids scripts and other files.
pub(super) fn page(fleet: &Fleet, analysis: &Analysis) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>amdgpu-smoke: {0} GPUs in {1} machines</title>\n\
         <style>\n{STYLE}{MORE}</style>\n</head>\n<body>\n<h1>{0} GPUs in {1} machines</h1>\n\
         <p class=\"where\">amdgpu-smoke {2} collect</p>\n",
        fleet.runs.len(),
        fleet.machines(),
        env!("CARGO_PKG_VERSION")
    );
    for notice in summary(fleet).iter().skip(1) {
        // Writing into a string does not fail.
        let _ = writeln!(page, "<p class=\"notice\">{}</p>", escaped(notice));
    }
    tiles(&mut page, fleet);
    for group in &analysis.groups {
        failures(&mut page, fleet, group);
    }
    if !analysis.groups.is_empty() {
        let _ = writeln!(page, "<p class=\"where\">{}</p>", escaped(&method(analysis)));
    }
    left_out(&mut page, fleet);
    page.push_str("</body>\n</html>\n");
    page
}

fn tiles(page: &mut String, fleet: &Fleet) {
    let tiles = [
        ("pass", "passed", fleet.count("pass")),
        ("fail", "failed", fleet.count("fail")),
        ("incomplete", "did not end", fleet.count("stopped")),
        ("skip", "skipped everything", fleet.count("skip")),
        ("warn", "files left out", fleet.left_out.len()),
    ];
    page.push_str("<div class=\"tiles\">\n");
    for (class, what, count) in tiles.into_iter().filter(|(class, _, count)| *count > 0 || *class == "fail") {
        let _ = writeln!(page, "<div class=\"tile\"><b class=\"{class}\">{count}</b>{what}</div>");
    }
    page.push_str("</div>\n");
}

fn failures(page: &mut String, fleet: &Fleet, group: &Group) {
    let name = escaped(group.failure.name(fleet));
    let _ = writeln!(page, "<h2>{name}: {} of {} GPUs fail</h2>", group.failed.len(), group.known);
    if group.findings.is_empty() {
        page.push_str("<p>Nothing that reports are compared by goes with it.</p>\n");
    } else {
        page.push_str(
            "<div class=\"wide\"><table>\n<tr><th>fact</th><th>value</th><th>fail with it</th><th></th><th>fail without</th>\
             <th>chance</th></tr>\n",
        );
        for finding in &group.findings {
            row(page, fleet, finding, "");
            for same in &finding.with {
                row(page, fleet, same, " class=\"same\"");
            }
        }
        page.push_str("</table></div>\n");
    }
    let _ = writeln!(page, "<details><summary>{} GPUs</summary><ul>", group.failed.len());
    for run in group.failed.iter().take(SHOWN).filter_map(|&at| fleet.runs.get(at)) {
        let stopped = run.stopped.map(|reason| format!(": {}", escaped(fleet.texts.get(reason)))).unwrap_or_default();
        let _ = writeln!(page, "<li>{} at {}{stopped}</li>", escaped(&run.file), escaped(fleet.texts.get(run.gpu)));
    }
    let _ = writeln!(page, "</ul>{}</details>", more(group.failed.len()));
}

fn row(page: &mut String, fleet: &Fleet, finding: &Finding, class: &str) {
    let counts = finding.counts;
    let percent = (counts.failed_with * 100).checked_div(counts.with).unwrap_or_default();
    let _ = writeln!(
        page,
        "<tr{class}><td>{}</td><td class=\"value\">{}</td><td class=\"figure\">{} of {}</td>\
         <td><span class=\"bar\"><i style=\"width:{percent}%\"></i></span></td><td class=\"figure\">{} of {}</td>\
         <td class=\"figure\">{}</td></tr>",
        escaped(fleet.texts.get(finding.name)),
        escaped(fleet.texts.get(finding.value)),
        counts.failed_with,
        counts.with,
        counts.failed_without(),
        counts.without(),
        chance_words(finding.chance)
    );
}

fn left_out(page: &mut String, fleet: &Fleet) {
    let problems: Vec<(Problem, usize)> = fleet.problems().collect();
    if problems.is_empty() {
        return;
    }
    page.push_str("<h2>Files left out</h2>\n");
    for (problem, count) in problems {
        let _ = writeln!(page, "<details><summary><b>{count}</b> {}</summary><ul>", problem.words());
        for left in fleet.left_out.iter().filter(|left| left.problem == problem).take(SHOWN) {
            let _ = writeln!(page, "<li>{}: {}</li>", escaped(&left.file), escaped(&left.detail));
        }
        let _ = writeln!(page, "</ul>{}</details>", more(count));
    }
}

/// Returns the words for what is not shown.
fn more(count: usize) -> String {
    if count > SHOWN { format!("and {} more", count - SHOWN) } else { String::new() }
}
