//! Simulated amdgpu devices that several processes share.
//!
//! A *world* consists of simulated GPUs, a server that owns them, and a directory. The directory contains the socket of the server,
//! and a tree with the files of the GPUs in `/dev/dri` and `/sys`. The preload library of the package `amdgpu-sim-shim` shows this
//! world to programs; the launcher `amdgpu-sim` creates it.
//!
//! * A node descriptor is one end of a socket pair that the server created. The host's kernel keeps track of dup, fork, exec,
//!   SCM_RIGHTS and close; when the last copy is closed, the server detects the hang-up and releases the file. The client's end is
//!   bound to an abstract name that identifies the file ([`NodeName`]), so that no process needs a table of descriptors, which
//!   could become stale.
//! * On each connection, a client proves once that it has a descriptor of the file. The number of a file alone gives no access.
//! * A call uses a separate connection to the server's socket ([`Connection`]), never the node descriptor, so that a thread in a
//!   long wait does not block other threads. The server copies arguments from and to the client's memory, through `/proc/self/mem`
//!   as the client has opened it: with the client's own rights, and in the address space that it had then; an invalid address is
//!   EFAULT. Descriptors are fetched from the client, and installed in it, during the call.
//! * A mapping is an mmap by the client of the BO's shared memory, through a separate open file that carries a lock. The lock is
//!   released with the last piece of the mapping in any process, however the process ends, and only then does the server release
//!   the BO and the file.
//! * Only its user can access the directory, and it is locked. The next server removes the directories of killed servers.

mod client;
#[expect(unsafe_code, reason = "files are opened past the C library")]
mod connection;
mod error;
mod files;
mod memories;
mod name;
mod persistent;
mod process;
mod seats;
mod server;
mod settings;
#[expect(unsafe_code, reason = "leaving the process's descriptor table")]
mod table;
mod text;
mod tree;
mod trust;
mod uevents;
#[expect(unsafe_code, reason = "messages with descriptors, on the stack")]
mod wire;

pub use self::{
    connection::{Answer, Connection},
    error::WorldError,
    name::{NodeName, is_uevent_socket},
    server::{Running, Server, Traffic, gpus, is_server_thread},
    settings::{DEFAULT_KERNEL, load, options},
    text::text_file,
    tree::directory::{CLASSES, Directory, Layout, SW_SYNC},
    uevents::{UDEV_EVENTS, is_udev_event},
    wire::{Call, Message},
};

/// The environment variable that names the chips of a world, such as `navi21,renoir`.
pub const GPUS_VARIABLE: &str = "AMDGPU_SIM";
/// The environment variable with the directory of the world that a process and its children use.
pub const WORLD_VARIABLE: &str = "AMDGPU_SIM_WORLD";
/// The environment variable that names the chip of a null kernel: requests are answered immediately, in the calling process
/// ([`NullKernel`](amdgpu_sim::NullKernel)).
pub const NULL_VARIABLE: &str = "AMDGPU_SIM_NULL";
/// The environment variable that names the kernel whose driver is simulated, such as `6.17`
/// ([`KernelRelease`](amdgpu_sim::KernelRelease)).
pub const KERNEL_VARIABLE: &str = "AMDGPU_SIM_KERNEL";
/// The environment variable with features that the kernel has beside those of its release, or lacks, such as
/// `+list-handles,-client-name` ([`FeatureChanges`](amdgpu_sim::FeatureChanges)).
pub const FEATURES_VARIABLE: &str = "AMDGPU_SIM_KERNEL_FEATURES";
/// The environment variable with the size of the display that is connected to each GPU, such as `1920x1080`
/// ([`Display`](amdgpu_sim::Display)).
pub const DISPLAY_VARIABLE: &str = "AMDGPU_SIM_DISPLAY";
/// The environment variable with the time that a job may run, in the format of the kernel's parameter `lockup_timeout`
/// ([`LockupTimeout`](amdgpu_sim::LockupTimeout)).
pub const LOCKUP_VARIABLE: &str = "AMDGPU_SIM_LOCKUP_TIMEOUT";
/// The environment variable that, if set to anything but 0, gives fills of the copy engines 4.0 and 5.0 sizes of 30 bits
/// ([`SimOptions::wide_fills`](amdgpu_sim::SimOptions::wide_fills)).
pub const WIDE_FILLS_VARIABLE: &str = "AMDGPU_SIM_WIDE_FILLS";
/// The environment variable that, if set to anything but 0, gives chips the video engines of their generation
/// ([`SimOptions::video`](amdgpu_sim::SimOptions::video)).
pub const VIDEO_VARIABLE: &str = "AMDGPU_SIM_VIDEO";
/// The environment variable that, if set to anything but 0, gives the devices memory with ECC, whose errors the driver counts
/// ([`SimOptions::ras`](amdgpu_sim::SimOptions::ras)).
pub const RAS_VARIABLE: &str = "AMDGPU_SIM_RAS";
/// The environment variable that, if set to anything but 0, lets the driver suspend cards that are not used
/// ([`SimOptions::runtime_pm`](amdgpu_sim::SimOptions::runtime_pm)).
pub const RUNTIME_PM_VARIABLE: &str = "AMDGPU_SIM_RUNTIME_PM";
/// The environment variable that, if set to anything but 0, enables user queues if the kernel release and the chip support them
/// ([`SimOptions::user_queues`](amdgpu_sim::SimOptions::user_queues)).
pub const USER_QUEUES_VARIABLE: &str = "AMDGPU_SIM_USER_QUEUES";
/// The environment variable with the path of a load script, whose load the devices report ([`LoadScript`](amdgpu_sim::LoadScript)).
pub const LOAD_VARIABLE: &str = "AMDGPU_SIM_LOAD";
/// The environment variable with the number of MiB of VRAM that the kernel itself uses
/// ([`SimOptions::kernel_vram`](amdgpu_sim::SimOptions::kernel_vram)).
pub const KERNEL_VRAM_VARIABLE: &str = "AMDGPU_SIM_KERNEL_VRAM";
/// The environment variable with the number of instructions that the waves of a dispatch may execute before they count as hung
/// ([`SimOptions::shader_instructions`](amdgpu_sim::SimOptions::shader_instructions)).
pub const SHADER_INSTRUCTIONS_VARIABLE: &str = "AMDGPU_SIM_SHADER_INSTRUCTIONS";
/// The environment variable with the number of threads that execute a dispatch
/// ([`SimOptions::shader_threads`](amdgpu_sim::SimOptions::shader_threads)).
pub const SHADER_THREADS_VARIABLE: &str = "AMDGPU_SIM_SHADER_THREADS";
/// The chip of a world if the user names none.
pub const DEFAULT_GPU: &str = "navi21";
