//! Containers whose growth returns an error if host memory is exhausted, where the methods of `std` abort the process.

use std::{
    hint::black_box,
    mem::MaybeUninit,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use triomphe::UniqueArc;

/// The error of a container that cannot grow because host memory is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoHostMemory;

/// Reserves room for `count` more values.
#[inline]
pub(crate) fn reserve<T>(into: &mut Vec<T>, count: usize) -> Result<(), NoHostMemory> {
    if into.capacity() - into.len() >= count { Ok(()) } else { grow(into, count) }
}

#[cold]
fn grow<T>(into: &mut Vec<T>, count: usize) -> Result<(), NoHostMemory> {
    into.try_reserve(count).map_err(|_| NoHostMemory)
}

/// Appends a value. If there is no room, the value is dropped.
#[inline]
pub(crate) fn push<T>(into: &mut Vec<T>, value: T) -> Result<(), NoHostMemory> {
    if into.len() == into.capacity() {
        return grow_and_push(into, value);
    }
    into.push(value);
    Ok(())
}

/// Not inlined, so that a loop of pushes need not save registers for a call that it rarely makes.
#[cold]
#[inline(never)]
fn grow_and_push<T>(into: &mut Vec<T>, value: T) -> Result<(), NoHostMemory> {
    grow(into, 1)?;
    into.push(value);
    Ok(())
}

/// Appends all values, or none if there is no room.
#[inline]
pub(crate) fn extend<T>(into: &mut Vec<T>, values: impl ExactSizeIterator<Item = T>) -> Result<(), NoHostMemory> {
    reserve(into, values.len())?;
    into.extend(values);
    Ok(())
}

/// Host memory reserved for an `Arc`, which has no fallible constructor.
///
/// It is allocated before any request is made, so that an operation without memory fails as a whole. It has the size of the
/// `Arc`'s allocation and is freed immediately before that. Allocators keep a block that a thread has just freed for the
/// thread's next request of this size, so another thread can take it only if the process is almost out of memory. The
/// process then aborts, as it would have without this reservation.
#[derive(Debug)]
pub(crate) struct ArcRoom<T>(Vec<Counted<T>>);

/// The allocation of an `Arc`: two reference counts and the object.
#[derive(Debug)]
#[repr(C)]
struct Counted<T>(usize, usize, MaybeUninit<T>);

impl<T> ArcRoom<T> {
    #[inline]
    pub(crate) fn new() -> Result<Self, NoHostMemory> {
        Ok(Self(room(1)?))
    }

    /// Creates the object in the reserved memory.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "constructs the object in place instead of copying it")]
    pub(crate) fn fill(self, value: T) -> Arc<T> {
        drop(self.0);
        Arc::new(value)
    }
}

/// Creates a `UniqueArc`, which is shared later. Its constructor can fail, so it needs no [`ArcRoom`]; it has no weak references.
#[inline]
pub(crate) fn unique<T>(value: T) -> Result<UniqueArc<T>, NoHostMemory> {
    UniqueArc::try_new(value).map_err(|_| NoHostMemory)
}

/// Creates an `Arc` of several values, like [`ArcRoom`] for one value.
pub(crate) fn arc_of<T>(values: Vec<T>) -> Result<Arc<[T]>, NoHostMemory> {
    const { assert!(size_of::<T>() >= size_of::<usize>() && align_of::<T>() <= align_of::<usize>()) };
    // Two more values are at least as large as the reference counts.
    drop(room::<MaybeUninit<T>>(values.len() + 2)?);
    Ok(Arc::from(values))
}

/// Host memory reserved for a `Box` that is created elsewhere, like [`ArcRoom`].
#[derive(Debug)]
pub(crate) struct BoxRoom<T>(Vec<MaybeUninit<T>>);

impl<T> BoxRoom<T> {
    pub(crate) fn new() -> Result<Self, NoHostMemory> {
        Ok(Self(room(1)?))
    }

    /// Frees the memory for the box that is created next.
    pub(crate) fn give_back(self) {
        drop(self.0);
    }
}

/// Allocates memory for `count` values.
#[inline]
fn room<T>(count: usize) -> Result<Vec<T>, NoHostMemory> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| NoHostMemory)?;
    // Without this, the compiler may remove the allocation together with its release.
    black_box(room.as_ptr());
    Ok(room)
}

/// A box with a fallible constructor. `Box::new` aborts the process if memory is exhausted; reserving a vector of one does
/// not.
#[derive(Debug)]
pub(crate) struct TryBox<T>(Box<[T; 1]>);

impl<T> TryBox<T> {
    pub(crate) fn new(value: T) -> Result<Self, NoHostMemory> {
        let mut one = room(1)?;
        one.push(value);
        // The vector has no spare capacity, so the conversion does not allocate.
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
        // The two counts precede the object in an `Arc<T>`, and the object's alignment determines its offset.
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
