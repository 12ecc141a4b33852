//! Selection of lanes (DPP) and of parts of registers (SDWA).

use amdgpu_isa::{Extension, Field, Format, Instruction};

/// The selection of the lane from which the first source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dpp {
    pub(crate) pattern: Pattern,
    pub(crate) row_mask: u8,
    pub(crate) bank_mask: u8,
    /// `true` if reads from a lane that is inactive or does not exist return 0; `false` if the reading lane is then disabled.
    pub(crate) reads_zero: bool,
    pub(crate) fetches_inactive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Quad(u8),
    /// Within rows of 16.
    RowShiftLeft(u8),
    RowShiftRight(u8),
    RowRotate(u8),
    /// By one within the wave.
    WaveShiftLeft,
    WaveRotateLeft,
    WaveShiftRight,
    WaveRotateRight,
    RowMirror,
    HalfMirror,
    /// The last lane of each row to the next row.
    Broadcast15,
    /// Lane 31 to the upper half.
    Broadcast31,
    RowShare(u8),
    RowXor(u8),
    /// Three bits for each of eight lanes.
    Eight(u32),
}

impl Dpp {
    /// Reads the extra dword; `None` for a control that does not exist.
    pub(crate) fn new(extension: Extension, instruction: &Instruction) -> Option<Self> {
        let field = |field| instruction.extension_field(field);
        if extension.format == Format::Dpp8 {
            let pattern = Pattern::Eight(field(Field::LaneSel));
            let fetches_inactive = instruction.field(Field::Src0) & 0xff == 234;
            return Some(Self { pattern, row_mask: 15, bank_mask: 15, reads_zero: true, fetches_inactive });
        }
        let newer = extension.format == Format::Dpp16;
        let control = field(Field::DppCtrl);
        let amount = (control & 15) as u8;
        let pattern = match control {
            0..=0xff => Pattern::Quad(control as u8),
            0x101..=0x10f => Pattern::RowShiftLeft(amount),
            0x111..=0x11f => Pattern::RowShiftRight(amount),
            0x121..=0x12f => Pattern::RowRotate(amount),
            0x130 if !newer => Pattern::WaveShiftLeft,
            0x134 if !newer => Pattern::WaveRotateLeft,
            0x138 if !newer => Pattern::WaveShiftRight,
            0x13c if !newer => Pattern::WaveRotateRight,
            0x140 => Pattern::RowMirror,
            0x141 => Pattern::HalfMirror,
            0x142 if !newer => Pattern::Broadcast15,
            0x143 if !newer => Pattern::Broadcast31,
            0x150..=0x15f if newer => Pattern::RowShare(amount),
            0x160..=0x16f if newer => Pattern::RowXor(amount),
            _ => return None,
        };
        Some(Self {
            pattern,
            row_mask: field(Field::RowMask) as u8,
            bank_mask: field(Field::BankMask) as u8,
            reads_zero: field(Field::BoundCtrl) != 0,
            fetches_inactive: field(Field::Fi) != 0,
        })
    }

    /// Returns the lane that `lane` reads; `None` if there is none.
    fn source(&self, lane: u32, lanes: u32) -> Option<u32> {
        let (row, column) = (lane & !15, lane & 15);
        let in_row = |column: Option<u32>| column.filter(|column| *column < 16).map(|column| row | column);
        let in_wave = |lane: Option<u32>| lane.filter(|lane| *lane < lanes);
        match self.pattern {
            Pattern::Quad(selectors) => Some(lane & !3 | u32::from(selectors >> (2 * (lane & 3)) & 3)),
            Pattern::RowShiftLeft(amount) => in_row(Some(column + u32::from(amount))),
            Pattern::RowShiftRight(amount) => in_row(column.checked_sub(amount.into())),
            Pattern::RowRotate(amount) => Some(row | column.wrapping_sub(amount.into()) & 15),
            Pattern::WaveShiftLeft => in_wave(Some(lane + 1)),
            Pattern::WaveRotateLeft => Some((lane + 1) % lanes),
            Pattern::WaveShiftRight => lane.checked_sub(1),
            Pattern::WaveRotateRight => Some((lane + lanes - 1) % lanes),
            Pattern::RowMirror => Some(row | (15 - column)),
            Pattern::HalfMirror => Some(lane & !7 | (7 - (lane & 7))),
            Pattern::Broadcast15 => row.checked_sub(1),
            Pattern::Broadcast31 => (lane >= 32).then_some(31),
            Pattern::RowShare(column) => Some(row | u32::from(column)),
            Pattern::RowXor(mask) => Some(row | (column ^ u32::from(mask))),
            Pattern::Eight(selectors) => Some(lane & !7 | selectors >> (3 * (lane & 7)) & 7),
        }
    }

