//! Assembling: encoding of instructions from text.
//!
//! This reverses the text module: the name and its suffix select candidate operations, modifiers and operands set fields, and the
//! first candidate whose operands all fit is the result.

mod dual;
mod encoder;
mod error;
mod export;
mod modifier;
mod operand;
mod parse;
mod special;

use amdgpu_hw::GfxLevel;

use crate::{
    Format, Instruction, Op, WaveSize,
    table::{Opcode, table},
};
use encoder::{Encoder, Form, Misfit};

pub use error::AssembleError;

/// Assembles one line of text, in the form that [`Instruction`]'s `Display` prints.
///
/// # Errors
///
/// [`AssembleError`] with the operation, operand or modifier that does not fit.
///
/// ```
/// use amdgpu_hw::GfxLevel;
/// use amdgpu_isa::{WaveSize, assemble};
///
/// let add = assemble(GfxLevel::Gfx9, WaveSize::Wave64, "v_add_f32_e32 v5, v10, v20")?;
/// assert_eq!(add.dwords(), [0x020a_290a]);
/// # Ok::<_, amdgpu_isa::AssembleError>(())
/// ```
pub fn assemble(level: GfxLevel, wave: WaveSize, text: &str) -> Result<Instruction, AssembleError> {
    let text = text.trim();
    if text.contains(" :: ") {
        return dual::assemble(level, wave, text);
    }
    let (mnemonic, rest) = text.split_once(' ').unwrap_or((text, ""));
    let unknown = || AssembleError::UnknownName { level, name: mnemonic.to_owned() };
    let mut first = None;
    let table = table(level);
    for (name, form) in readings(mnemonic) {
        let Some(op) = Op::from_name(name) else { continue };
        for opcode in table.opcodes().iter().filter(|opcode| opcode.op == op && fits(opcode, form)) {
            match Encoder::new(level, wave, table, opcode, form, rest).and_then(|encoder| encoder.finish(rest)) {
                Ok(instruction) => return Ok(instruction),
                Err(misfit) => first = first.or(Some(misfit)),
            }
        }
    }
    let text = text.to_owned();
    Err(match first {
        None => unknown(),
        Some(Misfit::Operand(operand)) => AssembleError::Operand { text, operand },
        Some(Misfit::Modifier(modifier)) => AssembleError::Modifier { text, modifier },
    })
}

/// Returns the names and forms that a mnemonic may mean.
fn readings(mnemonic: &str) -> impl Iterator<Item = (&str, Form)> {
    let suffixes = [
        ("_e64_dpp", Form::LongDpp),
        ("_dpp", Form::Dpp),
        ("_sdwa", Form::Sdwa),
        ("_e32", Form::Short),
        ("_e64", Form::Long),
    ];
    let suffixed = suffixes.into_iter().find_map(|(suffix, form)| Some((mnemonic.strip_suffix(suffix)?, form)));
    suffixed.into_iter().chain([(mnemonic, Form::Plain)])
}

/// Returns `true` if an operation exists in a form.
fn fits(opcode: &Opcode, form: Form) -> bool {
    let short = matches!(opcode.format, Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vintrp);
    let long = matches!(opcode.format, Format::Vop3 | Format::Vop3p);
    match form {
        Form::Plain => true,
        Form::Short | Form::Dpp | Form::Sdwa => short,
        Form::Long | Form::LongDpp => long,
    }
}
