//! Numbers whose bits have names, each a type of flags: those of a register, of a packet's dword, or their own.

use std::fmt::Write as _;
use std::path::Path;

use super::records::camel;
use super::selectors::{GENERATIONS, Selector, generations, in_words, levels};
use super::spec::{Field, Holds, Spec, fields};
use crate::Error;
use crate::registers::spec as registers;
use crate::text::{SpecError, lines};

/// A type of flags.
struct Flags {
    name: String,
    about: String,
    levels: u16,
    from: From,
    /// The number's own fields.
    fields: Vec<Field>,
    named: Vec<Flag>,
}

/// The origin of the bits.
enum From {
    Register(String),
    Packet(String),
    /// Fields of its own, some of which a packet has too.
    Own(String),
}

/// A flag.
struct Flag {
    name: String,
    /// The fields that it sets.
    fields: Vec<String>,
    /// The name of the value that it sets; all bits if there is none.
    value: Option<String>,
    about: String,
}

/// Some bits, and the generations that have them.
struct BitPlace {
    bits: (u8, u8),
    levels: u16,
    selector: Option<String>,
}

impl BitPlace {
    /// Returns the bits with a number in them.
    const fn holding(&self, number: u32) -> u32 {
        number << self.bits.1
    }

    const fn mask(&self) -> u32 {
        self.holding(u32::MAX >> (31 - (self.bits.0 - self.bits.1)))
    }
}

/// Generates the flags that a table describes.
pub(crate) fn source(home: &Path, spec: &Spec, known: &registers::Spec) -> Result<String, Error> {
    let found = crate::parse(&home.join("flags.txt"), parse)?;
    let mut text = String::from("//! Numbers whose bits have names, as flags.\n\n");
    text.push_str("use amdgpu_hw::GfxLevel;\nuse bitflags::bitflags;\n\n");
    text.push_str(
        "use super::selectors as s;\nuse crate::FieldError;\nuse crate::layout::parts::{NamedBits, named};\n",
    );
    for flags in &found {
        write(&mut text, flags, spec, known)?;
    }
    Ok(text)
}

fn parse(text: &str) -> Result<Vec<Flags>, SpecError> {
    let mut found: Vec<Flags> = Vec::new();
    for mut line in lines(text) {
        if !line.is_indented {
            let name = line.word("a name")?.to_owned();
            let (kind, source) = (line.word("a source")?, line.word("a source's name")?.to_owned());
            let from = match kind {
                "of" => From::Register(source),
                "in" => From::Packet(source),
                "with" => From::Own(source),
                _ => return Err(line.fault(format!("{kind} is none of `of`, `in` and `with`"))),
            };
            let levels = levels(&mut line, GENERATIONS)?.ok_or_else(|| line.fault("generations are missing"))?;
            let about = line.quoted()?.to_owned();
            line.end()?;
            found.push(Flags { name, about, levels, from, fields: Vec::new(), named: Vec::new() });
            continue;
        }
        let Some(flags) = found.last_mut() else { return Err(line.fault("a flag without a type")) };
        if line.take("field") {
            fields(&mut line, 0, GENERATIONS, &mut flags.fields)?;
            continue;
        }
        let name = line.word("a name")?.to_owned();
        let fields = line.word("a field")?.split('|').map(str::to_owned).collect();
        let value = if line.take("=") { Some(line.word("a value")?.to_owned()) } else { None };
        let about = line.quoted()?.to_owned();
        line.end()?;
        flags.named.push(Flag { name, fields, value, about });
    }
    Ok(found)
}

