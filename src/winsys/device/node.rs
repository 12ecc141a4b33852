//! Enumeration of render nodes.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use amdgpu_hw::PciAddress;
use drm::node::NodeType;

/// The PCI vendor id of AMD.
const AMD: u16 = 0x1002;
/// The major number of DRM character devices.
const DRM_MAJOR: u32 = 226;

/// A render node of an AMD GPU, as sysfs describes it. The node is not opened, so a suspended GPU is not woken.
///
/// ```
/// use amdgpu_winsys::winsys::Node;
///
/// let root = std::env::temp_dir().join(format!("amdgpu-nodes-{}", std::process::id())); // `/` on a real system
/// # let place = root.join("sys/dev/char/226:128/device");
/// # std::fs::create_dir_all(&place)?;
/// # std::fs::create_dir_all(root.join("dev/dri"))?;
/// # std::fs::write(root.join("dev/dri/renderD128"), "")?;
/// # for (name, text) in [("vendor", "0x1002"), ("device", "0x73bf"), ("revision", "0xc3"), ("uevent", "PCI_SLOT_NAME=0000:0b:00.0")] {
/// #     std::fs::write(place.join(name), text)?;
/// # }
/// let nodes = Node::enumerate(&root)?;
/// # std::fs::remove_dir_all(&root)?;
/// assert_eq!((nodes.len(), nodes[0].minor, nodes[0].device_id), (1, 128, 0x73bf));
/// assert_eq!(nodes[0].path, root.join("dev/dri/renderD128")); // for Device::open
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Path of the node, such as `/dev/dri/renderD128`.
    pub path: PathBuf,
    /// Minor device number, at least 128.
    pub minor: u32,
    /// Minor device number of the GPU's primary node (`/dev/dri/cardN`), for `VkPhysicalDeviceDrmPropertiesEXT`; `None` if
    /// the GPU has no primary node.
    pub primary_minor: Option<u32>,
    /// PCI address of the GPU.
    pub pci: PciAddress,
    /// PCI device ID.
    pub device_id: u16,
    /// PCI revision.
    pub revision: u8,
}

impl Node {
    /// Lists all render nodes of AMD GPUs, in order of their minor numbers.
    ///
    /// Nodes of other vendors and nodes whose sysfs files are missing or unreadable are omitted. `root` is `/`, or a directory with
    /// a captured `dev/dri` and `sys/dev/char`.
    ///
    /// # Errors
    ///
    /// The I/O error if `dev/dri` cannot be read. If it does not exist, the list is empty.
    pub fn enumerate(root: &Path) -> io::Result<Vec<Self>> {
        let directory = root.join("dev/dri");
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut nodes = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            if let Some(node) = name.to_str().and_then(|name| Self::read(root, &directory, name)) {
                nodes.push(node);
            }
        }
        nodes.sort_by_key(|node| node.minor);
        Ok(nodes)
    }

    fn read(root: &Path, directory: &Path, name: &str) -> Option<Self> {
        let minor = name.strip_prefix(NodeType::Render.minor_name_prefix())?.parse().ok()?;
        let device = root.join(format!("sys/dev/char/{DRM_MAJOR}:{minor}/device"));
        let file = |name: &str| fs::read_to_string(device.join(name)).ok();
        if hex(&file("vendor")?)? != u32::from(AMD) {
            return None;
        }
        let uevent = file("uevent")?;
        let slot = uevent.lines().find_map(|line| line.strip_prefix("PCI_SLOT_NAME="))?;
        Some(Self {
            path: directory.join(name),
            minor,
            primary_minor: primary_minor(&device),
            pci: PciAddress::parse(slot.trim())?,
            device_id: u16::try_from(hex(&file("device")?)?).ok()?,
            revision: file("revision").and_then(|text| hex(&text)).and_then(|value| u8::try_from(value).ok())?,
        })
    }
}

/// Returns the minor number of a device's primary node. sysfs has a directory for each node of the device, and the name of
/// the primary one ends in its minor number (Linux 6.12 `drm_sysfs.c`, `drm_sysfs_minor_alloc`).
fn primary_minor(device: &Path) -> Option<u32> {
    let names = fs::read_dir(device.join("drm")).ok()?.flatten().map(|entry| entry.file_name());
    let prefix = NodeType::Primary.minor_name_prefix();
    names.filter_map(|name| name.to_str()?.strip_prefix(prefix)?.parse().ok()).min()
}

/// Parses a sysfs number such as `0x73bf`.
fn hex(text: &str) -> Option<u32> {
    let text = text.trim();
    u32::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}
