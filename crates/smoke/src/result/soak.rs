//! Results of a plan that was run over and over again.

use std::time::Duration;

use serde::Serialize;

use crate::{
    hardware::state::HardwareEvent,
    result::{cells::Cells, check_result::CheckResult, status::Status},
};

/// The duration of a soak that only the user ends. It is more than any soak, and adds up with any clock.
pub(crate) const UNTIL_STOPPED: Duration = Duration::from_hours(24 * 365 * 100);

/// The results of a soak: the number of rounds, and the failures of each check. The size depends on the plan, not on the number of
/// rounds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Soak {
    /// The requested duration in seconds; a century if only the user ends it.
    pub asked_seconds: f64,
    /// The actual duration in seconds.
    pub seconds: f64,
    /// The number of complete rounds.
    pub rounds: u64,
    /// `true` if the user ended the soak early.
    pub interrupted: bool,
    /// The checks, in the order of the plan.
    pub checks: Vec<SoakCheck>,
    /// The hardware events, with one entry for each rule and source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hardware: Vec<SoakEvent>,
    /// The bytes of memory that did not hold their pattern in any round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cells: Option<Cells>,
}

/// A hardware event in a soak, with the number of checks during which it occurred.
#[derive(Clone, Debug, Serialize)]
pub struct SoakEvent {
    /// The round of the first occurrence, counted from 1.
    pub round: u64,
    /// The ID of the check during which it first occurred.
    pub check: String,
    /// The first occurrence of the event.
    pub first: HardwareEvent,
    /// The number of checks during which it occurred.
    pub checks: u64,
}

/// The results of one check in a soak.
#[derive(Clone, Debug, Serialize)]
pub struct SoakCheck {
    /// The ID of the check.
    pub id: String,
    /// The number of runs, without skipped ones.
    pub runs: u64,
    /// The number of runs that failed.
    pub failures: u64,
    /// The share of the runs that failed, from 0 to 1.
    pub rate: f64,
    /// The lower end of the interval in which the real rate is with a confidence of 95 % (Wilson's score interval).
    pub rate_low: f64,
    /// The upper end of this interval.
    pub rate_high: f64,
    /// The duration of the shortest run in milliseconds.
    pub shortest_ms: f64,
    /// The duration of the longest run in milliseconds.
    pub longest_ms: f64,
    /// The first failure, if the check failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<FirstFailure>,
}

/// The first failure of a check.
#[derive(Clone, Debug, Serialize)]
pub struct FirstFailure {
    /// The round, counted from 1.
    pub round: u64,
    /// The seed of the round.
    pub seed: u32,
    /// The time from the start of the run to the end of the round, in seconds.
    pub after_seconds: f64,
    /// The result with its evidence.
    pub result: CheckResult,
}

/// A round that is under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// Number, from 1.
    pub(crate) number: u64,
    /// Seed of its checks.
    pub(crate) seed: u32,
}

impl Soak {
    pub(crate) fn new(asked: Duration) -> Self {
        Self { asked_seconds: asked.as_secs_f64(), ..Self::default() }
    }

    /// Counts a result, and returns it if it is the first failure of its check.
    pub(crate) fn add(&mut self, round: Round, after: Duration, result: &CheckResult) -> Option<CheckResult> {
        self.add_events(round, result);
        if let Some(cells) = result.evidence.as_ref().and_then(|evidence| evidence.cells.as_ref()) {
            self.cells.get_or_insert_default().merge(cells);
        }
        if !self.checks.iter().any(|check| check.id == result.id) {
            self.checks.push(SoakCheck::new(&result.id));
        }
        let check = self.checks.iter_mut().find(|check| check.id == result.id)?;
        if result.status == Status::Skip {
            return None;
        }
        let milliseconds = result.time.as_secs_f64() * 1e3;
        check.shortest_ms = if check.runs == 0 { milliseconds } else { check.shortest_ms.min(milliseconds) };
        check.longest_ms = check.longest_ms.max(milliseconds);
        check.runs += 1;
        check.failures += u64::from(result.is_failure());
        check.rate = share(check.failures, check.runs);
        (check.rate_low, check.rate_high) = interval(check.failures, check.runs);
        if !result.is_failure() || check.first_failure.is_some() {
            return None;
        }
        let Round { number, seed } = round;
        let detail = format!("round {number}, seed {seed}: {}", result.detail);
        let reported = CheckResult { detail, ..result.clone() };
        let after_seconds = after.as_secs_f64();
        check.first_failure = Some(FirstFailure { round: number, seed, after_seconds, result: result.clone() });
        Some(reported)
    }

