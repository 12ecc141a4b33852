//! Operands of an instruction.

use std::fmt::{self, Write};

use amdgpu_hw::GfxLevel;

use super::{buffer_format, register, special};
use crate::{
    Field, Format, Instruction, Opcode, OperandKind, WaveSize,
    table::{Operand, SourceType, Table, image_address_dwords, source_type, table},
};

/// Writes the operands of one instruction.
pub(super) struct Operands<'a> {
    instruction: &'a Instruction,
    table: &'static Table,
}

impl<'a> Operands<'a> {
    pub(super) fn new(instruction: &'a Instruction) -> Self {
        Self { instruction, table: table(instruction.level) }
    }

    fn field(&self, field: Field) -> u32 {
        self.instruction.field(field)
    }

    /// The dwords of a lane mask operand in this wave size.
    fn mask(&self, dwords: u8) -> u8 {
        if dwords == 2 { self.instruction.wave.mask_dwords() } else { dwords }
    }

    /// Writes operand `index`. Operands without text in this instruction are skipped.
    pub(super) fn write(&mut self, index: usize, out: &mut String) -> fmt::Result {
        let operand = self.instruction.opcode.operands[index];
        let dwords = operand.dwords;
        let sources = &self.table.sources;
        let destinations = &self.table.destinations;
        match operand.kind {
            OperandKind::Vdst => self.vdst(dwords, out),
            // A load into LDS has no data register.
            OperandKind::Vdata if self.field(Field::Lds) != 0 => Ok(()),
            OperandKind::Vdata => register::vector(self.field(Field::Vdata), self.data_dwords(dwords), out),
            OperandKind::SdstVdst => self.sdst_vdst(dwords, out),
            OperandKind::Sdst if self.instruction.layout.format == Format::Vop3Sdst => register::scalar(
                destinations,
                aligned(self.field(Field::Sdst), self.mask(dwords)),
                self.mask(dwords),
                out,
            ),
            OperandKind::Sdst => register::scalar(destinations, self.field(Field::Sdst), dwords, out),
            OperandKind::Sdata => register::scalar(destinations, self.sdata(), dwords, out),
            OperandKind::Src0 => self.vector_source(0, dwords, out),
            OperandKind::Src1 => self.vector_source(1, dwords, out),
            OperandKind::Src2 => self.vector_source(2, dwords, out),
            OperandKind::MaskSrc2 => register::source(
                self.table,
                aligned(self.field(Field::Src2), self.mask(dwords)),
                self.mask(dwords),
                None,
                out,
            ),
            OperandKind::Vsrc1 => self.vsrc1(dwords, out),
            OperandKind::SsrcVsrc1 => {
                register::source(self.table, self.field(Field::Vsrc1), dwords, self.instruction.literal, out)
            }
            OperandKind::Ssrc0 => self.scalar_source(Field::Ssrc0, dwords, out),
            OperandKind::Ssrc1 => self.scalar_source(Field::Ssrc1, dwords, out),
            OperandKind::Sbase => register::scalar(sources, self.field(Field::Sbase) * 2, dwords, out),
            OperandKind::Srsrc => self.resource(dwords, out),
            OperandKind::Ssamp => self.sampler(dwords, out),
            OperandKind::Soffset => {
                if self.instruction.layout.format == Format::Mtbuf && self.instruction.level <= GfxLevel::Gfx7 {
                    out.write_str(&buffer_format::as_operands(self.instruction))?;
                }
                register::source(self.table, self.field(Field::Soffset), 1, None, out)
            }
            OperandKind::Vcc if self.instruction.extension_field(Field::Sd) != 0 => {
                let mask = self.mask(2);
                register::scalar(destinations, aligned(self.instruction.extension_field(Field::Sdst), mask), mask, out)
            }
            OperandKind::Vcc => register::vcc(self.instruction.wave, out),
            OperandKind::Literal => write!(out, "{:#x}", self.instruction.literal.unwrap_or(0)),
            OperandKind::Addr => self.address(dwords, out),
            OperandKind::Off => self.scalar_address(out),
            OperandKind::Vaddr => self.vaddr(dwords, out),
            OperandKind::Vaddrs => self.vaddrs(out),
            OperandKind::Data => self.data(dwords, out),
            OperandKind::Data0 => register::vector(self.field(Field::Data0), dwords, out),
            OperandKind::Data1 => register::vector(self.field(Field::Data1), dwords, out),
            OperandKind::Vdst16 => half(self.field(Field::Vdst), out),
            OperandKind::Src016 => self.half_source(out),
            OperandKind::Attribute => self.attribute(out),
            OperandKind::Parameter => self.parameter(out),
            OperandKind::SmemOffset if self.instruction.name().starts_with("s_atc_probe") && index == 0 => {
                special::decimal_data(self.instruction, out)
            }
            OperandKind::SmemOffset => special::smem_offset(self.instruction, out),
            OperandKind::PrefetchOffset => special::decimal_data(self.instruction, out),
            OperandKind::Simm16
            | OperandKind::Simm16Decimal
            | OperandKind::Target
            | OperandKind::Hwreg
            | OperandKind::Waitcnt
            | OperandKind::Sendmsg
            | OperandKind::SendmsgRtn
            | OperandKind::GprIdx
            | OperandKind::GprIdxSrc1
            | OperandKind::Delay
            | OperandKind::Depctr => special::write(self.instruction, operand.kind, out),
        }
    }

