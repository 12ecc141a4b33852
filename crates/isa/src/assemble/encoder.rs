//! The fields of an instruction during assembling.

use amdgpu_hw::GfxLevel;

use super::parse;
use crate::{
    Field, Format, Instruction, WaveSize, decode,
    table::{FormatLayout, Opcode, OperandKind, Table},
};

/// The scalar register number of EXEC.
const EXEC: u32 = 0x7e;

/// The operand or modifier that does not fit a candidate.
pub(super) enum Misfit {
    Operand(String),
    Modifier(String),
}

/// The form of encoding that a suffix selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// No suffix.
    Plain,
    Short,
    Long,
    Dpp,
    LongDpp,
    Sdwa,
}

/// The fields of an instruction during assembling.
pub(super) struct Encoder {
    pub(super) level: GfxLevel,
    pub(super) wave: WaveSize,
    pub(super) table: &'static Table,
    pub(super) opcode: &'static Opcode,
    pub(super) layout: &'static FormatLayout,
    pub(super) words: [u32; Instruction::MAX_DWORDS],
    pub(super) extension: Option<(&'static FormatLayout, u32)>,
    pub(super) literal: Option<u32>,
    /// Addresses of MIMG's non-sequential form after the first.
    pub(super) addresses: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(
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

    /// Sets the fields that are non-zero by default.
    pub(super) fn defaults(&mut self) {
        let null = if self.level >= GfxLevel::Gfx11 { 0x7c } else { 0x7d };
        match self.opcode.format {
            Format::Smem if self.level >= GfxLevel::Gfx10 && self.opcode.has(OperandKind::Sbase) => {
                self.set(Field::Soffset, null);
            }
            // The only destination is EXEC.
            Format::Vop3 if self.level >= GfxLevel::Gfx10 && self.opcode.name().starts_with("v_cmpx_") => {
                self.set(Field::Vdst, EXEC);
            }
            Format::Flat if self.level >= GfxLevel::Gfx10 => self.set(Field::Saddr, null),
            Format::Vflat => self.set(Field::Saddr, null),
            Format::Global | Format::Scratch | Format::Vglobal | Format::Vscratch => {
                self.set(Field::Saddr, self.off());
            }
            Format::Mtbuf if self.level < GfxLevel::Gfx10 => self.set(Field::Dfmt, 1),
            Format::Vop3p => {
                let all = if self.opcode.name().contains("_mix") { 0 } else { 7 };
                self.set(Field::OpSelHi, all & 3);
                self.set(Field::OpSelHi2, all >> 2);
            }
            Format::Mtbuf | Format::Vbuffer => self.set(Field::Format, 1),
            _ => {}
        }
    }

    /// Returns the scalar address number that means "none".
    pub(super) fn off(&self) -> u32 {
        match self.level {
            GfxLevel::Gfx9 => 0x7f,
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => 0x7d,
            _ => 0x7c,
        }
    }

    /// Adds the extra dword that the form or the modifiers require.
    pub(super) fn extend(&mut self, form: Form, rest: &str) -> Result<(), Misfit> {
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

    pub(super) fn set(&mut self, field: Field, value: u32) {
        if let Some(layout) = self.layout.field(field) {
            layout.set(&mut self.words, value);
        }
    }

    pub(super) fn get(&self, field: Field) -> u32 {
        self.layout.field(field).map_or(0, |layout| layout.get(&self.words))
    }

    pub(super) fn has(&self, field: Field) -> bool {
        self.layout.field(field).is_some()
    }

    /// Sets a field of the extra dword; returns `false` if it does not have the field.
    pub(super) fn set_extension(&mut self, field: Field, value: u32) -> bool {
        let Some((layout, dword)) = &mut self.extension else { return false };
        let Some(field) = layout.field(field) else { return false };
        let mut words = [*dword];
        field.set(&mut words, value);
        *dword = words[0];
        true
    }

    /// Sets a field; fails if the value has more bits than the field.
    pub(super) fn fit(&mut self, field: Field, value: u32) -> Result<(), Misfit> {
        let Some(layout) = self.layout.field(field) else { return Err(Misfit::Modifier(field.name().to_owned())) };
        if layout.width() < 32 && value >> layout.width() != 0 {
            return Err(Misfit::Operand(format!("{} = {value:#x}", field.name())));
        }
        layout.set(&mut self.words, value);
        Ok(())
    }

    pub(super) fn finish(mut self, rest: &str) -> Result<Instruction, Misfit> {
        if matches!(self.layout.format, Format::Exp | Format::Vexport) {
            self.export(rest)?;
        } else {
            let (operands, modifiers) = parse::split(self.opcode, rest);
            for modifier in &modifiers {
                self.modifier(modifier)?;
            }
            self.operands(&operands)?;
        }
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
