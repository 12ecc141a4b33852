//! The processes that make requests: whose they are, their memory and descriptors, and the numbers by which they name objects.

pub(crate) mod client;
pub(crate) mod errno;
pub(crate) mod identity;
pub(crate) mod ids;
pub(crate) mod process_memory;
#[expect(unsafe_code, reason = "addresses inside ioctl arguments")]
pub(crate) mod user;
