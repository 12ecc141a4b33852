//! The tables of registers, read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::Error;
use crate::text::{Line, SpecError, lines, set};

/// The sets of registers, by the bit that stands for them.
pub(crate) const SETS: &[&str] =
    &["GFX6", "GFX7", "GFX8", "GFX8_1", "GFX9", "GFX10", "GFX10_3", "GFX11", "GFX11_5", "GFX12", "GFX9_4"];

/// The files of registers.
const FILES: &[&str] = &["config", "sh", "context", "uconfig", "other"];

/// All tables.
#[derive(Debug, Default)]
pub(crate) struct Spec {
    pub(crate) registers: BTreeMap<String, Register>,
    pub(crate) enums: BTreeMap<String, Vec<Value>>,
    /// The registers whose fields become constants.
    pub(crate) typed: BTreeSet<String>,
}

/// A register.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    /// Byte offsets, and the sets that have the register there.
    pub(crate) places: Vec<(u32, u16)>,
    pub(crate) fields: Vec<Field>,
    like: Option<String>,
}

/// A field of a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) bits: (u8, u8),
    pub(crate) sets: u16,
    pub(crate) choices: Option<String>,
}

/// A value of an enum.
#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) raw: u32,
    pub(crate) name: String,
    pub(crate) sets: u16,
}

/// Reads the tables of a directory.
pub(crate) fn read(home: &Path) -> Result<Spec, Error> {
    let mut spec = Spec::default();
    for file in FILES {
        let path = home.join(file).with_extension("txt");
        let found = crate::parse(&path, registers)?;
        for (name, register) in found {
            if spec.registers.insert(name.clone(), register).is_some() {
                return Err(Error::Table(format!("{name} is in two tables")));
            }
        }
    }
    spec.enums = crate::parse(&home.join("enums.txt"), enums)?;
    spec.typed = crate::parse(&home.join("typed.txt"), typed)?;
    resolve(&mut spec)?;
    Ok(spec)
}

fn typed(text: &str) -> Result<BTreeSet<String>, SpecError> {
    let one = |mut line: Line<'_>| {
        let name = line.word("a name")?.to_owned();
        line.end().map(|()| name)
    };
    lines(text).map(one).collect()
}

fn registers(text: &str) -> Result<Vec<(String, Register)>, SpecError> {
    let mut found: Vec<(String, Register)> = Vec::new();
    for mut line in lines(text) {
        if !line.is_indented {
            found.push(register(&mut line)?);
            continue;
        }
        let field = field(&mut line)?;
        match found.last_mut() {
            Some((_, register)) if register.like.is_none() => register.fields.push(field),
            _ => return Err(line.fault("a field without a register of its own")),
        }
    }
    Ok(found)
}

fn register(line: &mut Line<'_>) -> Result<(String, Register), SpecError> {
    let name = line.word("a name")?.to_owned();
    if !line.take("at") {
        return Err(line.fault("`at` is missing"));
    }
    let mut places = Vec::new();
    loop {
        let offset = line.number("an offset")?;
        let sets = sets(line)?.ok_or_else(|| line.fault("generations are missing"))?;
        if !offset.is_multiple_of(4) || places.iter().any(|&(_, other)| other & sets != 0) {
            return Err(line.fault("an offset that is no multiple of 4, or a second place of one generation"));
        }
        places.push((offset, sets));
        if !line.take(",") {
            break;
        }
    }
    let like = if line.take("like") { Some(line.word("a name")?.to_owned()) } else { None };
    line.end()?;
    Ok((name, Register { places, fields: Vec::new(), like }))
}

fn sets(line: &mut Line<'_>) -> Result<Option<u16>, SpecError> {
    let inner = line.brackets()?;
    inner.map(|text| set(line, text, SETS)).transpose()
}

