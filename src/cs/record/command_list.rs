//! Recorded streams, ready to be submitted as often as one likes.

use std::sync::Arc;

use amdgpu_hw::num::count;

use crate::{
    cs::{
        EncodeError, Language, Target,
        ib::{home::Home, memory::IbMemory},
        pm4::IndirectBuffer,
    },
    vamgr::GpuVa,
    winsys::{Binding, Device},
};

/// A closed stream: IBs that do not change any more.
///
/// A queue that runs it keeps it alive, so it can be dropped right after submitting; it can be recorded anew once no
/// queue uses it ([`CommandList::record_again`]).
///
/// # How an IB ends
///
/// On the graphics and compute rings every IB ends with four dwords that hold no packet of the recorder
/// ([`IndirectBuffer::LEN`](crate::cs::pm4::IndirectBuffer::LEN)), and these end on a multiple of
/// [`Language::PAD_DWORDS`]. They are a jump to the next IB of the list; in the last one they are a filler, which
/// [`CommandList::chain`] turns into a jump to another list. An IB for the copy engine ends with its last packet and
/// padding.
#[derive(Clone, Debug)]
pub struct CommandList {
    recorded: Arc<Recorded>,
}

/// A full IB of a list.
#[derive(Debug)]
pub(super) struct Ib {
    pub(super) memory: IbMemory,
    /// With padding and tail.
    pub(super) dwords: usize,
    /// Without.
    pub(super) packet_dwords: usize,
}

/// The IBs and residents recorded by one stream.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) ibs: Vec<Ib>,
    /// Memory that was grown out of; for recording again.
    pub(super) spare: Vec<IbMemory>,
    /// Lists that are called.
    pub(super) called: Vec<CommandList>,
    /// Other memory that must be resident and alive.
    pub(super) kept: Vec<Arc<Binding>>,
    pub(super) home: Home,
}

impl Drop for Part {
    fn drop(&mut self) {
        let ibs = std::mem::take(&mut self.ibs).into_iter().map(|ib| ib.memory);
        self.home.give(ibs.chain(std::mem::take(&mut self.spare)));
    }
}

#[derive(Debug)]
struct Recorded {
    target: Target,
    /// More than one where lists are chained.
    parts: Vec<Part>,
    /// Bindings that must be resident: the IBs, and what they call and keep. Each once.
    residents: Vec<Arc<Binding>>,
    /// The IBs that the kernel is given.
    submitted: Vec<(GpuVa, usize)>,
}

/// The reason why lists were not chained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainFault {
    /// Less than two lists.
    #[error("{count} lists cannot be chained")]
    TooFew {
        /// Lists given.
        count: usize,
    },
    /// The ring takes no jumps.
    #[error("{target} cannot jump from IB to IB")]
    NoJumps {
        /// The ring.
        target: Target,
    },
    /// Lists for different rings.
    #[error("list {at} is for {target}, the first for {first}")]
    OtherRing {
        /// The list that differs, from 0.
        at: usize,
        /// Its ring.
        target: Target,
        /// The first list's.
        first: Target,
    },
    /// Lists of different devices.
    #[error("list {at} is of another device")]
    OtherDevice {
        /// The list that differs, from 0.
        at: usize,
    },
    /// No packet can say where the list is.
    #[error("no jump leads to list {at}: {source}")]
    Jump {
        /// The list, from 0.
        at: usize,
        /// The cause.
        source: EncodeError,
    },
    /// A queue runs the list, or another clone exists.
    #[error("list {at} is in use")]
    InUse {
        /// The list, from 0.
        at: usize,
    },
}

/// Lists that were not chained, and why.
#[derive(Debug, thiserror::Error)]
#[error("{fault}")]
pub struct NotChained {
    /// The lists, as they were.
    pub lists: Vec<CommandList>,
    /// The reason.
    pub fault: ChainFault,
}

impl CommandList {
    pub(super) fn new(target: Target, part: Part) -> Self {
        Self::of_parts(target, vec![part])
    }

