//! Facts that the kernel is asked for when they are wanted, and not at bring-up.

mod gds;
mod vbios;
mod video;

pub use self::{
    gds::GdsSizes,
    vbios::Vbios,
    video::{VideoCapabilities, VideoCodec, VideoDirection, VideoLimits},
};
