//! Counters of how far a target's inputs get.
//!
//! An input that the first check refuses tests nothing behind it. A target counts the inputs that get further, and fails if
//! there are none, so that its number of executions means something.

use std::sync::atomic::{AtomicU64, Ordering};

/// The inputs of a target, and those of them that the code behind the first check saw.
#[derive(Debug)]
pub struct Reach {
    name: &'static str,
    executions: AtomicU64,
    behind: AtomicU64,
}

impl Reach {
    /// Returns counters at zero; the name is the target's file and test.
    pub const fn new(name: &'static str) -> Self {
        Self { name, executions: AtomicU64::new(0), behind: AtomicU64::new(0) }
    }

    /// Counts an input, and whether it got behind the first check.
    pub fn count(&self, is_behind: bool) {
        self.executions.fetch_add(1, Ordering::Relaxed);
        self.behind.fetch_add(is_behind.into(), Ordering::Relaxed);
    }

    /// Prints both numbers in the form that `.ci/soundness/fuzz` reads.
    ///
    /// # Panics
    ///
    /// When no input got behind the first check.
    pub fn report(&self) {
        let (executions, behind) = (self.executions.load(Ordering::Relaxed), self.behind.load(Ordering::Relaxed));
        println!("\nreach: {} {executions} {behind}", self.name);
        assert!(behind > 0, "{}: of {executions} inputs none got behind the first check", self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_tests_nothing_fails() {
        let reach = Reach::new("none");
        reach.count(false);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reach.report())).is_err());
        reach.count(true);
        reach.report();
    }
}
