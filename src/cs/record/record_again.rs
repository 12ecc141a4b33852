//! Recording in the memory of a list that is done.

use crate::cs::{
    CommandList, Language, Stream,
    ib::{home::Home, memory::IbMemory},
};

impl CommandList {
    /// Starts recording anew in the same memory, for any ring.
    ///
    /// # Errors
    ///
    /// The list itself, when a queue still runs it or another clone exists.
    pub fn record_again<L: Language>(self, language: L) -> Result<Stream<L>, Self> {
        let (target, parts) = self.into_parts()?;
        let (mut memories, mut home) = (Vec::new(), Home::default());
        for mut part in parts {
            memories.append(&mut part.spare);
            memories.extend(std::mem::take(&mut part.ibs).into_iter().map(|ib| ib.memory));
            home = part.home.clone();
        }
        // The largest, for most likely it was the last.
        memories.sort_by_key(IbMemory::capacity);
        match memories.pop() {
            Some(memory) => Ok(Stream::over(memory, memories, language, home)),
            None => Err(Self::of_parts(target, Vec::new())),
        }
    }
}
