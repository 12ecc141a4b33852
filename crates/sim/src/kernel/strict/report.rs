//! Reports of hazards.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use parking_lot::Mutex;

/// The maximum number of reports of a device.
const MOST: usize = 1000;

/// The kind of a hazard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HazardKind {
    /// An access through a cache finds an old copy of what was written behind it.
    StaleRead,
    /// An access that bypasses L2 does not find what is still in L2.
    NotWrittenBack,
    /// A write that bypasses L2 will be overwritten when dirty bytes leave L2.
    Clobber,
    /// The prefetch parser executes a cache operation before earlier work.
    EarlyOperation,
    /// Two accesses of which nothing makes sure that the first is over: work that a packet started runs concurrently with later
    /// packets.
    Race,
    /// The prefetch parser reads memory before ME, DMA or shaders have written it.
    Ahead,
    /// An instruction of a shader follows another too soon.
    Instruction,
    /// A packet breaks a rule about its fields or about the packets around it.
    Submission,
}

impl HazardKind {
    /// Returns the name of the kind in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StaleRead => "stale-read",
            Self::NotWrittenBack => "not-written-back",
            Self::Clobber => "clobber",
            Self::EarlyOperation => "early-operation",
            Self::Race => "race",
            Self::Ahead => "pfp-ahead",
            Self::Instruction => "instruction",
            Self::Submission => "submission",
        }
    }
}

/// A hazard: a mistake of a command stream that the simulator's memory hides and a real chip shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct HazardReport {
    /// The kind of the hazard.
    pub kind: HazardKind,
    /// The chip.
    pub chip: String,
    /// The GPU address of the first byte, if the hazard is about memory.
    pub address: Option<u64>,
    /// The earlier access: a packet with its IB, a dispatch, or the CPU.
    pub earlier: String,
    /// The packet that shows the hazard.
    pub later: String,
    /// The missing packet, and the function of Mesa 25.0.7 that has it.
    pub missing: String,
}

impl HazardReport {
    /// Returns the function of Mesa 25.0.7 that has what is missing, from the end of [`missing`](Self::missing).
    fn source(&self) -> Option<&str> {
        let (_, source) = self.missing.strip_suffix(')')?.rsplit_once('(')?;
        Some(source)
    }

    /// Returns the report as a line of JSON, with the fields of this structure and the function of Mesa that has what is missing.
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, Strictness, profile};
    ///
    /// let options = SimOptions { strictness: Strictness::Report, ..SimOptions::default() };
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, options);
    /// let lines: Vec<String> = gpu.hazards().iter().map(|hazard| hazard.to_json()).collect();
    /// assert!(lines.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_json(&self) -> String {
        let Self { kind, chip, address, earlier, later, missing } = self;
        let address = address.map(|address| format!("{address:#x}"));
        let (kind, mesa) = (kind.name(), self.source());
        serde_json::json!({
            "kind": kind, "chip": chip, "address": address, "earlier": earlier, "later": later, "missing": missing,
            "mesa": mesa,
        })
        .to_string()
    }
}

impl fmt::Display for HazardReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, chip, address, earlier, later, missing } = self;
        write!(f, "{} on {chip}: {later}", kind.name())?;
        if let Some(address) = address {
            write!(f, ", at {address:#x}")?;
        }
        if !earlier.is_empty() {
            write!(f, "; before: {earlier}")?;
        }
        write!(f, "; missing: {missing}")
    }
}

/// The reports of a device. Each pair of places is reported once for each kind.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    all: BTreeMap<Position, HazardReport>,
    /// The position of each kind for each pair of places.
    known: HashMap<(HazardKind, String, String), Position>,
    /// The number of reports that were added.
    added: u64,
}

/// The position of a report among others: the number of the submission, then that of the report. Those of a submission come one after the
/// other, while those of several rings come as fast as their threads.
type Position = (u64, u64);

/// Returns what makes two reports the same.
fn identity(report: &HazardReport) -> (HazardKind, String, String) {
    (report.kind, report.earlier.clone(), report.later.clone())
}

