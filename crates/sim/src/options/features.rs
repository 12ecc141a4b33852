//! Differences of kernels after Linux 6.12.

use std::str::FromStr;

use super::release::KernelRelease;

bitflags::bitflags! {
    /// Differences of later kernels from Linux 6.12, one flag each.
    ///
    /// [`Features::of`] returns those of a release. Distributions take single features over to older kernels, and stable updates
    /// change some, so every flag can be set alone ([`FeatureChanges`]). In texts a feature is named like its constant, in lower
    /// case with hyphens: `client-name`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Features: u64 {
        /// SET_CLIENT_NAME, and the client's name in fdinfo. Since 6.13: `drm_ioctl.c`, `drm_set_client_name`.
        const CLIENT_NAME = 1 << 0;
        /// `gfx_reset_mask`, `compute_reset_mask`, `sdma_reset_mask` and `jpeg_reset_mask` in sysfs. Since 6.13: `amdgpu_gfx.c`,
        /// `amdgpu_gfx_sysfs_reset_mask_init`.
        const RESET_MASKS = 1 << 1;
        /// Four keys for each memory region in fdinfo, which count BOs from their creation. Since 6.14: `amdgpu_fdinfo.c`,
        /// `amdgpu_show_fdinfo`.
        const MEMORY_REGIONS = 1 << 2;
        /// `vcn_reset_mask` in sysfs, and resets of the video rings alone. Since 6.14: `amdgpu_vcn.c`,
        /// `amdgpu_vcn_sysfs_reset_mask_init`.
        const VIDEO_RESETS = 1 << 3;
        /// The requests of user queues. Since 6.16: `amdgpu_userq.c`.
        const USER_QUEUES = 1 << 4;
        /// Sync objects of GEM_VA. Since 6.16: `amdgpu_gem.c`, `amdgpu_gem_add_input_fence`.
        const VA_SYNCOBJS = 1 << 5;
        /// Points in SYNCOBJ_HANDLE_TO_FD and SYNCOBJ_FD_TO_HANDLE. Since 6.16: `drm_syncobj.c`,
        /// `drm_syncobj_handle_to_fd_ioctl`.
        const SYNCOBJ_POINTS = 1 << 6;
        /// Resets of a single ring on more chips, after which the jobs of others run. Since 6.17: `amdgpu_ring.c`,
        /// `amdgpu_ring_reset_helper_end`.
        const QUEUE_RESETS = 1 << 7;
        /// GEM_LIST_HANDLES. Since 6.18: `amdgpu_gem.c`, `amdgpu_gem_list_handles_ioctl`.
        const LIST_HANDLES = 1 << 8;
        /// The operation GET_MAPPING_INFO of GEM_OP. Since 6.18: `amdgpu_gem.c`, `amdgpu_gem_op_ioctl`.
        const MAPPING_INFO = 1 << 9;
        /// No IBs for the constant engine, on any chip. Since 6.19: `amdgpu_cs.c`, `amdgpu_cs_p2_ib`.
        const NO_CONSTANT_ENGINE = 1 << 10;
        /// A flag in DEV_INFO for submissions to several rings. Since 6.19: `amdgpu_kms.c`, `amdgpu_info_ioctl`.
        const GANG_FLAG = 1 << 11;
        /// Time-outs of 2 seconds on all rings, and a parameter whose only number is for all of them. Since 7.0: `amdgpu_device.c`,
        /// `amdgpu_device_get_job_timeout_settings`.
        const SHORT_LOCKUP = 1 << 12;
        /// GEM_VA refuses a range that overflows for every operation, and a delayed update together with a sync object for its
        /// fence. Since 7.2: `amdgpu_gem.c`, `amdgpu_gem_va_ioctl`.
        const STRICT_VA = 1 << 13;
        /// GEM_CREATE takes flags for caches and for wiping, and the doorbell domain on all chips. Since 7.2: `amdgpu_gem.c`,
        /// `amdgpu_gem_create_ioctl`.
        const CACHE_FLAGS = 1 << 14;
        /// GEM_USERPTR refuses addresses beyond user space with EFAULT. Since 7.2: `amdgpu_gem.c`, `amdgpu_gem_userptr_ioctl`.
        const USERPTR_RANGE = 1 << 15;
        /// WAIT_FENCES refuses to wait for no fence. Since 7.2: `amdgpu_cs.c`, `amdgpu_cs_wait_fences_ioctl`.
        const STRICT_WAITS = 1 << 16;
        /// The waves of a job are killed on GFX7 and GFX8 alone, among the chips here. Since 7.2: `amdgpu_device.c`,
        /// `amdgpu_get_soft_full_reset_mask`.
        const NO_SOFT_RECOVERY = 1 << 17;
        /// An error keeps the entity of the job from further submissions, not its whole context; the culprit of a full reset ends
        /// with ETIME, and a context is guilty if one of its jobs has. Since 7.2: `amdgpu_ctx.c`, `amdgpu_ctx_guilty`;
        /// `amdgpu_fence.c`, `amdgpu_fence_driver_force_completion`.
        const ENTITY_ERRORS = 1 << 18;
        /// The request PROC_OPTIONS. Since 7.3: `amdgpu_kms.c`, `amdgpu_proc_options_ioctl`.
        const PROC_OPTIONS = 1 << 19;
        /// The word `soft_recovery` for `soft` in the files of resets. Since 7.3: `amdgpu_device.c`, `amdgpu_show_reset_mask`.
        const SOFT_RECOVERY_WORD = 1 << 20;
        /// Common names for fences that have signalled. Since 6.17: `dma-fence.c`, `dma_fence_driver_name`.
        const DETACHED_FENCES = 1 << 21;
        /// Handles of sync objects from an xarray: a failed DESTROY of the handle 0 makes it one that is given out. Since 7.2:
        /// `drm_syncobj.c`, `drm_syncobj_destroy`.
        const ZERO_SYNCOBJ = 1 << 22;
        /// The cgroup controller `dmem` for VRAM. Since 6.14: `amdgpu_vram_mgr.c`, `amdgpu_vram_mgr_init`.
        const DMEM = 1 << 23;
        /// A limit of `dmem` below the usage evicts, a protected group takes VRAM of others before it uses GTT, and there is a file for
        /// the largest usage. Since 7.3: `dmem.c`, `set_resource_max`; `ttm_bo.c`, `ttm_bo_alloc_at_place`.
        const DMEM_RECLAIM = 1 << 24;
        /// The address space and the contents of the job's IBs in core dumps. Since 7.2: `amdgpu_dev_coredump.c`,
        /// `amdgpu_devcoredump_print_ibs`.
        const COREDUMP_IBS = 1 << 25;
        /// Events for user space when a ring or the GPU was reset. Since 6.15: `drm_drv.c`, `drm_dev_wedged_event`.
        const WEDGED_EVENTS = 1 << 26;
        /// The thread that submitted the stuck job, in those events. Since 6.17: `drm_drv.c`, `drm_dev_wedged_event`.
        const WEDGED_TASK = 1 << 27;
        /// Contents of the stuck ring and of busy ones alone in core dumps, not of all. Since 7.2: `amdgpu_dev_coredump.c`,
        /// `amdgpu_coredump`.
        const COREDUMP_BUSY_RINGS = 1 << 28;
        /// The owner of a user queue that was reset, in the event for user space. Since 7.3: `mes_userqueue.c`,
        /// `mes_userq_detect_and_reset`.
        const QUEUE_CULPRITS = 1 << 29;
        /// GTT of an APU is not larger than the system memory. Since 7.2: `amdgpu_ttm.c`, `amdgpu_ttm_init`.
        const CAPPED_GTT = 1 << 30;
        /// The directory `uma` of APUs, in which the carve-out for VRAM is chosen. Since 7.0: `amdgpu_acpi.c` and `amdgpu_device.c`,
        /// `carveout_store`.
        const UMA_CARVEOUT = 1 << 31;
        /// A BO may be listed twice by USERQ_SIGNAL and USERQ_WAIT. Since 7.3: `amdgpu_userq_fence.c`,
        /// `amdgpu_userq_signal_ioctl`.
        const QUEUE_BOS_TWICE = 1 << 32;
        /// Colour pipelines of planes, and the client capability for them. Since 6.19: `drm_ioctl.c`, `drm_setclientcap`;
        /// `drm_colorop.c`.
        const COLOR_PIPELINES = 1 << 33;
        /// Resets of the graphics block of GFX6 to GFX8 before the whole GPU is reset. Since 7.3: `amdgpu_device.c`,
        /// `amdgpu_device_ip_soft_reset`.
        const BLOCK_RESETS = 1 << 34;
        /// Tables of user queues as xarrays: a doorbell is of one queue alone, and a file has 512 queues, not 511; beyond that is
        /// EBUSY. Since 7.2: `amdgpu_userq.c`, `amdgpu_userq_create`.
        const QUEUE_XARRAYS = 1 << 35;
        /// User queues hang after a reset that lost VRAM, and their fences end. Since 7.2: `amdgpu_userq.c`,
        /// `amdgpu_userq_post_reset`.
        const QUEUE_LOSSES = 1 << 36;
        /// The areas of a user queue must be bound to their last byte, not only for as many pages as are whole in their size, and a
        /// queue without one of them stays off. Since 7.3: `amdgpu_userq.c`, `amdgpu_userq_input_va_validate` and
        /// `amdgpu_userq_buffer_vas_mapped`.
        const QUEUE_AREAS = 1 << 37;
        /// An unmapping of what a user queue needs waits for the last fences of the file's queues, and a queue without any of it stays
        /// off. Since 7.2: `amdgpu_userq.c`, `amdgpu_userq_gem_va_unmap_validate`.
        const QUEUE_UNMAPS = 1 << 38;
        /// A directory for each open file in debugfs. Since 6.17: `drm_debugfs.c`, `drm_debugfs_clients_add`.
        const CLIENT_DIRECTORIES = 1 << 39;
    }
}

