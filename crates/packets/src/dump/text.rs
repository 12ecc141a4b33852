//! Formatting of dumps as text.

use std::fmt::{Display, Formatter, Result};

use super::content::{Dump, Field, Ib, Meaning, Next, Note, Packet, Register, Shown};

impl Display for Dump {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (index, ib) in self.ibs.iter().enumerate() {
            ib.write_title(f, index, self)?;
            ib.packets.iter().try_for_each(|packet| packet.fmt(f))?;
        }
        Ok(())
    }
}

impl Ib {
    /// Writes the title line of the IB, which has number `index` in the dump.
    ///
    /// # Errors
    ///
    /// The formatter's error.
    pub fn write_title(&self, f: &mut Formatter<'_>, index: usize, dump: &Dump) -> Result {
        write!(f, "IB {index}")?;
        if let Some(va) = self.va {
            write!(f, " at {:#x}", va.as_u64())?;
        }
        match self.first {
            0 => write!(f, ", {} dwords", self.dwords)?,
            first => write!(f, ", dwords {first} to {}", first + self.dwords)?,
        }
        write!(f, ", for {}", dump.reader.target())?;
        if let Some(from) = self.from {
            let how = if from.is_chain { "chained to" } else { "called" };
            write!(f, ", {how} by IB {} at dword {}", from.ib, from.offset)?;
        }
        writeln!(f)
    }
}

/// A function that returns text to write below a packet. The first argument is the index of its IB.
pub type Remark<'r> = dyn Fn(usize, &Packet) -> Option<String> + 'r;

impl Dump {
    /// Returns the text of the dump with all dwords of every packet below its name.
    pub fn with_dwords(&self) -> impl Display {
        Remarked { dump: self, is_raw: true, remark: &|_, _| None }
    }

    /// Returns the text of the dump with a remark below each packet, and with all dwords below its name if `is_raw`.
    ///
    /// ```
    /// use amdgpu_packets::{dump::Dumper, pm4};
    /// use amdgpu_hw::GfxLevel;
    ///
    /// let dump = Dumper::new(pm4::Target::gfx(GfxLevel::Gfx9)).dump(&[0xc000_4600, 0x407], None);
    /// let text = dump.with_remarks(false, &|ib, packet| Some(format!("dword {} of IB {ib}", packet.offset))).to_string();
    /// assert!(text.ends_with("            dword 0 of IB 0\n"));
    /// ```
    pub fn with_remarks<'a>(&'a self, is_raw: bool, remark: &'a Remark<'a>) -> impl Display + 'a {
        Remarked { dump: self, is_raw, remark }
    }
}

struct Remarked<'d> {
    dump: &'d Dump,
    is_raw: bool,
    remark: &'d Remark<'d>,
}

impl Display for Remarked<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (index, ib) in self.dump.ibs.iter().enumerate() {
            ib.write_title(f, index, self.dump)?;
            for packet in &ib.packets {
                if self.is_raw {
                    packet.with_dwords().fmt(f)?;
                } else {
                    packet.fmt(f)?;
                }
                let remark = (self.remark)(index, packet).unwrap_or_default();
                remark.lines().try_for_each(|line| writeln!(f, "            {line}"))?;
            }
        }
        Ok(())
    }
}

impl Display for Packet {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let raw = if self.problem.is_some() { self.dwords.get(1..).unwrap_or_default() } else { &self.data };
        self.write_head(f)?;
        self.write_body(f, raw)
    }
}

/// A packet that is formatted with all its dwords.
struct Whole<'p>(&'p Packet);

impl Display for Whole<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.0.write_head(f)?;
        write_dwords(f, '=', &self.0.dwords)?;
        self.0.write_body(f, &[])
    }
}

