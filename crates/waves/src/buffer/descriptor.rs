//! Buffer descriptors.

use amdgpu_hw::GfxLevel;

use super::format::Format;
use crate::{
    alu::{
        kernel::{LANES, Lanes, WideLanes},
        mask,
        unit::{Unit, for_each_unit},
    },
    memory::ADDRESS_MASK,
};

/// A buffer descriptor (V#).
///
/// An access has an *index* if the instruction has IDXEN, or the descriptor ADD_TID_ENABLE; the index is the sum of both. The rules
/// of addresses and bounds depend on whether there is an index, not on its value:
///
/// - Elements are swizzled if the descriptor enables it *and* there is an index. Without an index the buffer offset is the offset,
///   whatever the bits of stride and swizzle are. RADV relies on it: the address of a table of constants is the result of
///   `s_getpc_b64`, whose sign fills the upper half of dword 1 (stride 0x3fff, all swizzle bits), and its loads have neither IDXEN
///   nor ADD_TID_ENABLE. ACO knows from chips of GFX11 that a swizzled access without IDXEN is not swizzled, and sets IDXEN where an
///   index of 0 would do otherwise.
/// - Bounds are those of [`Ends`]: see [`Buffer::reach`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    level: GfxLevel,
    pub(crate) base: u64,
    stride: u64,
    records: u64,
    /// The size of a swizzle element in bytes; 0 if the descriptor does not enable swizzling.
    element: u64,
    index_stride: u64,
    pub(crate) adds_lane: bool,
    pub(crate) format: Option<Format>,
    pub(crate) selects: [u8; 4],
    bounds: u8,
}

/// The location of an access within a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The index, if the instruction has one.
    pub(crate) index: Option<u32>,
    /// The lane, for buffers that add it to the index.
    pub(crate) lane: u32,
    pub(crate) offset: u32,
    pub(crate) scalar: u32,
    /// The number of bytes that must be in range.
    pub(crate) bytes: u32,
}

impl Buffer {
    /// Decodes the four dwords of a descriptor.
    pub(crate) fn new(level: GfxLevel, words: [u32; 4]) -> Self {
        let word3 = words[3];
        let element = if level >= GfxLevel::Gfx11 {
            match words[1] >> 30 {
                0 => 0,
                code => 2 << code,
            }
        } else if words[1] >> 31 == 0 {
            0
        } else if level <= GfxLevel::Gfx8 {
            2 << (word3 >> 19 & 3)
        } else {
            4
        };
        let adds_lane = word3 >> 23 & 1 != 0;
        let stride = u64::from(words[1] >> 16 & 0x3fff);
        let stride = match level {
            // With ADD_TID_ENABLE the field of the data format has bits 17:14 of the stride.
            GfxLevel::Gfx8 | GfxLevel::Gfx9 if adds_lane => stride | u64::from(word3 >> 15 & 15) << 14,
            // STRIDE_SCALE.
            GfxLevel::Gfx12 => stride * [1, 4, 8, 32][(word3 >> 18 & 3) as usize],
            _ => stride,
        };
        let format = if level >= GfxLevel::Gfx11 {
            Format::unified(level, word3 >> 12 & 0x3f)
        } else if level >= GfxLevel::Gfx10 {
            Format::unified(level, word3 >> 12 & 0x7f)
        } else {
            Format::new(word3 >> 15 & 15, word3 >> 12 & 7)
        };
        Self {
            level,
            base: u64::from(words[0]) | u64::from(words[1] & 0xffff) << 32,
            stride,
            records: words[2].into(),
            element,
            index_stride: 8 << (word3 >> 21 & 3),
            adds_lane,
            format,
            selects: [0, 3, 6, 9].map(|shift| (word3 >> shift & 7) as u8),
            bounds: (word3 >> 28 & 3) as u8,
        }
    }

    /// Returns the number of bytes that scalar loads may read.
    pub(crate) fn bytes(&self) -> u64 {
        if self.stride == 0 { self.records } else { self.records * self.stride }
    }

