//! `libamdgpu_sim_shim.so`: preloaded, it shows a program simulated AMD GPUs in `/dev/dri` and `/sys`.
//!
//! Symbols of the C library are interposed (`hooks`) and forwarded to the next definition (`real`) unless they are
//! about a path that belongs to the world (`paths`) or about a node descriptor. Those go to the server of the world
//! (`world`, `calls`), which the launcher runs, or else a thread of the first process that looks for a GPU.
//!
//! The shim keeps no table of descriptors. The kernel reports what a descriptor is (see `amdgpu-sim-world`), so dup, fork,
//! exec, close and passing descriptors between processes need no help.
//!
//! With `AMDGPU_SIM_NULL` set, requests do not reach the server: `null` answers them, for measuring user space.
//!
//! No panic may leave a function that C calls: every hook that does more than forward runs inside `catch_unwind`
//! (`hooks::guarded`) and answers EIO after one. Aborting instead (`panic = "abort"`) would take the host program down with
//! its data for a mistake of ours.

#[expect(unsafe_code, reason = "reads C strings")]
mod c_text;
mod calls;
#[expect(unsafe_code, reason = "functions that C programs call")]
mod hooks;
#[expect(unsafe_code, reason = "passes on what C programs passed")]
mod null;
mod paths;
#[expect(unsafe_code, reason = "finds and calls the functions that were interposed")]
mod real;
mod working;
#[expect(unsafe_code, reason = "runs before main, and at exit")]
mod world;
