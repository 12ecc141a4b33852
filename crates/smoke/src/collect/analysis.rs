//! The facts that failures of a fleet have in common.

use std::collections::{BTreeMap, BTreeSet};

use crate::collect::{
    fleet::{Fleet, Id, Run},
    statistics::{Counts, Factorials, corrected},
};

/// The chance below which something is told: of a hundred fleets whose failures have nothing in common, one is told of anything.
pub(super) const LIMIT: f64 = 0.01;
/// The chance, within machines that agree in a stronger finding, below which another finding is one of its own.
const OWN: f64 = 0.05;

/// A kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Failure {
    /// Any check failed.
    Any,
    /// The run did not come to its end.
    Stopped,
    /// This check failed on any ring.
    Check(Id),
}

impl Failure {
    /// Returns the name in the text and in JSON.
    pub(super) fn name(self, fleet: &Fleet) -> &str {
        match self {
            Self::Any => "any check",
            Self::Stopped => "stopped run",
            Self::Check(check) => fleet.texts.get(check),
        }
    }

    /// Returns whether a run failed in this way, or `None` if it tells nothing about that.
    fn of(self, fleet: &Fleet, run: &Run) -> Option<bool> {
        match self {
            Self::Any if run.failed.is_empty() => run.is_passed(fleet).then_some(false),
            Self::Any => Some(true),
            Self::Stopped => (!run.ended || !fleet.ran(run).is_empty()).then_some(!run.ended),
            Self::Check(check) if run.failed.contains(&check) => Some(true),
            Self::Check(check) => fleet.ran(run).binary_search(&check).is_ok().then_some(false),
        }
    }
}

/// A value that failures go with.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// The name of the fact, such as `kernel`.
    pub(super) name: Id,
    /// Its value.
    pub(super) value: Id,
    pub(super) counts: Counts,
    /// Logarithm of the chance after correction for all tests.
    pub(super) chance: f64,
    /// Findings that hold for the same machines or only because of this one.
    pub(super) with: Vec<Finding>,
}

/// A kind of failure, with what it goes with.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) failure: Failure,
    /// Number of GPUs whose report tells whether they fail in this way.
    pub(super) known: usize,
    /// The runs that failed, by their index in the fleet.
    pub(super) failed: Vec<usize>,
    /// Findings of their own, the least likely to be chance first.
    pub(super) findings: Vec<Finding>,
}

/// The facts that failures of a fleet have in common.
#[derive(Debug)]
pub(super) struct Analysis {
    pub(super) groups: Vec<Group>,
    /// Number of tests that were made.
    pub(super) tests: usize,
}

/// The runs in which a fact has a known value, in an order in which those of one value and machine are neighbours.
type Column = Vec<(Id, Id, usize)>;

/// Compares all failures with all facts.
pub(super) fn analyse(fleet: &Fleet) -> Analysis {
    let columns = columns(fleet);
    let factorials = Factorials::up_to(u32::try_from(fleet.runs.len()).unwrap_or(u32::MAX));
    let mut groups = Vec::new();
    let mut tested = Vec::new();
    for failure in failures(fleet) {
        let outcomes: Vec<_> = fleet.runs.iter().map(|run| failure.of(fleet, run)).collect();
        for (&name, column) in &columns {
            for (value, counts) in counts(column, &outcomes, |_| true) {
                // What all have, or one machine alone, cannot be told from chance.
                if counts.with > 1 && counts.with < counts.all && counts.failed > 0 {
                    tested.push((groups.len(), name, value, counts, factorials.logarithm_of_chance(counts)));
                }
            }
        }
        let failed = (0..outcomes.len()).filter(|&at| outcomes.get(at) == Some(&Some(true))).collect();
        groups.push(Group { failure, known: outcomes.iter().flatten().count(), failed, findings: Vec::new() });
    }
    let chances = corrected(&tested.iter().map(|(.., chance)| *chance).collect::<Vec<_>>());
    let mut all: Vec<Vec<Finding>> = groups.iter().map(|_| Vec::new()).collect();
    for (&(group, name, value, counts, _), &chance) in tested.iter().zip(&chances) {
        if chance < LIMIT.ln()
            && let Some(findings) = all.get_mut(group)
        {
            findings.push(Finding { name, value, counts, chance, with: Vec::new() });
        }
    }
    for (group, findings) in groups.iter_mut().zip(all) {
        let outcomes: Vec<_> = fleet.runs.iter().map(|run| group.failure.of(fleet, run)).collect();
        group.findings = independent(fleet, findings, &columns, &outcomes, &factorials);
    }
    // The kinds that most machines have come first, after the one of all of them.
    groups.sort_by_key(|group| {
        let rank = match group.failure {
            Failure::Any => 0,
            Failure::Stopped => 1,
            Failure::Check(_) => 2,
        };
        (rank, std::cmp::Reverse(group.failed.len()), group.failure.name(fleet).to_owned())
    });
    Analysis { groups, tests: tested.len() }
}