    /// Returns `true` if the elements are dwords that follow each other.
    pub(crate) fn has_dword_stride(&self) -> bool {
        self.stride == 4
    }

    /// Returns the parameters of an instruction's accesses that are the same for all lanes. `has_index` is IDXEN.
    ///
    /// A *structured* access has an index, and the descriptor has a stride. What is compared with the number of records:
    ///
    /// | generation | by the index | by bytes |
    /// |---|---|---|
    /// | GFX6, GFX7 | structured accesses | others: the offset, without the scalar offset |
    /// | GFX8 | if the descriptor has a stride and enables swizzling | others |
    /// | GFX9 | structured accesses | others |
    /// | GFX10 on | OOB_SELECT 0 (with the offset within the stride) and 1 | OOB_SELECT 3 |
    /// | GFX11 on | also OOB_SELECT 3, as 0, if elements are swizzled and there is a stride | |
    ///
    /// OOB_SELECT 2 is out of range only without records. Bytes are those of the buffer offset, which is the swizzled one if elements
    /// are swizzled, plus the scalar offset. GFX10 ignores the size of the access.
    ///
    /// Sources: AMD's instruction set documents of GCN3 ("Range checking"), RDNA2 and RDNA3 (OOB_SELECT); on ADD_TID_ENABLE
    /// the rings of geometry shaders, which drivers give as many records as a wave has lanes, and a stride, on GFX6 to GFX9.
    pub(crate) fn reach(&self, has_index: bool, scalar: u32, bytes: u32) -> Reach {
        let (records, stride, bytes, scalar) = (self.records, self.stride, u64::from(bytes), u64::from(scalar));
        let all = Ends { index: u64::MAX, offset: u64::MAX, within: u64::MAX };
        // The number of positions with `taken` more bytes within the size.
        let before = |size: u64, taken: u64| (size + 1).saturating_sub(taken);
        let indexed = Ends { index: records, ..all };
        let has_index = has_index || self.adds_lane;
        let element = if has_index { self.element } else { 0 };
        let structured = stride != 0 && has_index;
        let any = Ends { index: if records != 0 { u64::MAX } else { 0 }, ..all };
        let raw = Ends { within: before(records, scalar + bytes), ..all };
        let ends = match self.level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 if structured => indexed,
            GfxLevel::Gfx6 | GfxLevel::Gfx7 => Ends { offset: before(records, bytes), ..all },
            GfxLevel::Gfx8 if stride != 0 && self.element != 0 => indexed,
            GfxLevel::Gfx8 => raw,
            GfxLevel::Gfx9 if structured => indexed,
            GfxLevel::Gfx9 => raw,
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => match self.bounds {
                0 if stride != 0 => Ends { offset: stride, ..indexed },
                0 | 1 => indexed,
                2 => any,
                _ => Ends { within: before(records, scalar + 1), ..all },
            },
            _ => match self.bounds {
                0 if stride != 0 => Ends { offset: before(stride, bytes), ..indexed },
                0 | 1 => indexed,
                2 => any,
                _ if element != 0 && stride != 0 => Ends { offset: before(stride, bytes), ..indexed },
                _ => raw,
            },
        };
        Reach {
            start: self.base.wrapping_add(scalar),
            stride,
            element,
            index_stride: self.index_stride,
            adds_lane: self.adds_lane,
            ends,
        }
    }

    /// Returns the address of an access; `None` if it is out of range.
    pub(crate) fn address(&self, place: Place) -> Option<u64> {
        let reach = self.reach(place.index.is_some(), place.scalar, place.bytes);
        reach.address(place.index.unwrap_or(0), place.lane, place.offset)
    }
}

/// Returns the mask of the lanes whose offset, with what is added, is at most `last`.
fn up_to(unit: Unit, (offset, added): (&Lanes, u32), last: u32) -> u64 {
    let compare = for_each_unit!(|in_range: &mut Lanes, offset: &Lanes, added: u32, last: u32| {
        for lane in 0..LANES {
            in_range[lane] = u32::from(offset[lane].wrapping_add(added) <= last);
        }
    });
    let mut in_range = [0; LANES];
    compare(unit, &mut in_range, offset, added, last);
    mask::gather(unit, &in_range)
}

