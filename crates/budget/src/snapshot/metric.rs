//! Figures by name, and conditions on them: `free>4GiB && vram.used<80%`.

use crate::snapshot::{
    model::{Gpu, Snapshot},
    units::{parse_size, percent},
};

/// A named figure of a GPU.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The name, as conditions use it.
    pub name: &'static str,
    /// A short description for the help.
    pub help: &'static str,
    /// `true` if the figure is in bytes, `false` if it is a plain number.
    pub is_bytes: bool,
    of: fn(&Gpu, &Rates) -> Option<u64>,
    whole: fn(&Gpu) -> Option<u64>,
}

impl Metric {
    /// Returns the value of the figure; `None` if it is unknown.
    pub fn value(&self, gpu: &Gpu, rates: &Rates) -> Option<u64> {
        (self.of)(gpu, rates)
    }

    /// Returns the value that corresponds to 100 %; `None` if the figure has no such value or it is unknown.
    pub fn whole(&self, gpu: &Gpu) -> Option<u64> {
        (self.whole)(gpu)
    }

    /// Returns the figure with this name; `None` if there is none.
    pub fn named(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.name == name)
    }
}

/// The changes of counters per second since an earlier snapshot; `None` if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Evictions per second.
    pub evictions: Option<u64>,
    /// Bytes per second that the kernel moved.
    pub bytes_moved: Option<u64>,
    /// CPU page faults on invisible VRAM per second.
    pub cpu_page_faults: Option<u64>,
}

impl Rates {
    /// Returns the rates between two snapshots of the GPU at `pci`. A rate is unknown if no time passed between the snapshots, or
    /// if the counter was reset.
    pub fn between(earlier: &Snapshot, later: &Snapshot, pci: &str) -> Self {
        let elapsed = later.monotonic_ns.saturating_sub(earlier.monotonic_ns);
        let find = |snapshot: &Snapshot| snapshot.gpus.iter().find(|gpu| gpu.pci == pci).map(|gpu| gpu.counters);
        let (Some(was), Some(is)) = (find(earlier), find(later)) else { return Self::default() };
        let rate = |was: Option<u64>, is: Option<u64>| {
            let grown = u128::from(is?.checked_sub(was?)?);
            u64::try_from((grown * 1_000_000_000).checked_div(u128::from(elapsed))?).ok()
        };
        Self {
            evictions: rate(was.evictions, is.evictions),
            bytes_moved: rate(was.bytes_moved, is.bytes_moved),
            cpu_page_faults: rate(was.cpu_page_faults, is.cpu_page_faults),
        }
    }
}

fn process_max(gpu: &Gpu) -> Option<u64> {
    gpu.processes
        .as_ref()
        .map(|processes| processes.iter().map(crate::snapshot::model::Process::memory).max().unwrap_or(0))
}

const NO_WHOLE: fn(&Gpu) -> Option<u64> = |_| None;
const VRAM: fn(&Gpu) -> Option<u64> = |gpu| gpu.domains.vram.total;

/// All named figures.
pub static METRICS: [Metric; 14] = [
    Metric {
        name: "free",
        help: "available of the effective pool",
        is_bytes: true,
        of: |gpu, _| gpu.effective.available,
        whole: |gpu| gpu.effective.total,
    },
    Metric {
        name: "used",
        help: "total less available of the effective pool",
        is_bytes: true,
        of: |gpu, _| Some(gpu.effective.total?.saturating_sub(gpu.effective.available?)),
        whole: |gpu| gpu.effective.total,
    },
    Metric { name: "vram.used", help: "VRAM in use", is_bytes: true, of: |gpu, _| gpu.domains.vram.used, whole: VRAM },
    Metric {
        name: "vram.free",
        help: "usable VRAM not in use",
        is_bytes: true,
        of: |gpu, _| gpu.domains.vram.free(),
        whole: VRAM,
    },
    Metric {
        name: "vram.evicted",
        help: "bytes that prefer VRAM and are not there",
        is_bytes: true,
        of: |gpu, _| gpu.domains.vram.evicted,
        whole: VRAM,
    },
    Metric {
        name: "visible_vram.used",
        help: "visible VRAM in use",
        is_bytes: true,
        of: |gpu, _| gpu.domains.visible_vram.used,
        whole: |gpu| gpu.domains.visible_vram.total,
    },
    Metric {
        name: "visible_vram.free",
        help: "usable visible VRAM not in use",
        is_bytes: true,
        of: |gpu, _| gpu.domains.visible_vram.free(),
        whole: |gpu| gpu.domains.visible_vram.total,
    },
    Metric {
        name: "gtt.used",
        help: "GTT in use",
        is_bytes: true,
        of: |gpu, _| gpu.domains.gtt.used,
        whole: |gpu| gpu.domains.gtt.total,
    },
    Metric {
        name: "gtt.free",
        help: "usable GTT not in use",
        is_bytes: true,
        of: |gpu, _| gpu.domains.gtt.free(),
        whole: |gpu| gpu.domains.gtt.total,
    },
    Metric {
        name: "process_max",
        help: "the most that one process holds, shared memory included",
        is_bytes: true,
        of: |gpu, _| process_max(gpu),
        whole: |gpu| gpu.effective.total,
    },
    Metric {
        name: "processes",
        help: "processes that hold memory",
        is_bytes: false,
        of: |gpu, _| gpu.processes.as_ref().map(|list| list.len() as u64),
        whole: NO_WHOLE,
    },
    Metric {
        name: "evictions_per_s",
        help: "evictions a second",
        is_bytes: false,
        of: |_, rates| rates.evictions,
        whole: NO_WHOLE,
    },
    Metric {
        name: "bytes_moved_per_s",
        help: "bytes moved a second",
        is_bytes: true,
        of: |_, rates| rates.bytes_moved,
        whole: NO_WHOLE,
    },
    Metric {
        name: "cpu_page_faults_per_s",
        help: "CPU faults on invisible VRAM a second",
        is_bytes: false,
        of: |_, rates| rates.cpu_page_faults,
        whole: NO_WHOLE,
    },
];

