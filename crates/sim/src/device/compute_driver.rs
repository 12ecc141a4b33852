//! The compute driver (KFD) beside a simulated GPU: the facts that programs ask before they use it.
//!
//! There is no node to open and no queue: the version of the interface and the description of the GPU are all.

use amdgpu_hw::GfxLevel;

use super::SimDevice;
use crate::testing::mutation::Mutation;

/// The version of the interface.
///
/// Source: Linux 6.12 `include/uapi/linux/kfd_ioctl.h`, `KFD_IOCTL_MAJOR_VERSION` and `KFD_IOCTL_MINOR_VERSION`.
const VERSION: (u32, u32) = (1, 17);
/// The PCI vendor ID of AMD.
const VENDOR: u32 = 0x1002;

/// The facts that the compute driver tells about a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputeDriver {
    /// The major and minor version of the interface.
    pub version: (u32, u32),
    /// The minor number of the render node in `properties`.
    pub render_minor: u32,
    /// The file `properties` of the GPU's node in the topology: a name and a decimal number on each line. It has the lines about
    /// identity and size alone.
    pub properties: String,
}

impl SimDevice {
    /// Returns what the compute driver tells about the GPU; `None` for GFX6, which it does not support.
    ///
    /// Source: Linux 6.12 `amdkfd/kfd_topology.c`, `node_show`; `kfd_device.c`, `kgd2kfd_probe`.
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, profile};
    ///
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, SimOptions::default());
    /// let driver = gpu.compute_driver().ok_or("not supported")?;
    /// assert_eq!(driver.version.0, 1);
    /// assert!(driver.properties.contains("vendor_id 4098"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compute_driver(&self) -> Option<ComputeDriver> {
        let profile = self.profile();
        if profile.gfx_level == GfxLevel::Gfx6 {
            return None;
        }
        let simds_per_unit = if profile.gfx_level >= GfxLevel::Gfx10 { 2 } else { 4 };
        let render_minor = self.place().render_minor();
        let (units, device) = (profile.dev_info.cu_active_number, profile.dev_info.device_id);
        let properties = format!(
            "cpu_cores_count 0\nsimd_count {}\nsimd_per_cu {simds_per_unit}\nvendor_id {VENDOR}\ndevice_id {device}\ndrm_render_minor {render_minor}\n",
            units * simds_per_unit,
        );
        let is_foreign = self.control().mutation() == Some(Mutation::ForeignInterface);
        let version = if is_foreign { (VERSION.0 + 1, 0) } else { VERSION };
        Some(ComputeDriver { version, render_minor, properties })
    }
}
