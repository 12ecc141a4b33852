//! Packed operations, and dot products and multiplications of mixed sizes, on the interpreter and on the model.

use std::fmt::Write as _;

use amdgpu_isa::{Format, Instruction, Opcode, WaveSize, assemble, table as isa_table};
use rustc_apfloat::{
    Float as _, FloatConvert as _,
    ieee::{Half, Single},
};

use super::{
    float::{bits, float, flushed, round32},
    machine::{Machine, State},
    results::{finished, without_denormal},
    table::{Env, Operation, Table, is_signed, width},
    values::Random,
    vector_tests::{MODES, MOST_FAULTS, model, places},
};

/// Stems of operations that are not compared, with the reason.
const NOT_COMPARED: [(&str, &[&str]); 4] = [
    ("tests of their own compare matrices", &["v_wmma", "v_swmmac"]),
    ("tests of their own compare 8-bit floats", &["v_dot4_f32"]),
    ("hardware rounds the sum of products in an order of its own", &["v_dot2_f32_f16", "v_dot2_f32_bf16"]),
    ("hardware rounds the product in a way of its own", &["v_mad_mix", "v_fma_mixlo", "v_fma_mixhi"]),
];

/// Operations that must be compared, of all generations together.
const COMPARED: usize = 139;

/// Modifiers of a packed operation: bits by source. `halves` choose the upper half for the low and for the high result.
#[derive(Clone, Copy)]
struct Modifiers {
    halves: [u32; 2],
    negates: [u32; 2],
    clamps: bool,
}

/// The modifiers that are compared: none, other halves, signs, and saturation.
const VARIANTS: [Modifiers; 4] = [
    Modifiers { halves: [0, 7], negates: [0; 2], clamps: false },
    Modifiers { halves: [5, 2], negates: [0; 2], clamps: false },
    Modifiers { halves: [0, 7], negates: [3, 6], clamps: false },
    Modifiers { halves: [2, 6], negates: [0; 2], clamps: true },
];

/// Returns an instruction of the operation.
fn case(machine: &Machine, opcode: &Opcode, modifiers: Modifiers, is_float: bool) -> Result<Instruction, String> {
    let count = opcode.operands.len() - 1;
    let list = |mask: u32| (0..count).map(|index| (mask >> index & 1).to_string()).collect::<Vec<_>>().join(",");
    let mut text = format!("{} v8", opcode.name());
    for register in [2, 4, 6].into_iter().take(count) {
        let _ = write!(text, ", v{register}");
    }
    let [low, high] = modifiers.halves.map(list);
    let _ = write!(text, " op_sel:[{low}] op_sel_hi:[{high}]");
    if is_float && modifiers.negates != [0; 2] {
        let [low, high] = modifiers.negates.map(list);
        let _ = write!(text, " neg_lo:[{low}] neg_hi:[{high}]");
    }
    if modifiers.clamps {
        text += " clamp";
    }
    assemble(machine.level, machine.wave, &text).map_err(|error| error.to_string())
}

/// Returns a half of a register.
fn half(register: u32, is_high: bool) -> u32 {
    if is_high { register >> 16 } else { register & 0xffff }
}

/// Returns the result of one half.
fn half_result(operation: &Operation, sources: [u32; 3], part: usize, modifiers: Modifiers, env: Env) -> u32 {
    let mut operands = [0; 3];
    for (index, kind) in operation.sources.iter().enumerate() {
        let chosen = half(sources[index], modifiers.halves[part] >> index & 1 != 0);
        let sign = if *kind == 'h' { (modifiers.negates[part] >> index & 1) << 15 } else { 0 };
        let value = i128::from(chosen ^ sign);
        let number = if is_signed(*kind) && value >> 15 != 0 { value - (1 << 16) } else { value };
        operands[index] = without_denormal(*kind, number, env, 4);
    }
    finished(operation.result, (operation.function)(operands, env), env, modifiers.clamps).0 as u32
}

/// Returns the fused sum of a product, whose operands are halves or words of registers.
fn mixed(sources: [u32; 3], modifiers: Modifiers, env: Env) -> u32 {
    let operand = |index: usize| -> Single {
        if modifiers.halves[1] >> index & 1 != 0 {
            let chosen = half(sources[index], modifiers.halves[0] >> index & 1 != 0);
            let value: Half = float(chosen.into());
            return value.convert(&mut false).value;
        }
        let value = float(sources[index].into());
        if env.float_mode & 0x10 == 0 { flushed(value) } else { value }
    };
    let sum = operand(0).mul_add_r(operand(1), operand(2), round32(env)).value;
    let sum = if env.float_mode & 0x20 == 0 { flushed(sum) } else { sum };
    bits(sum) as u32
}

