//! The memory of one IB.

use std::{
    ptr::NonNull,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use amdgpu_hw::num::wide;

use crate::{
    cs::{IbPlacement, RecordResult as Result},
    uapi::VaFlags,
    vamgr::{GpuVa, VaRequest},
    winsys::{Binding, Bo, BoRequest, Device, Mapping, PAGE_SIZE},
};

/// Bytes of a dword. Lengths of IBs are in dwords unless a name says bytes.
const DWORD: u64 = wide(size_of::<u32>());

/// A GPU buffer of dwords, written by the CPU through its only mapping and only read by the GPU.
///
/// Dwords are recorded into a window. [`IbMemory::take`] returns its first dwords and moves its start behind them. Unless the
/// memory is cached ([`IbPlacement::Cached`]), the CPU should store dwords in order and not read them.
///
/// # Invariants
///
/// * `dwords` points at `capacity` dwords of `mapping`.
/// * `used <= limit <= capacity`, and `fixed <= capacity`.
/// * While the object is shared, the first `fixed` dwords do not change, and all others are accessed atomically.
/// * The BO is reachable through this object alone: it is never exported, never mapped twice, and its binding gives the
///   GPU no right to write. Safe code cannot send requests that would change this
///   ([`Harmless`](crate::uapi::Harmless)), so only the owner of this object ever writes to it.
#[derive(Debug)]
pub(in crate::cs) struct IbMemory {
    dwords: NonNull<u32>,
    /// Start of the window, which is the number of dwords handed out so far.
    used: usize,
    /// End of the window.
    limit: usize,
    capacity: usize,
    /// Number of dwords at the start that do not change while the object is shared.
    fixed: usize,
    placement: IbPlacement,
    // Fields drop from top to bottom: the CPU mapping must be gone before the GPU binding.
    _mapping: Mapping,
    binding: Binding,
}

// SAFETY: the pointer leads into the mapping that the object owns, which any thread may access.
unsafe impl Send for IbMemory {}
// SAFETY: through `&self` the first `fixed` dwords are only read, because what writes to them takes `&mut self`. All other dwords
// are loaded and stored through `AtomicU32` alone (`tail`), so that `store_tail` in one thread and `shared_dwords` in another are no
// data race. `fixed` and the window change through `&mut self` only, and `Mapping` and `Binding` are `Sync`.
unsafe impl Sync for IbMemory {}

impl IbMemory {
    /// Allocates, binds and maps memory for at least `capacity` dwords. Its window is empty.
    pub(in crate::cs) fn new(device: &Device, capacity: usize, placement: IbPlacement) -> Result<Self> {
        let size = (wide(capacity) * DWORD).next_multiple_of(PAGE_SIZE);
        let lease = device.addresses().allocate(VaRequest::new(size))?;
        let (domains, flags) = placement.domains_and_flags();
        let bo = Bo::create(device, BoRequest { size, alignment: PAGE_SIZE, domains, flags })?;
        let flags = VaFlags::READABLE | VaFlags::EXECUTABLE;
        let binding = Binding::new(&bo, lease, flags).map_err(|(_lease, error)| error)?;
        let mapping = Mapping::new(&bo)?;
        // INVARIANT: a mapping is page-aligned and holds the BO's `size` bytes, which are at least `capacity` dwords.
        Ok(Self {
            dwords: mapping.as_ptr().cast(),
            used: 0,
            limit: 0,
            capacity: (size / DWORD) as usize,
            fixed: 0,
            placement,
            _mapping: mapping,
            binding,
        })
    }

    /// Returns the size of the memory in dwords.
    pub(in crate::cs) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the placement.
    pub(in crate::cs) fn placement(&self) -> IbPlacement {
        self.placement
    }

    /// Returns the GPU address.
    pub(in crate::cs) fn address(&self) -> GpuVa {
        self.binding.address()
    }

    /// Returns the binding, for the BO list.
    pub(in crate::cs) fn binding(&self) -> &Binding {
        &self.binding
    }

    /// Returns the number of dwords handed out.
    pub(in crate::cs) fn used(&self) -> usize {
        self.used
    }

    /// Returns the length of the window in dwords.
    #[inline]
    pub(in crate::cs) fn left(&self) -> usize {
        self.limit - self.used
    }

    /// Moves the start of the window to the start of the memory, and its end to `limit` dwords or the end of the memory.
    pub(in crate::cs) fn rewind(&mut self, limit: usize) {
        self.used = 0;
        self.limit = limit.min(self.capacity);
    }

    /// Closes the window: no more dwords can be handed out.
    pub(in crate::cs) fn shut(&mut self) {
        self.limit = self.used;
    }

    /// Hands out the next `dwords` dwords; `None` if the window is shorter.
    #[inline]
    pub(in crate::cs) fn take(&mut self, dwords: usize) -> Option<&mut [u32]> {
        if dwords > self.limit - self.used {
            return None;
        }
        // SAFETY: by the invariant `used` is at most `capacity`, so this stays within or just behind the mapping.
        let start = unsafe { self.dwords.add(self.used) };
        self.used += dwords;
        // SAFETY: `used + dwords <= limit <= capacity` was checked, so these dwords are mapped and aligned as long as
        // `self` lives; mapped bytes are a valid u32 whatever they hold; by the invariant no other code writes them while
        // `self` is borrowed exclusively.
        Some(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), dwords) })
    }

    /// Hands out `N` dwords like [`IbMemory::take`], for a length known at compile time.
    #[inline]
    pub(in crate::cs) fn take_array<const N: usize>(&mut self) -> Option<&mut [u32; N]> {
        self.take(N)?.try_into().ok()
    }

    /// Returns the whole window without handing it out; [`IbMemory::advance`] counts the dwords that were written.
    #[inline]
    pub(in crate::cs) fn window(&mut self) -> &mut [u32] {
        // SAFETY: as in `take`.
        let start = unsafe { self.dwords.add(self.used) };
        // SAFETY: `used + (limit - used) = limit <= capacity`; else as in `take`.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.left()) }
    }

    /// Returns the dwords handed out so far and the window behind them.
    #[inline]
    pub(in crate::cs) fn chunk(&mut self) -> &mut [u32] {
        // SAFETY: `limit <= capacity` dwords are mapped and aligned as long as `self` lives, which is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.dwords.as_ptr(), self.limit) }
    }

    /// Returns the first dwords of the memory, for writes of a poisoned stream, whose content is discarded.
    pub(in crate::cs) fn first_dwords<const N: usize>(&mut self) -> Option<&mut [u32; N]> {
        // SAFETY: `capacity` dwords are mapped and aligned as long as `self` lives, which is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.dwords.as_ptr(), self.capacity) }.first_chunk_mut()
    }

    /// Hands out `dwords` dwords that were written to the window, at most all of it.
    #[inline]
    pub(in crate::cs) fn advance(&mut self, dwords: usize) {
        self.used += dwords.min(self.limit - self.used);
    }

    /// Returns the next `dwords` dwords of the window, or all of it if it is shorter, and a counter to which the caller adds the
    /// dwords that it writes.
    #[inline]
    pub(in crate::cs) fn lend(&mut self, dwords: usize) -> (&mut [u32], &mut usize) {
        let dwords = dwords.min(self.limit - self.used);
        // SAFETY: as in `take`.
        let start = unsafe { self.dwords.add(self.used) };
        // SAFETY: `used + dwords <= limit <= capacity`; else as in `take`. The borrower holds `self` exclusively as long as
        // the slice lives.
        let room = unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), dwords) };
        // INVARIANT: the borrower adds at most the length of its room.
        (room, &mut self.used)
    }

    /// Moves the end of the window by `dwords` dwords towards the end of the memory, for the packets that end an IB.
    pub(in crate::cs) fn extend(&mut self, dwords: usize) {
        self.limit = self.limit.saturating_add(dwords).min(self.capacity);
    }

    /// Declares that the first `dwords` dwords do not change while the object is shared.
    pub(in crate::cs) fn fix(&mut self, dwords: usize) {
        self.fixed = dwords.min(self.capacity);
    }

    /// Returns the dwords that do not change while the object is shared.
    pub(in crate::cs) fn fixed(&self) -> &[u32] {
        // SAFETY: `fixed <= capacity` dwords are mapped and aligned as long as `self` lives, mapped bytes are always a valid
        // u32 whatever they hold, and by the invariant they are not written while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.dwords.as_ptr(), self.fixed) }
    }

    /// Copies the first `dwords` dwords. Those that are not fixed may be changed concurrently.
    pub(in crate::cs) fn shared_dwords(&self, dwords: usize) -> Vec<u32> {
        let fixed = self.fixed().iter().copied().take(dwords);
        fixed.chain((self.fixed..dwords).filter_map(|at| Some(self.tail(at)?.load(Relaxed)))).collect()
    }

    /// Stores dwords from index `at` on, atomically. Skips dwords that are fixed or outside the memory.
    pub(in crate::cs) fn store_tail<const N: usize>(&self, at: usize, dwords: [u32; N]) {
        for (at, dword) in (at..).zip(dwords) {
            if let Some(place) = self.tail(at) {
                place.store(dword, Relaxed);
            }
        }
    }

    /// Overwrites dwords from index `at` on. Does nothing if they are not inside the recorded dwords and the window.
    pub(in crate::cs) fn patch<const N: usize>(&mut self, at: usize, dwords: [u32; N]) {
        if let Some(place) = at.checked_add(N).and_then(|end| self.chunk().get_mut(at..end)) {
            place.copy_from_slice(&dwords);
        }
    }

    /// Returns a dword that may change while the object is shared; `None` if it is fixed or outside the memory.
    fn tail(&self, at: usize) -> Option<&AtomicU32> {
        if at < self.fixed || at >= self.capacity {
            return None;
        }
        // SAFETY: `at < capacity`, so this is within the mapping.
        let place = unsafe { self.dwords.add(at) };
        // SAFETY: the dword is mapped and aligned as long as `self` lives. It is not among the first `fixed`, the only ones
        // that shared references of another kind lead to, and exclusive ones need `&mut self`.
        Some(unsafe { AtomicU32::from_ptr(place.as_ptr()) })
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{SimKernel, profile};
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Rewind(usize),
        Take(usize),
        TakeThree,
        /// Writes the whole window and counts this many dwords as used.
        Window(usize),
        /// Borrows this many dwords (first) and uses this many of them (second).
        Lend(usize, usize),
        Extend(usize),
        Shut,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            1 => (0..1100_usize).prop_map(Step::Rewind),
            4 => (0..90_usize).prop_map(Step::Take),
            2 => Just(Step::TakeThree),
            3 => (0..90_usize).prop_map(Step::Window),
            3 => (0..90_usize, 0..90_usize).prop_map(|(room, used)| Step::Lend(room, used)),
            2 => prop_oneof![0..20_usize, Just(usize::MAX)].prop_map(Step::Extend),
            1 => Just(Step::Shut),
        ]
    }

    fn memory() -> IbMemory {
        let device = Device::new(SimKernel::open(profile("navi21").unwrap())).unwrap();
        IbMemory::new(&device, 1000, IbPlacement::System).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The model is a vector, with the window as two indices.
        #[test]
        fn the_window_is_the_dwords_behind_those_handed_out(steps in prop::collection::vec(step(), 1..60)) {
            let mut memory = memory();
            let (mut model, mut used, mut limit) = (vec![0; memory.capacity()], 0, 0);
            prop_assert_eq!(memory.capacity(), 1024, "a whole page");
            for (value, step) in (1..).zip(steps) {
                match step {
                    Step::Rewind(to) => {
                        memory.rewind(to);
                        (used, limit) = (0, to.min(1024));
                    }
                    Step::Take(count) => {
                        let taken = memory.take(count);
                        prop_assert_eq!(taken.as_ref().map(|room| room.len()), (used + count <= limit).then_some(count));
                        if let Some(room) = taken {
                            room.fill(value);
                            model[used..used + count].fill(value);
                            used += count;
                        }
                    }
                    Step::TakeThree => {
                        let taken = memory.take_array().map(|room: &mut [u32; 3]| room.fill(value));
                        prop_assert_eq!(taken.is_some(), used + 3 <= limit);
                        if taken.is_some() {
                            model[used..used + 3].fill(value);
                            used += 3;
                        }
                    }
                    Step::Window(count) => {
                        prop_assert_eq!(memory.window().len(), limit - used);
                        memory.window().fill(value);
                        memory.advance(count);
                        model[used..limit].fill(value);
                        used = limit.min(used + count);
                    }
                    Step::Lend(room, count) => {
                        let (lent, handed_out) = memory.lend(room);
                        prop_assert_eq!(lent.len(), room.min(limit - used));
                        let count = count.min(lent.len());
                        lent[..count].fill(value);
                        *handed_out += count;
                        model[used..used + count].fill(value);
                        used += count;
                    }
                    Step::Extend(by) => {
                        memory.extend(by);
                        limit = limit.saturating_add(by).min(1024);
                    }
                    Step::Shut => {
                        memory.shut();
                        limit = used;
                    }
                }
                prop_assert_eq!((memory.used(), memory.left()), (used, limit - used));
                prop_assert_eq!(memory.chunk(), &model[..limit]);
            }
        }

        #[test]
        fn only_dwords_behind_the_fixed_ones_are_stored_to(fixed in 0..1100_usize, at in 0..1100_usize) {
            let mut memory = memory();
            memory.rewind(1024);
            memory.window().fill(7);
            memory.fix(fixed);
            memory.store_tail(at, [1, 2, 3]);
            let mut model = vec![7; 1024];
            for (place, value) in (at..).zip(1..4).filter(|&(place, _)| place >= fixed && place < 1024) {
                model[place] = value;
            }
            prop_assert_eq!(memory.fixed(), &model[..fixed.min(1024)]);
            for len in [0, 1, fixed.min(1024), at.min(1024), 1024] {
                prop_assert_eq!(memory.shared_dwords(len), &model[..len]);
            }
            prop_assert_eq!(memory.shared_dwords(2000), model, "there are no more");
        }
    }
}
