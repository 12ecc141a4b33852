//! Mode setting: display resources, framebuffers, atomic commits, planes, and vertical blanks.

mod atomic;
mod leases;
mod planes;
mod resources;
mod scanout;
mod vblank;

pub use self::{atomic::*, leases::*, planes::*, resources::*, scanout::*, vblank::*};
