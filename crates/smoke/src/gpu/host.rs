//! The GPU's role in the machine: whether it drives a display, and whether it is powered down.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The directory of a node's device in sysfs, as it is below `root`.
///
/// Source: Linux `Documentation/ABI/stable/sysfs-driver-*`; `/sys/dev/char` is not used, so that captured trees will do.
pub(crate) fn device(root: &Path, node: &Path) -> Option<PathBuf> {
    let name = node.file_name()?;
    let device = root.join("sys/class/drm").join(name).join("device");
    device.is_dir().then_some(device)
}

/// Returns `true` if the GPU is powered down and would wake up if it were opened.
pub(crate) fn sleeps(device: &Path) -> bool {
    fs::read_to_string(device.join("power/runtime_status")).is_ok_and(|status| status.trim() == "suspended")
}

/// The connector through which the GPU shows a picture, if it does.
pub(crate) fn display(device: &Path) -> Option<String> {
    let cards = fs::read_dir(device.join("drm")).ok()?.flatten();
    let connectors = cards.flat_map(|card| fs::read_dir(card.path()).into_iter().flatten().flatten());
    let lit = |path: &Path| fs::read_to_string(path.join("enabled")).is_ok_and(|text| text.trim() == "enabled");
    connectors
        .filter(|connector| lit(&connector.path()))
        .map(|connector| connector.file_name().to_string_lossy().into_owned())
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("amdgpu-smoke-tree-{}-{name}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(root)
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const DEVICE: &str = "sys/class/drm/renderD128/device";

    #[test]
    fn an_enabled_connector_is_a_display() {
        let connector = |name: &str| format!("{DEVICE}/drm/card0/card0-{name}/enabled");
        let tree = Tree::new("lit", &[(&connector("DP-1"), "disabled\n"), (&connector("HDMI-A-1"), "enabled\n")]);
        let device = device(&tree.0, Path::new("/dev/dri/renderD128")).unwrap();
        assert_eq!(display(&device), Some("card0-HDMI-A-1".to_owned()));
        assert!(!sleeps(&device));
    }

    #[test]
    fn a_suspended_gpu_sleeps() {
        let tree = Tree::new("asleep", &[(&format!("{DEVICE}/power/runtime_status"), "suspended\n")]);
        let found = device(&tree.0, Path::new("/dev/dri/renderD128")).unwrap();
        assert!(sleeps(&found));
        assert_eq!(display(&found), None);
        assert_eq!(device(&tree.0, Path::new("/dev/dri/renderD129")), None);
    }
}
