//! The driver's rules for values that captures lack.

use amdgpu_hw::{Chip, Family, GfxLevel, Ip, identify};
use amdgpu_uapi::{DevInfo, IdsFlags, InfoGds, InfoHwIp};

use super::video_block::VideoBlock;

/// The most copy engines that user space sees: the number of entities of a context.
///
/// Source: Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_num_entities`.
const MOST_SDMA_RINGS: u32 = 2;

/// Returns the number of copy engines that the driver sets up for a chip whose capture does not contain it.
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

/// The versions of a chip's video engines.
pub(super) struct Video {
    /// The major and minor version of UVD.
    uvd: Option<(u32, u32)>,
    /// The major and minor version of VCE.
    vce: Option<(u32, u32)>,
    /// The version of VCN, and the number of its instances.
    pub(super) vcn: Option<([u32; 3], u32)>,
}

impl Video {
    const NONE: Self = Self { uvd: None, vce: None, vcn: None };

    const fn uvd(uvd: (u32, u32), vce: Option<(u32, u32)>) -> Self {
        Self { uvd: Some(uvd), vce, vcn: None }
    }

    const fn vcn(version: [u32; 3], instances: u32) -> Self {
        Self { uvd: None, vce: None, vcn: Some((version, instances)) }
    }

    /// Source: Linux 6.12 `si.c`, `cik.c` and `vi.c`, the IP blocks of each chip; `amdgpu_discovery.c`,
    /// `amdgpu_discovery_set_mm_ip_blocks` and the versions set for chips without discovery; `amdgpu_vcn.c` for which chip has
    /// which version.
    pub(super) const fn of(chip: Chip) -> Self {
        match chip {
            Chip::CHIP_TAHITI | Chip::CHIP_PITCAIRN | Chip::CHIP_VERDE | Chip::CHIP_OLAND => Self::uvd((3, 1), None),
            Chip::CHIP_BONAIRE | Chip::CHIP_HAWAII | Chip::CHIP_KAVERI | Chip::CHIP_KABINI => {
                Self::uvd((4, 2), Some((2, 0)))
            }
            Chip::CHIP_TONGA => Self::uvd((5, 0), Some((3, 0))),
            Chip::CHIP_FIJI => Self::uvd((6, 0), Some((3, 0))),
            Chip::CHIP_CARRIZO => Self::uvd((6, 0), Some((3, 1))),
            Chip::CHIP_STONEY => Self::uvd((6, 2), Some((3, 4))),
            Chip::CHIP_POLARIS10 | Chip::CHIP_POLARIS11 | Chip::CHIP_POLARIS12 | Chip::CHIP_VEGAM => {
                Self::uvd((6, 3), Some((3, 4)))
            }
            Chip::CHIP_VEGA10 | Chip::CHIP_VEGA12 | Chip::CHIP_VEGA20 => Self::uvd((7, 0), Some((4, 0))),
            Chip::CHIP_RAVEN | Chip::CHIP_RAVEN2 => Self::vcn([1, 0, 0], 1),
            Chip::CHIP_RENOIR => Self::vcn([2, 2, 0], 1),
            Chip::CHIP_NAVI10 => Self::vcn([2, 0, 0], 1),
            Chip::CHIP_NAVI12 | Chip::CHIP_NAVI14 => Self::vcn([2, 0, 2], 1),
            Chip::CHIP_ARCTURUS => Self::vcn([2, 5, 0], 2),
            Chip::CHIP_ALDEBARAN => Self::vcn([2, 6, 0], 2),
            Chip::CHIP_NAVI21 => Self::vcn([3, 0, 0], 2),
            Chip::CHIP_NAVI22 => Self::vcn([3, 0, 0], 1),
            Chip::CHIP_NAVI23 => Self::vcn([3, 0, 16], 1),
            Chip::CHIP_NAVI24 => Self::vcn([3, 0, 33], 1),
            Chip::CHIP_VANGOGH => Self::vcn([3, 0, 2], 1),
            Chip::CHIP_REMBRANDT => Self::vcn([3, 1, 1], 1),
            Chip::CHIP_GFX1036 => Self::vcn([3, 1, 2], 1),
            Chip::CHIP_GFX1100 | Chip::CHIP_GFX1101 => Self::vcn([4, 0, 0], 2),
            Chip::CHIP_GFX1102 => Self::vcn([4, 0, 4], 1),
            Chip::CHIP_GFX1103_R1 | Chip::CHIP_GFX1103_R1X | Chip::CHIP_GFX1103_R2 | Chip::CHIP_GFX1103_R2X => {
                Self::vcn([4, 0, 2], 1)
            }
            Chip::CHIP_GFX1150 | Chip::CHIP_GFX1151 | Chip::CHIP_GFX1152 | Chip::CHIP_GFX1153 => {
                Self::vcn([4, 0, 5], 1)
            }
            Chip::CHIP_GFX1200 | Chip::CHIP_GFX1201 => Self::vcn([5, 0, 0], 1),
            _ => Self::NONE,
        }
    }
}

