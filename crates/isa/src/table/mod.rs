//! The tables of a generation: formats, scalar operands and operations.

mod generation;
mod image;
mod index;
mod layout;
mod op;
mod opcode;
mod tables;
mod types;

pub use generation::table;
pub(crate) use image::image_address_dwords;
pub(crate) use layout::{Bits, FieldLayout, FormatLayout, Match};
pub(crate) use op::operations;
pub use opcode::{Opcode, Operand};
pub(crate) use tables::Scalars;
pub use tables::Table;
pub(crate) use types::{SourceType, source_type};

pub(crate) use crate::generated::{
    operations::Op,
    words::{Field, Format, OperandKind},
};