/// The first index, offset and buffer offset (of both) that are out of range.
#[derive(Clone, Copy, Debug)]
struct Ends {
    index: u64,
    offset: u64,
    within: u64,
}

/// A buffer as accessed by the lanes of one instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// The base address plus the scalar offset.
    start: u64,
    stride: u64,
    /// The size of a swizzle element in bytes; 0 if elements are not swizzled.
    element: u64,
    index_stride: u64,
    adds_lane: bool,
    ends: Ends,
}

impl Reach {
    /// Returns the address of a lane's access; `None` if it is out of range.
    #[inline(always)]
    pub(crate) fn address(&self, index: u32, lane: u32, offset: u32) -> Option<u64> {
        let index = u64::from(index) + if self.adds_lane { u64::from(lane) } else { 0 };
        let offset = u64::from(offset);
        let within = if self.element == 0 { index * self.stride + offset } else { self.swizzled(index, offset) };
        if index >= self.ends.index || offset >= self.ends.offset || within >= self.ends.within {
            return None;
        }
        Some(self.start.wrapping_add(within))
    }

    /// Returns `true` if elements are not interleaved, so that [`Self::linear`] computes the addresses.
    pub(crate) fn is_linear(&self) -> bool {
        self.element == 0
    }

    /// Writes the addresses of all lanes' accesses to a buffer without interleaved elements, and returns the mask of the lanes in
    /// range. `added` is added to each offset.
    pub(crate) fn linear(
        &self,
        unit: Unit,
        (index, offset, added): (Option<&Lanes>, &Lanes, u32),
        addresses: &mut WideLanes,
    ) -> u64 {
        let index = match index {
            None if !self.adds_lane => return self.linear_by_offset(unit, (offset, added), addresses),
            None => &[0; LANES],
            Some(index) => index,
        };
        let mut in_range = [0; LANES];
        let compute = for_each_unit!(|addresses: &mut WideLanes,
                                      in_range: &mut Lanes,
                                      index: &Lanes,
                                      offset: &Lanes,
                                      added: u32,
                                      reach: &Reach| {
            let numbers = u64::from(reach.adds_lane);
            for lane in 0..LANES {
                let index = u64::from(index[lane]) + numbers * lane as u64;
                let offset = u64::from(offset[lane].wrapping_add(added));
                let linear = index * reach.stride + offset;
                // Without a branch for each lane.
                let [first, second] = [index < reach.ends.index, offset < reach.ends.offset].map(u32::from);
                in_range[lane] = first & second & u32::from(linear < reach.ends.within);
                addresses[lane] = reach.start.wrapping_add(linear) & ADDRESS_MASK;
            }
        });
        compute(unit, addresses, &mut in_range, index, offset, added, self);
        mask::gather(unit, &in_range)
    }

    /// Does the work of [`Self::linear`] where every lane has index 0, which needs no multiplication and compares 32 bits.
    fn linear_by_offset(&self, unit: Unit, (offset, added): (&Lanes, u32), addresses: &mut WideLanes) -> u64 {
        let end = if self.ends.index == 0 { 0 } else { self.ends.offset.min(self.ends.within) };
        // The last offset in range; all 32 bits of an offset are in range behind it.
        let Some(last) = end.checked_sub(1) else { return 0 };
        let last = u32::try_from(last).unwrap_or(u32::MAX);
        let compute =
            for_each_unit!(|addresses: &mut WideLanes, largest: &mut u32, offset: &Lanes, added: u32, start: u64| {
                let mut most = 0;
                for lane in 0..LANES {
                    let offset = offset[lane].wrapping_add(added);
                    most = most.max(offset);
                    addresses[lane] = start.wrapping_add(offset.into()) & ADDRESS_MASK;
                }
                *largest = most;
            });
        let mut largest = 0;
        compute(unit, addresses, &mut largest, offset, added, self.start);
        // The lanes are looked at one by one only if one of them is out of range, which few accesses have.
        if largest <= last { u64::MAX } else { up_to(unit, (offset, added), last) }
    }

