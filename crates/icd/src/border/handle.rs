//! Objects behind handles.

use std::{fmt, ops::Deref, ptr::NonNull};

use ash::vk::Handle;

use super::live;

/// The word that the loader expects at the start of a dispatchable object. The loader overwrites it with its own pointer.
///
/// Source: `ICD_LOADER_MAGIC` in the Vulkan loader's `vk_icd.h`.
const LOADER_MAGIC: usize = 0x01CD_C0DE;

/// An object that has a Vulkan handle.
pub(crate) trait Object: Send + Sync + 'static {
    /// The type of the handle.
    type Handle: Handle;
}

/// An object in the memory that its handle points to. The loader owns the first word once it has the handle.
#[repr(C)]
struct Place<T> {
    loader: usize,
    object: T,
}

/// The owner of an object that has a handle. The handle becomes invalid on drop.
pub(crate) struct Handed<T: Object>(NonNull<Place<T>>);

// SAFETY: it owns a `T`, which is `Send` and `Sync` as every object is; the loader's word is not touched after `new`.
unsafe impl<T: Object> Send for Handed<T> {}

// SAFETY: as above; a shared one gives out `&T` alone.
unsafe impl<T: Object> Sync for Handed<T> {}

impl<T: Object> Handed<T> {
    /// Moves an object to a fixed address, and creates a handle for it.
    pub(crate) fn new(object: T) -> Self {
        let place = NonNull::from(Box::leak(Box::new(Place { loader: LOADER_MAGIC, object })));
        live::enter(place.addr().get() as u64, T::Handle::TYPE);
        Self(place)
    }

    /// Returns the handle.
    pub(crate) fn handle(&self) -> T::Handle {
        T::Handle::from_raw(self.0.as_ptr().expose_provenance() as u64)
    }

    /// Transfers ownership of the object to its handle; [`Handed::of`] takes it back.
    pub(crate) fn give(self) -> T::Handle {
        let handle = self.handle();
        std::mem::forget(self);
        handle
    }

    /// Removes the object from its place; the handle is no longer valid.
    #[inline]
    pub(crate) fn take(self) -> T {
        live::leave(self.0.addr().get() as u64);
        let place = self.0;
        std::mem::forget(self);
        // SAFETY: the pointer is of a `Box` that `new` leaked, and the owner that was forgotten was its only one.
        unsafe { Box::from_raw(place.as_ptr()) }.object
    }

    /// Takes back ownership of an object from its handle; `None` for the null handle, and in a debug build for a handle that is not
    /// live.
    ///
    /// # Safety
    ///
    /// `handle` was returned by [`Handed::give`] and is not used again, as valid usage of every command that destroys an object
    /// requires.
    pub(super) unsafe fn of(handle: T::Handle) -> Option<Self> {
        place::<T>(handle).map(Self)
    }
}

impl<T: Object> Deref for Handed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the object lives until `drop`, and nothing else than the loader writes to the place, which has the first
        // word only.
        unsafe { &(*self.0.as_ptr()).object }
    }
}

impl<T: Object> Drop for Handed<T> {
    fn drop(&mut self) {
        live::leave(self.0.addr().get() as u64);
        // SAFETY: the pointer is of a `Box` that `new` leaked, and this is its one owner.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl<T: Object> fmt::Debug for Handed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:p}", T::Handle::TYPE, self.0)
    }
}

/// Returns the object in memory of a handle; `None` if the handle is invalid.
fn place<T: Object>(handle: T::Handle) -> Option<NonNull<Place<T>>> {
    let raw = handle.as_raw();
    let address = usize::try_from(raw).ok().filter(|_| live::is_live(raw, T::Handle::TYPE))?;
    NonNull::new(std::ptr::with_exposed_provenance_mut(address))
}

/// Returns the object of a handle that was passed to a command; `None` for the null handle, and in a debug build for a handle that
/// is not live.
///
/// Use it only for handles that were passed to the current command: by valid usage they are null or live, and they are not
/// destroyed while the command uses them.
pub(crate) fn object<'a, T: Object>(handle: T::Handle) -> Option<&'a T> {
    let place = place::<T>(handle)?;
    // SAFETY: a handle that `Handed` gave away, by valid usage of the command; the object is dropped by the command that
    // destroys the handle, which by valid usage runs after this one.
    Some(unsafe { &(*place.as_ptr()).object })
}

/// Declares types as the objects of Vulkan handles, and the handles as arguments.
macro_rules! objects {
    ($($T:ty: $Handle:ty, $lost:expr;)*) => {$(
        impl Object for $T {
            type Handle = $Handle;
        }

        impl crate::border::Argument<$Handle> for &$T {
            const LOST: vk::Result = $lost;

            unsafe fn take(raw: $Handle) -> Option<Self> {
                object(raw)
            }
        }

        impl crate::border::Argument<$Handle> for Option<&$T> {
            unsafe fn take(raw: $Handle) -> Option<Self> {
                Some(object(raw))
            }
        }

        impl crate::border::Argument<$Handle> for Option<Handed<$T>> {
            unsafe fn take(raw: $Handle) -> Option<Self> {
                // SAFETY: the handle that a destroying command got.
                Some(unsafe { Handed::of(raw) })
            }
        }
    )*};
}

pub(super) use objects;
