//! IBs that are used again.

use std::sync::Arc;

use parking_lot::Mutex;

use super::stream::StreamLevel;
use crate::{
    cs::{
        IbPlacement, Language, Result, Stream,
        ib::home::{Home, Shared},
    },
    host_memory::ArcRoom,
    winsys::Device,
};

/// Memory for IBs that streams take from and that comes back when no queue runs it.
///
/// A new IB costs an address, a BO, a binding and a mapping: four trips into the kernel or so. A stream made by
/// [`IbPool::stream`] grows into memory of the pool where it can, and what its command list consists of returns to the
/// pool when the last clone of the list is gone. Queues hold a clone until the list has run, so nothing returns too
/// early.
///
/// RADV frees all IBs of a command buffer but the newest whenever it is reset (Mesa 25.0.7
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
    /// Creates an empty pool, which keeps at most `most_dwords` dwords for later.
    ///
    /// # Errors
    ///
    /// [`HostMemory`](crate::winsys::Error::HostMemory).
    pub fn new(device: &Device, placement: IbPlacement, most_dwords: usize) -> Result<Self> {
        let room = ArcRoom::new().map_err(|error| error.of("a pool of IBs"))?;
        let (device, idle) = (device.clone(), Mutex::default());
        Ok(Self { shared: room.fill(Shared { device, placement, most: most_dwords, idle }) })
    }

    /// Creates a stream like [`Stream::new`]'s whose IBs come from the pool and return to it.
    ///
    /// # Errors
    ///
    /// As for [`Stream::new`].
    pub fn stream<L: Language>(&self, language: L, dwords: usize) -> Result<Stream<L>> {
        let home = Home::of(&self.shared);
        let (device, placement) = (&self.shared.device, self.shared.placement);
        Stream::start(device, language, dwords, placement, StreamLevel::Primary, home)
    }

    /// Creates a stream for [`Stream::execute`] like [`Stream::secondary`]'s, whose IBs come from the pool and return to it. It
    /// lies where the pool's memory does, so a pool of [`IbPlacement::Cached`] suits streams that are copied.
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
    /// As for [`Stream::new`].
    pub fn secondary<L: Language>(&self, language: L, dwords: usize) -> Result<Stream<L>> {
        let home = Home::of(&self.shared);
        let (device, placement) = (&self.shared.device, self.shared.placement);
        Stream::start(device, language, dwords, placement, StreamLevel::Secondary, home)
    }

    /// Returns the number of dwords that lie idle.
    pub fn idle_dwords(&self) -> usize {
        self.shared.idle.lock().dwords
    }

    /// Frees what lies idle.
    pub fn trim(&self) {
        // Freed when it goes, without the lock.
        let _idle = std::mem::take(&mut *self.shared.idle.lock());
    }
}
