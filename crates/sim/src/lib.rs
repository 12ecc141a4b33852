//! A functional simulated amdgpu kernel driver and GPU.
//!
//! [`SimKernel`] is an open file of a simulated render node and implements [`Kernel`](amdgpu_uapi::Kernel). It accepts the driver's
//! requests byte for byte, manages handles, page tables and memory pools, and returns the same errno for invalid requests as Linux
//! 6.12. [`gpu`] executes the submitted packets asynchronously, through the page tables of the submitting file.
//!
//! Requests and packets that are not simulated fail with an errno, an error in the log, and a sentence in
//! [`SimKernel::complaints`].
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
//! VRAM, visible VRAM and GTT have the sizes in the capture. BOs are placed by the driver's order of domains. If a heap is full,
//! the least recently used BOs are evicted, from VRAM to GTT and from there to system memory. A submission moves its BOs back while
//! its allowance for moves lasts. The contents of a BO are stored in one place for all domains, so that they survive every move;
//! [`SimDevice::lose_evicted`] makes tests see lost contents. A CPU mapping counts as an access when it is created, because page
//! faults on it are not visible.
//!
//! The kernel's own buffers and page tables are not counted: an idle device has usage 0.

mod chips;
mod device;
pub mod gpu;
mod kernel;
#[expect(unsafe_code, reason = "a seam: raw ioctl arguments, and memory to map")]
mod null;
mod options;
pub mod sysfs;
mod testing;

// Short paths for the options that follow from one another.
use self::options::{display, features, lockup, release};

pub use self::{
    chips::{
        CaptureError, ChangeError, Changes, ChipError, Firmware, Origin, Profile, RecordedFiles, Register, Variant,
        VideoBlock, chip, chosen_profiles, profile, profiles, variants,
    },
    device::{
        SimDevice, SuspendedGpu,
        compute_driver::ComputeDriver,
        pressure::{Pressed, Pressure},
        steer::HeldRings,
    },
    display::{Display, DisplayError, Picture},
    features::{FeatureChanges, FeatureError, Features},
    kernel::{
        client::{Client, on_behalf_of},
        files::{
            census::{Census, DeviceCensus},
            jobs::Jobs,
        },
        hangs::{HangEnd, HangRecord, RingImage},
        health::HardwareError,
        power::{LoadError, LoadScript, WakeCause, WakeUp, WakeUps},
        process::identity::Process,
        process_memory::ProcessMemory,
        sched::{
            captures::{DEFAULT_KEPT, IBS_VARIABLE, KEPT_VARIABLE},
            shader_watch::{ShaderNews, ShaderSink, shader_log},
            skipped::SkippedDraws,
        },
        sim_kernel::{Mappable, SimKernel},
        sim_machine::SimMachine,
        strict::{HazardKind, HazardReport, TrialOutcome, TrialReport},
        uevents::Uevent,
    },
    lockup::{LockupTimeout, LockupTimeoutError},
    null::{NullKernel, RequestCosts},
    options::{SimOptions, Strictness, StrictnessError},
    release::{KernelRelease, KernelReleaseError},
    testing::mutation::Mutation,
};

pub use amdgpu_waves::{
    Event as ShaderEvent, InstructionClass, TracedWaves, Watch as ShaderWatch, WatchCounts, WatchReport,
};

/// The examples of the README, which are tested as this crate's examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
