//! The selectors: values of fields that have names.

use std::collections::BTreeMap;

use crate::Error;
use crate::registers::spec as registers;
use crate::text::{Line, SpecError, lines, set};

/// The generations of the rings, by the bit that stands for them.
pub(crate) const GENERATIONS: &[&str] =
    &["GFX6", "GFX7", "GFX8", "GFX9", "GFX10", "GFX10_3", "GFX11", "GFX11_5", "GFX12"];

/// The values of some fields.
#[derive(Debug)]
pub(crate) struct Selector {
    pub(crate) name: String,
    pub(crate) values: Vec<Value>,
    /// The enum of the registers that has the values.
    from: Option<String>,
    /// Descriptions of that enum's values.
    notes: BTreeMap<String, String>,
}

/// A value with a name.
#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) number: u32,
    pub(crate) name: String,
    /// The generations that have it.
    pub(crate) levels: u16,
    pub(crate) about: Option<String>,
}

/// Parses the table of selectors.
pub(super) fn parse(text: &str) -> Result<Vec<Selector>, SpecError> {
    let mut found: Vec<Selector> = Vec::new();
    for mut line in lines(text) {
        if !line.is_indented {
            let name = line.word("a name")?.to_owned();
            let from = if line.take("from") { Some(line.word("an enum")?.to_owned()) } else { None };
            line.end()?;
            found.push(Selector { name, values: Vec::new(), from, notes: BTreeMap::new() });
            continue;
        }
        let Some(selector) = found.last_mut() else { return Err(line.fault("a value without a selector")) };
        if selector.from.is_some() {
            let (name, about) = (line.word("a name")?.to_owned(), line.quoted()?.to_owned());
            line.end()?;
            selector.notes.insert(name, about);
            continue;
        }
        let (number, name) = (line.number("a value")?, line.word("a name")?.to_owned());
        let levels = levels(&mut line, GENERATIONS)?.unwrap_or(u16::MAX);
        line.end()?;
        if selector.values.last().is_some_and(|last| last.number > number) {
            return Err(line.fault("the values are not in order"));
        }
        selector.values.push(Value { number, name, levels, about: None });
    }
    Ok(found)
}

/// Parses a set of generations or versions in brackets.
pub(super) fn levels(line: &mut Line<'_>, names: &[&str]) -> Result<Option<u16>, SpecError> {
    let inner = line.brackets()?;
    inner.map(|text| set(line, text, names)).transpose()
}

/// Gives the selectors that name an enum of the registers its values.
pub(super) fn resolve(selectors: &mut [Selector], known: &registers::Spec) -> Result<(), Error> {
    for selector in selectors {
        let Some(from) = &selector.from else { continue };
        let values = known.enums.get(from);
        let values = values.ok_or_else(|| Error::Table(format!("{}: there is no enum {from}", selector.name)))?;
        let is_named = |value: &&registers::Value| {
            !["reserved_", "available_"].iter().any(|nothing| value.name.starts_with(nothing))
        };
        for value in values.iter().filter(is_named) {
            selector.values.push(Value {
                number: value.raw,
                name: value.name.clone(),
                levels: generations(value.sets),
                about: selector.notes.remove(&value.name),
            });
        }
        if let Some(name) = selector.notes.keys().next() {
            return Err(Error::Table(format!("{}: {from} has no {name}", selector.name)));
        }
    }
    Ok(())
}

/// Returns the generations of a set of the registers' tables.
pub(super) fn generations(sets: u16) -> u16 {
    let is_in = |name: &str| registers::SETS.iter().position(|set| *set == name).is_some_and(|at| sets >> at & 1 != 0);
    GENERATIONS.iter().enumerate().filter(|(_, name)| is_in(name)).fold(0, |bits, (at, _)| bits | 1 << at)
}

/// Returns a set of generations in words.
pub(super) fn in_words(levels: u16) -> String {
    spans(levels, GENERATIONS)
}

/// Returns a set of levels with these names in words.
pub(super) fn spans(levels: u16, names: &[&str]) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for at in (0..names.len()).filter(|at| levels >> at & 1 != 0) {
        match spans.last_mut() {
            Some(span) if span.1 + 1 == at => span.1 = at,
            _ => spans.push((at, at)),
        }
    }
    let one = |&(first, last): &(usize, usize)| match (names[first], names[last]) {
        (first, last) if first == last => first.to_owned(),
        (first, last) => format!("{first} to {last}"),
    };
    spans.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_has_its_values_or_those_of_an_enum() {
        let mut found = parse("A\n  1 one [GFX6]\n  2 two\nB from E\n  three \"is three\"\n").unwrap();
        let value = |raw, name: &str| registers::Value { raw, name: name.to_owned(), sets: 0b1_0000 };
        let mut known = registers::Spec::default();
        known.enums.insert("E".to_owned(), vec![value(0, "reserved_0x00"), value(3, "three")]);
        resolve(&mut found, &known).unwrap();
        let [a, b] = &found[..] else { panic!("{found:?}") };
        assert_eq!((a.values[0].levels, a.values[1].number), (1, 2));
        let [three] = &b.values[..] else { panic!("{b:?}") };
        assert_eq!((three.number, three.levels, three.about.as_deref()), (3, 0b1000, Some("is three")));
        assert!(resolve(&mut parse("B from F").unwrap(), &known).is_err(), "no such enum");
        assert!(resolve(&mut parse("B from E\n  four \"is four\"").unwrap(), &known).is_err(), "no such value");
        assert!(parse("A\n  2 two\n  1 one").is_err(), "out of order");
    }

    #[test]
    fn generations_in_a_row_are_one_span() {
        assert_eq!((in_words(0b1011).as_str(), in_words(0x1ff).as_str()), ("GFX6 to GFX7, GFX9", "GFX6 to GFX12"));
    }
}
