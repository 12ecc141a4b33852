//! Memory channels of addresses in VRAM.

use std::fmt;

use amdgpu_winsys::winsys::GpuInfo;

/// Bytes that follow each other in one channel.
///
/// Source: Linux 6.12 `gfx_v9_0.c` and `gfx_v10_0.c`, `PIPE_INTERLEAVE_SIZE` of `GB_ADDR_CONFIG`: 256 bytes on all chips.
const INTERLEAVE: u64 = 256;

/// Bytes of a row of one channel.
///
/// Source: JEDEC JESD250 (GDDR6) and JESD235 (HBM): pages of 1 or 2 KiB.
const ROW: u64 = 2 << 10;

/// Bytes of VRAM that are in one piece in every BO of at least this size, and aligned to it.
///
/// Source: Linux 6.12 `amdgpu_vram_mgr.c`, `amdgpu_vram_mgr_new`: `pages_per_block` is that of a huge page.
pub(crate) const PAGE: u64 = 2 << 20;

/// The channels of a GPU's memory, if an offset in a huge page tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channels {
    count: u64,
}

impl Channels {
    /// One channel has one slice of the L2 cache. Nothing where their number is no power of two: the channel then depends on
    /// the physical address, which the kernel does not tell.
    pub(crate) fn new(info: &GpuInfo) -> Option<Self> {
        Self::of(info.shader.max_l2_slices)
    }

    fn of(count: u32) -> Option<Self> {
        let count = u64::from(count);
        (count.is_power_of_two() && count * INTERLEAVE <= PAGE).then_some(Self { count })
    }

    /// Returns the channel of a byte of a huge page, before the memory controller mixes in the page's own address.
    pub(crate) const fn at(self, offset: u64) -> Channel {
        Channel { index: offset % PAGE / INTERLEAVE % self.count, count: self.count }
    }
}

impl Channels {
    /// Returns the numbers of the channel and of the row in it of a byte of a huge page, both from 0.
    pub(crate) const fn place(self, offset: u64) -> (u64, u64) {
        let row = offset % PAGE / (self.count * ROW);
        (self.at(offset).index, row)
    }
}

/// One channel of several. Prints as `channel 3 of 16`, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channel {
    index: u64,
    count: u64,
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "channel {} of {}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_take_turns_every_256_bytes_and_begin_anew_in_each_huge_page() {
        let channels = Channels::of(16).unwrap();
        for (offset, index) in [(0, 0), (255, 0), (256, 1), (0xfff, 15), (0x1000, 0), (PAGE - 1, 15), (PAGE + 300, 1)] {
            assert_eq!(channels.at(offset), Channel { index, count: 16 }, "{offset:#x}");
        }
        assert_eq!(channels.at(0x3_0300).to_string(), "channel 3 of 16");
    }

    #[test]
    fn channels_that_no_offset_tells_apart_have_no_number() {
        for count in [0, 6, 20, 24, 1 << 20] {
            assert_eq!(Channels::of(count), None, "{count}");
        }
        assert!(Channels::of(1).is_some());
    }
}
