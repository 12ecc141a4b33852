//! The packets of AMD GPUs as typed values and as tables.
//!
//! [`pm4`] has the packets of the graphics and compute rings, [`sdma`] the packets of the copy engines. [`layout`] describes all
//! packets of both in tables, [`registers`] names the registers, and [`dump`] prints IBs. The crate does no I/O. `amdgpu-winsys`
//! re-exports all its items in its module `cs`.

#![forbid(unsafe_code)]

mod annotation;
mod choices;
pub mod dump;
mod error;
pub mod layout;
mod packet;
pub mod pm4;
pub mod registers;
pub mod sdma;

pub use annotation::{Annotations, MAX_ANNOTATION_BYTES, annotation, annotations, read_annotation};
pub use error::FieldError;
pub use layout::Described;
pub use packet::{DecodeError, DecodeFault, EncodeError, Language, Packet, Target, own};
