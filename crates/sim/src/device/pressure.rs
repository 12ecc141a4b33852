//! Memory pressure for tests: memory that is withheld from all clients.

use amdgpu_uapi::{Errno, GemDomain};

use crate::{device::SimDevice, kernel::mm::bo::Pinned};

/// The heap that is put under pressure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pressed {
    /// VRAM, preferably the part that the CPU cannot access.
    Vram,
    /// Host-visible VRAM.
    VisibleVram,
    /// System memory that the GPU can map.
    Gtt,
}

/// Memory that is withheld from all clients until this value is dropped.
#[derive(Debug)]
#[must_use = "dropping it gives the room back"]
pub struct Pressure(#[expect(dead_code, reason = "held, not used")] Pinned);

impl SimDevice {
    /// Withholds memory, like another process's pinned memory: it counts as used, and BOs in the way are evicted, including those
    /// of jobs. `bytes` is rounded up to whole pages.
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
    /// ENOMEM if the heap cannot free enough memory. BOs that were evicted before the failure stay evicted, as when an allocation
    /// on Linux fails late.
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
