//! The C ABI of `amdgpu-winsys`, for drivers written in C.
//!
//! The header is `include/amdgpu_winsys.h`; it is generated from this crate, and a test compares the two. Conventions, which
//! hold for every function:
//!
//! * Objects are opaque pointers. `*_ref` adds a reference, `*_unref` removes one; both take null. An object keeps its device
//!   alive, and objects may be freed in any order.
//! * A function that can fail returns [`AGW_SUCCESS`](border::AGW_SUCCESS) or a negative number. Where Vulkan has the
//!   result, the number is Vulkan's; [`agw_vk_result`](border::agw_vk_result) folds the others. Out-parameters are written only on success.
//!   [`agw_last_error`](border::agw_last_error) is a text, by thread.
//! * Structures begin with `struct_size`, which the caller sets to `sizeof`; fields are only ever appended, and zero means
//!   "as before". Small structures in arrays have a fixed layout.
//! * A panic inside becomes [`AGW_ERROR_PANIC`](border::AGW_ERROR_PANIC), and every later call on the same device answers it too. In an
//!   archive that was built without unwinding, as `install` builds it, it ends the process.
//! * A function that imports a descriptor borrows it; one that exports returns a descriptor that the caller owns.
//! * A call that records, finalizes, resets or destroys a stream is the only one that uses it at the time, and so is one that maps or
//!   unmaps a BO. No lock sees to it, as Vulkan's rules have the same; a checked build finds who breaks it for streams.
//! * There is no state of the process but the hooks for memory and logging, and nothing is written to standard error.
//! * Device memory, IBs and the library's own tables come from Rust's allocator, which ends the process when memory runs out;
//!   [`agw_set_allocator`](border::agw_set_allocator) routes the objects behind handles only.
//! * After a fork one process goes on, as the docs of [`Device`](amdgpu_winsys::winsys::Device) say.
//!
//! There are two tiers, and a driver takes the one it wants for each part. The lower one, in [`objects`], is one function for
//! each operation of the kernel; the upper one allocates by memory type, in [`heaps`], and records and submits, in [`recording`].
#![expect(unsafe_code, reason = "C callers give addresses, and each function says what they must be valid for")]
#![expect(non_camel_case_types, reason = "C names")]

pub mod border;
pub mod heaps;
pub mod objects;
pub mod recording;
