//! The last VM fault of an open file.

use amdgpu_hw::GfxLevel;
use amdgpu_uapi::GpuvmFault;
use parking_lot::Mutex;

use crate::gpu::{Access, PageFault};

/// The last VM fault in a file's address space.
#[derive(Debug)]
pub(crate) struct FaultCell {
    last: Mutex<GpuvmFault>,
    level: GfxLevel,
}

impl FaultCell {
    /// Creates a cell without a fault.
    pub(crate) const fn new(level: GfxLevel) -> Self {
        Self { last: Mutex::new(GpuvmFault::ZEROED), level }
    }

    pub(crate) fn record(&self, fault: PageFault) {
        let status = fault_status(fault.access, self.level);
        *self.last.lock() = GpuvmFault { addr: fault.va.low_48_bits() & !0xfff, status, vmhub: 0 };
    }

    pub(crate) fn last(&self) -> GpuvmFault {
        *self.last.lock()
    }
}

/// Returns the status register of a fault with the fields that depend on the access: missing permission, read or write, and from
/// GFX9 on the client, which is always the command processor's fetcher.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/include/asic_reg`, GCVM_L2_PROTECTION_FAULT_STATUS of `gc/gc_10_1_0_sh_mask.h`,
/// VM_CONTEXT1_PROTECTION_FAULT_STATUS of `gmc/gmc_8_1_sh_mask.h`.
const fn fault_status(access: Access, level: GfxLevel) -> u32 {
    const FETCHER: u32 = 4;
    let is_write = matches!(access, Access::Write) as u32;
    if level as u32 >= GfxLevel::Gfx9 as u32 { 1 << 4 | FETCHER << 9 | is_write << 18 } else { 1 | is_write << 24 }
}