/// Returns a register of a lane, as the model has it.
fn result(operation: &Operation, name: &str, sources: [u32; 3], modifiers: Modifiers, env: Env) -> u32 {
    if name == "v_fma_mix_f32" {
        return mixed(sources, modifiers, env);
    }
    if width(operation.result) == 16 {
        let [low, high] = [0, 1].map(|part| half_result(operation, sources, part, modifiers, env));
        return low | high << 16;
    }
    // Dot products choose halves of the first two sources alone.
    let word = |index: usize| {
        let [low, high] = modifiers.halves.map(|mask| half(sources[index], mask >> index & 1 != 0));
        i128::from(low | high << 16)
    };
    let added = if is_signed(operation.sources[2]) { i128::from(sources[2] as i32) } else { sources[2].into() };
    let exact = (operation.function)([word(0), word(1), added], env);
    finished(operation.result, exact, env, modifiers.clamps).0 as u32
}

/// Returns `true` if two registers are the same, but for the bits of NaNs.
fn is_same(kind: char, name: &str, found: u32, expected: u32) -> bool {
    let is_nan = |half: u32| half & 0x7fff > 0x7c00;
    let same_half = |found: u32, expected: u32| found == expected || kind == 'h' && is_nan(found) && is_nan(expected);
    let are_nans = f32::from_bits(found).is_nan() && f32::from_bits(expected).is_nan();
    name == "v_fma_mix_f32" && are_nans
        || same_half(found & 0xffff, expected & 0xffff) && same_half(found >> 16, expected >> 16)
}

/// Compares an operation in some modes; fails with the first difference.
fn compare(machine: &Machine, opcode: &Opcode, operation: &Operation) -> Result<(), String> {
    let (is_float, is_mixed) = (operation.is_float(), opcode.name() == "v_fma_mix_f32");
    let modes = if is_float { &MODES[..] } else { &MODES[..1] };
    let fits = |variant: &Modifiers| match variant {
        Modifiers { clamps: true, .. } => {
            !is_float && ["add", "sub", "mad", "dot"].iter().any(|stem| opcode.name().contains(stem))
        }
        Modifiers { negates, .. } => *negates == [0; 2] || is_float && !is_mixed,
    };
    for (index, float_mode) in modes.iter().copied().enumerate() {
        let env = Env::new(float_mode);
        for modifiers in VARIANTS.into_iter().filter(fits) {
            let instruction = case(machine, opcode, modifiers, is_float)?;
            let before = Random(u64::from(opcode.number) << 16 | index as u64).state(machine.wave, 2);
            let mut expected = before.clone();
            for lane in (0..64).filter(|lane| before.exec >> lane & 1 != 0) {
                let sources = [0, 2, 4].map(|register| before.vectors[register][lane]);
                expected.vectors[6][lane] = result(operation, opcode.name(), sources, modifiers, env);
            }
            let found = machine.run(&instruction, Env::new(float_mode), &before)?;
            let place = format!("{} {:?} {instruction}, mode {float_mode:#x}", machine.level, machine.wave);
            for lane in 0..machine.wave.lanes() as usize {
                let [found, wanted] = [&found, &expected].map(|state| state.vectors[6][lane]);
                if !is_same(operation.result, opcode.name(), found, wanted) {
                    let [a, b, c] = [0, 2, 4].map(|register| before.vectors[register][lane]);
                    return Err(format!("{place}: {a:#x} {b:#x} {c:#x} give {found:#x} instead of {wanted:#x}"));
                }
            }
            let others = |state: &State| State { vectors: [[0; 64]; 8], ..state.clone() };
            if others(&found) != others(&expected) {
                return Err(format!("{place} changes scalar registers"));
            }
        }
    }
    Ok(())
}

/// Returns the operation of one half, or the whole operation.
fn operation<'t>(table: &'t Table, name: &str) -> Option<&'t Operation> {
    match name.strip_prefix("v_pk_") {
        Some(rest) => table.get(&format!("v_{rest}")),
        None if name == "v_fma_mix_f32" => table.get("v_fma_f32"),
        None => table.get(name),
    }
}

#[test]
fn packed_operations_give_what_the_model_gives() {
    let table = model();
    let (mut total, mut compared, mut faults) = (0, 0, Vec::new());
    for (level, wave) in places() {
        let machine = Machine::new(level, wave);
        for opcode in isa_table(level).opcodes().iter().filter(|opcode| opcode.format == Format::Vop3p) {
            let is_first_wave = wave == WaveSize::Wave64;
            total += usize::from(is_first_wave);
            if NOT_COMPARED.iter().any(|(_, stems)| stems.iter().any(|stem| opcode.name().starts_with(stem))) {
                continue;
            }
            let operation = operation(&table, opcode.name()).ok_or_else(|| "there is no model".to_owned());
            match operation.and_then(|operation| compare(&machine, opcode, operation)) {
                Ok(()) => compared += usize::from(is_first_wave),
                Err(why) => faults.push(format!("{}: {why}", opcode.name())),
            }
            assert!(faults.len() < MOST_FAULTS, "{}", faults.join("\n"));
        }
    }
    println!("{compared} of {total} packed operations compared");
    for (why, stems) in NOT_COMPARED {
        println!("not compared: {}, because {why}", stems.join(", "));
    }
    assert!(faults.is_empty(), "{} operations differ:\n{}", faults.len(), faults.join("\n"));
    assert!(compared >= COMPARED, "{compared} operations are compared, which were {COMPARED}");
}
