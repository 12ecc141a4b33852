//! Memory, semaphores and append counters on the chip.

use crate::{
    uapi::{InfoGds, query},
    winsys::{Device, Result, device::query::info},
};

/// Sizes of the global data share and its companions, which all shaders of a chip have in common.
///
/// BOs of [`GemDomain::GDS`](crate::uapi::GemDomain::GDS), `GWS` and `OA` are made of them. All are 0 from GFX12 on.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let gds = device.gds()?;
/// assert_eq!((gds.memory, gds.semaphores, gds.append_counters), (64 << 10, 64, 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GdsSizes {
    /// Global data share (GDS), bytes.
    pub memory: u32,
    /// Global wave sync (GWS): semaphores.
    pub semaphores: u32,
    /// Ordered append (OA): counters.
    pub append_counters: u32,
}

impl Device {
    /// Asks for the sizes of the memory, semaphores and append counters on the chip.
    ///
    /// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_info_ioctl`, GDS_CONFIG: what it tells of a compute partition is everything.
    ///
    /// # Errors
    ///
    /// [`Error::Info`](crate::winsys::Error::Info).
    pub fn gds(&self) -> Result<GdsSizes> {
        let answer: InfoGds = info(self.kernel(), "GDS_CONFIG", query::GDS_CONFIG, [0; 4])?;
        Ok(GdsSizes {
            memory: answer.gds_total_size,
            semaphores: answer.gws_per_compute_partition,
            append_counters: answer.oa_per_compute_partition,
        })
    }
}
