//! Execution of command lists within streams: by a call if the ring supports it, otherwise by a copy.

use amdgpu_hw::num::count;

use super::{list::recorded::Detour, stream::StreamLevel};
use crate::{
    cs::{
        CommandList, EncodeError, Language, Packet, RecordError, RecordResult as Result, Stream, Target,
        pm4::{self, AcquireMem, CacheActions, IndirectBuffer, Ring, WriteData},
    },
    host_memory::NoHostMemory,
    vamgr::GpuVa,
    winsys::{Error as WinsysError, GfxLevel},
};

/// The permitted ways for [`Stream::execute`] to include a list.
///
/// ```
/// use amdgpu_winsys::cs::{Execution, Inclusion, Stream, pm4};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let mut secondary = Stream::secondary(&device, target, 64)?;
/// secondary.push(&pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH))?;
/// let secondary = secondary.finish()?;
/// let mut primary = Stream::new(&device, target, 64)?;
/// assert_eq!(primary.execute(&secondary, Inclusion::Auto)?, Execution::Called);
/// assert_eq!(primary.execute(&secondary, Inclusion::Copy)?, Execution::Copied);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inclusion {
    /// Calls the list if this is possible, and copies its packets otherwise.
    #[default]
    Auto,
    /// Always copies the packets of the list. Needed for lists with indirect draws on GFX6 and GFX7, which must not be called.
    Copy,
}

/// The way in which [`Stream::execute`] included a list.
///
/// ```
/// use amdgpu_winsys::cs::{Execution, Inclusion, Stream, pm4};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let compute = pm4::Target::compute(device.info().gfx_level);
/// let secondary = Stream::secondary(&device, compute, 64)?.finish()?;
/// let mut primary = Stream::new(&device, compute, 64)?;
/// let execution = primary.execute(&secondary, Inclusion::Auto)?;
/// assert_eq!(execution, Execution::Copied); // compute rings cannot call lists
/// let stream = secondary.record_again(compute).map_err(|_list| "it is in use")?; // not used any more
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// The stream contains a packet that calls the list. The stream and its command list keep the called list alive.
    Called,
    /// The stream contains a copy of the list's packets. The list is no longer needed.
    Copied,
}

impl<L: Language> Stream<L> {
    /// Executes a command list at this point of the stream. The list may also be executed in other streams and submissions.
    ///
    /// The stream calls or copies the list by the same rule as RADV: primary streams of the graphics ring call it, all others copy
    /// its packets, because MEC has no second level of IBs and the copy engine has no calls. A list that itself calls other lists
    /// is copied with its calls.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_execute_secondary`.
    ///
    /// # Errors
    ///
    /// * [`RecordError::WrongStream`] if the list is for another ring or generation;
    /// * [`RecordError::NestedCall`] if this is a secondary stream and the list calls others;
    /// * [`RecordError::ChainedList`] if another list is chained to it;
    /// * [`RecordError::DetouredList`] if the list jumps through commands outside it, see [`Stream::detour`];
    /// * [`RecordError::Winsys`] if the list belongs to another device.
    ///
    /// In these cases the stream is unchanged. If the stream cannot grow, the errors of [`Stream::push`].
    pub fn execute(&mut self, list: &CommandList, inclusion: Inclusion) -> Result<Execution> {
        let stream: Target = self.language().into();
        if list.target() != stream {
            return Err(RecordError::WrongStream { recorded: list.target(), stream });
        }
        if list.is_chained() {
            return Err(RecordError::ChainedList);
        }
        if list.recorded().has_detours() {
            return Err(RecordError::DetouredList);
        }
        if !list.recorded().is_of(self.device()) {
            return Err(WinsysError::ForeignDevice { what: "command list" }.into());
        }
        let is_primary = self.level() == StreamLevel::Primary;
        if !is_primary && list.has_calls() {
            return Err(RecordError::NestedCall);
        }
        let has_calls = matches!(stream, Target::Pm4(target) if target.ring == Ring::Gfx);
        if is_primary && has_calls && !list.has_calls() && inclusion == Inclusion::Auto {
            self.call(list)?;
            return Ok(Execution::Called);
        }
        self.copy(list)?;
        Ok(Execution::Copied)
    }

    /// Calls the first IB. The others are chained to it and return to the same caller.
    fn call(&mut self, list: &CommandList) -> Result<()> {
        let (Target::Pm4(target), Some((va, dwords))) = (list.target(), list.ibs().next()) else { return Ok(()) };
        let call = IndirectBuffer::call(va, count(dwords));
        call.encode(target, self.reserve(IndirectBuffer::LEN)?)?;
        let called = self.part_mut().called.add(list.recorded());
        self.named(called)
    }