impl Reports {
    /// Stores a report about a submission, unless its kind was reported for the same places of an earlier one. Those of the latest
    /// submissions make room for others.
    pub(crate) fn add(&self, submission: u64, report: HazardReport) {
        let mut inner = self.0.lock();
        inner.added += 1;
        let position = (submission, inner.added);
        let same = inner.known.get(&identity(&report)).copied();
        let last = inner.all.last_key_value().map(|(last, _)| *last).filter(|_| inner.all.len() >= MOST);
        if same.or(last).is_some_and(|other| other < position) {
            return;
        }
        if let Some(same) = same {
            inner.all.remove(&same);
        } else {
            tracing::error!("{report}");
            if let Some(last) = last.and_then(|last| inner.all.remove(&last)) {
                inner.known.remove(&identity(&last));
            }
        }
        inner.known.insert(identity(&report), position);
        inner.all.insert(position, report);
    }

    /// Returns all reports, in the order of submissions.
    pub(crate) fn list(&self) -> Vec<HazardReport> {
        self.0.lock().all.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(later: usize) -> HazardReport {
        let (earlier, later, missing) = ("the CPU".to_owned(), format!("packet {later}"), "GL2_INV".to_owned());
        HazardReport {
            kind: HazardKind::StaleRead,
            chip: "navi21".to_owned(),
            address: Some(0x1000),
            earlier,
            later,
            missing,
        }
    }

    #[test]
    fn a_pair_of_places_is_reported_once_and_the_number_of_reports_is_bounded() {
        let reports = Reports::default();
        for later in [0, 0, 1, 0] {
            reports.add(1, report(later));
        }
        assert_eq!(reports.list(), [report(0), report(1)]);
        (0..2 * MOST).for_each(|later| reports.add(1, report(later)));
        assert_eq!(reports.list().len(), MOST);
    }

    #[test]
    fn reports_are_in_the_order_of_submissions_whichever_comes_first() {
        let list = |order: &[(u64, usize)]| {
            let reports = Reports::default();
            for (submission, later) in order {
                reports.add(*submission, report(*later));
            }
            reports.list()
        };
        let expected = [10, 20, 21, 30].map(report);
        for order in [
            [(1, 10), (2, 20), (2, 21), (3, 30)],
            [(3, 30), (2, 20), (1, 10), (2, 21)],
            [(2, 20), (2, 21), (3, 30), (1, 10)],
        ] {
            assert_eq!(list(&order), expected, "{order:?}");
        }
        // Of the same places, the first submission has it, with its address.
        let (mut first, mut second) = (report(5), report(5));
        (first.address, second.address) = (Some(1), Some(2));
        for order in [[(1, &first), (2, &second)], [(2, &second), (1, &first)]] {
            let reports = Reports::default();
            reports.add(1, report(4));
            for (submission, same) in order {
                reports.add(submission, same.clone());
            }
            assert_eq!(reports.list(), [report(4), first.clone()]);
        }
    }

    #[test]
    fn the_first_submissions_are_kept_whichever_comes_first() {
        let list = |submissions: &mut dyn Iterator<Item = usize>| {
            let reports = Reports::default();
            submissions.for_each(|submission| reports.add(submission as u64, report(submission)));
            reports.list()
        };
        let all = 0..MOST + 10;
        assert_eq!(list(&mut all.clone()), list(&mut all.rev()));
    }

    #[test]
    fn a_line_of_json_has_all_fields_and_the_function_of_mesa() {
        let missing = "GL2_INV in between (radv_update_preamble_cs)".to_owned();
        let line = HazardReport { missing, ..report(7) }.to_json();
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&value["kind"], &value["address"]), (&"stale-read".into(), &"0x1000".into()));
        assert_eq!((&value["mesa"], &value["later"]), (&"radv_update_preamble_cs".into(), &"packet 7".into()));
        assert!(!line.contains('\n') && report(7).source().is_none());
    }

    #[test]
    fn a_report_names_both_places_and_what_is_missing() {
        let text = "stale-read on navi21: packet 7, at 0x1000; before: the CPU; missing: GL2_INV";
        assert_eq!(report(7).to_string(), text);
    }
}
