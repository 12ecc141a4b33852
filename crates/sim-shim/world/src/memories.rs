//! Access to the memory of clients' processes, which the connections of a process share.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use amdgpu_sim::ProcessMemory;
use parking_lot::Mutex;

use crate::process::Process;

/// The memories to which processes have given access, as long as a connection of theirs uses them.
#[derive(Debug, Default)]
pub(crate) struct Memories(Mutex<HashMap<Process, Weak<ProcessMemory>>>);

impl Memories {
    /// Returns the memory of a process; `None` if it has given no access, or has executed another program since.
    pub(crate) fn of(&self, process: Process) -> Option<Arc<ProcessMemory>> {
        self.0.lock().get(&process).and_then(Weak::upgrade).filter(|memory| memory.exists())
    }

    /// Keeps the memory of a process for its other connections, and forgets those that no connection uses.
    pub(crate) fn keep(&self, process: Process, memory: &Arc<ProcessMemory>) {
        let mut memories = self.0.lock();
        memories.retain(|_, memory| memory.strong_count() > 0);
        memories.insert(process, Arc::downgrade(memory));
    }
}
