//! The packets of AMD GPUs as typed values and as tables.
//!
//! [`pm4`] is the language of the graphics and compute rings, [`sdma`] that of the copy engines. [`layout`] has every packet
//! of both as a table, [`registers`] the registers by name, and [`dump`] makes IBs readable. Nothing here does I/O.
//! `amdgpu-winsys` re-exports all of it as its module `cs`.

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
