//! Containers that grow, or say that there is no host memory, where `std`'s own methods end the process.

use std::{
    hint::black_box,
    mem::MaybeUninit,
    ops::{Deref, DerefMut},
    sync::Arc,
};

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

/// Host memory set aside for an object behind an `Arc`, which has no constructor that can fail.
///
/// Taken before the kernel is asked for anything, so that an operation without memory is refused as a whole. It is as large as what
/// the `Arc` allocates, and is given back right before that: allocators keep what a thread freed last for its next request of this
/// size, so nothing but another thread of a process at its very end can take it in between. There the process ends, as it
/// would have without this.
#[derive(Debug)]
pub(crate) struct ArcRoom<T>(Vec<Counted<T>>);

/// The allocation of an `Arc`: two counts and the object.
#[derive(Debug)]
#[repr(C)]
struct Counted<T>(usize, usize, MaybeUninit<T>);

impl<T> ArcRoom<T> {
    #[inline]
    pub(crate) fn new() -> Result<Self, NoHostMemory> {
        Ok(Self(room(1)?))
    }

    /// Makes the object.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that the object is made where it stays, and not copied there")]
    pub(crate) fn fill(self, value: T) -> Arc<T> {
        drop(self.0);
        Arc::new(value)
    }
}

/// Makes one object of all values, as [`ArcRoom`] does of one.
pub(crate) fn arc_of<T>(values: Vec<T>) -> Result<Arc<[T]>, NoHostMemory> {
    const { assert!(size_of::<T>() >= size_of::<usize>() && align_of::<T>() <= align_of::<usize>()) };
    // Two more values are as large as the counts, or larger.
    drop(room::<MaybeUninit<T>>(values.len() + 2)?);
    Ok(Arc::from(values))
}

/// Host memory set aside for a `Box` that is made elsewhere, as [`ArcRoom`].
#[derive(Debug)]
pub(crate) struct BoxRoom<T>(Vec<MaybeUninit<T>>);

impl<T> BoxRoom<T> {
    pub(crate) fn new() -> Result<Self, NoHostMemory> {
        Ok(Self(room(1)?))
    }

    /// Gives the memory back, for the box that is made now.
    pub(crate) fn give_back(self) {
        drop(self.0);
    }
}

/// Memory for `count` values.
#[inline]
fn room<T>(count: usize) -> Result<Vec<T>, NoHostMemory> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| NoHostMemory)?;
    // An allocation that nobody sees is none: the compiler may leave it out together with its end.
    black_box(room.as_ptr());
    Ok(room)
}

/// A box whose making can fail: `Box::new` ends the process without memory, and a vector of one does not.
#[derive(Debug)]
pub(crate) struct TryBox<T>(Box<[T; 1]>);

impl<T> TryBox<T> {
    pub(crate) fn new(value: T) -> Result<Self, NoHostMemory> {
        let mut one = room(1)?;
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

#[cfg(test)]
mod tests {
    use std::alloc::Layout;

    use super::*;

    #[test]
    fn room_is_as_large_as_what_an_arc_allocates() {
        // `Arc<T>` has two counts in front of its object: the object's offset tells where it begins.
        #[repr(align(64))]
        struct Aligned([u8; 100]);
        for (room, counted) in [
            (Layout::new::<Counted<u8>>(), Layout::new::<(usize, usize, u8)>()),
            (Layout::new::<Counted<[u64; 9]>>(), Layout::new::<(usize, usize, [u64; 9])>()),
            (Layout::new::<Counted<Aligned>>(), Layout::from_size_align(192, 64).unwrap()),
        ] {
            assert_eq!(room, counted);
        }
        let made = ArcRoom::new().unwrap().fill(Aligned([7; 100]));
        assert_eq!((made.0, Arc::strong_count(&made)), ([7; 100], 1));
    }
}
