//! `amdgpu-ib`: command buffers made readable. The work is [`amdgpu_winsys::cs::dump`]'s; here are the files it is done on,
//! and its JSON.

mod chip;
mod cli;
mod command;
mod input;
pub mod json;
mod listing;
mod outcome;
mod resources;
mod shaders;
mod starts;

pub use chip::{UnknownChip, level_of, registers_of};
pub use command::main;
pub use input::{Engine, FileIb, Input, InputError, Kept};
pub use outcome::Exit;
pub use shaders::KeptShader;
pub use starts::{Shader, Start, Starts, starts};
