//! Complaints about requests that are invalid or not simulated.

use std::time::Instant;

use parking_lot::Mutex;

use super::hangs::{HangEnd, HangRecord, RingImage};

/// The maximum number of stored complaints.
const MOST: usize = 1000;
/// The maximum number of stored hangs, each of which has the IBs of a job.
const MOST_HANGS: usize = 64;

/// A list of complaints, for tests and users.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    all: Mutex<Vec<String>>,
    hangs: Mutex<Vec<HangRecord>>,
}

impl Complaints {
    /// Records a complaint and logs it as an error.
    pub(crate) fn report(&self, complaint: String) {
        tracing::error!("{complaint}");
        let mut all = self.all.lock();
        if all.len() < MOST {
            all.push(complaint);
        }
    }

    pub(crate) fn list(&self) -> Vec<String> {
        self.all.lock().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.all.lock().len()
    }

    /// Records a hang. Returns its index; `None` if there are too many.
    pub(crate) fn hung(&self, hang: HangRecord) -> Option<usize> {
        let mut hangs = self.hangs.lock();
        (hangs.len() < MOST_HANGS).then(|| {
            hangs.push(hang);
            hangs.len() - 1
        })
    }

    /// Records the end of a hang, and the memory of rings when the time of the job was over.
    pub(crate) fn recovered(&self, hang: Option<usize>, end: HangEnd, rings: Vec<RingImage>) {
        let mut hangs = self.hangs.lock();
        if let Some(hang) = hang.and_then(|hang| hangs.get_mut(hang)) {
            (hang.end, hang.recovered, hang.rings) = (end, Some(Instant::now()), rings);
        }
    }

    pub(crate) fn hang_count(&self) -> usize {
        self.hangs.lock().len()
    }

    pub(crate) fn hangs(&self) -> Vec<HangRecord> {
        self.hangs.lock().clone()
    }
}
