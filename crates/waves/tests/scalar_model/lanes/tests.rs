//! Operations that move values, on the interpreter and on the model.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, assemble};

use super::{moves, permutes};
use crate::{
    machine::{Machine, State},
    table::Env,
    values::Random,
    vector_tests::places,
};

/// Draws of registers for each operation.
const CASES: u64 = 24;

/// An operation with what its text has at random.
pub(super) struct Case {
    pub(super) level: GfxLevel,
    wave: WaveSize,
    pub(super) name: &'static str,
    /// Bits of op_sel, or a mode.
    pub(super) flags: u32,
    pub(super) offset: u32,
}

impl Case {
    pub(super) fn lanes(&self) -> usize {
        self.wave.lanes() as usize
    }
}

/// The bounds of M0 or of the address of a lane, so that an operation stays among the registers of the state.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    None,
    /// M0 is an index of at most one register.
    Index,
    /// M0 is two indices of at most one register.
    Indices,
    /// `s8` is an index of at most one register.
    Scalar,
}

/// The state after an operation.
type Model = fn(&Case, &State) -> State;

/// Operations: the name, the first and the last generation, the text with `{f}`, `{g}` for flags and `{o}` for an offset, limits.
const OPERATIONS: [(&str, GfxLevel, GfxLevel, &str, Limit, Model); 23] = {
    use GfxLevel::{Gfx6, Gfx8, Gfx9, Gfx10, Gfx11, Gfx11_5, Gfx12};
    use Limit::{Index, Indices, None, Scalar};
    let rows = "{n} v8, v2, s8, s10 op_sel:[{f},{g}]";
    let variable = "{n} v8, v2, v4 op_sel:[{f},{g}]";
    let indexed = "s_set_gpr_idx_on s8, {m}\nv_xor_b32_e32 v8, v2, v4\ns_set_gpr_idx_off";
    [
        ("v_readfirstlane_b32", Gfx6, Gfx12, "{n} s12, v2", None, moves::read_first),
        ("v_readlane_b32", Gfx6, Gfx12, "{n} s12, v2, s8", None, moves::read),
        ("v_writelane_b32", Gfx6, Gfx12, "{n} v8, s10, s8", None, moves::write),
        ("v_swap_b32", Gfx9, Gfx12, "{n} v8, v2", None, moves::swap),
        ("v_swaprel_b32", Gfx10, Gfx12, "{n} v8, v2", Indices, moves::swap_indexed),
        ("v_movrels_b32", Gfx6, Gfx8, "{n} v8, v2", Index, moves::move_indexed),
        ("v_movreld_b32", Gfx6, Gfx8, "{n} v8, v2", Index, moves::move_indexed),
        ("v_movrelsd_b32", Gfx6, Gfx8, "{n} v8, v2", Index, moves::move_indexed),
        ("v_movrels_b32", Gfx10, Gfx12, "{n} v8, v2", Index, moves::move_indexed),
        ("v_movreld_b32", Gfx10, Gfx12, "{n} v8, v2", Index, moves::move_indexed),
        ("v_movrelsd_b32", Gfx10, Gfx12, "{n} v8, v2", Index, moves::move_indexed),
        ("v_movrelsd_2_b32", Gfx10, Gfx12, "{n} v8, v2", Indices, moves::move_indexed),
        ("s_set_gpr_idx_on", Gfx8, Gfx9, indexed, Scalar, moves::index_mode),
        ("v_mbcnt_lo_u32_b32", Gfx6, Gfx12, "{n} v8, v2, v4", None, permutes::count_below),
        ("v_mbcnt_hi_u32_b32", Gfx6, Gfx12, "{n} v8, v2, v4", None, permutes::count_below),
        ("v_permlane16_b32", Gfx10, Gfx12, rows, None, permutes::permute_rows),
        ("v_permlanex16_b32", Gfx10, Gfx12, rows, None, permutes::permute_rows),
        ("v_permlane16_var_b32", Gfx12, Gfx12, variable, None, permutes::permute_rows),
        ("v_permlanex16_var_b32", Gfx12, Gfx12, variable, None, permutes::permute_rows),
        ("v_permlane64_b32", Gfx11, Gfx12, "{n} v8, v2", None, permutes::swap_halves),
        ("ds_swizzle_b32", Gfx6, Gfx11_5, "{n} v8, v2 offset:{o}", None, permutes::swizzle),
        ("ds_permute_b32", Gfx8, Gfx12, "{n} v8, v2, v4 offset:{o}", None, permutes::push),
        ("ds_bpermute_b32", Gfx8, Gfx12, "{n} v8, v2, v4 offset:{o}", None, permutes::pull),
    ]
};

