//! Encoding an instruction from its text.
//!
//! The reverse of the text module: the name and its suffix choose the operations that may be meant, the modifiers and
//! operands set fields, and the first operation whose operands all fit is the answer.

mod dual;
mod modifier;
mod operand;
mod parse;
mod special;

use amdgpu_hw::GfxLevel;

use crate::{
    Field, Format, Instruction, WaveSize, decode,
    table::{FormatLayout, Opcode, OperandKind, Table, table},
};

/// A reason why a text is no instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// No operation of the generation has the name and suffix.
    #[error("{level} has no operation `{name}`")]
    UnknownName {
        /// The generation.
        level: GfxLevel,
        /// The name.
        name: String,
    },
    /// An operand is missing, superfluous, or not possible in its place.
    #[error("`{text}`: {operand} does not fit")]
    Operand {
        /// The whole text.
        text: String,
        /// The operand, or what is missing.
        operand: String,
    },
    /// A modifier is unknown to the operation.
    #[error("`{text}`: modifier {modifier} does not fit")]
    Modifier {
        /// The whole text.
        text: String,
        /// The modifier.
        modifier: String,
    },
}

/// The operand or modifier that stopped one attempt.
enum Misfit {
    Operand(String),
    Modifier(String),
}

/// The form of encoding that a suffix asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// No suffix.
    Plain,
    Short,
    Long,
    Dpp,
    LongDpp,
    Sdwa,
}

