//! `check`: a monitoring plug-in.
//!
//! Writes one line to standard output: the status, the problem, and after a bar `label=value;warn;crit;min;max` for each figure.
//! The exit status is that of the GPU with the worst state.

use std::io::Write;

use serde_json::{Value, json};

use crate::{
    cli::{Check, Global},
    exit::Exit,
    render,
    session::{self, Outcome, Stop},
    snapshot::{
        metric::{Metric, Rates, Threshold},
        model::{Gpu, Snapshot},
        units::{Units, percent},
    },
};

/// Fewer bytes than this are taken for a forgotten unit.
const LEAST_BYTES: u64 = 1 << 20;

/// A rule: which figure is judged, on which side of its thresholds it is bad, and the thresholds.
struct Rule {
    option: &'static str,
    metric: &'static Metric,
    /// Words after the value, such as `free`.
    words: &'static str,
    /// `true` if values below the thresholds are bad, else those above.
    is_least: bool,
    warning: Option<Limit>,
    critical: Limit,
}

/// A threshold as it was written.
struct Limit {
    text: String,
    threshold: Threshold,
}

impl Limit {
    fn new(option: &str, text: &str, metric: &Metric) -> Result<Self, Stop> {
        let bad = |why: String| Stop::Message(Exit::Usage, format!("--{option}: {why}"));
        let threshold = Threshold::parse(text).map_err(bad)?;
        if let Threshold::Value(bytes @ 1..LEAST_BYTES) = threshold
            && metric.is_bytes
            && text.trim().bytes().all(|byte| byte.is_ascii_digit())
        {
            return Err(bad(format!("{bytes} would be {bytes} bytes; write {bytes}% or {bytes}MiB")));
        }
        Ok(Self { text: text.trim().to_owned(), threshold })
    }

    /// The threshold in the figure's unit.
    fn value(&self, metric: &Metric, gpu: &Gpu) -> Option<u64> {
        match self.threshold {
            Threshold::Value(value) => Some(value),
            Threshold::Percent(share) => u64::try_from(u128::from(metric.whole(gpu)?) * u128::from(share) / 100).ok(),
        }
    }
}

