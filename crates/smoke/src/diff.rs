//! `diff`: two whole reports, such as before and after an update of the kernel.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::result::{
    bandwidth::Rate,
    baseline::Tolerance,
    check_result::CheckResult,
    report::{Gpu, SCHEMA},
    status::Status,
};

/// The schema of the JSON.
const DIFF_SCHEMA: &str = "amdgpu-smoke-diff/1";

/// A report, as far as it is compared.
#[derive(Debug, Deserialize)]
struct Read {
    schema: String,
    gpu: Gpu,
    level: String,
    results: Vec<CheckResult>,
    aborted: bool,
    #[serde(default)]
    reason: Option<String>,
}

/// The reason why a file cannot be compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DiffError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a report of this program.
    #[error("{}: not a report of the schema {SCHEMA}: {reason}", path.display())]
    NoReport {
        /// The path of the file.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
}

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    /// The kind: `regression`, `fixed` or `changed`.
    kind: Kind,
    /// The part: `run`, `gpu`, `kernel`, `driver`, `firmware`, `heap`, `ring`, `link`, `check`, `duration` or `bandwidth`.
    about: &'static str,
    /// A sentence with both values.
    text: String,
}

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// It was better before.
    Regression,
    /// It is better now.
    Fixed,
    /// It is neither.
    Changed,
}

/// The differences between two reports.
#[derive(Debug)]
pub(crate) struct Diff {
    changes: Vec<Change>,
    compared: usize,
}

/// Compares two reports in JSON.
///
/// # Errors
///
/// [`DiffError`] if one of them cannot be read or is no report.
pub(crate) fn diff(old: &Path, new: &Path, tolerance: Tolerance) -> Result<Diff, DiffError> {
    Ok(compare(&read(old)?, &read(new)?, tolerance))
}

fn read(path: &Path) -> Result<Read, DiffError> {
    let (path, text) = (path.to_owned(), fs::read_to_string(path));
    let text = match text {
        Ok(text) => text,
        Err(source) => return Err(DiffError::Read { path, source }),
    };
    match serde_json::from_str::<Read>(&text) {
        Ok(read) if read.schema == SCHEMA => Ok(read),
        Ok(read) => Err(DiffError::NoReport { path, reason: format!("its schema is {:?}", read.schema) }),
        Err(error) => Err(DiffError::NoReport { path, reason: error.to_string() }),
    }
}

impl Diff {
    /// Returns `true` if something was better before.
    pub(crate) fn is_worse(&self) -> bool {
        self.changes.iter().any(|change| change.kind == Kind::Regression)
    }

    /// Returns the differences as JSON.
    pub(crate) fn json(&self) -> String {
        let value = json!({
            "schema": DIFF_SCHEMA, "compared": self.compared, "regression": self.is_worse(), "changes": self.changes,
        });
        format!("{value:#}\n")
    }

    /// Returns the differences as text, regressions first.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (kind, word) in [(Kind::Regression, "WORSE"), (Kind::Fixed, "better"), (Kind::Changed, "changed")] {
            for change in self.changes.iter().filter(|change| change.kind == kind) {
                // Writing into a string does not fail.
                let _ = writeln!(text, "{word:<8} {:<9} {}", change.about, change.text);
            }
        }
        let count = |kind| self.changes.iter().filter(|change| change.kind == kind).count();
        let _ = writeln!(
            text,
            "{} checks in both: {} worse, {} better, {} other changes",
            self.compared,
            count(Kind::Regression),
            count(Kind::Fixed),
            count(Kind::Changed)
        );
        text
    }
}

/// The parts in which two chips differ without either being broken.
const OF_THE_CHIP: [&str; 4] = ["heap", "ring", "link", "bandwidth"];