/// Returns the dwords of a case's text.
fn words(case: &Case, text: &str) -> Result<Vec<u32>, String> {
    let text = text
        .replace("{n}", case.name)
        .replace("{f}", &(case.flags & 1).to_string())
        .replace("{g}", &(case.flags >> 1 & 1).to_string())
        .replace("{m}", &format!("{:#x}", case.flags))
        .replace("{o}", &case.offset.to_string());
    let assembled = text.lines().map(|line| match assemble(case.level, case.wave, line) {
        Ok(instruction) => Ok(instruction.dwords().to_vec()),
        Err(error) => Err(error.to_string()),
    });
    Ok(assembled.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Compares an operation; fails with the first difference.
fn compare(machine: &Machine, (name, text): (&'static str, &str), limit: Limit, model: Model) -> Result<(), String> {
    let (level, wave) = (machine.level, machine.wave);
    for number in 0..CASES {
        let mut random = Random(number << 32 | name.len() as u64);
        let mut before = random.state(wave, [2, 2, 0, 1][number as usize % 4]);
        let bits = random.next();
        match limit {
            Limit::Index => before.m0 = bits as u32 & 1,
            Limit::Indices => before.m0 = bits as u32 & 0x1_0001,
            Limit::Scalar => before.scalars[0] = bits as u32 & 0xffff_ff01,
            Limit::None => {}
        }
        let (mode, least) = if limit == Limit::Scalar { (11, 1) } else { (3, 0) };
        // Patterns have masks, name four lanes, rotate, or transform.
        let offset = match ((bits >> 16) as u32, name) {
            (bits, "ds_swizzle_b32") => bits & 0x1fff | [0, 0x8000, 0xc000, 0xe000][number as usize / 4 % 4],
            (bits, _) => bits & 0xff,
        };
        // The reversal of bits is not defined up to GFX8.
        let offset = if level <= GfxLevel::Gfx8 { offset & 0xdfff } else { offset };
        let case = Case { level, wave, name, flags: (bits >> 8) as u32 & mode | least, offset };
        let expected = model(&case, &before);
        let found = machine.run_words(&words(&case, text)?, Env::new(0xc0), &before)?;
        if found != seen(&before, &expected) {
            let lane = (0..64)
                .find(|lane| [0, 6, 7].iter().any(|at| found.vectors[*at][*lane] != expected.vectors[*at][*lane]));
            let of = |state: &State| lane.map(|lane| [0, 6, 7].map(|at| state.vectors[at][lane]));
            let (flags, offset) = (case.flags, case.offset);
            let place = format!("{level} {wave:?} {name}, flags {flags}, offset {offset:#x}, EXEC {:#x}", before.exec);
            let (found, expected) =
                ((of(&found), found.scalars, found.m0), (of(&expected), expected.scalars, expected.m0));
            return Err(format!("{place}: lane {lane:?} has {found:x?} instead of {expected:x?}"));
        }
    }
    Ok(())
}

/// Returns a state with the registers that the machine stores, `v2`, `v8` and `v9`, and the others as they were.
fn seen(before: &State, after: &State) -> State {
    let mut seen = after.clone();
    for register in [1, 2, 3, 4, 5] {
        seen.vectors[register] = before.vectors[register];
    }
    seen
}

#[test]
fn values_move_between_lanes_and_registers_as_in_the_model() {
    let mut faults = Vec::new();
    let mut compared = 0;
    for (level, wave) in places() {
        let machine = Machine::new(level, wave);
        let exist = |from: GfxLevel, to: GfxLevel| (from..=to).contains(&level);
        for (name, _, _, text, limit, model) in OPERATIONS.into_iter().filter(|(_, from, to, ..)| exist(*from, *to)) {
            compared += usize::from(wave == WaveSize::Wave64);
            if let Err(why) = compare(&machine, (name, text), limit, model) {
                faults.push(format!("{name}: {why}"));
            }
        }
    }
    println!("{compared} operations that move values compared");
    assert!(faults.is_empty(), "{} operations differ:\n{}", faults.len(), faults.join("\n"));
}