/// Returns an IP discovery version in the kernel's format.
const fn discovered([major, minor, revision]: [u32; 3]) -> u32 {
    major << 16 | minor << 8 | revision
}

/// Returns the video blocks that the driver sets up for a chip whose capture does not contain them. A block without rings for user
/// space has a version too.
///
/// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_hw_ip_info`, and the IP versions and ring numbers of `uvd_v3_1.c` to
/// `uvd_v7_0.c`, `vce_v2_0.c` to `vce_v4_0.c`, `vcn_v1_0.c` to `vcn_v5_0_0.c`, `jpeg_v1_0.c` to `jpeg_v5_0_0.c`.
pub(super) fn video(dev_info: &DevInfo, tells_discovery: bool) -> Vec<VideoBlock> {
    let Some(chip) = chip(dev_info) else { return Vec::new() };
    let Video { uvd, vce, vcn } = Video::of(chip);
    let block = |ip, (major, minor), version, has_ring: bool, instances| VideoBlock {
        ip,
        block: InfoHwIp {
            hw_ip_version_major: major,
            hw_ip_version_minor: minor,
            ib_start_alignment: 256,
            ib_size_alignment: if matches!(ip, Ip::Uvd | Ip::VcnDec | Ip::VcnJpeg) { 64 } else { 4 },
            available_rings: has_ring.into(),
            ip_discovery_version: if tells_discovery { discovered(version) } else { 0 },
            ..InfoHwIp::ZEROED
        },
        instances,
    };
    let mut blocks = Vec::new();
    if let Some((major, minor)) = uvd {
        let version = [major, minor, 0];
        blocks.push(block(Ip::Uvd, (major, minor), version, true, 1));
        blocks.push(block(Ip::UvdEnc, (major, minor), version, (major, minor) >= (6, 3), 1));
    }
    if let Some((major, minor)) = vce {
        blocks.push(block(Ip::Vce, (major, minor), [major, minor, 0], true, 1));
    }
    if let Some((version, instances)) = vcn {
        let (encodes, has_jpeg) = (chip != Chip::CHIP_NAVI24, chip != Chip::CHIP_NAVI24);
        // The driver's blocks have fewer versions than the hardware.
        let driver = match version {
            [2, 5 | 6, _] => (2, version[1]),
            [major, ..] => (major, 0),
        };
        // From VCN 4 on, one ring both decodes and encodes.
        blocks.push(block(Ip::VcnDec, driver, version, driver.0 < 4, instances));
        blocks.push(block(Ip::VcnEnc, driver, version, encodes, instances));
        blocks.push(block(Ip::VcnJpeg, driver, version, has_jpeg, instances));
    }
    blocks
}

/// Returns the chip that DEV_INFO reports; `None` if it is not in the tables.
pub(super) fn chip(dev_info: &DevInfo) -> Option<Chip> {
    identify(Family::from(dev_info.family), dev_info.external_rev)
}

/// Returns the generation of a graphics or compute block; `None` if its version is not in the tables.
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

/// Returns the sizes of the global data share (GDS), of global wave sync (GWS) and of ordered append (OA) of a generation.
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
