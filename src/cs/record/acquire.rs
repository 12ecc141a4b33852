//! The invalidation of caches with which submissions begin.

use super::stream::Stream;
use crate::{
    cs::{
        RecordResult as Result,
        pm4::{AcquireMem, CacheActions, PfpSyncMe, Ring, Target},
    },
    winsys::GfxLevel,
};

impl Stream<Target> {
    /// Records the invalidation of all caches, with which each submission to a graphics or compute ring has to begin. From GFX10 on
    /// the kernel only writes L2 back at the end of a job, so that L2 may have old copies of what the CPU, or a copy engine that
    /// bypasses L2, has written since. A queue does this itself
    /// ([`QueueOptions::acquires`](crate::cs::QueueOptions::acquires)); lists for queues that do not, and preambles of submissions,
    /// begin with it.
    ///
    /// ```
    /// use amdgpu_winsys::cs::{Stream, pm4};
    ///
    /// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// let target = pm4::Target::gfx(device.info().gfx_level);
    /// let mut stream = Stream::new(&device, target, 64)?;
    /// stream.acquire()?;
    /// let expected = pm4::AcquireMem::all(target, pm4::CacheActions::ACQUIRE);
    /// let list = stream.finish()?;
    /// let first = list.dwords().next().ok_or("no IB")?;
    /// assert_eq!(pm4::decode(&first, target).next().ok_or("no packet")??.command, expected.into());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_queue.c`, `radv_update_preamble_cs`.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::push`].
    pub fn acquire(&mut self) -> Result<()> {
        let target = self.language();
        if target.ring == Ring::Gfx && target.level < GfxLevel::Gfx10 {
            self.push(&PfpSyncMe)?;
        }
        self.push(&AcquireMem::all(target, CacheActions::ACQUIRE))
    }
}
