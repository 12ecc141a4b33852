//! The result of a stream: full IBs and the resources that they use.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use amdgpu_hw::num::count;
use parking_lot::Mutex;

use super::once::Once;
use crate::{
    cs::{
        EncodeError, Language, Packet, Target,
        ib::{home::Home, memory::IbMemory},
        pm4::IndirectBuffer,
    },
    host_memory::{self, NoHostMemory},
    vamgr::GpuVa,
    winsys::{Binding, Device, ResidencySet},
};

/// A full IB of a list.
#[derive(Debug)]
pub(in crate::cs) struct Ib {
    pub(in crate::cs::record) memory: IbMemory,
    /// With padding and tail.
    pub(in crate::cs::record) dwords: usize,
    /// Without.
    pub(in crate::cs::record) packet_dwords: usize,
    /// The way to the next IB, where it leads through memory that is not the list's.
    pub(in crate::cs::record) detour: Option<Detour>,
}

/// Commands that are not the list's, and jump back into it.
#[derive(Clone, Copy, Debug)]
pub(in crate::cs::record) struct Detour {
    /// The commands, and their length in dwords.
    pub(in crate::cs::record) to: (GpuVa, usize),
    /// Offset in the IB, in dwords, of the jump back that a packet stores behind them.
    pub(in crate::cs::record) patch: usize,
}

/// The IBs and residents recorded by one stream. Emptied, its containers serve the next recording.
#[derive(Debug, Default)]
pub(in crate::cs) struct Part {
    pub(in crate::cs::record) ibs: Vec<Ib>,
    /// Memory that was grown out of; for recording again.
    pub(in crate::cs::record) spare: Vec<IbMemory>,
    /// Lists that are called.
    pub(in crate::cs::record) called: Once<Arc<Recorded>>,
    /// Other memory that must be resident and alive, and, once the stream is closed, everything else that must be.
    pub(in crate::cs::record) residents: Once<Binding>,
    /// Sets whose members must be resident, as they are when the list is submitted.
    pub(in crate::cs::record) sets: Once<ResidencySet>,
    /// The number of residents that the caller keeps: the first ones.
    pub(in crate::cs::record) kept: usize,
    /// The IBs that the kernel is given, where it is given several.
    submitted: Vec<(GpuVa, usize)>,
    pub(in crate::cs::record) home: Home,
}

impl Drop for Part {
    fn drop(&mut self) {
        let ibs = std::mem::take(&mut self.ibs).into_iter().map(|ib| ib.memory);
        self.home.give(ibs.chain(std::mem::take(&mut self.spare)));
    }
}

/// A closed stream, as command lists and queues share it.
#[derive(Debug)]
pub(in crate::cs) struct Recorded {
    target: Target,
    /// Number that no other list of the process has or gets.
    number: u64,
    pub(in crate::cs::record) part: Part,
    /// The first IB: the only one that the kernel is given where they are chained.
    first: (GpuVa, usize),
    /// The address of the device that everything it uses is of, which the IBs keep; 0 if there is none.
    device_address: usize,
    pub(in crate::cs::record) link: Link,
}

/// A list's place in a chain, and the number of its handles.
#[derive(Debug, Default)]
pub(in crate::cs::record) struct Link {
    /// The list behind it. The lock also guards `handles` and the tail of the last IB.
    pub(in crate::cs::record) next: Mutex<Option<Arc<Recorded>>>,
    /// `true` if there is a list behind it: what submissions look at.
    pub(in crate::cs::record) is_chained: AtomicBool,
    /// `true` if it is behind another list, which then holds a reference.
    pub(in crate::cs::record) is_behind: AtomicBool,
    /// Command lists that stand for it. All other references are those of queues, callers and the list before it.
    pub(in crate::cs::record) handles: AtomicUsize,
}

impl Link {
    /// The link of a list that has one handle.
    fn of_one() -> Self {
        let link = Self::default();
        link.handles.store(1, Ordering::Relaxed);
        link
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // One after the other, not each within the drop of the one before: chains may be long.
        let mut next = self.next.get_mut().take();
        while let Some(list) = next {
            list.link.is_behind.store(false, Ordering::Release);
            next = Arc::into_inner(list).and_then(|mut list| list.link.next.get_mut().take());
        }
    }
}

