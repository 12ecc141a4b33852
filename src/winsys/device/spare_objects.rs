//! Spare host memory of objects that were released.

use std::{any::Any, fmt, sync::Arc};

use spin::mutex::SpinMutex;

/// Maximum number of objects in a stack.
const KEPT: usize = 8;

/// A stack of released objects, whose host memory new objects reuse. They hold no device and no kernel object.
///
/// The lock is only tried, and held for a few steps. Thread-local storage would need none, but a value with a destructor there
/// keeps a shared library loaded until the thread exits.
#[derive(Default)]
pub(crate) struct SpareObjects(SpinMutex<Stack>);

#[derive(Default)]
struct Stack {
    objects: [Option<Arc<dyn Any + Send + Sync>>; KEPT],
    count: usize,
}

impl SpareObjects {
    /// Removes the object that was kept last; `None` if there is none of type `T` or the stack is locked.
    #[inline]
    pub(crate) fn take<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let mut stack = self.0.try_lock()?;
        let top = stack.count.checked_sub(1)?;
        stack.count = top;
        let object = stack.objects.get_mut(top)?.take()?;
        drop(stack);
        object.downcast().ok()
    }

    /// Keeps a released object, unless the stack is full or locked.
    #[inline]
    pub(crate) fn keep<T: Any + Send + Sync>(&self, object: Arc<T>) {
        let Some(mut stack) = self.0.try_lock() else { return };
        let top = stack.count;
        if let Some(place) = stack.objects.get_mut(top) {
            *place = Some(object);
            stack.count = top + 1;
        }
    }
}

impl fmt::Debug for SpareObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpareObjects").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_kept_last_is_taken_first_and_more_than_fit_are_dropped() {
        let spare = SpareObjects::default();
        assert!(spare.take::<u32>().is_none());
        let objects: Vec<_> = (0..10_u32).map(Arc::new).collect();
        for object in &objects {
            spare.keep(Arc::clone(object));
        }
        assert_eq!(objects.iter().map(Arc::strong_count).collect::<Vec<_>>(), [2, 2, 2, 2, 2, 2, 2, 2, 1, 1]);
        let taken: Vec<_> = std::iter::from_fn(|| spare.take::<u32>()).map(|object| *object).collect();
        assert_eq!(taken, [7, 6, 5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn an_object_of_another_type_is_not_taken() {
        let spare = SpareObjects::default();
        spare.keep(Arc::new(1_u32));
        assert!(spare.take::<u64>().is_none());
    }
}
