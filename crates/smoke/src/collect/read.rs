//! A report, as far as reports of many machines are compared.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::Read as _,
    path::Path,
};

use serde::Deserialize;

use crate::{
    collect::fleet::{Problem, Reading},
    identity::{board::Board, machine::Machine},
    result::{
        report::SCHEMA,
        status::{Expected, Status},
    },
};

/// The size of the largest file that is read, in bytes. Reports have some hundred KiB, with evidence of many failures a few MiB.
pub(super) const LARGEST: u64 = 16 << 20;
/// The longest text that is kept, in bytes: names and versions are shorter.
const LONGEST: usize = 200;

/// The parts of a report that count. What is not named here is skipped without being kept.
#[derive(Deserialize)]
struct Slim<'a> {
    #[serde(borrow)]
    schema: Cow<'a, str>,
    #[serde(borrow)]
    version: Cow<'a, str>,
    #[serde(default)]
    made: u64,
    #[serde(default)]
    machine: Machine,
    #[serde(borrow)]
    gpu: SlimGpu<'a>,
    #[serde(borrow)]
    results: Vec<SlimResult<'a>>,
    aborted: bool,
    #[serde(borrow, default)]
    reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct SlimGpu<'a> {
    simulated: bool,
    #[serde(borrow)]
    location: Cow<'a, str>,
    #[serde(default)]
    board: Option<Board>,
    #[serde(borrow, default)]
    chip: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    driver: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    kernel: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    firmware: Vec<(Cow<'a, str>, u32)>,
}

#[derive(Deserialize)]
struct SlimResult<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    status: Status,
    #[serde(default)]
    expected: Option<Expected>,
}

/// The schema of a file that is not a report.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    schema: Cow<'a, str>,
}

/// Reads a report.
pub(super) fn read(path: &Path) -> Result<Reading, (Problem, String)> {
    let unreadable = |error: std::io::Error| (Problem::Unreadable, error.to_string());
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err((Problem::Unreadable, "not a file".to_owned()));
    }
    if metadata.len() > LARGEST {
        let reason = format!("{} MiB, and a report has {} at most", metadata.len() >> 20, LARGEST >> 20);
        return Err((Problem::TooLarge, reason));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    // A file that grows meanwhile is cut.
    File::open(path).map_err(unreadable)?.take(LARGEST).read_to_end(&mut bytes).map_err(unreadable)?;
    parse(&bytes)
}

/// Reads the report in these bytes.
fn parse(bytes: &[u8]) -> Result<Reading, (Problem, String)> {
    if bytes.is_empty() {
        return Err((Problem::CutOff, "the file is empty".to_owned()));
    }
    match serde_json::from_slice::<Slim>(bytes) {
        Ok(report) if report.schema == SCHEMA => Ok(reading(&report)),
        Ok(report) => Err((Problem::Foreign, format!("its schema is {:?}", short(&report.schema)))),
        Err(error) if error.is_eof() => Err((Problem::CutOff, error.to_string())),
        Err(error) if error.is_syntax() => Err((Problem::NoJson, error.to_string())),
        Err(error) => Err(match serde_json::from_slice::<Named>(bytes) {
            Ok(named) if named.schema == SCHEMA => (Problem::Malformed, error.to_string()),
            Ok(named) => (Problem::Foreign, format!("its schema is {:?}", short(&named.schema))),
            // The first error may come before the end of a file that is cut off.
            Err(named) if named.is_eof() => (Problem::CutOff, named.to_string()),
            Err(named) if named.is_syntax() => (Problem::NoJson, named.to_string()),
            Err(_) => (Problem::Foreign, "it names no schema".to_owned()),
        }),
    }
}

fn reading(report: &Slim<'_>) -> Reading {
    let is_bad = |result: &SlimResult<'_>| {
        result.status.is_bad() && !matches!(result.expected, Some(Expected::Fail | Expected::Flake))
    };
    let stems = |which: &dyn Fn(&SlimResult<'_>) -> bool| -> BTreeSet<String> {
        report.results.iter().filter(|result| which(result)).map(|result| short(stem(&result.id))).collect()
    };
    Reading {
        machine: report.machine.name.as_deref().map(short),
        gpu: short(report.gpu.board.as_ref().map_or(&report.gpu.location, |board| &board.address)),
        simulated: report.gpu.simulated,
        made: report.made,
        facts: facts(report),
        ran: stems(&|result| result.status != Status::Skip),
        failed: stems(&is_bad),
        ended: !report.aborted,
        stopped: report.reason.as_ref().filter(|_| report.aborted).map(|reason| short(reason)),
    }
}

/// Returns what reports are compared by: names, with values of a line.
fn facts(report: &Slim<'_>) -> BTreeMap<String, String> {
    let gpu = &report.gpu;
    let mut facts = BTreeMap::new();
    let mut add = |name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.insert(short(name), short(value));
        }
    };
    add("chip", gpu.chip.as_deref());
    add("kernel", gpu.kernel.as_deref());
    add("driver", gpu.driver.as_deref());
    add("mainboard", report.machine.mainboard.as_deref());
    add("mainboard firmware", report.machine.bios.as_deref());
    add("amdgpu-smoke", Some(&report.version));
    if let Some(board) = &gpu.board {
        add("board", Some(&format!("{} rev {}, subsystem {}", board.device, board.revision, board.subsystem)));
        add("video BIOS", board.vbios.as_deref());
        add("slot", Some(board.slot.as_deref().unwrap_or(&board.address)));
        for (engine, version) in &board.firmware {
            add(&format!("firmware {engine}"), Some(version));
        }
    }
    // What the driver answers to the library; the files of sysfs have more engines.
    if gpu.board.as_ref().is_none_or(|board| board.firmware.is_empty()) {
        for (engine, version) in &gpu.firmware {
            add(&format!("firmware {}", engine.to_ascii_lowercase()), Some(&format!("{version:#010x}")));
        }
    }
    facts
}

/// Returns a check without its ring: `exec.copy` of `exec.copy.sdma0`.
fn stem(id: &str) -> &str {
    match id.rsplit_once('.') {
        Some((stem, ring)) if ring.ends_with(|last: char| last.is_ascii_digit()) => stem,
        _ => id,
    }
}

fn short(text: &str) -> String {
    let end = (0..=text.len().min(LONGEST)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or_default();
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> Problem {
        parse(text.as_bytes()).err().unwrap().0
    }

    #[test]
    fn each_way_not_to_be_a_report_has_a_name() {
        for (text, expected) in [
            ("", Problem::CutOff),
            (r#"{"schema": "amdgpu-smoke/1", "version": "1", "results": [{"id""#, Problem::CutOff),
            (r#"{"schema": "amdgpu-smoke/1", "version": 7, "results": [{"id""#, Problem::CutOff),
            ("<html>", Problem::NoJson),
            (r#"{"schema": "other/1", "version": "1"}"#, Problem::Foreign),
            ("{}", Problem::Foreign),
            ("[1, 2]", Problem::Foreign),
            ("null", Problem::Foreign),
            (r#"{"schema": "amdgpu-smoke/1", "version": "1", "aborted": "yes"}"#, Problem::Malformed),
        ] {
            assert_eq!(problem(text), expected, "{text}");
        }
    }

    #[test]
    fn a_check_is_known_without_its_ring() {
        assert_eq!(
            ["exec.copy.sdma0", "bo.map", "shader.image.load.gfx1"].map(stem),
            ["exec.copy", "bo.map", "shader.image.load"]
        );
    }
}
