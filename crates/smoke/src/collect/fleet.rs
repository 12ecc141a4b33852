//! The reports of many machines, merged: each GPU once, in little memory.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

/// A report, as far as reports of many machines are compared.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    /// The name of the machine.
    pub(super) machine: Option<String>,
    /// The PCI address of the GPU, or else its location.
    pub(super) gpu: String,
    pub(super) simulated: bool,
    /// Seconds since 1970.
    pub(super) made: u64,
    /// Names and values that reports are compared by.
    pub(super) facts: BTreeMap<String, String>,
    /// The checks that were not skipped, without their rings.
    pub(super) ran: BTreeSet<String>,
    /// The checks that failed unexpectedly, without their rings.
    pub(super) failed: BTreeSet<String>,
    /// `false` if the plan ended early.
    pub(super) ended: bool,
    /// The reason why it did.
    pub(super) stopped: Option<String>,
}

/// The reason why a file does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Problem {
    Unreadable,
    TooLarge,
    CutOff,
    NoJson,
    Foreign,
    Malformed,
    /// A later report of the same GPU counts.
    Repeated,
    /// Reports of real GPUs count.
    Simulated,
}

impl Problem {
    pub(super) const ALL: [Self; 8] = [
        Self::Unreadable,
        Self::TooLarge,
        Self::CutOff,
        Self::NoJson,
        Self::Foreign,
        Self::Malformed,
        Self::Repeated,
        Self::Simulated,
    ];

    /// Returns the name in JSON and SQL.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::TooLarge => "too-large",
            Self::CutOff => "cut-off",
            Self::NoJson => "no-json",
            Self::Foreign => "foreign",
            Self::Malformed => "malformed",
            Self::Repeated => "repeated",
            Self::Simulated => "simulated",
        }
    }

    /// Returns the words of the text and the page.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Unreadable => "cannot be read",
            Self::TooLarge => "too large for a report",
            Self::CutOff => "cut off",
            Self::NoJson => "not JSON",
            Self::Foreign => "JSON of something else",
            Self::Malformed => "a report with wrong fields",
            Self::Repeated => "a GPU of which a later report counts",
            Self::Simulated => "a simulated GPU among real ones",
        }
    }
}

/// A file that does not count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LeftOut {
    pub(super) problem: Problem,
    pub(super) file: String,
    pub(super) detail: String,
}

impl LeftOut {
    pub(super) fn new(path: &Path, problem: Problem, detail: String) -> Self {
        Self { problem, file: path.display().to_string(), detail }
    }
}

/// The number of a text.
pub(super) type Id = u32;

/// Texts, each kept once.
#[derive(Debug, Default)]
pub(super) struct Texts {
    ids: HashMap<Box<str>, Id>,
    texts: Vec<Box<str>>,
}

impl Texts {
    fn id(&mut self, text: &str) -> Id {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        // More than 2^32 texts do not fit in memory.
        let id = Id::try_from(self.texts.len()).unwrap_or(Id::MAX);
        self.ids.insert(text.into(), id);
        self.texts.push(text.into());
        id
    }

    pub(super) fn get(&self, id: Id) -> &str {
        self.texts.get(usize::try_from(id).unwrap_or(usize::MAX)).map_or("", |text| text)
    }
}

/// The report of a GPU.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) file: Box<str>,
    pub(super) machine: Id,
    pub(super) gpu: Id,
    pub(super) simulated: bool,
    pub(super) made: u64,
    /// Names and values, in the order of the names' numbers.
    pub(super) facts: Box<[(Id, Id)]>,
    /// The number of the set of checks that were not skipped.
    pub(super) ran: usize,
    pub(super) failed: Box<[Id]>,
    pub(super) ended: bool,
    pub(super) stopped: Option<Id>,
}

impl Run {
    /// Returns `true` if it tells that the GPU works: nothing failed up to the end.
    pub(super) fn is_passed(&self, fleet: &Fleet) -> bool {
        self.ended && self.failed.is_empty() && !fleet.ran(self).is_empty()
    }

    /// Returns `pass`, `fail`, `stopped` or `skip`. A run that ended early after a failure has failed.
    pub(super) fn state(&self, fleet: &Fleet) -> &'static str {
        match () {
            () if !self.failed.is_empty() => "fail",
            () if !self.ended => "stopped",
            () if self.is_passed(fleet) => "pass",
            () => "skip",
        }
    }
}