    /// Returns the source of every lane (`None` reads 0) and the lanes of `exec` that stay on.
    pub(crate) fn resolve(&self, exec: u64, lanes: u32) -> ([Option<u8>; 64], u64) {
        let (mut sources, mut on) = ([None; 64], exec);
        for lane in 0..lanes {
            let selected = self.row_mask >> (lane / 16) & 1 != 0 && self.bank_mask >> (lane % 16 / 4) & 1 != 0;
            let source = self.source(lane, lanes).filter(|source| self.fetches_inactive || exec >> source & 1 != 0);
            sources[lane as usize] = source.map(|source| source as u8);
            if !selected || source.is_none() && !self.reads_zero {
                on &= !(1 << lane);
            }
        }
        (sources, on)
    }
}

/// Selections of parts of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sdwa {
    pub(crate) sources: [Part; 2],
    /// `None` for comparisons.
    pub(crate) destination: Option<(u8, Unused)>,
}

/// A part of a source: 0 to 3 for a byte, 4 and 5 for a half, 6 for the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) select: u8,
    pub(crate) signed: bool,
}

/// The treatment of the bits that the result does not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unused {
    Zero,
    Sign,
    Keep,
}

/// Returns the shift and width of a selection.
pub(crate) fn range(select: u8) -> (u32, u32) {
    match select {
        0..=3 => (8 * u32::from(select), 8),
        4 => (0, 16),
        5 => (16, 16),
        _ => (0, 32),
    }
}

impl Part {
    /// Returns the part of `value`, extended to 32 bits.
    pub(crate) fn of(self, value: u32) -> u32 {
        let (shift, width) = range(self.select);
        let raised = value << (32 - width - shift);
        if self.signed { (raised.cast_signed() >> (32 - width)).cast_unsigned() } else { raised >> (32 - width) }
    }
}

impl Sdwa {
    /// Reads the extra dword.
    pub(crate) fn new(extension: Extension, instruction: &Instruction) -> Self {
        let field = |field| instruction.extension_field(field);
        let part = |select, signed| Part { select: field(select) as u8, signed: field(signed) != 0 };
        let unused = match field(Field::DstUnused) {
            1 => Unused::Sign,
            2 => Unused::Keep,
            _ => Unused::Zero,
        };
        Self {
            sources: [part(Field::Src0Sel, Field::Src0Sext), part(Field::Src1Sel, Field::Src1Sext)],
            destination: (extension.format == Format::Sdwa).then(|| (field(Field::DstSel) as u8, unused)),
        }
    }
}

/// Returns `value` placed into `old` as SDWA's destination says.
pub(crate) fn place(value: u32, old: u32, select: u8, unused: Unused) -> u32 {
    let (shift, width) = range(select);
    if width == 32 {
        return value;
    }
    let mask = ((1 << width) - 1) << shift;
    let placed = value << shift & mask;
    match unused {
        Unused::Zero => placed,
        Unused::Keep => old & !mask | placed,
        Unused::Sign => {
            let sign = (value << (32 - width)).cast_signed() >> (32 - width);
            (sign << shift).cast_unsigned() & !((1 << shift) - 1) | placed
        }
    }
}
