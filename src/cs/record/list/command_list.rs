//! Command lists: closed streams, which can be submitted any number of times.

use std::sync::Arc;

use super::recorded::{Part, Recorded};
use crate::{
    cs::Target,
    host_memory::{ArcRoom, NoHostMemory},
    vamgr::GpuVa,
    winsys::Device,
};

/// A closed stream: IBs that no longer change, ready for submission.
///
/// A queue keeps a submitted list alive, so the list can be dropped right after submission. Once no queue uses it, its memory can
/// be reused for a new stream ([`CommandList::record_again`]).
///
/// # How an IB ends
///
/// On the graphics and compute rings every IB ends with four dwords without packets of the recorder
/// ([`IndirectBuffer::LEN`](crate::cs::pm4::IndirectBuffer::LEN)). They end at a multiple of
/// [`Language::PAD_DWORDS`](crate::cs::Language::PAD_DWORDS). They are a jump to the next IB of the list. In the last IB they are a
/// NOP, which [`CommandList::chain`] replaces by a jump to another list. An IB for the copy engine ends with its last packet and
/// padding.
///
/// ```
/// use amdgpu_winsys::{cs::{Stream, Submission, pm4}, winsys::Deadline};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let mut stream = Stream::new(&device, target, 64)?;
/// stream.push(&pm4::EndOfPipe::fence(memory.address(), 42))?;
/// let list = stream.finish()?;
/// assert_eq!((list.target(), list.ibs().len(), list.len() % 8), (target.into(), 1, 0)); // padded
/// let used = [memory.binding().clone()];
/// let fence = queue.submit(&Submission { lists: &[&list, &list], memory: &used, ..Submission::default() })?;
/// drop(list); // the queue keeps it
/// assert!(fence.wait(Deadline::NEVER)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CommandList {
    recorded: Arc<Recorded>,
}

impl Clone for CommandList {
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.recorded))
    }
}

impl Drop for CommandList {
    fn drop(&mut self) {
        self.recorded.remove_handle();
    }
}

impl CommandList {
    pub(in crate::cs::record) fn new(target: Target, part: Part) -> Result<Self, NoHostMemory> {
        let room = ArcRoom::new()?;
        Ok(Self { recorded: room.fill(Recorded::new(target, part)?) })
    }

    /// Creates another handle.
    pub(in crate::cs) fn of(recorded: Arc<Recorded>) -> Self {
        recorded.add_handle();
        Self { recorded }
    }

    /// Returns the shared part of the list, to which queues and other lists refer.
    #[inline]
    pub(in crate::cs) fn recorded(&self) -> &Arc<Recorded> {
        &self.recorded
    }

    /// Returns the ring and generation that the list was recorded for.
    #[inline]
    pub fn target(&self) -> Target {
        self.recorded.target()
    }

    /// Returns `true` if the list was recorded for this device.
    #[inline]
    pub fn is_of(&self, device: &Device) -> bool {
        self.recorded.is_of(device)
    }

    /// Returns the length of all IBs in dwords, including padding and jumps.
    pub fn len(&self) -> usize {
        self.ibs().map(|(_, dwords)| dwords).sum()
    }

    /// Returns `false`: a list is never empty, because the IB of an empty stream is filled with NOPs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the GPU address and the length in dwords of each IB; an IB has at most [`MAX_IB_DWORDS`](crate::cs::MAX_IB_DWORDS).
    /// IBs of lists that are [chained](CommandList::chain) to this one are not included.
    pub fn ibs(&self) -> impl ExactSizeIterator<Item = (GpuVa, usize)> {
        self.recorded.ibs()
    }

    /// Returns the IBs that are submitted to the kernel: the first one if the IBs are chained, otherwise all.
    pub fn submitted_ibs(&self) -> impl ExactSizeIterator<Item = (GpuVa, usize)> {
        self.recorded.submitted_ibs().iter().copied()
    }

    /// Returns the dwords of each IB, including padding and jumps, for a decoder. This is slow unless the list was recorded in
    /// cached memory.
    pub fn dwords(&self) -> impl Iterator<Item = Vec<u32>> {
        self.recorded.dwords()
    }

    /// Returns `true` if the list calls other lists.
    pub fn has_calls(&self) -> bool {
        !self.recorded.called().is_empty()
    }
}
