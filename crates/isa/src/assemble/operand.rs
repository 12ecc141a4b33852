//! Operands: text to fields.

use amdgpu_hw::GfxLevel;

use super::{
    encoder::{Encoder, Misfit},
    parse::{low_bits, number, register},
    special,
};
use crate::{
    Field, Format, OperandKind, WaveSize,
    decode::LITERAL,
    table::{Operand, Scalars, SourceType, source_type},
};

/// A source with its sign modifiers taken off.
struct Source<'a> {
    plain: &'a str,
    negate: bool,
    absolute: bool,
    extends: bool,
}

impl<'a> Source<'a> {
    fn parse(text: &'a str) -> Self {
        let mut source = Self { plain: text, negate: false, absolute: false, extends: false };
        if let Some(inner) = text.strip_prefix("sext(").and_then(|rest| rest.strip_suffix(')')) {
            source.plain = inner;
            source.extends = true;
            return source;
        }
        if let Some(inner) = text.strip_prefix("neg(").and_then(|rest| rest.strip_suffix(')')) {
            source.plain = inner;
            source.negate = true;
        } else if let Some(inner) = text.strip_prefix('-')
            && !inner.starts_with(|letter: char| letter.is_ascii_digit())
        {
            source.plain = inner;
            source.negate = true;
        }
        if let Some(inner) = source.plain.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')) {
            source.plain = inner;
            source.absolute = true;
        }
        source
    }
}

fn misfit(text: &str) -> Misfit {
    Misfit::Operand(text.to_owned())
}

impl Encoder {
    /// Sets the fields of all operands.
    pub(super) fn operands(&mut self, texts: &[&str]) -> Result<(), Misfit> {
        let mut texts = texts.iter().copied().collect::<std::collections::VecDeque<_>>();
        if self.layout.format == Format::Mtbuf && self.level <= GfxLevel::Gfx7 {
            self.old_formats(&mut texts);
        }
        let probe = self.opcode.name().starts_with("s_atc_probe");
        for (index, operand) in self.opcode.operands.iter().enumerate() {
            if self.is_silent(*operand) {
                continue;
            }
            let text = texts.pop_front().ok_or_else(|| Misfit::Operand("a missing operand".to_owned()))?;
            // The first operand of a probe is a number in the data field.
            let kind = if probe && index == 0 { OperandKind::PrefetchOffset } else { operand.kind };
            self.operand(Operand { kind, ..*operand }, text)?;
        }
        texts.pop_front().map_or(Ok(()), |left| Err(misfit(left)))
    }

    /// Removes `dfmt:` and `nfmt:` from the operands, which GFX6 and GFX7 have.
    fn old_formats(&mut self, texts: &mut std::collections::VecDeque<&str>) {
        texts.retain(|text| {
            for (name, field) in [("dfmt:", Field::Dfmt), ("nfmt:", Field::Nfmt)] {
                if let Some(value) = text.strip_prefix(name).and_then(|value| value.parse().ok()) {
                    self.set(field, value);
                    return false;
                }
            }
            true
        });
    }

    /// Returns `true` if the operand has no text in this instruction.
    fn is_silent(&self, operand: Operand) -> bool {
        let atomic = self.opcode.name().contains("_atomic_");
        match operand.kind {
            OperandKind::Vdata => self.get(Field::Lds) != 0,
            OperandKind::SdstVdst => self.opcode.name().starts_with("v_cmpx_") && self.level >= GfxLevel::Gfx10,
            OperandKind::Vdst if atomic && self.layout.format == Format::Flat => self.get(Field::Glc) == 0,
            OperandKind::Vdst if atomic && self.has(Field::Th) => self.get(Field::Th) & 1 == 0,
            _ => false,
        }
    }

    fn mask(&self, dwords: u8) -> u8 {
        if dwords == 2 { self.wave.mask_dwords() } else { dwords }
    }

