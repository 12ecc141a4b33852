//! A compressed list of patterns.

use crate::equation::{Equation, Term};

/// Patterns that share their terms.
pub(crate) struct PatternSet {
    /// Distinct terms: the bits of x, y, z and sample, sixteen each, lowest first.
    pub(crate) terms: &'static [u64],
    /// For each pattern, one index of `terms` per address bit.
    pub(crate) words: &'static [u16],
    /// Start of each pattern in `words`; one more than there are patterns.
    pub(crate) starts: &'static [u16],
}

impl PatternSet {
    /// Returns a pattern as an equation; an empty one for a number that the set lacks.
    pub(crate) fn equation(&self, pattern: u16) -> Equation {
        let index = usize::from(pattern);
        let (Some(&start), Some(&end)) = (self.starts.get(index), self.starts.get(index + 1)) else {
            return Equation::zero(0);
        };
        let words = self.words.get(usize::from(start)..usize::from(end)).unwrap_or_default();
        let mut equation = Equation::zero(words.len() as u32);
        for (bit, &word) in (0..).zip(words) {
            equation.add(bit, Term(self.terms.get(usize::from(word)).copied().unwrap_or_default()));
        }
        equation
    }
}