/// Returns the places of a field in the number.
fn places(flags: &Flags, name: &str, spec: &Spec, known: &registers::Spec) -> Vec<BitPlace> {
    let of_field = |field: &Field, levels: u16| BitPlace {
        bits: field.bits,
        levels: field.levels & levels & flags.levels,
        selector: if let Holds::Choice(selector) = &field.holds { Some(selector.clone()) } else { None },
    };
    let mut found: Vec<BitPlace> = Vec::new();
    match &flags.from {
        From::Register(register) => {
            let rows = known.registers.get(register).into_iter().flat_map(|register| &register.fields);
            let levels = |sets: u16| generations(sets) & flags.levels;
            let place = |row: &registers::Field| BitPlace { bits: row.bits, levels: levels(row.sets), selector: None };
            found.extend(rows.filter(|row| row.name == name).map(place));
        }
        From::Packet(packet) => {
            for form in spec.packet(packet).into_iter().flat_map(|packet| &packet.forms) {
                let here = form.fields.iter().filter(|field| field.name == name);
                found.extend(here.map(|field| of_field(field, form.levels)));
            }
        }
        From::Own(_) => {
            let here = flags.fields.iter().filter(|field| field.name == name);
            found.extend(here.map(|field| of_field(field, u16::MAX)));
        }
    }
    found.retain(|place| place.levels != 0);
    found
}

/// Returns the bits of a flag, and the generations that have it.
fn bits(flags: &Flags, flag: &Flag, spec: &Spec, known: &registers::Spec) -> Result<(u32, u16), Error> {
    let wrong = |what: String| Error::Table(format!("{}.{}: {what}", flags.name, flag.name));
    let (mut mask, mut levels) = (0, flags.levels);
    for name in &flag.fields {
        let places = places(flags, name, spec, known);
        let Some(first) = places.first() else { return Err(wrong(format!("there is no {name}"))) };
        if places.iter().any(|place| place.bits != first.bits) {
            return Err(wrong(format!("{name} is not always at the same place")));
        }
        levels &= places.iter().fold(0, |levels, place| levels | place.levels);
        mask |= match (&flag.value, &first.selector) {
            (None, _) => first.mask(),
            (Some(value), Some(selector)) => {
                let selector = selector_of(spec, selector);
                let found = selector.and_then(|selector| selector.values.iter().find(|known| known.name == *value));
                first.holding(found.ok_or_else(|| wrong(format!("{name} has no value {value}")))?.number)
            }
            (Some(_), None) => return Err(wrong(format!("{name} is no selector"))),
        };
    }
    Ok((mask, levels))
}

fn selector_of<'s>(spec: &'s Spec, name: &str) -> Option<&'s Selector> {
    spec.selectors.iter().find(|selector| selector.name == name)
}

fn write(text: &mut String, flags: &Flags, spec: &Spec, known: &registers::Spec) -> Result<(), Error> {
    let name = &flags.name;
    let _ = write!(text, "\nbitflags! {{\n    /// {}.\n", flags.about);
    text.push_str("    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]\n");
    let _ = writeln!(text, "    pub struct {name}: u32 {{");
    let mut by_level = vec![0_u32; GENERATIONS.len()];
    for flag in &flags.named {
        let (mask, levels) = bits(flags, flag, spec, known)?;
        let place = if levels == flags.levels { String::new() } else { format!(" {}.", in_words(levels)) };
        let _ = writeln!(text, "        /// {}.{place}\n        const {} = {mask:#x};", flag.about, flag.name);
        for (_, known) in by_level.iter_mut().enumerate().filter(|(at, _)| levels >> at & 1 != 0) {
            *known |= mask;
        }
    }
    let _ = write!(text, "    }}\n}}\n\nimpl {name} {{\n");
    let missing = in_words(!flags.levels & 0x1ff);
    let _ = writeln!(text, "    /// Returns the flags that a generation knows: none on {missing}.");
    write_masks(text, "pub const fn known", &by_level);
    if let From::Own(packet) = &flags.from {
        write_own(text, flags, packet, spec)?;
    }
    text.push_str("}\n");
    if let From::Own(_) = flags.from {
        let _ =
            writeln!(text, "\n/// The fields of {name}.\npub(crate) const {}: &[NamedBits] = &[", name.to_uppercase());
        for field in &flags.fields {
            let choices = match &field.holds {
                Holds::Choice(selector) => format!("s::{selector}"),
                _ => "&[]".to_owned(),
            };
            let (high, low) = field.bits;
            let _ = writeln!(text, "    named({:?}, {high}, {low}, {choices}),", field.name);
        }
        text.push_str("];\n");
    }
    Ok(())
}

