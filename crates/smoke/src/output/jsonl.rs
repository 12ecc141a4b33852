//! The run as JSON lines, one object per line, written during the run.

use serde_json::{Value, json};

use crate::{
    output::sink::Sink,
    result::{
        check_result::CheckResult,
        report::{Gpu, Report},
        soak::Soak,
    },
    run::Observer,
};

/// A writer of one event per line: `began`, `planned`, `started`, `result`, `ended`.
pub(crate) struct JsonLines(pub(crate) Sink);

impl JsonLines {
    fn event(&mut self, event: &str, body: &Value) {
        let mut line = json!({ "event": event });
        if let (Some(line), Some(body)) = (line.as_object_mut(), body.as_object()) {
            line.extend(body.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        self.0.line(&line.to_string());
    }
}

impl Observer for JsonLines {
    fn began(&mut self, gpu: &Gpu) {
        self.event("began", &json!({ "schema": crate::SCHEMA, "gpu": gpu }));
    }

    fn planned(&mut self, gpu: &Gpu, ids: &[&str]) {
        self.event("planned", &json!({ "gpu": gpu, "checks": ids }));
    }

    fn started(&mut self, id: &str) {
        self.event("started", &json!({ "id": id }));
    }

    fn finished(&mut self, result: &CheckResult) {
        self.event("result", &json!(result));
    }

    fn soaked(&mut self, soak: &Soak) {
        // Ever fewer of the rounds, so that the file stays small however long a soak takes.
        if soak.rounds.is_power_of_two() {
            let (rounds, seconds, failures) = (soak.rounds, soak.seconds, soak.failures());
            self.event("round", &json!({ "rounds": rounds, "seconds": seconds, "failures": failures }));
        }
    }

    fn ended(&mut self, report: &Report) {
        let body = json!({ "summary": report.summary, "aborted": report.aborted, "reason": report.reason });
        self.event("ended", &body);
    }
}
