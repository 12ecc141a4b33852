//! Submissions that wait for work that has not been submitted yet, and all submissions after them.

use std::collections::VecDeque;

use amdgpu_winsys::{
    cs::{self, OwnedSubmission, PendingFence, Submitter},
    winsys::Deadline,
};

use super::Loss;
use crate::border::Failure;

/// The thread that holds back submissions, and the submissions that it may still hold.
#[derive(Debug, Default)]
pub(super) struct Late {
    submitter: Option<Submitter>,
    held: VecDeque<PendingFence>,
}

impl Late {
    /// Passes a submission to the thread. The first submission starts the thread.
    ///
    /// # Errors
    ///
    /// The errors of the library.
    pub(super) fn submit(&mut self, ring: &cs::Queue, submission: OwnedSubmission) -> Result<(), Failure> {
        let submitter = match self.submitter.take() {
            Some(submitter) => submitter,
            None => Submitter::new(ring)?,
        };
        self.held.push_back(self.submitter.insert(submitter).submit(submission)?);
        Ok(())
    }

    /// Removes the submissions that have been made, and returns their number. If one could not be made, declares the device lost.
    pub(super) fn settle(&mut self, loss: &Loss) -> u64 {
        let mut made = 0;
        while let Some(outcome) = self.held.front().map(|first| first.submitted(Deadline::POLL)) {
            match outcome {
                Ok(None) => break,
                Ok(Some(_)) => made += 1,
                Err(_) => loss.declare(),
            }
            self.held.pop_front();
        }
        made
    }

    /// Returns the first submission that may still be held back.
    pub(super) fn first(&self) -> Option<PendingFence> {
        self.held.front().cloned()
    }
}
