//! Sample GPU properties for tests of the sizing rules.

use amdgpu_sim::{SimKernel, profile};

use crate::winsys::{Chip, GfxLevel, GpuInfo};

/// Returns the properties of navi21 with another chip and generation.
pub(super) fn of(gfx_level: GfxLevel, chip: Chip) -> GpuInfo {
    let info = GpuInfo::query(&SimKernel::open(profile("navi21").unwrap())).unwrap();
    GpuInfo { chip, gfx_level, ..info }
}
