//! Additions and subtractions with carry of all pairs of bytes, against sums of 64 bits.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{
    WaveSize,
    builder::{Builder, Condition, Program},
};

use crate::machine::{places, run_groups};

/// Pairs of bytes.
const PAIRS: u32 = 1 << 16;

/// The place of a byte in an operand of 32 bits: bits that it is shifted left by, and the other bits of both operands. With ones
/// below the byte of an addition's first operand, and zeroes below those of a subtraction, a carry comes in from the lowest bit.
#[derive(Clone, Copy)]
struct Place {
    shift: u32,
    others: [u32; 2],
}

/// The places of an addition; those of a subtraction have zeroes below.
const ADDITION: [Place; 3] = [
    Place { shift: 24, others: [0x00ff_ffff, 0] },
    Place { shift: 0, others: [0, 0] },
    Place { shift: 0, others: [0xffff_ff00, 0] },
];
const SUBTRACTION: [Place; 3] = [
    Place { shift: 24, others: [0, 0] },
    Place { shift: 0, others: [0, 0] },
    Place { shift: 0, others: [0xffff_ff00, 0xffff_ff00] },
];

/// An operation by its meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Add,
    Subtract,
    /// The first operand is subtracted from the second.
    SubtractReversed,
}

impl Operation {
    fn places(self) -> [Place; 3] {
        if self == Self::Add { ADDITION } else { SUBTRACTION }
    }

    /// Returns the result and the carry or borrow out.
    fn model(self, a: u32, b: u32, carry: bool) -> (u32, bool) {
        let [a, b, carry] = [a.into(), b.into(), i64::from(carry)];
        let exact: i64 = match self {
            Self::Add => a + b + carry,
            Self::Subtract => a - b - carry,
            Self::SubtractReversed => b - a - carry,
        };
        (exact.rem_euclid(1 << 32) as u32, !(0..1 << 32).contains(&exact))
    }

    /// Returns the name of the vector operation, which differs between generations.
    fn vector(self, level: GfxLevel, takes_carry: bool) -> &'static str {
        use GfxLevel::{Gfx8, Gfx9};
        let names = match (self, takes_carry) {
            (Self::Add, false) => ["v_add_i32_e64", "v_add_u32_e64", "v_add_co_u32_e64", "v_add_co_u32"],
            (Self::Add, true) => ["v_addc_u32_e64", "v_addc_u32_e64", "v_addc_co_u32_e64", "v_add_co_ci_u32_e64"],
            (Self::Subtract, false) => ["v_sub_i32_e64", "v_sub_u32_e64", "v_sub_co_u32_e64", "v_sub_co_u32"],
            (Self::Subtract, true) => ["v_subb_u32_e64", "v_subb_u32_e64", "v_subb_co_u32_e64", "v_sub_co_ci_u32_e64"],
            (Self::SubtractReversed, false) => {
                ["v_subrev_i32_e64", "v_subrev_u32_e64", "v_subrev_co_u32_e64", "v_subrev_co_u32"]
            }
            (Self::SubtractReversed, true) => {
                ["v_subbrev_u32_e64", "v_subbrev_u32_e64", "v_subbrev_co_u32_e64", "v_subrev_co_ci_u32_e64"]
            }
        };
        match level {
            _ if level < Gfx8 => names[0],
            Gfx8 => names[1],
            Gfx9 => names[2],
            _ => names[3],
        }
    }
}

/// Returns the carry into a pair of bytes: both values in two rounds, and in each round some lanes of a wave have each.
fn carry_in(pair: u32, round: u32) -> bool {
    (pair ^ pair >> 8 ^ round) & 1 != 0
}

