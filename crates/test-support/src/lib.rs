//! Helpers that the tests of several crates share.
//!
//! * [`jobs`]: jobs of compute shaders, for the interpreter's tests and for programs that test a Vulkan driver;
//! * `chips` (feature `chips`): the chips whose answers were recorded from addrlib and Mesa;
//! * `allocations` (feature `allocations`): counts of the memory that a test allocates outside of the kernel.

#[cfg(feature = "allocations")]
#[expect(unsafe_code, reason = "a counting allocator")]
pub mod allocations;
#[cfg(feature = "chips")]
pub mod chips;
pub mod jobs;
