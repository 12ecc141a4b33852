//! Sub-allocation: dividing few BOs into many small pieces, to avoid a kernel request for each allocation.
//!
//! | type | use | source |
//! |---|---|---|
//! | [`VirtualBlock`] | dividing anything that is addressed by offsets | none: pure arithmetic |
//! | [`MemoryCache`] | device memory of recurring sizes | [`DeviceMemory`](super::DeviceMemory) |
//! | [`SlabPool`] | objects of 256 bytes to 1 MiB | slabs from a cache |
//! | [`UploadRing`] | data for a single submission | one mapped memory from a cache |
//!
//! Memory that the CPU has freed cannot be reused while the GPU still uses it. Every type here can therefore free *after* some
//! [`GpuWork`], such as a closure that returns whether the work is done: `move || fence.is_signalled()`. Until then the memory
//! is kept, and no call waits.
//!
//! Memory is never cleared: reused memory has its previous contents, which are always this process's own.
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