    fn operand(&mut self, operand: Operand, text: &str) -> Result<(), Misfit> {
        let dwords = operand.dwords;
        let (sources, destinations) = (&self.table.sources, &self.table.destinations);
        match operand.kind {
            OperandKind::Vdst => self.vector(Field::Vdst, text),
            OperandKind::Vdata => self.vector(Field::Vdata, text),
            OperandKind::Data => self.vector(if self.has(Field::Vsrc) { Field::Vsrc } else { Field::Data }, text),
            OperandKind::Data0 => self.vector(Field::Data0, text),
            OperandKind::Data1 => self.vector(Field::Data1, text),
            OperandKind::SdstVdst => self.scalar_into(Field::Vdst, destinations, text, self.mask(dwords)),
            OperandKind::Sdst => {
                let dwords = if self.layout.format == Format::Vop3Sdst { self.mask(dwords) } else { dwords };
                self.scalar_into(Field::Sdst, destinations, text, dwords)
            }
            OperandKind::Sdata => {
                let field = if self.has(Field::Sdata) { Field::Sdata } else { Field::Sdst };
                self.scalar_into(field, destinations, text, dwords)
            }
            OperandKind::Sbase => {
                let number = scalar(sources, text, dwords).ok_or_else(|| misfit(text))?;
                self.fit(Field::Sbase, number / 2)
            }
            OperandKind::Src0 => self.vector_source(0, text, dwords),
            OperandKind::Src1 => self.vector_source(1, text, dwords),
            OperandKind::Src2 => self.vector_source(2, text, dwords),
            OperandKind::MaskSrc2 => self.scalar_into(Field::Src2, sources, text, self.mask(dwords)),
            OperandKind::Vsrc1 => self.vsrc1(text, dwords),
            OperandKind::SsrcVsrc1 => {
                let value = self.source(text, dwords, SourceType::Other)?;
                self.fit(Field::Vsrc1, value)
            }
            OperandKind::Ssrc0 => self.scalar_source(Field::Ssrc0, text, dwords),
            OperandKind::Ssrc1 => self.scalar_source(Field::Ssrc1, text, dwords),
            OperandKind::Srsrc => self.resource(Field::Srsrc, Field::Rsrc, text),
            OperandKind::Ssamp => self.resource(Field::Ssamp, Field::Samp, text),
            OperandKind::Soffset => {
                let value = self.source(text, 1, SourceType::Other)?;
                self.fit(Field::Soffset, value)
            }
            OperandKind::Vcc => {
                let name = if self.wave == WaveSize::Wave32 { "vcc_lo" } else { "vcc" };
                if text == name {
                    return Ok(());
                }
                let value = scalar(destinations, text, self.mask(2)).ok_or_else(|| misfit(text))?;
                if self.set_extension(Field::Sd, 1) && self.set_extension(Field::Sdst, value) {
                    Ok(())
                } else {
                    Err(misfit(text))
                }
            }
            OperandKind::Literal => {
                let value = number(text).ok_or_else(|| misfit(text))?;
                self.set_literal(low_bits(value, 32), text)
            }
            OperandKind::Addr => self.address(text),
            OperandKind::Off => self.scalar_address(text),
            OperandKind::Vaddr => self.vaddr(text),
            OperandKind::Vaddrs => self.vaddrs(text),
            OperandKind::Vdst16 => self.half(Field::Vdst, text, 0),
            OperandKind::Src016 => match text.strip_prefix('v') {
                Some(_) => self.half(Field::Src0, text, 256),
                None => self.vector_source(0, text, 1),
            },
            OperandKind::Attribute => self.attribute(text),
            OperandKind::Parameter => self.parameter(text),
            _ => special::operand(self, operand.kind, text),
        }
    }

    fn vector(&mut self, field: Field, text: &str) -> Result<(), Misfit> {
        let (first, _) = register(text, "v").ok_or_else(|| misfit(text))?;
        self.fit(field, first)
    }

    fn scalar_into(&mut self, field: Field, scalars: &Scalars, text: &str, dwords: u8) -> Result<(), Misfit> {
        let value = scalar(scalars, text, dwords).ok_or_else(|| misfit(text))?;
        self.fit(field, value)
    }

    fn scalar_source(&mut self, field: Field, text: &str, dwords: u8) -> Result<(), Misfit> {
        let compares = self.layout.format == Format::Sopc;
        let kind = match source_type(self.opcode.name(), 0) {
            SourceType::F16 if compares => SourceType::Int16,
            _ => SourceType::Other,
        };
        let value = self.source(text, dwords, kind)?;
        self.fit(field, value)
    }

    pub(super) fn set_literal(&mut self, value: u32, text: &str) -> Result<(), Misfit> {
        match self.literal {
            Some(literal) if literal != value => Err(misfit(text)),
            _ => {
                self.literal = Some(value);
                Ok(())
            }
        }
    }

    /// Returns the number of a scalar source: register, inline constant or literal, which it keeps.
    pub(super) fn source(&mut self, text: &str, dwords: u8, kind: SourceType) -> Result<u32, Misfit> {
        if let Some(value) = scalar(&self.table.sources, text, dwords) {
            return Ok(value);
        }
        if let Some(value) = inline_constant(text, kind) {
            return Ok(value);
        }
        let value = number(text).filter(|value| u32::try_from(*value).is_ok()).ok_or_else(|| misfit(text))?;
        self.set_literal(low_bits(value, 32), text)?;
        Ok(LITERAL)
    }

