//! The recorded result of a stream: its IBs and the resources that they use.

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

/// A closed IB of a list.
#[derive(Debug)]
pub(in crate::cs) struct Ib {
    pub(in crate::cs::record) memory: IbMemory,
    /// Length with padding and jump, in dwords.
    pub(in crate::cs::record) dwords: usize,
    /// Length without padding and jump, in dwords.
    pub(in crate::cs::record) packet_dwords: usize,
    /// The commands outside the list that run between this IB and the next.
    pub(in crate::cs::record) detour: Option<Detour>,
}

/// Commands outside the list that jump back into it.
#[derive(Clone, Copy, Debug)]
pub(in crate::cs::record) struct Detour {
    /// GPU address and length in dwords of the commands.
    pub(in crate::cs::record) to: (GpuVa, usize),
    /// Offset in the IB, in dwords, of the jump back, which a packet copies to the end of the commands.
    pub(in crate::cs::record) patch: usize,
}

/// The IBs and resident memory of a stream. After it is emptied, its containers are reused for the next recording.
#[derive(Debug, Default)]
pub(in crate::cs) struct Part {
    pub(in crate::cs::record) ibs: Vec<Ib>,
    /// Memory that is not in use, kept for the next IBs.
    pub(in crate::cs::record) spare: Vec<IbMemory>,
    /// The lists that this list calls.
    pub(in crate::cs::record) called: Once<Arc<Recorded>>,
    /// Other memory that must be alive and resident. Once the stream is closed, this includes the IBs and the memory of the called
    /// lists.
    pub(in crate::cs::record) residents: Once<Binding>,
    /// Sets whose members at the time of submission must be resident.
    pub(in crate::cs::record) sets: Once<ResidencySet>,
    /// Memory for stores that are never read, which is one of the residents.
    pub(in crate::cs::record) scratch: Option<GpuVa>,
    /// The number of residents that the caller added; they come first.
    pub(in crate::cs::record) kept: usize,
    /// The IBs for the kernel if there are several; empty if the first one alone is submitted.
    submitted: Vec<(GpuVa, usize)>,
    pub(in crate::cs::record) home: Home,
}

impl Drop for Part {
    fn drop(&mut self) {
        let ibs = std::mem::take(&mut self.ibs).into_iter().map(|ib| ib.memory);
        self.home.give(ibs.chain(std::mem::take(&mut self.spare)));
    }
}

/// A closed stream, shared by command lists and queues.
#[derive(Debug)]
pub(in crate::cs) struct Recorded {
    target: Target,
    /// A number that is unique in the process and never reused.
    number: u64,
    pub(in crate::cs::record) part: Part,
    /// The first IB, which is the only submitted one if the IBs are chained.
    first: (GpuVa, usize),
    /// The address of the device to which all used memory belongs; 0 if it is not a single one. The IBs keep the device alive.
    device_address: usize,
    pub(in crate::cs::record) link: Link,
}

/// The position of a list in a chain, and the number of its handles.
#[derive(Debug, Default)]
pub(in crate::cs::record) struct Link {
    /// The list that is chained to this one. The lock also guards `handles` and the tail of the last IB.
    pub(in crate::cs::record) next: Mutex<Option<Arc<Recorded>>>,
    /// `true` if a list is chained to this one; submissions read it without the lock.
    pub(in crate::cs::record) is_chained: AtomicBool,
    /// `true` if this list is chained to another list, which then holds a reference to it.
    pub(in crate::cs::record) is_behind: AtomicBool,
    /// Number of command lists that refer to it. All other references are from queues, callers and the previous list of the chain.
    pub(in crate::cs::record) handles: AtomicUsize,
}

impl Link {
    /// Returns the link of a list with one handle.
    fn of_one() -> Self {
        let link = Self::default();
        link.handles.store(1, Ordering::Relaxed);
        link
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Drops the lists in a loop instead of recursively, because chains may be long.
        let mut next = self.next.get_mut().take();
        while let Some(list) = next {
            list.link.is_behind.store(false, Ordering::Release);
            next = Arc::into_inner(list).and_then(|mut list| list.link.next.get_mut().take());
        }
    }
}

/// The number of the list that was closed last.
static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

