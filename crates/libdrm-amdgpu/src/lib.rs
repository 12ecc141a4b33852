//! A `libdrm_amdgpu.so.1` on `amdgpu-winsys`: the 92 functions of libdrm_amdgpu 2.4.134, so that drivers and tools that a
//! distribution built run on this library unmodified.
//!
//! Requests go through the library's node seam ([`RenderNode`](amdgpu_winsys::winsys::RenderNode)) with its typed structures, and
//! addresses through its first-fit index ([`Holes`](amdgpu_winsys::vamgr::Holes)). The library's own objects
//! ([`Device`](amdgpu_winsys::winsys::Device), [`Bo`](amdgpu_winsys::winsys::Bo)) promise more than libdrm's and ask the kernel
//! more; here they would change what clients and traces see, so this crate keeps small records of its own.
//!
//! These rules apply to every function:
//!
//! * What libdrm answers is answered, with the same errno in the same of its two ways (a negative errno, or -1 with errno set).
//!   Where libdrm crashes, as for most null pointers, the answer is -EINVAL.
//! * A pointer is null or valid for the call; a handle is null or was returned by this library and not freed since.
//! * Functions may be called by any thread. A device lives as long as anything that was made of it; only its descriptors are closed
//!   by the last `amdgpu_device_deinitialize`. A later call on such an object makes no request.
//! * A panic becomes -EIO. No thread, no handler, no thread-local value with a destructor is left behind, so that the library can be
//!   unloaded after the last device is gone.
//!
//! Source: libdrm 2.4.134, its header `amdgpu.h` and its behaviour on the simulator.
#![expect(unsafe_code, reason = "C callers give addresses, and the kernel follows some of them")]

mod bo;
mod border;
mod cs;
mod deadline;
mod device;
mod environment;
mod kernel;
mod queries;
mod sync;
mod user_queues;
mod va;
