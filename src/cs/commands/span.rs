//! A range of GPU addresses that a command reads or writes.

use super::{CommandError, Result};
use crate::{vamgr::GpuVa, winsys::Binding};

/// A non-empty range of GPU addresses. It does not cross the hole of non-canonical addresses in the middle of the address space.
///
/// ```
/// use amdgpu_winsys::cs::commands::Span;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let header = Span::of(memory.binding(), 0, 64)?;
/// let body = Span::of(memory.binding(), 64, 1024)?;
/// assert_eq!((header.address(), header.len()), (memory.address(), 64));
/// assert!(!header.overlaps(body) && body.overlaps(Span::new(body.address(), 1)?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    va: GpuVa,
    bytes: u64,
}

impl Span {
    /// Creates a range of addresses. The caller ensures that memory is bound there when the commands run.
    ///
    /// # Errors
    ///
    /// [`CommandError::Empty`] if `bytes` is zero; [`CommandError::OutOfAddresses`] if the range extends beyond the half (low or
    /// high) of the address space in which it starts.
    pub fn new(va: GpuVa, bytes: u64) -> Result<Self> {
        if bytes == 0 {
            return Err(CommandError::Empty { command: "a range" });
        }
        match va.checked_add(bytes - 1) {
            Some(_) => Ok(Self { va, bytes }),
            None => Err(CommandError::OutOfAddresses { va, bytes }),
        }
    }

    /// Creates the range of `bytes` bytes that starts at byte offset `offset` of bound memory.
    ///
    /// # Errors
    ///
    /// [`CommandError::Empty`] if `bytes` is zero; [`CommandError::OutOfBounds`] if the range is not inside the memory.
    pub fn of(binding: &Binding, offset: u64, bytes: u64) -> Result<Self> {
        let size = binding.len();
        let outside = CommandError::OutOfBounds { offset, bytes, size };
        if offset.checked_add(bytes).is_none_or(|end| end > size) {
            return Err(outside);
        }
        Self::new(binding.address().checked_add(offset).ok_or(outside)?, bytes)
    }

    /// Returns the part of `bytes` bytes that starts at byte offset `offset` of the range. This is cheaper than [`Span::of`],
    /// because only the bounds are checked.
    ///
    /// ```
    /// use amdgpu_winsys::{cs::commands::{CommandError, Span}, vamgr::GpuVa};
    ///
    /// let buffer = Span::new(GpuVa::new(0x10_0000)?, 4096)?;
    /// assert_eq!(buffer.part(1024, 16)?, Span::new(GpuVa::new(0x10_0400)?, 16)?);
    /// assert!(matches!(buffer.part(4096, 1), Err(CommandError::OutOfBounds { size: 4096, .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CommandError::Empty`] if `bytes` is zero; [`CommandError::OutOfBounds`] if the part is not inside the range.
    #[inline]
    pub const fn part(self, offset: u64, bytes: u64) -> Result<Self> {
        if bytes == 0 {
            return Err(CommandError::Empty { command: "a range" });
        }
        if bytes > self.bytes || offset > self.bytes - bytes {
            return Err(CommandError::OutOfBounds { offset, bytes, size: self.bytes });
        }
        Ok(Self { va: self.inside(offset), bytes })
    }

    /// Returns the address `offset` bytes into the range. `offset` is less than the length, and the whole range is in one half of
    /// the address space, so the sum is a valid address.
    #[inline]
    const fn inside(self, offset: u64) -> GpuVa {
        GpuVa::from_48_bits(self.va.as_u64().wrapping_add(offset))
    }

    /// Returns the address of the first byte.
    #[inline]
    pub const fn address(self) -> GpuVa {
        self.va
    }

    /// Returns the length of the range in bytes.
    #[inline]
    pub const fn len(self) -> u64 {
        self.bytes
    }

    /// Returns `false`: every range has at least one byte.
    pub const fn is_empty(self) -> bool {
        false
    }

    /// Returns `true` if the ranges have a byte in common.
    #[inline]
    pub const fn overlaps(self, other: Self) -> bool {
        let (this, that) = (self.va.as_u64(), other.va.as_u64());
        if this < that { that - this < self.bytes } else { this - that < other.bytes }
    }

    /// Splits the range into pieces of at most `most` bytes. Yields the offset and length of each, in order.
    #[inline]
    pub(super) fn pieces(self, most: u64) -> impl Iterator<Item = (u64, u64)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let piece = (at, most.min(self.bytes - at));
            at += piece.1;
            (piece.1 > 0).then_some(piece)
        })
    }

    /// Returns the address `offset` bytes into the range, or the address of its first byte if `offset` is out of range.
    #[inline]
    pub(super) fn at(self, offset: u64) -> GpuVa {
        debug_assert!(offset < self.bytes);
        if offset < self.bytes { self.inside(offset) } else { self.va }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_one_another_and_the_last_is_the_rest() {
        let span = Span::new(GpuVa::new(0x1003).unwrap(), 100).unwrap();
        assert_eq!(span.pieces(32).collect::<Vec<_>>(), [(0, 32), (32, 32), (64, 32), (96, 4)]);
        assert_eq!(span.pieces(100).collect::<Vec<_>>(), [(0, 100)]);
        assert_eq!(span.at(99).as_u64(), 0x1066);
    }

    #[test]
    fn a_part_is_the_range_that_its_bounds_name_in_either_half() {
        for start in [0x7fff_ffff_fff0, u64::MAX - 15] {
            let span = |start, bytes| Span::new(GpuVa::new(start).unwrap(), bytes);
            let whole = span(start, 16).unwrap();
            for (offset, bytes) in (0..18).flat_map(|offset| (0..18).map(move |bytes| (offset, bytes))) {
                let expected = match (offset, bytes) {
                    (_, 0) => Err(CommandError::Empty { command: "a range" }),
                    _ if offset + bytes > 16 => Err(CommandError::OutOfBounds { offset, bytes, size: 16 }),
                    _ => span(start + offset, bytes),
                };
                assert_eq!(whole.part(offset, bytes), expected, "{offset} {bytes}");
            }
            assert!(whole.part(u64::MAX, u64::MAX).is_err() && whole.part(1, u64::MAX).is_err());
        }
    }

    #[test]
    fn a_range_stays_in_its_half() {
        let last = GpuVa::new(0x7fff_ffff_ffff).unwrap();
        assert_eq!(Span::new(last, 1).unwrap().len(), 1);
        assert_eq!(Span::new(last, 2), Err(CommandError::OutOfAddresses { va: last, bytes: 2 }));
        assert_eq!(Span::new(last, 0), Err(CommandError::Empty { command: "a range" }));
        let top = GpuVa::new(u64::MAX).unwrap();
        assert!(Span::new(top, 1).unwrap().overlaps(Span::new(top, 1).unwrap()));
    }

    #[test]
    fn ranges_overlap_where_they_share_a_byte() {
        let span = |start, bytes| Span::new(GpuVa::new(start).unwrap(), bytes).unwrap();
        for (start, bytes) in (0..8).flat_map(|start| (1..8).map(move |bytes| (start, bytes))) {
            let obvious = (start..start + bytes).any(|at| (3..6).contains(&at));
            assert_eq!(span(start, bytes).overlaps(span(3, 3)), obvious, "{start} {bytes}");
            assert_eq!(span(3, 3).overlaps(span(start, bytes)), obvious, "{start} {bytes}");
        }
    }
}
