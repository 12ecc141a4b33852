//! The rules of GEM_CREATE, as errors.

use crate::uapi::{Errno, GemCreateFlags, GemDomain};

/// A rule of GEM_CREATE that a request breaks. For nearly all of them, the kernel returns only `EINVAL`.
///
/// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_create_ioctl`, and `amdgpu_object.c`, `amdgpu_bo_create`.
///
/// ```
/// use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{BoRequest, BoRuleError}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let good = BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
/// let broken = |request: BoRequest| request.check(device.info()).unwrap_err();
/// assert_eq!(broken(BoRequest { size: 0, ..good }), BoRuleError::ZeroSize);
/// assert_eq!(broken(BoRequest { alignment: 3, ..good }), BoRuleError::Alignment { alignment: 3 });
/// let mixed = GemDomain::GDS | GemDomain::GWS;
/// assert_eq!(broken(BoRequest { domains: mixed, ..good }), BoRuleError::MixedDomains(mixed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoRuleError {
    /// The size is 0; the kernel's offset allocator returns `ENOSPC`.
    #[error("the size is 0")]
    ZeroSize,
    /// The size is within a page of 2^64, so that it rounds up to zero.
    #[error("{size:#x} bytes cannot be rounded up to a page")]
    SizeOverflow {
        /// The requested size in bytes.
        size: u64,
    },
    /// The alignment is not a power of two, as the VRAM allocator requires, or it is 2 GiB or more, which the kernel
    /// truncates to 32 bits.
    #[error("alignment {alignment:#x} is not a power of two below 2 GiB")]
    Alignment {
        /// The requested alignment in bytes.
        alignment: u64,
    },
    /// GEM_CREATE does not accept the domain, or it is DOORBELL and the kernel does not support user queues.
    #[error("domain {0:?} cannot be requested")]
    Domain(GemDomain),
    /// Domains of on-chip units (GDS, GWS, OA, DOORBELL) were combined with other domains; each must be requested alone.
    #[error("domains {0:?} cannot be requested together")]
    MixedDomains(GemDomain),
    /// The flag is reserved for the kernel or unknown.
    #[error("{0:?} cannot be set from user space")]
    Flag(GemCreateFlags),
    /// The flag needs a later kernel.
    #[error("{flag:?} needs amdgpu 3.{needed}, this is 3.{minor}")]
    TooOld {
        /// The requested flag.
        flag: GemCreateFlags,
        /// The DRM minor version of the driver.
        minor: i32,
        /// The first DRM minor version that accepts the flag.
        needed: i32,
    },
    /// ENCRYPTED was requested on a device without TMZ.
    #[error("encrypted memory needs TMZ, which this device does not support")]
    NoTmz,
    /// GDS, GWS, OA and DOORBELL cannot be VM_ALWAYS_VALID.
    #[error("{0:?} cannot be VM_ALWAYS_VALID")]
    AlwaysValid(GemDomain),
}

impl BoRuleError {
    /// Returns the errno with which the kernel reports the broken rule. In GTT the kernel accepts every alignment; this
    /// library refuses the unsupported ones there too.
    pub const fn errno(&self) -> Errno {
        match self {
            Self::ZeroSize | Self::SizeOverflow { .. } => Errno::ENOSPC,
            _ => Errno::EINVAL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_create_ioctl`, and `amdgpu_object.c`, `amdgpu_bo_create`.
    #[test]
    fn sizes_have_another_errno_than_all_else() {
        for rule in [BoRuleError::ZeroSize, BoRuleError::SizeOverflow { size: u64::MAX }] {
            assert_eq!(rule.errno(), Errno::ENOSPC, "{rule}");
        }
        for rule in [BoRuleError::Alignment { alignment: 3 }, BoRuleError::NoTmz, BoRuleError::Domain(GemDomain::CPU)] {
            assert_eq!(rule.errno(), Errno::EINVAL, "{rule}");
        }
    }
}