    pub(super) fn of_parts(target: Target, parts: Vec<Part>) -> Self {
        let mut residents: Vec<_> = parts.iter().flat_map(Part::residents).cloned().collect();
        // By address, not by pointer: the same program then asks the kernel the same in every run, and a replay is one.
        residents.sort_unstable_by_key(|binding| binding.address().as_u64());
        residents.dedup_by_key(|binding| Arc::as_ptr(binding));
        let ibs = parts.iter().flat_map(|part| &part.ibs).map(|ib| (ib.memory.address(), ib.dwords));
        let submitted = ibs.take(if has_jumps(target) { 1 } else { usize::MAX }).collect();
        Self { recorded: Arc::new(Recorded { target, parts, residents, submitted }) }
    }

    /// The ring it was recorded for.
    pub fn target(&self) -> Target {
        self.recorded.target
    }

    /// Length of all IBs, in dwords, padding and chain packets included.
    pub fn len(&self) -> usize {
        self.ibs().map(|(_, dwords)| dwords).sum()
    }

    /// Always false: an empty stream is closed with fillers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn all_ibs(&self) -> impl Iterator<Item = &Ib> {
        self.recorded.parts.iter().flat_map(|part| &part.ibs)
    }

    /// Returns the GPU address of each IB, and its length in dwords; at most [`MAX_IB_DWORDS`](crate::cs::MAX_IB_DWORDS).
    pub fn ibs(&self) -> impl Iterator<Item = (GpuVa, usize)> {
        self.all_ibs().map(|ib| (ib.memory.address(), ib.dwords))
    }

    /// The IBs that the kernel is given: the first where they are chained, else all of them.
    pub fn submitted_ibs(&self) -> impl ExactSizeIterator<Item = (GpuVa, usize)> {
        self.recorded.submitted.iter().copied()
    }

    /// Returns the contents of each IB, including padding and tail, for a decoder. Slow to read unless the list was recorded
    /// in cached memory.
    pub fn dwords(&self) -> impl Iterator<Item = &[u32]> {
        self.all_ibs().map(|ib| ib.memory.as_slice().get(..ib.dwords).unwrap_or_default())
    }

    /// Returns the contents of each IB, without padding and tail.
    pub(super) fn packets(&self) -> impl Iterator<Item = &[u32]> {
        self.all_ibs().map(|ib| ib.memory.as_slice().get(..ib.packet_dwords).unwrap_or_default())
    }

    /// Returns `true` if it calls other lists.
    pub fn has_calls(&self) -> bool {
        self.recorded.parts.iter().any(|part| !part.called.is_empty())
    }

    /// The lists that it calls.
    pub(in crate::cs) fn called(&self) -> impl Iterator<Item = &Self> {
        self.recorded.parts.iter().flat_map(|part| &part.called)
    }

    /// Returns the bindings that it keeps besides its IBs and the lists it calls.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Arc<Binding>> {
        self.recorded.parts.iter().flat_map(|part| &part.kept)
    }

    /// Returns the target that it was recorded for, and its parts.
    ///
    /// # Errors
    ///
    /// The list itself, when a queue still runs it or another clone exists.
    pub(super) fn into_parts(self) -> Result<(Target, Vec<Part>), Self> {
        let Recorded { target, parts, .. } = Arc::try_unwrap(self.recorded).map_err(|recorded| Self { recorded })?;
        Ok((target, parts))
    }

    /// Makes one list of several, each of which ends with a jump to the next, so that the kernel is given one IB where
    /// it would be given many. The lists are in order and must not be running; [`CommandList::unchain`] takes them
    /// apart again.
    ///
    /// Nothing can be chained twice or be recorded anew meanwhile, because the lists are owned by the result. RADV
    /// patches command buffers at each submission, and undoes it at the next.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_chain`.
    ///
    /// # Errors
    ///
    /// [`NotChained`], which holds the lists as they were.
    pub fn chain(mut lists: Vec<Self>) -> Result<Self, NotChained> {
        if let Err(fault) = Self::check_chain(&mut lists) {
            return Err(NotChained { lists, fault });
        }
        let Some(target) = lists.first().map(Self::target) else {
            return Err(NotChained { lists, fault: ChainFault::TooFew { count: 0 } });
        };
        // Nobody else holds them, as was checked.
        let recorded = lists.into_iter().filter_map(|list| Arc::into_inner(list.recorded));
        let mut parts: Vec<Part> = recorded.flat_map(|recorded| recorded.parts).collect();
        for at in 1..parts.len() {
            let (before, behind) = parts.split_at_mut(at);
            let ends = before.last_mut().and_then(|part| part.ibs.last_mut());
            if let (Some(from), Some(to)) = (ends, behind.first().and_then(|part| part.ibs.first())) {
                // It was tried in `check_chain`.
                let jumped = jump(target, tail(from), to);
                debug_assert_eq!(jumped, Ok(()));
            }
        }
        Ok(Self::of_parts(target, parts))
    }

    fn check_chain(lists: &mut [Self]) -> Result<(), ChainFault> {
        let count = lists.len();
        let (Some(first), 2..) = (lists.first().cloned(), count) else { return Err(ChainFault::TooFew { count }) };
        if !has_jumps(first.target()) {
            return Err(ChainFault::NoJumps { target: first.target() });
        }
        let device = first.recorded.residents.first().map(|binding| binding.device().clone());
        for (at, list) in lists.iter().enumerate() {
            if list.target() != first.target() {
                return Err(ChainFault::OtherRing { at, target: list.target(), first: first.target() });
            }
            if device.as_ref().is_some_and(|device| !list.is_of(device)) {
                return Err(ChainFault::OtherDevice { at });
            }
            if let Some(to) = list.all_ibs().next() {
                jump(list.target(), &mut [0; IndirectBuffer::LEN], to)
                    .map_err(|source| ChainFault::Jump { at, source })?;
            }
        }
        drop(first);
        match lists.iter_mut().position(|list| Arc::get_mut(&mut list.recorded).is_none()) {
            Some(at) => Err(ChainFault::InUse { at }),
            None => Ok(()),
        }
    }

    /// Takes a chained list apart into those it was made of. Their last IBs end with fillers of their generation again,
    /// where RADV writes a filler that GFX6 does not know (`radv_amdgpu_cs_unchain`).
    ///
    /// # Errors
    ///
    /// The list itself, when a queue still runs it or another clone exists.
    pub fn unchain(self) -> Result<Vec<Self>, Self> {
        let Recorded { target, parts, .. } = Arc::try_unwrap(self.recorded).map_err(|recorded| Self { recorded })?;
        let apart = |mut part: Part| {
            if let Some(last) = part.ibs.last_mut() {
                target.fill(tail(last));
            }
            Self::new(target, part)
        };
        Ok(parts.into_iter().map(apart).collect())
    }

    /// Returns the bindings that must be resident for it to run.
    pub(in crate::cs) fn bindings(&self) -> impl ExactSizeIterator<Item = &Arc<Binding>> {
        self.recorded.residents.iter()
    }

    pub(in crate::cs) fn is_of(&self, device: &Device) -> bool {
        self.bindings().all(|binding| binding.is_of(device))
    }
}