    /// Returns the offset of a byte in a buffer with interleaved elements.
    fn swizzled(&self, index: u64, offset: u64) -> u64 {
        let rows = index / self.index_stride * self.stride + offset / self.element * self.element;
        rows * self.index_stride + index % self.index_stride * self.element + offset % self.element
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_lanes_at_once_have_the_addresses_of_each_lane(
            words in any::<[u32; 4]>(), level in prop::sample::select(&GfxLevel::ALL[..]), small in any::<bool>(),
            (index, offset) in (any::<[u32; 32]>(), any::<[u32; 32]>()), (added, scalar) in (0..4096_u32, 0..4096_u32),
            has_index in any::<bool>(),
        ) {
            // Small buffers and places have both lanes that are in range and lanes that are not.
            let limit = |value: u32| if small { value % 512 } else { value };
            let words = [words[0], if small { words[1] & 0xc03f_ffff } else { words[1] }, limit(words[2]), words[3]];
            let spread = |values: [u32; 32]| std::array::from_fn(|lane| limit(values[lane % 32]));
            let (index, offset): (Lanes, Lanes) = (spread(index), spread(offset));
            let index = if has_index { index } else { [0; LANES] };
            let buffer = Buffer::new(level, words);
            let reach = buffer.reach(has_index, scalar, 4);
            if !reach.is_linear() {
                prop_assert!(buffer.element != 0 && (has_index || buffer.adds_lane));
                return Ok(());
            }
            for unit in [Unit::Baseline, Unit::detect_avx2(), Unit::detect()] {
                let mut addresses = [0; LANES];
                let indices = has_index.then_some(&index);
                let in_range = reach.linear(unit, (indices, &offset, added), &mut addresses);
                for lane in 0..LANES {
                    let one = reach.address(index[lane], lane as u32, offset[lane].wrapping_add(added));
                    let found = (in_range >> lane & 1 != 0).then_some(addresses[lane]);
                    prop_assert_eq!(found, one.map(|address| address & ADDRESS_MASK), "lane {}", lane);
                }
            }
        }
    }

    fn place(index: Option<u32>, offset: u32, scalar: u32) -> Place {
        Place { index, lane: 5, offset, scalar, bytes: 4 }
    }

    fn raw(level: GfxLevel, records: u32) -> Buffer {
        Buffer::new(level, [0x1000, 0, records, 3 << 28])
    }

    #[test]
    fn raw_buffers_end_at_their_last_byte_on_every_generation() {
        for level in GfxLevel::ALL {
            let buffer = raw(level, 64);
            assert_eq!(buffer.address(place(None, 60, 0)), Some(0x103c), "{level}");
            assert_eq!(buffer.address(place(None, 64, 0)), None, "{level}");
        }
    }

    #[test]
    fn a_scalar_offset_escapes_the_bounds_up_to_gfx7_alone() {
        for level in GfxLevel::ALL {
            let escapes = raw(level, 64).address(place(None, 60, 4)).is_some();
            assert_eq!(escapes, level <= GfxLevel::Gfx7, "{level}");
        }
    }

    #[test]
    fn the_size_of_an_access_counts_on_all_but_gfx10() {
        for level in GfxLevel::ALL {
            let reads = raw(level, 62).address(place(None, 60, 0)).is_some();
            assert_eq!(reads, matches!(level, GfxLevel::Gfx10 | GfxLevel::Gfx10_3), "{level}");
        }
    }

    /// Returns a buffer of four records of 16 bytes; `bounds` is the choice of GFX10 and later.
    fn records(level: GfxLevel, records: u32, swizzled: bool, bounds: u32) -> Buffer {
        let swizzles = match (swizzled, level >= GfxLevel::Gfx11) {
            (false, _) => 0,
            (true, false) => 1 << 31,
            (true, true) => 1 << 30,
        };
        Buffer::new(level, [0x1000, 16 << 16 | swizzles, records, bounds << 28])
    }

