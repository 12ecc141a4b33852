//! A hint at what a failure may come from.

use serde::{Deserialize, Serialize};

/// A rule that a command stream or a shader may have broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// The kind of the hazard, as the strict mode reports it.
    pub rule: String,
    /// The mistake, and what would be missing.
    pub text: String,
    /// The function of Mesa that has it.
    pub mesa: String,
}
