//! Commands: copies, fills, updates, barriers, timestamps, events and the like, the same on every ring.
//!
//! A [`Recorder`] turns commands into packets of its stream. [`Commands`] is what recorders of all rings have in common,
//! so that a caller need not know whether ME, MEC or a copy engine will run them. Sizes beyond what a packet holds are
//! cut into several; what no engine can do is refused with a [`CommandError`].
//!
//! | command                        | graphics and compute rings                  | copy engine                     |
//! |--------------------------------|---------------------------------------------|---------------------------------|
//! | [`copy`](Commands::copy)       | CP DMA, any alignment                       | COPY_LINEAR, any alignment      |
//! | [`fill`](Commands::fill)       | CP DMA, whole dwords                        | CONST_FILL, whole dwords        |
//! | [`update`](Commands::update)   | WRITE_DATA                                  | WRITE_LINEAR                    |
//! | [`timestamp`](Commands::timestamp) | COPY_DATA, or an end of pipe            | TIMESTAMP, from 2.0 on          |
//! | [`store`](Commands::store)     | WRITE_DATA, or an end of pipe or of shaders | FENCE                           |
//! | [`wait`](Commands::wait)       | WAIT_REG_MEM                                | POLL_REGMEM                     |
//! | [`barrier`](Commands::barrier) | partial flushes, cache actions              | NOP                             |
//! | [`atomic`](Commands::atomic)   | ATOMIC_MEM                                  | ATOMIC, from 3.0 on             |
//! | [`conditional`](Recorder::conditional) | COND_EXEC                           | COND_EXE                        |
//!
//! Commands run in order, but a copy may still be under way when the next one begins: put a [`Barrier`] between those
//! that touch the same memory. The end of a list waits for everything.
//!
//! What RADV does with shaders (copies and fills from 4 KiB on) is done with CP DMA here.
//!
//! ```no_run
//! # use std::{path::Path, sync::Arc};
//! # use amdgpu_winsys::{cs::{commands::*, Stream, sdma}, winsys::{Binding, Device}};
//! # fn copied(device: &Arc<Device>, to: &Binding, from: &Binding) -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Stream::new(device, sdma::Version::of(device.info().gfx_level), 64)?;
//! let mut recorder = Recorder::new(stream);
//! recorder.copy(Span::of(to, 0, 4096)?, Span::of(from, 0, 4096)?)?;
//! let list = recorder.finish()?;
//! # Ok(()) }
//! ```
mod atomic;
mod barrier;
mod conditional;
mod copy_engine;
mod error;
mod packet;
mod recorder;
mod rings;
mod span;

pub use self::{
    atomic::{Atomic, AtomicOp},
    barrier::{Access, Barrier, Flushes, Scope, Stages},
    conditional::MAX_CONDITIONAL_DWORDS,
    error::{CommandError, Result},
    recorder::Recorder,
    span::Span,
};

use amdgpu_hw::num::wide;

use super::{Target, pm4::Compare};
use crate::vamgr::GpuVa;

/// A point in the pipeline that earlier work must have passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// Nowhere: as soon as the command is fetched, by PFP on the graphics ring.
    Top,
    /// ME has passed on what came before.
    Front,
    /// Pixel shaders are done. Graphics rings only.
    PixelShaders,
    /// Compute shaders are done.
    ComputeShaders,
    /// Everything is done, copies too.
    Bottom,
}

/// Value of an event that is set.
pub const EVENT_SET: u32 = 1;

/// Value of an event that is not set.
pub const EVENT_RESET: u32 = 0;

/// Commands that can be recorded for every ring. See the [module](self) for the packets they become.
///
/// Every method can answer [`CommandError::Stream`] with what [`Stream::push`](super::Stream::push) answers; the other
/// errors are named.
pub trait Commands {
    /// Returns the ring and generation that the packets are for.
    fn target(&self) -> Target;

    /// Copies bytes between ranges of one length that do not overlap.
    ///
    /// # Errors
    ///
    /// [`CommandError::Lengths`], [`CommandError::Overlap`].
    fn copy(&mut self, to: Span, from: Span) -> Result<()>;

