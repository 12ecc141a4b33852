//! `amdgpu-ib`: a tool that prints command buffers. [`amdgpu_winsys::cs::dump`] decodes them; this crate reads the files that
//! contain them and writes JSON.

mod chip;
mod cli;
mod clinic;
mod command;
mod counts;
mod draws;
mod input;
pub mod json;
mod listing;
mod outcome;
mod resources;
mod shaders;
mod starts;

pub use chip::{UnknownChip, level_of, registers_of};
pub use command::main;
pub use input::{
    Contents, Coredump, DumpedRing, Engine, EngineRegister, Fault, FileIb, Input, InputError, Kept, MissingIb, Soc,
    TimedOut,
};
pub use outcome::Exit;
pub use shaders::KeptShader;
pub use starts::{Shader, Start, Starts, starts};
