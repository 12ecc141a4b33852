//! The memory that is bound somewhere in a range.

use std::{collections::HashMap, sync::Arc};

use crate::winsys::Binding;

/// Counts how many bytes of each memory are bound. A change costs O(1).
#[derive(Debug, Default)]
pub(super) struct Residents {
    /// Where in `members` a memory is, by the address of the object; a number, as it is never followed.
    places: HashMap<usize, usize>,
    members: Vec<(Arc<Binding>, u64)>,
    /// The members as they were when last asked for, as long as they are the same.
    snapshot: Option<Arc<[Arc<Binding>]>>,
}

fn key(memory: &Arc<Binding>) -> usize {
    Arc::as_ptr(memory).addr()
}

impl Residents {
    pub(super) fn add(&mut self, memory: &Arc<Binding>, bytes: u64) {
        let place = *self.places.entry(key(memory)).or_insert_with(|| {
            self.members.push((Arc::clone(memory), 0));
            self.snapshot = None;
            self.members.len() - 1
        });
        if let Some((_, count)) = self.members.get_mut(place) {
            *count += bytes;
        }
    }

    pub(super) fn remove(&mut self, memory: &Arc<Binding>, bytes: u64) {
        let Some(&place) = self.places.get(&key(memory)) else { return };
        let Some((_, count)) = self.members.get_mut(place) else { return };
        *count = count.saturating_sub(bytes);
        if *count > 0 {
            return;
        }
        self.places.remove(&key(memory));
        self.members.swap_remove(place);
        if let Some((moved, _)) = self.members.get(place) {
            self.places.insert(key(moved), place);
        }
        self.snapshot = None;
    }

    /// The memories, each once. The same allocation as before when nothing has changed.
    pub(super) fn snapshot(&mut self) -> Arc<[Arc<Binding>]> {
        let members = &self.members;
        Arc::clone(self.snapshot.get_or_insert_with(|| members.iter().map(|(memory, _)| Arc::clone(memory)).collect()))
    }

    pub(super) fn bytes(&self) -> u64 {
        self.members.iter().map(|(_, bytes)| bytes).sum()
    }
}
