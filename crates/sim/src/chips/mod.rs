//! The chips that can be simulated: captures of real GPUs, as JSON.
//!
//! A capture contains what an amdgpu kernel reported about one GPU. The captures in `data/devices` are part of the simulator; others
//! are read from files. Some are derived from the capture of a related chip and say so. Values that a capture lacks follow from
//! `rules`. Cards and machines that differ from a captured one in sizes are rows of `data/variants.json`.

mod capture;
mod changed;
mod changes;
mod checks;
mod error;
mod find;
mod json;
mod known;
mod origin;
mod profile;
mod recorded_files;
mod rules;
mod structure;
mod variants;
mod video_block;
mod video_codecs;
mod write;

pub(crate) use self::rules::gds_config;
pub use self::{
    changes::{ChangeError, Changes},
    error::{CaptureError, ChipError},
    find::{chip, chosen_profiles},
    known::{profile, profiles},
    origin::Origin,
    profile::{Firmware, Profile, Register},
    recorded_files::RecordedFiles,
    variants::{Variant, variants},
    video_block::VideoBlock,
};