/// Returns the kinds of failure that there are.
fn failures(fleet: &Fleet) -> Vec<Failure> {
    let checks: BTreeSet<Id> = fleet.runs.iter().flat_map(|run| run.failed.iter().copied()).collect();
    let mut failures = Vec::new();
    if !checks.is_empty() {
        failures.push(Failure::Any);
    }
    if fleet.runs.iter().any(|run| !run.ended) {
        failures.push(Failure::Stopped);
    }
    failures.extend(checks.into_iter().map(Failure::Check));
    failures
}

fn columns(fleet: &Fleet) -> BTreeMap<Id, Column> {
    let mut columns: BTreeMap<Id, Column> = BTreeMap::new();
    for (at, run) in fleet.runs.iter().enumerate() {
        for &(name, value) in &run.facts {
            columns.entry(name).or_default().push((value, run.machine, at));
        }
    }
    for column in columns.values_mut() {
        column.sort_unstable();
    }
    columns
}

/// Counts machines by the values of a fact. A machine counts once for each value, however many of its GPUs have it, since they share
/// what else is wrong with it; it failed if any of them did.
fn counts(column: &Column, outcomes: &[Option<bool>], is_counted: impl Fn(usize) -> bool) -> Vec<(Id, Counts)> {
    let mut values: Vec<(Id, Counts)> = Vec::new();
    let known = column.iter().filter_map(|&(value, machine, at)| {
        let outcome = outcomes.get(at).copied().flatten().filter(|_| is_counted(at))?;
        Some((value, machine, outcome))
    });
    let known: Vec<_> = known.collect();
    for machine in known.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
        let Some(&(value, ..)) = machine.first() else { continue };
        let has_failed = usize::from(machine.iter().any(|&(.., outcome)| outcome));
        match values.last_mut() {
            Some((last, counts)) if *last == value => {
                counts.with += 1;
                counts.failed_with += has_failed;
            }
            _ => values.push((value, Counts { with: 1, failed_with: has_failed, ..Counts::default() })),
        }
    }
    let all = values.iter().map(|(_, counts)| counts.with).sum();
    let failed = values.iter().map(|(_, counts)| counts.failed_with).sum();
    for (_, counts) in &mut values {
        (counts.all, counts.failed) = (all, failed);
    }
    values
}

/// Puts each finding that holds only because of a stronger one below that one: a chip fails because of its firmware, if those of its
/// boards that have another firmware do not fail.
fn independent(
    fleet: &Fleet,
    mut findings: Vec<Finding>,
    columns: &BTreeMap<Id, Column>,
    outcomes: &[Option<bool>],
    factorials: &Factorials,
) -> Vec<Finding> {
    let words = |finding: &Finding| (fleet.texts.get(finding.name), fleet.texts.get(finding.value));
    findings.sort_by(|one, other| one.chance.total_cmp(&other.chance).then_with(|| words(one).cmp(&words(other))));
    let mut leading: Vec<Finding> = Vec::new();
    for finding in findings {
        let Some(column) = columns.get(&finding.name) else { continue };
        let is_own = |lead: &Finding| {
            let has = |at: usize| fleet.runs.get(at).is_some_and(|run| run.facts.contains(&(lead.name, lead.value)));
            let chance = |inside: bool| {
                let counted = counts(column, outcomes, |at| has(at) == inside);
                let counts = counted.into_iter().find(|(value, _)| *value == finding.value);
                counts.map_or(0.0, |(_, counts)| factorials.logarithm_of_chance(counts))
            };
            // Two tests, of which either may tell.
            chance(true).min(chance(false)).exp() * 2.0 < OWN
        };
        match leading.iter().position(|lead| !is_own(lead)) {
            Some(at) => leading[at].with.push(finding),
            None => leading.push(finding),
        }
    }
    leading
}

