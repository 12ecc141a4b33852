//! Images.

mod image;
mod layout;
mod memory_types;
mod region;

pub(crate) use self::{
    image::Image,
    region::{Run, Texels, runs},
};
