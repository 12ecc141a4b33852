//! Limits on connections served at a time. Each takes a thread and a descriptor of the server's.

use std::{collections::HashMap, sync::Arc};

use nix::errno::Errno;
use parking_lot::Mutex;

/// Connections that are served at most.
pub(crate) const MOST: usize = 1024;
/// Connections of one process at most, so that the others are served, too. A program has one for each of its threads that
/// wait, and keeps some.
pub(crate) const MOST_OF_PROCESS: usize = 256;

/// The connections that are served, counted by process.
#[derive(Debug, Default)]
pub(crate) struct Seats(Mutex<HashMap<libc::pid_t, usize>>);

/// The right to be served, until dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    process: libc::pid_t,
}

impl Seats {
    /// Gives a process one more connection.
    ///
    /// # Errors
    ///
    /// EUSERS when it has its share, or all are taken.
    pub(crate) fn take(self: &Arc<Self>, process: libc::pid_t) -> Result<Seat, Errno> {
        let mut taken = self.0.lock();
        let all: usize = taken.values().sum();
        let own = taken.entry(process).or_default();
        if all >= MOST || *own >= MOST_OF_PROCESS {
            return Err(Errno::EUSERS);
        }
        *own += 1;
        Ok(Seat { seats: Arc::clone(self), process })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.0.lock();
        if let Some(own) = taken.get_mut(&self.process) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                taken.remove(&self.process);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_its_share_and_all_have_theirs() {
        let seats = Arc::new(Seats::default());
        let take = |process| seats.take(process).map_err(|errno| (process, errno));
        let mut taken: Vec<_> = (0..MOST_OF_PROCESS).map(|_| take(1).unwrap()).collect();
        assert_eq!(take(1).unwrap_err(), (1, Errno::EUSERS));
        let others: Vec<_> = (2..).take(MOST - MOST_OF_PROCESS).map(|process| take(process).unwrap()).collect();
        assert_eq!(take(2).unwrap_err(), (2, Errno::EUSERS));
        taken.pop();
        let last = take(2).unwrap();
        assert_eq!(take(1).unwrap_err(), (1, Errno::EUSERS));
        drop((taken, others, last));
        assert_eq!(seats.0.lock().len(), 0, "nothing is left of those who went");
    }
}
