//! A check, and the queues it is for.

use crate::{
    gpu::{Gpu, Lane, QueueKind},
    outcome::Outcome,
};

/// One check.
pub(crate) struct Check {
    id: &'static str,
    proves: &'static str,
    body: Body,
    disruptive: bool,
    unordered: bool,
}

/// The code of a check, by what it runs on.
#[derive(Clone, Copy)]
enum Body {
    /// Once for the device.
    Once(fn(&Gpu) -> Outcome),
    /// On each kind of queue, whose name is appended to the id.
    Each(fn(&Gpu, &Lane) -> Outcome),
}

impl Check {
    pub(super) const fn once(id: &'static str, proves: &'static str, body: fn(&Gpu) -> Outcome) -> Self {
        Self { id, proves, body: Body::Once(body), disruptive: false, unordered: false }
    }

    pub(super) const fn each(id: &'static str, proves: &'static str, body: fn(&Gpu, &Lane) -> Outcome) -> Self {
        Self { id, proves, body: Body::Each(body), disruptive: false, unordered: false }
    }

    /// The same, tried only on request.
    pub(super) const fn disruptive(self) -> Self {
        Self { disruptive: true, ..self }
    }

    /// The same, with submissions in another order each time.
    pub(super) const fn unordered(self) -> Self {
        Self { unordered: true, ..self }
    }

    pub(super) fn steps(&self) -> Vec<PlannedCheck> {
        let &Self { proves, disruptive, unordered, body, .. } = self;
        let step = |id: String, kind| PlannedCheck { id, proves, disruptive, unordered, body, kind };
        match self.body {
            Body::Once(_) => vec![step(self.id.to_owned(), QueueKind::Graphics)],
            Body::Each(_) => {
                QueueKind::RECORDED.into_iter().map(|kind| step(format!("{}.{}", self.id, kind.name()), kind)).collect()
            }
        }
    }
}

/// A check on the queue it is for.
pub(crate) struct PlannedCheck {
    /// The name for `--only`.
    pub(crate) id: String,
    /// The claim that a pass proves, in a sentence.
    pub(crate) proves: &'static str,
    /// `true` if it harms others who use the device.
    pub(crate) disruptive: bool,
    /// `true` if its threads submit in another order each time.
    pub(crate) unordered: bool,
    body: Body,
    kind: QueueKind,
}

impl PlannedCheck {
    /// Tries it.
    pub(crate) fn run(&self, gpu: &Gpu) -> Outcome {
        match self.body {
            Body::Once(body) => body(gpu),
            Body::Each(body) => body(gpu, gpu.need(self.kind)?),
        }
    }
}
