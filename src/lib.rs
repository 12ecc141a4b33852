//! A userspace amdgpu winsys and a Vulkan-style memory manager, without a C library.
//!
//! For a Vulkan driver, it replaces RADV's winsys and libdrm_amdgpu, which are written in C. It opens an amdgpu render
//! node, queries the GPU, allocates GPU memory with Vulkan's heaps and types, manages the GPU's virtual addresses, records
//! PM4 and SDMA commands, and submits them to the graphics (ME), compute (MEC) and copy (SDMA) rings.
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`winsys`] | the kernel's objects: [`Device`](winsys::Device), [`Bo`](winsys::Bo), [`Mapping`](winsys::Mapping), [`Binding`](winsys::Binding), [`Context`](winsys::Context), [`Syncobj`](winsys::Syncobj) |
//! | [`vamgr`] | GPU addresses: windows, [leases](vamgr::VaLease), first fit |
//! | [`heaps`] | Vulkan's view of memory: heaps, types, budget, [`DeviceMemory`](heaps::DeviceMemory) |
//! | [`cs`] | typed packets, [`Stream`](cs::Stream), [`Queue`](cs::Queue), [`Fence`](cs::Fence) |
//! | [`uapi`] | the kernel's ABI as plain structures |
//! | `vulkan` | with the feature `ash`: conversions to the types of that crate |
//!
//! All requests to the kernel go through one trait, [`Kernel`](winsys::Kernel). It is implemented by a render node
//! ([`RenderNode`](winsys::RenderNode)) and by the simulated GPU of the crate `amdgpu-sim`, which executes submissions and
//! on which all tests run.
//!
//! # From an opened GPU to an executed packet
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use amdgpu_winsys::{
//!     cs::{Queue, Stream, Submission, pm4},
//!     heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
//!     winsys::{Context, Deadline, Device, Ip, Priority},
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // On a Radeon: Device::open("/dev/dri/renderD128")?
//! let device = Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
//! let manager = MemoryManager::new(&device, &TableOptions::default())?;
//! let results = manager.properties().type_for(MemoryUsage::Readback).ok_or("no such type")?;
//! let memory = manager.allocate(&AllocateInfo::new(results, 4096))?;
//!
//! let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?;
//! stream.push(&pm4::EndOfPipe::fence(memory.address(), 42))?;
//! let list = stream.finish()?;
//!
//! let context = Context::new(&device, Priority::Normal)?;
//! let queue = Queue::new(&context, Ip::Gfx, 0)?;
//! let fence = queue.submit(&Submission { lists: &[&list], memory: &memory, ..Submission::default() })?;
//! assert!(fence.wait(Deadline::after(Duration::from_secs(2)))?);
//! assert_eq!(memory.map()?.load_u32(0)?, 42);
//! # Ok(()) }
//! ```

pub mod cs;
pub mod heaps;
mod host_memory;
mod sync;
mod vk_result;
#[cfg(feature = "ash")]
pub mod vulkan;
pub mod winsys;
mod worker;

pub use self::vk_result::VkResult;
pub use amdgpu_packets::packet;
pub use amdgpu_uapi as uapi;
pub use amdgpu_va as vamgr;