    /// Stores `pattern` again and again.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`] unless address and length are multiples of 4.
    fn fill(&mut self, to: Span, pattern: u32) -> Result<()>;

    /// Stores dwords that travel in the stream.
    ///
    /// # Errors
    ///
    /// [`CommandError::Lengths`] unless the range is as long as the data, [`CommandError::Misaligned`] unless it begins
    /// at a multiple of 4.
    fn update(&mut self, to: Span, data: &[u32]) -> Result<()>;

    /// Stores the GPU's reference counter, 64 bits. The copy engine always waits for what is before.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`] unless `at` is a multiple of 8; [`CommandError::Unsupported`] for the end of shaders,
    /// and on the copy engine of GFX6.
    fn timestamp(&mut self, at: GpuVa, after: Point) -> Result<()>;

    /// Stores a dword: an event, a marker, a fence.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`] unless `at` is a multiple of 4; [`CommandError::Unsupported`] for pixel shaders where
    /// there are none.
    fn store(&mut self, at: GpuVa, value: u32, after: Point) -> Result<()>;

    /// Waits until the dword at `at`, masked, compares with `reference`.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`] unless `at` is a multiple of 4.
    fn wait(&mut self, at: GpuVa, function: Compare, reference: u32, mask: u32) -> Result<()>;

    /// Orders what is before and after, see [`Barrier`].
    ///
    /// # Errors
    ///
    /// Only the stream's.
    fn barrier(&mut self, barrier: Barrier) -> Result<()>;

    /// Changes a dword or qword in one step.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`] unless `at` is a multiple of the operand's size; [`CommandError::Unsupported`] on copy
    /// engines before 3.0.
    fn atomic(&mut self, at: GpuVa, atomic: Atomic) -> Result<()>;

    /// Waits for copies that may be under way, which the end of a list does too: before packets of one's own that touch
    /// what was copied.
    ///
    /// # Errors
    ///
    /// Only the stream's.
    fn settle(&mut self) -> Result<()>;

    /// Sets an event when earlier work has come so far.
    ///
    /// # Errors
    ///
    /// As for [`Commands::store`].
    fn set_event(&mut self, at: GpuVa, after: Point) -> Result<()> {
        self.store(at, EVENT_SET, after)
    }

    /// Resets an event when earlier work has come so far.
    ///
    /// # Errors
    ///
    /// As for [`Commands::store`].
    fn reset_event(&mut self, at: GpuVa, after: Point) -> Result<()> {
        self.store(at, EVENT_RESET, after)
    }

    /// Waits until an event is set; the caches are the business of a [`Barrier`] behind it.
    ///
    /// # Errors
    ///
    /// As for [`Commands::wait`].
    fn wait_event(&mut self, at: GpuVa) -> Result<()> {
        self.wait(at, Compare::Equal, EVENT_SET, u32::MAX)
    }
}

/// Checks the ranges of `copy`.
fn check_copy(to: Span, from: Span) -> Result<()> {
    if to.len() != from.len() {
        return Err(CommandError::Lengths { command: "copy", from: from.len(), to: to.len() });
    }
    if to.overlaps(from) {
        return Err(CommandError::Overlap { to: to.address(), from: from.address(), bytes: to.len() });
    }
    Ok(())
}

/// Checks the range of `fill`.
fn check_fill(to: Span) -> Result<()> {
    error::require_multiple("fill", to.address().as_u64(), 4)?;
    error::require_multiple("fill", to.len(), 4)
}

/// Checks the range of `update`.
fn check_update(to: Span, data: &[u32]) -> Result<()> {
    let bytes = wide(size_of_val(data));
    if to.len() != bytes {
        return Err(CommandError::Lengths { command: "update", from: bytes, to: to.len() });
    }
    error::require_multiple("update", to.address().as_u64(), 4)
}

/// The data of an update in pieces of this many dwords, the most that fit into WRITE_DATA: an IB of usual size holds them
/// too.
const UPDATE_DWORDS: usize = super::pm4::WriteData::MAX_DATA;
