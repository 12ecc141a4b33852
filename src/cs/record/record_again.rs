//! Reuse of the memory of a list that is no longer used.

use std::sync::Arc;

use crate::cs::{CommandList, Language, Stream};

impl CommandList {
    /// Starts a new stream, for any ring, in the memory of this list. Nothing is allocated.
    ///
    /// # Errors
    ///
    /// The list itself if a queue still runs it, another list is chained to it, or another clone exists.
    pub fn record_again<L: Language>(self, language: L) -> Result<Stream<L>, Self> {
        let recorded = Arc::clone(self.recorded());
        drop(self);
        let recorded = Arc::try_unwrap(recorded).map_err(Self::of)?;
        // The new stream starts in the largest of the IBs, which was most likely the last one.
        let capacities = recorded.all_ibs().iter().map(|ib| ib.memory.capacity()).enumerate();
        let Some((largest, _)) = capacities.max_by_key(|&(_, capacity)| capacity) else {
            return Err(Self::of(Arc::new(recorded)));
        };
        let mut part = recorded.part;
        let memory = part.ibs.swap_remove(largest).memory;
        part.recycle();
        Ok(Stream::over(memory, part, language))
    }
}
