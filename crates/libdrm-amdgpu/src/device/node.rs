//! The kind of a descriptor's node, and the GPU that the node belongs to.
//!
//! Everything goes through functions of the C library that preload libraries replace: fstat, opendir, readdir.

use std::{ffi::c_int, fs, os::fd::BorrowedFd};

use nix::sys::stat::{SFlag, fstat, major, minor};

/// The first minor number of a render node; 64 numbers of primary nodes come first, and 64 that nothing uses.
const RENDER: u64 = 128;

/// The node behind a descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeName {
    /// The minor number; `None` if the descriptor is of no device.
    minor: Option<u64>,
    /// The name of the GPU's primary node, such as `card0`; `None` if sysfs does not say.
    primary: Option<String>,
    pub(super) is_render: bool,
}

impl NodeName {
    /// Looks a descriptor up in sysfs.
    pub(super) fn of(fd: c_int) -> Self {
        if fd < 0 {
            return Self::default();
        }
        // SAFETY: lent for this call; the contract of the functions is that the caller's descriptor is open.
        let Ok(status) = fstat(unsafe { BorrowedFd::borrow_raw(fd) }) else { return Self::default() };
        if !SFlag::from_bits_truncate(status.st_mode).contains(SFlag::S_IFCHR) {
            return Self::default();
        }
        let (major, minor) = (major(status.st_rdev), minor(status.st_rdev));
        let Ok(entries) = fs::read_dir(format!("/sys/dev/char/{major}:{minor}/device/drm")) else {
            // The numbers are all that is known.
            return Self { minor: Some(minor), primary: None, is_render: (RENDER..RENDER + 64).contains(&minor) };
        };
        let names: Vec<_> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let render = format!("renderD{minor}");
        let primary =
            names.iter().filter(|name| name.starts_with("card") && !name.contains('-')).min_by_key(|name| name.len());
        Self { minor: Some(minor), primary: primary.cloned(), is_render: names.contains(&render) }
    }

    /// Returns `true` if both nodes are of one GPU. If sysfs does not tell, two nodes are taken as of one GPU, as libdrm does, unless
    /// both are of a kind and have different numbers.
    pub(super) fn is_same_gpu(&self, other: &Self) -> bool {
        match (&self.primary, &other.primary, self.minor, other.minor) {
            (Some(one), Some(another), ..) => one == another,
            (_, _, Some(one), Some(another)) if self.is_render == other.is_render => one == another,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_one_primary_node_are_one_gpu_and_unknown_ones_are_compared_by_number() {
        let node = |minor, primary: Option<&str>| NodeName {
            minor: Some(minor),
            primary: primary.map(str::to_owned),
            is_render: minor >= RENDER,
        };
        assert!(node(0, Some("card0")).is_same_gpu(&node(128, Some("card0"))));
        assert!(!node(128, Some("card0")).is_same_gpu(&node(129, Some("card1"))));
        assert!(node(0, None).is_same_gpu(&node(128, None)));
        assert!(!node(128, None).is_same_gpu(&node(129, None)));
        assert!(node(128, None).is_same_gpu(&node(128, None)));
    }

    #[test]
    fn what_is_no_device_has_no_number() {
        assert_eq!(NodeName::of(-1), NodeName::default());
        let file = fs::File::open("/proc/self/status").unwrap();
        assert_eq!(NodeName::of(std::os::fd::AsRawFd::as_raw_fd(&file)), NodeName::default());
    }
}
