//! Versions of the driver's interface.

/// The oldest driver the library works with: 3.27 brought BO lists inside CS.
pub const MINIMUM_MINOR: i32 = 27;

/// The answer of VERSION.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverVersion {
    /// Always 3 for amdgpu.
    pub major: i32,
    /// A promise of features: everything listed up to it works.
    pub minor: i32,
    /// Patch level.
    pub patch: i32,
}
