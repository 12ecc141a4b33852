//! Complaints about requests that are wrong or not simulated, in words.

use parking_lot::Mutex;

/// Complaints kept at most; a client that errs more often errs in the same way.
const MOST: usize = 1000;

/// A list of complaints, for tests and for people.
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