    /// Counts the hardware's events, which would be lost with the result of a check that passes again later.
    fn add_events(&mut self, round: Round, result: &CheckResult) {
        for event in result.hardware.iter().flat_map(|hardware| &hardware.events) {
            let is_same = |known: &&mut SoakEvent| known.first.rule == event.rule && known.first.source == event.source;
            if let Some(known) = self.hardware.iter_mut().find(is_same) {
                known.checks += 1;
                continue;
            }
            let (check, first) = (result.id.clone(), event.clone());
            self.hardware.push(SoakEvent { round: round.number, check, first, checks: 1 });
        }
    }

    /// Returns the total number of failures of all checks.
    pub fn failures(&self) -> u64 {
        self.checks.iter().map(|check| check.failures).sum()
    }

    /// Returns the time that it took, and of which, if it has an end of its own.
    pub(crate) fn span(&self) -> String {
        let took = Span(self.seconds);
        if self.asked_seconds < UNTIL_STOPPED.as_secs_f64() {
            format!("{took} of {}", Span(self.asked_seconds))
        } else {
            took.to_string()
        }
    }

    /// Returns the end of the soak as lines of text: how long it took, and each check that failed with its rate.
    pub(crate) fn lines(&self) -> Vec<String> {
        let ended = if self.interrupted { "; the user ended it" } else { "" };
        let mut lines = vec![format!("Soak: rounds {}, in {}{ended}", self.rounds, self.span())];
        let failed: Vec<_> = self.checks.iter().filter(|check| check.failures > 0).collect();
        let width = failed.iter().map(|check| check.id.len()).max().unwrap_or(0).max(5);
        if !failed.is_empty() {
            lines.push(format!(
                "{:<width$} {:>8} {:>8} {:>8}  {:<17}  first failure",
                "check", "runs", "failed", "rate", "95 % confidence"
            ));
        }
        for check in &failed {
            let first = check.first_failure.as_ref().map(|first| {
                format!("round {}, seed {}, after {}", first.round, first.seed, Span(first.after_seconds))
            });
            lines.push(format!(
                "{:<width$} {:>8} {:>8} {:>6.2} %  {:<17}  {}",
                check.id,
                check.runs,
                check.failures,
                check.rate * 100.0,
                format!("{:.2} to {:.2} %", check.rate_low * 100.0, check.rate_high * 100.0),
                first.unwrap_or_default()
            ));
        }
        lines.extend(self.cells.iter().flat_map(Cells::lines));
        lines.push(format!("{} of {} checks never failed.", self.checks.len() - failed.len(), self.checks.len()));
        // Of checks that ran and never failed, the one with the fewest runs tells least.
        let never = self.checks.iter().filter(|check| check.failures == 0 && check.runs > 0);
        if let Some(least) = never.min_by_key(|check| check.runs) {
            lines.push(format!(
                "Each of these fails in less than {:.2} % of its runs, with a confidence of 95 % ({} runs at least).",
                least.rate_high * 100.0,
                least.runs
            ));
        }
        for SoakEvent { round, check, first, checks } in &self.hardware {
            lines.push(format!("{first} (round {round}, {check}; in {checks} checks)"));
        }
        lines
    }
}

/// Returns `part / whole` with six digits after the point.
fn share(part: u64, whole: u64) -> f64 {
    const MILLIONTHS: u64 = 1_000_000;
    let millionths = part.saturating_mul(MILLIONTHS).checked_div(whole).unwrap_or(0);
    u32::try_from(millionths).map_or(1.0, |millionths| f64::from(millionths) / 1e6)
}

/// Returns the interval in which the rate of failures is with a confidence of 95 %.
///
/// This is the score interval of E. B. Wilson (1927), which stays meaningful for rare failures and for none.
fn interval(failures: u64, runs: u64) -> (f64, f64) {
    /// The square of the 97.5 % quantile of the normal distribution.
    const Z2: f64 = 1.959_964 * 1.959_964;
    if runs == 0 {
        return (0.0, 1.0);
    }
    // No soak has four thousand million rounds.
    let number = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let n = number(runs);
    let p = number(failures) / n;
    let middle = (p + Z2 / (2.0 * n)) / (1.0 + Z2 / n);
    let half = (p * (1.0 - p) * Z2 / n + Z2 * Z2 / (4.0 * n * n)).sqrt() / (1.0 + Z2 / n);
    let rounded = |rate: f64| (rate.clamp(0.0, 1.0) * 1e6).round() / 1e6;
    (
        if failures == 0 { 0.0 } else { rounded(middle - half) },
        if failures == runs { 1.0 } else { rounded(middle + half) },
    )
}

