//! Compute shaders of AMD GPUs, executed: waves of 32 or 64 lanes, LDS, barriers, atomics, buffers, images.
//!
//! [`run`] takes a [`Dispatch`], which has the contents of the COMPUTE_* registers, and a [`Memory`], which has the program
//! and its data behind page tables. It answers how the dispatch ended: done, with a page fault, or with a wave that hangs.
//! Machine code is not trusted: whatever it holds, the call ends within its instruction budget.
//!
//! Sources: AMD's public ISA guides, and machine code of RADV with the results that another driver computes.

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

mod alu;
mod atomic;
mod buffer;
mod dispatch;
mod flaw;
mod group;
mod image;
mod memory;
mod number;
mod outcome;
mod program;
mod run;
mod watch;
mod wave;

pub use dispatch::Dispatch;
pub use flaw::Flaw;
pub use image::error::ImageError;
pub use memory::{Access, Memory, PageFault};
pub use outcome::{Counters, Hang, Outcome, Reason};
pub use run::{Limits, Vectors, run, run_on_threads};
pub use watch::{
    Change, Event, Hit, InstructionClass, MemoryKind, Race, RaceSide, TracedStep, TracedWaves, Watch, WatchCounts,
    WatchReport, run_watched,
};
