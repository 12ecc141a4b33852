//! An interpreter for shaders of AMD GPUs: waves of 32 or 64 lanes, LDS, barriers, atomics, buffers, images.
//!
//! [`run`] executes a [`Dispatch`], which contains the values of the COMPUTE_* registers, on a [`Memory`], which contains the
//! program and its data. It returns the [`Outcome`]: completion, a page fault, or a wave that hangs. Machine code need not be
//! trusted: the call ends within its instruction budget for any code.
//!
//! A [`StageRunner`] executes the waves of a vertex or pixel shader, whose registers its user sets, and returns what they export; the
//! fixed functions around them are in `amdgpu-raster`.
//!
//! Sources: AMD's public ISA guides, and RADV's machine code with the results of another driver.

#![forbid(unsafe_code)]
#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::many_single_char_names,
    clippy::inline_always,
    clippy::needless_range_loop,
    clippy::neg_cmp_op_on_partial_ord,
    clippy::double_comparisons,
    clippy::match_same_arms,
    clippy::struct_excessive_bools,
    reason = "registers are bits that operations read as numbers of either sign, lane by lane"
)]
#![allow(clippy::vec_box, reason = "vector registers change places with results, which moves a pointer")]

mod alu;
mod atomic;
mod buffer;
mod dispatch;
mod export;
mod graphics;
mod group;
mod image;
mod matrix;
mod memory;
mod mutation;
mod number;
mod outcome;
mod program;
mod run;
mod watch;
mod wave;

pub use dispatch::Dispatch;
pub use export::{Export, Interpolant};
pub use graphics::{GraphicsStage, GraphicsWave, StageEnd, StageRunner};
pub use image::error::ImageError;
pub use memory::{Access, Memory, PageFault, Reach};
pub use mutation::WaveMutation;
pub use outcome::{Counters, Hang, Outcome, Reason};
pub use program::cache::CodeCache;
pub use run::{Limits, Vectors, run, run_on_threads};
pub use watch::{
    Change, Event, HazardRule, Hit, InstructionClass, InstructionHazard, MemoryKind, MissingWait, Race, RaceSide,
    RegisterName, RequiredWait, TracedInstruction, TracedWaves, WaitSide, WaitedFor, Watch, WatchCounts, WatchReport,
    run_checked, run_watched,
};
