//! Finding GPUs by sysfs alone, under a root of the caller's choice.

use std::{
    fs,
    path::{Path, PathBuf},
};

use amdgpu_winsys::winsys::{Node, PciAddress};

/// A directory with a `dev/dri` and a `sys/dev/char`, removed on drop.
struct Root(PathBuf);

impl Root {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("enumerate-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("dev/dri")).unwrap();
        Self(path)
    }

    fn node(&self, name: &str, minor: u32, files: &[(&str, &str)]) {
        fs::write(self.0.join("dev/dri").join(name), "").unwrap();
        let device = self.0.join(format!("sys/dev/char/226:{minor}/device"));
        fs::create_dir_all(&device).unwrap();
        for (name, text) in files {
            fs::write(device.join(name), text).unwrap();
        }
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // What is left behind lies in the target directory.
        let _ = fs::remove_dir_all(&self.0);
    }
}

const NAVI21: [(&str, &str); 4] = [
    ("vendor", "0x1002\n"),
    ("device", "0x73bf\n"),
    ("revision", "0xc3\n"),
    ("uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:0b:00.0\n"),
];

#[test]
fn amd_render_nodes_are_found_in_order_with_their_place_and_chip() {
    let root = Root::new("order");
    let mut second = NAVI21;
    second[3].1 = "PCI_SLOT_NAME=0000:03:00.0\n";
    root.node("renderD129", 129, &second);
    root.node("renderD128", 128, &NAVI21);
    root.node("card0", 0, &NAVI21);
    for name in ["card1", "renderD128", "card1-DP-1"] {
        fs::create_dir_all(root.0.join("sys/dev/char/226:128/device/drm").join(name)).unwrap();
    }
    let nodes = Node::enumerate(&root.0).unwrap();
    assert_eq!(nodes.iter().map(|node| node.primary_minor).collect::<Vec<_>>(), [Some(1), None]);
    let found: Vec<_> = nodes.iter().map(|node| (node.minor, node.pci.bus)).collect();
    assert_eq!(found, [(128, 0x0b), (129, 0x03)]);
    let first = &nodes[0];
    assert_eq!((first.device_id, first.revision), (0x73bf, 0xc3));
    assert_eq!(first.pci, PciAddress::parse("0000:0b:00.0").unwrap());
    assert_eq!(first.path, root.0.join("dev/dri/renderD128"));
}

#[test]
fn other_vendors_and_damaged_entries_are_left_out() {
    let root = Root::new("damage");
    let with = |index: usize, text: &'static str| {
        let mut files = NAVI21;
        files[index].1 = text;
        files
    };
    root.node("renderD128", 128, &with(0, "0x8086\n"));
    root.node("renderD129", 129, &with(0, "what?"));
    root.node("renderD130", 130, &with(1, "0x12345678\n"));
    root.node("renderD131", 131, &with(3, "DRIVER=amdgpu\n"));
    root.node("renderD132", 132, &with(3, "PCI_SLOT_NAME=nowhere\n"));
    root.node("renderD133", 133, &NAVI21[..2]);
    root.node("renderDxyz", 134, &NAVI21);
    assert_eq!(Node::enumerate(&root.0).unwrap(), []);
}

#[test]
fn a_machine_without_drm_has_no_nodes() {
    assert_eq!(Node::enumerate(Path::new("/nowhere/at/all")).unwrap(), []);
}
