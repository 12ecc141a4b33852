//! Sets of memory types in the form of `memoryTypeBits`.

use std::fmt;

/// A set of memory-type indices, 0 to 31: Vulkan's `memoryTypeBits`.
///
/// ```
/// use amdgpu_winsys::heaps::TypeMask;
///
/// let allowed = TypeMask::from_bits(0b1011); // from VkMemoryRequirements
/// let wanted = TypeMask::from_iter([1, 2, 3]);
/// assert_eq!(allowed.intersection(wanted).iter().collect::<Vec<_>>(), [1, 3]);
/// assert!(allowed.contains(0) && !allowed.contains(2));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct TypeMask(u32);

impl TypeMask {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Returns the set whose bits are set in `bits`.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the set as bits: bit `i` is set if type `i` is in the set.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns `true` if type `index` is in the set. Returns `false` for indices of 32 and above.
    pub const fn contains(self, index: u32) -> bool {
        index < u32::BITS && self.0 >> index & 1 == 1
    }

    /// Returns the intersection of both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns `true` if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the indices in the set, ascending.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..u32::BITS).filter(move |&index| self.contains(index))
    }
}

/// Indices from 32 on are ignored, because the set has no bits for them.
impl FromIterator<u32> for TypeMask {
    fn from_iter<I: IntoIterator<Item = u32>>(indices: I) -> Self {
        Self(indices.into_iter().fold(0, |bits, index| bits | 1u32.checked_shl(index).unwrap_or(0)))
    }
}

impl fmt::Debug for TypeMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TypeMask({:#x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_holds_the_indices_it_was_made_of() {
        let mask: TypeMask = [6, 1, 4, 32, 4000].into_iter().collect();
        assert_eq!(mask, TypeMask::from_bits(0x52));
        assert_eq!(mask.iter().collect::<Vec<_>>(), [1, 4, 6]);
        assert!(!mask.contains(32) && !mask.contains(u32::MAX));
    }
}