    fn scalar_source(&self, field: Field, dwords: u8, out: &mut String) -> fmt::Result {
        let compares = self.instruction.layout.format == Format::Sopc;
        let kind = match source_type(self.instruction.name(), 0) {
            SourceType::F16 if compares => SourceType::Int16,
            _ => SourceType::Other,
        };
        register::typed_source(self.table, self.field(field), dwords, self.instruction.literal, kind, false, out)
    }

    fn sdata(&self) -> u32 {
        let field = if self.instruction.has_field(Field::Sdata) { Field::Sdata } else { Field::Sdst };
        self.field(field)
    }

    fn vdst(&self, dwords: u8, out: &mut String) -> fmt::Result {
        let format = self.instruction.layout.format;
        let returns = match format {
            Format::Flat => !is_atomic(self.instruction.opcode) || self.field(Field::Glc) != 0,
            Format::Vflat | Format::Vglobal | Format::Vscratch => {
                !is_atomic(self.instruction.opcode) || self.field(Field::Th) & 1 != 0
            }
            _ => true,
        };
        if !returns {
            return Ok(());
        }
        register::vector(
            self.field(Field::Vdst),
            self.matrix(if self.instruction.name().starts_with("v_swmmac") { 3 } else { 2 }, dwords),
            out,
        )
    }

    /// Returns the dwords of image or buffer data.
    fn data_dwords(&self, dwords: u8) -> u8 {
        let tfe = u8::from(self.field(Field::Tfe) != 0);
        if !self.instruction.has_field(Field::Dmask) {
            return dwords + tfe;
        }
        let name = self.instruction.name();
        let lanes = self.field(Field::Dmask).count_ones().max(1) as u8;
        if name.contains("_atomic_") && !name.contains("cmpswap") && lanes == 4 {
            return 5 + tfe;
        }
        let gather = name.starts_with("image_gather4") || name.starts_with("image_msaa_load");
        let lanes = if gather { 4 } else { lanes };
        let packed = self.field(Field::D16) != 0 && self.instruction.level != GfxLevel::Gfx8;
        (if packed { lanes.div_ceil(2) } else { lanes }) + tfe
    }

    fn sdst_vdst(&self, dwords: u8, out: &mut String) -> fmt::Result {
        let name = self.instruction.name();
        if name.starts_with("v_cmpx_") && self.instruction.level >= GfxLevel::Gfx10 {
            return Ok(());
        }
        register::scalar(
            &self.table.destinations,
            aligned(self.field(Field::Vdst), self.mask(dwords)),
            self.mask(dwords),
            out,
        )
    }

