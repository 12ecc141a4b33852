//! The releases of the kernel that can be simulated.

use std::{fmt, str::FromStr};

/// A release of Linux whose driver is simulated.
///
/// Every device behaves as on Linux 6.12, and later releases add features. The text form is the version number.
///
/// | release | minor | adds |
/// |---|---|---|
/// | 6.12 | 61 | |
/// | 6.13 | 61 | files in sysfs with the supported resets of each kind of ring: `gfx_reset_mask`, `compute_reset_mask`, `sdma_reset_mask`, `jpeg_reset_mask` |
/// | 6.17 | 64 | `vcn_reset_mask` (since 6.14); more chips reset only the stuck ring, its job ends with ETIME, and later jobs of other contexts run; sync objects of GEM_VA; user queues, which are disabled by default, as in the driver ([`SimOptions::user_queues`](crate::SimOptions::user_queues)) |
///
/// Not simulated are timelines in SYNCOBJ_HANDLE_TO_FD, SET_CLIENT_NAME, and newer keys of fdinfo.
///
/// Source: Linux 6.13 `amdgpu_gfx.c`, `amdgpu_gfx_sysfs_reset_mask_init`, and `amdgpu_sdma.c`, `amdgpu_jpeg.c`; Linux 6.17
/// `amdgpu_vcn.c`, `amdgpu_ring.c`, `amdgpu_ring_reset_helper_end`; `amdgpu_drv.c`, the list of minor versions.
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
    #[default]
    V6_12,
    /// Linux 6.13, which adds reset files in sysfs.
    V6_13,
    /// Linux 6.17, which adds user queues and resets of single rings on more chips.
    V6_17,
}

impl KernelRelease {
    /// All releases, the oldest first.
    pub const ALL: [Self; 3] = [Self::V6_12, Self::V6_13, Self::V6_17];

    /// Returns the minor version that the driver of this release reports. Stable releases of 6.12 and 6.13 report the minor version
    /// of 6.14.
    pub const fn drm_minor(self) -> i32 {
        match self {
            Self::V6_12 | Self::V6_13 => 61,
            Self::V6_17 => 64,
        }
    }

    const fn number(self) -> &'static str {
        match self {
            Self::V6_12 => "6.12",
            Self::V6_13 => "6.13",
            Self::V6_17 => "6.17",
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
    }

    #[test]
    fn other_releases_are_refused_in_words() {
        for text in ["", "6", "6.1", "6.120", "6.12 ", "7.0"] {
            let error = text.parse::<KernelRelease>().unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")) && error.contains("6.12, 6.13, 6.17"), "{error}");
        }
    }
}
