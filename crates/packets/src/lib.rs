//! The packets of AMD GPUs as typed values and as tables.
//!
//! [`pm4`] is the language of the graphics and compute rings, [`sdma`] that of the copy engines. [`layout`] has every packet
//! of both as a table, [`registers`] the registers by name, and [`dump`] makes IBs readable. Nothing here does I/O.
//! `amdgpu-winsys` re-exports all of it as its module `cs`.

#![forbid(unsafe_code)]

mod annotation;
pub mod dump;
mod field;
pub mod layout;
mod packet;
pub mod pm4;
pub mod registers;
pub mod sdma;
mod wire;

pub use annotation::{Annotations, MAX_ANNOTATION_BYTES, annotation, annotations, read_annotation};
pub use field::FieldError;
pub use layout::Described;
pub use packet::{DecodeError, DecodeFault, EncodeError, Language, Packet, Target, own};
