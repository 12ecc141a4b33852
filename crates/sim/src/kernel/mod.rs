//! The simulated kernel: its open files, memory, queues and fences, and the requests that change them.

pub(crate) mod card;
pub(crate) mod client;
pub(crate) mod complaints;
pub(crate) mod fdinfo;
pub(crate) mod files;
pub(crate) mod hangs;
pub(crate) mod health;
pub(crate) mod ioctl;
pub(crate) mod machine;
pub(crate) mod mm;
pub(crate) mod modes;
pub(crate) mod power;
pub(crate) mod process_memory;
pub(crate) mod sched;
#[expect(unsafe_code, reason = "the seam: raw ioctl arguments and mmap")]
pub(crate) mod sim_kernel;
#[expect(unsafe_code, reason = "a seam: raw ioctl arguments of descriptors")]
pub(crate) mod sim_machine;
pub(crate) mod strict;
pub(crate) mod sync;
#[expect(unsafe_code, reason = "addresses inside ioctl arguments")]
pub(crate) mod user;
pub(crate) mod userq;
