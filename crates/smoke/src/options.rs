//! What a run checks, and what it is told beforehand.

use crate::{
    choice::{BadFilter, Choice, Filter},
    gpu::lab::Settings,
    level::Level,
    result::expectations::Expectations,
};

/// What to check.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How much.
    pub level: Level,
    /// Which checks of that. Opening the GPU is always reported when it fails.
    pub choice: Choice,
    /// Where random numbers begin. Zero is as good as any.
    pub seed: u32,
    /// The most bytes that a check takes at once; half of what the fullest heap has left, 4 GiB at most, or 64 MiB of a
    /// simulated GPU's, when nothing is said.
    pub memory: Option<u64>,
    /// Go on after the GPU was lost or reset.
    pub keep_going: bool,
    /// What is known to fail, to flake and to be left out.
    pub expectations: Expectations,
}

impl Options {
    /// The default with checks whose ids the expression matches.
    ///
    /// # Errors
    ///
    /// What is wrong with the expression.
    pub fn filtered(expression: &str) -> Result<Self, BadFilter> {
        let choice = Choice { filter: Some(Filter::new(expression)?), ..Choice::default() };
        Ok(Self { choice, ..Self::default() })
    }

    pub(crate) const fn settings(&self) -> Settings {
        Settings { seed: self.seed, memory: self.memory, pulse: None }
    }
}
