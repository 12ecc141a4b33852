//! A decoder, assembler and disassembler for the instructions of AMD GPUs from Southern Islands to RDNA 4.
//!
//! Tables for each generation (`spec/gfxN.txt`) describe the formats with their fields, the scalar operands, and the operations
//! with their operands. [`decode`] reads an [`Instruction`] from dwords, whose fields can be queried. Its `Display` prints it as
//! LLVM does, and [`assemble`] parses this text.
//!
//! ```
//! use amdgpu_hw::GfxLevel;
//! use amdgpu_isa::{WaveSize, decode};
//!
//! let add = decode(GfxLevel::Gfx9, WaveSize::Wave64, &[0x020a_290a])?;
//! assert_eq!(add.name(), "v_add_f32");
//! # Ok::<_, amdgpu_isa::DecodeError>(())
//! ```

#![forbid(unsafe_code)]

mod assemble;
pub mod builder;
mod decode;
mod error;
#[expect(clippy::too_many_lines, reason = "tables")]
mod generated;
pub mod graphics;
mod instruction;
pub mod int64;
mod listing;
pub mod load;
mod resources;
mod table;
mod text;

pub use assemble::{AssembleError, assemble};
pub use decode::decode;
pub use error::DecodeError;
pub use generated::{
    operations::Op,
    words::{Field, Format, OperandKind},
};
pub use instruction::{Extension, Instruction, WaveSize};
pub use listing::{Line, Listing, program_len};
pub use resources::{ResourceKind, ResourceUse, resources};
pub use table::{Opcode, Operand, Table, table};