impl Recorded {
    /// Closes a part that has at least one IB and whose IBs are linked. The caller creates the one handle.
    ///
    /// # Errors
    ///
    /// [`NoHostMemory`] if the process has no memory left; the part is dropped.
    pub(in crate::cs::record) fn new(target: Target, mut part: Part) -> Result<Self, NoHostMemory> {
        let Part { ibs, called, residents, sets, kept, submitted, .. } = &mut part;
        *kept = residents.as_slice().len();
        // In recording order, so that the same program makes the same requests in every run, as a replay requires.
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

    /// Returns a number that is unique in the process and never reused. A list that is recorded again gets another number.
    #[inline]
    pub(in crate::cs) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the ring and generation that the list was recorded for.
    #[inline]
    pub(in crate::cs) fn target(&self) -> Target {
        self.target
    }

    pub(in crate::cs::record) fn all_ibs(&self) -> &[Ib] {
        &self.part.ibs
    }

    /// Returns the GPU address and the length in dwords of each IB.
    pub(in crate::cs) fn ibs(&self) -> impl ExactSizeIterator<Item = (GpuVa, usize)> {
        self.part.ibs.iter().map(|ib| (ib.memory.address(), ib.dwords))
    }

    /// Returns the IBs that are submitted to the kernel.
    #[inline]
    pub(in crate::cs) fn submitted_ibs(&self) -> &[(GpuVa, usize)] {
        if self.part.submitted.is_empty() { std::slice::from_ref(&self.first) } else { &self.part.submitted }
    }

    /// Returns the dwords of each IB, including padding and jump.
    pub(in crate::cs) fn dwords(&self) -> impl Iterator<Item = Vec<u32>> {
        self.part.ibs.iter().map(|ib| ib.memory.shared_dwords(ib.dwords))
    }

    /// Returns the dwords of each IB, without padding and jump.
    pub(in crate::cs::record) fn packets(&self) -> impl Iterator<Item = &[u32]> {
        self.part.ibs.iter().map(|ib| ib.memory.fixed().get(..ib.packet_dwords).unwrap_or_default())
    }

    /// Returns the lists that this list calls.
    pub(in crate::cs) fn called(&self) -> &[Arc<Self>] {
        self.part.called.as_slice()
    }

    /// Returns the bindings that the list keeps besides its own IBs and those of the lists that it calls.
    pub(in crate::cs::record) fn kept(&self) -> &[Binding] {
        self.part.residents.as_slice().get(..self.part.kept).unwrap_or_default()
    }

    /// Returns the bindings that must be resident while the list runs, each once.
    #[inline]
    pub(in crate::cs) fn bindings(&self) -> impl ExactSizeIterator<Item = &Binding> {
        self.part.residents.as_slice().iter()
    }

    /// Returns `true` if the list jumps through commands outside it.
    pub(in crate::cs::record) fn has_detours(&self) -> bool {
        self.part.ibs.iter().any(|ib| ib.detour.is_some())
    }

    /// Returns the residency sets of the list and of the lists that it calls.
    #[inline]
    pub(in crate::cs) fn sets(&self) -> &[ResidencySet] {
        self.part.sets.as_slice()
    }

    /// Returns `true` if all memory that the list uses belongs to this device.
    #[inline]
    pub(in crate::cs) fn is_of(&self, device: &Device) -> bool {
        self.device_address == device.address()
    }
}

impl Part {
    /// Creates an empty part with capacity for one IB.
    pub(in crate::cs::record) fn new(home: Home) -> Result<Self, NoHostMemory> {
        let mut part = Self::default();
        host_memory::reserve(&mut part.ibs, 1)?;
        part.home = home;
        Ok(part)
    }

    /// Reserves capacity for one more closed IB, and for the memory of all IBs in `spare`, so that [`Part::recycle`] does not
    /// allocate.
    pub(in crate::cs::record) fn reserve_ib(&mut self) -> Result<(), NoHostMemory> {
        host_memory::reserve(&mut self.ibs, 1)?;
        host_memory::reserve(&mut self.spare, self.ibs.len() + 1)
    }

    /// Discards the recorded state, and keeps the memory and the containers.
    pub(in crate::cs::record) fn recycle(&mut self) {
        let Self { ibs, spare, called, residents, sets, scratch, .. } = self;
        spare.extend(ibs.drain(..).map(|ib| ib.memory));
        called.clear();
        residents.clear();
        sets.clear();
        *scratch = None;
    }

    /// Ends each IB except the last with a jump to the next, whose length is now known. After this call only the tails change.
    ///
    /// # Errors
    ///
    /// [`EncodeError::Field`] if the ring's generation cannot encode an address of the device.
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

/// Returns `true` if the ring can jump from IB to IB, so that only the first one is submitted.
pub(in crate::cs::record) const fn has_jumps(target: Target) -> bool {
    matches!(target, Target::Pm4(_))
}

/// Returns the number of dwords after the packets and padding of an IB.
const fn tail_dwords(target: Target) -> usize {
    if has_jumps(target) { IndirectBuffer::LEN } else { 0 }
}

/// Writes a jump to the IB at `to`, or a NOP, over the tail of `from`. Does nothing if the ring has no jumps.
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

/// Writes a jump like [`jump`], to an IB that is executed again after a preemption.
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
