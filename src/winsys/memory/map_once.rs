//! A mapping that many threads ask for and one makes.

use crate::{sync::OnceCell, winsys::Mapping};

/// A CPU mapping that is made at the first call. All threads get the same one; once it is there, getting it takes no lock.
///
/// It is taken away only with exclusive access, so no reference to a mapping outlives it.
#[derive(Debug, Default)]
pub struct MapOnce(OnceCell<Mapping>);

impl MapOnce {
    /// No mapping yet.
    pub const fn new() -> Self {
        Self(OnceCell::new())
    }

    /// One that is there already.
    pub fn of(mapping: Mapping) -> Self {
        Self(OnceCell::with_value(mapping))
    }

    /// The mapping, if there is one. Takes no lock.
    #[inline]
    pub fn get(&self) -> Option<&Mapping> {
        self.0.get()
    }

    /// The mapping, made by `make` if there is none. While one thread makes it the others wait; after a failure the next
    /// one tries again.
    ///
    /// # Errors
    ///
    /// What `make` answers.
    #[inline]
    pub fn get_or_map<E>(&self, make: impl FnOnce() -> Result<Mapping, E>) -> Result<&Mapping, E> {
        self.0.get_or_try_init(make)
    }

    /// Takes the mapping away.
    pub fn take(&mut self) -> Option<Mapping> {
        self.0.take()
    }
}
