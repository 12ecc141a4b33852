//! Fuzz targets, one file of `tests/` each: whatever the bytes, nothing panics, nothing waits for ever, and what refuses them
//! says why.
//!
//! | target | bytes become |
//! |---|---|
//! | `ioctls` | requests of another process to a simulated kernel, with arguments and addresses of all kinds |
//! | `packets` | an IB that every engine of every generation executes |
//! | `dumps` | an IB that is made readable, as text and JSON |
//! | `messages` | what a client of a world's server sends over its socket |
//! | `two_clients` | requests of two processes to a world, with addresses of their own memory |
//! | `recordings` | a recording that was damaged, or changed behind a right checksum, and is replayed under a client's life |
//! | `environment` | the value of the variable that names the chips of a world |
//! | `addresses` | what is asked of a VA manager |
//! | `lying_kernel` | what a driver does, and what its kernel lies about |
//! | `instructions` | machine code, assembler text, and requests for loads |
//! | `descriptors` | the dwords of a descriptor, the words that drivers keep with a BO, the value of a register |
//! | `captures` | the capture of a GPU, which a user wrote |
//! | `user_queues` | the memory of a user queue, and requests about it |
//! | `displays` | requests of several files for modes, planes, framebuffers, cursors, blobs, fences and events of a display |
//! | `calls` | calls of the C functions in any order, and in a checked build with wrong handles |
//! | `images` | a chip and the description of an image, laid out; the modifier of an image |
//!
//! `cargo test -p amdgpu-fuzz` tries some thousand inputs of chance. `cargo bolero test --package amdgpu-fuzz any_ioctl`
//! (of the crate cargo-bolero) lets libFuzzer look for more, led by coverage, for any time;
//! `BOLERO_RANDOM_ITERATIONS` makes the former longer, and `.ci/soundness/fuzz` does so for each target. A target counts the inputs that
//! get behind its first check ([`reach::Reach`]) and fails if there are none.

pub mod arguments;
#[expect(unsafe_code, reason = "a caller in C")]
#[expect(clippy::multiple_unsafe_ops_per_block, reason = "a block is one step of a caller in C")]
#[allow(clippy::wildcard_imports, reason = "the names of C, which have a prefix")]
pub mod calls;
#[expect(unsafe_code, reason = "a kernel that lies")]
pub mod lying;
pub mod reach;
pub mod recordings;
