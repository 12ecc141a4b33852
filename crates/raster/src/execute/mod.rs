//! Execution of draws.

mod assemble;
mod blend;
mod clip;
mod depth;
mod entry;
mod interface;
mod pixels;
mod run;
mod setup;
mod target;
mod thin;
mod vertices;

pub use interface::{Drawn, Ended, Export, Interpolant, Memory, MemoryFault, PixelWave, Shaders, VertexWave};
pub use run::draw;

pub(crate) use target::format::is_known;
