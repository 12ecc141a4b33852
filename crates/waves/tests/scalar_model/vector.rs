//! Vector instructions: their text, and the state that the model leaves.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Format, Instruction, Opcode, OperandKind, WaveSize, assemble};
use rustc_apfloat::ieee::{Double, Half, Single};

use super::{
    float::{bits, float, flushed},
    machine::State,
    table::{Env, Operation, Table, Tolerance, is_signed, width},
};

/// The literal of instructions that have one: halves and the whole are floats near 1.
const LITERAL: u32 = 0x3fc0_3e40;
/// The number of the destination among the pairs of vector registers.
const DESTINATION: usize = 3;

/// A source of a vector instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    /// A pair of vector registers.
    Vector(usize),
    Literal,
    /// A lane mask: VCC, or a pair of scalar registers.
    Vcc,
    Mask,
}

/// The place of a lane mask that an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum MaskPlace {
    Vcc,
    Scalar,
}

/// An instruction with its operands.
pub(crate) struct Case {
    pub(crate) instruction: Instruction,
    sources: Vec<Source>,
    mask: Option<MaskPlace>,
}

/// Returns the text of the vector registers of a pair.
fn vector(pair: usize, dwords: u8) -> String {
    let first = 2 + 2 * pair;
    if dwords == 2 { format!("v[{first}:{}]", first + 1) } else { format!("v{first}") }
}

/// Returns the text of scalar registers from `first` on.
fn scalar(first: u32, dwords: u8) -> String {
    if dwords == 2 { format!("s[{first}:{}]", first + 1) } else { format!("s{first}") }
}

impl Case {
    /// Returns an instruction of the operation, or the reason why there is none.
    pub(crate) fn new(level: GfxLevel, wave: WaveSize, opcode: &Opcode, modifiers: &str) -> Result<Self, String> {
        let (mut texts, mut sources, mut mask) = (Vec::new(), Vec::new(), None);
        let writes_exec_alone = opcode.name.starts_with("v_cmpx") && level >= GfxLevel::Gfx10;
        for operand in opcode.operands {
            let dwords = operand.dwords;
            let mut register = |pair: usize, dwords: u8| {
                sources.push(Source::Vector(pair));
                vector(pair, dwords)
            };
            let lanes = wave.mask_dwords();
            texts.push(match operand.kind {
                OperandKind::Vdst => vector(DESTINATION, dwords),
                OperandKind::Vdst16 => format!("{}.l", vector(DESTINATION, 1)),
                OperandKind::Src0 => register(0, dwords),
                OperandKind::Src016 => format!("{}.l", register(0, 1)),
                OperandKind::Src1 | OperandKind::Vsrc1 => register(1, dwords),
                OperandKind::Src2 => register(2, dwords),
                OperandKind::Literal => {
                    sources.push(Source::Literal);
                    format!("{LITERAL:#x}")
                }
                OperandKind::MaskSrc2 => {
                    sources.push(Source::Mask);
                    scalar(14, lanes)
                }
                OperandKind::Vcc => {
                    // The first or second operand is written; VCC behind sources is read.
                    if sources.is_empty() {
                        mask = Some(MaskPlace::Vcc);
                        if writes_exec_alone {
                            continue;
                        }
                    } else {
                        sources.push(Source::Vcc);
                    }
                    if lanes == 2 { "vcc" } else { "vcc_lo" }.to_owned()
                }
                OperandKind::Sdst | OperandKind::SdstVdst => {
                    mask = Some(MaskPlace::Scalar);
                    if writes_exec_alone {
                        continue;
                    }
                    scalar(16, lanes)
                }
                other => return Err(format!("the operand {other:?}")),
            });
        }
        let operands = texts.join(", ");
        let ending = if opcode.format == Format::Vop3 { "_e64" } else { "_e32" };
        for ending in [ending, ""] {
            let text = format!("{}{ending} {operands}{modifiers}", opcode.name);
            if let Ok(instruction) = assemble(level, wave, &text)
                && std::ptr::eq(instruction.opcode(), opcode)
            {
                return Ok(Self { instruction, sources, mask });
            }
        }
        Err(format!("{} {operands}{modifiers} is not assembled", opcode.name))
    }

