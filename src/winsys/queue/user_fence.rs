//! The page to which the GPU writes sequence numbers.

use crate::{
    uapi::{CsChunkFence, GemCreateFlags, GemDomain},
    winsys::{Bo, BoRequest, Deadline, Device, KernelError, Mapping, PAGE_SIZE, Result},
};

/// A page of system memory to which the GPU writes the sequence number of each finished submission that uses it
/// ([`Chunks::user_fence`](crate::winsys::Chunks::user_fence)).
///
/// The GPU may write to the page at any time. Submissions therefore accept only this type, which returns no references to the
/// bytes.
///
/// The kernel requires a BO of exactly one page that is neither bound nor listed. The GPU writes 8 bytes, and up to 24 more
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
    /// Creates a user fence: allocates and maps a page, and stores sequence number 0.
    ///
    /// # Errors
    ///
    /// The errors of [`Bo::create`] and [`Mapping::new`].
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
        // A kernel returns zeroed pages; a shim may return used ones with old sequence numbers.
        mapping.store_u64(0, 0)?;
        Ok(Self { mapping })
    }

    /// Returns the device that the user fence belongs to.
    pub fn device(&self) -> &Device {
        self.mapping.bo().device()
    }

    #[inline]
    pub(super) fn chunk(&self) -> CsChunkFence {
        CsChunkFence { handle: self.mapping.bo().handle(), offset: 0 }
    }

    /// Waits until every submission that uses the user fence has ended, including the followers of a gang and submissions that did
    /// not write a sequence number. Returns `false` if the deadline passes first.
    ///
    /// After a loss of work, a wait for the sequence number fails with the queue's error, even while later jobs still run
    /// (Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_get_entity`). The page's BO has the fences of all jobs (`amdgpu_cs.c`,
    /// `amdgpu_cs_submit`), so this wait still works.
    ///
    /// Request: AMDGPU_GEM_WAIT_IDLE.
    ///
    /// # Errors
    ///
    /// The errors of [`Bo::wait_idle`].
    pub fn wait_idle(&self, deadline: Deadline) -> Result<bool, KernelError> {
        self.mapping.bo().wait_idle(deadline)
    }

    /// Returns the last sequence number that the GPU wrote; 0 before the first.
    #[inline]
    pub fn value(&self) -> u64 {
        // Offset 0 of a page is in range and aligned, so the load cannot fail.
        let value = self.mapping.load_u64(0).unwrap_or(0);
        // Makes the GPU's writes before the sequence number visible to the caller's later reads.
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        value
    }
}
