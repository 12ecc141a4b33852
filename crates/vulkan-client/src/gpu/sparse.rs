//! Binding memory to parts of a sparse buffer.

use std::ops::Range;

use ash::{prelude::VkResult, vk};

use super::{Gpu, Lane, buffer::Buffer, memory::Memory, sync::Fence};

/// A part of a sparse buffer, and what is to be behind it from now on.
pub(crate) struct Bind<'a> {
    /// Bytes of the buffer.
    pub(crate) part: Range<u64>,
    /// The memory and the first byte of it; `None` unbinds.
    pub(crate) memory: Option<(&'a Memory<'a>, u64)>,
}

impl Gpu {
    /// vkQueueBindSparse for one buffer; the fence is signalled when it is done.
    ///
    /// # Errors
    ///
    /// The errors of vkQueueBindSparse.
    pub(crate) fn bind(&self, lane: &Lane, buffer: &Buffer<'_>, binds: &[Bind<'_>]) -> VkResult<Fence<'_>> {
        let raw: Vec<_> = binds
            .iter()
            .map(|bind| {
                assert!(bind.part.end <= buffer.requirements().size, "a check binds outside of its buffer");
                let (memory, offset) = bind.memory.map_or((vk::DeviceMemory::null(), 0), |(it, at)| (it.raw, at));
                vk::SparseMemoryBind::default()
                    .resource_offset(bind.part.start)
                    .size(bind.part.end - bind.part.start)
                    .memory(memory)
                    .memory_offset(offset)
            })
            .collect();
        let buffers = [vk::SparseBufferMemoryBindInfo::default().buffer(buffer.raw).binds(&raw)];
        let info = [vk::BindSparseInfo::default().buffer_binds(&buffers)];
        let fence = self.fence(None)?;
        let _turn = self.turn();
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); the parts are inside the buffer, and callers use
        // multiples of its alignment.
        unsafe { self.device.queue_bind_sparse(lane.queue, &info, fence.raw) }?;
        Ok(fence)
    }
}