fn field(line: &mut Line<'_>) -> Result<Field, SpecError> {
    let bits = line.bits()?;
    let name = line.word("a name")?.to_ascii_lowercase();
    let choices = if line.take("in") { Some(line.word("an enum")?.to_owned()) } else { None };
    let sets = sets(line)?.unwrap_or(u16::MAX);
    line.end()?;
    Ok(Field { name, bits, sets, choices })
}

fn enums(text: &str) -> Result<BTreeMap<String, Vec<Value>>, SpecError> {
    let mut found: Vec<(String, u16, Vec<Value>)> = Vec::new();
    for mut line in lines(text) {
        if !line.is_indented {
            let name = line.word("a name")?.to_owned();
            let sets = sets(&mut line)?.unwrap_or(u16::MAX);
            line.end()?;
            found.push((name, sets, Vec::new()));
            continue;
        }
        let raw = line.number("a value")?;
        let name = line.word("a name")?.to_ascii_lowercase();
        let own = sets(&mut line)?;
        line.end()?;
        let Some((_, all, values)) = found.last_mut() else { return Err(line.fault("a value without an enum")) };
        let sets = own.unwrap_or(*all);
        if values.last().is_some_and(|last| last.raw > raw) {
            return Err(line.fault("the values are not in order"));
        }
        if values.iter().any(|other| other.raw == raw && other.sets & sets != 0) {
            return Err(line.fault(format!("{raw} has two names on one generation")));
        }
        values.push(Value { raw, name, sets });
    }
    Ok(found.into_iter().map(|(name, _, values)| (name, values)).collect())
}

/// Gives every register its fields, each of which ends up on some set that has the register, with an enum that there is.
fn resolve(spec: &mut Spec) -> Result<(), Error> {
    let wrong = |text: String| Err(Error::Table(text));
    let mut fields = BTreeMap::new();
    for (name, register) in &spec.registers {
        let from = match &register.like {
            None => register,
            Some(like) => match spec.registers.get(like) {
                Some(other) if other.like.is_none() => other,
                _ => return wrong(format!("{name} is like {like}, which has no fields of its own")),
            },
        };
        for field in &from.fields {
            if field.choices.as_ref().is_some_and(|choices| !spec.enums.contains_key(choices)) {
                return wrong(format!("{name}.{}: there is no such enum", field.name));
            }
        }
        fields.insert(name.clone(), from.fields.clone());
    }
    for (name, register) in &mut spec.registers {
        register.fields = fields.remove(name).unwrap_or_default();
    }
    match spec.typed.iter().find(|name| !spec.registers.contains_key(*name)) {
        Some(name) => wrong(format!("typed.txt names {name}, which is no register")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_has_places_and_fields() {
        let text = "A at 0x10 [GFX6], 0x20 [GFX7..GFX8]\n  3:1 LOW in E [GFX6]\n  4 BIT\nB at 0x30 [GFX12] like A\n";
        let found = registers(text).unwrap();
        let [(name, a), (_, b)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((name.as_str(), &a.places[..]), ("A", &[(0x10, 1), (0x20, 6)][..]));
        let low = Field { name: "low".into(), bits: (3, 1), sets: 1, choices: Some("E".into()) };
        assert_eq!(a.fields[0], low);
        assert_eq!((a.fields[1].bits, a.fields[1].sets), ((4, 4), u16::MAX));
        assert_eq!(b.like.as_deref(), Some("A"));
    }

    #[test]
    fn a_generation_has_a_register_once() {
        assert!(registers("A at 0x10 [GFX6..GFX7], 0x20 [GFX7]").is_err());
        assert!(registers("A at 0x11 [GFX6]").is_err());
        assert!(registers("  3:1 LOW").is_err());
        assert!(registers("A at 0x10 [GFX6]\n  1:3 LOW").is_err());
    }

    #[test]
    fn a_value_has_one_name_on_each_generation() {
        assert!(enums("E [GFX6..GFX7]\n  0 A [GFX6]\n  0 B [GFX7]").is_ok());
        assert!(enums("E [GFX6..GFX7]\n  0 A\n  0 B [GFX7]").is_err());
    }
}
