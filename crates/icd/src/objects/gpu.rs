//! A GPU that was opened.

use amdgpu_surface::Chip;
use amdgpu_winsys::{
    heaps::{MemoryManager, Profile, TableOptions},
    winsys::{Device, PciAddress, ResidencySet},
};

use crate::border::Failure;

/// Face of the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Face {
    /// Transfer queues and Vulkan 1.1: nothing is claimed that is not there.
    #[default]
    Transfer,
    /// Queues for graphics and compute and Vulkan 1.3, for programs that insist on them. Without shaders that is not legal.
    Full,
}

/// One open file of a GPU, and the memory manager on it: everything of one `VkPhysicalDevice` shares it.
#[derive(Debug)]
pub(crate) struct Gpu {
    /// The library's device.
    pub(crate) device: Device,
    /// Heaps, types, budgets and allocations.
    pub(crate) memory: MemoryManager,
    /// Memory that submissions list, because the kernel does not keep it resident by itself.
    pub(crate) residents: ResidencySet,
    /// Place on the bus.
    pub(crate) pci: PciAddress,
    /// Minor number of the render node.
    pub(crate) render_minor: u32,
    /// Minor number of the primary node, if there is one.
    pub(crate) primary_minor: Option<u32>,
    /// Face of the driver.
    pub(crate) face: Face,
    /// Facts that images are laid out with; without them there are no images.
    pub(crate) tiles: Option<Chip>,
}

impl Gpu {
    /// Makes the tables of a device.
    pub(crate) fn new(
        device: Device,
        pci: PciAddress,
        (render_minor, primary_minor): (u32, Option<u32>),
        face: Face,
        tables: Profile,
    ) -> Result<Self, Failure> {
        let memory = MemoryManager::new(&device, &TableOptions { profile: tables, ..TableOptions::default() })?;
        let tiles = device.info().surface_chip().ok();
        Ok(Self { device, memory, residents: ResidencySet::default(), pci, render_minor, primary_minor, face, tiles })
    }
}