/// The number of the last list that was closed.
static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

impl Recorded {
    /// Closes a part, which has an IB, and whose IBs are linked. It has one handle, for the caller to make.
    ///
    /// # Errors
    ///
    /// [`NoHostMemory`]: the part is gone.
    pub(in crate::cs::record) fn new(target: Target, mut part: Part) -> Result<Self, NoHostMemory> {
        let Part { ibs, called, residents, sets, kept, submitted, .. } = &mut part;
        *kept = residents.as_slice().len();
        // In the order of recording: the same program then asks the kernel the same in every run, and a replay is one.
        for ib in ibs.iter() {
            residents.add(ib.memory.binding())?;
        }
        for list in called.as_slice() {
            list.bindings().try_for_each(|binding| residents.add(binding))?;
            list.sets().iter().try_for_each(|set| sets.add(set))?;
        }
        let device_address = ibs.first().map_or(0, |ib| ib.memory.binding().device_address());
        let is_of_one = residents.as_slice().iter().all(|binding| binding.device_address() == device_address);
        let device_address = if is_of_one { device_address } else { 0 };
        submitted.clear();
        if !has_jumps(target) && ibs.len() > 1 {
            host_memory::extend(submitted, ibs.iter().map(|ib| (ib.memory.address(), ib.dwords)))?;
        }
        let first = ibs.first().map_or((GpuVa::from_48_bits(0), 0), |ib| (ib.memory.address(), ib.dwords));
        let number = LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(Self { target, number, part, first, device_address, link: Link::of_one() })
    }

    /// Returns a number that no other list has, or ever had. A list that is recorded again is another one.
    #[inline]
    pub(in crate::cs) fn number(&self) -> u64 {
        self.number
    }

    /// The ring it was recorded for.
    #[inline]
    pub(in crate::cs) fn target(&self) -> Target {
        self.target
    }

    pub(in crate::cs::record) fn all_ibs(&self) -> &[Ib] {
        &self.part.ibs
    }

    /// Returns the GPU address of each IB, and its length in dwords.
    pub(in crate::cs) fn ibs(&self) -> impl ExactSizeIterator<Item = (GpuVa, usize)> {
        self.part.ibs.iter().map(|ib| (ib.memory.address(), ib.dwords))
    }

    /// The IBs that the kernel is given.
    #[inline]
    pub(in crate::cs) fn submitted_ibs(&self) -> &[(GpuVa, usize)] {
        if self.part.submitted.is_empty() { std::slice::from_ref(&self.first) } else { &self.part.submitted }
    }

    /// Returns the contents of each IB, including padding and tail.
    pub(in crate::cs) fn dwords(&self) -> impl Iterator<Item = Vec<u32>> {
        self.part.ibs.iter().map(|ib| ib.memory.shared_dwords(ib.dwords))
    }

    /// Returns the contents of each IB, without padding and tail.
    pub(in crate::cs::record) fn packets(&self) -> impl Iterator<Item = &[u32]> {
        self.part.ibs.iter().map(|ib| ib.memory.fixed().get(..ib.packet_dwords).unwrap_or_default())
    }

    /// The lists that it calls.
    pub(in crate::cs) fn called(&self) -> &[Arc<Self>] {
        self.part.called.as_slice()
    }

    /// Returns the bindings that it keeps besides its IBs and the lists it calls.
    pub(in crate::cs::record) fn kept(&self) -> &[Binding] {
        self.part.residents.as_slice().get(..self.part.kept).unwrap_or_default()
    }

    /// Returns the bindings that must be resident for it to run, each once.
    #[inline]
    pub(in crate::cs) fn bindings(&self) -> impl ExactSizeIterator<Item = &Binding> {
        self.part.residents.as_slice().iter()
    }

    /// Returns `true` if it leads through memory that is not its own.
    pub(in crate::cs::record) fn has_detours(&self) -> bool {
        self.part.ibs.iter().any(|ib| ib.detour.is_some())
    }

    /// Returns the sets that it keeps, those of the lists it calls included.
    #[inline]
    pub(in crate::cs) fn sets(&self) -> &[ResidencySet] {
        self.part.sets.as_slice()
    }

