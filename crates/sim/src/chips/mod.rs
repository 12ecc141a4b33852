//! The chips that can be simulated: captures of real GPUs, as JSON.
//!
//! A capture contains what an amdgpu kernel reported about one GPU. Twelve captures are part of the simulator; others are read from
//! files. Values that a capture lacks follow from `rules`.

mod capture;
mod checks;
mod error;
mod find;
mod json;
mod known;
mod profile;
mod rules;
mod structure;
mod video_block;
mod video_codecs;
mod write;

pub(crate) use self::rules::gds_config;
pub use self::{
    error::{CaptureError, ChipError},
    find::chip,
    known::{profile, profiles},
    profile::{Firmware, Profile, Register},
    video_block::VideoBlock,
};
