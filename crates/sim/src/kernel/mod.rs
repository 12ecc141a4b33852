//! The simulated kernel: its open files, memory, queues and fences, and the requests that change them.
//!
//! The folders from the ground up: `process` uses none of the others, and `diagnostics` that one alone; then come `sync`, `mm`, `modes`, `power` and
//! `strict`; `sched`, `board` and `userq` execute; `machine` has what devices share, and `card` joins the parts of one device; `open` has open
//! files, on which the requests of `ioctl` work. The files beside the folders are the entrances.

pub(crate) mod board;
pub(crate) mod card;
pub(crate) mod diagnostics;
pub(crate) mod dispatch;
pub(crate) mod fdinfo;
pub(crate) mod files;
pub(crate) mod ioctl;
pub(crate) mod machine;
pub(crate) mod mm;
pub(crate) mod modes;
pub(crate) mod open;
pub(crate) mod power;
pub(crate) mod process;
pub(crate) mod sched;
#[expect(unsafe_code, reason = "the seam: raw ioctl arguments and mmap")]
pub(crate) mod sim_kernel;
#[expect(unsafe_code, reason = "a seam: raw ioctl arguments of descriptors")]
pub(crate) mod sim_machine;
pub(crate) mod strict;
pub(crate) mod sync;
pub(crate) mod userq;

// Short paths for the files of the folders above.
pub(crate) use self::{
    diagnostics::{complaints, hangs, health, uevents},
    process::{client, process_memory, user},
};