    /// Returns the key of the operation in the table.
    pub(crate) fn key(opcode: &Opcode) -> String {
        let name = opcode.name;
        let writes_carry = opcode.operands.get(1).is_some_and(|operand| {
            matches!(operand.kind, OperandKind::Vcc | OperandKind::Sdst | OperandKind::SdstVdst)
        });
        let stems = [
            ("v_subbrev", "v_subbrev"),
            ("v_subrev_co_ci", "v_subbrev"),
            ("v_subrev", "v_subrev"),
            ("v_subb", "v_subb"),
            ("v_sub_co_ci", "v_subb"),
            ("v_sub", "v_sub"),
            ("v_addc", "v_addc"),
            ("v_add_co_ci", "v_addc"),
            ("v_add", "v_add"),
        ];
        match stems.iter().find(|(prefix, _)| name.starts_with(prefix)) {
            Some((_, stem)) if writes_carry => format!("{stem}:carry"),
            _ => name.to_owned(),
        }
    }

    /// Returns the state after the instruction, as the model has it. `clamps` saturates integers.
    pub(crate) fn expected(&self, table: &Table, env: Env, before: &State, clamps: bool) -> Option<State> {
        let operation = table.get(&Self::key(self.instruction.opcode()))?;
        let mut after = before.clone();
        let lanes = self.instruction.wave().lanes();
        let mut mask = 0_u64;
        for lane in (0..lanes as usize).filter(|lane| before.exec >> lane & 1 != 0) {
            let operands = self.operands(operation, env, before, lane);
            let exact = (operation.function)(operands, env);
            let (value, bit) = finished(operation.result, exact, env, clamps);
            mask |= u64::from(bit) << lane;
            let [low, high] = [0, 1].map(|half| 2 * DESTINATION + half);
            match width(operation.result) {
                1 => {}
                16 => after.vectors[low][lane] = self.placed(value as u32, before.vectors[low][lane]),
                32 => after.vectors[low][lane] = value as u32,
                _ => {
                    after.vectors[low][lane] = value as u32;
                    after.vectors[high][lane] = (value >> 32) as u32;
                }
            }
        }
        if matches!(operation.result, 'c' | 'k' | 'K') {
            self.write_mask(&mut after, mask);
        }
        Some(after)
    }

    /// Returns the operands of a lane as numbers of their types; floats are bits, denormals replaced as the mode says.
    fn operands(&self, operation: &Operation, env: Env, state: &State, lane: usize) -> [i128; 3] {
        let mut operands = [0; 3];
        for (index, kind) in operation.sources.iter().enumerate() {
            // Operations with fewer sources than operands read their destination.
            let source = self.sources.get(index).copied().unwrap_or(Source::Vector(DESTINATION));
            let raw = match source {
                Source::Vector(pair) => {
                    u64::from(state.vectors[2 * pair][lane]) | u64::from(state.vectors[2 * pair + 1][lane]) << 32
                }
                Source::Literal => LITERAL.into(),
                Source::Vcc => state.vcc >> lane & 1,
                Source::Mask => state.pair(3) >> lane & 1,
            };
            let bits = width(*kind);
            let cut = i128::from(raw) & ((1 << bits) - 1);
            let number = if is_signed(*kind) && cut >> (bits - 1) != 0 { cut - (1 << bits) } else { cut };
            operands[index] = without_denormal(*kind, number, env, 4);
        }
        operands
    }

