//! A pool that reuses the memory of IBs.

use std::sync::Arc;

use parking_lot::Mutex;

use super::stream::StreamLevel;
use crate::{
    cs::{
        IbPlacement, Language, RecordResult as Result, Stream,
        ib::home::{Home, Shared},
    },
    host_memory::ArcRoom,
    winsys::Device,
};

/// A pool of memory for IBs. Streams take memory from it, and the memory returns when no queue executes it any more.
///
/// A new IB costs an address, a BO, a binding and a mapping: about four system calls. A stream made by [`IbPool::stream`] uses
/// memory of the pool if some is idle. The memory of its command list returns to the pool when the last clone of the list is
/// dropped. Queues hold a clone until the list has run, so memory never returns too early.
///
/// RADV instead frees all IBs of a command buffer except the newest on each reset (Mesa 25.0.7
/// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_reset`).
///
/// ```
/// use amdgpu_winsys::cs::{IbPlacement, IbPool, pm4};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let pool = IbPool::new(&device, IbPlacement::of(device.info(), 0), 1 << 20)?;
/// let mut stream = pool.stream(pm4::Target::gfx(device.info().gfx_level), 1024)?;
/// stream.push(&pm4::Nop::Skip(&[0; 7]))?;
/// drop(stream.finish()?); // or submit it first
/// assert!(pool.idle_dwords() >= 1024);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct IbPool {
    shared: Arc<Shared>,
}

impl IbPool {
    /// Creates an empty pool that keeps at most `most_dwords` dwords of idle memory.
    ///
    /// # Errors
    ///
    /// [`HostMemory`](crate::winsys::Error::HostMemory) if the process has no memory left.
    pub fn new(device: &Device, placement: IbPlacement, most_dwords: usize) -> Result<Self> {
        let room = ArcRoom::new().map_err(|error| error.of("a pool of IBs"))?;
        let (device, idle) = (device.clone(), Mutex::default());
        Ok(Self { shared: room.fill(Shared { device, placement, most: most_dwords, idle }) })
    }

    /// Creates a stream like [`Stream::new`], but with IBs that come from the pool and return to it.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::new`].
    pub fn stream<L: Language>(&self, language: L, dwords: usize) -> Result<Stream<L>> {
        let home = Home::of(&self.shared);
        let (device, placement) = (&self.shared.device, self.shared.placement);
        Stream::start(device, language, dwords, placement, StreamLevel::Primary, home)
    }

    /// Creates a stream like [`Stream::secondary`], but with IBs that come from the pool and return to it. The placement of the IBs
    /// is that of the pool; [`IbPlacement::Cached`] suits streams that are copied into others.
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::{cs::{IbPlacement, IbPool, Inclusion, pm4}, winsys::Device};
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let pool = IbPool::new(&device, IbPlacement::Cached, 1 << 20)?;
    /// let target = pm4::Target::gfx(device.info().gfx_level);
    /// let secondary = pool.secondary(target, 64)?.finish()?;
    /// let mut primary = pool.stream(target, 64)?;
    /// primary.execute(&secondary, Inclusion::Auto)?;
    /// drop((primary.finish()?, secondary));
    /// assert!(pool.idle_dwords() >= 128);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::new`].
    pub fn secondary<L: Language>(&self, language: L, dwords: usize) -> Result<Stream<L>> {
        let home = Home::of(&self.shared);
        let (device, placement) = (&self.shared.device, self.shared.placement);
        Stream::start(device, language, dwords, placement, StreamLevel::Secondary, home)
    }

    /// Returns the number of idle dwords.
    pub fn idle_dwords(&self) -> usize {
        self.shared.idle.lock().dwords
    }

    /// Frees all idle memory of the pool.
    pub fn trim(&self) {
        // Dropped at the end of the function, after the lock is released.
        let _idle = std::mem::take(&mut *self.shared.idle.lock());
    }
}
