//! A kernel around another one: what passes through it, and what may be done with that.

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