fn compare(old: &Read, new: &Read, tolerance: Tolerance) -> Diff {
    let mut changes = Vec::new();
    let chips = [&old.gpu, &new.gpu].map(|gpu| gpu.facts.as_ref().map(|facts| &facts.chip));
    let is_other = matches!(chips, [Some(was), Some(is)] if was != is);
    let mut say = |kind, about, text: String| {
        let kind = if is_other && OF_THE_CHIP.contains(&about) { Kind::Changed } else { kind };
        changes.push(Change { kind, about, text });
    };
    if new.aborted {
        let reason = new.reason.as_deref().unwrap_or("no reason is told");
        say(
            if old.aborted { Kind::Changed } else { Kind::Regression },
            "run",
            format!("the new run was aborted: {reason}"),
        );
    }
    if old.level != new.level {
        say(Kind::Changed, "run", format!("level {}, then {}: only checks of both are compared", old.level, new.level));
    }
    if is_other {
        say(
            Kind::Changed,
            "run",
            "the chips are two: what they have and how fast it is tells of no fault, checks of both do".to_owned(),
        );
    }
    facts(&old.gpu, &new.gpu, &mut say);
    link(old, new, &mut say);
    let compared = checks(old, new, &mut say);
    bandwidths(old, new, tolerance, &mut say);
    Diff { changes, compared }
}

