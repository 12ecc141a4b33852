//! The seam: the trait [`Kernel`](crate::Kernel), the open file behind one, and how long its requests are repeated.

pub(crate) mod deadline;
pub(crate) mod errno;
#[expect(unsafe_code, reason = "the seam: ioctl arguments with addresses in them")]
pub(crate) mod kernel;
pub(crate) mod open_file;
mod patience;
