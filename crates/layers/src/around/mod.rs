//! Layers around a kernel: the calls that pass through them, and their outcomes.

mod answered;
mod chunk;
mod counter;
mod fault_injector;
mod forward;
mod ioctl;
mod mapping;

pub use self::{
    answered::Answered,
    chunk::Chunk,
    counter::Counter,
    fault_injector::{Attempt, FaultInjector, Faults},
    forward::{Forward, Layer},
    ioctl::Ioctl,
    mapping::{Mapped, Mmap, Munmap, Reserve, Reserved, Unmapped},
};
