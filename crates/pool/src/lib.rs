//! The memory that a program can use on each AMD GPU of a computer, and the reasons of its limits.
//!
//! The figures come from sysfs, procfs and one request to an open render node. Root, Vulkan and ROCm are not needed, and a GPU that
//! sleeps stays asleep unless the caller wants it woken.
//!
//! ```no_run
//! use amdgpu_pool::{Options, Root, look};
//!
//! let report = look(&Root::live(), &Options::default())?;
//! for gpu in &report.gpus {
//!     let fit = gpu.fits(20 << 30);
//!     println!("{}: {:?}, {}", gpu.pci, fit.verdict, fit.reason);
//! }
//! # Ok::<(), amdgpu_pool::LookError>(())
//! ```
//!
//! | question | answer |
//! |---|---|
//! | how much is there, and how much is left | [`Gpu::effective`] |
//! | do so many bytes fit, and where | [`Gpu::fits`] |
//! | how large may one allocation be | [`Gpu::largest`] |
//! | why is it not more | [`Gpu::limits`] |
//! | what does Vulkan say | [`Gpu::heaps`] |
//! | who holds it | [`Gpu::own`], [`Gpu::others`], [`Gpu::processes`] |
//! | what could not be read, and what contradicts itself | [`Gpu::missing`] |
//!
//! A [`Machine`] supplies the files and the open GPUs: [`Root`] reads this computer or a captured tree, and tests supply their own.
//! The feature `serde` derives the traits of serde for the figures.

mod cgroup;
mod effective;
pub mod fdinfo;
pub mod files;
mod fit;
mod gpu;
mod heaps;
mod info;
mod limits;
mod look;
mod machine;
pub mod model;
mod pci_ids;
mod processes;
mod seam;
pub mod uma;

pub use cgroup::{Cgroup, cgroup, dmem, memory_max};
pub use fit::{Fit, Part, Place, Verdict};
pub use gpu::{Gpu, Largest, Other};
pub use heaps::{OwnUsage, UsedMemory, heaps};
pub use info::{Facts, Info, MemoryInfo, PoolInfo, RenderNode, Session, query};
pub use limits::ModuleSettings;
pub use look::{LookError, Looker, Options, Report, look};
pub use machine::{Machine, Root};
pub use model::{Limit, State};
pub use pci_ids::is_apu;
