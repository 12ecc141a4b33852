//! `amdgpu-surface`: the layout of an image with the reason of each decision, its modifiers, pictures of its blocks, and dumps
//! turned into PNGs. The layouts are those of [`amdgpu_surface`].

mod chip;
mod cli;
mod compare;
mod decode;
mod detile;
mod document;
mod explain;
mod format;
mod image;
mod modifiers;
mod names;
mod outcome;
mod picture;
mod report;

pub use cli::run;
pub use outcome::Exit;
