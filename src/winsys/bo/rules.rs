//! The kernel's rules for new BOs, checked before the request is made.

use super::{BoRequest, BoRuleError, request::ALIGNMENT_LIMIT};
use crate::{
    uapi::{GemCreateFlags, GemDomain, USERQ_DRM_MINOR},
    winsys::{Capabilities, GpuInfo},
};

/// Flags that user space may request.
const USER_FLAGS: GemCreateFlags = GemCreateFlags::CPU_ACCESS_REQUIRED
    .union(GemCreateFlags::NO_CPU_ACCESS)
    .union(GemCreateFlags::CPU_GTT_USWC)
    .union(GemCreateFlags::VRAM_CLEARED)
    .union(GemCreateFlags::VM_ALWAYS_VALID)
    .union(GemCreateFlags::EXPLICIT_SYNC)
    .union(GemCreateFlags::ENCRYPTED)
    .union(GemCreateFlags::DISCARDABLE)
    .union(GemCreateFlags::GFX12_DCC);

/// Flags with the DRM minor version that added them. VM_ALWAYS_VALID and EXPLICIT_SYNC are older than every supported
/// version.
const SINCE: [(GemCreateFlags, i32); 2] = [(GemCreateFlags::DISCARDABLE, 47), (GemCreateFlags::GFX12_DCC, 58)];

/// The domains of memory.
const MEMORY: GemDomain = GemDomain::CPU.union(GemDomain::GTT).union(GemDomain::VRAM);
/// The domains of on-chip units, which are allocated like memory.
const UNITS: GemDomain = GemDomain::GDS.union(GemDomain::GWS).union(GemDomain::OA);

impl BoRequest {
    /// Checks the request against the rules of GEM_CREATE. [`Bo::create`](super::Bo::create) calls this first; only the
    /// kernel knows whether there is room.
    ///
    /// # Errors
    ///
    /// [`BoRuleError`] for the first rule that the request breaks, in the kernel's order.
    pub fn check(&self, gpu: &GpuInfo) -> Result<(), BoRuleError> {
        let &Self { size, alignment, domains, flags } = self;
        // In the kernel's order, so that the error has the errno that the kernel would return.
        check_domains(domains, flags, gpu)?;
        check_flags(flags, gpu)?;
        match size {
            0 => return Err(BoRuleError::ZeroSize),
            _ if size.checked_next_multiple_of(crate::winsys::PAGE_SIZE).is_none() => {
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

fn check_domains(domains: GemDomain, flags: GemCreateFlags, gpu: &GpuInfo) -> Result<(), BoRuleError> {
    let doorbells = if gpu.driver.minor < USERQ_DRM_MINOR { GemDomain::empty() } else { GemDomain::DOORBELL };
    let refused = domains - MEMORY - UNITS - doorbells;
    if !refused.is_empty() {
        return Err(BoRuleError::Domain(refused));
    }
    let units = domains & (UNITS | doorbells);
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
