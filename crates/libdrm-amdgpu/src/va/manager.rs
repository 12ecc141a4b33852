//! The four windows of a device, or of a manager without one.

use std::sync::Arc;

use amdgpu_winsys::winsys::Errno;

use super::window::{Wanted, Window};

const GIB_4: u64 = 1 << 32;

/// The bounds of the addresses, as DEV_INFO has them. Nothing is checked, as in libdrm.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    pub(crate) low_offset: u64,
    pub(crate) low_max: u64,
    pub(crate) high_offset: u64,
    pub(crate) high_max: u64,
    pub(crate) alignment: u32,
    /// `true` if half of the topmost half is kept for sparse memory.
    pub(crate) has_split: bool,
}

/// The flags of a request for addresses.
pub(super) mod flag {
    pub(crate) const IN_32_BITS: u64 = 1;
    pub(crate) const HIGH: u64 = 2;
    pub(crate) const REPLAYABLE: u64 = 4;
}

/// Four windows: 32 bits and the rest, low and high.
pub(crate) struct Manager {
    low_32: Arc<Window>,
    low: Arc<Window>,
    high_32: Arc<Window>,
    high: Arc<Window>,
    /// The bit by which the halves for sparse memory differ; all ones if there are none.
    control_bit: u32,
}

/// A range that is out. It keeps its window alive.
pub(crate) struct Range {
    window: Arc<Window>,
    pub(super) start: u64,
    size: u64,
}

impl Manager {
    /// Divides the bounds into windows.
    pub(crate) fn new(bounds: &Bounds) -> Self {
        let Bounds { low_offset, low_max, high_offset, high_max, alignment, has_split } = *bounds;
        let window = |start, end| Arc::new(Window::new(start, end, alignment));
        let low_32_end = low_max.min(GIB_4);
        let high_32_end = high_max.min((high_offset & !(GIB_4 - 1)).wrapping_add(GIB_4));
        let mut low_end = low_max.max(GIB_4);
        let mut high_end = high_max.max((high_32_end & !(GIB_4 - 1)).wrapping_add(GIB_4));
        let difference = if high_max == 0 { low_offset ^ low_max } else { high_offset ^ high_max };
        let control_bit = difference.checked_ilog2().filter(|_| has_split);
        match control_bit {
            Some(bit) if high_max == 0 => low_end = low_max ^ 1 << bit,
            Some(bit) => high_end = high_max ^ 1 << bit,
            None => {}
        }
        Self {
            low_32: window(low_offset, low_32_end),
            low: window(low_32_end, low_end),
            high_32: window(high_offset, high_32_end),
            high: window(high_32_end, high_end),
            control_bit: control_bit.unwrap_or(u32::MAX),
        }
    }

    /// Takes addresses from the window that the flags name, and from that of 32 bits in the same half if there is no room.
    pub(super) fn take(&self, mut wanted: Wanted, flags: u64) -> Result<Range, Errno> {
        wanted.from_top = flags & flag::REPLAYABLE != 0;
        let is_high = flags & flag::HIGH != 0 && self.high_32.end() != 0;
        let (wide, narrow) = if is_high { (&self.high, &self.high_32) } else { (&self.low, &self.low_32) };
        let (start, window) = if flags & flag::IN_32_BITS != 0 {
            (narrow.take(wanted)?, narrow)
        } else {
            match wide.take(wanted) {
                Ok(start) => (start, wide),
                Err(_) => (narrow.take(wanted)?, narrow),
            }
        };
        Ok(Range { window: Arc::clone(window), start, size: window.rounded(wanted.size) })
    }

    /// Returns the high half of addresses in the 32-bit windows.
    pub(crate) fn address32_hi(&self) -> u32 {
        let end = if self.high_32.end() == 0 { self.low_32.end() } else { self.high_32.end() };
        (end.wrapping_sub(1) >> 32) as u32
    }

    pub(crate) fn control_bit(&self) -> u32 {
        self.control_bit
    }

    /// Returns the number of ranges that are out.
    pub(crate) fn live(&self) -> usize {
        [&self.low_32, &self.low, &self.high_32, &self.high].map(|window| window.live()).iter().sum()
    }
}

impl Range {
    /// Gives the addresses back to their window. libdrm takes address 0 for none and keeps it.
    pub(super) fn give(self) {
        if self.start != 0 {
            self.window.give(self.start, self.size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAVI21: Bounds = Bounds {
        low_offset: 0x20_0000,
        low_max: 0x8000_0000_0000,
        high_offset: 0xffff_8000_0000_0000,
        high_max: 0xffff_ffff_ffe0_0000,
        alignment: 4096,
        has_split: true,
    };

    fn wanted(size: u64, required: u64) -> Wanted {
        Wanted { size, alignment: 0, required, from_top: false }
    }

    #[test]
    fn half_of_the_high_window_is_kept_for_sparse_memory() {
        let manager = Manager::new(&NAVI21);
        assert_eq!((manager.control_bit(), manager.address32_hi()), (46, 0xffff_8000));
        let top = manager.take(wanted(4096, 0), flag::HIGH | flag::REPLAYABLE).unwrap();
        assert_eq!(top.start, 0xffff_bfff_ffdf_f000);
        let whole = Manager::new(&Bounds { has_split: false, ..NAVI21 });
        assert_eq!(whole.control_bit(), u32::MAX);
        let top = whole.take(wanted(4096, 0), flag::HIGH | flag::REPLAYABLE).unwrap();
        assert_eq!(top.start, 0xffff_ffff_ffdf_f000);
    }

    #[test]
    fn without_a_high_half_the_low_one_serves_and_is_split() {
        let bounds = Bounds { high_offset: 0, high_max: 0, low_max: (1 << 40) - 0x20_0000, ..NAVI21 };
        let manager = Manager::new(&bounds);
        assert_eq!((manager.control_bit(), manager.address32_hi()), (39, 0));
        let range = manager.take(wanted(4096, 0), flag::HIGH).unwrap();
        assert_eq!(range.start, GIB_4);
    }

    #[test]
    fn an_address_below_4_gib_is_found_without_the_flag_and_none_above_with_it() {
        let manager = Manager::new(&NAVI21);
        assert_eq!(manager.take(wanted(4096, 0x30_0000), 0).unwrap().start, 0x30_0000);
        assert_eq!(manager.take(wanted(4096, 0x30_0000), 0).err(), Some(Errno::ENOMEM));
        assert_eq!(manager.take(wanted(4096, GIB_4), flag::IN_32_BITS).err(), Some(Errno::ENOMEM));
        assert_eq!(manager.take(wanted(4096, 0x30_0001), 0).err(), Some(Errno::EINVAL));
    }

    #[test]
    fn an_unusual_request_finds_the_same_holes() {
        let manager = Manager::new(&NAVI21);
        let first = manager.take(wanted(4096, 0), 0).unwrap();
        let odd = manager.take(Wanted { alignment: 0x1800, ..wanted(4096, 0) }, 0).unwrap();
        assert_eq!((first.start, odd.start % 0x1800), (GIB_4, 0));
        assert_eq!(manager.live(), 2);
        first.give();
        odd.give();
        assert_eq!(manager.take(wanted(4096, 0), 0).unwrap().start, GIB_4);
    }
}
