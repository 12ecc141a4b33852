//! The places of devices in a machine.

use amdgpu_hw::PciAddress;

/// The PCI bus of the first device. Each further device is on the next bus.
const FIRST_BUS: u8 = 3;
/// The major number of DRM nodes.
pub const DRM_MAJOR: u32 = 226;
/// The minor number of the first render node.
pub const FIRST_RENDER_MINOR: u32 = 128;
/// The maximum number of devices: the minor numbers below those of render nodes (Linux 6.12 `drm_drv.c`).
pub const MOST_DEVICES: usize = 64;

/// The place of a device in a machine: its PCI slot and the minor numbers of its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    index: u8,
    minor: u8,
}

impl Place {
    /// The place of the first device.
    pub const FIRST: Self = Self { index: 0, minor: 0 };

    /// Returns the place of the device with this index; `None` if `index` is [`MOST_DEVICES`] or more.
    pub fn new(index: usize) -> Option<Self> {
        u8::try_from(index).ok().filter(|_| index < MOST_DEVICES).map(|index| Self { index, minor: index })
    }

    /// Returns the same slot with other nodes, `cardN` and `renderD(128 + N)`; `None` if `N` is [`MOST_DEVICES`] or more. A device
    /// that is discovered again gets new nodes while files of the old nodes are open.
    ///
    /// Source: Linux 6.12 `drm_drv.c`, `drm_minor_alloc` and `drm_minor_alloc_release`.
    #[must_use]
    pub fn with_nodes(self, number: usize) -> Option<Self> {
        Self::new(number).map(|Self { minor, .. }| Self { minor, ..self })
    }

    /// Returns the PCI address of the device.
    pub fn pci(self) -> PciAddress {
        PciAddress { domain: 0, bus: FIRST_BUS + self.index, device: 0, function: 0 }
    }

    /// Returns the minor number of `/dev/dri/cardN`, which is N.
    pub fn primary_minor(self) -> u32 {
        self.minor.into()
    }

    /// Returns the minor number of the render node.
    pub fn render_minor(self) -> u32 {
        FIRST_RENDER_MINOR + u32::from(self.minor)
    }

    /// Returns the absolute path of the device's directory in sysfs.
    pub fn directory(self) -> String {
        let pci = self.pci();
        format!("/sys/devices/pci{:04x}:{:02x}/{pci}", pci.domain, pci.bus)
    }
}

/// Returns the name of the node with this minor number in `/dev/dri`.
pub fn node_name(minor: u32) -> String {
    if minor < FIRST_RENDER_MINOR { format!("card{minor}") } else { format!("renderD{minor}") }
}
