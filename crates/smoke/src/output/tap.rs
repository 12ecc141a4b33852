//! TAP 14 (<https://testanything.org/tap-version-14-specification.html>), diagnostics in YAML; or TAP 13, whose reports of
//! checks look the same.

use clap::ValueEnum;

use crate::{
    hardware::state::Hardware,
    output::sink::Sink,
    result::{
        check_result::CheckResult,
        report::{Gpu, Report},
        status::Status,
    },
    run::Observer,
};

/// Version of TAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TapVersion {
    /// The version that perl's `prove` accepts.
    #[value(name = "13")]
    V13,
    /// The current version.
    #[value(name = "14")]
    V14,
}

/// A writer of TAP, with a test point for each check.
pub(crate) struct Tap {
    out: Sink,
    version: TapVersion,
    number: usize,
    /// The lines of a file, which is replaced as a whole.
    text: String,
}

impl Tap {
    pub(crate) fn new(out: Sink, version: TapVersion) -> Self {
        Self { out, version, number: 0, text: String::new() }
    }

    /// Writes a line: at once to a pipe, and to a file with the next replacement.
    fn line(&mut self, line: &str) {
        if self.out.is_file() {
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        } else {
            self.out.line(line);
        }
    }
}

impl Observer for Tap {
    fn planned(&mut self, gpu: &Gpu, ids: &[&str]) {
        self.line(match self.version {
            TapVersion::V13 => "TAP version 13",
            TapVersion::V14 => "TAP version 14",
        });
        self.line(&format!("1..{}", ids.len()));
        self.line(&format!("# {}", one_line(&gpu.label())));
        if let Some(reason) = &gpu.chosen {
            self.line(&format!("# chosen because {}", one_line(reason)));
        }
        if let Some(watched) = &gpu.watched {
            self.line(&format!("# watched around each check: {}", one_line(&watched.to_string())));
        }
        if let Some(facts) = &gpu.facts {
            self.line(&format!("# {}, {}, amdgpu {}", one_line(&facts.name), facts.chip, facts.driver));
        }
    }

    /// The file of a run that is killed now ends with the line that says so.
    fn started(&mut self, id: &str) {
        let end = format!("Bail out! the run was killed while {} ran\n", one_line(id));
        self.out.replace(&[&*self.text, &*end].concat());
    }

    fn finished(&mut self, result: &CheckResult) {
        self.number += 1;
        let status = if result.status.is_bad() { "not ok" } else { "ok" };
        // A hash would begin a directive.
        let id = result.id.replace('#', "\\#");
        let directive = match (result.status, result.is_failure()) {
            (Status::Skip, _) => format!(" # SKIP {}", one_line(&result.detail)),
            // A known failure must not break the run.
            (status, false) if status.is_bad() => " # TODO expected".to_owned(),
            _ => String::new(),
        };
        self.line(&format!("{status} {} - {id}{directive}", self.number));
        if result.status != Status::Skip {
            self.line("  ---");
            for line in diagnostics(result) {
                self.line(&format!("  {line}"));
            }
            self.line("  ...");
        }
    }

    fn ended(&mut self, report: &Report) {
        if let Some(reason) = &report.reason {
            self.line(&format!("Bail out! {}", one_line(reason)));
        }
        self.out.replace(&self.text);
    }
}

fn diagnostics(result: &CheckResult) -> Vec<String> {
    let mut lines = vec![
        format!("status: {}", result.status.name()),
        format!("duration_ms: {:.3}", result.time.as_secs_f64() * 1e3),
        format!("message: {}", quoted(&result.detail)),
    ];
    let figures = result.hardware.as_ref().map(Hardware::line).filter(|figures| !figures.is_empty());
    lines.extend(figures.map(|figures| format!("hardware: {}", quoted(&figures))));
    let evidence = result.evidence_lines();
    if !evidence.is_empty() {
        lines.push("evidence:".to_owned());
        lines.extend(evidence.iter().map(|line| format!("  - {}", quoted(line))));
    }
    lines
}

/// Returns a YAML string in double quotes, which is written like a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        output::{sink::Troubles, text::Text},
        result::status::Expected,
    };

    fn written(results: &[CheckResult]) -> String {
        let captured = Text::default();
        let mut tap = Tap::new(captured.sink(&Troubles::default()), TapVersion::V14);
        tap.planned(&Gpu { location: "navi21".to_owned(), ..Gpu::default() }, &vec!["a"; results.len()]);
        for result in results {
            tap.finished(result);
        }
        captured.get()
    }

    #[test]
    fn each_check_is_a_point_with_its_diagnostics() {
        let time = Duration::from_micros(1500);
        let failed = CheckResult::new("bo.map", Status::Fail, "byte \"0\"", time);
        let known = CheckResult { expected: Some(Expected::Fail), ..failed.clone() };
        let skipped = CheckResult::new("va.fixed", Status::Skip, "two\nlines", time);
        let expected = "\
TAP version 14
1..3
# navi21
not ok 1 - bo.map
  ---
  status: fail
  duration_ms: 1.500
  message: \"byte \\\"0\\\"\"
  ...
not ok 2 - bo.map # TODO expected
  ---
  status: fail
  duration_ms: 1.500
  message: \"byte \\\"0\\\"\"
  ...
ok 3 - va.fixed # SKIP two lines
";
        assert_eq!(written(&[failed, known, skipped]), expected);
    }
}