    /// Writes a 9-bit source with its modifiers.
    fn vector_source(&self, index: u32, dwords: u8, out: &mut String) -> fmt::Result {
        let field = [Field::Src0, Field::Src1, Field::Src2][index as usize];
        let instruction = self.instruction;
        if instruction.layout.format == Format::Vintrp {
            return register::vector(self.field(Field::Vsrc), dwords, out);
        }
        if index == 0 && instruction.extension.is_some() {
            return self.extended_source(dwords, out);
        }
        let number = self.field(field);
        let kind = source_type(instruction.name(), index);
        let mixed = instruction.layout.format == Format::Vop3p && instruction.name().contains("_mix");
        let (negate, absolute) = match instruction.layout.format {
            Format::Vop3 if kind.is_float() => (self.field(Field::Neg), self.field(Field::Abs)),
            Format::Vinterp => (self.field(Field::Neg), 0),
            Format::Vop3Sdst if instruction.name().starts_with("v_div_scale") => (self.field(Field::Neg), 0),
            Format::Vop3p if mixed => (self.field(Field::NegLo), self.field(Field::NegHi)),
            _ => (0, 0),
        };
        let mut plain = String::new();
        self.nine_bits(number, self.matrix(index, dwords), kind, &mut plain)?;
        if self.sign_extends(index, kind) {
            return write!(out, "sext({plain})");
        }
        modified(&plain, negate >> index & 1 != 0, absolute >> index & 1 != 0, number, out)
    }

    /// Returns `true` if the negate bit of an integer source means sign extension in the text: operations that have sign
    /// modifiers for their other sources, and DPP.
    fn sign_extends(&self, index: u32, kind: SourceType) -> bool {
        let instruction = self.instruction;
        let last = source_type(instruction.name(), 0);
        let mixed = last.is_float() && !instruction.name().contains("_class_");
        !kind.is_float()
            && instruction.layout.format == Format::Vop3
            && self.field(Field::Neg) >> index & 1 != 0
            && (mixed || kind == SourceType::Int16 && instruction.extension.is_some())
    }

    /// Returns the dwords of a matrix operand, which the tables give for wave64: of GFX11 accumulators, of GFX12 all
    /// but the index of a sparse multiplication are twice as long in wave32.
    fn matrix(&self, index: u32, dwords: u8) -> u8 {
        let name = self.instruction.name();
        let sparse = name.starts_with("v_swmmac");
        let matrix = name.starts_with("v_wmma") || sparse;
        let doubled = if self.instruction.level >= GfxLevel::Gfx12 { !(sparse && index == 2) } else { index == 2 };
        // Four-bit elements of the smallest matrices fill one dword in either wave size.
        let single = match name {
            "v_wmma_i32_16x16x16_iu4" => index < 2,
            "v_swmmac_i32_16x16x32_iu4" => index == 0,
            _ => false,
        };
        if matrix && doubled && !single && self.instruction.wave == WaveSize::Wave32 { dwords * 2 } else { dwords }
    }

    fn nine_bits(&self, number: u32, dwords: u8, kind: SourceType, out: &mut String) -> fmt::Result {
        if number >= 256 {
            return register::vector(number - 256, dwords, out);
        }
        let packed = self.instruction.layout.format == Format::Vop3p;
        register::typed_source(self.table, number, dwords, self.instruction.literal, kind, packed, out)
    }

