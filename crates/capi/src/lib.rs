//! The C ABI of `amdgpu-winsys`, for drivers written in C.
//!
//! The header is `include/amdgpu_winsys.h`. It is generated from this crate, and a test compares the two. These conventions
//! apply to every function:
//!
//! * Objects are opaque pointers. `*_ref` adds a reference, `*_unref` removes one; both accept null. An object keeps its device
//!   alive, and objects may be freed in any order.
//! * A function that can fail returns [`AGW_SUCCESS`](border::AGW_SUCCESS) or a negative number. If Vulkan has a corresponding
//!   result, the number is Vulkan's; [`agw_vk_result`](border::agw_vk_result) maps the others. Out-parameters are written only
//!   on success. [`agw_last_error`](border::agw_last_error) returns its description, per thread.
//! * Structures begin with `struct_size`, which the caller sets to `sizeof`. Fields are only ever appended, and zero selects
//!   the previous behaviour. Small structures in arrays have a fixed layout.
//! * A panic in the library becomes [`AGW_ERROR_PANIC`](border::AGW_ERROR_PANIC), which every later call on the same device
//!   returns too. In an archive that was built without unwinding, such as by `install`, a panic ends the process.
//! * A function that imports a descriptor borrows it. A function that exports returns a descriptor that the caller owns.
//! * While a call records, finalizes, resets or destroys a stream, no other call may use the stream; the same holds for mapping
//!   or unmapping a BO. No lock enforces this, because Vulkan has the same rules. A checked build detects violations for
//!   streams.
//! * The only state of the process are the hooks for memory and logging, and nothing is written to standard error.
//! * Device memory, IBs and the library's own tables are allocated by Rust's allocator, which ends the process when memory runs
//!   out. [`agw_set_allocator`](border::agw_set_allocator) applies to the objects behind handles only.
//! * After a fork only one process may continue to use a device, see [`Device`](amdgpu_winsys::winsys::Device).
//!
//! There are two tiers, and a driver chooses one for each of its parts. The lower tier, in [`objects`], has one function for
//! each operation of the kernel. The upper tier allocates by memory type, in [`heaps`], and records and submits, in
//! [`recording`].
#![expect(unsafe_code, reason = "C callers give addresses, and each function says what they must be valid for")]
#![expect(non_camel_case_types, reason = "C names")]

pub mod border;
pub mod heaps;
pub mod objects;
pub mod recording;