    #[test]
    fn structured_buffers_end_at_their_last_record_up_to_gfx7_and_on_gfx9() {
        for level in [GfxLevel::Gfx6, GfxLevel::Gfx7, GfxLevel::Gfx9] {
            let buffer = records(level, 4, false, 0);
            assert_eq!(buffer.address(place(Some(3), 0, 0)), Some(0x1030), "{level}");
            assert_eq!(buffer.address(place(Some(4), 0, 0)), None, "{level}");
        }
    }

    #[test]
    fn gfx8_counts_bytes_unless_elements_are_swizzled() {
        let (linear, swizzled) = (records(GfxLevel::Gfx8, 64, false, 0), records(GfxLevel::Gfx8, 64, true, 0));
        assert_eq!(linear.address(place(Some(3), 12, 0)), Some(0x103c));
        assert_eq!(linear.address(place(Some(4), 0, 0)), None);
        assert!(swizzled.address(place(Some(63), 0, 0)).is_some() && swizzled.address(place(Some(64), 0, 0)).is_none());
    }

    #[test]
    fn structured_buffers_of_gfx10_and_later_end_with_the_stride_and_the_records() {
        for level in [GfxLevel::Gfx10, GfxLevel::Gfx10_3, GfxLevel::Gfx11, GfxLevel::Gfx12] {
            let reads = |bounds, index, offset| {
                records(level, 4, false, bounds).address(place(Some(index), offset, 0)).is_some()
            };
            assert!(reads(0, 3, 12) && !reads(0, 3, 16) && !reads(0, 4, 0), "{level}");
            assert!(reads(1, 3, 16) && !reads(1, 4, 0), "{level}");
            assert!(reads(2, 9, 16), "{level}");
            // The size of the access counts from GFX11 on.
            assert_eq!(reads(0, 3, 14), level < GfxLevel::Gfx11, "{level}");
        }
    }

    #[test]
    fn raw_buffers_with_swizzled_elements_end_with_the_records_from_gfx11_on() {
        let buffer = records(GfxLevel::Gfx11, 4, true, 3);
        assert!(buffer.address(place(Some(3), 12, 0)).is_some());
        assert!(buffer.address(place(Some(4), 0, 0)).is_none());
    }

    #[test]
    fn swizzled_elements_have_the_size_in_the_descriptor_up_to_gfx8() {
        // Elements of 2, 4, 8 and 16 bytes; the lane of the next index follows one element behind.
        for (code, bytes) in [(0, 2), (1, 4), (2, 8), (3, 16)] {
            let words = [0x1000, 1 << 31 | 16 << 16, u32::MAX, code << 19];
            let at = |level, index| Buffer::new(level, words).address(place(Some(index), 0, 0)).unwrap();
            assert_eq!(at(GfxLevel::Gfx8, 1) - at(GfxLevel::Gfx8, 0), bytes);
            assert_eq!(at(GfxLevel::Gfx9, 1) - at(GfxLevel::Gfx9, 0), 4);
        }
    }

    #[test]
    fn swizzled_scratch_interleaves_the_dwords_of_lanes() {
        let buffer = Buffer::new(GfxLevel::Gfx8, [0x1000, 1 << 31, u32::MAX, 0x00e8_7000]);
        assert_eq!(buffer.address(place(None, 0, 0)), Some(0x1000 + 4 * 5));
        assert_eq!(buffer.address(place(None, 9, 256)), Some(0x1000 + 256 + 2 * 256 + 4 * 5 + 1));
    }

    /// The descriptor that RADV makes of the address of a table of constants: the sign of a high address fills stride and swizzle.
    fn table(level: GfxLevel, bytes: u32) -> Buffer {
        let word3 = if level >= GfxLevel::Gfx10 { 3 << 28 } else { 7 << 12 | 4 << 15 };
        Buffer::new(level, [0x1000, 0xffff_8000, bytes, word3])
    }

    const BASE: u64 = 0x8000_0000_1000;

