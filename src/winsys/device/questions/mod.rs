//! Properties that are queried on demand instead of when the device is created.

mod gds;
mod vbios;
mod video;

pub use self::{
    gds::GdsSizes,
    vbios::Vbios,
    video::{VideoCapabilities, VideoCodec, VideoDirection, VideoLimits},
};
