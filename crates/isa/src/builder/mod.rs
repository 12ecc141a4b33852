//! A builder of machine code with registers, labels and automatic waits.
//!
//! Instructions are written as text with the names of GFX10 and earlier. The builder translates them for its generation, inserts
//! waits before results of memory operations are used, and computes branch distances.
//!
//! ```
//! use amdgpu_hw::GfxLevel;
//! use amdgpu_isa::{WaveSize, builder::Builder};
//!
//! let mut code = Builder::new(GfxLevel::Gfx11, WaveSize::Wave32, 4);
//! let (id, twice) = (code.thread(), code.vector(1));
//! code.op(format_args!("v_lshlrev_b32 {twice}, 1, {id}"));
//! let program = code.finish()?;
//! assert!(program.text().contains("v_lshlrev_b32"));
//! # Ok::<_, amdgpu_isa::builder::BuildError>(())
//! ```

mod build;
mod error;
mod flow;
mod hazard;
mod label;
mod load;
mod memory;
mod names;
mod pending;
mod program;
mod register;
mod wait;
mod wide;

pub use build::Builder;
pub use error::BuildError;
pub use flow::Condition;
pub use label::Label;
pub use load::LoadFrom;
pub use program::Program;
pub use register::{Scalar, Vector};
pub use wide::Wide;
