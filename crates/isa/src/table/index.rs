//! Look-ups by number in the tables of a generation, in place of searches.

use super::{Format, FormatLayout, Opcode};

/// The highest bits of a first dword, in which all identifying bits of formats are.
const CLASS_BITS: u32 = 9;

/// The maximum number of places for operations: for each format as many as its largest number asks for.
const PLACES: usize = 3072;

/// The place of a format that a generation does not have.
const ABSENT: u8 = u8::MAX;

/// The places of formats and operations in the tables of a generation. The compiler computes them.
#[derive(Debug)]
pub(crate) struct Index {
    /// The format by the highest bits of the first dword.
    classes: [u8; 1 << CLASS_BITS],
    /// The layout of each [`Format`].
    layouts: [u8; Format::COUNT],
    /// The first place of each [`Format`] in `places`, and that behind its last.
    ranges: [(u16, u16); Format::COUNT],
    /// The number of each operation in the table, plus one; 0 for numbers that no operation has.
    places: [u16; PLACES],
}

impl Index {
    pub(crate) const fn new(formats: &[FormatLayout], opcodes: &[Opcode]) -> Self {
        let mut classes = [ABSENT; 1 << CLASS_BITS];
        let mut class = 0;
        while class < classes.len() {
            let first = (class as u32) << (32 - CLASS_BITS);
            let (mut at, mut longest) = (0, 0);
            while at < formats.len() {
                // The longest match of identifying bits, and the last of several.
                if formats[at].matches(first) && formats[at].identifying_bits() >= longest {
                    longest = formats[at].identifying_bits();
                    classes[class] = at as u8;
                }
                at += 1;
            }
            class += 1;
        }
        let mut layouts = [ABSENT; Format::COUNT];
        let mut at = 0;
        while at < formats.len() {
            assert!(formats[at].is_identified_by(CLASS_BITS), "identifying bits are the highest");
            layouts[formats[at].format as usize] = at as u8;
            at += 1;
        }
        // Operations are ordered by format and number.
        let (mut ranges, mut places) = ([(0, 0); Format::COUNT], [0; PLACES]);
        let (mut at, mut start) = (0, 0);
        while at < opcodes.len() {
            let format = opcodes[at].format as usize;
            let place = start + opcodes[at].number as usize;
            ranges[format] = (start as u16, place as u16 + 1);
            places[place] = at as u16 + 1;
            at += 1;
            if at < opcodes.len() && opcodes[at].format as usize != format {
                start = place + 1;
            }
        }
        Self { classes, layouts, ranges, places }
    }

    /// Returns the place of the format with the longest match of identifying bits in a first dword.
    #[inline]
    pub(crate) fn class(&self, first: u32) -> usize {
        self.classes[(first >> (32 - CLASS_BITS)) as usize].into()
    }

    /// Returns the place of a format.
    #[inline]
    pub(crate) fn layout(&self, format: Format) -> usize {
        self.layouts[format as usize].into()
    }

    /// Returns the place of the operation with a number in a format; `None` if there is none.
    #[inline]
    pub(crate) fn opcode(&self, format: Format, number: u32) -> Option<usize> {
        let (start, end) = self.ranges[format as usize];
        let place = u32::from(start).checked_add(number).filter(|place| *place < end.into())?;
        usize::from(self.places[place as usize]).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use amdgpu_hw::GfxLevel;

    use crate::{Format, Opcode, table};

    #[test]
    fn formats_and_operations_are_found_as_a_search_finds_them() {
        for level in GfxLevel::ALL {
            let table = table(level);
            for class in 0..1 << 16 {
                let first = class << 16;
                let longest = table
                    .formats
                    .iter()
                    .filter(|layout| layout.matches(first))
                    .max_by_key(|layout| layout.identifying_bits());
                assert_eq!(
                    table.classify(first).map(|layout| layout.format),
                    longest.map(|layout| layout.format),
                    "{level} {first:#x}"
                );
            }
            for format in table.formats.iter().map(|layout| layout.format) {
                let layout = table.formats.iter().find(|layout| layout.format == format);
                assert_eq!(table.format(format).map(std::ptr::from_ref), layout.map(std::ptr::from_ref), "{level}");
            }
            let found = |opcode: &Opcode| table.opcode(opcode.format, opcode.number.into()).map(std::ptr::from_ref);
            assert!(table.opcodes.iter().all(|opcode| found(opcode) == Some(std::ptr::from_ref(opcode))), "{level}");
            // No other number has one.
            let formats: BTreeSet<Format> = table.opcodes.iter().map(|opcode| opcode.format).collect();
            let numbers = || (0..1 << 12).chain([u32::MAX - 1, u32::MAX]);
            let all = formats.into_iter().flat_map(|format| numbers().map(move |number| (format, number)));
            let count = all.filter(|(format, number)| table.opcode(*format, *number).is_some()).count();
            assert_eq!(count, table.opcodes.len(), "{level}");
        }
    }
}
