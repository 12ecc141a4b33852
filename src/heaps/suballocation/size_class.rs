//! The entry sizes of slabs.

use amdgpu_hw::num::index;

/// The base-2 logarithms of the smallest and the largest entry size.
const MIN_ORDER: u32 = 8;
const MAX_ORDER: u32 = 20;

/// A size of slab entries: a power of two from 256 bytes to 1 MiB, or three quarters of one.
///
/// The sizes of three quarters limit the waste: an entry is at most a third larger than requested, whereas with powers of two
/// alone half of it could be unused.
///
/// Source: Mesa 25.0.7 `src/gallium/winsys/amdgpu/drm/amdgpu_bo.c`, `get_slab_entry_alignment` and
/// `amdgpu_bo_slab_alloc`; `src/gallium/auxiliary/pipebuffer/pb_slab.c`, `pb_slab_alloc_reclaimed`.
///
/// ```
/// use amdgpu_winsys::heaps::suballocation::SizeClass;
///
/// let class = SizeClass::fitting(600, 256).ok_or("no class")?;
/// assert_eq!((class.entry_size(), class.alignment()), (768, 256)); // three quarters of 1024
/// assert_eq!(SizeClass::fitting(600, 512).map(SizeClass::entry_size), Some(1024));
/// assert_eq!(SizeClass::fitting(SizeClass::LARGEST + 1, 1), None);
/// assert_eq!(SizeClass::all().count(), SizeClass::COUNT);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeClass(u8);

impl SizeClass {
    /// Size of the smallest entries in bytes.
    pub const SMALLEST: u64 = 1 << MIN_ORDER;
    /// Size of the largest entries in bytes.
    pub const LARGEST: u64 = 1 << MAX_ORDER;
    /// Number of size classes: 13 powers of two, and 12 sizes of three quarters.
    pub const COUNT: usize = 2 * index(MAX_ORDER - MIN_ORDER) + 1;

    /// Returns all classes in ascending order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT as u8).map(Self)
    }

    /// Returns the smallest class whose entries hold `size` bytes at a multiple of `alignment`; `None` if no class does.
    pub fn fitting(size: u64, alignment: u64) -> Option<Self> {
        let needed = size.max(alignment).max(Self::SMALLEST);
        if needed > Self::LARGEST {
            return None;
        }
        let power = 2 * (needed.next_power_of_two().ilog2() - MIN_ORDER) as u8;
        let three_quarters = power.checked_sub(1).map(Self);
        let fits = |class: &Self| class.entry_size() >= size && class.alignment() >= alignment;
        Some(three_quarters.filter(fits).unwrap_or(Self(power)))
    }

    /// Returns the size of an entry in bytes.
    pub const fn entry_size(self) -> u64 {
        let power = self.power();
        if self.is_power_of_two() { power } else { power / 4 * 3 }
    }

    /// Returns the alignment in bytes. The offset of every entry is a multiple of it.
    pub const fn alignment(self) -> u64 {
        if self.is_power_of_two() { self.power() } else { self.power() / 4 }
    }

    /// Returns the size of a slab in bytes: 2 MiB or the page-table fragment, whichever is larger. If the entry size is three
    /// quarters of a power of two and fewer than five entries would fit, it is the smallest power of two that holds five.
    pub fn slab_size(self, pte_fragment: u64) -> u64 {
        let usual = pte_fragment.max(2 << 20);
        let five = 5 * self.entry_size();
        if !self.is_power_of_two() && five > usual { five.next_power_of_two() } else { usual }
    }

    /// Returns the index of the class, from 0 to [`SizeClass::COUNT`] - 1.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    const fn is_power_of_two(self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// Returns the power of two that the entry size is equal to or three quarters of.
    const fn power(self) -> u64 {
        1 << (MIN_ORDER + self.0.div_ceil(2) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_the_powers_of_two_and_three_quarters_of_them() {
        let sizes: Vec<u64> = SizeClass::all().map(SizeClass::entry_size).collect();
        assert_eq!(sizes[..7], [256, 384, 512, 768, 1024, 1536, 2048]);
        assert_eq!((sizes.len(), sizes[24], sizes[23]), (25, 1 << 20, 768 << 10));
        assert!(sizes.is_sorted());
    }

    #[test]
    fn the_least_class_that_holds_size_and_alignment_is_chosen() {
        // Miri is slow.
        let sizes = if cfg!(miri) { 40 } else { 8192 };
        for size in (1..=sizes).chain([(1 << 20) - 1, 1 << 20, (768 << 10) + 1]) {
            for alignment in (0..=20).map(|exponent| 1 << exponent) {
                let fits = |class: &SizeClass| class.entry_size() >= size && class.alignment() >= alignment;
                assert_eq!(SizeClass::fitting(size, alignment), SizeClass::all().find(fits), "{size} {alignment}");
            }
        }
        assert_eq!(SizeClass::fitting((1 << 20) + 1, 1), None);
        assert_eq!(SizeClass::fitting(1, 2 << 20), None);
    }

    #[test]
    fn a_slab_wastes_less_than_a_fifth() {
        for class in SizeClass::all() {
            let (slab, entry) = (class.slab_size(64 << 10), class.entry_size());
            assert!(slab % entry * 5 < slab, "{class:?}");
            assert!(slab >= 2 << 20 && slab.is_power_of_two());
            assert_eq!(entry % class.alignment(), 0);
        }
        assert_eq!(SizeClass::fitting(768 << 10, 1).unwrap().slab_size(2 << 20), 4 << 20);
    }
}