    /// Writes the first source of SDWA or DPP, which the extra dword names.
    fn extended_source(&self, dwords: u8, out: &mut String) -> fmt::Result {
        let instruction = self.instruction;
        let number = instruction.extension_field(Field::Src0);
        let scalar = instruction.extension_field(Field::S0) != 0;
        let mut plain = String::new();
        if scalar {
            register::source(self.table, number, dwords, None, &mut plain)?;
        } else {
            register::vector(number, dwords, &mut plain)?;
        }
        let mut negate = instruction.extension_field(Field::Src0Neg) != 0;
        let mut absolute = instruction.extension_field(Field::Src0Abs) != 0;
        if matches!(instruction.layout.format, Format::Vop3 | Format::Vop3Sdst) {
            negate = self.field(Field::Neg) & 1 != 0;
            absolute = self.field(Field::Abs) & 1 != 0;
            if !source_type(instruction.name(), 0).is_float() {
                (negate, absolute) = (false, false);
            }
        }
        // Packed operations have separate modifiers, which are not part of the operand; mixed-precision operations use them as
        // signs.
        if instruction.layout.format == Format::Vop3p {
            let mixed = instruction.name().contains("_mix");
            negate = mixed && self.field(Field::NegLo) & 1 != 0;
            absolute = mixed && self.field(Field::NegHi) & 1 != 0;
        }
        let kind = source_type(instruction.name(), 0);
        let sext = instruction.extension_field(Field::Src0Sext) != 0 || self.sign_extends(0, kind);
        if sext {
            return write!(out, "sext({plain})");
        }
        modified(&plain, negate, absolute, if scalar { number } else { 256 }, out)
    }

    /// Writes the second source of VOP2 and VOPC.
    fn vsrc1(&self, dwords: u8, out: &mut String) -> fmt::Result {
        let instruction = self.instruction;
        let number = self.field(Field::Vsrc1);
        let mut plain = String::new();
        let scalar = instruction.extension_field(Field::S1) != 0;
        if scalar {
            register::source(self.table, number, dwords, None, &mut plain)?;
        } else {
            register::vector(number, dwords, &mut plain)?;
        }
        if instruction.extension_field(Field::Src1Sext) != 0 {
            return write!(out, "sext({plain})");
        }
        let negate = instruction.extension_field(Field::Src1Neg) != 0;
        let absolute = instruction.extension_field(Field::Src1Abs) != 0;
        modified(&plain, negate, absolute, if scalar { number } else { 256 }, out)
    }

    fn resource(&self, dwords: u8, out: &mut String) -> fmt::Result {
        let (number, dwords) = if self.instruction.has_field(Field::Rsrc) {
            (self.field(Field::Rsrc), dwords)
        } else {
            (self.field(Field::Srsrc) * 4, dwords)
        };
        register::scalar(&self.table.sources, number, dwords, out)
    }

    fn sampler(&self, dwords: u8, out: &mut String) -> fmt::Result {
        let number = if self.instruction.has_field(Field::Samp) {
            self.field(Field::Samp)
        } else {
            self.field(Field::Ssamp) * 4
        };
        register::scalar(&self.table.sources, number, dwords, out)
    }

    /// Writes the vector address of LDS, FLAT, GLOBAL and SCRATCH instructions.
    fn address(&self, dwords: u8, out: &mut String) -> fmt::Result {
        let instruction = self.instruction;
        let format = instruction.opcode.format;
        let number = self.field(if instruction.has_field(Field::Vaddr) { Field::Vaddr } else { Field::Addr });
        match format {
            Format::Global | Format::Vglobal => {
                let with_scalar = !self.is_off(self.field(Field::Saddr));
                register::vector(number, if with_scalar { 1 } else { dwords }, out)
            }
            Format::Scratch | Format::Vscratch => {
                let uses_vector = if instruction.has_field(Field::Sve) {
                    self.field(Field::Sve) != 0
                } else {
                    self.is_off(self.field(Field::Saddr)) && !self.scratch_without_addresses()
                };
                if uses_vector { register::vector(number, 1, out) } else { out.write_str("off") }
            }
            _ => register::vector(number, dwords, out),
        }
    }

    fn scratch_without_addresses(&self) -> bool {
        self.instruction.level >= GfxLevel::Gfx10_3 && self.field(Field::Saddr) == 0x7f
    }

    /// Returns `true` if a scalar address number means "none".
    fn is_off(&self, number: u32) -> bool {
        match self.instruction.level {
            GfxLevel::Gfx9 => number == 0x7f,
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => number == 0x7d || number == 0x7f,
            _ => number == 0x7c,
        }
    }

