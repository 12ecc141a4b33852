//! The page where the GPU writes sequence numbers.

use crate::{
    uapi::{CsChunkFence, GemCreateFlags, GemDomain},
    winsys::{Bo, BoRequest, Deadline, Device, Mapping, PAGE_SIZE, Result},
};

/// A page of system memory into which the GPU writes the sequence number of each finished submission that names it
/// ([`Chunks::user_fence`](crate::winsys::Chunks::user_fence)).
///
/// The kernel writes behind the CPU's back, so it takes no other BO for this: nothing lends these bytes as a reference.
///
/// The kernel wants a BO of exactly one page that is neither bound nor listed; it writes 8 bytes, and up to 24 more
/// when a job is preempted (Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_p1_user_fence`).
///
/// ```
/// use amdgpu_winsys::winsys::{ChunkScratch, Chunks, Deadline, UserFence};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let upload = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Upload).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(upload, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # memory.map()?.write_dwords(0, &[0xffff_1000; 8])?;
/// # let va_start = memory.address().as_u64();
/// # let ib = amdgpu_winsys::uapi::CsChunkIb { va_start, ib_bytes: 32, ..Default::default() };
/// let fence = UserFence::new(&device)?;
/// let chunks = Chunks { ibs: &[ib], user_fence: Some(&fence), ..Chunks::default() };
/// let sequence = context.submit(chunks, &mut ChunkScratch::default())?;
/// assert!(fence.wait_idle(Deadline::NEVER)?);
/// assert_eq!(fence.value(), sequence); // read without an ioctl
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UserFence {
    mapping: Mapping,
}

impl UserFence {
    /// Allocates and maps a page; its number is 0.
    ///
    /// # Errors
    ///
    /// Those of [`Bo::create`] and [`Mapping::new`].
    pub fn new(device: &Device) -> Result<Self> {
        let bo = Bo::create(
            device,
            BoRequest {
                size: PAGE_SIZE,
                alignment: PAGE_SIZE,
                domains: GemDomain::GTT,
                flags: GemCreateFlags::CPU_ACCESS_REQUIRED,
            },
        )?;
        let mapping = Mapping::new(&bo)?;
        // A kernel gives zeroed pages; a shim that stands in for one may give used ones, and with them old numbers.
        mapping.store_u64(0, 0)?;
        Ok(Self { mapping })
    }

    /// Returns the device it belongs to.
    pub fn device(&self) -> &Device {
        self.mapping.bo().device()
    }

    pub(super) fn chunk(&self) -> CsChunkFence {
        CsChunkFence { handle: self.mapping.bo().handle(), offset: 0 }
    }

    /// Waits until every submission that was given the page has ended, whether it wrote its number or not; false when the
    /// deadline came first. A gang's followers are waited for too.
    ///
    /// A wait for the number tells nothing once work was lost: it answers with the error of the queue, also while jobs behind
    /// the lost one run (Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_get_entity`). But the fences of all jobs are added to the page
    /// (`amdgpu_cs.c`, `amdgpu_cs_submit`).
    ///
    /// Request: AMDGPU_GEM_WAIT_IDLE.
    ///
    /// # Errors
    ///
    /// Those of [`Bo::wait_idle`].
    pub fn wait_idle(&self, deadline: Deadline) -> Result<bool> {
        self.mapping.bo().wait_idle(deadline)
    }

    /// Returns the last sequence number written; 0 before the first.
    #[inline]
    pub fn value(&self) -> u64 {
        // Offset 0 of a page is in range and aligned, so this never falls back.
        let value = self.mapping.load_u64(0).unwrap_or(0);
        // What the GPU wrote before the number is visible to what the caller reads after it.
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        value
    }
}