    #[test]
    fn elements_are_not_swizzled_without_an_index() {
        for level in GfxLevel::ALL {
            for offset in (0..512).step_by(4) {
                let found = table(level, 512).address(place(None, offset, 0));
                assert_eq!(found, Some(BASE + u64::from(offset)), "{level}");
            }
            assert!(table(level, 512).reach(false, 0, 4).is_linear(), "{level}");
        }
    }

    #[test]
    fn an_index_of_zero_swizzles_elements() {
        for level in GfxLevel::ALL {
            // Elements of 2 bytes up to GFX8, of 4 up to GFX10.3, of 16 later; an index stride of 8.
            let element = if level <= GfxLevel::Gfx8 {
                2
            } else if level <= GfxLevel::Gfx10_3 {
                4
            } else {
                16
            };
            let found = table(level, u32::MAX).address(place(Some(0), 64, 0));
            assert_eq!(found, Some(BASE + 64 / element * element * 8), "{level}");
        }
    }

    #[test]
    fn the_lane_is_an_index() {
        for level in GfxLevel::ALL {
            let swizzles = if level >= GfxLevel::Gfx11 { 1 << 30 } else { 1 << 31 };
            // Elements of 4 bytes; OOB_SELECT 1.
            let element = if level <= GfxLevel::Gfx8 { 1 << 19 } else { 0 };
            let bounds = if level >= GfxLevel::Gfx10 { 1 << 28 } else { 0 };
            let words = [0x1000, 16 << 16 | swizzles, 64, 1 << 23 | element | bounds];
            let at = |lane| Buffer::new(level, words).address(Place { lane, ..place(None, 4, 0) });
            // The second element of a row of eight.
            assert_eq!(at(5), Some(0x1000 + 4 * 8 + 4 * 5), "{level}");
            assert!(at(63).is_some() && at(64).is_none(), "{level}");
        }
    }

    #[test]
    fn accesses_without_an_index_end_with_the_bytes_except_on_gfx8() {
        for level in GfxLevel::ALL {
            let reads = |offset| table(level, 512).address(place(None, offset, 0)).is_some();
            assert!(reads(508), "{level}");
            // The swizzle bit alone makes GFX8 compare the index, of which there is none.
            assert_eq!(reads(512), level == GfxLevel::Gfx8, "{level}");
            // A stride does not end a table that is larger.
            assert!(table(level, 0x8000).address(place(None, 0x7ffc, 0)).is_some(), "{level}");
        }
    }

    #[test]
    fn raw_bounds_of_gfx10_are_those_of_the_swizzled_offset() {
        for level in [GfxLevel::Gfx10, GfxLevel::Gfx10_3] {
            // Offset 4 of the index 0 lies behind the first elements of eight indices.
            let reads = |end, offset| records(level, end, true, 3).address(place(Some(0), offset, 0)).is_some();
            assert!(reads(1, 0) && reads(33, 4) && !reads(32, 4), "{level}");
        }
    }

    #[test]
    fn the_stride_has_four_more_bits_with_add_tid_on_gfx8_and_gfx9() {
        for level in GfxLevel::ALL {
            let words = [0, 1 << 16, u32::MAX, 1 << 15 | 1 << 23 | if level >= GfxLevel::Gfx10 { 1 << 28 } else { 0 }];
            let stride = Buffer::new(level, words).address(Place { lane: 1, ..place(None, 0, 0) });
            let has_more = matches!(level, GfxLevel::Gfx8 | GfxLevel::Gfx9);
            assert_eq!(stride, Some(if has_more { 0x4001 } else { 1 }), "{level}");
        }
    }

    #[test]
    fn the_stride_is_scaled_on_gfx12() {
        for (code, scale) in [(0, 1), (1, 4), (2, 8), (3, 32)] {
            let at = |level| Buffer::new(level, [0, 6 << 16, 8, code << 18 | 1 << 28]).address(place(Some(1), 0, 0));
            assert_eq!(at(GfxLevel::Gfx12), Some(6 * scale));
            assert_eq!(at(GfxLevel::Gfx11_5), Some(6));
        }
    }
}
