//! Containers that grow, or say that there is no host memory, where `std`'s own methods end the process.

use std::ops::{Deref, DerefMut};

/// There is no host memory for a container to grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoHostMemory;

/// Makes room for `count` more.
#[inline]
pub(crate) fn reserve<T>(into: &mut Vec<T>, count: usize) -> Result<(), NoHostMemory> {
    if into.capacity() - into.len() >= count { Ok(()) } else { grow(into, count) }
}

#[cold]
fn grow<T>(into: &mut Vec<T>, count: usize) -> Result<(), NoHostMemory> {
    into.try_reserve(count).map_err(|_| NoHostMemory)
}

/// Appends a value, which is dropped if there is no room for it.
#[inline]
pub(crate) fn push<T>(into: &mut Vec<T>, value: T) -> Result<(), NoHostMemory> {
    reserve(into, 1)?;
    into.push(value);
    Ok(())
}

/// Appends values, all or none.
#[inline]
pub(crate) fn extend<T>(into: &mut Vec<T>, values: impl ExactSizeIterator<Item = T>) -> Result<(), NoHostMemory> {
    reserve(into, values.len())?;
    into.extend(values);
    Ok(())
}

/// A box whose making can fail: `Box::new` ends the process without memory, and a vector of one does not.
#[derive(Debug)]
pub(crate) struct TryBox<T>(Box<[T; 1]>);

impl<T> TryBox<T> {
    pub(crate) fn new(value: T) -> Result<Self, NoHostMemory> {
        let mut one = Vec::new();
        one.try_reserve_exact(1).map_err(|_| NoHostMemory)?;
        one.push(value);
        // Exactly as large as it is full, so that nothing is allocated here.
        one.into_boxed_slice().try_into().map(Self).map_err(|_| NoHostMemory)
    }
}

impl<T> Deref for TryBox<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        let [value] = &*self.0;
        value
    }
}

impl<T> DerefMut for TryBox<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        let [value] = &mut *self.0;
        value
    }
}
