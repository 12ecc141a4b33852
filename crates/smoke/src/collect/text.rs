//! The merged reports as text.

use std::fmt::Write as _;

use crate::collect::{
    analysis::{Analysis, Finding, Group, chance_words, counts_words},
    fleet::Fleet,
};

/// Names of a kind that are shown; JSON has all of them.
const SHOWN: usize = 5;

/// Returns the text.
pub(super) fn text(fleet: &Fleet, analysis: &Analysis) -> String {
    let mut text = summary(fleet).join("\n");
    text.push('\n');
    for (problem, count) in fleet.problems() {
        // Writing into a string does not fail.
        let _ = writeln!(text, "left out: {count} {}", problem.words());
        let files = fleet.left_out.iter().filter(|left| left.problem == problem);
        for left in files.take(SHOWN) {
            let _ = writeln!(text, "    {}: {}", left.file, left.detail);
        }
        if count > SHOWN {
            let _ = writeln!(text, "    and {} more", count - SHOWN);
        }
    }
    for group in &analysis.groups {
        text.push('\n');
        failures(&mut text, fleet, group);
    }
    if !analysis.groups.is_empty() {
        let _ = writeln!(text, "\n{}", method(analysis));
    }
    text
}

/// Returns the lines that count reports, machines and GPUs.
pub(super) fn summary(fleet: &Fleet) -> Vec<String> {
    let states = [("pass", "passed"), ("fail", "failed"), ("stopped", "did not end"), ("skip", "skipped everything")];
    let counted = states.map(|(state, words)| (fleet.count(state), words));
    let words: Vec<_> =
        counted.iter().filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}")).collect();
    let mut lines = vec![match words.as_slice() {
        [] => "no report".to_owned(),
        words => format!("{} GPUs in {} machines: {}", fleet.runs.len(), fleet.machines(), words.join(", ")),
    }];
    if fleet.runs.iter().any(|run| run.simulated) {
        lines.push("all of them simulated".to_owned());
    }
    if fleet.unnamed > 0 {
        lines.push(format!(
            "{} reports do not name their machine, and each counts as a machine of its own",
            fleet.unnamed
        ));
    }
    if fleet.others > 0 {
        lines.push(format!("{} files are not called .json", fleet.others));
    }
    lines
}

/// Returns the sentence about the method.
pub(super) fn method(analysis: &Analysis) -> String {
    format!(
        "Chances are those of Fisher's exact test, one-sided, corrected by Holm's method for the {} tests made; what is below {} is reported. \
         A machine counts once for each value.",
        analysis.tests,
        crate::collect::analysis::LIMIT
    )
}

fn failures(text: &mut String, fleet: &Fleet, group: &Group) {
    let _ = writeln!(text, "{}: {} of {} GPUs fail", group.failure.name(fleet), group.failed.len(), group.known);
    for finding in &group.findings {
        let _ = writeln!(text, "    {}", line(fleet, finding));
        for same in &finding.with {
            let _ = writeln!(text, "        and so with {}", line(fleet, same));
        }
    }
    if group.findings.is_empty() {
        text.push_str("    nothing that reports are compared by goes with it\n");
    }
    for &at in group.failed.iter().take(SHOWN) {
        if let Some(run) = fleet.runs.get(at) {
            let stopped = run.stopped.map(|reason| format!(": {}", fleet.texts.get(reason))).unwrap_or_default();
            let _ = writeln!(text, "    {} at {}{stopped}", run.file, fleet.texts.get(run.gpu));
        }
    }
    if group.failed.len() > SHOWN {
        let _ = writeln!(text, "    and {} more", group.failed.len() - SHOWN);
    }
}

fn line(fleet: &Fleet, finding: &Finding) -> String {
    let (name, value) = (fleet.texts.get(finding.name), fleet.texts.get(finding.value));
    format!("{name} {value}: {}; chance {}", counts_words(finding.counts), chance_words(finding.chance))
}
