//! Vector instructions: their text, and the state that the model leaves.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Format, Instruction, Opcode, OperandKind, WaveSize, assemble};
use rustc_apfloat::ieee::{Double, Half};

use super::{
    float::{bits, float},
    forms::{Constant, Form},
    machine::State,
    results::{finished, is_zero, modified, without_denormal},
    table::{Env, Operation, Table, Tolerance, is_signed, sign_bit, width},
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
    Constant(Constant),
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
    form: Form,
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
    /// Returns an instruction of the operation in a form, or the reason why there is none. `types` are those of the sources and of the
    /// result.
    pub(crate) fn new(
        level: GfxLevel,
        wave: WaveSize,
        opcode: &Opcode,
        operation: Option<&Operation>,
        form: Form,
    ) -> Result<Self, String> {
        let (mut texts, mut sources, mut mask) = (Vec::new(), Vec::new(), None);
        let is_long = opcode.format == Format::Vop3;
        let writes_exec_alone = opcode.name().starts_with("v_cmpx") && level >= GfxLevel::Gfx10;
        let is_scalar = opcode.name().starts_with("v_s_");
        let is_narrow = |index: usize| {
            let kind = operation.and_then(|operation| operation.sources.get(index).copied());
            kind.is_some_and(|kind| width(kind) == 16)
        };
        let is_narrow_result = operation.is_some_and(|operation| width(operation.result) == 16);
        // Halves of the first 128 registers have numbers of their own.
        let names_halves = !is_long && level >= GfxLevel::Gfx11;
        let half = |pair: usize, bit: u32, is_narrow: bool| {
            let high = names_halves && is_narrow && form.highs >> bit & 1 != 0;
            (2 + 2 * pair + if high { 128 } else { 0 }, if form.highs >> bit & 1 != 0 { "h" } else { "l" })
        };
        for operand in opcode.operands {
            let dwords = operand.dwords;
            let lanes = wave.mask_dwords();
            let mut register = |pair: usize| {
                let index = sources.len();
                if let Some(constant) = form.first.filter(|_| index == 0) {
                    sources.push(Source::Constant(constant));
                    return form.source(0, &constant.text(dwords));
                }
                sources.push(Source::Vector(pair));
                let text = match dwords {
                    2 => vector(pair, 2),
                    _ => format!("v{}", half(pair, index as u32, is_narrow(index)).0),
                };
                form.source(index, &text)
            };
            texts.push(match operand.kind {
                OperandKind::Vdst if dwords == 2 => vector(DESTINATION, 2),
                OperandKind::Vdst => format!("v{}", half(DESTINATION, 3, is_narrow_result).0),
                OperandKind::Vdst16 => format!("{}.{}", vector(DESTINATION, 1), half(DESTINATION, 3, true).1),
                OperandKind::Src0 => register(0),
                OperandKind::Src016 => {
                    sources.push(Source::Vector(0));
                    format!("{}.{}", vector(0, 1), half(0, 0, true).1)
                }
                OperandKind::Src1 | OperandKind::Vsrc1 => register(1),
                OperandKind::Src2 => register(2),
                OperandKind::Literal => {
                    sources.push(Source::Literal);
                    format!("{LITERAL:#x}")
                }
                OperandKind::MaskSrc2 => {
                    sources.push(Source::Mask);
                    scalar(14, lanes)
                }
                OperandKind::SdstVdst if is_scalar => scalar(12, 1),
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
        let count = sources.iter().filter(|source| matches!(source, Source::Vector(_) | Source::Constant(_))).count();
        let modifiers = form.text(is_long.then_some(count));
        let plain = if is_long { ["_e64", ""] } else { ["_e32", ""] };
        let endings = if form.ending.is_empty() { plain } else { [form.ending; 2] };
        for ending in endings {
            let text = format!("{}{ending} {operands}{modifiers}", opcode.name());
            if let Ok(instruction) = assemble(level, wave, &text)
                && std::ptr::eq(instruction.opcode(), opcode)
            {
                return Ok(Self { instruction, form, sources, mask });
            }
        }
        Err(format!("{} {operands}{modifiers} is not assembled", opcode.name()))
    }

    /// Returns the form.
    pub(crate) fn form(&self) -> &Form {
        &self.form
    }

    /// Returns the key of the operation in the table.
    pub(crate) fn key(opcode: &Opcode) -> String {
        let name = opcode.name();
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

    /// Returns the state after the instruction, as the model has it.
    pub(crate) fn expected(&self, table: &Table, env: Env, before: &State) -> Option<State> {
        let operation = table.get(&Self::key(self.instruction.opcode()))?;
        let mut after = before.clone();
        if self.instruction.name().starts_with("v_s_") {
            let exact = (operation.function)(self.operands(operation, env, before, (0, Some(0))), env);
            let (value, _) = finished(operation.result, exact, env, false);
            after.scalars[4] = modified(operation.result, value, env, &self.form) as u32;
            return Some(after);
        }
        let lanes = self.instruction.wave().lanes();
        let mut mask = 0_u64;
        for lane in (0..lanes as usize).filter(|lane| before.exec >> lane & 1 != 0) {
            let from = match &self.form.selection {
                None => Some(Some(lane)),
                Some(selection) => selection.source(lane, lanes, before.exec),
            };
            let Some(from) = from else { continue };
            let operands = self.operands(operation, env, before, (lane, from));
            let exact = (operation.function)(operands, env);
            let (value, bit) = finished(operation.result, exact, env, self.form.clamps);
            let value = modified(operation.result, value, env, &self.form);
            mask |= u64::from(bit) << lane;
            let [low, high] = [0, 1].map(|half| 2 * DESTINATION + half);
            match width(operation.result) {
                1 => {}
                16 | 32 => {
                    let is_half = width(operation.result) == 16;
                    after.vectors[low][lane] = self.placed(value as u32, before.vectors[low][lane], is_half);
                }
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

    /// Returns the operands of a lane as numbers of their types; floats are bits, denormals replaced as the mode says. The first is
    /// that of lane `from`, or 0.
    fn operands(
        &self,
        operation: &Operation,
        env: Env,
        state: &State,
        (lane, from): (usize, Option<usize>),
    ) -> [i128; 3] {
        let mut operands = [0; 3];
        for (index, kind) in operation.sources.iter().enumerate() {
            // Operations with fewer sources than operands read their destination.
            let source = self.sources.get(index).copied().unwrap_or(Source::Vector(DESTINATION));
            let is_own = index >= self.sources.len();
            let mut raw = match source {
                Source::Vector(_) if index == 0 && from.is_none() => 0,
                Source::Vector(pair) => {
                    let lane = from.filter(|_| index == 0).unwrap_or(lane);
                    u64::from(state.vectors[2 * pair][lane]) | u64::from(state.vectors[2 * pair + 1][lane]) << 32
                }
                Source::Literal => LITERAL.into(),
                Source::Constant(constant) => constant.bits(*kind, state),
                Source::Vcc => state.vcc >> lane & 1,
                Source::Mask => state.pair(3) >> lane & 1,
            };
            let is_register = matches!(source, Source::Vector(_) | Source::Constant(Constant::Register));
            let high = if is_own { 3 } else { index };
            if let Some(parts) = self.form.parts.as_ref().filter(|_| index < 2 && !is_own && is_register) {
                raw = parts.read(index, raw as u32).into();
            } else if is_register && width(*kind) == 16 && self.form.highs >> high & 1 != 0 {
                raw >>= 16;
            }
            let bits = width(*kind);
            let is_class = index == 0 && self.instruction.name().contains("_class_");
            if let Some(sign) = if is_class { Some(bits - 1) } else { sign_bit(*kind) } {
                if self.form.absolutes >> index & 1 != 0 {
                    raw &= !(1 << sign);
                }
                raw ^= u64::from(self.form.negates >> index & 1) << sign;
            }
            let cut = i128::from(raw) & ((1 << bits) - 1);
            let number = if is_signed(*kind) && cut >> (bits - 1) != 0 { cut - (1 << bits) } else { cut };
            operands[index] = without_denormal(*kind, number, env, 4);
        }
        operands
    }

    /// Returns a register after a result, by the rule of the generation for those of 16 bits.
    fn placed(&self, value: u32, old: u32, is_half: bool) -> u32 {
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
        if let Some(parts) = &self.form.parts {
            return parts.placed(value, old);
        }
        if !is_half {
            return value;
        }
        if self.form.highs >> 3 & 1 != 0 {
            return old & 0xffff | value << 16;
        }
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

/// Returns `true` if a register has the value that the model expects, of an operation with this result.
pub(crate) fn matches(operation: &Operation, form: &Form, found: u64, expected: u64) -> bool {
    if found == expected {
        return true;
    }
    // Results in the upper half are compared as those in the lower one.
    if width(operation.result) == 16 && form.highs >> 3 & 1 != 0 {
        let is_kept = found % (1 << 16) == expected % (1 << 16);
        let low = Form { highs: 0, ..form.clone() };
        return is_kept && matches(operation, &low, found >> 16, expected >> 16);
    }
    // An output scale may make +0 of -0.
    if form.scale != 0 && is_zero(operation.result, found) && is_zero(operation.result, expected) {
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
    if !matches!(operation.result, 'f' | 'h' | 'd' | 'b' | 'm') {
        return false;
    }
    if operation.result == 'h' && (found ^ expected) >> 16 != 0 {
        return false;
    }
    let (found, expected) =
        if operation.result == 'h' { (found & 0xffff, expected & 0xffff) } else { (found, expected) };
    let is_next = found.abs_diff(expected) <= 1;
    // What computes a NaN gives the quiet one without payload. Halves are left out: their minimum and maximum give an operand.
    let is_given = match operation.result {
        'f' => found == 0x7fc0_0000,
        'd' => found == 0x7ff8_0000_0000_0000,
        _ => number(found).is_nan(),
    };
    let (found, expected) = (number(found), number(expected));
    let is_near = match operation.tolerance {
        Tolerance::Exact => false,
        Tolerance::Relative(share) => (found - expected).abs() <= share * expected.abs() || is_next,
        Tolerance::Absolute(distance) => (found - expected).abs() <= distance,
    };
    is_near || is_given && expected.is_nan()
}
