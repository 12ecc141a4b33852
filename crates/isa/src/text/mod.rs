//! The assembler text of an instruction, as LLVM prints it.

mod buffer_format;
mod export;
mod message;
mod modifier;
mod operand;
mod register;
mod special;

use std::fmt;

use amdgpu_hw::GfxLevel;

use crate::{Format, Instruction, Op, OperandKind, table::table};
use operand::Operands;

pub(crate) use buffer_format::parse as parse_buffer_format;
pub(crate) use export::{MODIFIERS as EXPORT_MODIFIERS, target_number};
pub(crate) use message::parse as message_number;
pub(crate) use modifier::{DIMENSIONS, HINTS};
pub(crate) use special::{COUNTERS, DELAYS, SKIPS, register_number};

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(second) = self.second {
            return operand::dual(self, second, f);
        }
        f.write_str(self.opcode.name())?;
        f.write_str(suffix(self))?;
        let mut operands = Operands::new(self);
        let mut separator = " ";
        let mut text = String::new();
        for index in 0..self.opcode.operands.len() {
            text.clear();
            operands.write(index, &mut text)?;
            if !text.is_empty() {
                f.write_str(separator)?;
                f.write_str(&text)?;
                separator = ", ";
            }
        }
        if self.opcode.operands.is_empty() {
            return special::without_operands(self, f);
        }
        text.clear();
        modifier::write(self, &mut text)?;
        f.write_str(&text)
    }
}

/// Returns the suffix that distinguishes the encodings of an operation.
fn suffix(instruction: &Instruction) -> &'static str {
    let level = instruction.level;
    let opcode = instruction.opcode;
    if opcode.operands.is_empty() {
        return if opcode.format == Format::Vop3 && level <= GfxLevel::Gfx7 { "_e64" } else { "" };
    }
    if opcode.op == Op::VMovB16 && opcode.format == Format::Vop1 {
        return "_e32";
    }
    let extension = instruction.extension.map(|extension| extension.format);
    match opcode.format {
        Format::Vop1 | Format::Vop2 | Format::Vopc => {
            let has_long = has_long_form(instruction);
            match extension {
                Some(Format::Sdwa) if opcode.format == Format::Vopc => "",
                Some(Format::Sdwa | Format::Sdwab) => "_sdwa",
                Some(_) if opcode.format == Format::Vopc && level >= GfxLevel::Gfx11 => "",
                Some(_) => "_dpp",
                None if has_long => "_e32",
                None => "",
            }
        }
        Format::Vop3 => {
            let short = has_short_form(instruction);
            match (short || level >= GfxLevel::Gfx11 && extension.is_some(), extension.is_some()) {
                (true, false) => "_e64",
                (true, true) => "_e64_dpp",
                (false, _) => "",
            }
        }
        Format::Vop3p if extension.is_some() => "_e64_dpp",
        Format::Vintrp if opcode.has(OperandKind::Attribute) && level >= GfxLevel::Gfx8 => "_e32",
        _ => "",
    }
}

/// Returns `true` if a VOP1, VOP2 or VOPC operation has a VOP3 form.
fn has_long_form(instruction: &Instruction) -> bool {
    let opcode = instruction.opcode;
    if opcode.has(OperandKind::Literal) {
        return false;
    }
    let table = table(instruction.level);
    table.opcodes().iter().any(|other| other.format == Format::Vop3 && other.op == opcode.op)
}

/// Returns `true` if a VOP3 operation has a VOP1, VOP2 or VOPC form.
fn has_short_form(instruction: &Instruction) -> bool {
    let opcode = instruction.opcode;
    let table = table(instruction.level);
    table.opcodes().iter().any(|other| {
        matches!(other.format, Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vintrp) && other.op == opcode.op
    })
}
