//! Scalar operations on the interpreter and on the model.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Format, Instruction, Opcode, OperandKind, WaveSize, assemble, table as isa_table};

use super::{
    machine::{Machine, State},
    results::{finished, without_denormal},
    scalar::{Input, Operation, Scalars},
    table::{Env, is_signed, width},
    values::Random,
    vector_tests::{MODES, MOST_FAULTS, places},
};

/// The literal of instructions that have one.
const LITERAL: u32 = 0x3fc0_3e40;

/// Stems of scalar operations that are not compared, with the reason.
const NOT_COMPARED: [(&str, &[&str]); 5] = [
    (
        "it jumps: `tests/rules` has what is executed",
        &["s_getpc", "s_setpc", "s_swappc", "s_call", "s_rfe", "s_cbranch", "s_subvector"],
    ),
    ("it accesses registers by numbers that it computes: `tests/rules` has these", &["s_movrel", "s_set_gpr_idx"]),
    ("it accesses registers of the hardware: `tests/rules` has these", &["s_setreg", "s_getreg", "s_setvskip"]),
    ("it is a named barrier or a message", &["s_barrier", "s_sendmsg", "s_wakeup_barrier", "s_get_barrier"]),
    ("it is a hint", &["s_alloc_vgpr", "s_prefetch"]),
];

/// Draws of registers for each operation and mode.
const CASES: usize = 24;

/// Operations that must be compared, of all generations together.
const COMPARED: usize = 1247;

/// A source of a scalar instruction.
enum Source {
    /// A pair of scalar registers, from `s8` on.
    Register(usize),
    Constant(u32),
}

/// Returns an instruction of the operation with its sources.
fn case(level: GfxLevel, wave: WaveSize, opcode: &Opcode, constant: u16) -> Result<(Instruction, Vec<Source>), String> {
    let (mut texts, mut sources) = (Vec::new(), Vec::new());
    let register = |pair: usize, dwords: u8| {
        let first = 8 + 2 * pair;
        if dwords == 2 { format!("s[{first}:{}]", first + 1) } else { format!("s{first}") }
    };
    let moves = matches!(opcode.name(), "s_movk_i32" | "s_cmovk_i32");
    for operand in opcode.operands {
        let (text, source) = match operand.kind {
            OperandKind::Sdst if opcode.format == Format::Sopk && !moves => (2, Some(Source::Register(2))),
            OperandKind::Sdst => (2, None),
            OperandKind::Ssrc0 => (0, Some(Source::Register(0))),
            OperandKind::Ssrc1 => (1, Some(Source::Register(1))),
            OperandKind::Simm16 | OperandKind::Simm16Decimal => {
                texts.push(format!("{constant:#x}"));
                sources.push(Source::Constant(i32::from(constant.cast_signed()).cast_unsigned()));
                continue;
            }
            OperandKind::Literal => {
                texts.push(format!("{LITERAL:#x}"));
                sources.push(Source::Constant(LITERAL));
                continue;
            }
            other => return Err(format!("the operand {other:?}")),
        };
        texts.push(register(text, operand.dwords));
        sources.extend(source);
    }
    let text = format!("{} {}", opcode.name(), texts.join(", "));
    let instruction = assemble(level, wave, &text).map_err(|error| error.to_string())?;
    Ok((instruction, sources))
}

/// Returns the state after an instruction, as the model has it.
fn expected(operation: &Operation, sources: &[Source], before: &State, float_mode: u32) -> State {
    let env = Env::new(float_mode);
    let typed = |kind: char, raw: u64| {
        let bits = width(kind);
        let cut = i128::from(raw) & ((1 << bits) - 1);
        let number = if is_signed(kind) && cut >> (bits - 1) != 0 { cut - (1 << bits) } else { cut };
        without_denormal(kind, number, env, 4)
    };
    // The third operand is a third source, or the destination's old value.
    let mut operands = [0, 0, typed(operation.types[2], before.pair(2))];
    for (index, source) in sources.iter().enumerate() {
        let raw = match source {
            Source::Register(pair) => before.pair(*pair),
            Source::Constant(value) => (*value).into(),
        };
        let kind = if index == 2 { operation.types[2] } else { operation.types[index] };
        operands[index] = typed(kind, raw);
    }
    let output = (operation.function)(Input { operands, scc: before.scc, exec: before.exec, env });
    let mut after = before.clone();
    if let Some(value) = output.value {
        let kind = operation.types[2];
        let (value, _) = finished(kind, value, env, false);
        let old = if width(kind) == 64 { 0 } else { before.pair(2) & !0xffff_ffff };
        after.set_pair(2, old | value);
    }
    after.scc = output.scc.unwrap_or(before.scc);
    after.exec = output.exec.unwrap_or(before.exec);
    after
}