    fn copy(&mut self, list: &CommandList) -> Result<()> {
        let recorded = list.recorded();
        for packets in recorded.packets() {
            // Written from start to end, because the memory is likely write-combined.
            self.reserve(packets.len())?.copy_from_slice(packets);
        }
        let part = self.part_mut();
        let called = recorded.called().iter().try_for_each(|called| part.called.add(called));
        let kept = recorded.kept().iter().try_for_each(|binding| part.residents.add(binding));
        let sets = recorded.sets().iter().try_for_each(|set| part.sets.add(set));
        self.named(called.and(kept).and(sets))
    }

    /// Poisons the stream if the memory of recorded packets could not be added to its residents.
    fn named(&mut self, outcome: Result<(), NoHostMemory>) -> Result<()> {
        outcome
            .map_err(|error| error.of("a command list").into())
            .inspect_err(|error: &RecordError| self.poison(error.clone()))
    }
}

impl Stream<pm4::Target> {
    /// Executes `dwords` dwords of commands at `va` that the GPU generates, as `VK_EXT_device_generated_commands` needs it. The
    /// graphics ring calls them. Compute rings cannot call, so the stream jumps there: a packet first overwrites the last four dwords,
    /// at `trailer`, with a jump back, so they must be NOPs. The stream continues in another IB.
    ///
    /// On GFX8, whose command fetches bypass the L2 cache, the stream writes that cache back before it jumps.
    ///
    /// The caller must [keep](Stream::keep) the memory, which must be writable for the GPU and used by only one submission at a
    /// time.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_chain_dgc_ib`.
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::{
    ///     cs::{Packet, Queue, Stream, Submission, pm4},
    ///     heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
    ///     winsys::{Context, Deadline, Device, Ip, Priority},
    /// };
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let manager = MemoryManager::new(&device, &TableOptions::default())?;
    /// let memory_type = manager.properties().type_for(MemoryUsage::Readback).ok_or("no such type")?;
    /// let memory = manager.allocate(&AllocateInfo::new(memory_type, 4096))?;
    /// let (commands, result) = (memory.address(), memory.address().checked_add(2048).ok_or("no address")?);
    /// let target = pm4::Target::compute(device.info().gfx_level);
    ///
    /// // The commands that the GPU would generate: a store, and NOPs up to 16 dwords.
    /// let mut ib = [0xffff_1000; 16];
    /// pm4::WriteData::new(result, &[41]).encode(target, &mut ib)?;
    /// for (offset, dword) in (0..).step_by(4).zip(ib) {
    ///     memory.map()?.write(offset, &dword.to_ne_bytes())?;
    /// }
    ///
    /// let mut stream = Stream::new(&device, target, 64)?;
    /// stream.keep(memory.binding());
    /// stream.detour(commands, 16, commands.checked_add(12 * 4).ok_or("no address")?)?;
    /// stream.push(&pm4::WriteData::new(result.checked_add(4).ok_or("no address")?, &[42]))?;
    /// let list = stream.finish()?;
    /// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Compute, 0)?;
    /// let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() })?;
    /// assert!(fence.wait(Deadline::NEVER)?);
    /// assert_eq!((memory.map()?.load_u32(2048)?, memory.map()?.load_u32(2052)?), (41, 42));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// * [`RecordError::NestedCall`] in a secondary stream;
    /// * [`RecordError::Encode`] if the jump cannot hold the address or length, and on compute rings before GFX8, for which RADV does not
    ///   offer the extension (`radv_physical_device.c`, `radv_physical_device_get_supported_extensions`).
    ///
    /// In these cases the stream is unchanged. If the stream cannot grow, the errors of [`Stream::push`].
    pub fn detour(&mut self, va: GpuVa, dwords: usize, trailer: GpuVa) -> Result<()> {
        if self.level() == StreamLevel::Secondary {
            return Err(RecordError::NestedCall);
        }
        let target = self.language();
        if target.ring == Ring::Gfx {
            return self.push(&IndirectBuffer::call(va, count(dwords)));
        }
        if target.level < GfxLevel::Gfx8 {
            return Err(EncodeError::NoSuchPacket { packet: "INDIRECT_BUFFER", target: target.into() }.into());
        }
        target.chain(&mut [0; IndirectBuffer::LEN], va, count(dwords))?;
        let back = [0; IndirectBuffer::LEN];
        let store = WriteData::new(trailer, &back);
        let writeback = AcquireMem::all(target, CacheActions::WRITE_BACK_L2);
        // Commands are then fetched behind L2, where a shader's stores arrive with the write-back only.
        let needs_writeback = target.level.command_processor_bypasses_l2();
        let behind = if needs_writeback { writeback.len_dwords(target)? } else { 0 };
        self.grow(store.len_dwords(target)? + behind)?;
        self.push(&store)?;
        let patch = self.chunk_len() - back.len();
        if needs_writeback {
            self.push(&writeback)?;
        }
        self.go_on(1)?;
        if let Some(last) = self.part_mut().ibs.last_mut() {
            last.detour = Some(Detour { to: (va, dwords), patch });
        }
        Ok(())
    }
}
