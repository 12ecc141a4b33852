//! 64-bit operations, native and lowered, give what Rust's integers give.
//!
//! `AMDGPU_LOAD_GOLDENS` names another folder with `int64-vectors.jsonl`, or the same with `.gz`.

use std::{collections::BTreeMap, fs, io::Read, path::Path};

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{
    WaveSize,
    builder::{Builder, Scalar, Wide},
    int64::{Bank, Lowering, Op, Options, lower},
};
use proptest::prelude::*;

use crate::machine::{places, run_wave};

/// Bytes of a lane's inputs and result in memory.
const STRIDE: usize = 32;

/// The inputs of one lane.
type Inputs = [u64; 3];

/// The option sets of the requirement, and those with a rule of their own.
const OPTIONS: [Options; 4] = [Options::SEED, Options::RADV_25, Options::ALL, Options::NONE];

/// A program that does one operation in each lane.
fn program(level: GfxLevel, wave: WaveSize, op: Op, options: Options) -> amdgpu_isa::builder::Program {
    let mut code = Builder::new(level, wave, 4);
    let (buffer, at) = (code.user(0, 4), code.vector(1));
    code.op(format_args!("v_lshlrev_b32 {at}, 5, {}", code.thread()));
    let mut sources = Vec::new();
    for (index, &bits) in op.sources().iter().enumerate() {
        let register = code.vector(2);
        let place = code.vector(1);
        code.add(place, index * 8, at);
        code.buffer_load(register, place, buffer);
        code.free_vector(place);
        sources.push(match bits {
            1 => {
                let mask = code.mask();
                code.op(format_args!("v_cmp_lg_u32 {mask}, 0, {}", register.at(0)));
                Wide::Scalar(mask)
            }
            64 => Wide::Vector(register),
            _ => Wide::Vector(register.at(0)),
        });
    }
    let result = code.vector(2);
    code.op(format_args!("v_mov_b32 {}, 0", result.at(1)));
    match op.bits() {
        64 => code.int64(op, options, Wide::Vector(result), &sources),
        1 => {
            let mask = code.mask();
            code.int64(op, options, Wide::Scalar(mask), &sources);
            code.op(format_args!("v_cndmask_b32 {}, 0, 1, {mask}", result.at(0)));
        }
        _ => code.int64(op, options, Wide::Vector(result.at(0)), &sources),
    }
    code.add(at, 24, at);
    code.buffer_store(result, at, buffer);
    code.finish().unwrap_or_else(|error| panic!("{level} {op:?} {options:?}: {error}"))
}

/// A program that does one operation in scalar registers, on the inputs of the first lane.
fn scalar_program(level: GfxLevel, wave: WaveSize, op: Op) -> amdgpu_isa::builder::Program {
    let mut code = Builder::new(level, wave, 4);
    let (buffer, at, loaded) = (code.user(0, 4), code.vector(1), code.vector(2));
    let mut sources = Vec::new();
    for (index, &bits) in op.sources().iter().enumerate() {
        code.op(format_args!("v_mov_b32 {at}, {}", index * 8));
        code.buffer_load(loaded, at, buffer);
        let register = code.scalar(2);
        for half in 0..2 {
            code.op(format_args!("v_readfirstlane_b32 {}, {}", register.at(half), loaded.at(half)));
        }
        sources.push(match bits {
            1 => {
                let mask = code.mask();
                code.op(format_args!("v_cmp_lg_u32 {mask}, 0, {}", loaded.at(0)));
                Wide::Scalar(mask)
            }
            64 => Wide::Scalar(register),
            _ => Wide::Scalar(register.at(0)),
        });
    }
    let result = code.scalar(2);
    let low = Scalar { count: 1, ..result };
    code.op(format_args!("s_mov_b32 {}, 0", result.at(1)));
    match op.bits() {
        64 => code.int64_scalar(op, result, &sources),
        1 => {
            let mask = code.mask();
            code.int64_scalar(op, mask, &sources);
            code.op(format_args!("v_cndmask_b32 {}, 0, 1, {mask}", loaded.at(0)));
            code.op(format_args!("v_readfirstlane_b32 {low}, {}", loaded.at(0)));
        }
        _ => code.int64_scalar(op, low, &sources),
    }
    for half in 0..2 {
        code.op(format_args!("v_mov_b32 {}, {}", loaded.at(half), result.at(half)));
    }
    code.op(format_args!("v_mov_b32 {at}, 24"));
    code.buffer_store(loaded, at, buffer);
    code.finish().unwrap_or_else(|error| panic!("{level} {op:?}: {error}"))
}