/// Returns `true` if the states are the same, but for the bits of a NaN.
fn is_same(kind: char, found: &State, expected: &State) -> bool {
    let (mut found, value) = (found.clone(), expected.pair(2));
    let is_nan = |value: u64| match kind {
        'f' => f32::from_bits(value as u32).is_nan(),
        'h' => value & 0x7fff > 0x7c00,
        _ => false,
    };
    if is_nan(value) && is_nan(found.pair(2)) {
        found.set_pair(2, value);
    }
    found == *expected
}

/// Compares an operation in some modes; fails with the first difference.
fn compare(machine: &Machine, opcode: &Opcode, operation: &Operation) -> Result<(), String> {
    let is_float = operation.types.iter().any(|kind| matches!(kind, 'f' | 'h'));
    let modes = if is_float || opcode.name().contains("cvt") { &MODES[..] } else { &MODES[..1] };
    for float_mode in modes.iter().copied() {
        let mut random = Random(u64::from(opcode.number) << 16 | u64::from(float_mode));
        for _ in 0..CASES {
            let before = random.state(machine.wave, 2);
            let (instruction, sources) = case(machine.level, machine.wave, opcode, random.next() as u16)?;
            let expected = expected(operation, &sources, &before, float_mode);
            let found = machine.run(&instruction, Env::new(float_mode), &before)?;
            if !is_same(operation.types[2], &found, &expected) {
                let shown = |state: &State| {
                    let State { scalars, exec, scc, .. } = state;
                    format!("{:x?}, EXEC {exec:#x}, SCC {scc}", &scalars[..6])
                };
                let (before, found, expected) = (shown(&before), shown(&found), shown(&expected));
                let place = format!("{} {:?} {instruction}, mode {float_mode:#x}", machine.level, machine.wave);
                return Err(format!("{place}:\n  {before} gives\n  {found} instead of\n  {expected}"));
            }
        }
    }
    Ok(())
}

#[test]
fn scalar_operations_give_what_the_model_gives() {
    let model = Scalars::new();
    let (mut total, mut compared, mut faults) = (0, 0, Vec::new());
    for (level, wave) in places() {
        let machine = Machine::new(level, wave);
        let is_scalar =
            |opcode: &&Opcode| matches!(opcode.format, Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk);
        for opcode in isa_table(level).opcodes().iter().filter(is_scalar) {
            let is_first_wave = wave == WaveSize::Wave64;
            total += usize::from(is_first_wave);
            if NOT_COMPARED.iter().any(|(_, stems)| stems.iter().any(|stem| opcode.name().starts_with(stem))) {
                continue;
            }
            let operation = model.get(opcode.name()).ok_or_else(|| "there is no model".to_owned());
            match operation.and_then(|operation| compare(&machine, opcode, operation)) {
                Ok(()) => compared += usize::from(is_first_wave),
                Err(why) => faults.push(format!("{}: {why}", opcode.name())),
            }
            assert!(faults.len() < MOST_FAULTS, "{}", faults.join("\n"));
        }
    }
    println!("{compared} of {total} scalar operations compared");
    for (why, stems) in NOT_COMPARED {
        println!("not compared: {}, because {why}", stems.join(", "));
    }
    assert!(faults.is_empty(), "{} operations differ:\n{}", faults.len(), faults.join("\n"));
    assert!(compared >= COMPARED, "{compared} operations are compared, which were {COMPARED}");
}