    /// Returns `true` if all that it uses is of this device.
    #[inline]
    pub(in crate::cs) fn is_of(&self, device: &Device) -> bool {
        self.device_address == device.address()
    }
}

impl Part {
    /// An empty part, with room for one IB.
    pub(in crate::cs::record) fn new(home: Home) -> Result<Self, NoHostMemory> {
        let mut part = Self::default();
        host_memory::reserve(&mut part.ibs, 1)?;
        part.home = home;
        Ok(part)
    }

    /// Makes room for an IB that is full, and, so that [`Part::recycle`] allocates nothing, for the memory of all.
    pub(in crate::cs::record) fn reserve_ib(&mut self) -> Result<(), NoHostMemory> {
        host_memory::reserve(&mut self.ibs, 1)?;
        host_memory::reserve(&mut self.spare, self.ibs.len() + 1)
    }

    /// Forgets what was recorded, and keeps the memory and the containers.
    pub(in crate::cs::record) fn recycle(&mut self) {
        let Self { ibs, spare, called, residents, sets, .. } = self;
        spare.extend(ibs.drain(..).map(|ib| ib.memory));
        called.clear();
        residents.clear();
        sets.clear();
    }

    /// Ends each IB but the last with a jump to the one behind it, whose length is only known now. From here on the tails
    /// alone change.
    ///
    /// # Errors
    ///
    /// [`EncodeError::Field`] when the device has given an address that the ring's generation cannot say.
    pub(in crate::cs::record) fn link(&mut self, target: Target) -> Result<(), EncodeError> {
        for ib in &mut self.ibs {
            ib.memory.fix(ib.dwords - tail_dwords(target).min(ib.dwords));
        }
        for at in 1..self.ibs.len() {
            let (before, behind) = self.ibs.split_at_mut(at);
            if let (Some(from), Some(to)) = (before.last_mut(), behind.first()) {
                let next = (to.memory.address(), to.dwords);
                jump(target, from, Some(from.detour.map_or(next, |detour| detour.to)))?;
                if let (Some(detour), Target::Pm4(language)) = (from.detour, target) {
                    let mut back = [0; IndirectBuffer::LEN];
                    language.chain(&mut back, next.0, count(next.1))?;
                    from.memory.patch(detour.patch, back);
                }
            }
        }
        Ok(())
    }
}

/// Returns `true` if the ring goes from IB to IB on its own, so that the kernel is given only the first.
pub(in crate::cs::record) const fn has_jumps(target: Target) -> bool {
    matches!(target, Target::Pm4(_))
}

/// Dwords behind an IB's packets and padding.
const fn tail_dwords(target: Target) -> usize {
    if has_jumps(target) { IndirectBuffer::LEN } else { 0 }
}

/// Writes a jump to the IB at `to` over the tail of `from`, or fillers. Where the ring has no jumps nothing happens.
pub(in crate::cs::record) fn jump(target: Target, from: &Ib, to: Option<(GpuVa, usize)>) -> Result<(), EncodeError> {
    let Target::Pm4(language) = target else { return Ok(()) };
    let mut tail = [0; IndirectBuffer::LEN];
    match to {
        Some((va, dwords)) => language.chain(&mut tail, va, count(dwords))?,
        None => language.fill(&mut tail),
    }
    from.memory.store_tail(from.dwords - IndirectBuffer::LEN.min(from.dwords), tail);
    Ok(())
}

/// As [`jump`], to an IB that is replayed when the context comes back after a preemption.
pub(in crate::cs::record) fn jump_to_replayed(
    target: Target,
    from: &Ib,
    (va, dwords): (GpuVa, usize),
) -> Result<(), EncodeError> {
    let Target::Pm4(language) = target else { return Ok(()) };
    let mut tail = [0; IndirectBuffer::LEN];
    let packet = IndirectBuffer { preamble: true, ..IndirectBuffer::chain(va, count(dwords)) };
    Packet::encode(&packet, language, &mut tail)?;
    from.memory.store_tail(from.dwords - IndirectBuffer::LEN.min(from.dwords), tail);
    Ok(())
}