    fn vector_source(&mut self, index: u32, text: &str, dwords: u8) -> Result<(), Misfit> {
        let source = Source::parse(text);
        let packed = self.layout.format == Format::Vop3p;
        if self.layout.format == Format::Vintrp {
            return self.vector(Field::Vsrc, source.plain);
        }
        let kind = if packed { SourceType::Other } else { source_type(self.opcode.name(), index) };
        let extended = index == 0 && self.extension.is_some();
        if extended {
            let scalar_extension = self.extension.is_some_and(|(layout, _)| layout.field(Field::S0).is_some());
            let value = match register(source.plain, "v") {
                Some((first, _)) => first,
                None if scalar_extension => {
                    self.set_extension(Field::S0, 1);
                    self.source(source.plain, dwords, kind)?
                }
                None => return Err(misfit(text)),
            };
            self.set_extension(Field::Src0, value);
        } else {
            let value = match register(source.plain, "v") {
                Some((first, _)) => first + 256,
                None => self.source(source.plain, dwords, kind)?,
            };
            self.fit([Field::Src0, Field::Src1, Field::Src2][index as usize], value)?;
        }
        self.signs(index, &source, text)
    }

    /// Sets the sign modifiers of a source.
    fn signs(&mut self, index: u32, source: &Source<'_>, text: &str) -> Result<(), Misfit> {
        if !(source.negate || source.absolute || source.extends) {
            return Ok(());
        }
        let (negate, absolute) = if self.has(Field::Neg) {
            (Field::Neg, Field::Abs)
        } else if self.has(Field::NegLo) {
            (Field::NegLo, Field::NegHi)
        } else {
            let names = if index == 0 {
                [(source.negate, Field::Src0Neg), (source.absolute, Field::Src0Abs), (source.extends, Field::Src0Sext)]
            } else {
                [(source.negate, Field::Src1Neg), (source.absolute, Field::Src1Abs), (source.extends, Field::Src1Sext)]
            };
            let fits = names.into_iter().all(|(wanted, field)| !wanted || self.set_extension(field, 1));
            return if fits { Ok(()) } else { Err(misfit(text)) };
        };
        for (wanted, field) in [(source.negate || source.extends, negate), (source.absolute, absolute)] {
            if wanted {
                let bits = self.get(field) | 1 << index;
                self.fit(field, bits)?;
            }
        }
        Ok(())
    }

    fn vsrc1(&mut self, text: &str, dwords: u8) -> Result<(), Misfit> {
        let source = Source::parse(text);
        let value = match register(source.plain, "v") {
            Some((first, _)) => first,
            None if self.set_extension(Field::S1, 1) => self.source(source.plain, dwords, SourceType::Other)?,
            None => return Err(misfit(text)),
        };
        self.fit(Field::Vsrc1, value)?;
        self.signs(1, &source, text)
    }

    fn resource(&mut self, quads: Field, plain: Field, text: &str) -> Result<(), Misfit> {
        let value = scalar(&self.table.sources, text, 4).ok_or_else(|| misfit(text))?;
        if self.has(plain) { self.fit(plain, value) } else { self.fit(quads, value / 4) }
    }

    fn address(&mut self, text: &str) -> Result<(), Misfit> {
        let field = if self.has(Field::Vaddr) { Field::Vaddr } else { Field::Addr };
        if text == "off" {
            // If no scalar address follows either; otherwise the scalar address replaces the number.
            if self.opcode.format == Format::Scratch && self.level == GfxLevel::Gfx10_3 {
                self.set(Field::Saddr, 0x7f);
            }
            return Ok(());
        }
        if matches!(self.opcode.format, Format::Scratch | Format::Vscratch) {
            self.set(Field::Sve, 1);
        }
        self.vector(field, text)
    }

    fn scalar_address(&mut self, text: &str) -> Result<(), Misfit> {
        if text == "off" {
            return Ok(());
        }
        let dwords = if matches!(self.opcode.format, Format::Global | Format::Vglobal) { 2 } else { 1 };
        let sources = &self.table.sources;
        self.scalar_into(Field::Saddr, sources, text, dwords)
    }

