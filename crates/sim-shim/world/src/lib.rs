//! Simulated amdgpu devices that several processes share.
//!
//! A *world* is some simulated GPUs, a server that owns them, and a directory: a socket to reach the server, and a tree
//! that holds what `/dev/dri` and `/sys` show of the GPUs. The preload library of the package `amdgpu-sim-shim` leads
//! programs into a world; the launcher `amdgpu-sim` makes one.
//!
//! * A node descriptor is one end of a socket pair that the server made. The kernel does all the bookkeeping of dup, fork,
//!   exec, SCM_RIGHTS and close; when the last copy is gone the server sees the hang-up and releases the file. The
//!   client's end is bound to an abstract name that says which file it is ([`NodeName`]), so that no process needs a table of
//!   descriptors that could go stale.
//! * Who calls shows once on each connection that it has a descriptor of the file: a number alone opens nothing.
//! * A call travels over a connection of its own to the server's socket ([`Connection`]), never over the node descriptor,
//!   so that a thread in a long wait holds up no other. The server copies arguments out of the client's memory itself; a
//!   bad address is EFAULT. Descriptors are fetched from and installed in the client in the middle of the call.
//! * A mapping is the client's own mmap of the BO's shared memory, through an open file of its own that carries a lock. The
//!   lock goes with the last piece of the mapping in whichever process, however it ends, and only then does the server let
//!   go of the BO and the file.
//! * The directory is its user's alone, and locked. The next server removes the leftovers of a killed one.

mod client;
mod connection;
mod error;
mod files;
mod name;
mod process;
mod seats;
mod server;
mod settings;
#[expect(unsafe_code, reason = "leaving the process's descriptor table")]
mod table;
mod text;
mod tree;
mod trust;
#[expect(unsafe_code, reason = "messages with descriptors, on the stack")]
mod wire;

pub use self::{
    connection::{Answer, Connection},
    error::WorldError,
    name::NodeName,
    server::{Running, Server, Traffic, gpus, is_server_thread},
    settings::{load, options},
    text::text_file,
    tree::directory::{CLASSES, Directory, Layout, SW_SYNC},
    wire::{Call, Message},
};

/// The environment variable that names the chips of a world, such as `navi21,renoir`.
pub const GPUS_VARIABLE: &str = "AMDGPU_SIM";
/// The environment variable that leads child processes to a world: its directory.
pub const WORLD_VARIABLE: &str = "AMDGPU_SIM_WORLD";
/// The environment variable that names the chip of a null kernel: requests are answered at once, in the calling process
/// ([`NullKernel`](amdgpu_sim::NullKernel)).
pub const NULL_VARIABLE: &str = "AMDGPU_SIM_NULL";
/// The environment variable that names the kernel whose driver is simulated, such as `6.17`
/// ([`KernelRelease`](amdgpu_sim::KernelRelease)).
pub const KERNEL_VARIABLE: &str = "AMDGPU_SIM_KERNEL";
/// The environment variable that says how large a display is plugged into each GPU, such as `1920x1080`
/// ([`Display`](amdgpu_sim::Display)).
pub const DISPLAY_VARIABLE: &str = "AMDGPU_SIM_DISPLAY";
/// The environment variable that says how long a job may run, as the kernel's parameter `lockup_timeout` does
/// ([`LockupTimeout`](amdgpu_sim::LockupTimeout)).
pub const LOCKUP_VARIABLE: &str = "AMDGPU_SIM_LOCKUP_TIMEOUT";
/// The environment variable that, if set to anything but 0, gives fills of the copy engines 4.0 to 5.2 sizes of 30 bits
/// ([`SimOptions::wide_fills`](amdgpu_sim::SimOptions::wide_fills)).
pub const WIDE_FILLS_VARIABLE: &str = "AMDGPU_SIM_WIDE_FILLS";
/// The environment variable that, if set to anything but 0, gives chips the video engines of their generation
/// ([`SimOptions::video`](amdgpu_sim::SimOptions::video)).
pub const VIDEO_VARIABLE: &str = "AMDGPU_SIM_VIDEO";
/// The environment variable that, if set to anything but 0, gives the memory ECC whose errors the driver counts
/// ([`SimOptions::ras`](amdgpu_sim::SimOptions::ras)).
pub const RAS_VARIABLE: &str = "AMDGPU_SIM_RAS";
/// The environment variable that, if set to anything but 0, turns user queues on where the kernel and the chip have them
/// ([`SimOptions::user_queues`](amdgpu_sim::SimOptions::user_queues)).
pub const USER_QUEUES_VARIABLE: &str = "AMDGPU_SIM_USER_QUEUES";
/// The environment variable that names the file of a load that the devices pretend
/// ([`LoadScript`](amdgpu_sim::LoadScript)).
pub const LOAD_VARIABLE: &str = "AMDGPU_SIM_LOAD";
/// The environment variable that says how many MiB of VRAM the kernel itself has
/// ([`SimOptions::kernel_vram`](amdgpu_sim::SimOptions::kernel_vram)).
pub const KERNEL_VRAM_VARIABLE: &str = "AMDGPU_SIM_KERNEL_VRAM";
/// The environment variable that says how many instructions the waves of a dispatch may execute before they count as hung
/// ([`SimOptions::shader_instructions`](amdgpu_sim::SimOptions::shader_instructions)).
pub const SHADER_INSTRUCTIONS_VARIABLE: &str = "AMDGPU_SIM_SHADER_INSTRUCTIONS";
/// The environment variable that says on how many threads a dispatch is executed
/// ([`SimOptions::shader_threads`](amdgpu_sim::SimOptions::shader_threads)).
pub const SHADER_THREADS_VARIABLE: &str = "AMDGPU_SIM_SHADER_THREADS";
/// The chip of a world for which none was named.
pub const DEFAULT_GPU: &str = "navi21";