impl SoakCheck {
    fn new(id: &str) -> Self {
        let (runs, failures, rate, shortest_ms, longest_ms) = Default::default();
        let (rate_low, rate_high) = interval(0, 0);
        Self {
            id: id.to_owned(),
            runs,
            failures,
            rate,
            rate_low,
            rate_high,
            shortest_ms,
            longest_ms,
            first_failure: None,
        }
    }
}

/// Seconds as people say them: `12.3 s`, `8 min`, `3 h 25 min`.
pub(crate) struct Span(pub(crate) f64);

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let minutes = (self.0 / 60.0).floor();
        if minutes < 1.0 {
            write!(f, "{:.1} s", self.0)
        } else if minutes < 60.0 {
            write!(f, "{minutes} min")
        } else {
            write!(f, "{} h {} min", (minutes / 60.0).floor(), minutes % 60.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::state::{Hardware, HardwareRule};

    #[test]
    fn failures_are_rates_of_the_runs_and_the_first_is_kept_whole() {
        let mut soak = Soak::new(Duration::from_hours(8));
        for number in 1..=1000 {
            let status = if number % 250 == 0 { Status::Fail } else { Status::Pass };
            let round = Round { number, seed: 7 };
            let result =
                CheckResult::new("exec.copy.sdma0", status, format!("byte {number}"), Duration::from_millis(number));
            let reported = soak.add(round, Duration::from_secs(number), &result);
            assert_eq!(reported.is_some(), number == 250, "{number}");
            soak.add(round, Duration::ZERO, &CheckResult::new("bo.map", Status::Pass, "", Duration::ZERO));
            soak.add(round, Duration::ZERO, &CheckResult::new("va.fixed", Status::Skip, "", Duration::ZERO));
        }
        let [copy, map, skipped] = &soak.checks[..] else { panic!("{soak:?}") };
        assert_eq!((copy.runs, copy.failures, copy.rate), (1000, 4, 0.004));
        assert_eq!((copy.shortest_ms, copy.longest_ms), (1.0, 1000.0));
        let first = copy.first_failure.as_ref().unwrap();
        assert_eq!((first.round, first.seed, &*first.result.detail), (250, 7, "byte 250"));
        assert_eq!((map.runs, map.failures, skipped.runs), (1000, 0, 0));
        let lines = soak.lines();
        assert!(lines[2].ends_with("0.40 %  0.16 to 1.02 %     round 250, seed 7, after 4 min"), "{lines:?}");
        assert!(lines[4].starts_with("Each of these fails in less than 0.38 % of its runs"), "{lines:?}");
        assert_eq!(lines[3], "2 of 3 checks never failed.");
    }

    #[test]
    fn an_event_of_the_hardware_is_kept_when_its_check_passes_again() {
        let mut soak = Soak::new(Duration::from_hours(8));
        for number in 1..=100 {
            let counted = |before: u64, after: u64| HardwareEvent {
                rule: HardwareRule::AerCorrectable,
                source: "aer_dev_correctable".to_owned(),
                before: before.to_string(),
                after: after.to_string(),
            };
            let events = if number % 40 == 0 { vec![counted(number / 40 - 1, number / 40)] } else { Vec::new() };
            let hardware = Some(Hardware { events, ..Hardware::default() });
            let result = CheckResult::new("exec.nop.gfx0", Status::Pass, "", Duration::ZERO);
            soak.add(Round { number, seed: 0 }, Duration::ZERO, &CheckResult { hardware, ..result });
        }
        let line = "new corrected PCIe error: aer_dev_correctable 0, then 1 (round 40, exec.nop.gfx0; in 2 checks)";
        assert_eq!(soak.lines().last().unwrap(), line);
    }

    #[test]
    fn the_interval_holds_the_rate_and_narrows_with_runs() {
        // Figures of Wilson's formula, such as Newcombe (1998) prints for 81 of 263.
        assert_eq!(interval(81, 263), (0.255_289, 0.366_21));
        assert_eq!((interval(0, 0), interval(0, 1).0, interval(5, 5).1), ((0.0, 1.0), 0.0, 1.0));
        let mut before = 1.0;
        for runs in [10, 100, 1000, 10_000, 1_000_000] {
            let (low, high) = interval(runs / 10, runs);
            assert!(low < 0.1 && 0.1 < high && high - low < before, "{runs}: {low} to {high}");
            before = high - low;
        }
        assert!(interval(0, 1000).1 < 0.004, "three in a thousand runs, and a little more");
    }

    #[test]
    fn spans_have_the_units_that_fit() {
        for (seconds, text) in [(0.25, "0.2 s"), (59.0, "59.0 s"), (480.0, "8 min"), (12300.0, "3 h 25 min")] {
            assert_eq!(Span(seconds).to_string(), text);
        }
    }
}