impl Packet {
    /// Returns the text of the packet with all its dwords below its name.
    ///
    /// ```
    /// use amdgpu_packets::{dump::Dumper, pm4};
    /// use amdgpu_hw::GfxLevel;
    ///
    /// let dump = Dumper::new(pm4::Target::gfx(GfxLevel::Gfx9)).dump(&[0xc000_4600, 0x407], None);
    /// assert!(dump.ibs[0].packets[0].with_dwords().to_string().contains("=0    c0004600 00000407\n"));
    /// ```
    pub fn with_dwords(&self) -> impl Display + '_ {
        Whole(self)
    }

    /// Writes the name of the packet and its decoding error.
    fn write_head(&self, f: &mut Formatter<'_>) -> Result {
        let header = self.dwords.first().copied().unwrap_or_default();
        write!(f, "  {:6}: {header:08x}  {}", self.offset, self.name)?;
        for (name, _) in self.flags.iter_names() {
            write!(f, " [{}]", name.to_lowercase())?;
        }
        if let Some(problem) = &self.problem {
            write!(f, "  !! {}", problem.fault)?;
        }
        writeln!(f)
    }

    /// Writes the fields of the packet.
    fn write_body(&self, f: &mut Formatter<'_>, raw: &[u32]) -> Result {
        self.fields.iter().try_for_each(|field| field.fmt(f))?;
        self.registers.iter().try_for_each(|register| writeln!(f, "            {register}"))?;
        match &self.note {
            Some(Note::Annotation(text)) => {
                text.lines().try_for_each(|line| writeln!(f, "            annotation: {line}"))?;
            }
            Some(Note::TracePoint(number)) => writeln!(f, "            trace point {number}")?,
            None => {}
        }
        write_dwords(f, '+', raw)?;
        self.next.iter().try_for_each(|next| next.fmt(f))
    }
}

/// Writes dwords, eight on a line.
fn write_dwords(f: &mut Formatter<'_>, sign: char, data: &[u32]) -> Result {
    for (line, dwords) in data.chunks(8).enumerate() {
        write!(f, "            {sign}{:<4}", 8 * line)?;
        dwords.iter().try_for_each(|dword| write!(f, " {dword:08x}"))?;
        writeln!(f)?;
    }
    Ok(())
}

impl Display for Field {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "            {} = ", self.name)?;
        match &self.meaning {
            Meaning::Number if self.value < 10 => writeln!(f, "{}", self.value),
            Meaning::Choice(name) => writeln!(f, "{} ({name})", self.value),
            Meaning::Number | Meaning::Address(None) => writeln!(f, "{:#x}", self.value),
            Meaning::Address(Some(object)) => writeln!(f, "{:#x} ({object})", self.value),
            Meaning::Register(register) if register.value.is_some() => {
                write!(f, "{:#x}", self.value)?;
                register.write_fields(f)?;
                writeln!(f)
            }
            Meaning::Register(register) => writeln!(f, "{register}"),
        }
    }
}

impl Display for Register {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.name {
            Some(name) => write!(f, "{name}")?,
            None => write!(f, "register {:#07x}", self.offset)?,
        }
        if let Some(value) = self.value {
            write!(f, " <- {value:#x}")?;
        }
        self.write_fields(f)?;
        match &self.shader {
            Some((address, Some(object))) => write!(f, "  shader at {address:#x} ({object})"),
            Some((address, None)) => write!(f, "  shader at {address:#x}"),
            None => Ok(()),
        }
    }
}

impl Register {
    fn write_fields(&self, f: &mut Formatter<'_>) -> Result {
        for (index, (name, value, choice)) in self.fields.iter().enumerate() {
            f.write_str(if index == 0 { "  {" } else { ", " })?;
            write!(f, "{name} = {value}")?;
            if let Some(choice) = choice {
                write!(f, " ({choice})")?;
            }
        }
        match (self.fields.is_empty(), self.unnamed) {
            (true, 0) => Ok(()),
            (false, 0) => f.write_str("}"),
            (true, bits) => write!(f, "  {{reserved = {bits:#x}}}"),
            (false, bits) => write!(f, ", reserved = {bits:#x}}}"),
        }
    }
}

impl Display for Next {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let how = if self.is_chain { "goes on in" } else { "calls" };
        match self.shown {
            Shown::As(index) => writeln!(f, "            -> {how} IB {index}"),
            Shown::Unreadable => writeln!(f, "            -> {how} memory that is not here"),
            Shown::Limit => writeln!(f, "            -> {how} an IB beyond what is shown"),
        }
    }
}
