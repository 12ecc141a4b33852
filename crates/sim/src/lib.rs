//! A functional simulated amdgpu kernel driver and GPU.
//!
//! [`SimKernel`] is one open file of a simulated render node and implements the library's seam,
//! [`Kernel`](amdgpu_uapi::Kernel): it speaks the real driver's bytes, keeps handles, page tables and memory pools
//! of its own, and refuses what Linux 6.12 refuses with the same errno. Behind it, [`gpu`] really executes the packets that
//! are submitted, asynchronously, through the page tables of the file that submitted them.
//!
//! Requests and packets that are not simulated are refused loudly: an error in the log, a sentence in [`SimKernel::complaints`], and an errno.
//!
//! ```
//! use amdgpu_sim::{SimKernel, profile};
//! use amdgpu_winsys::winsys::{Bo, BoRequest, Device};
//! use amdgpu_uapi::{GemCreateFlags, GemDomain};
//!
//! let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
//! let request = BoRequest { size: 1 << 20, alignment: 0, domains: GemDomain::VRAM, flags: GemCreateFlags::empty() };
//! let bo = Bo::create(&device, request)?;
//! assert_eq!(device.memory_info()?.vram.heap_usage, bo.size());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Memory
//!
//! VRAM, its visible part and GTT have the sizes of the capture, and fill up as a real card's do: requests are placed by the
//! driver's order of domains, what was not used for longest is evicted, from VRAM to GTT and from there to system memory,
//! and a submission brings back what it lists while the allowance for moves lasts. A BO's bytes lie in one place wherever
//! the BO is said to be, so that contents survive every move by construction; [`SimDevice::lose_evicted`] is for tests that
//! want to see the opposite. CPU mappings count as touched when they are made, because their page faults are not seen.
//!
//! Not counted are the kernel's own buffers and page tables: an idle device has usage 0.

mod chips;
mod device;
mod display;
mod edid;
pub mod gpu;
mod kernel;
mod lockup;
#[expect(unsafe_code, reason = "a seam: raw ioctl arguments, and memory to map")]
mod null;
mod options;
mod release;
pub mod sysfs;
mod testing;

pub use self::{
    chips::{CaptureError, ChipError, Firmware, Profile, Register, VideoBlock, chip, profile, profiles},
    device::SimDevice,
    display::{Display, DisplayError, Picture},
    kernel::{
        client::Client,
        files::census::{Census, DeviceCensus},
        power::{LoadError, LoadScript},
        sched::{
            captures::{DEFAULT_KEPT, IBS_VARIABLE, KEPT_VARIABLE},
            shader_watch::{ShaderNews, ShaderSink, shader_log},
        },
        sim_kernel::{Mappable, SimKernel},
        sim_machine::SimMachine,
    },
    lockup::{LockupTimeout, LockupTimeoutError},
    null::NullKernel,
    options::SimOptions,
    release::{KernelRelease, KernelReleaseError},
    testing::{
        mutation::Mutation,
        pressure::{Pressed, Pressure},
        steer::HeldRings,
    },
};

pub use amdgpu_waves::{
    Event as ShaderEvent, InstructionClass, TracedWaves, Watch as ShaderWatch, WatchCounts, WatchReport,
};

/// The examples of the README are tried as those of the crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
