//! The draws that were not executed.

use std::{collections::BTreeMap, fmt};

use parking_lot::Mutex;

use crate::gpu::Place;

/// The maximum number of reasons that are told apart.
const MOST: usize = 200;

/// Draws that were not executed for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedDraws {
    /// The names of the features that are not simulated.
    pub reason: String,
    /// The number of draws.
    pub count: u64,
    /// The place of the first of them.
    pub first: String,
}

impl fmt::Display for SkippedDraws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, count, first } = self;
        let draws = if *count == 1 { "draw was" } else { "draws were" };
        write!(f, "{count} {draws} not executed: {reason}; the first: {first}")
    }
}

/// The draws of a device that were not executed.
#[derive(Debug, Default)]
pub(crate) struct Skipped(Mutex<BTreeMap<String, (u64, String)>>);

impl Skipped {
    /// Counts a draw, and logs the first one of each reason.
    pub(crate) fn add(&self, reason: &str, place: Place) {
        let mut all = self.0.lock();
        if let Some((count, _)) = all.get_mut(reason) {
            *count += 1;
        } else if all.len() < MOST {
            tracing::warn!("a draw was not executed: {reason}: {place}");
            all.insert(reason.to_owned(), (1, place.to_string()));
        } else if let Some((count, _)) = all.values_mut().next_back() {
            *count += 1;
        }
    }

    pub(crate) fn list(&self) -> Vec<SkippedDraws> {
        let all = self.0.lock();
        let one = |(reason, (count, first)): (&String, &(u64, String))| SkippedDraws {
            reason: reason.clone(),
            count: *count,
            first: first.clone(),
        };
        all.iter().map(one).collect()
    }
}
