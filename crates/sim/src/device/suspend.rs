//! Suspension of a simulated machine's GPUs, as when a computer sleeps.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use amdgpu_uapi::Errno;

use super::{SimDevice, steer::HeldRings};
use crate::{
    kernel::{card::Gpu, sync::events::Until},
    testing::mutation::Mutation,
};

/// The interval between two looks at the rings while a suspension waits for them.
const LOOK: Duration = Duration::from_millis(1);

/// A suspended GPU, which resumes on drop.
#[derive(Debug)]
#[must_use = "the GPU resumes when it is dropped"]
pub struct SuspendedGpu {
    gpu: Arc<Gpu>,
    held: Option<HeldRings>,
}

impl SimDevice {
    /// Suspends the GPU, as when the whole computer sleeps (suspend to RAM).
    ///
    /// Processes are frozen: requests and mmaps block until the GPU resumes. Jobs that can run are finished first; others stay in their
    /// queues, as do submissions to user queues. The VRAM of a discrete GPU is then moved to GTT, and to other system memory if GTT is
    /// full; an APU keeps its VRAM. Contents, contexts, bindings and the counter of resets stay as they are. Nothing moves back when
    /// the GPU resumes: a BO returns to VRAM when a submission uses it and its budget for moves permits.
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, profile};
    /// use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{Bo, BoRequest, Device}};
    ///
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, SimOptions::default());
    /// let device = Device::new(gpu.open())?;
    /// let request = BoRequest { size: 1 << 20, alignment: 0, domains: GemDomain::VRAM, flags: GemCreateFlags::empty() };
    /// let _bo = Bo::create(&device, request)?;
    /// let before = device.memory_info()?.gtt.heap_usage;
    /// drop(gpu.suspend()?); // and resumes
    /// assert!(device.memory_info()?.gtt.heap_usage >= before + (1 << 20));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// ENODEV if the GPU was unplugged, EBUSY if it is suspended already, ENOMEM if there is no room for the contents of VRAM: the GPU
    /// then stays awake.
    ///
    /// Source: Linux 7.2 `amdgpu_device.c`, `amdgpu_device_prepare`, `amdgpu_device_suspend` and `amdgpu_device_evict_resources`.
    pub fn suspend(&self) -> Result<SuspendedGpu, Errno> {
        let gpu = self.gpu();
        if gpu.is_unplugged() {
            return Err(Errno::ENODEV);
        }
        if gpu.board.is_asleep.swap(true, Ordering::AcqRel) {
            return Err(Errno::EBUSY);
        }
        // From here on the drop of `suspended` resumes, also after a refusal.
        let mut suspended = SuspendedGpu { gpu: Arc::clone(gpu), held: None };
        let events = self.events();
        while !gpu.rings.started().iter().all(|ring| ring.is_settled()) {
            events.wait(Until::At(Instant::now() + LOOK), || None::<()>);
        }
        suspended.held = Some(self.hold_all_rings());
        if !gpu.facts.profile.is_apu() {
            // A submission that was on its way has placed its BOs.
            let _device_order = gpu.queues.submitting.lock();
            let forgets = self.control().mutation() == Some(Mutation::ForgetfulSleep);
            if forgets {
                self.lose_evicted(true);
            }
            let moved = gpu.pools.evict_all_vram();
            if forgets {
                self.lose_evicted(false);
            }
            moved?;
        }
        Ok(suspended)
    }
}

impl Drop for SuspendedGpu {
    fn drop(&mut self) {
        self.gpu.board.is_asleep.store(false, Ordering::Release);
        drop(self.held.take());
        self.gpu.board.events.wake_all();
    }
}
