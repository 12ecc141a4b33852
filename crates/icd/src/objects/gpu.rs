//! An open GPU.

use amdgpu_surface::Chip;
use amdgpu_winsys::{
    heaps::{MemoryManager, Profile, TableOptions},
    winsys::{Device, PciAddress, ResidencySet},
};

use super::Watch;
use crate::border::Failure;

/// The face of the driver: the Vulkan version and the queues that it presents to programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Face {
    /// Transfer queues and Vulkan 1.1, all of which is supported.
    #[default]
    Transfer,
    /// Graphics and compute queues and Vulkan 1.3, for programs that require them. Without shaders this does not conform to Vulkan.
    Full,
}

/// An open file of a GPU with its memory manager. All objects of a `VkPhysicalDevice` share it.
#[derive(Debug)]
pub(crate) struct Gpu {
    /// The library's device.
    pub(crate) device: Device,
    /// The memory manager, with heaps, types, budgets and allocations.
    pub(crate) memory: MemoryManager,
    /// The memory that submissions must list, because the kernel does not always keep it resident.
    pub(crate) residents: ResidencySet,
    /// The PCI address.
    pub(crate) pci: PciAddress,
    /// The minor number of the render node.
    pub(crate) render_minor: u32,
    /// The minor number of the primary node, if there is one.
    pub(crate) primary_minor: Option<u32>,
    /// The face that the driver presents.
    pub(crate) face: Face,
    /// The observer of the device, for memory that is not a Vulkan object's.
    pub(crate) watch: Watch,
    /// The properties from which image layouts are computed. Without them images are not supported.
    pub(crate) tiles: Option<Chip>,
}

impl Gpu {
    /// Creates the GPU of an open device and its observer, with the tables of heaps and memory types.
    pub(crate) fn new(
        (device, watch): (Device, Watch),
        pci: PciAddress,
        (render_minor, primary_minor): (u32, Option<u32>),
        face: Face,
        tables: Profile,
    ) -> Result<Self, Failure> {
        let memory = MemoryManager::new(&device, &TableOptions { profile: tables, ..TableOptions::default() })?;
        let tiles = device.info().surface_chip().ok();
        Ok(Self {
            device,
            memory,
            residents: ResidencySet::default(),
            pci,
            render_minor,
            primary_minor,
            face,
            watch,
            tiles,
        })
    }
}
