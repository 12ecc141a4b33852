//! The contents of a file that is not a recording.

use super::{coredump::Coredump, ib::FileIb};

/// The contents of a file that is not a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// The devcoredumps in the file.
    pub coredumps: Vec<Coredump>,
    /// The IBs. Only a file with a devcoredump may have none.
    pub ibs: Vec<FileIb>,
    /// A sentence about what was skipped around the contents; `None` if the file has nothing else.
    pub note: Option<String>,
}

impl Contents {
    /// Creates the contents of a devcoredump.
    pub(super) fn coredump((facts, ibs): (Coredump, Vec<FileIb>)) -> Self {
        let coredump = Coredump { has_packets: !ibs.is_empty(), ..facts };
        Self { coredumps: vec![coredump], ibs, note: None }
    }

    /// Adds the contents of another part of the file.
    pub(super) fn append(&mut self, mut other: Self) {
        self.coredumps.append(&mut other.coredumps);
        self.ibs.append(&mut other.ibs);
    }
}
