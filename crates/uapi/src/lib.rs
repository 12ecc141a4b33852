//! The kernel's ABI: structures, request numbers, and the trait [`Kernel`] that takes them.
//!
//! It uses no other crate of the workspace. `amdgpu-winsys` re-exports all of it.
//!
//! Every structure is plain bytes (`zerocopy`), states the offset of every field, and is checked twice: by assertions at
//! compile time, and by `tests/uapi_layout.rs` against the C headers. Where C declares a union of question and answer,
//! the question is the [`Argument`] and [`Answered::answer`] reads what the kernel wrote over its start. Flags are kept
//! as integers in the structures, because the other side may set bits we do not know; the `bitflags` types beside them
//! name the known ones.
//!
//! Sizes differ between header generations on purpose: the kernel zero-extends a shorter argument and ignores the tail
//! of a longer one (Linux 6.12 `drm_ioctl.c`, `drm_ioctl`), so GEM_VA exists with 40 bytes ([`GemVa`]) and with 64
//! ([`GemVaTimeline`]).

mod seam;
mod structures;

pub use self::{
    seam::{
        deadline::Deadline,
        errno::Errno,
        kernel::{
            Kernel, NotReserved, Plain, Protection, replace_by_nothing, send, send_as, send_quietly, send_raw,
            send_raw_quietly,
        },
        open_file::{FileIdentity, IdentityClaim, OpenFile},
    },
    structures::*,
};
