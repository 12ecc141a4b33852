//! Vector operations on the interpreter and on the model.

use std::collections::{BTreeMap, BTreeSet};

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Format, Opcode, WaveSize, table as isa_table};

use super::{
    float,
    forms::Form,
    integer,
    machine::{Machine, State},
    table::{Env, Operation, Table},
    values::Random,
    vector::{Case, matches},
};

/// Values of FLOAT_MODE: RADV's, one that keeps all denormals and one that keeps none, the three other roundings, and two roundings at
/// once: up of 32 bits, and down of 16 and 64 bits.
pub(crate) const MODES: [u32; 7] = [0xc0, 0xf0, 0x00, 0xf5, 0xfa, 0xff, 0xf9];

/// Returns the model of all vector operations.
pub(crate) fn model() -> Table {
    let mut table = Table::default();
    integer::add_to(&mut table);
    float::add_to(&mut table);
    table
}

/// Returns every generation with a wave size that it has.
pub(crate) fn places() -> Vec<(GfxLevel, WaveSize)> {
    let wide = GfxLevel::ALL.into_iter().map(|level| (level, WaveSize::Wave64));
    let narrow = GfxLevel::ALL.into_iter().filter(|level| *level >= GfxLevel::Gfx10);
    wide.chain(narrow.map(|level| (level, WaveSize::Wave32))).collect()
}

/// Returns the vector operations of a generation.
pub(crate) fn vector_operations(level: GfxLevel) -> impl Iterator<Item = &'static Opcode> {
    let is_vector =
        |opcode: &&Opcode| matches!(opcode.format, Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3);
    isa_table(level).opcodes().iter().filter(is_vector)
}

/// Returns the first difference between the state that an instruction leaves and that of the model.
pub(crate) fn difference(
    case: &Case,
    table: &Table,
    before: &State,
    found: &State,
    expected: &State,
) -> Option<String> {
    let operation = table.get(&Case::key(case.instruction.opcode()))?;
    let lanes = case.instruction.wave().lanes() as usize;
    for lane in 0..lanes {
        let register = |state: &State| u64::from(state.vectors[6][lane]) | u64::from(state.vectors[7][lane]) << 32;
        let (found, expected) = (register(found), register(expected));
        let (high_found, high_expected) = (found >> 32, expected >> 32);
        let is_wide = super::table::width(operation.result) == 64;
        let is_same = if is_wide {
            matches(operation, case.form(), found, expected)
        } else {
            high_found == high_expected && matches(operation, case.form(), found & 0xffff_ffff, expected & 0xffff_ffff)
        };
        if !is_same {
            let operands: Vec<_> = before.vectors.iter().map(|register| format!("{:#x}", register[lane])).collect();
            return Some(format!("lane {lane} has {found:#x} instead of {expected:#x} of {}", operands.join(" ")));
        }
    }
    let scalars = |state: &State| State { vectors: [[0; 64]; 8], ..state.clone() };
    let (mut found, expected) = (scalars(found), scalars(expected));
    let [result, wanted] = [found.scalars[4], expected.scalars[4]].map(u64::from);
    if case.instruction.name().starts_with("v_s_") && matches(operation, case.form(), result, wanted) {
        found.scalars[4] = expected.scalars[4];
    }
    (found != expected).then(|| format!("the scalars are {found:x?} instead of {expected:x?}"))
}

/// Vector operations that are not compared, with the reason.
pub(crate) const NOT_COMPARED: [(&str, &[&str]); 10] = [
    ("there is no result", &["v_nop", "v_clrexcp", "v_pipeflush"]),
    (
        "tests of their own compare 8-bit floats",
        &[
            "v_cvt_f32_bf8",
            "v_cvt_f32_fp8",
            "v_cvt_pk_bf8_f32",
            "v_cvt_pk_f32_bf8",
            "v_cvt_pk_f32_fp8",
            "v_cvt_pk_fp8_f32",
            "v_cvt_sr_bf8_f32",
            "v_cvt_sr_fp8_f32",
        ],
    ),
    (
        "it is a step of a division: the module `division` has these",
        &["v_div_fmas_f32", "v_div_fmas_f64", "v_div_scale_f32", "v_div_scale_f64"],
    ),
    (
        "it is a step of a sine, whose result counts only behind the last step: `shaders.rs` has it",
        &["v_trig_preop_f64"],
    ),
    ("hardware rounds the sum of products in an order of its own", &["v_dot2acc_f32_f16", "v_dot2c_f32_f16"]),
    ("a test of its own compares dot products of 16-bit results", &["v_dot2_bf16_bf16", "v_dot2_f16_f16"]),
    (
        "fragment shaders interpolate",
        &["v_interp_mov_f32", "v_interp_p1ll_f16", "v_interp_p1lv_f16", "v_interp_p2_f16", "v_interp_p2_legacy_f16"],
    ),
    ("it is not executed", &["v_mqsad_u32_u8", "v_screen_partition_4se_b32"]),
    ("it is packed: `packed.rs` of `builder` has it", &["v_pk_fmac_f16"]),
    (
        "it moves values between lanes or by register numbers in M0: the module `lanes` has these",
        &[
            "v_mbcnt_hi_u32_b32",
            "v_mbcnt_lo_u32_b32",
            "v_movreld_b32",
            "v_movrels_b32",
            "v_movrelsd_2_b32",
            "v_movrelsd_b32",
            "v_permlane16_b32",
            "v_permlane16_var_b32",
            "v_permlane64_b32",
            "v_permlanex16_b32",
            "v_permlanex16_var_b32",
            "v_readfirstlane_b32",
            "v_readlane_b32",
            "v_swap_b32",
            "v_swaprel_b32",
            "v_writelane_b32",
        ],
    ),
];

