//! Microcode versions.

use crate::{
    uapi::{InfoFirmware, firmware, query},
    winsys::{Kernel, Result, device::query::info},
};

/// Version of one microcode image; both numbers are 0 when the chip has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Firmware {
    /// Version.
    pub version: u32,
    /// Feature version.
    pub feature: u32,
}

impl Firmware {
    pub(super) const ME: u32 = firmware::GFX_ME;
    pub(super) const PFP: u32 = firmware::GFX_PFP;
    pub(super) const MEC: u32 = firmware::GFX_MEC;

    pub(super) fn query(kernel: &dyn Kernel, kind: u32) -> Result<Self> {
        let answer: InfoFirmware = info(kernel, "FW_VERSION", query::FW_VERSION, [kind, 0, 0, 0])?;
        Ok(Self { version: answer.ver, feature: answer.feature })
    }
}
