//! The kinds of reset that the kernel supports for each kind of ring, and the effects of resetting one ring.
//!
//! Source: Linux 6.13 and 6.17 `sw_init` of `gfx_v9_0.c` to `gfx_v12_0.c`, `sdma_v5_0.c` to `sdma_v7_0.c`, `vcn_v2_0.c` to
//! `vcn_v5_0_0.c` and `jpeg_v2_0.c` to `jpeg_v5_0_0.c`; `amdgpu_device.c`, `amdgpu_get_soft_full_reset_mask`.

use std::fmt;

use amdgpu_hw::{Chip, GfxLevel, Ip};

use crate::{chips::Profile, features::Features, kernel::sched::processor::Executor, options::SimOptions};

/// The kinds of reset of a ring, as a file in sysfs lists them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResetKinds {
    /// `true` if its waves can be killed.
    pub(crate) soft: bool,
    /// `true` if only the ring can be reset.
    pub(crate) queue: bool,
    /// `true` if the whole GPU can be reset.
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

/// The way in which a stuck ring is reset without the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingReset {
    /// The ring cannot be reset alone: the whole GPU is reset.
    None,
    /// All jobs on the hardware ring are lost.
    Lossy,
    /// Only the job that hangs is lost; later jobs of other contexts are written to the ring again.
    Selective,
}

impl ResetKinds {
    /// Returns the kinds of reset of an IP's rings, by the major version of its block; `None` if the kernel has no file that lists
    /// them.
    pub(crate) fn of(profile: &Profile, features: Features, (ip, version): (Ip, u32)) -> Option<Self> {
        if !features.contains(Features::RESET_MASKS) {
            return None;
        }
        let is_new = features.contains(Features::QUEUE_RESETS);
        let resets_video = features.contains(Features::VIDEO_RESETS);
        match ip {
            Ip::Gfx | Ip::Compute if profile.gfx_level >= GfxLevel::Gfx9 => Some(Self {
                soft: !features.contains(Features::NO_SOFT_RECOVERY),
                queue: resets_shader_queue(profile, features, ip),
                full: true,
            }),
            Ip::Sdma if profile.gfx_level >= GfxLevel::Gfx12 => {
                is_new.then_some(Self { queue: true, full: true, ..Self::default() })
            }
            Ip::Sdma if profile.gfx_level >= GfxLevel::Gfx10 => {
                Some(Self { queue: resets_copy_queue(profile), full: true, ..Self::default() })
            }
            Ip::VcnDec | Ip::VcnEnc if resets_video && version >= 2 => {
                Some(Self { queue: true, full: true, ..Self::default() })
            }
            Ip::VcnJpeg if resets_video && version >= 2 => Some(Self { queue: true, ..Self::default() }),
            Ip::VcnJpeg if version >= 4 => Some(Self { full: true, ..Self::default() }),
            _ => None,
        }
    }
}

impl RingReset {
    /// Returns the way in which the kernel resets a ring of an IP alone, by the kinds of reset that it lists for the IP.
    ///
    /// Source: Linux 6.12 `gfx_v7_0.c` to `gfx_v12_0.c`, `reset` of the graphics and compute rings' functions; Linux 6.17
    /// `amdgpu_ring.c`, `amdgpu_ring_reset_helper_begin`.
    pub(crate) fn of(options: &SimOptions, listed: Option<ResetKinds>, (ip, executor): (Ip, Executor)) -> Self {
        if options.features.contains(Features::QUEUE_RESETS) {
            return if listed.is_some_and(|kinds| kinds.queue) { Self::Selective } else { Self::None };
        }
        let first = if ip == Ip::Gfx { GfxLevel::Gfx7 } else { GfxLevel::Gfx9 };
        if options.ring_reset && executor.is_pm4_from(first) { Self::Lossy } else { Self::None }
    }
}

/// Returns `true` if the driver resets a graphics or compute ring alone. On some chips this depends on the microcode.
fn resets_shader_queue(profile: &Profile, features: Features, ip: Ip) -> bool {
    let is_new = features.contains(Features::QUEUE_RESETS);
    let microcode = |me, mec| profile.firmware.me.ver >= me && profile.firmware.mec.ver >= mec;
    match profile.gfx_level {
        GfxLevel::Gfx9 => is_new && (ip == Ip::Compute || features.contains(Features::NO_SOFT_RECOVERY)),
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => is_new,
        GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => match profile.chip() {
            Some(Chip::CHIP_GFX1100 | Chip::CHIP_GFX1101 | Chip::CHIP_GFX1102) => microcode(2280, 2410),
            _ => is_new,
        },
        GfxLevel::Gfx12 => is_new && microcode(2660, 2920),
        _ => false,
    }
}

/// Returns `true` if the driver resets a copy engine of GFX10 to GFX11 alone. It requires microcode of 2024 or later; no capture
/// contains the version, which is assumed to suffice.
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
