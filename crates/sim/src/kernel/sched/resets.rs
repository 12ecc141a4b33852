//! The resets that the kernel has for each kind of ring, and what a reset of one ring leaves.
//!
//! Source: Linux 6.13 and 6.17 `sw_init` of `gfx_v9_0.c` to `gfx_v12_0.c`, `sdma_v5_0.c` to `sdma_v7_0.c`, `vcn_v2_0.c` to
//! `vcn_v5_0_0.c` and `jpeg_v2_0.c` to `jpeg_v5_0_0.c`; `amdgpu_device.c`, `amdgpu_get_soft_full_reset_mask`.

use std::fmt;

use amdgpu_hw::{Chip, GfxLevel, Ip};

use crate::{chips::Profile, kernel::sched::processor::Executor, options::SimOptions, release::KernelRelease};

/// The resets of a kind of ring, as a file of sysfs lists them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResetKinds {
    /// Its waves can be killed.
    pub(crate) soft: bool,
    /// It can be reset alone.
    pub(crate) queue: bool,
    /// The whole GPU is reset for it.
    pub(crate) full: bool,
}

impl fmt::Display for ResetKinds {
    /// Source: Linux 6.13 `amdgpu_device.c`, `amdgpu_show_reset_mask`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [(self.soft, "soft"), (self.queue, "queue"), (self.full, "full")];
        if words.iter().all(|(is_there, _)| !is_there) {
            return f.write_str("unsupported");
        }
        words.iter().filter(|(is_there, _)| *is_there).try_for_each(|(_, word)| write!(f, "{word} "))
    }
}

/// The way in which a ring that is stuck is reset alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingReset {
    /// It is not: the whole GPU is reset.
    None,
    /// Every job on the hardware ring is lost.
    Lossy,
    /// Only the job that hangs is lost; those of others behind it are written to the ring again.
    Selective,
}

impl ResetKinds {
    /// Returns the resets of the rings of an IP, by the major version of its block, where the kernel has a file that lists them.
    pub(crate) fn of(profile: &Profile, release: KernelRelease, (ip, version): (Ip, u32)) -> Option<Self> {
        if release < KernelRelease::V6_13 {
            return None;
        }
        let is_new = release >= KernelRelease::V6_17;
        match ip {
            Ip::Gfx | Ip::Compute if profile.gfx_level >= GfxLevel::Gfx9 => {
                Some(Self { soft: true, queue: resets_shader_queue(profile, release, ip), full: true })
            }
            Ip::Sdma if profile.gfx_level >= GfxLevel::Gfx12 => {
                is_new.then_some(Self { queue: true, full: true, ..Self::default() })
            }
            Ip::Sdma if profile.gfx_level >= GfxLevel::Gfx10 => {
                Some(Self { queue: resets_copy_queue(profile), full: true, ..Self::default() })
            }
            Ip::VcnDec | Ip::VcnEnc if is_new && version >= 2 => {
                Some(Self { queue: true, full: true, ..Self::default() })
            }
            Ip::VcnJpeg if is_new && version >= 2 => Some(Self { queue: true, ..Self::default() }),
            Ip::VcnJpeg if version >= 4 => Some(Self { full: true, ..Self::default() }),
            _ => None,
        }
    }
}

impl RingReset {
    /// Returns the way in which the kernel resets a ring of an IP alone, by the kinds of resets that it lists for the IP.
    ///
    /// Source: Linux 6.12 `gfx_v7_0.c` to `gfx_v12_0.c`, `reset` of the graphics and compute rings' functions; Linux 6.17
    /// `amdgpu_ring.c`, `amdgpu_ring_reset_helper_begin`.
    pub(crate) fn of(options: &SimOptions, listed: Option<ResetKinds>, (ip, executor): (Ip, Executor)) -> Self {
        if options.kernel >= KernelRelease::V6_17 {
            return if listed.is_some_and(|kinds| kinds.queue) { Self::Selective } else { Self::None };
        }
        let first = if ip == Ip::Gfx { GfxLevel::Gfx7 } else { GfxLevel::Gfx9 };
        if options.ring_reset && executor.is_pm4_from(first) { Self::Lossy } else { Self::None }
    }
}

/// Returns `true` if the driver resets a graphics or compute ring alone, which on some chips depends on its microcode.
fn resets_shader_queue(profile: &Profile, release: KernelRelease, ip: Ip) -> bool {
    let is_new = release >= KernelRelease::V6_17;
    let microcode = |me, mec| profile.firmware.me.ver >= me && profile.firmware.mec.ver >= mec;
    match profile.gfx_level {
        GfxLevel::Gfx9 => is_new && ip == Ip::Compute,
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => is_new,
        GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => match profile.chip() {
            Some(Chip::CHIP_GFX1100 | Chip::CHIP_GFX1101 | Chip::CHIP_GFX1102) => microcode(2280, 2410),
            _ => is_new,
        },
        GfxLevel::Gfx12 => is_new && microcode(2660, 2920),
        _ => false,
    }
}

/// Returns `true` if the driver resets a copy engine of GFX10 to GFX11 alone. It wants microcode of 2024 or later, of which no
/// capture tells the version: here it is new enough.
fn resets_copy_queue(profile: &Profile) -> bool {
    use Chip::{
        CHIP_GFX1100, CHIP_GFX1101, CHIP_GFX1102, CHIP_NAVI10, CHIP_NAVI12, CHIP_NAVI14, CHIP_NAVI21, CHIP_NAVI22,
        CHIP_NAVI23, CHIP_NAVI24, CHIP_REMBRANDT,
    };
    matches!(
        profile.chip(),
        Some(
            CHIP_NAVI10
                | CHIP_NAVI12
                | CHIP_NAVI14
                | CHIP_NAVI21
                | CHIP_NAVI22
                | CHIP_NAVI23
                | CHIP_NAVI24
                | CHIP_REMBRANDT
                | CHIP_GFX1100
                | CHIP_GFX1101
                | CHIP_GFX1102
        )
    )
}