fn execute(level: GfxLevel, program: &amdgpu_isa::builder::Program, inputs: &[Inputs]) -> Vec<u64> {
    let lanes = program.wave().lanes() as usize;
    let mut results = Vec::new();
    for chunk in inputs.chunks(lanes) {
        let mut memory = vec![0; lanes * STRIDE];
        for (lane, inputs) in chunk.iter().enumerate() {
            for (index, input) in inputs.iter().enumerate() {
                memory[lane * STRIDE + index * 8..][..8].copy_from_slice(&input.to_le_bytes());
            }
        }
        let memory = run_wave(level, program, memory);
        let result = |lane: usize| u64::from_le_bytes(memory[lane * STRIDE + 24..][..8].try_into().unwrap());
        results.extend((0..chunk.len()).map(result));
    }
    results
}

/// Returns the result by Rust's integers; `None` where the rules leave it open.
#[expect(clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "the conversions are what is compared with")]
fn expected(op: Op, [a, b, c]: Inputs) -> Option<u64> {
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    let word = |value: u64| value as u32;
    let nonzero = b != 0;
    let modulus = |rest: i64| if rest != 0 && (rest < 0) != (sb < 0) { rest.wrapping_add(sb) } else { rest };
    let bits = |found: Option<u32>| u64::from(found.unwrap_or(u32::MAX));
    Some(match op {
        Op::Iadd => a.wrapping_add(b),
        Op::Isub => a.wrapping_sub(b),
        Op::Ineg => a.wrapping_neg(),
        Op::Imul => a.wrapping_mul(b),
        Op::Imul2x32 => i64::from(word(a).cast_signed()).wrapping_mul(word(b).cast_signed().into()).cast_unsigned(),
        Op::Umul2x32 => u64::from(word(a)) * u64::from(word(b)),
        Op::ImulHigh => ((i128::from(sa) * i128::from(sb)) >> 64) as u64,
        Op::UmulHigh => ((u128::from(a) * u128::from(b)) >> 64) as u64,
        Op::Udiv => nonzero.then(|| a / b)?,
        Op::Umod => nonzero.then(|| a % b)?,
        Op::Idiv => nonzero.then(|| sa.wrapping_div(sb))?.cast_unsigned(),
        Op::Irem => nonzero.then(|| sa.wrapping_rem(sb))?.cast_unsigned(),
        Op::Imod => nonzero.then(|| modulus(sa.wrapping_rem(sb)))?.cast_unsigned(),
        Op::Isign => sa.signum().cast_unsigned(),
        Op::Iabs => sa.wrapping_abs().cast_unsigned(),
        Op::Imin => sa.min(sb).cast_unsigned(),
        Op::Imax => sa.max(sb).cast_unsigned(),
        Op::Umin => a.min(b),
        Op::Umax => a.max(b),
        Op::Ieq => (a == b).into(),
        Op::Ine => (a != b).into(),
        Op::Ult => (a < b).into(),
        Op::Ilt => (sa < sb).into(),
        Op::Uge => (a >= b).into(),
        Op::Ige => (sa >= sb).into(),
        Op::Bcsel => {
            if a & 0xffff_ffff != 0 {
                b
            } else {
                c
            }
        }
        Op::Iand => a & b,
        Op::Ior => a | b,
        Op::Ixor => a ^ b,
        Op::Inot => !a,
        Op::Ishl => a << (b & 63),
        Op::Ishr => (sa >> (b & 63)).cast_unsigned(),
        Op::Ushr => a >> (b & 63),
        Op::BitCount => a.count_ones().into(),
        Op::UfindMsb => bits(a.checked_ilog2()),
        Op::FindLsb => bits((a != 0).then(|| a.trailing_zeros())),
        Op::ExtractU8(part) => a >> (part * 8) & 0xff,
        Op::ExtractI8(part) => i64::from((a >> (part * 8)) as i8).cast_unsigned(),
        Op::ExtractU16(part) => a >> (part * 16) & 0xffff,
        Op::ExtractI16(part) => i64::from((a >> (part * 16)) as i16).cast_unsigned(),
        Op::IaddSat => sa.saturating_add(sb).cast_unsigned(),
        Op::IsubSat => sa.saturating_sub(sb).cast_unsigned(),
        Op::UaddSat => a.saturating_add(b),
        Op::UsubSat => a.saturating_sub(b),
        Op::I2i8 | Op::U2u64From8 => a & 0xff,
        Op::I2i16 | Op::U2u64From16 => a & 0xffff,
        Op::I2i32 | Op::U2u32 => a & 0xffff_ffff,
        Op::I2i64 => i64::from(word(a).cast_signed()).cast_unsigned(),
        Op::U2u64 => word(a).into(),
        Op::I2i64From16 => i64::from(a as i16).cast_unsigned(),
        Op::I2i64From8 => i64::from(a as i8).cast_unsigned(),
        Op::B2i64 => (word(a) != 0).into(),
        Op::I2f32 => (sa as f32).to_bits().into(),
        Op::U2f32 => (a as f32).to_bits().into(),
        Op::I2f64 => (sa as f64).to_bits(),
        Op::U2f64 => (a as f64).to_bits(),
        Op::F2i64 => (f32::from_bits(word(a)) as i64).cast_unsigned(),
        Op::F2u64 => f32::from_bits(word(a)) as u64,
        Op::F2i64From64 => (f64::from_bits(a) as i64).cast_unsigned(),
        Op::F2u64From64 => f64::from_bits(a) as u64,
    })
}

