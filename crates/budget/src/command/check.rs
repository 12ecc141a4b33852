//! `check`: a monitoring plug-in.
//!
//! One line on standard output: a word, what is wrong, and after a bar `label=value;warn;crit;min;max` for each figure. The
//! exit status is that of the worst GPU.

use std::io::Write;

use crate::{
    cli::{Check, Global},
    exit::Exit,
    session::{self, Outcome, Stop},
    snapshot::{
        metric::{Condition, Rates},
        model::{Gpu, Snapshot},
        units::Units,
    },
};

/// A rule: the condition for WARNING, the one for CRITICAL, and what it is about.
struct Rule {
    name: &'static str,
    warning: Option<Condition>,
    critical: Condition,
}

impl Rule {
    fn new(name: &'static str, comparison: &str, thresholds: Option<&String>) -> Result<Option<Self>, Stop> {
        let Some(text) = thresholds else { return Ok(None) };
        let condition = |threshold: &str| {
            let parsed = format!("{comparison}{threshold}").parse::<Condition>();
            parsed.map_err(|error| Stop::Message(Exit::Usage, format!("--{name}: {error}")))
        };
        let (warning, critical) = match text.split_once(',') {
            Some((warning, critical)) => (Some(condition(warning)?), condition(critical)?),
            None => (None, condition(text)?),
        };
        Ok(Some(Self { name, warning, critical }))
    }

    /// 0 to 3, and what is wrong.
    fn judge(&self, gpu: &Gpu, rates: &Rates) -> (u8, Option<String>) {
        let broken = |condition: &Condition| condition.holds(gpu, rates);
        match (broken(&self.critical), self.warning.as_ref().map(broken)) {
            (Some(true), _) => (2, Some(self.critical.to_string())),
            (None, _) | (_, Some(None)) => (3, Some(format!("{} is unknown", self.name))),
            (_, Some(Some(true))) => (1, Some(self.warning.as_ref().map(ToString::to_string).unwrap_or_default())),
            _ => (0, None),
        }
    }
}

/// Looks once, or twice where a rate is asked for, and judges.
pub(super) fn run(options: &Check, global: &Global, out: &mut dyn Write) -> Outcome {
    let rules = [
        Rule::new("free", "free<", options.free.as_ref())?,
        Rule::new("budget", "used>", options.budget.as_ref())?,
        Rule::new("process-max", "process_max>", options.process_max.as_ref())?,
        Rule::new("evictions-per-s", "evictions_per_s>", options.evictions_per_s.as_ref())?,
    ];
    let rules: Vec<Rule> = rules.into_iter().flatten().collect();
    let mut source = session::source(global, false)?;
    let mut snapshot = session::first(&mut *source, global)?;
    let mut earlier = None;
    if options.evictions_per_s.is_some() {
        session::pause(&*source, options.interval);
        if let Some(later) = session::next(&mut *source, global)? {
            earlier = Some(std::mem::replace(&mut snapshot, later));
        }
    }
    let (mut status, mut troubles) = (0, Vec::new());
    for gpu in &snapshot.gpus {
        let rates = earlier.as_ref().map(|earlier| Rates::between(earlier, &snapshot, &gpu.pci)).unwrap_or_default();
        for (level, trouble) in judge(gpu, &rates, &rules, options) {
            status = worse(status, level);
            troubles.extend(trouble.map(|trouble| format!("GPU {}: {trouble}", gpu.index)));
        }
    }
    let word = ["OK", "WARNING", "CRITICAL", "UNKNOWN"].get(usize::from(status)).copied().unwrap_or("UNKNOWN");
    let text = if troubles.is_empty() { summary(&snapshot) } else { troubles.join("; ") };
    writeln!(out, "{word} - {text} | {}", perfdata(&snapshot))?;
    Ok(Exit::Check(status))
}

fn judge(gpu: &Gpu, rates: &Rates, rules: &[Rule], options: &Check) -> Vec<(u8, Option<String>)> {
    let is_asleep = gpu.power.as_deref() == Some("suspended") && gpu.heaps.is_none();
    match (is_asleep, options.asleep_ok) {
        (true, true) => Vec::new(),
        (true, false) => vec![(3, Some("asleep".to_owned()))],
        _ => rules.iter().map(|rule| rule.judge(gpu, rates)).collect(),
    }
}

/// CRITICAL is worse than UNKNOWN, which is worse than WARNING.
fn worse(a: u8, b: u8) -> u8 {
    let rank = |status| [0, 1, 3, 2].get(usize::from(status)).copied().unwrap_or(0);
    if rank(b) > rank(a) { b } else { a }
}

fn summary(snapshot: &Snapshot) -> String {
    let text = |gpu: &Gpu| {
        let (free, total) = (Units::Auto.known(gpu.effective.available), Units::Auto.known(gpu.effective.total));
        format!("GPU {}: {free} of {total} available", gpu.index)
    };
    snapshot.gpus.iter().map(text).collect::<Vec<_>>().join("; ")
}

/// Bytes with their limits; the unknown is `U`, as the convention has it.
fn perfdata(snapshot: &Snapshot) -> String {
    let number =
        |value: Option<u64>, unknown: &str| value.map_or_else(|| unknown.to_owned(), |value| value.to_string());
    let mut list = Vec::new();
    for gpu in &snapshot.gpus {
        let prefix = if snapshot.gpus.len() == 1 { String::new() } else { format!("gpu{}_", gpu.index) };
        let domains = &gpu.domains;
        for (name, used, total) in [
            ("vram", domains.vram.used, domains.vram.total),
            ("gtt", domains.gtt.used, domains.gtt.total),
            ("available", gpu.effective.available, gpu.effective.total),
        ] {
            list.push(format!("{prefix}{name}={}B;;;0;{}", number(used, "U"), number(total, "")));
        }
    }
    list.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_status_wins_and_critical_is_the_worst() {
        assert_eq!([(0, 1), (1, 3), (3, 2), (2, 3), (3, 1), (0, 0)].map(|(a, b)| worse(a, b)), [1, 3, 2, 2, 3, 0]);
    }
}
