//! Buffer resources.

use amdgpu_hw::GfxLevel;

use super::format::Format;

/// A buffer resource (V#).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    level: GfxLevel,
    pub(crate) base: u64,
    stride: u64,
    records: u64,
    /// Elements of the swizzle in bytes; 0 without swizzle.
    element: u64,
    index_stride: u64,
    pub(crate) adds_lane: bool,
    pub(crate) format: Option<Format>,
    pub(crate) selects: [u8; 4],
    bounds: u8,
}

/// The place of an access within a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The index, if the instruction has one.
    pub(crate) index: Option<u32>,
    /// The lane, for buffers that add it to the index.
    pub(crate) lane: u32,
    pub(crate) offset: u32,
    pub(crate) scalar: u32,
    /// Bytes that must be in range.
    pub(crate) bytes: u32,
}

impl Buffer {
    /// Reads the four words of a resource.
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
            stride: u64::from(words[1] >> 16 & 0x3fff),
            records: words[2].into(),
            element,
            index_stride: 8 << (word3 >> 21 & 3),
            adds_lane: word3 >> 23 & 1 != 0,
            format,
            selects: [0, 3, 6, 9].map(|shift| (word3 >> shift & 7) as u8),
            bounds: (word3 >> 28 & 3) as u8,
        }
    }

    /// Returns the bytes that scalar loads may read.
    pub(crate) fn bytes(&self) -> u64 {
        if self.stride == 0 { self.records } else { self.records * self.stride }
    }

    /// Returns the address of an access; `None` where it is out of range.
    pub(crate) fn address(&self, place: Place) -> Option<u64> {
        let lane = if self.adds_lane { u64::from(place.lane) } else { 0 };
        let index = u64::from(place.index.unwrap_or(0)) + lane;
        let offset = u64::from(place.offset);
        let linear = index * self.stride + offset;
        if !self.contains(place, index, linear) {
            return None;
        }
        let within = match self.element {
            0 => linear,
            element => {
                let rows = index / self.index_stride * self.stride + offset / element * element;
                rows * self.index_stride + index % self.index_stride * element + offset % element
            }
        };
        Some(self.base.wrapping_add(within).wrapping_add(place.scalar.into()))
    }

    /// Returns `true` if an access is in range, by the rules of the generation.
    fn contains(&self, place: Place, index: u64, linear: u64) -> bool {
        let (records, bytes, scalar) = (self.records, u64::from(place.bytes), u64::from(place.scalar));
        let offset = u64::from(place.offset);
        let structured = self.stride != 0 && place.index.is_some();
        match self.level {
            // The scalar offset is not part of what is compared.
            GfxLevel::Gfx6 | GfxLevel::Gfx7 if structured => index < records,
            GfxLevel::Gfx6 | GfxLevel::Gfx7 => offset + bytes <= records,
            GfxLevel::Gfx8 if self.stride != 0 && self.element != 0 => index < records,
            GfxLevel::Gfx8 => linear + scalar + bytes <= records,
            GfxLevel::Gfx9 if structured => index < records,
            GfxLevel::Gfx9 => linear + scalar + bytes <= records,
            // The size of the access does not count on GFX10.
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => match self.bounds {
                0 => index < records && (offset < self.stride || self.stride == 0),
                1 => index < records,
                2 => records != 0,
                _ => linear + scalar < records,
            },
            _ => match self.bounds {
                0 => index < records && (offset + bytes <= self.stride || self.stride == 0),
                1 => index < records,
                2 => records != 0,
                _ if self.element != 0 && self.stride != 0 => index < records && offset + bytes <= self.stride,
                _ => linear + scalar + bytes <= records,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn swizzled_scratch_interleaves_the_dwords_of_lanes() {
        let buffer = Buffer::new(GfxLevel::Gfx8, [0x1000, 1 << 31, u32::MAX, 0x00e8_7000]);
        assert_eq!(buffer.address(place(None, 0, 0)), Some(0x1000 + 4 * 5));
        assert_eq!(buffer.address(place(None, 9, 256)), Some(0x1000 + 256 + 2 * 256 + 4 * 5 + 1));
    }
}