fn low_bits(value: u64, bits: u8) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// Checks one operation in all forms on some inputs.
fn check(op: Op, level: GfxLevel, wave: WaveSize, inputs: &[Inputs]) {
    for options in [Options::RADV_25, Options::ALL] {
        let program = program(level, wave, op, options);
        compare(op, level, inputs, &execute(level, &program, inputs), &format!("{options:?} {}", program.text()));
    }
    if matches!(lower(op, level, Bank::Scalar, Options::NONE), Lowering::Native(_)) {
        let program = scalar_program(level, wave, op);
        let results: Vec<u64> = inputs.iter().take(8).flat_map(|input| execute(level, &program, &[*input])).collect();
        compare(op, level, &inputs[..results.len()], &results, &program.text());
    }
}

fn compare(op: Op, level: GfxLevel, inputs: &[Inputs], results: &[u64], form: &str) {
    for (inputs, result) in inputs.iter().zip(results) {
        let Some(expected) = expected(op, *inputs) else { continue };
        let (result, expected) = (low_bits(*result, op.bits()), low_bits(expected, op.bits()));
        assert_eq!(result, expected, "{level} {op:?} of {inputs:#x?} is {result:#x}, not {expected:#x}: {form}");
    }
}

/// Numbers around which operations change.
fn edges() -> Vec<u64> {
    let powers = [0, 1, 7, 8, 15, 16, 22, 23, 24, 25, 31, 32, 33, 47, 52, 53, 54, 62, 63].map(|bit| 1_u64 << bit);
    let mut edges: Vec<u64> = powers.into_iter().flat_map(|power| [power - 1, power, power + 1, !power]).collect();
    edges.extend([u64::MAX, 0x8080_8080_8080_8080, 0x1234_5678_9abc_def0, 0xffff_ffff_0000_0000]);
    edges
}

