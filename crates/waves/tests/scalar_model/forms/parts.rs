//! Parts of registers (SDWA).

use std::fmt::Write as _;

/// The names of the parts, by their numbers: bytes, halves, the whole.
const NAMES: [&str; 7] = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"];

/// Parts that sources are read from, and the part that the result goes to.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) sources: [usize; 2],
    /// Sources that are extended by their sign.
    pub(crate) extends: [bool; 2],
    pub(crate) has_second: bool,
    /// The part of the destination, and the treatment of its other bits: 0 for zeroes, 1 for the sign, 2 to keep them. `None` for
    /// comparisons.
    pub(crate) destination: Option<(usize, usize)>,
}

/// Returns the lowest bit and the number of bits of a part.
fn bits(part: usize) -> (u32, u32) {
    match part {
        0..4 => (8 * part as u32, 8),
        4 | 5 => (16 * (part as u32 - 4), 16),
        _ => (0, 32),
    }
}

/// Returns the low `width` bits as a number with a sign.
fn signed(value: u32, width: u32) -> i64 {
    let low = i64::from(value) % (1 << width);
    if low >= 1 << (width - 1) { low - (1 << width) } else { low }
}

impl Parts {
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        if let Some((part, unused)) = self.destination {
            let unused = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"][unused];
            let _ = write!(text, " dst_sel:{} dst_unused:{unused}", NAMES[part]);
        }
        let _ = write!(text, " src0_sel:{}", NAMES[self.sources[0]]);
        if self.has_second {
            let _ = write!(text, " src1_sel:{}", NAMES[self.sources[1]]);
        }
        text
    }

    /// Returns what source `index` is of a register.
    pub(crate) fn read(&self, index: usize, register: u32) -> u32 {
        let (low, width) = bits(self.sources[index]);
        let part = register >> low;
        if self.extends[index] { signed(part, width) as u32 } else { (u64::from(part) % (1 << width)) as u32 }
    }

    /// Returns a register after a result.
    pub(crate) fn placed(&self, value: u32, old: u32) -> u32 {
        let Some((part, unused)) = self.destination else { return value };
        let (low, width) = bits(part);
        (0..32).fold(0, |register, bit| {
            let is_inside = (low..low + width).contains(&bit);
            let set = match unused {
                _ if is_inside => value >> (bit - low) & 1,
                1 if bit >= low + width => value >> (width - 1) & 1,
                2 => old >> bit & 1,
                _ => 0,
            };
            register | set << bit
        })
    }
}
