//! A mapping that many threads ask for and one makes.

use super::Mapping;
use crate::sync::{Mutex, OnceLock};

/// A CPU mapping that is made at the first call. All threads get the same one; once it is there, getting it takes no lock.
///
/// It is taken away only with exclusive access, so no reference to a mapping outlives it.
#[derive(Debug, Default)]
pub struct MapOnce {
    mapping: OnceLock<Mapping>,
    /// Held while the mapping is made, so that it is made once.
    making: Mutex<()>,
}

impl MapOnce {
    /// No mapping yet.
    pub const fn new() -> Self {
        Self { mapping: OnceLock::new(), making: Mutex::new(()) }
    }

    /// One that is there already.
    pub fn of(mapping: Mapping) -> Self {
        Self { mapping: mapping.into(), making: Mutex::new(()) }
    }

    /// The mapping, if there is one. Takes no lock.
    #[inline]
    pub fn get(&self) -> Option<&Mapping> {
        self.mapping.get()
    }

    /// The mapping, made by `make` if there is none. While one thread makes it the others wait; after a failure the next
    /// one tries again.
    ///
    /// # Errors
    ///
    /// What `make` answers.
    pub fn get_or_map<E>(&self, make: impl FnOnce() -> Result<Mapping, E>) -> Result<&Mapping, E> {
        match self.mapping.get() {
            Some(mapping) => Ok(mapping),
            None => self.map(make),
        }
    }

    #[cold]
    fn map<E>(&self, make: impl FnOnce() -> Result<Mapping, E>) -> Result<&Mapping, E> {
        let _making = self.making.lock();
        if let Some(mapping) = self.mapping.get() {
            return Ok(mapping);
        }
        let mapping = make()?;
        // Nobody else sets it: the lock is held.
        Ok(self.mapping.get_or_init(|| mapping))
    }

    /// Takes the mapping away.
    pub fn take(&mut self) -> Option<Mapping> {
        self.mapping.take()
    }
}