#[test]
fn every_operation_is_right_at_the_edges_of_its_numbers() {
    let edges = edges();
    let mut inputs: Vec<Inputs> = Vec::new();
    for (index, &a) in edges.iter().enumerate() {
        inputs.extend((0..2).map(|step| [a, edges[(index * 7 + step * 13 + 3) % edges.len()], !a]));
        inputs.push([a, index as u64, a ^ 5]);
    }
    for (level, wave) in places() {
        for op in Op::ALL {
            check(op, level, wave, &inputs);
        }
    }
}

#[test]
fn every_part_is_extracted() {
    let inputs = [[0x8182_7374_8586_7778, 0, 0], [0x0102_f3f4_0506_f7f8, 0, 0]];
    for (level, wave) in places() {
        for part in 0..8 {
            check(Op::ExtractU8(part), level, wave, &inputs);
            check(Op::ExtractI8(part), level, wave, &inputs);
        }
        for part in 0..4 {
            check(Op::ExtractU16(part), level, wave, &inputs);
            check(Op::ExtractI16(part), level, wave, &inputs);
        }
    }
}

#[test]
fn constants_and_registers_give_the_same() {
    for (level, wave) in places() {
        for value in [0, 1, 64, 65, u64::MAX, u64::from(u32::MAX), 0x1_0000_0000, 0x1234_5678_9abc_def0] {
            let mut code = Builder::new(level, wave, 4);
            let (buffer, at, a) = (code.user(0, 4), code.vector(1), code.vector(2));
            code.op(format_args!("v_lshlrev_b32 {at}, 5, {}", code.thread()));
            code.buffer_load(a, at, buffer);
            code.int64(Op::Iadd, Options::RADV_25, Wide::Vector(a), &[Wide::Vector(a), Wide::Constant(value)]);
            code.int64(Op::Imul, Options::RADV_25, Wide::Vector(a), &[Wide::Constant(value), Wide::Vector(a)]);
            code.add(at, 24, at);
            code.buffer_store(a, at, buffer);
            let program = code.finish().unwrap();
            let results = execute(level, &program, &[[5, 0, 0], [u64::MAX - 3, 0, 0]]);
            let expected = [5, u64::MAX - 3].map(|a: u64| a.wrapping_add(value).wrapping_mul(value));
            assert_eq!(results, expected, "{level} {value:#x} {}", program.text());
        }
    }
}

/// Requirement I-3.
#[test]
fn shift_amounts_are_taken_modulo_64() {
    let inputs: Vec<Inputs> = (0..=130)
        .chain([u64::from(u32::MAX), 1 << 31, u64::from(u32::MAX) - 31])
        .flat_map(|amount| [0x8123_4567_89ab_cdef, 1].map(|value| [value, amount, 0]))
        .collect();
    for (level, wave) in places() {
        for op in [Op::Ishl, Op::Ishr, Op::Ushr] {
            check(op, level, wave, &inputs);
        }
    }
}

/// Requirement I-3.
#[test]
fn the_smallest_number_divided_by_minus_one_is_itself() {
    let inputs = [[1 << 63, u64::MAX, 0]];
    for (level, wave) in places() {
        for (op, result) in [(Op::Idiv, 1 << 63), (Op::Irem, 0), (Op::Imod, 0)] {
            for options in [Options::SEED, Options::ALL] {
                let program = program(level, wave, op, options);
                assert_eq!(execute(level, &program, &inputs), [result], "{level} {op:?} {options:?}");
            }
        }
    }
}

