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
        let (recorded, target) = (Arc::clone(self.recorded()), self.target());
        drop(self);
        let mut part = Arc::try_unwrap(recorded).map_err(Self::of)?.part;
        // The largest IB of those that were filled, for most likely it was the last.
        let largest = (0..part.ibs.len()).max_by_key(|&at| part.ibs.get(at).map_or(0, |ib| ib.memory.capacity()));
        let Some(memory) = largest.map(|at| part.ibs.swap_remove(at).memory) else {
            return Err(Self::new(target, part));
        };
        part.recycle();
        Ok(Stream::over(memory, part, language))
    }
}
