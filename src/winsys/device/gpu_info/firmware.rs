//! Versions of the firmware (microcode).

use crate::{
    uapi::{InfoFirmware, firmware, query},
    winsys::{Kernel, Result, device::query::info},
};

/// The version of one firmware image; both numbers are 0 if the chip has none.
///
/// ```
/// use amdgpu_winsys::winsys::Firmware;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let Firmware { version, feature } = device.info().mec_firmware;
/// assert!((version, feature) != (0, 0)); // the chip has a compute engine
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Firmware {
    /// Version of the firmware image.
    pub version: u32,
    /// Feature version, which increases with new firmware features.
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
