//! What the kernel refuses of a new BO, known before it is asked.

use nix::errno::Errno;

use super::{ALIGNMENT_LIMIT, BoRequest};
use crate::{
    uapi::{GemCreateFlags, GemDomain},
    winsys::{Capabilities, GpuInfo},
};

/// A rule of GEM_CREATE that a request breaks. The kernel says EINVAL to nearly all of them; this says which.
///
/// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_create_ioctl`, and `amdgpu_object.c`, `amdgpu_bo_create`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoRuleError {
    /// No bytes: the kernel's offset allocator says ENOSPC.
    #[error("a BO of no bytes")]
    ZeroSize,
    /// The size is within a page of 2^64: rounded up it is zero.
    #[error("{size:#x} bytes cannot be rounded up to a page")]
    SizeOverflow {
        /// Bytes asked for.
        size: u64,
    },
    /// Not a power of two, which the allocator of VRAM wants, or 2 GiB and more, which the kernel cuts to 32 bits.
    #[error("alignment {alignment:#x} is no power of two below 2 GiB")]
    Alignment {
        /// Bytes asked for.
        alignment: u64,
    },
    /// A domain that GEM_CREATE does not know, or DOORBELL, whose BOs come with user queues.
    #[error("domain {0:?} cannot be asked for")]
    Domain(GemDomain),
    /// GDS, GWS and OA are units of the chip: each is asked for alone.
    #[error("{0:?} are not asked for together")]
    MixedDomains(GemDomain),
    /// A flag that is the kernel's own, or that no kernel knows.
    #[error("{0:?} cannot be set from user space")]
    Flag(GemCreateFlags),
    /// A flag that a later kernel has.
    #[error("{flag:?} needs amdgpu 3.{needed}, this is 3.{minor}")]
    TooOld {
        /// The flag.
        flag: GemCreateFlags,
        /// The driver's minor version.
        minor: i32,
        /// The first that has it.
        needed: i32,
    },
    /// Encrypted memory of a device without TMZ.
    #[error("encrypted memory on a device without TMZ")]
    NoTmz,
    /// GDS, GWS and OA cannot be resident for every submission.
    #[error("{0:?} cannot be VM_ALWAYS_VALID")]
    AlwaysValid(GemDomain),
}

/// What may be asked for from user space.
const USER_FLAGS: GemCreateFlags = GemCreateFlags::CPU_ACCESS_REQUIRED
    .union(GemCreateFlags::NO_CPU_ACCESS)
    .union(GemCreateFlags::CPU_GTT_USWC)
    .union(GemCreateFlags::VRAM_CLEARED)
    .union(GemCreateFlags::VM_ALWAYS_VALID)
    .union(GemCreateFlags::EXPLICIT_SYNC)
    .union(GemCreateFlags::ENCRYPTED)
    .union(GemCreateFlags::DISCARDABLE)
    .union(GemCreateFlags::GFX12_DCC);

/// Flags that came with a minor version. VM_ALWAYS_VALID and EXPLICIT_SYNC are older than any that is supported.
const SINCE: [(GemCreateFlags, i32); 2] = [(GemCreateFlags::DISCARDABLE, 47), (GemCreateFlags::GFX12_DCC, 58)];

/// Memory proper.
const MEMORY: GemDomain = GemDomain::CPU.union(GemDomain::GTT).union(GemDomain::VRAM);
/// Units of the chip that are handed out like memory.
const UNITS: GemDomain = GemDomain::GDS.union(GemDomain::GWS).union(GemDomain::OA);

impl BoRuleError {
    /// What the kernel would have answered. For an alignment that comes out wrong it would have said yes, in GTT.
    pub const fn errno(&self) -> Errno {
        match self {
            Self::ZeroSize | Self::SizeOverflow { .. } => Errno::ENOSPC,
            _ => Errno::EINVAL,
        }
    }
}

impl BoRequest {
    /// Whether a kernel could agree. [`Bo::create`](super::Bo::create) asks this first; whether there is room, only the
    /// kernel knows.
    ///
    /// # Errors
    ///
    /// The first rule that is broken.
    pub fn check(&self, gpu: &GpuInfo) -> Result<(), BoRuleError> {
        let &Self { size, alignment, domains, flags } = self;
        // In the kernel's order, so that the errno is the one it would choose.
        check_domains(domains, flags)?;
        check_flags(flags, gpu)?;
        match size {
            0 => return Err(BoRuleError::ZeroSize),
            _ if size.checked_next_multiple_of(super::PAGE_SIZE).is_none() => {
                return Err(BoRuleError::SizeOverflow { size });
            }
            _ => {}
        }
        if alignment != 0 && (!alignment.is_power_of_two() || alignment >= ALIGNMENT_LIMIT) {
            return Err(BoRuleError::Alignment { alignment });
        }
        Ok(())
    }
}

fn check_domains(domains: GemDomain, flags: GemCreateFlags) -> Result<(), BoRuleError> {
    let refused = domains - MEMORY - UNITS;
    if !refused.is_empty() {
        return Err(BoRuleError::Domain(refused));
    }
    let units = domains & UNITS;
    if units.is_empty() {
        return Ok(());
    }
    if units.bits().count_ones() > 1 || domains != units {
        return Err(BoRuleError::MixedDomains(domains));
    }
    if flags.contains(GemCreateFlags::VM_ALWAYS_VALID) { Err(BoRuleError::AlwaysValid(units)) } else { Ok(()) }
}

fn check_flags(flags: GemCreateFlags, gpu: &GpuInfo) -> Result<(), BoRuleError> {
    let refused = flags - USER_FLAGS;
    if !refused.is_empty() {
        return Err(BoRuleError::Flag(refused));
    }
    let minor = gpu.driver.minor;
    for (flag, needed) in SINCE {
        if flags.contains(flag) && minor < needed {
            return Err(BoRuleError::TooOld { flag, minor, needed });
        }
    }
    let encrypted = flags.contains(GemCreateFlags::ENCRYPTED);
    if encrypted && !gpu.capabilities.contains(Capabilities::TMZ) { Err(BoRuleError::NoTmz) } else { Ok(()) }
}
