//! A subscriber that keeps what the library logs on one thread.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::{collections::BTreeMap, fmt, sync::Arc};

use parking_lot::Mutex;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// A warning or an error of the library, with its fields as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) level: Level,
    fields: BTreeMap<&'static str, String>,
}

impl Line {
    /// Returns a field, which may be the `message`.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

/// Keeps warnings and errors.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Line>>>);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN && metadata.target().starts_with("amdgpu_winsys")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line { level: *event.metadata().level(), fields: BTreeMap::new() };
        event.record(&mut line);
        self.0.lock().push(line);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// Returns the warnings and errors that the library logs on this thread meanwhile.
pub(crate) fn logged(act: impl FnOnce()) -> Vec<Line> {
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), act);
    std::mem::take(&mut *log.0.lock())
}
