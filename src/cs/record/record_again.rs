//! Recording in the memory of a list that is done.

use std::sync::Arc;

use crate::cs::{CommandList, Language, Stream};

impl CommandList {
    /// Starts recording anew in the same memory, for any ring. Nothing is allocated.
    ///
    /// # Errors
    ///
    /// The list itself, when a queue still runs it, another list is chained to it, or another clone exists.
    pub fn record_again<L: Language>(self, language: L) -> Result<Stream<L>, Self> {
        let recorded = Arc::clone(self.recorded());
        drop(self);
        let recorded = Arc::try_unwrap(recorded).map_err(Self::of)?;
        // The largest IB of those that were filled, for most likely it was the last.
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