impl Features {
    /// Returns the features of a release.
    pub const fn of(release: KernelRelease) -> Self {
        let mut features = Self::empty();
        let mut index = 0;
        while index < SINCE.len() {
            let (first, added) = SINCE[index];
            if release as u8 >= first as u8 {
                features = features.union(added);
            }
            index += 1;
        }
        features
    }

    fn named(name: &str) -> Option<Self> {
        let is_lower = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        Self::from_name(&name.to_ascii_uppercase().replace('-', "_")).filter(|_| is_lower)
    }

    /// Returns the names of the features that are set.
    pub fn names(self) -> impl Iterator<Item = String> {
        self.iter_names().map(|(name, _)| name.to_ascii_lowercase().replace('_', "-"))
    }
}

/// The features that each release adds.
const SINCE: [(KernelRelease, Features); 8] = [
    (KernelRelease::V6_13, Features::CLIENT_NAME.union(Features::RESET_MASKS)),
    (
        KernelRelease::V6_16,
        Features::MEMORY_REGIONS
            .union(Features::VIDEO_RESETS)
            .union(Features::USER_QUEUES)
            .union(Features::VA_SYNCOBJS)
            .union(Features::DMEM)
            .union(Features::WEDGED_EVENTS)
            .union(Features::SYNCOBJ_POINTS),
    ),
    (
        KernelRelease::V6_17,
        Features::QUEUE_RESETS
            .union(Features::DETACHED_FENCES)
            .union(Features::WEDGED_TASK)
            .union(Features::CLIENT_DIRECTORIES),
    ),
    (KernelRelease::V6_18, Features::LIST_HANDLES.union(Features::MAPPING_INFO)),
    (KernelRelease::V6_19, Features::NO_CONSTANT_ENGINE.union(Features::GANG_FLAG).union(Features::COLOR_PIPELINES)),
    (KernelRelease::V7_0, Features::SHORT_LOCKUP.union(Features::UMA_CARVEOUT)),
    (
        KernelRelease::V7_2,
        Features::STRICT_VA
            .union(Features::CACHE_FLAGS)
            .union(Features::USERPTR_RANGE)
            .union(Features::STRICT_WAITS)
            .union(Features::NO_SOFT_RECOVERY)
            .union(Features::ENTITY_ERRORS)
            .union(Features::ZERO_SYNCOBJ)
            .union(Features::COREDUMP_IBS)
            .union(Features::COREDUMP_BUSY_RINGS)
            .union(Features::CAPPED_GTT)
            .union(Features::QUEUE_XARRAYS)
            .union(Features::QUEUE_LOSSES)
            .union(Features::QUEUE_UNMAPS),
    ),
    (
        KernelRelease::V7_3,
        Features::PROC_OPTIONS
            .union(Features::SOFT_RECOVERY_WORD)
            .union(Features::DMEM_RECLAIM)
            .union(Features::QUEUE_CULPRITS)
            .union(Features::QUEUE_BOS_TWICE)
            .union(Features::BLOCK_RESETS)
            .union(Features::QUEUE_AREAS),
    ),
];