#[test]
fn division_by_zero_ends() {
    for (level, wave) in places() {
        for op in [Op::Udiv, Op::Idiv, Op::Umod, Op::Imod, Op::Irem] {
            for options in [Options::SEED, Options::ALL] {
                execute(level, &program(level, wave, op, options), &[[5, 0, 0], [u64::MAX, 0, 0], [1 << 63, 0, 0]]);
            }
        }
    }
}

/// Returns the operation of a golden line.
fn golden_op(line: &serde_json::Value) -> (Op, Inputs) {
    let name = line["op"].as_str().unwrap();
    let bits: Vec<u64> = line["src"].as_array().unwrap().iter().map(|source| source[0].as_u64().unwrap()).collect();
    let number = |value: &serde_json::Value| u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16);
    let mut inputs = [0; 3];
    for (input, source) in inputs.iter_mut().zip(line["src"].as_array().unwrap()) {
        *input = number(&source[1]).unwrap();
    }
    let extracts = name.starts_with("extract");
    let fits = |op: &&Op| {
        let sources: Vec<u64> = op.sources().iter().map(|&bits| bits.into()).collect();
        op.name() == name && u64::from(op.bits()) == line["dst"] && (extracts || sources == bits)
    };
    let op = *Op::ALL.iter().find(fits).unwrap_or_else(|| panic!("no operation for {line}"));
    let part = inputs[1] as u8;
    let op = match op {
        Op::ExtractU8(_) => Op::ExtractU8(part),
        Op::ExtractI8(_) => Op::ExtractI8(part),
        Op::ExtractU16(_) => Op::ExtractU16(part),
        Op::ExtractI16(_) => Op::ExtractI16(part),
        op => op,
    };
    (op, inputs)
}

#[test]
fn operations_give_the_goldens_results() {
    let folder = std::env::var("AMDGPU_LOAD_GOLDENS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../isa/tests/data/loads").to_owned());
    let path = Path::new(&folder).join("int64-vectors.jsonl");
    let text = fs::read_to_string(&path).unwrap_or_else(|_| {
        let mut text = String::new();
        let file = fs::File::open(path.with_extension("jsonl.gz")).unwrap();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
        text
    });
    let mut lines: BTreeMap<String, (Op, Vec<Inputs>, Vec<u64>)> = BTreeMap::new();
    let mut count = 0;
    let mut unsaturated = 0;
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let (op, inputs) = golden_op(&line);
        let result = u64::from_str_radix(line["result"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
        // Some lines of the goldens have the sum as it wraps where it should saturate.
        if op == Op::IaddSat && result != expected(op, inputs).unwrap() {
            assert_eq!(result, inputs[0].wrapping_add(inputs[1]), "{line}");
            unsaturated += 1;
            continue;
        }
        let group = lines.entry(format!("{op:?}")).or_insert_with(|| (op, Vec::new(), Vec::new()));
        group.1.push(inputs);
        group.2.push(result);
        count += 1;
    }
    println!("{count} results, {} operations; {unsaturated} sums that do not saturate", lines.len());
    assert!(count > 0);
    for (level, wave) in places() {
        for (op, inputs, results) in lines.values() {
            for options in OPTIONS {
                let program = program(level, wave, *op, options);
                for ((inputs, result), found) in inputs.iter().zip(results).zip(execute(level, &program, inputs)) {
                    let found = low_bits(found, op.bits());
                    assert_eq!(
                        found, *result,
                        "{level} {op:?} {options:?} of {inputs:#x?}: {found:#x}, not {result:#x}"
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_operation_is_right_on_any_numbers(
        inputs in proptest::collection::vec(any::<(u64, u64, u64, u8, u8)>(), 64),
        place in proptest::sample::select(places()),
    ) {
        // Numbers of all sizes, not only large ones.
        let inputs: Vec<Inputs> =
            inputs.into_iter().map(|(a, b, c, x, y)| [a >> (x & 63), b >> (y & 63), c]).collect();
        for op in Op::ALL {
            check(op, place.0, place.1, &inputs);
        }
    }
}
