//! Conversions of queue priorities and of device nodes.

use super::vk;
use crate::winsys::{Node, Priority};

impl From<Priority> for vk::QueueGlobalPriorityKHR {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::Low => Self::LOW,
            Priority::Normal => Self::MEDIUM,
            Priority::High => Self::HIGH,
            Priority::VeryHigh => Self::REALTIME,
        }
    }
}

/// Returns `ERROR_UNKNOWN` for values that Vulkan does not define.
impl TryFrom<vk::QueueGlobalPriorityKHR> for Priority {
    type Error = vk::Result;

    fn try_from(priority: vk::QueueGlobalPriorityKHR) -> Result<Self, vk::Result> {
        match priority {
            vk::QueueGlobalPriorityKHR::LOW => Ok(Self::Low),
            vk::QueueGlobalPriorityKHR::MEDIUM => Ok(Self::Normal),
            vk::QueueGlobalPriorityKHR::HIGH => Ok(Self::High),
            vk::QueueGlobalPriorityKHR::REALTIME => Ok(Self::VeryHigh),
            _ => Err(vk::Result::ERROR_UNKNOWN),
        }
    }
}

/// The major number of all DRM nodes.
///
/// Source: Linux 6.12 `include/drm/drm_drv.h`, `DRM_MAJOR`.
const DRM_MAJOR: i64 = 226;

impl From<&Node> for vk::PhysicalDeviceDrmPropertiesEXT<'_> {
    fn from(node: &Node) -> Self {
        let all = Self::default().has_render(true).render_major(DRM_MAJOR).render_minor(node.minor.into());
        match node.primary_minor {
            None => all,
            Some(minor) => all.has_primary(true).primary_major(DRM_MAJOR).primary_minor(minor.into()),
        }
    }
}

impl From<&Node> for vk::PhysicalDevicePCIBusInfoPropertiesEXT<'_> {
    fn from(node: &Node) -> Self {
        Self::default()
            .pci_domain(node.pci.domain)
            .pci_bus(node.pci.bus.into())
            .pci_device(node.pci.device.into())
            .pci_function(node.pci.function.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::winsys::PciAddress;

    #[test]
    fn priorities_come_back_and_others_are_refused() {
        let all = [Priority::Low, Priority::Normal, Priority::High, Priority::VeryHigh];
        let theirs = all.map(|priority| vk::QueueGlobalPriorityKHR::from(priority).as_raw());
        assert_eq!(theirs, [128, 256, 512, 1024]);
        for priority in all {
            assert_eq!(Priority::try_from(vk::QueueGlobalPriorityKHR::from(priority)), Ok(priority));
        }
        let unknown = vk::QueueGlobalPriorityKHR::from_raw(0);
        assert_eq!(Priority::try_from(unknown), Err(vk::Result::ERROR_UNKNOWN));
    }

    #[test]
    fn a_node_tells_its_numbers_and_its_slot() {
        let mut node = Node {
            path: "/dev/dri/renderD129".into(),
            minor: 129,
            primary_minor: Some(1),
            pci: PciAddress::parse("0001:03:1f.7").unwrap(),
            device_id: 0x73bf,
            revision: 0xc1,
        };
        let numbers = |node: &Node| {
            let all = vk::PhysicalDeviceDrmPropertiesEXT::from(node);
            let (primary, render) = ((all.primary_major, all.primary_minor), (all.render_major, all.render_minor));
            ((all.has_primary, primary), (all.has_render, render))
        };
        assert_eq!(numbers(&node), ((vk::TRUE, (226, 1)), (vk::TRUE, (226, 129))));
        node.primary_minor = None;
        assert_eq!(numbers(&node), ((vk::FALSE, (0, 0)), (vk::TRUE, (226, 129))));
        let slot = vk::PhysicalDevicePCIBusInfoPropertiesEXT::from(&node);
        assert_eq!((slot.pci_domain, slot.pci_bus, slot.pci_device, slot.pci_function), (1, 3, 0x1f, 7));
    }
}
