//! Tables of handles. Handles are numbers starting at 1, and a new handle gets the lowest free number.

use std::collections::BTreeSet;

/// The maximum number of handles of a kind in a file. The kernel's limit is its memory.
pub(crate) const MOST_HANDLES: u32 = i32::MAX as u32;

/// A table of objects with numbers.
#[derive(Debug)]
pub(crate) struct Ids<T> {
    slots: Vec<Option<T>>,
    free: BTreeSet<u32>,
    limit: u32,
}

impl<T> Ids<T> {
    /// Creates a table with at most `limit` numbers.
    pub(crate) const fn new(limit: u32) -> Self {
        Self { slots: Vec::new(), free: BTreeSet::new(), limit }
    }

    /// Inserts an object at the lowest free number; returns the object if there is none.
    pub(crate) fn insert(&mut self, thing: T) -> Result<u32, T> {
        if let Some(id) = self.free.pop_first() {
            self.slots[id as usize - 1] = Some(thing);
            return Ok(id);
        }
        if self.slots.len() >= self.limit as usize {
            return Err(thing);
        }
        self.slots.push(Some(thing));
        Ok(self.slots.len() as u32)
    }

    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.slots.get((id as usize).checked_sub(1)?)?.as_ref()
    }

    pub(crate) fn remove(&mut self, id: u32) -> Option<T> {
        let thing = self.slots.get_mut((id as usize).checked_sub(1)?)?.take()?;
        self.free.insert(id);
        Some(thing)
    }

    /// Replaces the object of a number in use and returns the old object.
    pub(crate) fn replace(&mut self, id: u32, thing: T) -> Result<T, T> {
        match self.slots.get_mut((id as usize).wrapping_sub(1)) {
            Some(Some(slot)) => Ok(std::mem::replace(slot, thing)),
            _ => Err(thing),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (1..).zip(&self.slots).filter_map(|(id, slot)| Some((id, slot.as_ref()?)))
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Removes all objects and returns them.
    pub(crate) fn clear(&mut self) -> Vec<T> {
        self.free.clear();
        std::mem::take(&mut self.slots).into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_number_comes_first() {
        let mut ids = Ids::new(3);
        assert_eq!([ids.insert('a'), ids.insert('b'), ids.insert('c')], [Ok(1), Ok(2), Ok(3)]);
        assert_eq!(ids.insert('d'), Err('d'));
        assert_eq!((ids.remove(2), ids.remove(1), ids.remove(2)), (Some('b'), Some('a'), None));
        assert_eq!((ids.insert('e'), ids.insert('f')), (Ok(1), Ok(2)));
        assert_eq!((ids.get(0), ids.get(2), ids.get(9)), (None, Some(&'f'), None));
        assert_eq!(ids.len(), 3);
    }
}
