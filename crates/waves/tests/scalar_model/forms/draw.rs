//! Forms at random, within what the encodings of a generation have.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Format, Opcode, OperandKind};

use super::{Constant, Form, Parts, Selection, constants::FLOATS};
use crate::{
    table::{Operation, Tolerance, sign_bit, width},
    values::Random,
};

/// An operation, and the generation that has it.
#[derive(Clone, Copy)]
pub(super) struct Subject<'t> {
    pub(super) level: GfxLevel,
    pub(super) opcode: &'static Opcode,
    pub(super) operation: &'t Operation,
}

impl Subject<'_> {
    fn is_long(self) -> bool {
        self.opcode.format == Format::Vop3
    }

    fn is_compare(self) -> bool {
        self.operation.result == 'c'
    }

    /// Returns `true` if the first source is a float whose bits the model takes for an integer.
    fn is_class(self) -> bool {
        self.opcode.name().contains("_class_")
    }

    /// Returns the sources that have a sign to change, a bit each, of the first `count`.
    fn signs(self, count: usize) -> u8 {
        let kinds = self.operation.sources.iter().take(count).enumerate();
        let has_sign = |(index, kind): (usize, &char)| sign_bit(*kind).is_some() || index == 0 && self.is_class();
        kinds.filter(|source| has_sign(*source)).map(|(index, _)| 1 << index).sum()
    }

    /// Returns the operands of 16 bits, a bit each, with the destination in bit 3.
    fn halves(self) -> u8 {
        let kinds = self.operation.sources.iter().enumerate().filter(|(_, kind)| width(**kind) == 16);
        let sources: u8 = kinds.map(|(index, _)| 1 << index).sum();
        // Operations with an accumulator have one register for both.
        let written = self.opcode.operands.iter().filter(|operand| is_source(operand.kind)).count();
        let sources = sources & ((1 << written) - 1);
        sources | u8::from(width(self.operation.result) == 16) << 3
    }

    /// Returns `true` if an operand has 64 bits.
    fn is_wide(self) -> bool {
        self.operation.sources.iter().chain([&self.operation.result]).any(|kind| width(*kind) == 64)
    }

    fn has_literal(self) -> bool {
        self.opcode.has(OperandKind::Literal)
    }

    /// Returns `true` if an extra dword can select the first source.
    fn is_short(self) -> bool {
        let is_short = matches!(self.opcode.format, Format::Vop1 | Format::Vop2 | Format::Vopc);
        is_short && !self.is_wide() && !self.has_literal()
    }

    /// Returns `true` if DPP can select the lanes of the first source.
    pub(super) fn selects_lanes(self) -> bool {
        let is_long = self.is_long() && self.level >= GfxLevel::Gfx11 && !self.is_wide();
        let is_scalar = self.opcode.name().starts_with("v_s_");
        (self.is_short() && self.level >= GfxLevel::Gfx8 || is_long)
            && !is_scalar
            && !self.opcode.has(OperandKind::Src016)
    }

    /// Returns `true` if SDWA can select parts of the sources.
    pub(super) fn selects_parts(self) -> bool {
        let has_parts = self.level >= GfxLevel::Gfx8 && self.level <= GfxLevel::Gfx10_3;
        // The fused accumulation came when SDWA went.
        self.is_short() && has_parts && !self.opcode.name().starts_with("v_fmac")
    }

    /// Draws modifiers of the result.
    fn draw_result(self, random: &mut Random, form: &mut Form) {
        let bits = random.next();
        if sign_bit(self.operation.result).is_some() && self.operation.result != 'q' {
            form.clamps = bits.is_multiple_of(4);
            form.scale = if self.operation.result == 'm' { 0 } else { (bits >> 8) as u8 & 3 };
        }
    }

    /// Draws a form of VOP3 with modifiers, or a short one with a first source that all lanes share.
    pub(super) fn draw_modifiers(self, random: &mut Random) -> Form {
        let mut form = Form::default();
        let bits = random.next();
        if self.is_long() && !self.opcode.has(OperandKind::Sdst) {
            form.absolutes = self.signs(3) & bits as u8 & self.written(3);
            form.negates = self.signs(3) & (bits >> 8) as u8 & self.written(3);
            self.draw_result(random, &mut form);
        }
        if self.level >= GfxLevel::Gfx11 || self.level >= GfxLevel::Gfx9 && self.is_long() {
            form.highs = self.halves() & (bits >> 16) as u8;
        }
        let first = self.operation.sources.first().copied().unwrap_or('u');
        let is_register = self.opcode.has(OperandKind::Src016);
        if self.opcode.name().starts_with("v_s_") {
            form.first = Some(Constant::Register);
        } else if !is_register && ((bits >> 24).is_multiple_of(4) || !self.is_long()) {
            let has_literal =
                !self.has_literal() && !self.is_class() && (!self.is_long() || self.level >= GfxLevel::Gfx10);
            let floats = FLOATS.len() - usize::from(self.level < GfxLevel::Gfx8);
            form.first = Some(match bits >> 32 & 3 {
                0 => Constant::Register,
                1 => Constant::Integer((bits >> 40) as i8 % 17),
                2 if has_literal => Constant::Literal((bits >> 32) as u32 | 0x100),
                _ => Constant::Float((bits >> 40) as usize % floats),
            });
            // Halves are chosen of registers; short forms name no halves of scalar ones.
            if form.first != Some(Constant::Register) || !self.is_long() || width(first) != 16 {
                form.highs &= !1;
            }
        }
        form
    }

    /// Draws a form with a selection of lanes.
    pub(super) fn draw_lanes(self, random: &mut Random, number: usize) -> Form {
        let selection = Selection::draw(random, self.level, number);
        let mut form = Form { ending: if self.is_long() { "_e64_dpp" } else { "_dpp" }, ..Form::default() };
        let bits = random.next();
        if self.is_long() && !self.opcode.has(OperandKind::Sdst) {
            form.absolutes = self.signs(3) & bits as u8 & self.written(3);
            form.negates = self.signs(3) & (bits >> 8) as u8 & self.written(3);
            self.draw_result(random, &mut form);
        } else if !self.is_long() && !selection.text().contains("dpp8") {
            form.absolutes = self.signs(2) & bits as u8 & self.written(2);
            form.negates = self.signs(2) & (bits >> 8) as u8 & self.written(2);
        }
        if self.level >= GfxLevel::Gfx11 {
            form.highs = self.halves() & (bits >> 16) as u8;
        }
        form.selection = Some(selection);
        form
    }

    /// Returns a bit for each of the first `most` sources that the text has.
    fn written(self, most: usize) -> u8 {
        let count = self.opcode.operands.iter().filter(|operand| is_source(operand.kind)).count();
        (1 << count.min(most)) - 1
    }

    /// Draws a form with selections of parts.
    pub(super) fn draw_parts(self, random: &mut Random) -> Form {
        let bits = random.next();
        let mut form = Form { ending: "_sdwa", ..Form::default() };
        form.absolutes = self.signs(2) & bits as u8 & self.written(2);
        form.negates = self.signs(2) & (bits >> 8) as u8 & self.written(2);
        if self.level >= GfxLevel::Gfx9 && !self.is_compare() {
            self.draw_result(random, &mut form);
        }
        if self.level >= GfxLevel::Gfx9 && (bits >> 16).is_multiple_of(8) {
            form.first = Some(Constant::Register);
        }
        let signs = self.signs(2);
        let is_float = sign_bit(self.operation.result).is_some();
        let is_half = width(self.operation.result) == 16;
        let is_exact = self.operation.tolerance == Tolerance::Exact;
        // Bits of a NaN are not compared, which a part of a float would hide.
        let parts: &[usize] = match (is_float, is_half) {
            (true, true) => &[4],
            (true, false) => &[6],
            (false, true) if self.level >= GfxLevel::Gfx10 => &[0, 1, 2, 3, 4, 5],
            _ if is_exact => &[0, 1, 2, 3, 4, 5, 6],
            _ => &[6],
        };
        let unused = if is_float { [0, 2, 0][bits as usize >> 1 & 1] } else { (bits >> 24) as usize % 3 };
        form.parts = Some(Parts {
            sources: [0, 1].map(|_| random.next() as usize % 7),
            extends: [0, 1].map(|index| signs >> index & 1 == 0 && bits >> (28 + index) & 1 != 0),
            has_second: self.written(2) == 3,
            destination: (!self.is_compare()).then(|| (random.of(parts), unused)),
        });
        form
    }
}

/// Returns `true` if the text of an instruction has a source of this kind.
fn is_source(kind: OperandKind) -> bool {
    matches!(kind, OperandKind::Src0 | OperandKind::Src016 | OperandKind::Src1 | OperandKind::Vsrc1 | OperandKind::Src2)
}
