//! Versions of the kernel driver's interface.

/// The oldest supported DRM minor version: 3.27 introduced BO lists inside CS.
pub const MINIMUM_MINOR: i32 = 27;

/// The version of the kernel driver, from the VERSION request.
///
/// ```
/// use amdgpu_winsys::winsys::MINIMUM_MINOR;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let driver = device.info().driver;
/// assert!(driver.major == 3 && driver.minor >= MINIMUM_MINOR);
/// let reports_page_faults = driver.minor >= 55; // a feature of DRM 3.55
/// assert_eq!(device.page_fault().is_ok(), reports_page_faults);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverVersion {
    /// Major version; always 3 for amdgpu.
    pub major: i32,
    /// DRM minor version: every feature of this and all earlier minor versions is supported.
    pub minor: i32,
    /// Patch level, which no feature depends on.
    pub patch: i32,
}