/// A value that a figure is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// A number of bytes, or a plain number.
    Value(u64),
    /// A percentage of the figure's [whole](Metric::whole), from 0 to 100.
    Percent(u64),
}

impl Threshold {
    /// Parses a threshold such as `4GiB`, `80%` or `12`.
    ///
    /// # Errors
    ///
    /// A message if the text is not a size, a number or a percentage up to 100.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.trim().strip_suffix('%') {
            Some(number) => {
                let percent = number.trim().parse().map_err(|_| format!("'{text}' is no whole percentage"))?;
                if percent > 100 {
                    Err(format!("{percent}% is more than there is"))
                } else {
                    Ok(Self::Percent(percent))
                }
            }
            None => parse_size(text).map(Self::Value).map_err(|error| error.to_string()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

/// A condition: comparisons that must all be true for the same GPU.
#[derive(Clone, Debug)]
pub struct Condition {
    terms: Vec<(Metric, Operator, Threshold)>,
    text: String,
}

impl std::str::FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let terms = text.split("&&").map(term).collect::<Result<_, _>>()?;
        Ok(Self { terms, text: text.trim().to_owned() })
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn term(text: &str) -> Result<(Metric, Operator, Threshold), String> {
    let at = text.find(['<', '>']).ok_or_else(|| format!("'{}' compares nothing: write free>4GiB", text.trim()))?;
    let (name, rest) = text.split_at(at);
    let (operator, value) = match rest.as_bytes() {
        [b'<', b'=', ..] => (Operator::LessOrEqual, rest.get(2..)),
        [b'<', ..] => (Operator::Less, rest.get(1..)),
        [b'>', b'=', ..] => (Operator::MoreOrEqual, rest.get(2..)),
        _ => (Operator::More, rest.get(1..)),
    };
    let metric = Metric::named(name.trim()).ok_or_else(|| {
        let names: Vec<_> = METRICS.iter().map(|metric| metric.name).collect();
        format!("no figure is called '{}'; there are {}", name.trim(), names.join(", "))
    })?;
    Ok((*metric, operator, Threshold::parse(value.unwrap_or_default())?))
}

impl Condition {
    /// Returns `true` if the condition is met on a GPU; `None` if a figure is unknown.
    pub fn holds(&self, gpu: &Gpu, rates: &Rates) -> Option<bool> {
        let mut all = true;
        for (metric, operator, threshold) in &self.terms {
            let value = metric.value(gpu, rates)?;
            let (value, limit) = match threshold {
                Threshold::Value(limit) => (value, *limit),
                Threshold::Percent(limit) => (percent(value, (metric.whole)(gpu)?)?, *limit),
            };
            all &= match operator {
                Operator::Less => value < limit,
                Operator::LessOrEqual => value <= limit,
                Operator::More => value > limit,
                Operator::MoreOrEqual => value >= limit,
            };
        }
        Some(all)
    }

    /// Returns the figures that it compares, with their values on a GPU; `None` for those that are unknown.
    pub fn values(&self, gpu: &Gpu, rates: &Rates) -> Vec<(&Metric, Option<u64>)> {
        self.terms.iter().map(|(metric, ..)| (metric, metric.value(gpu, rates))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::model::{Domain, Domains, Effective};

    fn gpu() -> Gpu {
        let vram = Domain { total: Some(100), used: Some(80), ..Domain::default() };
        let effective = Effective { total: Some(100), available: Some(20), ..Effective::default() };
        Gpu { domains: Domains { vram, ..Domains::default() }, effective, ..Gpu::default() }
    }

    fn holds(text: &str) -> Option<bool> {
        text.parse::<Condition>().unwrap().holds(&gpu(), &Rates::default())
    }

    #[test]
    fn conditions_compare_bytes_and_shares() {
        for (text, result) in [("free>19", true), ("free > 20", false), ("free>=20", true), ("vram.used<=80%", true)] {
            assert_eq!(holds(text), Some(result), "{text}");
        }
        assert_eq!(holds("free>1 && vram.used<80%"), Some(false));
        assert_eq!(holds("free>1 && gtt.used<1"), None, "unknown is not a guess");
        assert_eq!(holds("processes>1%"), None, "percent of nothing");
    }

    #[test]
    fn what_is_no_condition_is_told_so() {
        for text in ["", "free", "free=3", "fre>1", "free>x", "free>101%", "free>1&&", ">1", "free>4 parsec"] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_unknown_when_a_counter_began_anew() {
        let at = |monotonic_ns, evictions| {
            let counters = crate::snapshot::model::Counters { evictions: Some(evictions), ..Default::default() };
            Snapshot { monotonic_ns, gpus: vec![Gpu { counters, ..Gpu::default() }], ..Snapshot::default() }
        };
        assert_eq!(Rates::between(&at(0, 5), &at(2_000_000_000, 25), "").evictions, Some(10));
        assert_eq!(Rates::between(&at(0, 25), &at(1, 5), "").evictions, None);
        assert_eq!(Rates::between(&at(1, 5), &at(1, 25), "").evictions, None);
    }
}
