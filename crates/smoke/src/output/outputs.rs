//! All the reports of a run.

use std::{fs, path::PathBuf};

use crate::{
    cli::Outputs,
    output::{
        bundle::{self, Bundle},
        document::Document,
        html::Html,
        human::{self, Human},
        igt, json,
        jsonl::JsonLines,
        junit,
        sink::{STDOUT, Sink, Troubles},
        tap::Tap,
        text::Text,
    },
    result::{
        check_result::CheckResult,
        report::{Gpu, Report},
        soak::Soak,
        tested::Progress,
    },
    run::Observer,
};

/// The observers of a run.
pub(crate) struct Reports {
    observers: Vec<Box<dyn Observer>>,
    troubles: Troubles,
    bundle: Option<(Bundle, Text)>,
}

/// The reason why there is no report.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoReports {
    #[error("only one of --json, --jsonl and --tap can be on standard output")]
    Crowd,
    #[error(transparent)]
    Create(#[from] crate::output::sink::CannotCreate),
    #[error("{}: {source}", path.display())]
    Directory { path: PathBuf, source: std::io::Error },
}

impl Reports {
    /// Opens the outputs of the reports. `so_far` is the report before the run begins.
    pub(crate) fn new(outputs: &Outputs, hint: Option<String>, so_far: &Report) -> Result<Self, NoReports> {
        // Also what runs with --bundle have left that were killed.
        bundle::sweep(&std::env::temp_dir());
        let troubles = Troubles::default();
        let on_stdout =
            [&outputs.json, &outputs.jsonl, &outputs.tap].iter().filter(|path| is_stdout(path.as_ref())).count();
        if on_stdout > 1 {
            return Err(NoReports::Crowd);
        }
        let mut observers: Vec<Box<dyn Observer>> = Vec::new();
        let bundle = match &outputs.bundle {
            None => None,
            Some(path) => {
                let made = Bundle::create(path, so_far);
                Some(made.map_err(|source| NoReports::Directory { path: path.clone(), source })?)
            }
        };
        if on_stdout == 0 {
            let named = bundle.as_ref().map(|bundle| bundle.path().display().to_string());
            let out = Sink::stdout(&troubles);
            let human = Human::new(out, human::stdout_takes_colours(), human::stdout_is_terminal());
            observers.push(Box::new(human.with_bundle(named).with_hint(hint.clone())));
        }
        if let Some(path) = &outputs.json {
            observers.push(Box::new(Document::new(Sink::create(path, &troubles)?, json::document, so_far.clone())));
        }
        if let Some(path) = &outputs.jsonl {
            observers.push(Box::new(JsonLines(Sink::create_synced(path, &troubles)?)));
        }
        if let Some(path) = &outputs.tap {
            observers.push(Box::new(Tap::new(Sink::create(path, &troubles)?, outputs.tap_version)));
        }
        if let Some(path) = &outputs.junit {
            let sink = Sink::create(path, &troubles)?;
            observers.push(Box::new(Document::with_all_checks(sink, junit::document, so_far.clone())));
        }
        if let Some(path) = &outputs.html {
            observers.push(Box::new(Html::new(Sink::create(path, &troubles)?, so_far.clone())));
        }
        if let Some(path) = &outputs.igt_results {
            fs::create_dir_all(path).map_err(|source| NoReports::Directory { path: path.clone(), source })?;
            let sink = Sink::create(&path.join("results.json"), &troubles)?;
            observers.push(Box::new(Document::with_all_checks(sink, igt::documents(), so_far.clone())));
        }
        let bundle = bundle.map(|bundle| {
            let text = Text::default();
            observers.push(Box::new(Human::new(text.sink(&troubles), false, false).with_hint(hint)));
            observers.push(Box::new(bundle.unfinished(&text, &troubles, so_far)));
            (bundle, text)
        });
        Ok(Self { observers, troubles, bundle })
    }

    /// Returns the folder for recordings of the checks; `None` if recordings are not needed.
    pub(crate) fn recordings(&self) -> Option<PathBuf> {
        self.bundle.as_ref().map(|(bundle, _)| bundle.scratch().to_owned())
    }

    /// Finishes the reports after the run, and returns the write errors.
    pub(crate) fn finish(self, report: &Report) -> Troubles {
        if let Some((bundle, text)) = &self.bundle
            && let Err(error) = bundle.finish(report, &text.get())
        {
            self.troubles.note(&bundle.path().display().to_string(), &error);
        }
        self.troubles
    }
}

fn is_stdout(path: Option<&PathBuf>) -> bool {
    path.is_some_and(|path| path.as_os_str() == STDOUT)
}

impl Observer for Reports {
    fn began(&mut self, gpu: &Gpu) {
        self.observers.iter_mut().for_each(|observer| observer.began(gpu));
    }

    fn planned(&mut self, gpu: &Gpu, ids: &[&str]) {
        self.observers.iter_mut().for_each(|observer| observer.planned(gpu, ids));
    }

    fn started(&mut self, id: &str) {
        self.observers.iter_mut().for_each(|observer| observer.started(id));
    }

    fn progressed(&mut self, id: &str, progress: Progress) {
        self.observers.iter_mut().for_each(|observer| observer.progressed(id, progress));
    }

    fn finished(&mut self, result: &CheckResult) {
        self.observers.iter_mut().for_each(|observer| observer.finished(result));
    }

    fn soaked(&mut self, soak: &Soak) {
        self.observers.iter_mut().for_each(|observer| observer.soaked(soak));
    }

    fn ended(&mut self, report: &Report) {
        self.observers.iter_mut().for_each(|observer| observer.ended(report));
    }
}
