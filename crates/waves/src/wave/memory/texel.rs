//! Texels that lanes address, and their components.

use amdgpu_descriptors::view::ImageKind;

use crate::{image::texel::Texel, program::image::op::ImageOp, wave::registers::Registers};

/// Coordinates of an image instruction, by the number of its dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coordinates {
    /// Axes of texels: one to three.
    pub(crate) axes: u8,
    pub(crate) is_cube: bool,
    pub(crate) has_layer: bool,
    pub(crate) has_sample: bool,
}

impl Coordinates {
    /// Returns the coordinates of an instruction; up to GFX9 they follow from the descriptor.
    pub(crate) fn of(op: &ImageOp, kind: ImageKind) -> Self {
        let number = op.dimension.unwrap_or(match (kind, op.has_layer) {
            (ImageKind::D1, _) | (ImageKind::D1Array, false) => 0,
            (ImageKind::D2, _) | (ImageKind::D2Array, false) => 1,
            (ImageKind::D3, _) => 2,
            (ImageKind::Cube, _) => 3,
            (ImageKind::D1Array, true) => 4,
            (ImageKind::D2Array, true) => 5,
            (ImageKind::D2Msaa, _) | (ImageKind::D2MsaaArray, false) => 6,
            (ImageKind::D2MsaaArray, true) => 7,
        });
        Self {
            axes: match number {
                0 | 4 => 1,
                2 => 3,
                _ => 2,
            },
            is_cube: number == 3,
            has_layer: matches!(number, 3 | 4 | 5 | 7),
            has_sample: number >= 6,
        }
    }

    /// Returns their number.
    pub(crate) fn count(self) -> usize {
        usize::from(self.axes) + usize::from(self.has_layer) + usize::from(self.has_sample)
    }
}

/// Reads the address of a lane, dword by dword, and coordinates of 16 bits two by two.
pub(super) struct Reader<'r> {
    pub(super) registers: &'r Registers,
    pub(super) addresses: &'r [u16],
    pub(super) lane: usize,
    /// Dwords that were read.
    pub(super) at: usize,
}

impl Reader<'_> {
    pub(super) fn dword(&mut self) -> u32 {
        let value = self.peek(self.at);
        self.at += 1;
        value
    }

    fn peek(&self, at: usize) -> u32 {
        let register = self.addresses.get(at).copied().unwrap_or(0);
        self.registers.vectors.get(usize::from(register)).map_or(0, |lanes| lanes[self.lane])
    }

    /// Reads numbers of 32 or 16 bits; the group starts with a dword of its own.
    pub(super) fn group<const N: usize>(&mut self, count: usize, halves: bool) -> [u32; N] {
        let start = self.at;
        let values = std::array::from_fn(|index| match (index < count, halves) {
            (false, _) => 0,
            (true, false) => self.peek(start + index),
            (true, true) => self.peek(start + index / 2) >> (16 * (index % 2)) & 0xffff,
        });
        self.at = start + if halves { count.div_ceil(2) } else { count };
        values
    }
}

/// Returns a texel of integer coordinates.
pub(super) fn texel(coordinates: Coordinates, values: [u32; 5], has_level: bool) -> Texel {
    let mut values = values.into_iter();
    let mut next = |present: bool| if present { values.next().unwrap_or(0) } else { 0 };
    let x = next(true);
    let y = next(coordinates.axes >= 2);
    let z = next(coordinates.axes == 3 || coordinates.has_layer);
    let sample = next(coordinates.has_sample);
    Texel { level: next(has_level), x, y, z, sample }
}

/// Returns the values of the components that a mask names, one after the other.
pub(super) fn masked(mask: u8, values: [u32; 4]) -> [u32; 4] {
    let mut chosen = [0; 4];
    let named = (0..4).filter(|index| mask >> index & 1 != 0);
    for (slot, index) in chosen.iter_mut().zip(named) {
        *slot = values[index];
    }
    chosen
}
