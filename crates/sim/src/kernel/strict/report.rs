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
