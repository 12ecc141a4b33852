//! Reports of hazards.

use std::{collections::HashSet, fmt};

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
    all: Vec<HazardReport>,
    known: HashSet<(HazardKind, String, String)>,
}

impl Reports {
    /// Stores a report, unless its kind was reported for the same places.
    pub(crate) fn add(&self, report: HazardReport) {
        let mut inner = self.0.lock();
        let key = (report.kind, report.earlier.clone(), report.later.clone());
        if inner.all.len() < MOST && inner.known.insert(key) {
            tracing::error!("{report}");
            inner.all.push(report);
        }
    }

    /// Returns all reports, the oldest first.
    pub(crate) fn list(&self) -> Vec<HazardReport> {
        self.0.lock().all.clone()
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
            reports.add(report(later));
        }
        assert_eq!(reports.list(), [report(0), report(1)]);
        (0..2 * MOST).for_each(|later| reports.add(report(later)));
        assert_eq!(reports.list().len(), MOST);
    }

    #[test]
    fn a_report_names_both_places_and_what_is_missing() {
        let text = "stale-read on navi21: packet 7, at 0x1000; before: the CPU; missing: GL2_INV";
        assert_eq!(report(7).to_string(), text);
    }
}
