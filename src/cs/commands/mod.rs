//! Commands: copies, fills, updates, barriers, timestamps, events and others, the same on every ring.
//!
//! A [`Recorder`] writes the packets of commands to its stream. The trait [`Commands`] has the commands that all rings support, so
//! that a caller can be independent of the engine: ME, MEC or a copy engine. A command that exceeds the limits of a packet is split
//! into several packets. If the engine does not support an operation, the recorder returns a [`CommandError`].
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
//! Commands run in order, but a copy may be incomplete when the next command begins: record a [`Barrier`] between commands that
//! access the same memory. The end of a list waits for all commands.
//!
//! On graphics and compute rings a submission begins with [`Recorder::acquire`], or has [`Preambles::acquire`]: otherwise it may
//! find old copies in L2 of what the CPU or a copy engine has written.
//!
//! Copies and fills of 4 KiB and more use CP DMA too; RADV uses shaders for them.
//!
//! [`Preambles::acquire`]: crate::cs::Preambles::acquire
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
