//! Facts to test rules with.

use amdgpu_sim::{SimKernel, profile};

use crate::winsys::{Chip, GfxLevel, GpuInfo};

/// Facts of navi21, said to be of another chip and generation.
pub(super) fn of(gfx_level: GfxLevel, chip: Chip) -> GpuInfo {
    let info = GpuInfo::query(&SimKernel::open(profile("navi21").unwrap())).unwrap();
    GpuInfo { chip, gfx_level, ..info }
}
