//! Chains of structures (`pNext`).

use ash::vk::{BaseInStructure, BaseOutStructure, TaggedStructure};

/// The maximum length of a chain that is followed, so that a circular chain does not cause an endless loop.
const LONGEST: usize = 1024;

/// Returns the first structure of a type in the chain after `head`. Unknown structures are skipped.
pub(crate) fn find<'a, T: TaggedStructure>(head: &'a impl TaggedStructure) -> Option<&'a T> {
    let mut next = std::ptr::from_ref(head).cast::<BaseInStructure<'a>>();
    for _ in 0..LONGEST {
        // SAFETY: `head` has the layout of `BaseInStructure`, as `TaggedStructure` promises, and so has by valid usage each
        // structure of a chain, which lives for the length of the call.
        next = unsafe { next.as_ref() }?.p_next;
        // SAFETY: as above.
        let here = unsafe { next.as_ref() }?;
        if here.s_type == T::STRUCTURE_TYPE {
            // SAFETY: a structure says its type with `s_type`.
            return unsafe { next.cast::<T>().as_ref() };
        }
    }
    None
}

/// Returns all structures of a type in the chain after `head`, for structures of which a chain may have several.
pub(crate) fn all<'a, T: TaggedStructure + 'a>(head: &'a impl TaggedStructure) -> impl Iterator<Item = &'a T> {
    let mut next = std::ptr::from_ref(head).cast::<BaseInStructure<'a>>();
    let structures = (0..LONGEST).map_while(move |_| {
        // SAFETY: `head` has the layout of `BaseInStructure`, as `TaggedStructure` promises, and so has by valid usage each
        // structure of a chain, which lives for the length of the call.
        next = unsafe { next.as_ref() }?.p_next;
        // SAFETY: as above.
        unsafe { next.as_ref() }
    });
    structures.filter(|here| here.s_type == T::STRUCTURE_TYPE).filter_map(|here| {
        // SAFETY: a structure says its type with `s_type`.
        unsafe { std::ptr::from_ref(here).cast::<T>().as_ref() }
    })
}

/// Returns the first structure of a type in the chain after `head`, for writing.
pub(crate) fn find_mut<'a, T: TaggedStructure>(head: &'a mut impl TaggedStructure) -> Option<&'a mut T> {
    let mut next = std::ptr::from_mut(head).cast::<BaseOutStructure<'a>>();
    for _ in 0..LONGEST {
        // SAFETY: `head` has the layout of `BaseOutStructure`, as `TaggedStructure` promises, and so has by valid usage each
        // structure of a chain, which this command alone has for the length of the call.
        next = unsafe { next.as_ref() }?.p_next;
        // SAFETY: as above.
        let here = unsafe { next.as_ref() }?;
        if here.s_type == T::STRUCTURE_TYPE {
            // SAFETY: a structure says its type with `s_type`.
            return unsafe { next.cast::<T>().as_mut() };
        }
    }
    None
}
