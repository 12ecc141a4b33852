//! Conversions to and from the types of the crate [`ash`](https://docs.rs/ash), with the feature `ash`.
//!
//! The library's numbers and bits are Vulkan's, so a driver in C or with other bindings does not need these conversions. A
//! driver with `ash` writes `.into()`, or `?` in a function whose error is a [`vk::Result`]. Only the types of `ash` are
//! used: the Vulkan loader is not loaded, and no C library is linked.
//!
//! | from | to |
//! |---|---|
//! | [`VkResult`](crate::VkResult), [`winsys::Error`](crate::winsys::Error), [`MemoryError`](crate::heaps::MemoryError), [`cs::Error`](crate::cs::Error) | [`vk::Result`] |
//! | [`MemoryProperties`](crate::heaps::MemoryProperties), [`MemoryHeap`](crate::heaps::MemoryHeap), [`MemoryType`](crate::heaps::MemoryType) | [`vk::PhysicalDeviceMemoryProperties`], [`vk::MemoryHeap`], [`vk::MemoryType`] |
//! | [`Budgets`](crate::heaps::Budgets) | [`vk::PhysicalDeviceMemoryBudgetPropertiesEXT`] |
//! | [`ImageRequirements`](crate::heaps::ImageRequirements) | [`vk::MemoryRequirements`] |
//! | [`HeapFlags`](crate::heaps::HeapFlags), [`MemoryPropertyFlags`](crate::heaps::MemoryPropertyFlags) | [`vk::MemoryHeapFlags`], [`vk::MemoryPropertyFlags`], the latter in both directions |
//! | [`ExternalHandleTypes`](crate::heaps::ExternalHandleTypes), [`ExternalFeatures`](crate::heaps::ExternalFeatures), [`ExternalBufferProperties`](crate::heaps::ExternalBufferProperties) | [`vk::ExternalMemoryHandleTypeFlags`], in both directions, [`vk::ExternalMemoryFeatureFlags`], [`vk::ExternalMemoryProperties`] |
//! | [`Priority`](crate::winsys::Priority) | [`vk::QueueGlobalPriorityKHR`], in both directions |
//! | [`Node`](crate::winsys::Node) | [`vk::PhysicalDeviceDrmPropertiesEXT`], [`vk::PhysicalDevicePCIBusInfoPropertiesEXT`] |
//!
//! # Examples
//!
//! The tables of `vkGetPhysicalDeviceMemoryProperties`, and `vkAllocateMemory`:
//!
//! ```
//! use amdgpu_sim::{SimKernel, profile};
//! use amdgpu_winsys::{
//!     heaps::{AllocateInfo, DeviceMemory, MemoryManager, TableOptions},
//!     vulkan::vk,
//!     winsys::Device,
//! };
//!
//! fn allocate(manager: &MemoryManager, info: &vk::MemoryAllocateInfo) -> Result<DeviceMemory, vk::Result> {
//!     Ok(manager.allocate(&AllocateInfo::new(info.memory_type_index, info.allocation_size))?)
//! }
//!
//! let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
//! let manager = MemoryManager::new(&device, &TableOptions::default())?;
//!
//! let properties = vk::PhysicalDeviceMemoryProperties::from(manager.properties());
//! assert_eq!((properties.memory_heap_count, properties.memory_type_count), (3, 11));
//! assert!(properties.memory_heaps[0].flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
//!
//! let size = properties.memory_heaps[0].size;
//! assert!(allocate(&manager, &vk::MemoryAllocateInfo::default().allocation_size(4096)).is_ok());
//! let refused = allocate(&manager, &vk::MemoryAllocateInfo::default().allocation_size(2 * size));
//! assert_eq!(refused.err(), Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! External memory and queue priorities:
//!
//! ```
//! use amdgpu_winsys::{
//!     heaps::{ExternalBufferProperties, ExternalHandleTypes},
//!     vulkan::vk,
//!     winsys::Priority,
//! };
//!
//! let asked = ExternalHandleTypes::from(vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT);
//! let known = vk::ExternalMemoryProperties::from(ExternalBufferProperties::of(asked));
//! assert!(known.external_memory_features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE));
//!
//! assert_eq!(Priority::try_from(vk::QueueGlobalPriorityKHR::HIGH), Ok(Priority::High));
//! assert!(Priority::try_from(vk::QueueGlobalPriorityKHR::from_raw(7)).is_err());
//! ```

mod external;
mod memory;
mod queue;
mod results;

pub use ash::vk;
