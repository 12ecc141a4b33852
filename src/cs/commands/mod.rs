//! Commands: copies, fills, updates, barriers, timestamps, events and others, the same on every ring.
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
//! Copy engines also copy boxes of texels into images, out of them and between them: [`Recorder::copy_to_image`],
//! [`Recorder::copy_from_image`], [`Recorder::copy_image`].
//!
//! Commands run in order, but a copy may still be under way when the next one begins: put a [`Barrier`] between those
//! that touch the same memory. The end of a list waits for everything.
//!
//! Copies and fills from 4 KiB on, for which RADV uses shaders, are done with CP DMA here.
//!
//! ```
//! use amdgpu_winsys::{
//!     cs::{Stream, commands::{Commands, Recorder, Span}, sdma},
//!     heaps::{AllocateInfo, MemoryManager, TableOptions},
//! };
//!
//! # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
//! let manager = MemoryManager::new(&device, &TableOptions::default())?;
//! let (to, from) = (manager.allocate(&AllocateInfo::new(0, 4096))?, manager.allocate(&AllocateInfo::new(0, 4096))?);
//! let stream = Stream::new(&device, sdma::Version::of(device.info().gfx_level), 64)?;
//! let mut recorder = Recorder::new(stream);
//! recorder.copy(Span::of(to.binding(), 0, 4096)?, Span::of(from.binding(), 0, 4096)?)?;
//! assert!(!recorder.finish()?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod atomic;
mod barrier;
mod check;
mod conditional;
mod copy_engine;
mod error;
mod every_ring;
mod image;
mod packet;
mod recorder;
mod rings;
mod span;

pub use self::{
    atomic::{Atomic, AtomicOp},
    barrier::{Access, Barrier, Flushes, Scope, Stages},
    conditional::MAX_CONDITIONAL_DWORDS,
    error::{CommandError, Result},
    every_ring::{Commands, EVENT_RESET, EVENT_SET, Point},
    image::{ImageLevel, ImageRows, TexelBox},
    recorder::Recorder,
    span::Span,
};