/// Differences after which a comparison ends.
pub(crate) const MOST_FAULTS: usize = 3;

/// Operations that must be compared, of all generations together.
const COMPARED: usize = 6291;

/// Compares an operation in some modes; fails with the first difference.
fn compare(machine: &Machine, table: &Table, case: &Case, modes: &[u32]) -> Result<(), String> {
    let number = case.instruction.opcode().number;
    for (index, float_mode) in modes.iter().copied().enumerate() {
        let mut random = Random(u64::from(number) << 16 | index as u64);
        // Only the first mode has the wave of which no lane is on.
        for lanes in [0, 1, 2].into_iter().filter(|lanes| index == 0 || *lanes != 1) {
            let before = random.state(machine.wave, lanes);
            let expected = case.expected(table, Env::new(float_mode), &before).ok_or("there is no model")?;
            let found = machine.run(&case.instruction, Env::new(float_mode), &before)?;
            if let Some(why) = difference(case, table, &before, &found, &expected) {
                let (level, wave) = (machine.level, machine.wave);
                return Err(format!("{level} {wave:?} {} mode {float_mode:#x}: {why}", case.instruction));
            }
        }
    }
    Ok(())
}

/// Returns `true` if an operation on integers saturates with `clamp`.
fn saturates(opcode: &Opcode, level: GfxLevel) -> bool {
    let is_sum = ["v_add_", "v_sub_", "v_subrev_", "v_addc_", "v_subb_", "v_subbrev_"];
    let is_integer = ["u16", "i16", "u32", "i32"].iter().any(|kind| opcode.name().ends_with(kind));
    let is_product = ["v_mad_u16", "v_mad_i16", "v_mad_u32_u24", "v_mad_i32_i24"].contains(&opcode.name());
    let is_listed = is_integer && is_sum.iter().any(|stem| opcode.name().starts_with(stem)) || is_product;
    opcode.format == Format::Vop3 && level >= GfxLevel::Gfx9 && is_listed && !opcode.name().contains("lshl")
}

#[test]
fn vector_operations_give_what_the_model_gives() {
    let table = model();
    let reasons: BTreeMap<&str, &str> =
        NOT_COMPARED.iter().flat_map(|(why, names)| names.iter().map(move |name| (*name, *why))).collect();
    let (mut total, mut compared, mut saturated, mut left_out) = (0, 0, 0, BTreeSet::new());
    let (mut seen, mut faults) = (BTreeSet::new(), Vec::new());
    for (level, wave) in places() {
        let machine = Machine::new(level, wave);
        for opcode in vector_operations(level) {
            let is_first_wave = wave == WaveSize::Wave64;
            total += usize::from(is_first_wave);
            if reasons.contains_key(opcode.name()) {
                left_out.insert(opcode.name());
                continue;
            }
            let key = Case::key(opcode);
            // The modes are the same on all generations. Integers do not depend on them.
            let is_new = table.get(&key).is_some_and(Operation::is_float) && seen.insert((key.clone(), opcode.format));
            let modes = if is_new { &MODES[..] } else { &MODES[..1] };
            let compared_with = |form: Form, modes: &[u32]| {
                let case = Case::new(level, wave, opcode, table.get(&key), form)?;
                compare(&machine, &table, &case, modes)
            };
            let mut result = compared_with(Form::of(opcode), modes);
            if saturates(opcode, level) && result.is_ok() {
                saturated += usize::from(is_first_wave);
                result = compared_with(Form::clamped(), &MODES[..1]);
            }
            match result {
                Ok(()) => compared += usize::from(is_first_wave),
                Err(why) => faults.push(format!("{}: {why}", opcode.name())),
            }
            assert!(faults.len() < MOST_FAULTS, "{}", faults.join("\n"));
        }
    }
    println!("{compared} of {total} vector operations compared, {saturated} of them with saturation, too");
    for (name, why) in reasons.iter().filter(|(name, _)| left_out.contains(*name)) {
        println!("not compared: {name}, {why}");
    }
    let gone: Vec<_> = reasons.keys().filter(|name| !left_out.contains(*name)).collect();
    assert!(gone.is_empty(), "no generation has {gone:?}");
    assert!(faults.is_empty(), "{} operations differ:\n{}", faults.len(), faults.join("\n"));
    assert!(compared >= COMPARED, "{compared} operations are compared, which were {COMPARED}");
}