/// Returns the words for a chance of which this is the logarithm.
pub(super) fn chance_words(logarithm: f64) -> String {
    if logarithm < -300.0 * std::f64::consts::LN_10 {
        "below 1e-300".to_owned()
    } else {
        format!("{:.1e}", logarithm.exp())
    }
}

/// Returns the counts in words.
pub(super) fn counts_words(counts: Counts) -> String {
    format!(
        "{} of {} machines with it fail, {} of {} without",
        counts.failed_with,
        counts.with,
        counts.failed_without(),
        counts.without()
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::collect::fleet::Reading;

    /// Adds a report of a machine, whose check fails or not.
    fn add(fleet: &mut Fleet, machine: usize, gpu: &str, facts: &[(&str, &str)], fails: bool) {
        let reading = Reading {
            machine: Some(format!("node{machine}")),
            gpu: gpu.to_owned(),
            facts: facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ran: BTreeSet::from(["bo.map".to_owned()]),
            failed: fails.then(|| "bo.map".to_owned()).into_iter().collect(),
            ended: true,
            ..Reading::default()
        };
        fleet.add(&PathBuf::from(format!("{machine}-{gpu}.json")), &reading);
    }

    fn leads(fleet: &Fleet) -> Vec<(String, usize)> {
        let analysis = analyse(fleet);
        let words = |finding: &Finding| {
            (format!("{} {}", fleet.texts.get(finding.name), fleet.texts.get(finding.value)), finding.with.len())
        };
        analysis.groups.iter().find(|group| group.failure == Failure::Any).unwrap().findings.iter().map(words).collect()
    }

    #[test]
    fn a_chip_is_not_reported_where_its_firmware_is_the_cause() {
        let mut fleet = Fleet::default();
        for machine in 0..400 {
            let chip = if machine % 4 == 0 { "A" } else { "B" };
            let firmware = if machine % 8 == 0 { "bad" } else { "good" };
            let kernel = if machine % 3 == 0 { "6.1" } else { "6.12" };
            let facts = [("chip", chip), ("firmware", firmware), ("kernel", kernel)];
            add(&mut fleet, machine, "g", &facts, firmware == "bad" && machine % 5 != 0);
        }
        assert_eq!(leads(&fleet), [("firmware bad".to_owned(), 1)]);
    }

    #[test]
    fn two_causes_are_both_reported() {
        let mut fleet = Fleet::default();
        for machine in 0..600 {
            let slot = if machine % 6 == 0 { "1" } else { "2" };
            let kernel = if machine % 5 == 0 { "6.1" } else { "6.12" };
            add(&mut fleet, machine, "g", &[("slot", slot), ("kernel", kernel)], slot == "1" || kernel == "6.1");
        }
        let mut found: Vec<_> = leads(&fleet).into_iter().map(|(words, _)| words).collect();
        found.sort();
        assert_eq!(found, ["kernel 6.1", "slot 1"]);
    }

    /// One machine in which all of eight GPUs fail says as much about its kernel as one with a single GPU.
    #[test]
    fn the_gpus_of_one_machine_are_no_evidence_eight_times() {
        let mut fleet = Fleet::default();
        for machine in 0..40 {
            let kernel = if machine < 2 { "new" } else { "old" };
            for gpu in 0..8 {
                add(&mut fleet, machine, &gpu.to_string(), &[("kernel", kernel)], machine == 0);
            }
        }
        assert_eq!(leads(&fleet), []);
    }

    #[test]
    fn failures_by_chance_have_no_finding() {
        let mut fleet = Fleet::default();
        for machine in 0..1000_usize {
            // A generator of numbers without a pattern that the facts have.
            let number = machine.wrapping_mul(2_654_435_761) >> 7;
            let facts = [("kernel", ["a", "b", "c"][machine % 3]), ("slot", ["1", "2", "3", "4"][machine % 4])];
            add(&mut fleet, machine, "g", &facts, number % 10 == 0);
        }
        assert_eq!(leads(&fleet), []);
    }
}
