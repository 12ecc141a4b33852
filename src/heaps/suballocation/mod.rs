//! Many small pieces out of few BOs: what keeps a driver from asking the kernel for every little thing.
//!
//! | type | for | of |
//! |---|---|---|
//! | [`VirtualBlock`] | dividing anything that has offsets | nothing: pure arithmetic |
//! | [`MemoryCache`] | device memory that comes and goes in the same sizes | [`DeviceMemory`](super::DeviceMemory) |
//! | [`SlabPool`] | objects of 256 bytes to 1 MiB | slabs from a cache |
//! | [`UploadRing`] | data that lives for one submission | one mapped piece of memory from a cache |
//!
//! Giving back and being reusable are two things: the GPU may still be at work on what the CPU is done with. So
//! everything here can be freed *after* some [`GpuWork`], for which any closure will do that says whether the work is
//! done, `move || fence.is_signalled()` for example. Until then it stays where it is, and nothing waits.
//!
//! Nothing here clears memory: what is reused holds what was in it before, and always this process wrote that.
//!
//! ```
//! use std::sync::Arc;
//! use amdgpu_winsys::{heaps::{MemoryManager, TableOptions, suballocation::*}, winsys::Device};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
//! let device = Device::new(kernel)?;
//! let manager = MemoryManager::new(&device, &TableOptions::default())?;
//! let cache = MemoryCache::new(&manager, CacheLimits::default());
//! let pool = SlabPool::new(&cache);
//!
//! let cached_gtt = 5;
//! let constants = pool.allocate(cached_gtt, 600, 256)?;
//! constants.view()?.write(0, b"for the GPU")?;
//! println!("the GPU finds them at {}", constants.address());
//! let used_by_the_gpu = Arc::new(std::sync::atomic::AtomicBool::new(true));
//! let seen = Arc::clone(&used_by_the_gpu);
//! constants.free_after(move || !seen.load(std::sync::atomic::Ordering::Acquire)); // with a fence: fence.is_signalled()
//! assert_eq!(pool.stats().parked, 1);
//! used_by_the_gpu.store(false, std::sync::atomic::Ordering::Release);
//! pool.trim();
//! assert_eq!(pool.stats().slabs, 0);
//! # Ok(()) }
//! ```

mod block;
mod clock;
mod error;
mod memory_cache;
mod ring_space;
mod size_class;
mod slab;
mod slab_pool;
mod upload_ring;
mod view;
mod work;

pub use self::{
    block::{BlockError, BlockStats, Chunk, ChunkError, MAX_CELLS, MIN_GRANULE, NotOfThisBlock, VirtualBlock},
    clock::{Clock, MonotonicClock},
    error::SuballocationError,
    memory_cache::{CacheLimits, CacheStats, CachedMemory, MemoryCache},
    size_class::SizeClass,
    slab_pool::{SlabPool, SlabStats, SubAllocation},
    upload_ring::{Batch, RingStats, Upload, UploadRing},
    view::MemoryView,
    work::GpuWork,
};
