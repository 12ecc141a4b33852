//! An interrupted run, read from its JSON lines.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use crate::result::{check_result::CheckResult, report::Gpu, status::Status};

/// The beginning of a run that was interrupted because the machine stopped: the completed checks, and the check that was running.
#[derive(Clone, Debug)]
pub struct Resumed {
    path: PathBuf,
    gpu: Gpu,
    /// Ids of the whole plan.
    checks: Vec<String>,
    /// Results of the first of them, in order.
    results: Vec<CheckResult>,
}

/// The reason why a run cannot be resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A line other than the last is not an event.
    #[error("{}:{line}: not an event of --jsonl: {reason}", path.display())]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The line number, counted from 1.
        line: usize,
        /// The parser's message.
        reason: String,
    },
    /// There is nothing to resume: the run has no plan yet, or it has ended.
    #[error("{}: {reason}", path.display())]
    Nothing {
        /// The path of the file.
        path: PathBuf,
        /// The reason why there is nothing to resume.
        reason: &'static str,
    },
    /// The file is from another GPU or another plan.
    #[error("{}: it is of {then}, and this run of {now}", path.display())]
    Other {
        /// The path of the file.
        path: PathBuf,
        /// The GPU or plan of the file.
        then: String,
        /// The GPU or plan of this run.
        now: String,
    },
}

/// The events that matter.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    Planned {
        gpu: Box<Gpu>,
        checks: Vec<String>,
    },
    Started {
        id: String,
    },
    Result(Box<CheckResult>),
    Round {},
    Ended {},
    #[serde(other)]
    Other,
}

impl Resumed {
    /// Reads a file that `--jsonl` wrote. An incomplete line at the end, which was being written when the machine stopped, is
    /// ignored.
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if the file cannot be read, was not written by `--jsonl`, or there is nothing to resume.
    pub fn read(path: &Path) -> Result<Self, ResumeError> {
        let path = path.to_owned();
        let text = match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(source) => return Err(ResumeError::Read { path, source }),
        };
        let (mut plan, mut results, mut started) = (None, Vec::new(), None);
        let count = text.lines().count();
        for (line, number) in text.lines().zip(1..) {
            let event = match serde_json::from_str(line) {
                Ok(event) => event,
                Err(_) if number == count && !text.ends_with('\n') => break,
                Err(error) => return Err(ResumeError::Line { path, line: number, reason: error.to_string() }),
            };
            match event {
                Event::Planned { gpu, checks } => plan = Some((*gpu, checks)),
                Event::Started { id } => started = Some(id),
                Event::Result(result) => {
                    started = None;
                    results.push(*result);
                }
                Event::Round {} => return Err(ResumeError::Nothing { path, reason: "a soak is not resumed" }),
                Event::Ended {} => return Err(ResumeError::Nothing { path, reason: "the run has ended" }),
                Event::Other => {}
            }
        }
        let Some((gpu, checks)) = plan else {
            return Err(ResumeError::Nothing { path, reason: "the run had no plan yet" });
        };
        if let Some(id) = started {
            let detail = "the machine stopped while this check ran";
            results.push(CheckResult::new(&id, Status::Incomplete, detail, Duration::ZERO));
        }
        let is_beginning = results.len() <= checks.len();
        if !is_beginning || results.iter().zip(&checks).any(|(result, id)| result.id != *id) {
            return Err(ResumeError::Nothing { path, reason: "its results are not those of its plan" });
        }
        Ok(Self { path, gpu, checks, results })
    }

    /// Checks that the file is of this GPU and of this plan.
    ///
    /// # Errors
    ///
    /// [`ResumeError::Other`].
    pub(crate) fn fits(&self, gpu: &Gpu, plan: &[String]) -> Result<(), ResumeError> {
        let path = self.path.clone();
        if self.gpu.label() != gpu.label() {
            return Err(ResumeError::Other { path, then: self.gpu.label(), now: gpu.label() });
        }
        if self.checks != plan {
            let text = |checks: &[String]| format!("a plan of {} checks", checks.len());
            let differing = self.checks.iter().zip(plan).find(|(then, now)| then != now);
            let (then, now) = match differing {
                Some((then, now)) => (format!("a plan with {then}"), format!("a plan with {now} instead")),
                None => (text(&self.checks), text(plan)),
            };
            return Err(ResumeError::Other { path, then, now });
        }
        Ok(())
    }

    /// Returns the result of the step with this number, from 0, if it was done or under way.
    pub(crate) fn result(&self, step: usize) -> Option<&CheckResult> {
        self.results.get(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Resumed, ResumeError> {
        let path = std::env::temp_dir().join(format!("amdgpu-smoke-resumed-{}-{name}", std::process::id()));
        fs::write(&path, text).unwrap();
        let resumed = Resumed::read(&path);
        fs::remove_file(&path).unwrap();
        resumed
    }

    const BEGUN: &str = concat!(
        r#"{"event":"began","schema":"amdgpu-smoke/1","gpu":{"simulated":true,"fallback":false,"location":"navi21"}}"#,
        "\n",
        r#"{"event":"planned","gpu":{"simulated":true,"fallback":false,"location":"navi21"},"checks":["a.b","c.d"]}"#,
        "\n",
        r#"{"event":"started","id":"a.b"}"#,
        "\n",
        r#"{"event":"result","id":"a.b","status":"pass","detail":"","ms":1.0}"#,
        "\n",
    );

    #[test]
    fn the_check_that_was_under_way_is_incomplete_and_half_a_line_is_ignored() {
        let resumed =
            read("half", &format!("{BEGUN}{}\n{{\"event\":\"resu", r#"{"event":"started","id":"c.d"}"#)).unwrap();
        let words: Vec<_> = (0..3).map(|step| resumed.result(step).map(|result| result.status)).collect();
        assert_eq!(words, [Some(Status::Pass), Some(Status::Incomplete), None]);
        let plan = ["a.b", "c.d"].map(str::to_owned);
        assert!(resumed.fits(&resumed.gpu, &plan).is_ok());
        let error = resumed.fits(&Gpu::default(), &plan).unwrap_err().to_string();
        assert!(error.ends_with("it is of simulated navi21, and this run of "), "{error}");
        let error = resumed.fits(&resumed.gpu, &plan[..1]).unwrap_err().to_string();
        assert!(error.ends_with("it is of a plan of 2 checks, and this run of a plan of 1 checks"), "{error}");
    }

    #[test]
    fn what_cannot_be_resumed_is_refused_with_the_reason() {
        let ended = format!("{BEGUN}{}\n", r#"{"event":"ended","aborted":false}"#);
        let round = format!("{BEGUN}{}\n", r#"{"event":"round","rounds":1}"#);
        let foreign = format!("{BEGUN}{}\n", r#"{"event":"result","id":"x.y","status":"pass","detail":"","ms":1.0}"#);
        for (name, text, reason) in [
            ("empty", "", "the run had no plan yet"),
            ("ended", &ended, "the run has ended"),
            ("round", &round, "a soak is not resumed"),
            ("foreign", &foreign, "its results are not those of its plan"),
            ("noise", "noise\n", ":1: not an event of --jsonl"),
        ] {
            let error = read(name, text).unwrap_err().to_string();
            assert!(error.contains(reason), "{name}: {error}");
        }
    }
}