fn facts(old: &Gpu, new: &Gpu, say: &mut impl FnMut(Kind, &'static str, String)) {
    let (was, is) = match (&old.facts, &new.facts) {
        (Some(was), Some(is)) => (was, is),
        (Some(_), None) => return say(Kind::Regression, "gpu", "it does not open any more".to_owned()),
        (None, Some(_)) => return say(Kind::Fixed, "gpu", "it opens".to_owned()),
        (None, None) => return,
    };
    let unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    for (about, was, is) in [
        ("gpu", format!("{} ({})", was.name, was.chip), format!("{} ({})", is.name, is.chip)),
        ("kernel", unknown(&was.kernel), unknown(&is.kernel)),
        ("driver", was.driver.clone(), is.driver.clone()),
    ] {
        if was != is {
            say(Kind::Changed, about, format!("{was}, then {is}"));
        }
    }
    let versions = |list: &[(String, u32)]| list.iter().cloned().collect::<BTreeMap<_, _>>();
    let (before, after) = (versions(&was.firmware), versions(&is.firmware));
    for name in before.keys().chain(after.keys().filter(|name| !before.contains_key(*name))) {
        let version = |of: &BTreeMap<String, u32>| of.get(name).map_or("none".to_owned(), u32::to_string);
        if before.get(name) != after.get(name) {
            say(Kind::Changed, "firmware", format!("{name} {}, then {}", version(&before), version(&after)));
        }
    }
    for ring in was.rings.iter().filter(|ring| !is.rings.contains(ring)) {
        say(Kind::Regression, "ring", format!("{ring} is gone"));
    }
    for ring in is.rings.iter().filter(|ring| !was.rings.contains(ring)) {
        say(Kind::Fixed, "ring", format!("{ring} is new"));
    }
    for index in 0..was.heaps.len().max(is.heaps.len()) {
        let row = |heap: &crate::result::report::HeapRow| format!("{} of {} bytes", heap.kind, heap.size);
        match (was.heaps.get(index), is.heaps.get(index)) {
            (Some(was), Some(is)) if was.kind == is.kind && was.flags == is.flags && was.size == is.size => {}
            (Some(was), Some(is)) if was.kind == is.kind && was.flags == is.flags => {
                // A kernel may reserve a little more; a percent is missing memory.
                let kind = match is.size {
                    size if size > was.size => Kind::Fixed,
                    size if size < was.size - was.size / 100 => Kind::Regression,
                    _ => Kind::Changed,
                };
                say(kind, "heap", format!("heap {index}: {}, then {}", row(was), row(is)));
            }
            (was, is) => {
                let words = |heap: Option<&crate::result::report::HeapRow>| heap.map_or("none".to_owned(), row);
                say(Kind::Changed, "heap", format!("heap {index}: {}, then {}", words(was), words(is)));
            }
        }
    }
}

/// A figure of the link, if the sensors have it.
type Figure = fn(&crate::hardware::state::Sensors) -> Option<i64>;

/// Compares the widest and fastest state of the link during each run: an idle link is slow on purpose.
fn link(old: &Read, new: &Read, say: &mut impl FnMut(Kind, &'static str, String)) {
    let best = |read: &Read, of: Figure| {
        let hardware = read.results.iter().filter_map(|result| result.hardware.as_ref());
        hardware.filter_map(|hardware| of(&hardware.before).max(of(&hardware.peak)).max(of(&hardware.after))).max()
    };
    let figures: [(&str, Figure); 2] = [("lanes", |sensors| sensors.link_width), ("MT/s", |sensors| sensors.link_mts)];
    for (unit, of) in figures {
        if let (Some(was), Some(is)) = (best(old, of), best(new, of))
            && was != is
        {
            let kind = if is < was { Kind::Regression } else { Kind::Fixed };
            say(kind, "link", format!("PCI Express {was} {unit}, then {is} {unit}"));
        }
    }
}

/// Compares results and durations, and returns the number of checks that both reports have.
fn checks(old: &Read, new: &Read, say: &mut impl FnMut(Kind, &'static str, String)) -> usize {
    let last = |read: &Read| -> BTreeMap<String, CheckResult> {
        read.results.iter().map(|result| (result.id.clone(), result.clone())).collect()
    };
    let (before, after) = (last(old), last(new));
    let mut compared = 0;
    for (id, is) in &after {
        let Some(was) = before.get(id) else {
            if is.is_failure() {
                say(
                    Kind::Changed,
                    "check",
                    format!("{id}: not in the old report, then {}: {}", is.status.name(), is.detail),
                );
            }
            continue;
        };
        compared += 1;
        let kind = match (was.is_failure(), is.is_failure()) {
            (false, true) => Some(Kind::Regression),
            (true, false) if is.status == Status::Skip => Some(Kind::Changed),
            (true, false) => Some(Kind::Fixed),
            _ if was.status == is.status => None,
            // A warning is new, or a check that passed is not made any more.
            (false, false) if was.status == Status::Pass => Some(Kind::Regression),
            (false, false) if was.status != Status::Skip && is.status == Status::Pass => Some(Kind::Fixed),
            _ => Some(Kind::Changed),
        };
        if let Some(kind) = kind {
            let detail = if is.detail.is_empty() { String::new() } else { format!(": {}", is.detail) };
            say(kind, "check", format!("{id}: {}, then {}{detail}", was.status.name(), is.status.name()));
        }
        duration(id, was, is, say);
    }
    let gone: Vec<&String> = before.keys().filter(|id| !after.contains_key(*id)).collect();
    if !gone.is_empty() {
        let named = gone.iter().take(4).map(|id| id.as_str()).collect::<Vec<_>>().join(", ");
        let rest = if gone.len() > 4 { " and others" } else { "" };
        say(
            Kind::Changed,
            "check",
            format!("{} checks of the old report are not in the new one: {named}{rest}", gone.len()),
        );
    }
    compared
}

/// Tells of checks that take several times as long. Durations depend on the load of the computer, so they fail nothing.
fn duration(id: &str, was: &CheckResult, is: &CheckResult, say: &mut impl FnMut(Kind, &'static str, String)) {
    const FACTOR: u32 = 3;
    const LEAST: std::time::Duration = std::time::Duration::from_millis(100);
    let has_run = |result: &CheckResult| matches!(result.status, Status::Pass | Status::Warn | Status::DmesgWarn);
    if !has_run(was) || !has_run(is) {
        return;
    }
    let milliseconds = |result: &CheckResult| format!("{:.1} ms", result.time.as_secs_f64() * 1e3);
    let is_longer =
        |longer: &CheckResult, shorter: &CheckResult| longer.time >= LEAST && longer.time / FACTOR > shorter.time;
    if is_longer(is, was) || is_longer(was, is) {
        say(Kind::Changed, "duration", format!("{id}: {}, then {}", milliseconds(was), milliseconds(is)));
    }
}

fn bandwidths(old: &Read, new: &Read, tolerance: Tolerance, say: &mut impl FnMut(Kind, &'static str, String)) {
    let all = |read: &Read| read.results.iter().flat_map(|result| result.bandwidths.clone()).collect::<Vec<_>>();
    let after = all(new);
    for was in all(old) {
        let is_same = |is: &&crate::result::bandwidth::Bandwidth| {
            (&is.engine, is.direction, is.bytes) == (&was.engine, was.direction, was.bytes)
        };
        let Some(is) = after.iter().find(is_same) else { continue };
        let kind = if tolerance.is_exceeded(is.bytes_per_second, was.bytes_per_second) {
            Kind::Regression
        } else if tolerance.is_exceeded(was.bytes_per_second, is.bytes_per_second) {
            Kind::Fixed
        } else {
            continue;
        };
        let (before, now) = (Rate(was.bytes_per_second), Rate(is.bytes_per_second));
        say(kind, "bandwidth", format!("{} {}: {before}, then {now}", was.engine, was.direction.name()));
    }
}
