//! Events at the end of the pipe, with the memory that some generations need for them.

use super::stream::Stream;
use crate::{
    cs::{
        Language, RecordResult as Result,
        pm4::{EndOfPipe, EndOfPipeSequence, Target},
    },
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::{GpuVa, VaRequest, VaWindow},
    winsys::{Binding, Bo, BoRequest, PAGE_SIZE},
};

impl Stream<Target> {
    /// Records an event at the end of the pipe or of shaders, with the packets that its generation needs in addition, see
    /// [`EndOfPipeSequence`]. Drivers should use this instead of [`push`](Stream::push): the event alone may hang the graphics
    /// ring of GFX9, and may store too early on those of GFX7 and GFX8.
    ///
    /// ```
    /// use amdgpu_winsys::cs::{Stream, pm4};
    /// # use amdgpu_winsys::heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions};
    ///
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("vega10").ok_or("no such chip")?))?;
    /// # let manager = MemoryManager::new(&device, &TableOptions::default())?;
    /// # let readback = manager.properties().type_for(MemoryUsage::Readback).ok_or("no such type")?;
    /// # let memory = manager.allocate(&AllocateInfo::new(readback, 4096))?;
    /// let target = pm4::Target::gfx(device.info().gfx_level);
    /// let (mut alone, mut stream) = (Stream::new(&device, target, 64)?, Stream::new(&device, target, 64)?);
    /// let fence = pm4::EndOfPipe::fence(memory.address(), 1);
    /// alone.push(&fence)?;
    /// stream.end_of_pipe(fence)?;
    /// assert!(stream.len() > alone.len()); // GFX9
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::push`]; on the rings that need scratch memory also those of its allocation, once for each list.
    pub fn end_of_pipe(&mut self, event: EndOfPipe) -> Result<()> {
        let scratch = if EndOfPipeSequence::needs_scratch(self.language()) { self.scratch()? } else { GpuVa::NULL };
        self.push(&EndOfPipeSequence { event, scratch })
    }
}

impl<L: Language> Stream<L> {
    /// Returns the address of 4 KiB that the GPU may write and that are never read. The stream keeps the memory alive.
    pub(in crate::cs) fn scratch(&mut self) -> Result<GpuVa> {
        if let Some(scratch) = self.part_mut().scratch {
            return Ok(scratch);
        }
        let device = self.device();
        // The events of the generations that need it reach the low half only.
        let request = VaRequest::new(PAGE_SIZE).within(VaWindow::Low);
        let lease = device.addresses().allocate(request)?;
        let request = BoRequest {
            size: PAGE_SIZE,
            alignment: PAGE_SIZE,
            domains: GemDomain::GTT,
            flags: GemCreateFlags::NO_CPU_ACCESS,
        };
        let bo = Bo::create(device, request)?;
        let flags = VaFlags::READABLE | VaFlags::WRITEABLE;
        let binding = Binding::new(&bo, lease, flags).map_err(|(_lease, error)| error)?;
        self.keep(&binding);
        self.part_mut().scratch = Some(binding.address());
        Ok(binding.address())
    }
}
