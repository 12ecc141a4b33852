//! A check: the claim that it proves, and the code that runs it.

use std::time::Duration;

use crate::{
    gpu::{
        ring::Ring,
        target::Target,
        test_context::{Settings, TestContext},
    },
    level::Level,
    result::outcome::{Outcome, Stop, skip},
};

/// A check: the claim that it proves, and the code that runs it.
#[derive(Clone, Copy)]
pub(crate) struct Check {
    /// The stable ID, `area.name`. If a check runs on each ring, the name of the ring is appended.
    pub(crate) id: &'static str,
    /// The level that the check belongs to.
    pub(crate) level: Level,
    /// The claim that a pass proves, in one sentence.
    pub(crate) proves: &'static str,
    /// The requirements without which the check is skipped, besides an amdgpu device that can be opened.
    pub(crate) needs: &'static str,
    /// The test of the IGT suite that checks the same feature; empty if there is none.
    pub(crate) anchor: &'static str,
    /// The time limit of the check.
    pub(crate) budget: Duration,
    /// The code that runs it.
    pub(crate) body: Body,
    /// `true` if a failure on a kernel that [only pretends](TestContext::is_stand_in) counts as a skip.
    pub(crate) needs_a_kernel: bool,
}

/// The code of a check, by what it runs on.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// Once for the GPU.
    Once(fn(&TestContext<'_>) -> Outcome),
    /// On each ring.
    EachRing(fn(&TestContext<'_>, Ring) -> Outcome),
    /// On each ring that dispatches shaders.
    EachShaderRing(fn(&TestContext<'_>, Ring) -> Outcome),
    /// Once for the GPU, without an open file of it.
    Alone(fn(&Target, Settings) -> Outcome),
}

impl Check {
    const fn new(level: Level, id: &'static str, proves: &'static str, body: Body) -> Self {
        let budget = Duration::from_secs(match level {
            Level::Inventory | Level::Quick => 20,
            Level::Core => 60,
            Level::Stress => 300,
            Level::Destructive => 120,
        });
        Self { id, level, proves, needs: "", anchor: "", budget, body, needs_a_kernel: false }
    }

    /// A check that only reads.
    pub(crate) const fn inventory(
        id: &'static str,
        proves: &'static str,
        body: fn(&TestContext<'_>) -> Outcome,
    ) -> Self {
        Self::new(Level::Inventory, id, proves, Body::Once(body))
    }

    /// A check of the quick level that runs once.
    pub(crate) const fn once(id: &'static str, proves: &'static str, body: fn(&TestContext<'_>) -> Outcome) -> Self {
        Self::new(Level::Quick, id, proves, Body::Once(body))
    }

    /// A check of the quick level that runs on each ring.
    pub(crate) const fn each_ring(
        id: &'static str,
        proves: &'static str,
        body: fn(&TestContext<'_>, Ring) -> Outcome,
    ) -> Self {
        Self::new(Level::Quick, id, proves, Body::EachRing(body))
    }

    /// A check of the quick level that runs on each ring that dispatches shaders.
    pub(crate) const fn each_shader_ring(
        id: &'static str,
        proves: &'static str,
        body: fn(&TestContext<'_>, Ring) -> Outcome,
    ) -> Self {
        Self::new(Level::Quick, id, proves, Body::EachShaderRing(body))
    }

    /// A check of the quick level that runs once, while this process has no file of the GPU open.
    pub(crate) const fn alone(id: &'static str, proves: &'static str, body: fn(&Target, Settings) -> Outcome) -> Self {
        Self::new(Level::Quick, id, proves, Body::Alone(body))
    }

    /// Moves the check to another level, with the time limit of that level.
    pub(crate) const fn at(self, level: Level) -> Self {
        let moved = Self::new(level, self.id, self.proves, self.body);
        Self { needs: self.needs, anchor: self.anchor, needs_a_kernel: self.needs_a_kernel, ..moved }
    }

    /// Sets another time limit.
    pub(crate) const fn lasting(self, budget: Duration) -> Self {
        Self { budget, ..self }
    }

    /// Marks the check as skipped if it fails on a stub kernel that only pretends to have the feature.
    pub(crate) const fn needing_a_kernel(self) -> Self {
        Self { needs_a_kernel: true, ..self }
    }

    /// Sets the requirements without which the check is skipped.
    pub(crate) const fn needs(self, needs: &'static str) -> Self {
        Self { needs, ..self }
    }

    /// Sets the corresponding test of IGT.
    pub(crate) const fn anchor(self, anchor: &'static str) -> Self {
        Self { anchor, ..self }
    }

    /// Returns the ID with a placeholder for the ring.
    pub(crate) fn pattern(&self) -> String {
        match self.body {
            Body::Once(_) | Body::Alone(_) => self.id.to_owned(),
            Body::EachRing(_) | Body::EachShaderRing(_) => format!("{}.RING", self.id),
        }
    }

    /// Runs the check with `body`. A failure that only a stub kernel causes counts as a skip.
    pub(crate) fn try_with(&self, test: &TestContext<'_>, body: impl FnOnce() -> Outcome) -> Outcome {
        match body() {
            Err(Stop::Fail(failure)) if self.needs_a_kernel && test.is_stand_in() => {
                skip(format!("this kernel only pretends: {}", failure.detail))
            }
            outcome => outcome,
        }
    }
}
