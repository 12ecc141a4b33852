//! Conversion of requests' arguments between bytes and structures.

use amdgpu_uapi::{Answered, Argument, Errno};
use zerocopy::IntoBytes as _;

/// Reads the argument from its bytes, which are at least as long as the kernel's structure.
pub(crate) fn argument<A: Argument>(bytes: &[u8]) -> Result<A, Errno> {
    A::read_from_prefix(bytes).map(|(argument, _)| argument).map_err(|_| Errno::EFAULT)
}

/// Writes an argument back, for requests whose fields are filled in.
pub(crate) fn fill<A: Argument>(bytes: &mut [u8], argument: &A) -> Result<(), Errno> {
    argument.write_to_prefix(bytes).map_err(|_| Errno::EFAULT)
}

/// Replaces the argument of a union with the answer; the remaining bytes become zero.
pub(crate) fn answer<A: Answered>(bytes: &mut [u8], answer: &A::Answer) -> Result<(), Errno> {
    if let Some(whole) = bytes.get_mut(..size_of::<A>()) {
        whole.fill(0);
    }
    answer.write_to_prefix(bytes).map_err(|_| Errno::EFAULT)
}
