//! A line of the report.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One measurement against one peer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Name of the bench.
    pub(crate) bench: String,
    /// Live ranges.
    pub(crate) n: u64,
    /// Ours, in the unit of the bench: ns, or for `use` the part of the space in use, in thousandths.
    pub(crate) ours: f64,
    pub(crate) unit: Unit,
    pub(crate) peer: String,
    /// The peer's; nothing if it was not measured, and the note says why.
    pub(crate) theirs: Option<f64>,
    /// `ours / theirs`.
    pub(crate) ratio: Option<f64>,
    pub(crate) goal: Goal,
    /// `true` if the goal holds; `None` if that is unknown.
    pub(crate) holds: Option<bool>,
    pub(crate) note: Option<String>,
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    /// Nanoseconds.
    Ns,
    /// Thousandths.
    Permille,
    /// Bytes.
    Bytes,
    /// Millions of bytes a second.
    Mbps,
    /// Millions of lane-instructions a second.
    Mlips,
    /// Requests to the kernel.
    Requests,
    /// Frames a second.
    Frames,
    /// Millions of pixels a second.
    Mpixels,
    /// Millions of triangles a second.
    Mtriangles,
}

/// Goal of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Goal {
    /// The ratio is at most this.
    RatioAtMost(f64),
    /// The ratio is at least this: of figures where more is better.
    RatioAtLeast(f64),
    /// Ours is below this.
    Below(f64),
    /// Ours is above this.
    Above(f64),
    /// A figure for orientation.
    None,
}

impl Goal {
    fn holds(self, ours: f64, ratio: Option<f64>) -> Option<bool> {
        match self {
            Self::RatioAtMost(most) => ratio.map(|ratio| ratio <= most),
            Self::RatioAtLeast(least) => ratio.map(|ratio| ratio >= least),
            Self::Below(limit) => Some(ours < limit),
            Self::Above(limit) => Some(ours > limit),
            Self::None => None,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self {
            Self::RatioAtMost(most) if *most < 0.1 => format!("x <= 1/{:.0}", 1.0 / most),
            Self::RatioAtMost(most) => format!("x <= {most}"),
            Self::RatioAtLeast(least) => format!("x >= {least}"),
            Self::Below(limit) => format!("< {limit}"),
            Self::Above(limit) => format!("> {limit}"),
            Self::None => "-".to_owned(),
        })
    }
}

impl Row {
    /// Ours and a peer's nanoseconds.
    pub(crate) fn times(bench: &str, n: u64, ours: f64, peer: &str, theirs: f64, goal: Goal) -> Self {
        Self::new(bench, n, Unit::Ns, ours, peer, Some(theirs), goal)
    }

    /// Ours and a peer's millions of lane-instructions a second.
    pub(crate) fn rates(bench: &str, n: u64, ours: f64, peer: &str, theirs: f64, goal: Goal) -> Self {
        Self::new(bench, n, Unit::Mlips, ours, peer, Some(theirs), goal)
    }

    /// Ours and a peer's millions of bytes a second.
    pub(crate) fn speeds(bench: &str, n: u64, ours: f64, peer: &str, theirs: f64, goal: Goal) -> Self {
        Self::new(bench, n, Unit::Mbps, ours, peer, Some(theirs), goal)
    }

    /// Parts of the space in use.
    pub(crate) fn space(bench: &str, n: u64, ours: f64, peer: &str, theirs: f64, goal: Goal) -> Self {
        Self::new(bench, n, Unit::Permille, ours, peer, Some(theirs), goal)
    }

    /// Ours and a peer's requests to the kernel for one operation. Ours may be no more.
    pub(crate) fn requests(bench: &str, n: u64, ours: f64, peer: &str, theirs: f64) -> Self {
        let row = Self::new(bench, n, Unit::Requests, ours, peer, Some(theirs), Goal::RatioAtMost(1.0));
        // Of nothing and nothing there is no ratio.
        let ratio = row.ratio.filter(|ratio| ratio.is_finite());
        Self { ratio, holds: Some(ours <= theirs), ..row }
    }

    /// Ours alone.
    pub(crate) fn alone(bench: &str, n: u64, ours: f64, goal: Goal) -> Self {
        Self::new(bench, n, Unit::Ns, ours, "-", None, goal)
    }

    /// Ours alone, in another unit.
    pub(crate) fn figure(bench: &str, n: u64, ours: f64, unit: Unit, goal: Goal) -> Self {
        Self::new(bench, n, unit, ours, "-", None, goal)
    }

    /// A peer that is not there.
    pub(crate) fn missing(bench: &str, peer: &str, why: impl fmt::Display) -> Self {
        let row = Self::new(bench, 0, Unit::Ns, 0.0, peer, None, Goal::None);
        row.noting(format!("missing: {why}"))
    }

    /// The row of a bench whose requests to the kernel take time, named after the row without.
    pub(crate) fn with_costs(self) -> Self {
        let goal = if self.ratio.is_some() { Goal::RatioAtMost(1.0) } else { Goal::None };
        Self { bench: format!("cost-{}", self.bench), goal, holds: goal.holds(self.ours, self.ratio), ..self }
    }

    pub(crate) fn noting(self, note: String) -> Self {
        Self { note: Some(note), ..self }
    }

    fn new(bench: &str, n: u64, unit: Unit, ours: f64, peer: &str, theirs: Option<f64>, goal: Goal) -> Self {
        let ratio = theirs.map(|theirs| ours / theirs);
        let holds = goal.holds(ours, ratio);
        Self { bench: bench.into(), n, ours, unit, peer: peer.into(), theirs, ratio, goal, holds, note: None }
    }

    /// The names of the columns.
    pub(crate) fn heading() -> String {
        format!(
            "{:<20} {:>9} {:>10} {:<24} {:>11} {:>8} {:<11} {:<5}",
            "bench", "n", "ours", "peer", "peer's", "ratio", "goal", "holds"
        )
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = |value: f64| match self.unit {
            Unit::Ns => format!("{value:.1}"),
            Unit::Bytes => format!("{value:.0} B"),
            Unit::Mlips => format!("{value:.0} M/s"),
            Unit::Mbps => format!("{value:.0} MB/s"),
            Unit::Requests => format!("{value:.2} rq"),
            Unit::Frames => format!("{value:.1} /s"),
            Unit::Mpixels => format!("{value:.2} Mpx/s"),
            Unit::Mtriangles => format!("{value:.3} Mt/s"),
            Unit::Permille => format!("{:.1}%", value / 10.0),
        };
        let is_missing = self.note.as_ref().is_some_and(|note| note.starts_with("missing"));
        let ours = if is_missing { "-".to_owned() } else { unit(self.ours) };
        let theirs = self.theirs.map_or("-".to_owned(), unit);
        let ratio = self.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.4}"));
        let holds = self.holds.map_or("-", |holds| if holds { "yes" } else { "NO" });
        write!(
            f,
            "{:<20} {:>9} {ours:>10} {:<24} {theirs:>11} {ratio:>8} {:<11} {holds:<5}",
            self.bench, self.n, self.peer, self.goal
        )?;
        self.note.as_ref().map_or(Ok(()), |note| write!(f, " {note}"))
    }
}
