//! Buffer, image and sampler descriptors and render targets of AMD GPUs, GFX6 to GFX12.
//!
//! * [`Descriptor`] reads and writes the dwords field by field. A field has one name and one meaning on every generation, even if
//!   its bits are in different dwords: [`fields`].
//! * [`view`] builds descriptors from views of buffers, images and FMASK.
//! * [`vulkan`] builds descriptors from Vulkan create infos, as RADV does.
//! * [`target`] computes the register values of colour and depth targets.
//! * [`pipeline`] lists the register values of plain graphics pipelines.
//! * [`umd`] encodes and decodes the metadata words that drivers store with a BO for other drivers.
//! * [`format`] maps Vulkan formats to the hardware's format numbers.
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
//! The crate does no I/O, does not allocate, and has no `unsafe` code. Any dwords can be decoded; any other input gives either
//! words or an error that names the invalid value.
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
pub mod pipeline;
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
