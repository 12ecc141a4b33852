//! Multiplication of matrices in the registers of a wave.
//!
//! Products are exact. They are summed as 64-bit floats in the order in which registers hold them; C is added last, and the result is
//! rounded once to nearest even. Denormals are kept, whatever MODE says. Hardware sums in an order of its own.

use super::{
    element::Element,
    layout::{Layout, SIDE},
    op::{Factor, Index, MatrixOp, Place},
};
use crate::{
    alu::{kernel::Lanes, unit::for_each_unit},
    wave::{registers::Registers, state::Wave},
};

/// The largest number of columns of A.
const DEPTH: usize = 64;

/// Rows of A or columns of B: the values in the order in which registers hold them.
type Values = [[f64; DEPTH]; SIDE];

/// For each row of A, the number of the row of B that each element is multiplied with.
type Partners = [[u8; DEPTH]; SIDE];

/// Returns the bits of the element `index` of a lane, whose registers start at `first`.
fn element(registers: &Registers, first: u16, lane: usize, index: u32, bits: u32) -> u32 {
    let place = index * bits;
    registers.vectors[usize::from(first) + place as usize / 32][lane] >> (place % 32)
}

/// Returns the rows or columns of a factor, `depth` elements each.
fn values(registers: &Registers, layout: Layout, factor: Factor, depth: u32) -> Values {
    let mut values = [[0.0; DEPTH]; SIDE];
    let elements = layout.factor_elements(depth, factor.element);
    let bits = factor.element.bits();
    for (row, values) in values.iter_mut().enumerate() {
        for (place, value) in values.iter_mut().enumerate().take(depth as usize) {
            let (group, index) = (place as u32 / elements, place as u32 % elements);
            let lane = row + SIDE * group as usize;
            let read = factor.element.value(element(registers, factor.register, lane, index, bits));
            *value = if factor.negates[index as usize % 2] { -read } else { read };
        }
    }
    values
}

/// Returns the partners of all elements of A.
///
/// Two neighbours of a sparse A stand for four, whose partners are neighbours in the same group of lanes; if a lane of B has fewer
/// elements than two lanes of A stand for (4-bit elements in wave64), the rest is as many groups of lanes further as A fills.
fn partners(op: &MatrixOp, registers: &Registers) -> Partners {
    let mut partners: Partners = [std::array::from_fn(|place| place as u8); SIDE];
    let Some(Index { register, key }) = op.index else { return partners };
    let depth = op.stored_depth();
    let elements = op.layout.factor_elements(depth, op.a.element);
    let groups = depth / elements;
    let other = op.layout.factor_elements(op.depth, op.b.element);
    for (row, partners) in partners.iter_mut().enumerate() {
        for (place, partner) in partners.iter_mut().enumerate().take(depth as usize) {
            let (group, index) = (place as u32 / elements, place as u32 % elements);
            let word = registers.vectors[usize::from(register)][row + SIDE * group as usize];
            let chosen = word.wrapping_shr(2 * elements * key + 2 * index) & 3;
            let first = 4 * (index / 2);
            *partner = ((group + groups * (first / other)) * other + first % other + chosen) as u8;
        }
    }
    partners
}

/// Returns C.
fn added(op: &MatrixOp, registers: &Registers) -> [[f64; SIDE]; SIDE] {
    let mut rows = [[0.0; SIDE]; SIDE];
    for lane in 0..op.layout.lanes as usize {
        for index in 0..op.layout.sum_elements() {
            let bits = match op.added.place {
                Place::Constant(bits) => bits,
                Place::Registers(first) if op.layout.packs(op.result) => element(registers, first, lane, index, 16),
                Place::Registers(first) => {
                    registers.vectors[usize::from(first) + index as usize][lane] >> if op.high { 16 } else { 0 }
                }
            };
            let mut value = op.result.value(bits);
            if op.added.is_absolute {
                value = value.abs();
            }
            rows[op.layout.row(lane, index)][lane % SIDE] = if op.added.negates { -value } else { value };
        }
    }
    rows
}

impl Wave {
    /// Executes a multiplication of matrices in all lanes, even if EXEC is not full.
    pub(crate) fn matrix(&mut self, op: &MatrixOp) {
        let registers = &self.registers;
        let depth = op.stored_depth() as usize;
        let a = values(registers, op.layout, op.a, op.stored_depth());
        let b = values(registers, op.layout, op.b, op.depth);
        let partners = partners(op, registers);
        let added = added(op, registers);
        let mut rows: [[f64; SIDE]; DEPTH] = [[0.0; SIDE]; DEPTH];
        for (place, row) in rows.iter_mut().enumerate() {
            *row = std::array::from_fn(|column| b[column][place]);
        }
        let multiply = for_each_unit!(|sums: &mut [[f64; SIDE]; SIDE],
                                       a: &Values,
                                       partners: &Partners,
                                       rows: &[[f64; SIDE]; DEPTH],
                                       depth: usize| {
            for ((sums, values), partners) in sums.iter_mut().zip(a).zip(partners) {
                for (value, partner) in values.iter().zip(partners).take(depth) {
                    for (sum, other) in sums.iter_mut().zip(&rows[usize::from(*partner) % DEPTH]) {
                        *sum += *value * *other;
                    }
                }
            }
        });
        let mut sums = [[0.0; SIDE]; SIDE];
        multiply(self.unit, &mut sums, &a, &partners, &rows, depth);
        self.write_matrix(op, |row, column| op.result.sum(sums[row][column], added[row][column], op.saturates));
    }

    /// Writes D, whose elements a function gives by row and column.
    fn write_matrix(&mut self, op: &MatrixOp, bits: impl Fn(usize, usize) -> u32) {
        let layout = op.layout;
        let all = self.registers.all();
        for register in 0..layout.sum_dwords(op.result) {
            let number = op.destination + register as u16;
            let old = &self.registers.vectors[usize::from(number)];
            let at = |lane: usize, index: u32| bits(layout.row(lane, index), lane % SIDE);
            let lanes: Lanes = std::array::from_fn(|lane| match op.result {
                _ if lane >= layout.lanes as usize => old[lane],
                _ if layout.packs(op.result) => at(lane, 2 * register) | at(lane, 2 * register + 1) << 16,
                Element::F16 | Element::Brain if op.high => old[lane] & 0xffff | at(lane, register) << 16,
                Element::F16 | Element::Brain => old[lane] & 0xffff_0000 | at(lane, register),
                _ => at(lane, register),
            });
            self.registers.write(number, &lanes, all);
        }
    }
}
