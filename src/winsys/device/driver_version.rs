//! Versions of the driver's interface.

/// The oldest driver the library works with: 3.27 brought BO lists inside CS.
pub const MINIMUM_MINOR: i32 = 27;

/// The answer of VERSION.
///
/// ```
/// use amdgpu_winsys::winsys::MINIMUM_MINOR;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let driver = device.info().driver;
/// assert!(driver.major == 3 && driver.minor >= MINIMUM_MINOR);
/// let reports_page_faults = driver.minor >= 55; // a feature that came with a minor version
/// assert_eq!(device.page_fault().is_ok(), reports_page_faults);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverVersion {
    /// Always 3 for amdgpu.
    pub major: i32,
    /// A promise of features: everything listed up to it works.
    pub minor: i32,
    /// Patch level.
    pub patch: i32,
}
