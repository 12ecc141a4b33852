//! The simulated GPU: engines that execute IBs.
//!
//! An [`Engine`] stands behind one ring. It fetches an [`Ib`] from GPU memory, reads its packets with the very
//! definitions that [`amdgpu_packets`] writes them with, and does what each one says. The rest of the GPU is handed in
//! as an [`Environment`]: the GPU's [`Memory`] (the kernel half implements it over page tables), its [`Clock`], and the
//! [`Job`] it runs for, which decides how long to wait and hears of page faults.
//!
//! Packets are executed strictly in stream order, PFP and ME together, and each is finished before the next begins.
//! That is a legal schedule of the hardware, so caches, partial flushes and PFP_SYNC_ME have nothing left to do. The
//! constant engine of GFX6 to GFX10.3 is a stream of its own beside them.
//!
//! A packet is checked against the tables of [`amdgpu_packets::layout`] and read into a structure with all its fields, which
//! one function executes.
//! The state that packets set (registers, predication, bases) is a [`State`], which belongs to a context: an engine can be handed
//! another one between two jobs ([`Engine::switch`]). The engine itself has no shaders: draws and dispatches are counted,
//! and passed to [`Shaders`], where an interpreter is plugged in.
//!
//! Work that the length of a packet does not bound (other IBs, copies, multi-draws) is paid for from a budget, so every
//! job comes to an end; and a job is asked now and then whether it still wants to go on.
//!
//! Two kinds of trouble are kept apart as on hardware:
//!
//! * *data* at an address that is not mapped: the write is dropped, the read gives zero, the job hears of it
//!   ([`Job::fault`]) and goes on;
//! * a stream the engine cannot follow (an unknown packet, a wrong field, a bad IB, an endless wait): [`Stop`].
//!   Real engines hang there; this one says where and why.
mod atomic;
mod budget;
mod constant;
mod dma;
mod engine;
mod fetch;
mod interface;
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

pub use self::{
    engine::Engine,
    interface::{
        environment::{Clock, Environment},
        ib::Ib,
        index_buffer::IndexBuffer,
        job::Job,
        memory::{Access, Memory, PageFault},
        stop::{Place, Stop, Watched},
        work::{Dispatch, Draw, NoShaders, Scene, Shaders, WaveHang, Work},
    },
    registers::Registers,
    state::{State, Tally},
};
