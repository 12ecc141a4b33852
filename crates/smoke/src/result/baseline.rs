//! Comparison of bandwidths with an earlier report.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::Deserialize;

use crate::result::{
    bandwidth::{Bandwidth, Rate},
    check_result::CheckResult,
    report::{Gpu, SCHEMA},
    status::Status,
};

/// An earlier report with which the bandwidths of a run are compared.
#[derive(Clone, Debug)]
pub struct Baseline {
    path: PathBuf,
    gpu: Gpu,
    figures: Vec<Bandwidth>,
    tolerance: Tolerance,
    /// Rings of the tested GPU, if it opened.
    rings: Vec<String>,
}

/// The share by which a bandwidth may be below the baseline, in percent with two decimal places. The default is 10 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// Hundredths of a percent, less than [`WHOLE`].
    hundredths: u32,
}

/// Hundredths of a percent in the whole.
const WHOLE: u32 = 10_000;

impl Default for Tolerance {
    fn default() -> Self {
        Self { hundredths: WHOLE / 10 }
    }
}

impl FromStr for Tolerance {
    type Err = BadTolerance;

    fn from_str(text: &str) -> Result<Self, BadTolerance> {
        let number = text.strip_suffix('%').unwrap_or(text).trim_end();
        let (percent, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(percent) || !is_number(fraction) || fraction.len() > 2 {
            return Err(BadTolerance);
        }
        let hundredths = format!("{percent}{fraction:0<2}").parse().map_err(|_| BadTolerance)?;
        if hundredths < WHOLE { Ok(Self { hundredths }) } else { Err(BadTolerance) }
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hundredths % 100 {
            0 => write!(f, "{} %", self.hundredths / 100),
            fraction => write!(f, "{}.{fraction:02} %", self.hundredths / 100),
        }
    }
}

impl Tolerance {
    /// Returns `true` if `now` is less than `then` by more than the tolerance.
    pub(crate) fn is_exceeded(self, now: u64, then: u64) -> bool {
        u128::from(now) * u128::from(WHOLE) < u128::from(then) * u128::from(WHOLE - self.hundredths)
    }
}

/// The error of parsing a text that is not a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tolerance is a percentage from 0 to 99.99")]
pub struct BadTolerance;

/// The reason why a report cannot be the baseline of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a report of this program.
    #[error("{}: not a report of the schema {SCHEMA}: {reason}", path.display())]
    NoReport {
        /// The path of the file.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
    /// The report contains no bandwidths.
    #[error("{}: holds no bandwidths; --level core measures them", path.display())]
    NoFigures {
        /// The path of the file.
        path: PathBuf,
    },
    /// The report is about another GPU.
    #[error("{}: the baseline is of {then}, and this run tests {now}", path.display())]
    OtherGpu {
        /// The path of the file.
        path: PathBuf,
        /// The GPU of the baseline.
        then: String,
        /// The GPU of this run.
        now: String,
    },
}

/// The parts of a report that a comparison needs.
#[derive(Deserialize)]
struct Earlier {
    schema: String,
    gpu: Gpu,
    results: Vec<CheckResult>,
}

impl Baseline {
    /// Reads a JSON report.
    ///
    /// # Errors
    ///
    /// [`BaselineError`] if the file cannot be read, is not a report, or contains no bandwidths.
    pub fn read(path: &Path, tolerance: Tolerance) -> Result<Self, BaselineError> {
        let path = path.to_owned();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) => return Err(BaselineError::Read { path, source }),
        };
        let earlier: Earlier = match serde_json::from_str(&text) {
            Ok(earlier) => earlier,
            Err(error) => return Err(BaselineError::NoReport { path, reason: error.to_string() }),
        };
        if earlier.schema != SCHEMA {
            let reason = format!("its schema is {:?}", earlier.schema);
            return Err(BaselineError::NoReport { path, reason });
        }
        let figures: Vec<_> = earlier.results.into_iter().flat_map(|result| result.bandwidths).collect();
        if figures.is_empty() {
            return Err(BaselineError::NoFigures { path });
        }
        Ok(Self { path, gpu: earlier.gpu, figures, tolerance, rings: Vec::new() })
    }

    /// Checks that the baseline belongs to this GPU: the same profile if both are simulated, otherwise the same model and chip. The
    /// PCI address may differ, because a card may have been moved to another slot.
    ///
    /// # Errors
    ///
    /// [`BaselineError::OtherGpu`] if it belongs to another GPU.
    pub fn fits(&self, gpu: &Gpu) -> Result<(), BaselineError> {
        let model = |gpu: &Gpu| gpu.facts.as_ref().map(|facts| (facts.name.clone(), facts.chip.clone()));
        let is_same = self.gpu.simulated == gpu.simulated
            && (!gpu.simulated || self.gpu.location == gpu.location)
            && self.gpu.mutation.as_ref().is_none_or(|_| self.gpu.mutation == gpu.mutation)
            && model(&self.gpu) == model(gpu);
        if is_same {
            return Ok(());
        }
        Err(BaselineError::OtherGpu { path: self.path.clone(), then: described(&self.gpu), now: described(gpu) })
    }

    /// Returns the baseline of a run whose GPU has these rings.
    pub(crate) fn with_rings(self, rings: Vec<String>) -> Self {
        Self { rings, ..self }
    }

    /// Returns the engines that the baseline has figures of, and this GPU has not, as far as this engine's result tells of
    /// them: the first of its kind tells of its siblings, and the first of all of those that have none left.
    fn gone(&self, engine: &str) -> Vec<&str> {
        let kind = |name: &str| name.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
        let mut gone: Vec<&str> = self.figures.iter().map(|then| &*then.engine).collect();
        gone.dedup();
        gone.retain(|then| {
            let teller = self.rings.iter().find(|ring| kind(ring) == kind(then)).or(self.rings.first());
            !self.rings.iter().any(|ring| ring == then) && teller.is_some_and(|teller| teller == engine)
        });
        gone
    }

    /// Writes the baseline's figures into a result, and fails it if one of its own is worse than the tolerance allows.
    pub(crate) fn judge(&self, result: &mut CheckResult) {
        let mut complaints = Vec::new();
        for now in &mut result.bandwidths {
            let then = self.figures.iter().find(|then| then.engine == now.engine && then.direction == now.direction);
            let Some(then) = then else { continue };
            let name = format!("{} {}", now.engine, now.direction.name());
            if then.bytes != now.bytes {
                complaints
                    .push(format!("{name} was measured with {} bytes, the baseline with {}", now.bytes, then.bytes));
                continue;
            }
            now.baseline = Some(then.bytes_per_second);
            if self.tolerance.is_exceeded(now.bytes_per_second, then.bytes_per_second) {
                let (now, then, tolerance) = (Rate(now.bytes_per_second), Rate(then.bytes_per_second), self.tolerance);
                complaints.push(format!("{name} {now}, baseline {then}, tolerance {tolerance}"));
            }
        }
        let engine = result.id.strip_prefix(BANDWIDTH).and_then(|rest| rest.strip_prefix('.'));
        if result.status == Status::Skip
            && let Some(engine) = engine.filter(|engine| self.figures.iter().any(|then| then.engine == *engine))
        {
            complaints.push(format!("the baseline has figures of {engine}, and none were measured"));
        }
        for gone in engine.map(|engine| self.gone(engine)).unwrap_or_default() {
            complaints.push(format!("the baseline has figures of {gone}, and this GPU has no such ring"));
        }
        if let Some(engine) = engine
            && !result.bandwidths.is_empty()
            && self.figures.iter().all(|then| then.engine != engine)
        {
            let detail = std::mem::take(&mut result.detail);
            result.detail = format!("the baseline has no figures of {engine}; {detail}");
            if result.status == Status::Pass {
                result.status = Status::Warn;
            }
        }
        if !complaints.is_empty() && !result.status.is_bad() {
            result.status = Status::Fail;
            complaints.push(std::mem::take(&mut result.detail));
            result.detail = complaints.join("; ");
        }
    }
}

