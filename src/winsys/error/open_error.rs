//! Errors of opening a device.

use std::path::PathBuf;

use crate::{uapi::Errno, vamgr::LimitsError};

/// The reason why a device cannot be opened.
///
/// ```
/// use amdgpu_winsys::winsys::{Device, Error, OpenError};
///
/// let error = Device::open("/nowhere").unwrap_err();
/// assert!(matches!(error, Error::Open(OpenError::Node { .. })));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A node could not be opened.
    #[error("cannot open {}: {errno}", path.display())]
    Node {
        /// Path of the node.
        path: PathBuf,
        /// The errno of `open`.
        errno: Errno,
    },

    /// A device of this process already uses the open file, through the same descriptor, a duplicate of it, or the same
    /// kernel.
    #[error("another device of this process uses this open file")]
    FileInUse,

    /// The library cannot determine whether a device of this process already uses the open file.
    #[error("cannot determine if another device of this process uses this open file: {errno}")]
    FilesNotCompared {
        /// The errno of the last method tried.
        errno: Errno,
    },

    /// The node belongs to another driver.
    #[error("the driver is {name:?}, not amdgpu")]
    NotAmdgpu {
        /// The driver's name in VERSION.
        name: String,
    },

    /// The driver version is not supported: 3.27 or a later 3.x is needed, for BO lists inside CS (Linux 4.20).
    #[error("amdgpu {major}.{minor} is not supported, 3.{} or a later 3.x is needed", crate::winsys::MINIMUM_MINOR)]
    DriverVersion {
        /// Major version of the driver (`version_major`).
        major: i32,
        /// Minor version of the driver (`version_minor`).
        minor: i32,
    },

    /// The kernel could not start the GPU (ACCEL_WORKING is 0).
    #[error("the kernel reports that acceleration does not work")]
    NoAcceleration,

    /// The kernel has no sync objects (CAP_SYNCOBJ is 0).
    #[error("the kernel has no sync objects")]
    NoSyncobj,

    /// Neither graphics nor compute has a ring.
    #[error("neither the graphics nor the compute block has a ring")]
    NoRings,

    /// The chip is not in the library's tables.
    #[error("unknown chip: family {family}, external revision {external_rev:#x}")]
    UnknownChip {
        /// The chip family (`family` of DEV_INFO).
        family: u32,
        /// The external revision (`external_rev` of DEV_INFO).
        external_rev: u32,
    },

    /// The graphics IP version is not in the library's tables.
    #[error("unknown graphics IP version {major}.{minor}")]
    UnknownGfxVersion {
        /// Major version of the graphics IP.
        major: u32,
        /// Minor version of the graphics IP.
        minor: u32,
    },

    /// The kernel reported address ranges that no GPU can have.
    #[error("the kernel reported impossible address ranges: {0}")]
    Addresses(#[from] LimitsError),
}