/// The reports of many machines. A GPU of a machine is there once, with its last report.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    pub(super) texts: Texts,
    pub(super) runs: Vec<Run>,
    /// Files that do not count, in the order of reasons and paths.
    pub(super) left_out: Vec<LeftOut>,
    /// Number of reports that do not name their machine; each is taken for one of its own.
    pub(super) unnamed: usize,
    /// Number of files that are not called `.json`.
    pub(super) others: usize,
    by_gpu: HashMap<(Id, Id), usize>,
    /// The sets of checks that ran, which many machines have in common.
    plans: Vec<Box<[Id]>>,
    by_plan: HashMap<Box<[Id]>, usize>,
}

impl Fleet {
    /// Begins a merge with what the search for files has left out.
    pub(super) fn new(left_out: Vec<LeftOut>, others: usize) -> Self {
        Self { left_out, others, ..Self::default() }
    }

    /// Adds a report.
    pub(super) fn add(&mut self, path: &Path, reading: &Reading) {
        let file = path.display().to_string();
        let machine = match &reading.machine {
            Some(name) => self.texts.id(name),
            None => self.texts.id(&file),
        };
        let key = (machine, self.texts.id(&reading.gpu));
        let texts = &mut self.texts;
        let mut facts: Vec<_> = reading.facts.iter().map(|(name, value)| (texts.id(name), texts.id(value))).collect();
        facts.sort_unstable();
        let failed = reading.failed.iter().map(|check| texts.id(check)).collect();
        let mut plan: Vec<_> = reading.ran.iter().map(|check| texts.id(check)).collect();
        plan.sort_unstable();
        let stopped = reading.stopped.as_ref().map(|reason| texts.id(reason));
        let run = Run {
            file: file.into(),
            machine,
            gpu: key.1,
            simulated: reading.simulated,
            made: reading.made,
            facts: facts.into(),
            ran: self.plan(plan.into()),
            failed,
            ended: reading.ended,
            stopped,
        };
        self.unnamed += usize::from(reading.machine.is_none());
        match self.by_gpu.get(&key).and_then(|&at| self.runs.get_mut(at)) {
            None => {
                self.by_gpu.insert(key, self.runs.len());
                self.runs.push(run);
            }
            Some(known) => {
                // Of two reports of one second the path decides, whatever order they were read in.
                let is_later = (run.made, &run.file) > (known.made, &known.file);
                let earlier = if is_later { std::mem::replace(known, run) } else { run };
                let detail = format!("{} is later", known.file);
                self.left_out.push(LeftOut { problem: Problem::Repeated, file: earlier.file.into(), detail });
            }
        }
    }

    fn plan(&mut self, plan: Box<[Id]>) -> usize {
        if let Some(&known) = self.by_plan.get(&plan) {
            return known;
        }
        self.plans.push(plan.clone());
        self.by_plan.insert(plan, self.plans.len() - 1);
        self.plans.len() - 1
    }

    /// Returns the checks of a run that were not skipped, in the order of their numbers.
    pub(super) fn ran(&self, run: &Run) -> &[Id] {
        self.plans.get(run.ran).map_or(&[], |plan| plan)
    }

    /// Returns the sets of checks that ran, each with its number in [`Run::ran`].
    pub(super) fn plans(&self) -> impl Iterator<Item = (usize, &[Id])> {
        self.plans.iter().map(|plan| &**plan).enumerate()
    }

    /// Ends the merge. Simulated GPUs tell nothing about real ones, so beside these they do not count.
    pub(super) fn finish(&mut self) {
        if self.runs.iter().any(|run| !run.simulated) {
            for run in self.runs.extract_if(.., |run| run.simulated) {
                let detail = "it tells nothing about real ones".to_owned();
                self.left_out.push(LeftOut { problem: Problem::Simulated, file: run.file.into(), detail });
            }
        }
        self.by_gpu = HashMap::new();
        self.runs.sort_by(|one, other| one.file.cmp(&other.file));
        self.left_out.sort();
    }

    /// Returns the number of machines.
    pub(super) fn machines(&self) -> usize {
        let mut machines: Vec<_> = self.runs.iter().map(|run| run.machine).collect();
        machines.sort_unstable();
        machines.dedup();
        machines.len()
    }

    /// Returns the number of runs with a state.
    pub(super) fn count(&self, state: &str) -> usize {
        self.runs.iter().filter(|run| run.state(self) == state).count()
    }

    /// Returns the number of files that do not count for each reason that there is.
    pub(super) fn problems(&self) -> impl Iterator<Item = (Problem, usize)> {
        let count = |problem| self.left_out.iter().filter(|left| left.problem == problem).count();
        Problem::ALL.into_iter().map(move |problem| (problem, count(problem))).filter(|(_, count)| *count > 0)
    }
}