impl Rule {
    fn new(
        option: &'static str,
        (metric, words, is_least): (&str, &'static str, bool),
        thresholds: Option<&String>,
    ) -> Result<Option<Self>, Stop> {
        let (Some(text), Some(metric)) = (thresholds, Metric::named(metric)) else { return Ok(None) };
        let limit = |text: &str| Limit::new(option, text, metric);
        let (warning, critical) = match text.split_once(',') {
            Some((warning, critical)) => (Some(limit(warning)?), limit(critical)?),
            None => (None, limit(text)?),
        };
        Ok(Some(Self { option, metric, words, is_least, warning, critical }))
    }

    /// 0 to 3, and what is wrong: the value and the threshold that it is beyond.
    fn judge(&self, gpu: &Gpu, rates: &Rates) -> (u8, Option<String>) {
        let unknown = || (3, Some(format!("{} is unknown", self.option)));
        let Some(value) = self.metric.value(gpu, rates) else { return unknown() };
        for (level, limit) in [(2, Some(&self.critical)), (1, self.warning.as_ref())] {
            let Some(limit) = limit else { continue };
            let Some(bound) = limit.value(self.metric, gpu) else { return unknown() };
            if if self.is_least { value < bound } else { value > bound } {
                return (level, Some(self.trouble(value, limit, gpu)));
            }
        }
        (0, None)
    }

    fn trouble(&self, value: u64, limit: &Limit, gpu: &Gpu) -> String {
        let mut shown = if self.metric.is_bytes { Units::Auto.text(value) } else { value.to_string() };
        if let (Threshold::Percent(_), Some(whole)) = (limit.threshold, self.metric.whole(gpu)) {
            shown = format!("{shown} ({}%)", percent(value, whole).unwrap_or(0));
        }
        let side = if self.is_least { "below" } else { "above" };
        format!("{shown} {}, {side} {}", self.words, limit.text)
    }

    /// A range of the plug-ins' convention: `10` is left upwards, `10:` downwards.
    fn range(&self, limit: Option<&Limit>, gpu: &Gpu) -> String {
        let bound = limit.and_then(|limit| limit.value(self.metric, gpu));
        let colon = if self.is_least { ":" } else { "" };
        bound.map_or_else(String::new, |bound| format!("{bound}{colon}"))
    }
}

/// Looks once, or twice where a rate is asked for, and judges.
pub(super) fn run(options: &Check, global: &Global, out: &mut dyn Write) -> Outcome {
    let rules = [
        Rule::new("free", ("free", "free", true), options.free.as_ref())?,
        Rule::new("budget", ("used", "used", false), options.budget.as_ref())?,
        Rule::new("process-max", ("process_max", "in one process", false), options.process_max.as_ref())?,
        Rule::new(
            "evictions-per-s",
            ("evictions_per_s", "evictions a second", false),
            options.evictions_per_s.as_ref(),
        )?,
    ];
    let rules: Vec<Rule> = rules.into_iter().flatten().collect();
    let mut source = session::source_at(global, false, options.interval)?;
    let mut snapshot = session::first(&mut *source, global)?;
    let mut earlier = None;
    if options.evictions_per_s.is_some() {
        session::pause(&*source, options.interval);
        if let Some(later) = session::next(&mut *source, global)? {
            earlier = Some(std::mem::replace(&mut snapshot, later));
        }
    }
    let (mut status, mut troubles, mut figures) = (0, Vec::new(), Vec::new());
    let prefix = |gpu: &Gpu| if snapshot.gpus.len() == 1 { String::new() } else { format!("gpu{}_", gpu.index) };
    for gpu in &snapshot.gpus {
        let rates = earlier.as_ref().map(|earlier| Rates::between(earlier, &snapshot, &gpu.pci)).unwrap_or_default();
        for (level, trouble) in judge(gpu, &rates, &rules, options) {
            status = worse(status, level);
            troubles.extend(trouble.map(|trouble| format!("GPU {}: {trouble}", gpu.index)));
        }
        figures.extend(perfdata(gpu, &prefix(gpu), &rates, &rules));
    }
    let word = ["OK", "WARNING", "CRITICAL", "UNKNOWN"].get(usize::from(status)).copied().unwrap_or("UNKNOWN");
    let text = if troubles.is_empty() { summary(&snapshot) } else { troubles.join("; ") };
    if global.json || global.jsonl {
        let figures: Vec<Value> = figures.iter().map(Figure::json).collect();
        let object = json!({
            "schema": "amdgpu-budget-check/1", "time": snapshot.time, "status": word, "code": status, "text": text,
            "figures": figures,
        });
        render::object(&object, global.json, out)?;
    } else {
        let figures: Vec<String> = figures.iter().map(Figure::text).collect();
        writeln!(out, "{word} - {text} | {}", figures.join(" "))?;
    }
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

/// One figure of the performance data.
struct Figure {
    label: String,
    value: Option<u64>,
    /// `B` for bytes.
    unit: &'static str,
    warning: String,
    critical: String,
    most: Option<u64>,
}

impl Figure {
    /// `label=value;warn;crit;min;max`; the unknown is `U`, as the convention has it.
    fn text(&self) -> String {
        let Self { label, value, unit, warning, critical, most } = self;
        let value = value.map_or_else(|| "U".to_owned(), |value| format!("{value}{unit}"));
        let most = most.map_or_else(String::new, |most| most.to_string());
        format!("{label}={value};{warning};{critical};0;{most}")
    }

    fn json(&self) -> Value {
        let Self { label, value, unit, warning, critical, most } = self;
        let range = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        json!({
            "label": label, "value": value, "unit": if unit.is_empty() { None } else { Some(unit) },
            "warning": range(warning), "critical": range(critical), "max": most,
        })
    }
}

/// Use of the domains and the pool, and the figure of each rule with its thresholds.
fn perfdata(gpu: &Gpu, prefix: &str, rates: &Rates, rules: &[Rule]) -> Vec<Figure> {
    let domains = &gpu.domains;
    let bare = |name: &str, value, most| Figure {
        label: format!("{prefix}{name}"),
        value,
        unit: "B",
        warning: String::new(),
        critical: String::new(),
        most,
    };
    let mut list = vec![
        bare("vram", domains.vram.used, domains.vram.total),
        bare("gtt", domains.gtt.used, domains.gtt.total),
        bare("available", gpu.effective.available, gpu.effective.total),
    ];
    for rule in rules {
        let name = if rule.metric.name == "free" { "available" } else { rule.metric.name };
        let most = rule.metric.whole(gpu);
        let mut figure = bare(name, rule.metric.value(gpu, rates), most);
        (figure.warning, figure.critical) =
            (rule.range(rule.warning.as_ref(), gpu), rule.range(Some(&rule.critical), gpu));
        figure.unit = if rule.metric.is_bytes { "B" } else { "" };
        list.retain(|other| other.label != figure.label);
        list.push(figure);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_status_wins_and_critical_is_the_worst() {
        assert_eq!([(0, 1), (1, 3), (3, 2), (2, 3), (3, 1), (0, 0)].map(|(a, b)| worse(a, b)), [1, 3, 2, 2, 3, 0]);
    }
}
