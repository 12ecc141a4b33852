//! The facts of a device: its chip, the options of its kernel, and what follows from both.

use std::sync::Arc;

use amdgpu_hw::{Chip, GfxLevel, Ip};
use amdgpu_packets::Target;
use amdgpu_uapi::InfoHwIp;

use crate::{
    chips::{Profile, VideoBlock},
    features::Features,
    gpu::video::VideoEngine,
    kernel::sched::{processor::Executor, resets::ResetKinds},
    options::SimOptions,
};

/// The facts of a device, which never change.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) profile: Arc<Profile>,
    /// The video engines of the chip, including those without a ring.
    video: Vec<VideoBlock>,
    pub(crate) options: SimOptions,
}

/// Returns the chip with a GTT that is not larger than the machine's memory, if it is an APU and the kernel sees to that.
///
/// Source: Linux 7.2 `amdgpu_ttm.c`, `amdgpu_ttm_init`.
fn capped(profile: Arc<Profile>, options: &SimOptions) -> Arc<Profile> {
    let size = profile.memory.gtt.total_heap_size;
    let is_capped = options.features.contains(Features::CAPPED_GTT) && profile.is_apu();
    let Some(most) = profile.system_memory.filter(|&memory| is_capped && memory < size) else { return profile };
    let mut capped = Profile::clone(&profile);
    let gtt = &mut capped.memory.gtt;
    (gtt.total_heap_size, gtt.usable_heap_size) = (most, gtt.usable_heap_size.min(most));
    gtt.max_allocation = gtt.max_allocation.min(most / 4 * 3);
    Arc::new(capped)
}

impl Facts {
    pub(crate) fn new(profile: Arc<Profile>, options: SimOptions) -> Self {
        let is_by_rule = options.video && profile.video.is_empty();
        let video = if is_by_rule { profile.video_by_rule() } else { profile.video.clone() };
        Self { profile: capped(profile, &options), video, options }
    }

    /// Returns `true` if the kernel has all of these features.
    pub(crate) const fn has(&self, features: Features) -> bool {
        self.options.features.contains(features)
    }

    /// Returns the block of an IP, if the options enable it.
    pub(crate) fn ip(&self, ip: Ip) -> Option<InfoHwIp> {
        let video = || self.video(ip).map(|known| known.block).filter(|block| block.available_rings != 0);
        self.profile.ip(ip).filter(|_| ip != Ip::Sdma || self.options.sdma).or_else(video)
    }

    /// Returns `true` if processes may create user queues.
    ///
    /// Source: Linux 6.17 `gfx_v11_0.c`, `gfx_v11_0_early_init` and `gfx_v11_0_sw_init`; `amdgpu_userq.c`.
    pub(crate) fn has_user_queues(&self) -> bool {
        self.options.user_queues && self.has(Features::USER_QUEUES) && self.profile.gfx_level >= GfxLevel::Gfx11
    }

    /// Returns a mask of the IPs that support user queues.
    ///
    /// Source: Linux 6.17 `amdgpu_userq.c`, `amdgpu_userq_get_supported_ip_mask`.
    pub(crate) fn user_queue_ips(&self) -> u32 {
        let has = |ip: &Ip| self.has_user_queues() && self.ring_count(*ip) > 0;
        [Ip::Gfx, Ip::Compute, Ip::Sdma].iter().filter(|ip| has(ip)).map(|&ip| 1 << ip as u32).sum()
    }

    /// Returns the kinds of reset of an IP's rings; `None` if the kernel has no file that lists them.
    pub(crate) fn reset_kinds(&self, ip: Ip) -> Option<ResetKinds> {
        let version = self.ip(ip)?.hw_ip_version_major;
        ResetKinds::of(&self.profile, self.options.features, (ip, version))
    }

    /// Returns the video engines of an IP, which may have no ring.
    pub(crate) fn video(&self, ip: Ip) -> Option<&VideoBlock> {
        self.video.iter().find(|known| known.ip == ip)
    }

    /// Returns the executor of an IP's rings.
    pub(crate) fn executor(&self, ip: Ip) -> Option<Executor> {
        let engine = Target::new(self.profile.gfx_level, ip).map(Executor::Engine);
        engine.or_else(|| self.video_engine(ip).map(Executor::Video))
    }

    /// Returns the video engine of an IP's rings.
    pub(crate) fn video_engine(&self, ip: Ip) -> Option<VideoEngine> {
        let block = self.video(ip)?.block;
        VideoEngine::new(ip, block.hw_ip_version_major, block.hw_ip_version_minor)
    }

    /// Returns the number of an IP's rings for user space.
    pub(crate) fn ring_count(&self, ip: Ip) -> u32 {
        self.ip(ip).map_or(0, |block| block.available_rings.count_ones())
    }

    /// Returns `true` if the driver suspends the device while it is idle.
    ///
    /// Source: Linux 6.12 `amdgpu_device.c`, `amdgpu_device_detect_runtime_pm_mode`; `si.c`, `si_asic_supports_baco`; `amdgpu_gmc.c`,
    /// `amdgpu_gmc_noretry_set`.
    pub(crate) fn has_runtime_pm(&self) -> bool {
        let is_excluded =
            matches!(self.profile.chip(), Some(Chip::CHIP_VEGA10 | Chip::CHIP_VEGA20 | Chip::CHIP_ARCTURUS));
        let is_of_a_kind = !self.profile.is_apu() && self.profile.gfx_level >= GfxLevel::Gfx7 && !is_excluded;
        self.options.runtime_pm && is_of_a_kind
    }
}
