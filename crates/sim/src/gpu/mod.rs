//! The simulated GPU: engines that execute IBs.
//!
//! An [`Engine`] executes the packets of a ring. It fetches an [`Ib`] from GPU memory and decodes its packets with the definitions
//! by which [`amdgpu_packets`] encodes them. The rest of the GPU is passed as an [`Environment`]: the [`Memory`] (implemented over
//! page tables by the simulated kernel), the [`Clock`], and the [`Job`], which limits waits and receives page faults.
//!
//! Packets are executed strictly in the order of the stream, by PFP and ME together, and each packet completes before the next
//! begins. Hardware may do the same, so cache actions, partial flushes and PFP_SYNC_ME have no effect, except on a
//! [`CacheObserver`]. With [`Engine::with_late_work`] draws, dispatches, stores at the end of the pipe and DMA are executed when a packet
//! waits for them. The constant engine of GFX6 to GFX10.3 executes a separate stream.
//!
//! A packet is checked against the tables of [`amdgpu_packets::layout`] and decoded into a structure, which one function executes.
//! The state that packets set (registers, predication, bases) is a [`State`], which belongs to a context and can be switched
//! between jobs ([`Engine::switch`]). The engine does not execute shaders itself: draws and dispatches are counted and passed to
//! [`Shaders`], for example an interpreter.
//!
//! Work that the length of a packet does not limit (other IBs, copies, multi-draws) has a budget, so that every job ends. A job is
//! also queried periodically whether it should continue.
//!
//! Two kinds of errors are distinguished, as on hardware:
//!
//! * a page fault of *data*: writes are dropped, reads return zero, and the job continues after it was told of the fault
//!   ([`Job::fault`]);
//! * a stream that the engine cannot execute (an unknown packet, an invalid field, an invalid IB, an endless wait): [`Stop`]. Real
//!   engines hang; this error gives the location and reason.
mod atomic;
mod budget;
mod constant;
mod dma;
mod engine;
mod fetch;
mod interface;
mod late;
mod pm4;
mod port;
mod ram;
mod registers;
mod sdma;
mod state;
mod step;
#[cfg(test)]
mod tests;
pub(crate) mod video;
mod wait;

pub(crate) use self::interface::{caches::OBSERVERS_ARE_BUILT, memory::UPDATES};
pub use amdgpu_waves::Reach;

pub use self::{
    engine::Engine,
    interface::{
        caches::{CacheMisuse, CacheObserver, CacheOperation, Ended, FrontCaches, Signal, WaitCondition},
        environment::{Clock, Environment},
        ib::Ib,
        index_buffer::IndexBuffer,
        job::Job,
        memory::{Access, Client, FaultSource, Memory, PageFault},
        stop::{Place, Stop, Watched},
        target_caches::TargetCaches,
        work::{Dispatch, Draw, NoShaders, Scene, Shaders, Unfinished, Work},
    },
    registers::Registers,
    state::{State, Statistics, Tally},
};