    fn scalar_address(&self, out: &mut String) -> fmt::Result {
        let number = self.field(Field::Saddr);
        if self.is_off(number) {
            return out.write_str("off");
        }
        let dwords = if matches!(self.instruction.opcode.format, Format::Global | Format::Vglobal) { 2 } else { 1 };
        register::scalar(&self.table.sources, number, dwords, out)
    }

    fn data(&self, dwords: u8, out: &mut String) -> fmt::Result {
        let field = if self.instruction.has_field(Field::Vsrc) { Field::Vsrc } else { Field::Data };
        register::vector(self.field(field), dwords, out)
    }

    /// Writes the vector address of buffer and image instructions.
    fn vaddr(&self, dwords: u8, out: &mut String) -> fmt::Result {
        let instruction = self.instruction;
        if matches!(instruction.opcode.format, Format::Mimg) {
            return self.image_address(dwords, out);
        }
        let both = self.field(Field::Offen) != 0 && self.field(Field::Idxen) != 0;
        let wide = self.field(Field::Addr64) != 0;
        if self.field(Field::Offen) + self.field(Field::Idxen) + self.field(Field::Addr64) == 0 {
            return out.write_str("off");
        }
        register::vector(self.field(Field::Vaddr), if both || wide { 2 } else { 1 }, out)
    }

    fn image_address(&self, dwords: u8, out: &mut String) -> fmt::Result {
        let instruction = self.instruction;
        let first = self.field(Field::Vaddr);
        if !instruction.has_field(Field::Dim) {
            return register::vector(first, dwords, out);
        }
        let a16 = self.field(Field::A16) != 0;
        let count = image_address_dwords(instruction.level, instruction.name(), self.field(Field::Dim), a16);
        let nsa = self.field(Field::Nsa) as usize;
        if nsa == 0 {
            return register::vector(first, count as u8, out);
        }
        let extra = &instruction.dwords()[2..2 + nsa];
        let registers = std::iter::once(first).chain(extra.iter().flat_map(|dword| dword.to_le_bytes()).map(u32::from));
        let most = 1 + 4 * nsa;
        list(registers.take(most.min(count as usize)), most, count as usize, out)
    }

    /// Writes the addresses of VIMAGE and VSAMPLE. If there are more registers than fields, the last field is a range.
    fn vaddrs(&self, out: &mut String) -> fmt::Result {
        let fields = [Field::Vaddr0, Field::Vaddr1, Field::Vaddr2, Field::Vaddr3, Field::Vaddr4];
        let most = if self.instruction.has_field(Field::Vaddr4) { 5 } else { 4 };
        let a16 = self.field(Field::A16) != 0;
        let count =
            image_address_dwords(self.instruction.level, self.instruction.name(), self.field(Field::Dim), a16) as usize;
        if count == 1 {
            return register::vector(self.field(Field::Vaddr0), 1, out);
        }
        let registers = fields.into_iter().map(|field| self.field(field)).take(count.min(most));
        list(registers, most, count, out)
    }

    fn half_source(&self, out: &mut String) -> fmt::Result {
        let number = self.field(Field::Src0);
        if number >= 256 { half(number - 256, out) } else { self.nine_bits(number, 1, SourceType::Int16, out) }
    }

    fn attribute(&self, out: &mut String) -> fmt::Result {
        let instruction = self.instruction;
        let (attribute, channel) = if instruction.has_field(Field::Attr) {
            (self.field(Field::Attr), self.field(Field::Attrchan))
        } else {
            let number = self.field(Field::Src0);
            (number & 0x3f, number >> 6 & 3)
        };
        let channel = ["x", "y", "z", "w"][channel as usize & 3];
        write!(out, "attr{attribute}.{channel}")
    }

