//! On-chip memory, semaphores and append counters: GDS, GWS and OA.

use crate::{
    uapi::{InfoGds, query},
    winsys::{Device, Result, device::query::info},
};

/// Sizes of the global data share and of the related on-chip units, which all shaders of a chip share.
///
/// BOs of [`GemDomain::GDS`](crate::uapi::GemDomain::GDS), `GWS` and `OA` are allocated from them. All sizes are 0 on GFX12 and
/// later.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let gds = device.gds()?;
/// assert_eq!((gds.memory, gds.semaphores, gds.append_counters), (64 << 10, 64, 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GdsSizes {
    /// Size of the global data share (GDS) in bytes.
    pub memory: u32,
    /// Number of semaphores of global wave sync (GWS).
    pub semaphores: u32,
    /// Number of ordered append (OA) counters.
    pub append_counters: u32,
}

impl Device {
    /// Queries the sizes of the on-chip memory, semaphores and append counters.
    ///
    /// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_info_ioctl`, GDS_CONFIG: the values for a compute partition are those of
    /// the whole chip.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`](crate::winsys::Error::Kernel) if the kernel refuses the query.
    pub fn gds(&self) -> Result<GdsSizes> {
        let answer: InfoGds = info(self.kernel(), "GDS_CONFIG", query::GDS_CONFIG, [0; 4])?;
        Ok(GdsSizes {
            memory: answer.gds_total_size,
            semaphores: answer.gws_per_compute_partition,
            append_counters: answer.oa_per_compute_partition,
        })
    }
}