/// Returns a program in which each lane stores, for both rounds and each place, the result and the carry out of its own pair.
fn vectors(level: GfxLevel, wave: WaveSize, operation: Operation, takes_carry: bool) -> Program {
    let mut code = Builder::new(level, wave, 4);
    let (buffer, group, mask, out) = (code.user(0, 4), code.scalar(1), code.mask(), code.mask());
    let [at, a, b, low, high, bit, next] = [(); 7].map(|()| code.vector(1));
    code.op(format_args!("s_mov_b32 {group}, {}", code.group()));
    code.op(format_args!("v_mov_b32 {at}, {group}"));
    code.op(format_args!("v_lshlrev_b32 {at}, {}, {at}", wave.lanes().trailing_zeros()));
    code.add(at, code.thread(), at);
    code.op(format_args!("v_and_b32 {low}, 0xff, {at}"));
    code.op(format_args!("v_lshrrev_b32 {high}, 8, {at}"));
    code.op(format_args!("v_lshlrev_b32 {at}, 2, {at}"));
    code.op(format_args!("v_mov_b32 {next}, {:#x}", 4 * PAIRS));
    for round in 0..2 {
        code.op(format_args!("v_xor_b32 {bit}, {low}, {high}"));
        code.op(format_args!("v_xor_b32 {bit}, {round}, {bit}"));
        code.op(format_args!("v_and_b32 {bit}, 1, {bit}"));
        code.op(format_args!("v_cmp_lg_u32 {mask}, 0, {bit}"));
        for Place { shift, others } in operation.places() {
            for (to, byte, others) in [(a, low, others[0]), (b, high, others[1])] {
                code.op(format_args!("v_lshlrev_b32 {to}, {shift}, {byte}"));
                code.op(format_args!("v_or_b32 {to}, {others:#x}, {to}"));
            }
            let name = operation.vector(level, takes_carry);
            let carry = if takes_carry { format!(", {mask}") } else { String::new() };
            code.op(format_args!("{name} {a}, {out}, {a}, {b}{carry}"));
            code.op(format_args!("v_cndmask_b32 {b}, 0, 1, {out}"));
            for value in [a, b] {
                code.buffer_store(value, at, buffer);
                code.add(at, next, at);
            }
        }
    }
    code.finish().unwrap()
}

/// Returns what a model leaves where [`vectors`] and [`scalars`] store.
fn expected(operation: Operation, takes_carry: bool) -> Vec<u32> {
    let mut words = Vec::new();
    for round in 0..2 {
        for Place { shift, others } in operation.places() {
            let results = (0..PAIRS).map(|pair| {
                let [a, b] = [pair & 0xff, pair >> 8].map(|byte| byte << shift);
                operation.model(a | others[0], b | others[1], takes_carry && carry_in(pair, round))
            });
            let (results, carries): (Vec<_>, Vec<_>) = results.unzip();
            words.extend(results);
            words.extend(carries.into_iter().map(u32::from));
        }
    }
    words
}

/// Runs a program for all pairs and compares what it leaves with the model.
fn compare(level: GfxLevel, program: &Program, groups: u32, expected: &[u32], what: &str) {
    let (_, data) = run_groups(level, program, vec![0; 4 * expected.len()], groups, 2);
    for (index, (found, expected)) in data.as_chunks().0.iter().zip(expected).enumerate() {
        let (pair, slot) = (index as u32 % PAIRS, index as u32 / PAIRS);
        assert_eq!(
            u32::from_le_bytes(*found),
            *expected,
            "{level} {what}, bytes {:#x} and {:#x}, round {}, place {}, {}",
            pair & 0xff,
            pair >> 8,
            slot / 6,
            slot / 2 % 3,
            if slot % 2 == 0 { "result" } else { "carry" },
        );
    }
}

const OPERATIONS: [Operation; 3] = [Operation::Add, Operation::Subtract, Operation::SubtractReversed];

#[test]
fn vector_carries_are_right_for_all_bytes_at_both_ends_of_an_operand() {
    for (operation, takes_carry) in OPERATIONS.into_iter().flat_map(|operation| [(operation, false), (operation, true)])
    {
        let expected = expected(operation, takes_carry);
        for (level, wave) in places() {
            let program = vectors(level, wave, operation, takes_carry);
            let name = operation.vector(level, takes_carry);
            compare(level, &program, PAIRS / wave.lanes(), &expected, name);
        }
    }
}

