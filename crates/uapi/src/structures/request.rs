//! ioctl request numbers, which are computed from the argument's type so that they cannot have a wrong size.

use std::fmt;

use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

use super::Effect;

/// The first number of the driver's own requests.
pub(super) const DRIVER_BASE: u8 = 0x40;

/// An ioctl request number: direction (bits 31..30), argument size (29..16), type (15..8) and number (7..0).
///
/// Source: `include/uapi/asm-generic/ioctl.h`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Request(u32);

const WRITE: u32 = 1;
const READ: u32 = 2;

impl Request {
    const fn new(direction: u32, kind: u8, number: u8, size: usize) -> Self {
        assert!(size < 1 << 14, "an ioctl argument has at most 16383 bytes");
        Self(direction << 30 | (size as u32) << 16 | (kind as u32) << 8 | number as u32)
    }

    /// Creates a request without an argument.
    #[doc(alias = "_IO")]
    pub const fn bare(kind: u8, number: u8) -> Self {
        Self::new(0, kind, number, 0)
    }

    /// Creates a request whose argument the kernel only writes.
    #[doc(alias = "_IOR")]
    pub const fn read<T>(kind: u8, number: u8) -> Self {
        Self::new(READ, kind, number, size_of::<T>())
    }

    /// Creates a request whose argument the kernel only reads.
    #[doc(alias = "_IOW")]
    pub const fn write<T>(kind: u8, number: u8) -> Self {
        Self::new(WRITE, kind, number, size_of::<T>())
    }

    /// Creates a request whose argument the kernel reads and fills in.
    #[doc(alias = "_IOWR")]
    pub const fn read_write<T>(kind: u8, number: u8) -> Self {
        Self::new(READ | WRITE, kind, number, size_of::<T>())
    }

    /// Creates a request from its number, such as the argument of another program's system call.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the number for the `ioctl` system call.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns the type byte: `b'd'` for DRM, `b'b'` for dma-buf, `b'>'` for sync files.
    pub const fn kind(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Returns the number within the type. DRM drivers define 0x40..=0x9f.
    pub const fn number(self) -> u8 {
        self.0 as u8
    }

    /// Returns the size of the argument in bytes, as stated by the caller.
    pub const fn size(self) -> usize {
        (self.0 >> 16 & 0x3fff) as usize
    }

    /// Returns `true` if user space passes data to the kernel: the kernel reads the argument (`_IOC_WRITE`).
    pub const fn writes_to_kernel(self) -> bool {
        self.0 >> 30 & WRITE != 0
    }

    /// Returns `true` if the kernel returns data: it writes the argument (`_IOC_READ`).
    pub const fn reads_from_kernel(self) -> bool {
        self.0 >> 30 & READ != 0
    }

    /// Returns the same request with another argument size, for structures that differ between header generations.
    #[must_use]
    pub const fn with_size(self, size: usize) -> Self {
        Self::new(self.0 >> 30, self.kind(), self.number(), size)
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

/// A structure that a DRM request carries.
///
/// A request is not declared without its [`Effect`], which decides whether safe code may send it:
///
/// ```compile_fail,E0046
/// use amdgpu_uapi::{Argument, Request};
///
/// #[derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)]
/// #[repr(C)]
/// struct New(u32);
///
/// impl Argument for New {
///     const REQUEST: Request = Request::write::<New>(b'd', 0x5f);
///     const NAME: &'static str = "NEW";
/// }
/// ```
pub trait Argument: FromBytes + IntoBytes + Immutable + KnownLayout {
    /// The request number that the header associates with this layout.
    const REQUEST: Request;
    /// The request's name without its `DRM_IOCTL_` prefix, for errors and traces.
    const NAME: &'static str;
    /// Effect of the request. If the structure carries several operations, the effect of the most powerful one.
    const EFFECT: Effect;
}

/// An argument that C declares as a union: the kernel writes the answer over its start.
pub trait Answered: Argument {
    /// The contents of the argument after a successful request.
    type Answer: FromBytes + IntoBytes + Immutable + KnownLayout;

    /// Reads the answer from the argument.
    fn answer(&self) -> Self::Answer {
        // The assertion at each association ensures that the answer is not longer than the argument, so this always succeeds.
        match Self::Answer::read_from_prefix(self.as_bytes()) {
            Ok((answer, _)) => answer,
            Err(_) => Self::Answer::new_zeroed(),
        }
    }
}

/// The layout of a structure in C, for the test that compares with the C headers.
pub trait Layout {
    /// The tag of the C structure, without `struct`.
    const C_NAME: &'static str;
    /// The size of the structure in bytes.
    const SIZE: usize;
    /// The C names of the fields (empty for padding) and their byte offsets.
    const FIELDS: &'static [(&'static str, usize)];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_c_macros() {
        assert_eq!(Request::read_write::<[u8; 32]>(b'd', 0x40).bits(), 0xc020_6440);
        assert_eq!(Request::write::<[u8; 8]>(b'd', 0x09).bits(), 0x4008_6409);
        assert_eq!(Request::read::<[u8; 4]>(b'd', 0x02).bits(), 0x8004_6402);
        assert_eq!(Request::bare(b'd', 0x1e).bits(), 0x0000_641e);
    }

    #[test]
    fn parts_come_back_out() {
        let request = Request::write::<[u8; 40]>(b'd', 0x48);
        assert_eq!((request.kind(), request.number(), request.size()), (b'd', 0x48, 40));
        assert!(request.writes_to_kernel() && !request.reads_from_kernel());
        assert_eq!(request.with_size(64).bits(), 0x4040_6448);
        assert_eq!(format!("{request:?}"), "0x40286448");
    }
}
