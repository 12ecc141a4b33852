//! The directory of a device in debugfs.

use crate::options::place::Place;

/// The directory of all devices in debugfs.
pub const DEBUG: &str = "/sys/kernel/debug/dri";
/// The name of the file that resets a device.
pub const RECOVER: &str = "amdgpu_gpu_recover";

/// Returns the absolute path of the device's directory in debugfs.
pub fn debug_directory(place: Place) -> String {
    format!("{DEBUG}/{}", place.pci())
}

/// Returns the absolute path of the file that resets the device.
pub fn recover_path(place: Place) -> String {
    format!("{}/{RECOVER}", debug_directory(place))
}

/// Returns the links to the device's directory in debugfs, with their absolute paths: the minor number of each node.
///
/// Source: Linux 6.12 `drm_debugfs.c`, `drm_debugfs_dev_init` and `drm_debugfs_register`; `amdgpu_fence.c`,
/// `amdgpu_debugfs_fence_init`.
pub(super) fn debug_links(place: Place) -> [(String, String); 2] {
    [place.primary_minor(), place.render_minor()].map(|minor| (format!("{DEBUG}/{minor}"), place.pci().to_string()))
}
