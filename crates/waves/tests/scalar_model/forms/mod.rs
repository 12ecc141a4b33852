//! Forms of vector instructions: modifiers of operands and results, and selections of lanes (DPP) and of parts of registers (SDWA).

mod constants;
mod draw;
mod parts;
mod selection;
mod tests;

use std::fmt::Write as _;

use amdgpu_isa::Opcode;

pub(crate) use constants::Constant;
pub(crate) use parts::Parts;
pub(crate) use selection::Selection;

/// The form of an instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    /// The encoding that the name's ending asks for; empty for any.
    pub(crate) ending: &'static str,
    /// Sources whose sign is removed, a bit each.
    pub(crate) absolutes: u8,
    /// Sources whose sign is changed, after that.
    pub(crate) negates: u8,
    /// Sources of 16 bits that are upper halves, and in bit 3 the destination.
    pub(crate) highs: u8,
    pub(crate) clamps: bool,
    /// The output scale: 1 for 2, 2 for 4, 3 for 1/2.
    pub(crate) scale: u8,
    /// The first source, if it is no vector register.
    pub(crate) first: Option<Constant>,
    pub(crate) selection: Option<Selection>,
    pub(crate) parts: Option<Parts>,
}

impl Form {
    /// Returns the form of an operation without modifiers: functions of scalar registers have one of those as operand.
    pub(crate) fn of(opcode: &Opcode) -> Self {
        Self { first: opcode.name().starts_with("v_s_").then_some(Constant::Register), ..Self::default() }
    }

    /// Returns a form that saturates.
    pub(crate) fn clamped() -> Self {
        Self { clamps: true, ..Self::default() }
    }

    /// Returns the text of a source with its modifiers.
    pub(crate) fn source(&self, index: usize, text: &str) -> String {
        let bit = |mask: u8| mask >> index & 1 != 0;
        if self.parts.as_ref().is_some_and(|parts| index < 2 && parts.extends[index]) {
            return format!("sext({text})");
        }
        match (bit(self.negates), bit(self.absolutes)) {
            (false, false) => text.to_owned(),
            (false, true) => format!("|{text}|"),
            (true, false) => format!("neg({text})"),
            (true, true) => format!("-|{text}|"),
        }
    }

    /// Returns the text behind the operands. `halves` is the number of sources whose halves op_sel names; `None` where registers
    /// have names for their halves.
    pub(crate) fn text(&self, halves: Option<usize>) -> String {
        let mut text = String::new();
        if let Some(count) = halves.filter(|_| self.highs != 0) {
            let bits = (0..count).map(|index| self.highs >> index & 1).chain([self.highs >> 3]);
            let bits: Vec<_> = bits.map(|bit| bit.to_string()).collect();
            let _ = write!(text, " op_sel:[{}]", bits.join(","));
        }
        if self.clamps {
            text += " clamp";
        }
        text += ["", " mul:2", " mul:4", " div:2"][usize::from(self.scale)];
        if let Some(parts) = &self.parts {
            text += &parts.text();
        }
        if let Some(selection) = &self.selection {
            text += &selection.text();
        }
        text
    }
}
