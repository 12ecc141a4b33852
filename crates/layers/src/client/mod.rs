//! The client's side of the kernel interface: arguments, the memory to which they point, and mapped memory.

pub(crate) mod calls;
pub(crate) mod chunks;
pub(crate) mod ibs;
#[expect(unsafe_code, reason = "ioctl arguments and what they point at")]
pub(crate) mod memory;
#[expect(unsafe_code, reason = "ioctl arguments")]
pub(crate) mod question;
pub(crate) mod space;
#[expect(unsafe_code, reason = "memory that clients map too")]
pub(crate) mod view;

pub use self::ibs::SubmittedIb;