    fn vaddr(&mut self, text: &str) -> Result<(), Misfit> {
        if text == "off" {
            return Ok(());
        }
        let Some(list) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else {
            return self.vector(Field::Vaddr, text);
        };
        let registers = list.split(',').map(|part| register(part.trim(), "v").filter(|(number, _)| *number < 256));
        let registers = registers.collect::<Option<Vec<_>>>().ok_or_else(|| misfit(text))?;
        let (&(first, _), rest) = registers.split_first().ok_or_else(|| misfit(text))?;
        self.fit(Field::Vaddr, first)?;
        self.addresses = rest.iter().map(|(number, _)| *number as u8).collect();
        // The form with a list has at least one dword of addresses, even for a single register.
        if self.addresses.is_empty() {
            self.addresses.push(0);
        }
        let dwords = self.addresses.len().div_ceil(4) as u32;
        self.fit(Field::Nsa, dwords)
    }

    fn vaddrs(&mut self, text: &str) -> Result<(), Misfit> {
        let fields = [Field::Vaddr0, Field::Vaddr1, Field::Vaddr2, Field::Vaddr3, Field::Vaddr4];
        let Some(list) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else {
            return self.vector(Field::Vaddr0, text);
        };
        for (index, part) in list.split(',').enumerate() {
            let field = *fields.get(index).ok_or_else(|| misfit(text))?;
            self.vector(field, part.trim())?;
        }
        Ok(())
    }

    fn half(&mut self, field: Field, text: &str, base: u32) -> Result<(), Misfit> {
        let (name, high) = match text.split_once('.') {
            Some((name, "l")) => (name, 0),
            Some((name, "h")) => (name, 0x80),
            _ => return Err(misfit(text)),
        };
        let (first, _) = register(name, "v").filter(|(first, _)| *first < 128).ok_or_else(|| misfit(text))?;
        self.fit(field, base + first + high)
    }

    fn attribute(&mut self, text: &str) -> Result<(), Misfit> {
        let (name, high) = text.strip_suffix(" high").map_or((text, 0), |name| (name, 1));
        let (number, channel) = name
            .strip_prefix("attr")
            .and_then(|rest| rest.split_once('.'))
            .and_then(|(number, channel)| Some((number.parse::<u32>().ok()?, "xyzw".find(channel)? as u32)))
            .ok_or_else(|| misfit(text))?;
        if self.has(Field::Attr) {
            self.fit(Field::Attr, number)?;
            return self.fit(Field::Attrchan, channel);
        }
        let kept = self.get(Field::Src0) & 0x100;
        self.fit(Field::Src0, kept | number & 0x3f | channel << 6 | high << 8)
    }

    fn parameter(&mut self, text: &str) -> Result<(), Misfit> {
        let value = match text {
            "p10" => 0,
            "p20" => 1,
            "p0" => 2,
            _ => text
                .strip_prefix("invalid_param_")
                .and_then(|number| number.parse().ok())
                .ok_or_else(|| misfit(text))?,
        };
        if self.has(Field::Vsrc) { self.fit(Field::Vsrc, value) } else { self.fit(Field::Src1, value) }
    }
}

/// Returns the number of a scalar register.
fn scalar(scalars: &Scalars, text: &str, dwords: u8) -> Option<u32> {
    if let Some((first, _)) = register(text, "s").filter(|(first, _)| *first <= u32::from(scalars.last_sgpr)) {
        return Some(first);
    }
    if let Some((first, _)) = register(text, "ttmp") {
        return scalars.number(&format!("ttmp{first}"));
    }
    let whole = (dwords > 1).then(|| scalars.number(&format!("{text}_lo"))).flatten();
    whole.or_else(|| scalars.number(text))
}

/// Returns the number of an inline constant.
fn inline_constant(text: &str, kind: SourceType) -> Option<u32> {
    const FLOATS: [(&str, u32); 10] = [
        ("0.5", 240),
        ("-0.5", 241),
        ("1.0", 242),
        ("-1.0", 243),
        ("2.0", 244),
        ("-2.0", 245),
        ("4.0", 246),
        ("-4.0", 247),
        ("0.15915494", 248),
        ("0.15915494309189532", 248),
    ];
    const HALVES: [(&str, u32); 9] = [
        ("0x3800", 240),
        ("0xb800", 241),
        ("0x3c00", 242),
        ("0xbc00", 243),
        ("0x4000", 244),
        ("0xc000", 245),
        ("0x4400", 246),
        ("0xc400", 247),
        ("0x3118", 248),
    ];
    if let Some((_, value)) = FLOATS.iter().find(|(name, _)| *name == text) {
        return Some(*value);
    }
    if kind == SourceType::Int16
        && let Some((_, value)) = HALVES.iter().find(|(name, _)| *name == text)
    {
        return Some(*value);
    }
    match number(text)? {
        value @ 0..=64 if !text.starts_with("0x") => Some(low_bits(128 + value, 32)),
        value @ -16..=-1 => Some(low_bits(192 - value, 32)),
        _ => None,
    }
}