/// The id of the checks that measure bandwidths, without the ring.
pub(crate) const BANDWIDTH: &str = "bandwidth.copy";

fn described(gpu: &Gpu) -> String {
    match &gpu.facts {
        Some(facts) => format!("{} ({}), {}", facts.name, facts.chip, gpu.label()),
        None => gpu.label(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::result::bandwidth::Direction;

    fn figure(bytes_per_second: u64) -> Bandwidth {
        let (engine, direction) = ("sdma0".to_owned(), Direction::Upload);
        Bandwidth { engine, direction, bytes: 1 << 20, bytes_per_second, baseline: None }
    }

    fn judged(then: u64, now: Bandwidth, status: Status) -> CheckResult {
        let figures = vec![figure(then)];
        let baseline = Baseline {
            path: "b.json".into(),
            gpu: Gpu::default(),
            figures,
            tolerance: "10%".parse().unwrap(),
            rings: Vec::new(),
        };
        let mut result = CheckResult::new("bandwidth.copy.sdma0", status, "figures", Duration::ZERO);
        result.bandwidths = if status == Status::Skip { Vec::new() } else { vec![now] };
        baseline.judge(&mut result);
        result
    }

    #[test]
    fn a_bandwidth_fails_below_the_tolerance_and_names_both_figures() {
        for (now, status) in [(2000, Status::Pass), (900, Status::Pass), (899, Status::Fail), (0, Status::Fail)] {
            assert_eq!(judged(1000, figure(now), Status::Pass).status, status, "{now}");
        }
        let worse = judged(2_000_000_000, figure(1_200_000_000), Status::Pass);
        let expected = "sdma0 upload 1.20 GB/s, baseline 2.00 GB/s, tolerance 10 %; figures";
        assert_eq!((&*worse.detail, worse.bandwidths[0].baseline), (expected, Some(2_000_000_000)));
    }

    #[test]
    fn a_figure_that_cannot_be_compared_is_a_failure() {
        let other = Bandwidth { bytes: 4096, ..figure(5000) };
        let result = judged(1000, other, Status::Pass);
        assert_eq!(result.status, Status::Fail);
        assert!(result.detail.contains("with 4096 bytes, the baseline with 1048576"), "{}", result.detail);
        let skipped = judged(1000, figure(0), Status::Skip);
        assert_eq!(skipped.status, Status::Fail);
        assert!(skipped.detail.starts_with("the baseline has figures of sdma0"), "{}", skipped.detail);
    }

    #[test]
    fn a_missing_engine_is_reported_once_by_a_ring_that_is_left() {
        let figures =
            ["gfx0", "compute3", "sdma0", "sdma1"].map(|engine| Bandwidth { engine: engine.into(), ..figure(1) });
        let rings = |rings: &[&str]| rings.iter().map(|ring| (*ring).to_owned()).collect::<Vec<_>>();
        let baseline = Baseline {
            path: "b.json".into(),
            gpu: Gpu::default(),
            figures: figures.into(),
            tolerance: Tolerance::default(),
            rings: rings(&["gfx0", "compute0", "compute1", "sdma1"]),
        };
        let gone = |engine: &str| baseline.gone(engine);
        assert_eq!((gone("compute0"), gone("sdma1")), (vec!["compute3"], vec!["sdma0"]));
        assert_eq!((gone("gfx0"), gone("compute1")), (vec![], vec![]));
        let without_copy_engines = baseline.clone().with_rings(rings(&["gfx0", "compute3"]));
        assert_eq!(without_copy_engines.gone("gfx0"), ["sdma0", "sdma1"]);
        assert_eq!(baseline.with_rings(Vec::new()).gone("gfx0"), [""; 0], "the GPU did not open");
    }

    #[test]
    fn a_tolerance_is_a_percentage() {
        assert_eq!("12.5".parse(), Ok(Tolerance { hundredths: 1250 }));
        assert_eq!("5 %".parse(), Ok(Tolerance { hundredths: 500 }));
        assert_eq!("0.05".parse::<Tolerance>().unwrap().to_string(), "0.05 %");
        for wrong in ["", "%", "-1", "100", "NaN", "inf", "ten", "1.", ".5", "1.234", "99999999999"] {
            assert_eq!(wrong.parse::<Tolerance>(), Err(BadTolerance), "{wrong}");
        }
    }
}
