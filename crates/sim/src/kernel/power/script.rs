//! Scripts of a load.

use std::{sync::Arc, time::Duration};

/// The maximum number of steps in a script.
const MOST_STEPS: usize = 10_000;
/// The maximum duration of a step: a day.
const LONGEST: f64 = 86_400.0;

/// A load that a GPU reports step by step, repeating from the first step after the last.
///
/// The text form has a line for each step: seconds, percent of the graphics engine, percent of the memory, and optionally degrees
/// Celsius. `#` begins a comment.
///
/// ```
/// use amdgpu_sim::LoadScript;
///
/// let load: LoadScript = "\
///     ## seconds gpu memory temperature\n\
///     2.5 100 60 81\n\
///     10 0 0\n".parse()?;
/// assert_eq!(load.len(), 2);
/// # Ok::<(), amdgpu_sim::LoadError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LoadScript {
    steps: Arc<[LoadPoint]>,
    total: Duration,
}

/// A step of a load script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LoadPoint {
    lasts: Duration,
    /// The load of the graphics engine in percent.
    pub(super) shaders: u32,
    /// The load of the memory in percent.
    pub(super) memory: u32,
    /// The temperature in thousandths of a degree Celsius; `None` to derive it from the load.
    pub(super) temperature: Option<i32>,
}

/// The error of parsing a load script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The script has no steps.
    #[error("a load without a step")]
    Empty,
    /// The script has more than 10,000 steps.
    #[error("a load of more than {MOST_STEPS} steps")]
    TooLong,
    /// A line is not a valid step.
    #[error("line {line} of a load: {text:?} is not 3 or 4 numbers: seconds, percent, percent, degrees")]
    Form {
        /// The line number, from 1.
        line: usize,
        /// The text of the line.
        text: String,
    },
    /// A number is out of range.
    #[error("line {line} of a load: {what} {text:?} is not from {least} to {most}")]
    Range {
        /// The line number, from 1.
        line: usize,
        /// The meaning of the number.
        what: &'static str,
        /// The text of the number.
        text: String,
        /// The smallest valid value.
        least: &'static str,
        /// The largest valid value.
        most: &'static str,
    },
}

impl LoadScript {
    /// Returns the number of steps, which is never zero.
    #[expect(clippy::len_without_is_empty, reason = "it has a step at least")]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns the step that is active after some time since the start.
    pub(super) fn at(&self, elapsed: Duration) -> Option<LoadPoint> {
        let total = self.total.as_nanos().max(1);
        let mut left = elapsed.as_nanos() % total;
        self.steps.iter().copied().find(|step| {
            let lasts = step.lasts.as_nanos();
            let is_now = left < lasts;
            left = left.saturating_sub(lasts);
            is_now
        })
    }
}

impl std::str::FromStr for LoadScript {
    type Err = LoadError;

    fn from_str(text: &str) -> Result<Self, LoadError> {
        let mut steps = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or_default();
            if content.trim().is_empty() {
                continue;
            }
            if steps.len() == MOST_STEPS {
                return Err(LoadError::TooLong);
            }
            steps.push(step(index + 1, content)?);
        }
        let total = steps.iter().map(|step| step.lasts).sum();
        if steps.is_empty() { Err(LoadError::Empty) } else { Ok(Self { steps: steps.into(), total }) }
    }
}

fn step(line: usize, content: &str) -> Result<LoadPoint, LoadError> {
    let form = || LoadError::Form { line, text: content.trim().chars().take(80).collect() };
    let words: Vec<&str> = content.split_whitespace().collect();
    let (&[seconds, shaders, memory], temperature) = match words.split_first_chunk::<3>() {
        Some((first, rest)) if rest.len() <= 1 => (first, rest.first()),
        _ => return Err(form()),
    };
    let number = |what, text: &str, (least, most): (f64, f64), names: (&'static str, &'static str)| {
        let value: f64 = text.parse().map_err(|_| form())?;
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(LoadError::Range { line, what, text: text.to_owned(), least: names.0, most: names.1 })
    };
    let percent = |text| {
        let value = number("percent", text, (0.0, 100.0), ("0", "100"))?;
        Ok::<_, LoadError>((value as i32).unsigned_abs())
    };
    let lasts = number("seconds", seconds, (0.001, LONGEST), ("0.001", "86400"))?;
    let degrees = |text: &&str| number("degrees", text, (-40.0, 125.0), ("-40", "125"));
    Ok(LoadPoint {
        lasts: Duration::from_secs_f64(lasts),
        shaders: percent(shaders)?,
        memory: percent(memory)?,
        temperature: temperature.map(degrees).transpose()?.map(|degrees| (degrees * 1000.0) as i32),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_each_other_again_and_again() {
        let load: LoadScript = "1 10 20\n\n2 30 40 55.5 # warm\n".parse().unwrap();
        let at = |ms| load.at(Duration::from_millis(ms)).map(|step| (step.shaders, step.memory, step.temperature));
        let (first, second) = (Some((10, 20, None)), Some((30, 40, Some(55_500))));
        assert_eq!(
            [at(0), at(999), at(1000), at(2999), at(3000), at(4000)],
            [first, first, second, second, first, second]
        );
    }

    #[test]
    fn what_is_no_load_is_refused_with_its_line() {
        for (text, words) in [
            ("", "without a step"),
            ("# nothing\n\n", "without a step"),
            ("1 2", "line 1"),
            ("1 2 3\n1 2 3 4 5", "line 2"),
            ("1 two 3", "line 1"),
            ("0 1 1", "seconds \"0\" is not from 0.001 to 86400"),
            ("1e9 1 1", "86400"),
            ("nan 1 1", "seconds"),
            ("inf 1 1", "seconds"),
            ("1 101 1", "percent \"101\" is not from 0 to 100"),
            ("1 1 -1", "percent \"-1\""),
            ("1 1 1 500", "degrees \"500\" is not from -40 to 125"),
            (&"1 1 1\n".repeat(10_001), "more than 10000"),
        ] {
            let error = text.parse::<LoadScript>().unwrap_err().to_string();
            assert!(error.contains(words), "{text:.20?}: {error}");
        }
    }
}
