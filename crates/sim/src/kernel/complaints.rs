//! Complaints about requests that are invalid or not simulated.

use parking_lot::Mutex;

/// The maximum number of stored complaints.
const MOST: usize = 1000;

/// A list of complaints, for tests and users.
#[derive(Debug, Default)]
pub(crate) struct Complaints(Mutex<Vec<String>>);

impl Complaints {
    /// Records a complaint and logs it as an error.
    pub(crate) fn say(&self, complaint: String) {
        tracing::error!("{complaint}");
        let mut all = self.0.lock();
        if all.len() < MOST {
            all.push(complaint);
        }
    }

    pub(crate) fn list(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}