/// Writes a function that returns a mask by generation.
fn write_masks(text: &mut String, head: &str, by_level: &[u32]) {
    let mut arms: Vec<(u32, Vec<String>)> = Vec::new();
    for (&mask, generation) in by_level.iter().zip(GENERATIONS).filter(|(mask, _)| **mask != 0) {
        let level = format!("GfxLevel::Gfx{}", generation.trim_start_matches("GFX"));
        match arms.iter_mut().find(|arm| arm.0 == mask) {
            Some(arm) => arm.1.push(level),
            None => arms.push((mask, vec![level])),
        }
    }
    let _ = writeln!(text, "    #[inline]\n    {head}(level: GfxLevel) -> Self {{");
    text.push_str("        Self::from_bits_retain(match level {\n");
    for (mask, levels) in arms {
        let _ = writeln!(text, "            {} => {mask:#x},", levels.join(" | "));
    }
    text.push_str("            _ => 0,\n        })\n    }\n");
}

/// Writes what takes the number's fields apart, refuses values without a name, and says which of them a packet has.
fn write_own(text: &mut String, flags: &Flags, packet: &str, spec: &Spec) -> Result<(), Error> {
    let mut by_level = vec![0_u32; GENERATIONS.len()];
    let mut checks = String::new();
    for field in &flags.fields {
        let place = BitPlace { bits: field.bits, levels: flags.levels, selector: None };
        let mut is_carried = false;
        for form in spec.packet(packet).into_iter().flat_map(|packet| &packet.forms) {
            let here = form.fields.iter().filter(|other| other.name == field.name);
            let levels = here.fold(0, |levels, other| levels | other.levels & form.levels) & flags.levels;
            is_carried |= levels != 0;
            for (_, known) in by_level.iter_mut().enumerate().filter(|(at, _)| levels >> at & 1 != 0) {
                *known |= place.mask();
            }
        }
        let Holds::Choice(name) = &field.holds else { continue };
        let (kind, low, ones) = (format!("s::values::{}", camel(name)), field.bits.1, place.mask() >> field.bits.1);
        let field = &field.name;
        let _ = write!(
            text,
            "\n    /// Returns its `{field}`.\n    #[inline]\n    pub const fn {field}(self) -> {kind} {{\n        \
             {kind}::new(self.bits() >> {low} & {ones:#x})\n    }}\n"
        );
        if is_carried {
            let _ = write!(
                text,
                "\n    /// Returns the flags of a `{field}`.\n    #[inline]\n    \
                 pub(crate) const fn of_{field}(value: {kind}) -> Self {{\n        \
                 Self::from_bits_retain((value.number() & {ones:#x}) << {low})\n    }}\n"
            );
        }
        let selector = selector_of(spec, name).ok_or_else(|| Error::Table(format!("{name} is no selector")))?;
        let named: Vec<_> = (0..=ones).filter(|raw| selector.values.iter().any(|value| value.number == *raw)).collect();
        if named.len() <= ones as usize {
            let named = named.iter().map(u32::to_string).collect::<Vec<_>>().join(" | ");
            let _ = writeln!(
                checks,
                "        let value = self.{field}().number();\n        if !matches!(value, {named}) {{\n            \
                 return Err(FieldError::Unknown {{ field: {field:?}, value }});\n        }}"
            );
        }
    }
    let _ = writeln!(text, "\n    /// Returns the flags that {packet} can carry on a generation.");
    write_masks(text, "pub(crate) const fn carried", &by_level);
    text.push_str("\n    /// Refuses a field with a value that has no name.\n    #[inline]\n");
    let _ = writeln!(
        text,
        "    pub(crate) const fn check(self) -> Result<(), FieldError> {{\n{checks}        Ok(())\n    }}"
    );
    Ok(())
}