    /// Returns a register after a result of 16 bits, by the rule of the generation.
    fn placed(&self, value: u32, old: u32) -> u32 {
        let keeping = [
            "v_mad_f16",
            "v_mad_u16",
            "v_mad_i16",
            "v_fma_f16",
            "v_div_fixup_f16",
            "v_mac_f16",
            "v_madak_f16",
            "v_madmk_f16",
        ];
        let keeps = match self.instruction.level() {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => false,
            GfxLevel::Gfx9 => keeping.contains(&self.instruction.name()),
            _ => true,
        };
        if keeps { old & 0xffff_0000 | value } else { value }
    }

    /// Writes a lane mask to where it belongs; in wave32 a mask has one register.
    fn write_mask(&self, after: &mut State, mask: u64) {
        let name = self.instruction.name();
        let is_wide = self.instruction.wave() == WaveSize::Wave64;
        let merged = |old: u64| if is_wide { mask } else { old & !0xffff_ffff | mask };
        let writes_exec = name.starts_with("v_cmpx") || name.starts_with("v_cmpsx");
        if !(writes_exec && self.instruction.level() >= GfxLevel::Gfx10) {
            match self.mask {
                Some(MaskPlace::Vcc) => after.vcc = merged(after.vcc),
                Some(MaskPlace::Scalar) => after.set_pair(4, merged(after.pair(4))),
                None => {}
            }
        }
        if writes_exec {
            after.exec = merged(after.exec);
        }
    }
}

/// Returns a float, with zero in place of a denormal if MODE says so: bit `first` of FLOAT_MODE permits those of 32 bits, and two bits
/// above it those of 16 and 64 bits.
pub(super) fn without_denormal(kind: char, value: i128, env: Env, first: u32) -> i128 {
    let is_kept = |bit: u32| env.float_mode >> bit & 1 != 0;
    match kind {
        'f' if !is_kept(first) => bits(flushed(float::<Single>(value))),
        'h' if !is_kept(first + 2) => bits(flushed(float::<Half>(value))),
        'd' if !is_kept(first + 2) => bits(flushed(float::<Double>(value))),
        _ => value,
    }
}

/// Returns the bits of a result, and the bit that it adds to a mask.
pub(super) fn finished(kind: char, exact: i128, env: Env, clamps: bool) -> (u64, bool) {
    let bits = width(kind);
    let (lowest, highest) =
        if is_signed(kind) { (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1) } else { (0, (1_i128 << bits) - 1) };
    let carry = match kind {
        'c' => exact != 0,
        // A sum has one bit more than its result.
        'k' | 'K' => exact >> bits & 1 != 0,
        _ => false,
    };
    let saturated = if clamps { exact.clamp(lowest, highest) } else { exact };
    let value = without_denormal(kind, saturated, env, 5);
    ((value & ((1 << bits) - 1)) as u64, carry)
}

/// Returns `true` if a register has the value that the model expects, of an operation with this result.
pub(crate) fn matches(operation: &Operation, found: u64, expected: u64) -> bool {
    if found == expected {
        return true;
    }
    let number = |value: u64| match (operation.result, width(operation.result)) {
        ('d', _) => f64::from_bits(value),
        ('h', _) => {
            use rustc_apfloat::FloatConvert as _;
            let wide: Double = float::<Half>(i128::from(value & 0xffff)).convert(&mut false).value;
            f64::from_bits(bits(wide) as u64)
        }
        _ => f32::from_bits(value as u32).into(),
    };
    if !matches!(operation.result, 'f' | 'h' | 'd' | 'b') {
        return false;
    }
    if operation.result == 'h' && (found ^ expected) >> 16 != 0 {
        return false;
    }
    let is_next = found.abs_diff(expected) <= 1;
    let (found, expected) = (number(found), number(expected));
    let is_near = match operation.tolerance {
        Tolerance::Exact => false,
        Tolerance::Relative(share) => (found - expected).abs() <= share * expected.abs() || is_next,
        Tolerance::Absolute(distance) => (found - expected).abs() <= distance,
    };
    is_near || found.is_nan() && expected.is_nan()
}
