//! Sets of references to shared objects, in insertion order.

use std::sync::Arc;

use crate::{
    host_memory::{self, NoHostMemory},
    winsys::{Binding, ResidencySet},
};

/// A reference to a shared object. The object has a unique address while the reference exists.
pub(in crate::cs) trait Handle: Clone {
    fn address(&self) -> usize;
}

impl<T> Handle for Arc<T> {
    fn address(&self) -> usize {
        Self::as_ptr(self).addr()
    }
}

impl Handle for Binding {
    fn address(&self) -> usize {
        self.state_address()
    }
}

impl Handle for ResidencySet {
    fn address(&self) -> usize {
        self.state_address()
    }
}

/// References to shared objects, at most one for each object. Adding takes constant time, and allocates nothing if the containers
/// are large enough; [`Once::clear`] keeps their capacity.
#[derive(Debug)]
pub(in crate::cs) struct Once<T> {
    all: Vec<T>,
    /// A hash table with open addressing, by the addresses of the objects: indices into `all` from 1, and 0 for a free slot. The
    /// length is 0 while there are few objects, and otherwise a power of two that is at least twice their number.
    slots: Vec<u32>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self { all: Vec::new(), slots: Vec::new() }
    }
}

impl<T: Handle> Once<T> {
    /// The maximum number of objects that are searched linearly.
    const FEW: usize = 8;

    /// Adds an object unless the set contains it.
    ///
    /// # Errors
    ///
    /// [`NoHostMemory`] if the process has no memory left; the object is not added.
    pub(in crate::cs) fn add(&mut self, object: &T) -> Result<(), NoHostMemory> {
        // Drivers often add the same object several times in a row.
        if self.all.last().is_some_and(|last| last.address() == object.address()) {
            return Ok(());
        }
        if self.all.len() < Self::FEW && self.slots.is_empty() {
            if !self.all.iter().any(|other| other.address() == object.address()) {
                host_memory::push(&mut self.all, object.clone())?;
            }
            return Ok(());
        }
        if 2 * (self.all.len() + 1) > self.slots.len() {
            self.grow()?;
        }
        host_memory::reserve(&mut self.all, 1)?;
        if let Some(slot) = slot(&mut self.slots, &self.all, object) {
            self.all.push(object.clone());
            *slot = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        }
        Ok(())
    }

    fn grow(&mut self) -> Result<(), NoHostMemory> {
        let slots = (2 * self.slots.len()).max(4 * Self::FEW);
        let more = slots - self.slots.len();
        host_memory::reserve(&mut self.slots, more)?;
        self.slots.clear();
        self.slots.resize(slots, 0);
        for (number, object) in (1..).zip(&self.all) {
            if let Some(slot) = slot(&mut self.slots, &[], object) {
                *slot = number;
            }
        }
        Ok(())
    }

    /// Returns the objects in insertion order.
    pub(in crate::cs) fn as_slice(&self) -> &[T] {
        &self.all
    }

    /// Drops all references and keeps the capacity of the containers.
    pub(in crate::cs) fn clear(&mut self) {
        if !self.all.is_empty() {
            self.all.clear();
            self.slots.fill(0);
        }
    }
}

/// Returns the free slot for an object; `None` if `all` contains the object.
fn slot<'s, T: Handle>(slots: &'s mut [u32], all: &[T], object: &T) -> Option<&'s mut u32> {
    let last = slots.len().checked_sub(1)?;
    let is_it = |number: u32| {
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        index.and_then(|index| all.get(index)).is_some_and(|other| other.address() == object.address())
    };
    let mut at = spread(object.address()) & last;
    // At least half of the slots are free, so the loop ends.
    loop {
        match *slots.get(at)? {
            0 => break,
            number if is_it(number) => return None,
            _ => at = (at + 1) & last,
        }
    }
    slots.get_mut(at)
}

/// Distributes addresses, which are multiples of 16, over the low bits (Knuth's multiplicative method).
const fn spread(address: usize) -> usize {
    let product = (address >> 4).wrapping_mul(0x9e37_79b9);
    product ^ (product >> 15)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_object_is_there_once_in_the_order_of_its_first_addition(
            picks in prop::collection::vec(0..200_usize, 0..600),
            cleared_at in 0..600_usize,
        ) {
            let objects: Vec<Arc<usize>> = (0..200).map(Arc::new).collect();
            let (mut once, mut model) = (Once::default(), Vec::new());
            for (at, pick) in picks.into_iter().enumerate() {
                if at == cleared_at {
                    once.clear();
                    model.clear();
                }
                once.add(&objects[pick]).unwrap();
                if !model.contains(&pick) {
                    model.push(pick);
                }
                prop_assert_eq!(once.as_slice().iter().map(|object| **object).collect::<Vec<_>>(), model.clone());
            }
            prop_assert!(objects.iter().all(|object| Arc::strong_count(object) <= 2));
        }
    }

    #[test]
    fn a_set_that_was_cleared_allocates_nothing() {
        let objects: Vec<Arc<usize>> = (0..1000).map(Arc::new).collect();
        let mut once = Once::default();
        for object in &objects {
            once.add(object).unwrap();
        }
        let capacity = (once.all.capacity(), once.slots.capacity());
        for _ in 0..3 {
            once.clear();
            objects.iter().chain(&objects).for_each(|object| once.add(object).unwrap());
            assert_eq!((once.all.len(), once.all.capacity(), once.slots.capacity()), (1000, capacity.0, capacity.1));
        }
    }
}
