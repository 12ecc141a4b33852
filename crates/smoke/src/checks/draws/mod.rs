//! Checks of draws: primitives, depth and textures on the graphics ring, each pixel compared with a model of its own.

mod bench;
mod model;
mod pictures;
mod target;

pub(crate) use pictures::CHECKS;
