//! Buffer, image and sampler descriptors and render targets of AMD GPUs, GFX6 to GFX12.
//!
//! * [`Descriptor`] reads and writes the dwords field by field. A field is one name and one number on every generation,
//!   whatever words its bits are spread over: [`fields`].
//! * [`view`] makes descriptors from what a shader shall see of memory.
//! * [`vulkan`] starts from what Vulkan says, as RADV does.
//! * [`target`] makes the registers of colour and depth targets.
//! * [`umd`] writes and reads the words that drivers keep with a BO for each other.
//! * [`format`] has the hardware's numbers of Vulkan's formats.
//!
//! ```
//! use amdgpu_descriptors::fields::buffer::{BASE_ADDRESS, FORMAT};
//! use amdgpu_descriptors::view::BufferView;
//! use amdgpu_hw::{GfxLevel, GpuVa};
//!
//! let level = GfxLevel::Gfx10_3;
//! let words = BufferView::raw(GpuVa::new(0x20_0000)?, 4096).descriptor(level)?;
//! assert_eq!(words.words(), [0x20_0000, 0, 0x1000, 0x3101_6fac]);
//! assert_eq!(words.get(BASE_ADDRESS, level)?, 0x20_0000);
//! assert!(words.get(FORMAT, GfxLevel::Gfx9).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It does no I/O, allocates nothing, and holds no `unsafe`. Every dword decodes; every input is answered with words or
//! with an error that names the value.
#![no_std]
#![forbid(unsafe_code)]

mod descriptor;
mod error;
mod field;
pub mod fields;
pub mod format;
mod handler;
mod kind;
mod lod;
mod marker;
mod show;
pub mod target;
pub mod umd;
pub mod view;
pub mod vulkan;

pub use descriptor::{BufferDescriptor, Descriptor, FieldValue, ImageDescriptor, SamplerDescriptor};
pub use error::{DescriptorError, Feature, FieldError};
pub use field::{Field, Part, Place};
pub use handler::{Handler, Word};
pub use kind::{Kind, Resource};
pub use lod::Lod;
pub use marker::{Buffer, Image, Sampler};
pub use show::{Json, Shown};
