//! A set that counts how often each member was added.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hash, Hasher},
};

use amdgpu_hw::num::wide;

/// The members by key, each with the number of times it was added.
///
/// Adding a member takes one hash look-up, and removing one at most three, regardless of the size of the set. Members are kept in a
/// vector, so that iteration reads contiguous memory. The last member moves to the place of a removed one.
#[derive(Debug)]
pub(super) struct CountedSet<K, T> {
    /// Indices into `list`.
    places: HashMap<K, usize, BuildHasherDefault<Folding>>,
    list: Vec<Member<K, T>>,
}

#[derive(Debug)]
struct Member<K, T> {
    key: K,
    value: T,
    count: u64,
}

/// A hash of one number: a multiplication whose upper and lower halves are combined by XOR. The keys are addresses of this
/// process, so an attacker cannot choose colliding keys; the standard library's hash protects against that and would
/// dominate the cost of a look-up.
#[derive(Default)]
struct Folding(u64);

impl Hasher for Folding {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        /// 2^64 divided by the golden ratio, rounded to an odd number: it spreads numbers that differ in few bits.
        const SPREAD: u128 = 0x9E37_79B9_7F4A_7C15;
        let product = u128::from(self.0 ^ number) * SPREAD;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write_u64(wide(number));
    }
}

impl<K, T> Default for CountedSet<K, T> {
    fn default() -> Self {
        Self { places: HashMap::default(), list: Vec::new() }
    }
}

impl<K: Copy + Eq + Hash, T> CountedSet<K, T> {
    /// Returns the number of distinct members.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the members in no particular order.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.list.iter().map(|member| &member.value)
    }

    /// Adds a member `times` times. Returns `true` if it was not in the set.
    pub(super) fn add(&mut self, key: K, times: u64, value: impl FnOnce() -> T) -> bool {
        let place = *self.places.entry(key).or_insert(self.list.len());
        if let Some(member) = self.list.get_mut(place) {
            member.count = member.count.saturating_add(times);
            return false;
        }
        self.list.push(Member { key, value: value(), count: times });
        true
    }

    /// Undoes `times` additions of a member. Returns the member if no addition is left and it was removed.
    pub(super) fn remove(&mut self, key: K, times: u64) -> Option<T> {
        let place = *self.places.get(&key)?;
        let member = self.list.get_mut(place)?;
        member.count = member.count.saturating_sub(times);
        if member.count > 0 {
            return None;
        }
        self.places.remove(&key);
        let gone = self.list.swap_remove(place);
        if let Some(moved) = self.list.get(place) {
            self.places.insert(moved.key, place);
        }
        Some(gone.value)
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, collections::BTreeMap, hash::Hasher};

    use proptest::prelude::*;

    use super::*;

    thread_local! {
        /// The number of key comparisons on this thread.
        static COMPARISONS: Cell<u64> = const { Cell::new(0) };
    }

    /// A key that counts its comparisons.
    #[derive(Clone, Copy, Debug)]
    struct Counting(u64);

    impl PartialEq for Counting {
        fn eq(&self, other: &Self) -> bool {
            COMPARISONS.set(COMPARISONS.get() + 1);
            self.0 == other.0
        }
    }

    impl Eq for Counting {}

    impl Hash for Counting {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    /// W-31: RADV walks its list to remove a member.
    #[test]
    fn leaving_a_set_compares_as_few_members_however_large_it_is() {
        const SIZES: [u64; 2] = if cfg!(miri) { [10, 100] } else { [100, 20_000] };
        for size in SIZES {
            let mut set = CountedSet::default();
            (0..size).for_each(|key| assert!(set.add(Counting(key), 1, || key)));
            COMPARISONS.set(0);
            // Removal in order of insertion and in reverse order: a linear search from either end would be slow for one
            // half.
            for key in (0..size / 2).chain((size / 2..size).rev()) {
                assert_eq!(set.remove(Counting(key), 1), Some(key));
            }
            // Two look-ups for the member and one for the member that moves; a few comparisons are added by colliding
            // hashes.
            let each = COMPARISONS.get() / size;
            assert!(each <= 4, "{each} comparisons a removal among {size}");
            assert_eq!(set.len(), 0);
        }
    }

    /// The hash table takes an index from the lower bits of a hash and distinguishes members by the upper seven.
    #[test]
    fn addresses_that_differ_in_few_bits_have_hashes_that_differ_in_lower_and_upper_bits() {
        let hash = |address: u64| {
            let mut folding = Folding::default();
            address.hash(&mut folding);
            folding.finish()
        };
        for step in [16, 64, 4096, 1 << 20] {
            let hashes: Vec<_> = (0..1 << 12).map(|index| hash(0x7f00_0000_0000 + index * step)).collect();
            let distinct = |of: fn(u64) -> u64| {
                hashes.iter().map(|&hash| of(hash)).collect::<std::collections::BTreeSet<_>>().len()
            };
            // Of random hashes, 63 % would be distinct.
            assert!(distinct(|hash| hash & 0xfff) > 2000, "places of addresses {step} apart");
            assert_eq!(distinct(|hash| hash >> 57), 128, "marks of addresses {step} apart");
        }
    }

    #[test]
    fn additions_are_counted_beyond_32_bits() {
        let mut set = CountedSet::default();
        assert!(set.add(7, 1 << 32, || "member"));
        assert!(!set.add(7, u64::from(u32::MAX), || "another"));
        assert_eq!(set.remove(7, 1 << 32), None);
        assert_eq!(set.remove(7, u64::from(u32::MAX) - 1), None);
        assert_eq!(set.remove(7, 1), Some("member"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        #[test]
        fn a_member_stays_until_it_was_removed_as_often_as_it_was_added(
            steps in prop::collection::vec((any::<bool>(), 0..8_u64, 1..4_u64), 1..if cfg!(miri) { 30 } else { 200 }),
        ) {
            let (mut set, mut model) = (CountedSet::default(), BTreeMap::<u64, u64>::new());
            for (adds, key, times) in steps {
                if adds {
                    prop_assert_eq!(set.add(key, times, || key), !model.contains_key(&key));
                    *model.entry(key).or_default() += times;
                } else {
                    let left = model.get(&key).map(|count| count.saturating_sub(times));
                    prop_assert_eq!(set.remove(key, times), (left == Some(0)).then_some(key));
                    match left {
                        Some(0) => drop(model.remove(&key)),
                        Some(left) => drop(model.insert(key, left)),
                        None => {}
                    }
                }
                let mut members: Vec<_> = set.iter().copied().collect();
                members.sort_unstable();
                prop_assert_eq!(members, model.keys().copied().collect::<Vec<_>>());
            }
        }
    }
}