/// Features that a kernel has beside those of its release, and features that it lacks.
///
/// The text form is a list with commas: `+list-handles,-client-name`.
///
/// ```
/// use amdgpu_sim::{FeatureChanges, Features, KernelRelease};
///
/// let changes: FeatureChanges = "+list-handles,-client-name".parse()?;
/// let features = changes.applied_to(Features::of(KernelRelease::V6_17));
/// assert!(features.contains(Features::LIST_HANDLES | Features::QUEUE_RESETS));
/// assert!(!features.contains(Features::CLIENT_NAME));
/// # Ok::<(), amdgpu_sim::FeatureError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeatureChanges {
    /// The added features.
    pub added: Features,
    /// The removed features.
    pub removed: Features,
}

impl FeatureChanges {
    /// Returns the features with the changes.
    pub const fn applied_to(self, features: Features) -> Features {
        features.difference(self.removed).union(self.added)
    }
}

/// The error of parsing a text that is not a list of changes of features.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureError {
    /// A part does not start with `+` or `-`.
    #[error("kernel feature {part:?}: no + or - before the name")]
    Sign {
        /// The rejected part.
        part: String,
    },
    /// There is no feature with a name.
    #[error("kernel feature {name:?} is not simulated; known are {}", Features::all().names().collect::<Vec<_>>().join(", "))]
    Name {
        /// The unknown name.
        name: String,
    },
    /// A feature is both added and removed.
    #[error("kernel feature {name:?} is both added and removed")]
    Both {
        /// The name of the feature.
        name: String,
    },
}