/// Encodes one line of assembler text, in the form that [`Instruction`]'s `Display` prints.
///
/// # Errors
///
/// [`AssembleError`] names the operation, operand or modifier that does not fit.
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
        for opcode in table.opcodes().iter().filter(|opcode| opcode.name == name && fits(opcode, form)) {
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

/// Returns the names and forms a mnemonic may stand for.
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

/// The fields of an instruction as they are set.
struct Encoder {
    level: GfxLevel,
    wave: WaveSize,
    table: &'static Table,
    opcode: &'static Opcode,
    layout: &'static FormatLayout,
    words: [u32; Instruction::MAX_DWORDS],
    extension: Option<(&'static FormatLayout, u32)>,
    literal: Option<u32>,
    /// Addresses of MIMG's non-sequential form after the first.
    addresses: Vec<u8>,
}

impl Encoder {
    fn new(
        level: GfxLevel,
        wave: WaveSize,
        table: &'static Table,
        opcode: &'static Opcode,
        form: Form,
        rest: &str,
    ) -> Result<Self, Misfit> {
        let carrier = match opcode.format {
            Format::Global | Format::Scratch => Format::Flat,
            Format::Vop3 if opcode.has(OperandKind::Sdst) => Format::Vop3Sdst,
            format => format,
        };
        let layout = table.format(carrier).ok_or_else(|| Misfit::Operand(carrier.name().to_owned()))?;
        let mut encoder = Self {
            level,
            wave,
            table,
            opcode,
            layout,
            words: [0; Instruction::MAX_DWORDS],
            extension: None,
            literal: None,
            addresses: Vec::new(),
        };
        encoder.layout.identify(&mut encoder.words);
        encoder.set(Field::Op, u32::from(opcode.number));
        match opcode.format {
            Format::Scratch => encoder.set(Field::Seg, 1),
            Format::Global => encoder.set(Field::Seg, 2),
            _ => {}
        }
        encoder.defaults();
        encoder.extend(form, rest)?;
        Ok(encoder)
    }

    /// Sets the fields that are not zero when nothing is said of them.
    fn defaults(&mut self) {
        let null = if self.level >= GfxLevel::Gfx11 { 0x7c } else { 0x7d };
        match self.opcode.format {
            Format::Smem if self.level >= GfxLevel::Gfx10 => self.set(Field::Soffset, null),
            Format::Flat if self.level >= GfxLevel::Gfx10 => self.set(Field::Saddr, null),
            Format::Vflat => self.set(Field::Saddr, null),
            Format::Global | Format::Scratch | Format::Vglobal | Format::Vscratch => {
                self.set(Field::Saddr, self.off());
            }
            Format::Mtbuf if self.level < GfxLevel::Gfx10 => self.set(Field::Dfmt, 1),
            Format::Vop3p => {
                let all = if self.opcode.name.contains("_mix") { 0 } else { 7 };
                self.set(Field::OpSelHi, all & 3);
                self.set(Field::OpSelHi2, all >> 2);
            }
            Format::Mtbuf | Format::Vbuffer => self.set(Field::Format, 1),
            _ => {}
        }
    }

    /// The scalar address that means "none".
    fn off(&self) -> u32 {
        match self.level {
            GfxLevel::Gfx9 => 0x7f,
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => 0x7d,
            _ => 0x7c,
        }
    }

    /// Adds the extra dword that the form or the modifiers ask for.
    fn extend(&mut self, form: Form, rest: &str) -> Result<(), Misfit> {
        let eight = rest.contains("dpp8:[");
        let sixteen = rest.contains("row_mask:");
        let sdwa = rest.contains("src0_sel:");
        let wanted = match form {
            Form::Sdwa => true,
            Form::Dpp | Form::LongDpp => eight || sixteen,
            _ => eight || sixteen || sdwa,
        };
        if !wanted {
            return if matches!(form, Form::Sdwa | Form::Dpp | Form::LongDpp) {
                Err(Misfit::Modifier("dpp".to_owned()))
            } else {
                Ok(())
            };
        }
        let long = matches!(self.opcode.format, Format::Vop3 | Format::Vop3p);
        if form == Form::Plain && long {
            return Err(Misfit::Modifier("dpp".to_owned()));
        }
        let (format, announced) = if sdwa || form == Form::Sdwa {
            let compares = self.opcode.format == Format::Vopc && self.level >= GfxLevel::Gfx9;
            (if compares { Format::Sdwab } else { Format::Sdwa }, 249)
        } else if eight {
            (Format::Dpp8, 233)
        } else if self.level >= GfxLevel::Gfx10 {
            (Format::Dpp16, 250)
        } else {
            (Format::Dpp, 250)
        };
        let layout = self.table.format(format).ok_or_else(|| Misfit::Modifier(format.name().to_owned()))?;
        if self.layout.field(Field::Src0).is_none() {
            return Err(Misfit::Modifier(format.name().to_owned()));
        }
        self.set(Field::Src0, announced);
        self.extension = Some((layout, 0));
        Ok(())
    }

    fn set(&mut self, field: Field, value: u32) {
        if let Some(layout) = self.layout.field(field) {
            layout.set(&mut self.words, value);
        }
    }

    fn get(&self, field: Field) -> u32 {
        self.layout.field(field).map_or(0, |layout| layout.get(&self.words))
    }

    fn has(&self, field: Field) -> bool {
        self.layout.field(field).is_some()
    }

    /// Sets a field of the extra dword; `false` if it lacks it.
    fn set_extension(&mut self, field: Field, value: u32) -> bool {
        let Some((layout, dword)) = &mut self.extension else { return false };
        let Some(field) = layout.field(field) else { return false };
        let mut words = [*dword];
        field.set(&mut words, value);
        *dword = words[0];
        true
    }

    /// Sets a field, or fails when the value has more bits than it.
    fn fit(&mut self, field: Field, value: u32) -> Result<(), Misfit> {
        let Some(layout) = self.layout.field(field) else { return Err(Misfit::Modifier(field.name().to_owned())) };
        if layout.width() < 32 && value >> layout.width() != 0 {
            return Err(Misfit::Operand(format!("{} = {value:#x}", field.name())));
        }
        layout.set(&mut self.words, value);
        Ok(())
    }

    fn finish(mut self, rest: &str) -> Result<Instruction, Misfit> {
        let (operands, modifiers) = parse::split(self.opcode, rest);
        for modifier in &modifiers {
            self.modifier(modifier)?;
        }
        self.operands(&operands)?;
        let mut len = usize::from(self.layout.bytes) / 4;
        for dword in self.addresses.chunks(4) {
            let mut bytes = [0; 4];
            bytes[..dword.len()].copy_from_slice(dword);
            if len < Instruction::MAX_DWORDS {
                self.words[len] = u32::from_le_bytes(bytes);
            }
            len += 1;
        }
        for dword in self.extension.map(|(_, dword)| dword).into_iter().chain(self.literal) {
            if len < Instruction::MAX_DWORDS {
                self.words[len] = dword;
            }
            len += 1;
        }
        let words = self.words.get(..len).ok_or_else(|| Misfit::Operand("too many addresses".to_owned()))?;
        let decoded = decode(self.level, self.wave, words).map_err(|error| Misfit::Operand(error.to_string()))?;
        if decoded.dwords().len() == len { Ok(decoded) } else { Err(Misfit::Operand("a literal".to_owned())) }
    }
}
