//! The interface to a kernel: the trait [`Kernel`](crate::Kernel), its open file, and the limits on repeating requests.

pub(crate) mod deadline;
pub(crate) mod errno;
#[expect(unsafe_code, reason = "the seam: ioctl arguments with addresses in them")]
pub(crate) mod kernel;
pub(crate) mod open_file;
mod patience;