impl FromStr for FeatureChanges {
    type Err = FeatureError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut changes = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (is_added, name) = match (part.strip_prefix('+'), part.strip_prefix('-')) {
                (Some(name), _) => (true, name),
                (_, Some(name)) => (false, name),
                _ => return Err(FeatureError::Sign { part: part.to_owned() }),
            };
            let feature = Features::named(name).ok_or_else(|| FeatureError::Name { name: name.to_owned() })?;
            let (here, there) =
                if is_added { (&mut changes.added, changes.removed) } else { (&mut changes.removed, changes.added) };
            if there.contains(feature) {
                return Err(FeatureError::Both { name: name.to_owned() });
            }
            *here |= feature;
        }
        Ok(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_release_has_the_features_of_the_one_before() {
        assert_eq!(Features::of(KernelRelease::V6_12), Features::empty());
        for pair in KernelRelease::ALL.windows(2) {
            let [before, after] = [pair[0], pair[1]].map(Features::of);
            assert!(after.contains(before) && after != before, "{} and {}", pair[0], pair[1]);
        }
        assert_eq!(Features::of(KernelRelease::V7_3), Features::all());
    }

    #[test]
    fn every_feature_has_a_name_that_is_read_again() {
        assert_eq!(Features::all().names().count() as u32, Features::all().bits().count_ones());
        for name in Features::all().names() {
            let [added, removed] = ["+", "-"].map(|sign| format!("{sign}{name}").parse::<FeatureChanges>().unwrap());
            assert_eq!((added.added, added.removed), (removed.removed, removed.added));
            assert_eq!(added.added.names().collect::<Vec<_>>(), [name]);
            assert_eq!(removed.applied_to(Features::all()) | added.added, Features::all());
            assert_eq!(added.applied_to(Features::empty()), added.added);
        }
    }

    #[test]
    fn other_texts_are_refused_in_words() {
        for (text, word) in [
            ("client-name", "no + or -"),
            ("+client_name", "known are client-name, reset-masks"),
            ("+CLIENT-NAME", "not simulated"),
            ("+list-handles,-list-handles", "both added and removed"),
        ] {
            let error = text.parse::<FeatureChanges>().unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        assert_eq!(" , ".parse(), Ok(FeatureChanges::default()));
    }
}
