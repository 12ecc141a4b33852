//! The releases of the kernel that can be simulated.

use std::{fmt, str::FromStr};

use super::features::Features;

/// A release of Linux whose driver is simulated.
///
/// Every device behaves as on Linux 6.12 but for the [`Features`](crate::Features) of later releases. The text form is the version
/// number. The default is the newest release that is maintained for years.
///
/// | release | minor | adds |
/// |---|---|---|
/// | 6.12 | 61 | |
/// | 6.13 | 61 | names of clients; files in sysfs with the supported resets of each kind of ring |
/// | 6.16 | 64 | user queues, which are disabled by default, as in the driver ([`SimOptions::user_queues`](crate::SimOptions::user_queues)); sync objects of GEM_VA; points in descriptors of sync objects; since 6.14: keys of fdinfo for each region, `vcn_reset_mask`, cgroups for VRAM; since 6.15: events of resets |
/// | 6.17 | 64 | more chips reset only the stuck ring, its job ends with ETIME, and later jobs of other contexts run; signalled fences have common names; events of resets name the process; directories of open files in debugfs |
/// | 6.18 | 64 | GEM_LIST_HANDLES, GET_MAPPING_INFO of GEM_OP |
/// | 6.19 | 64 | colour pipelines of planes; refuses IBs of the constant engine; tells of submissions to several rings in DEV_INFO |
/// | 7.0 | 64 | time-outs of 2 seconds; the carve-out of an APU can be chosen |
/// | 7.2 | 64 | errors of entities instead of contexts; no soft recovery from GFX9 on; flags of GEM_CREATE; stricter checks; GTT of an APU is not larger than the memory; a doorbell is of one user queue, user queues hang if VRAM is lost, and unmapping what they need waits for them |
/// | 7.3 | 64 | PROC_OPTIONS; limits of cgroups below their usage evict; areas of user queues are checked to the byte |
///
/// From 6.16 on the minor version does not tell the releases apart.
///
/// Source: the files that [`Features`](crate::Features) names; `amdgpu_drv.c`, the list of minor versions.
///
/// ```
/// use amdgpu_sim::KernelRelease;
///
/// let release: KernelRelease = "6.17".parse()?;
/// assert_eq!(release, KernelRelease::V6_17);
/// assert_eq!(release.drm_minor(), 64);
/// assert!("6.11".parse::<KernelRelease>().is_err());
/// # Ok::<(), amdgpu_sim::KernelReleaseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum KernelRelease {
    /// Linux 6.12, on which all simulated behaviour is based.
    V6_12,
    /// Linux 6.13, which adds reset files in sysfs.
    V6_13,
    /// Linux 6.16, which adds user queues and the features of 6.14 and 6.15.
    V6_16,
    /// Linux 6.17, which resets single rings on more chips.
    V6_17,
    /// Linux 6.18, which lists handles and mappings, and is the newest that is maintained for years.
    #[default]
    V6_18,
    /// Linux 6.19, which has no constant engine any more.
    V6_19,
    /// Linux 7.0, whose time-outs are shorter.
    V7_0,
    /// Linux 7.2, which keeps errors to entities.
    V7_2,
    /// Linux 7.3, which adds options of processes.
    V7_3,
}

impl KernelRelease {
    /// All releases, the oldest first.
    pub const ALL: [Self; 9] = [
        Self::V6_12,
        Self::V6_13,
        Self::V6_16,
        Self::V6_17,
        Self::V6_18,
        Self::V6_19,
        Self::V7_0,
        Self::V7_2,
        Self::V7_3,
    ];

    /// Returns the minor version that the driver of this release reports. Stable releases of 6.12 and 6.13 report the minor version
    /// of 6.14.
    pub const fn drm_minor(self) -> i32 {
        match self {
            Self::V6_12 | Self::V6_13 => 61,
            _ => 64,
        }
    }

    /// Returns the newest release all of whose features are among these.
    pub(crate) fn within(features: Features) -> Self {
        Self::ALL.into_iter().rev().find(|&release| features.contains(Features::of(release))).unwrap_or(Self::V6_12)
    }

    const fn number(self) -> &'static str {
        match self {
            Self::V6_12 => "6.12",
            Self::V6_13 => "6.13",
            Self::V6_16 => "6.16",
            Self::V6_17 => "6.17",
            Self::V6_18 => "6.18",
            Self::V6_19 => "6.19",
            Self::V7_0 => "7.0",
            Self::V7_2 => "7.2",
            Self::V7_3 => "7.3",
        }
    }
}

impl fmt::Display for KernelRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.number())
    }
}

/// The error of parsing a text that is not a supported release.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel {text:?} is not simulated; known are {}", KernelRelease::ALL.map(KernelRelease::number).join(", "))]
pub struct KernelReleaseError {
    /// The rejected text.
    pub text: String,
}

impl FromStr for KernelRelease {
    type Err = KernelReleaseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|release| release.number() == text);
        known.ok_or_else(|| KernelReleaseError { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_read_as_it_is_written() {
        for release in KernelRelease::ALL {
            assert_eq!(release.to_string().parse(), Ok(release));
        }
        assert!(KernelRelease::ALL.is_sorted());
        for release in KernelRelease::ALL {
            assert_eq!(KernelRelease::within(Features::of(release)), release);
        }
        assert_eq!(KernelRelease::within(Features::LIST_HANDLES), KernelRelease::V6_12);
    }

    #[test]
    fn other_releases_are_refused_in_words() {
        for text in ["", "6", "6.1", "6.120", "6.12 ", "7.1", "7"] {
            let error = text.parse::<KernelRelease>().unwrap_err().to_string();
            assert!(
                error.contains(&format!("{text:?}"))
                    && error.contains("6.12, 6.13, 6.16, 6.17, 6.18, 6.19, 7.0, 7.2, 7.3"),
                "{error}"
            );
        }
    }
}