/// Returns a program whose waves have a byte `b` each, the group's number, and go through all bytes `a`. Each result goes to a lane
/// of its own, and 64 of them to memory at once.
fn scalars(level: GfxLevel, operation: Operation, takes_carry: bool) -> Program {
    let mut code = Builder::new(level, WaveSize::Wave64, 4);
    let (buffer, group, low, start) = (code.user(0, 4), code.scalar(1), code.scalar(1), code.scalar(1));
    let [a, b, bit, lane] = [(); 4].map(|()| code.scalar(1));
    let (at, results, carries, next) = (code.vector(1), code.vector(1), code.vector(1), code.vector(1));
    let name = match (operation, takes_carry) {
        (Operation::Add, false) => "s_add_u32",
        (Operation::Add, true) => "s_addc_u32",
        (_, false) => "s_sub_u32",
        (_, true) => "s_subb_u32",
    };
    code.op(format_args!("s_mov_b32 {group}, {}", code.group()));
    code.op(format_args!("v_mov_b32 {next}, {:#x}", 4 * PAIRS));
    for (slot, (round, Place { shift, others })) in
        (0..2).flat_map(|round| operation.places().map(|place| (round, place))).enumerate()
    {
        code.op(format_args!("s_mov_b32 {low}, 0"));
        let (quarter, byte) = (code.label(), code.label());
        code.place(quarter);
        code.op(format_args!("s_mov_b32 {start}, {low}"));
        code.place(byte);
        code.op(format_args!("s_xor_b32 {bit}, {low}, {group}"));
        code.op(format_args!("s_xor_b32 {bit}, {bit}, {round}"));
        code.op(format_args!("s_and_b32 {bit}, {bit}, 1"));
        for (to, byte, others) in [(a, low, others[0]), (b, group, others[1])] {
            code.op(format_args!("s_lshl_b32 {to}, {byte}, {shift}"));
            code.op(format_args!("s_or_b32 {to}, {to}, {others:#x}"));
        }
        code.op(format_args!("s_and_b32 {lane}, {low}, 63"));
        code.op(format_args!("s_cmp_lg_u32 {bit}, 0"));
        code.op(format_args!("{name} {a}, {a}, {b}"));
        code.op(format_args!("s_cselect_b32 {b}, 1, 0"));
        code.op(format_args!("s_mov_b32 m0, {lane}"));
        code.op(format_args!("v_writelane_b32 {results}, {a}, m0"));
        code.op(format_args!("v_writelane_b32 {carries}, {b}, m0"));
        code.op(format_args!("s_add_u32 {low}, {low}, 1"));
        code.op(format_args!("s_and_b32 {lane}, {low}, 63"));
        code.op(format_args!("s_cmp_lg_u32 {lane}, 0"));
        code.branch(Condition::Scc(true), byte);
        // The place of 64 results: their first byte, the wave's byte and the slot.
        code.op(format_args!("s_lshl_b32 {lane}, {group}, 8"));
        code.op(format_args!("s_or_b32 {lane}, {lane}, {start}"));
        code.op(format_args!("s_lshl_b32 {lane}, {lane}, 2"));
        code.op(format_args!("s_add_u32 {lane}, {lane}, {:#x}", slot as u32 * 8 * PAIRS));
        code.op(format_args!("v_lshlrev_b32 {at}, 2, {}", code.thread()));
        code.add(at, lane, at);
        code.buffer_store(results, at, buffer);
        code.add(at, next, at);
        code.buffer_store(carries, at, buffer);
        code.op(format_args!("s_cmp_lg_u32 {low}, 256"));
        code.branch(Condition::Scc(true), quarter);
    }
    code.finish().unwrap()
}

#[test]
fn scalar_carries_are_right_for_all_bytes_at_both_ends_of_an_operand() {
    for (operation, takes_carry) in
        [Operation::Add, Operation::Subtract].into_iter().flat_map(|operation| [(operation, false), (operation, true)])
    {
        let expected = expected(operation, takes_carry);
        // The first generation, one with the old names, and one with the new ones.
        for level in [GfxLevel::Gfx6, GfxLevel::Gfx10_3, GfxLevel::Gfx12] {
            compare(level, &scalars(level, operation, takes_carry), 256, &expected, &format!("scalar {operation:?}"));
        }
    }
}