impl Part {
    fn residents(&self) -> impl Iterator<Item = &Arc<Binding>> {
        let ibs = self.ibs.iter().map(|ib| ib.memory.binding());
        ibs.chain(self.called.iter().flat_map(CommandList::bindings)).chain(&self.kept)
    }

    /// Ends each IB but the last with a jump to the one behind it, whose length is only known now.
    ///
    /// # Errors
    ///
    /// [`EncodeError::Field`] when the device has given an address that the ring's generation cannot say.
    pub(super) fn link(&mut self, target: Target) -> Result<(), EncodeError> {
        for at in 1..self.ibs.len() {
            let (before, behind) = self.ibs.split_at_mut(at);
            if let (Some(from), Some(to)) = (before.last_mut(), behind.first()) {
                jump(target, tail(from), to)?;
            }
        }
        Ok(())
    }
}

/// Returns `true` if the ring goes from IB to IB on its own, so that the kernel is given only the first.
const fn has_jumps(target: Target) -> bool {
    matches!(target, Target::Pm4(_))
}

/// The dwords behind an IB's packets and padding; none for the copy engine.
fn tail(ib: &mut Ib) -> &mut [u32] {
    let start = ib.dwords.saturating_sub(IndirectBuffer::LEN);
    ib.memory.as_mut_slice().get_mut(start..ib.dwords).unwrap_or_default()
}

/// Writes a jump to `to` over `tail`. Where the ring has no jumps nothing happens.
fn jump(target: Target, tail: &mut [u32], to: &Ib) -> Result<(), EncodeError> {
    match target {
        Target::Pm4(language) => language.chain(tail, to.memory.address(), count(to.dwords)),
        Target::Sdma(_) => Ok(()),
    }
}
