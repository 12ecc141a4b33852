//! Arrays for requests that are on the stack if they are short.

use crate::uapi::Errno;

/// An array for one request. Up to 16 elements are stored on the stack, so that a wait for a few objects allocates nothing.
#[derive(Default)]
pub(super) struct Few<T> {
    few: [T; 16],
    many: Vec<T>,
}

impl<T> Few<T> {
    /// Fills the array.
    ///
    /// # Errors
    ///
    /// ENOMEM if host memory for a longer array is exhausted.
    pub(super) fn fill(&mut self, items: impl ExactSizeIterator<Item = T>) -> Result<&[T], Errno> {
        let len = items.len();
        let Some(few) = self.few.get_mut(..len) else {
            self.many.try_reserve_exact(len).map_err(|_| Errno::ENOMEM)?;
            self.many.extend(items);
            return Ok(&self.many);
        };
        few.iter_mut().zip(items).for_each(|(place, item)| *place = item);
        Ok(few)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_are_on_the_stack_and_more_are_all_there() {
        for len in [0, 1, 16, 17, 300] {
            let mut few = Few::<u32>::default();
            assert_eq!(few.fill(0..len).unwrap(), (0..len).collect::<Vec<_>>());
            assert_eq!(few.many.is_empty(), len <= 16, "{len}");
        }
    }
}
