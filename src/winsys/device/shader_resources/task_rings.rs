//! Rings between task and mesh shaders.

use crate::winsys::{Chip, GfxLevel, GpuInfo};

/// Layout of the BO through which task shaders on a compute queue pass work to mesh shaders on a graphics queue. It holds a
/// control buffer, then a ring of draws, then a ring of payloads.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// use amdgpu_winsys::winsys::TaskRings;
///
/// let rings = device.info().task_rings().ok_or("no task shaders")?;
/// assert_eq!((rings.entries, rings.draws_offset), (1024, 256));
/// assert_eq!(rings.payloads_offset, rings.draws_offset + 1024 * TaskRings::DRAW);
/// assert_eq!(rings.total, rings.payloads_offset + 1024 * TaskRings::PAYLOAD);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRings {
    /// Number of entries of each ring, a power of two.
    pub entries: u32,
    /// Offset of the ring of draws, in bytes.
    pub draws_offset: u64,
    /// Offset of the ring of payloads, in bytes.
    pub payloads_offset: u64,
    /// Size of the whole BO, in bytes.
    pub total: u64,
}

impl TaskRings {
    /// Size in bytes of the control buffer at the start of the BO, in which the firmware keeps its state.
    pub const CONTROL: u64 = 36;
    /// Size in bytes of an entry of the ring of draws.
    pub const DRAW: u64 = 16;
    /// Size in bytes of an entry of the ring of payloads: the minimum that Vulkan requires.
    pub const PAYLOAD: u64 = 16384;

    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_get_task_info`. The number of entries is a constant in
    /// compiled shaders, so it depends on the chip and not on the units in use.
    fn new(info: &GpuInfo) -> Option<Self> {
        const UNIT: u64 = 256;
        if info.gfx_level < GfxLevel::Gfx10_3 {
            return None;
        }
        let is_small = matches!(info.chip, Chip::CHIP_VANGOGH | Chip::CHIP_NAVI24 | Chip::CHIP_REMBRANDT);
        let entries = if is_small { 256 } else { 1024 };
        let draws_offset = Self::CONTROL.next_multiple_of(UNIT);
        let payloads_offset = (draws_offset + u64::from(entries) * Self::DRAW).next_multiple_of(UNIT);
        Some(Self {
            entries,
            draws_offset,
            payloads_offset,
            total: payloads_offset + u64::from(entries) * Self::PAYLOAD,
        })
    }
}

impl GpuInfo {
    /// Returns the layout of the rings of task shaders; `None` on generations before GFX10.3, which have no task
    /// shaders.
    pub fn task_rings(&self) -> Option<TaskRings> {
        TaskRings::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::sample::of, *};

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn small_chips_have_a_quarter_of_the_entries_and_older_ones_none() {
        let of = |level, chip| of(level, chip).task_rings().map(|rings| (rings.entries, rings.total));
        assert_eq!(of(GfxLevel::Gfx10, Chip::CHIP_NAVI10), None);
        for chip in [Chip::CHIP_VANGOGH, Chip::CHIP_NAVI24, Chip::CHIP_REMBRANDT] {
            assert_eq!(of(GfxLevel::Gfx10_3, chip), Some((256, 256 + 256 * 16 + (4 << 20))), "{chip:?}");
        }
        assert_eq!(of(GfxLevel::Gfx12, Chip::CHIP_GFX1200), Some((1024, 256 + 1024 * 16 + (16 << 20))));
    }
}
