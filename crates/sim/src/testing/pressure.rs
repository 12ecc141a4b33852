//! Memory pressure on request: room that is withheld from all clients for as long as a test wants.

use amdgpu_uapi::{Errno, GemDomain};

use crate::{device::SimDevice, kernel::mm::bo::Pinned};

/// The resource that is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pressed {
    /// VRAM, the part that the CPU does not see first.
    Vram,
    /// VRAM that the CPU sees.
    VisibleVram,
    /// System memory that the GPU can map.
    Gtt,
}

/// Room that is withheld from all clients until this is dropped.
#[derive(Debug)]
#[must_use = "dropping it gives the room back"]
pub struct Pressure(#[expect(dead_code, reason = "held, not used")] Pinned);

impl SimDevice {
    /// Takes room away, as another process's pinned memory does: it counts as used, and who is in the way is evicted, jobs'
    /// BOs included. `bytes` is rounded up to whole pages.
    ///
    /// ```
    /// use amdgpu_sim::{Pressed, SimDevice, SimOptions, profile};
    ///
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, SimOptions::default());
    /// let pressure = gpu.press(Pressed::Vram, 15 << 30)?;
    /// assert_eq!(gpu.memory_info().vram.heap_usage, 15 << 30);
    /// drop(pressure);
    /// assert_eq!(gpu.memory_info().vram.heap_usage, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// ENOMEM when the heap has not that much that can be made free. BOs that were evicted before that was clear stay evicted, as when
    /// a real allocation fails late.
    pub fn press(&self, heap: Pressed, bytes: u64) -> Result<Pressure, Errno> {
        let bytes = bytes.checked_next_multiple_of(crate::kernel::mm::bo::PAGE).ok_or(Errno::ENOMEM)?;
        let (domain, for_cpu) = match heap {
            Pressed::Vram => (GemDomain::VRAM, false),
            Pressed::VisibleVram => (GemDomain::VRAM, true),
            Pressed::Gtt => (GemDomain::GTT, false),
        };
        self.pools().pin(domain, for_cpu, bytes).map(Pressure)
    }
}
