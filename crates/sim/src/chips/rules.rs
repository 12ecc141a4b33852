//! Rules of the driver for what captures lack.

use amdgpu_hw::{Chip, Family, GfxLevel, identify};
use amdgpu_uapi::{DevInfo, IdsFlags, InfoGds, InfoHwIp};

/// Copy engines that user space sees at most: the entities of a context.
///
/// Source: Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_num_entities`.
const MOST_SDMA_RINGS: u32 = 2;

/// Returns the copy engines that the driver sets up for a chip whose capture does not say.
///
/// Source: Linux 6.12 `early_init` in `si_dma.c`, `cik_sdma.c`, `sdma_v2_4.c`, `sdma_v3_0.c`, `sdma_v4_0.c`; from IP discovery
/// on, the number of the chips that have been seen: one on APUs, two on cards.
pub(super) fn sdma_engines(chip: Chip, dev_info: &DevInfo) -> u32 {
    match chip {
        Chip::CHIP_ARCTURUS => 8,
        Chip::CHIP_ALDEBARAN => 5,
        Chip::CHIP_NAVI24 => 1,
        Chip::CHIP_KAVERI | Chip::CHIP_KABINI | Chip::CHIP_CARRIZO => 2,
        _ if IdsFlags::from_bits_retain(dev_info.ids_flags).contains(IdsFlags::FUSION) => 1,
        _ => 2,
    }
}

/// Returns the copy engines as the driver of a generation reports them.
///
/// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_hw_ip_info`; the IP versions of `si_dma.c` to `sdma_v7_0.c`.
pub(super) fn sdma_block(gfx_level: GfxLevel, engines: u32) -> InfoHwIp {
    let (major, minor) = match gfx_level {
        GfxLevel::Gfx6 => (1, 0),
        GfxLevel::Gfx7 => (2, 0),
        GfxLevel::Gfx8 => (3, 0),
        GfxLevel::Gfx9 => (4, 0),
        GfxLevel::Gfx10 => (5, 0),
        GfxLevel::Gfx10_3 => (5, 2),
        GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => (6, 0),
        GfxLevel::Gfx12 => (7, 0),
    };
    InfoHwIp {
        hw_ip_version_major: major,
        hw_ip_version_minor: minor,
        ib_start_alignment: 256,
        ib_size_alignment: 4,
        available_rings: (1 << engines.min(MOST_SDMA_RINGS)) - 1,
        ..InfoHwIp::ZEROED
    }
}

/// Returns the chip that DEV_INFO reports; `None` when no table knows it.
pub(super) fn chip(dev_info: &DevInfo) -> Option<Chip> {
    identify(Family::from(dev_info.family), dev_info.external_rev)
}

/// Returns the generation of a graphics or compute block; `None` when no table knows its version.
///
/// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`: IP discovery tells, and where there is none, the
/// driver's own version, which is 10.0 for all of GFX10.
pub(super) fn gfx_level(block: &InfoHwIp, chip: Chip, family: Family) -> Option<GfxLevel> {
    let discovered = block.ip_discovery_version;
    let (major, minor) = match discovered {
        0 => (block.hw_ip_version_major, driver_minor(block, chip, family)),
        _ => (discovered >> 16 & 0xff, discovered >> 8 & 0xff),
    };
    match (major, minor) {
        (6, _) => Some(GfxLevel::Gfx6),
        (7, _) => Some(GfxLevel::Gfx7),
        (8, _) => Some(GfxLevel::Gfx8),
        (9, _) => Some(GfxLevel::Gfx9),
        (10, 1) => Some(GfxLevel::Gfx10),
        (10, 3) => Some(GfxLevel::Gfx10_3),
        (11, 0) => Some(GfxLevel::Gfx11),
        (11, 5) => Some(GfxLevel::Gfx11_5),
        (12, 0) => Some(GfxLevel::Gfx12),
        _ => None,
    }
}

fn driver_minor(block: &InfoHwIp, chip: Chip, family: Family) -> u32 {
    match (family, chip) {
        (Family::NV, Chip::CHIP_NAVI10 | Chip::CHIP_NAVI12 | Chip::CHIP_NAVI14) => 1,
        (Family::NV | Family::VGH | Family::YC | Family::GC_10_3_6 | Family::GC_10_3_7, _) => 3,
        _ => block.hw_ip_version_minor,
    }
}

/// Returns the on-chip memory, semaphores and append counters of a generation.
pub(crate) fn gds_config(level: GfxLevel) -> InfoGds {
    let gds = match level {
        GfxLevel::Gfx12 => 0,
        GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => 4096,
        _ => 65536,
    };
    let units = |count| if gds == 0 { 0 } else { count };
    InfoGds {
        compute_partition_size: gds,
        gds_total_size: gds,
        gws_per_compute_partition: units(64),
        oa_per_compute_partition: units(16),
        ..InfoGds::ZEROED
    }
}
