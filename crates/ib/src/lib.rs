//! `amdgpu-ib`: command buffers made readable. The work is [`amdgpu_winsys::cs::dump`]'s; here are the files it is done on,
//! and its JSON.
mod chip;
mod cli;
mod files;
pub mod json;
mod recorded;

pub use chip::{UnknownChip, level_of};
pub use cli::{Exit, main};
pub use files::{Content, InputError, Kept};
