//! The kernel's ABI: structures, request numbers, and the trait [`Kernel`] that performs requests.
//!
//! The crate depends on no other crate of the workspace. `amdgpu-winsys` re-exports all its items.
//!
//! Structures are plain bytes (`zerocopy`) with explicit offsets. The offsets are checked twice: by assertions at compile time, and
//! by `tests/uapi_layout.rs` against the C headers. Where C declares a union of input and output, the input is the [`Argument`],
//! and [`Answered::answer`] reads the output, which the kernel writes over its start. Flags in structures are integers, because the
//! other side may set unknown bits; `bitflags` types name the known bits.
//!
//! Sizes differ between header generations. The kernel zero-extends shorter arguments and ignores the tail of longer ones (Linux
//! 6.12 `drm_ioctl.c`, `drm_ioctl`), so GEM_VA exists with 40 bytes ([`GemVa`]) and with 64 ([`GemVaTimeline`]).

mod seam;
mod structures;
mod uevent;

pub use self::{
    seam::{
        deadline::Deadline,
        errno::Errno,
        kernel::{
            Kernel, NotReserved, Protection, replace_by_nothing, send, send_plain, send_plain_as, send_plain_quietly,
            send_raw, send_raw_quietly,
        },
        open_file::{FileIdentity, IdentityClaim, OpenFile},
    },
    structures::*,
    uevent::{KERNEL_UEVENTS, LONGEST_UEVENT, WedgedEvent},
};