    fn parameter(&self, out: &mut String) -> fmt::Result {
        let number =
            self.field(if self.instruction.has_field(Field::Vsrc) { Field::Vsrc } else { Field::Src1 }) & 0x1ff;
        let number = if self.instruction.has_field(Field::Vsrc) { number } else { number & 0xff };
        match number {
            0 => out.write_str("p10"),
            1 => out.write_str("p20"),
            2 => out.write_str("p0"),
            _ => write!(out, "invalid_param_{number}"),
        }
    }
}

/// Writes a list of registers. The last of `most` entries covers the remaining registers up to `count`.
fn list(registers: impl Iterator<Item = u32>, most: usize, count: usize, out: &mut String) -> fmt::Result {
    out.write_char('[')?;
    for (index, number) in registers.enumerate() {
        if index > 0 {
            out.write_str(", ")?;
        }
        let dwords = if index + 1 == most { count - index } else { 1 };
        register::vector(number, dwords as u8, out)?;
    }
    out.write_char(']')
}

/// Returns the first number of a register range: pairs start at even numbers.
fn aligned(number: u32, dwords: u8) -> u32 {
    if dwords == 2 { number & !1 } else { number }
}

/// Returns `true` for atomic operations.
fn is_atomic(opcode: &Opcode) -> bool {
    opcode.name().contains("_atomic_")
}

/// Writes a 16-bit half of a vector register.
fn half(number: u32, out: &mut String) -> fmt::Result {
    write!(out, "v{}.{}", number & 0x7f, if number & 0x80 == 0 { 'l' } else { 'h' })
}

/// Writes a source with its sign modifiers. Constants are negated by `neg(..)`, for `-1` is another constant.
fn modified(plain: &str, negate: bool, absolute: bool, number: u32, out: &mut String) -> fmt::Result {
    let constant = register::inline_constant(number, 1).is_some() || number == crate::decode::LITERAL;
    match (negate, absolute) {
        (false, false) => out.write_str(plain),
        (false, true) => write!(out, "|{plain}|"),
        (true, true) => write!(out, "-|{plain}|"),
        (true, false) if constant => write!(out, "neg({plain})"),
        (true, false) => write!(out, "-{plain}"),
    }
}

/// Writes both halves of a dual-issue instruction.
pub(super) fn dual(instruction: &Instruction, second: &'static Opcode, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let table = table(instruction.level);
    let x = [Field::Vdstx, Field::Srcx0, Field::Vsrcx1];
    let y = [Field::Vdsty, Field::Srcy0, Field::Vsrcy1];
    for (index, (opcode, fields)) in [(instruction.opcode, x), (second, y)].into_iter().enumerate() {
        f.write_str(if index == 0 { "" } else { " :: " })?;
        f.write_str(opcode.name())?;
        for (at, operand) in opcode.operands.iter().enumerate() {
            f.write_str(if at == 0 { " " } else { ", " })?;
            let mut text = String::new();
            dual_operand(instruction, table, *operand, fields, index == 1, &mut text)?;
            f.write_str(&text)?;
        }
    }
    Ok(())
}

fn dual_operand(
    instruction: &Instruction,
    table: &Table,
    operand: Operand,
    [vdst, src0, vsrc1]: [Field; 3],
    second: bool,
    out: &mut String,
) -> fmt::Result {
    match operand.kind {
        OperandKind::Vdst if second => {
            // The lowest bit is the inverse of the other destination's.
            let other = instruction.field(Field::Vdstx) & 1;
            register::vector(instruction.field(vdst) << 1 | (other ^ 1), 1, out)
        }
        OperandKind::Vdst => register::vector(instruction.field(vdst), 1, out),
        OperandKind::Src0 => match instruction.field(src0) {
            number @ 256.. => register::vector(number - 256, 1, out),
            number => register::source(table, number, 1, instruction.literal, out),
        },
        OperandKind::Vsrc1 => register::vector(instruction.field(vsrc1), 1, out),
        OperandKind::Vcc => register::vcc(WaveSize::Wave32, out),
        _ => write!(out, "{:#x}", instruction.literal.unwrap_or(0)),
    }
}
