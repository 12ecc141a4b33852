//! The sources of what says which levels take a packet with the values that it has.
//!
//! A level is not known before a packet is recorded, but most values are. So each field gives the set of levels that take its
//! value, which is a constant where the value is one, and the level is looked up once, in what all sets have in common.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::records::{Member, MemberKind};
use super::selectors::{Selector, Value};
use super::spec::{Holds, Spec};
use super::variant::{Variant, bits, condition, ones};

/// The bounds of a number: the largest that fits, and its selector; `None` where there is no such field.
type Limit = Option<(u32, Option<String>)>;

/// Returns the bodies of `fits` and `takers`: the checks that are the same on all levels, and those that are not. Apart, for the
/// compiler would make numbers of what can be branches that are never taken.
pub(super) fn bodies(spec: &Spec, variant: &Variant<'_>, members: &[Member<'_>]) -> (String, String) {
    let all = variant.levels();
    let (mut fits, mut text) = (Vec::new(), String::new());
    for member in members {
        let field = member.raw();
        match member.kind {
            MemberKind::Flag => {
                let there = variant.groups(|level, form| !Variant::places(level, form, member.name).is_empty());
                let there = there.iter().filter(|(_, there)| *there).fold(0, |bits, (levels, _)| bits | levels);
                if there != all {
                    let _ = writeln!(text, "        if {field} {{\n            on &= {there:#x};\n        }}");
                }
            }
            MemberKind::Wide => wide(&mut fits, &mut text, variant, member.name, &field),
            MemberKind::Number => number(&mut fits, &mut text, spec, variant, member.name, &field),
        }
        meant(&mut fits, &mut text, variant, (members, member), &field);
    }
    let fits = if fits.is_empty() { "true".to_owned() } else { fits.join("\n            && ") };
    let text = if text.is_empty() {
        format!("        {all:#x}\n")
    } else {
        format!("        let mut on = {all:#x};\n{text}        on\n")
    };
    (format!("        {fits}\n"), text)
}

fn wide(fits: &mut Vec<String>, text: &mut String, variant: &Variant<'_>, name: &str, field: &str) {
    let masks = variant
        .groups(|level, form| Variant::places(level, form, name).into_iter().fold(0, |mask, field| mask | bits(field)));
    match &masks[..] {
        [(_, u64::MAX)] => {}
        [(_, mask)] => {
            fits.push(format!("{field} & !{mask:#x} == 0"));
        }
        masks => {
            for (levels, mask) in masks.iter().filter(|(_, mask)| *mask != u64::MAX) {
                let lost = if *mask == 0 { field.to_owned() } else { format!("{field} & !{mask:#x}") };
                let _ = writeln!(text, "        if {lost} != 0 {{\n            on &= !{levels:#x};\n        }}");
            }
        }
    }
}

fn number(fits: &mut Vec<String>, text: &mut String, spec: &Spec, variant: &Variant<'_>, name: &str, field: &str) {
    let choice = |level, form: &_| {
        Variant::places(level, form, name).first().map(|place| match &place.holds {
            Holds::Choice(selector) => (ones(place.bits), Some(selector.clone())),
            _ => (ones(place.bits), None),
        })
    };
    let groups = variant.groups(choice);
    if groups.iter().any(|(_, place)| matches!(place, Some((_, Some(_))))) {
        selector(fits, text, spec, &groups, variant.levels(), field);
        return;
    }
    // The levels that hold as much as each limit, the least first.
    let mut limits: BTreeMap<u32, u16> = BTreeMap::new();
    for (levels, place) in &groups {
        *limits.entry(place.as_ref().map_or(0, |place| place.0)).or_default() |= levels;
    }
    let mut left = variant.levels();
    let mut arms = String::new();
    for (limit, levels) in limits {
        let condition = if limit == 0 { format!("{field} == 0") } else { format!("{field} <= {limit:#x}") };
        if limit == u32::MAX {
            let _ = write!(arms, "{{ {left:#x} }}");
            left = 0;
        } else {
            let _ = write!(arms, "if {condition} {{ {left:#x} }} else ");
            left &= !levels;
        }
    }
    if groups.len() == 1 {
        if let Some(condition) = arms.strip_prefix("if ").and_then(|rest| rest.split_once(" {")).map(|arm| arm.0) {
            fits.push(condition.to_owned());
        }
        return;
    }
    let end = if arms.ends_with("else ") { "{ return 0 }" } else { "" };
    let _ = writeln!(text, "        on &= {arms}{end};");
}

/// The levels of each value; a level without the field takes zero only.
fn selector(fits: &mut Vec<String>, text: &mut String, spec: &Spec, groups: &[(u16, Limit)], all: u16, field: &str) {
    let mut values: BTreeMap<u32, u16> = BTreeMap::new();
    for (levels, place) in groups {
        let Some((_, Some(name))) = place else {
            *values.entry(0).or_default() |= levels;
            continue;
        };
        let found: Option<&Selector> = spec.selectors.iter().find(|selector| selector.name == *name);
        for Value { number: value, levels: known, .. } in found.into_iter().flat_map(|selector| &selector.values) {
            *values.entry(*value).or_default() |= levels & known;
        }
    }
    let mut arms: Vec<(u16, Vec<u32>)> = Vec::new();
    for (value, levels) in values.into_iter().filter(|(_, levels)| *levels != 0) {
        match arms.iter_mut().find(|arm| arm.0 == levels) {
            Some(arm) => arm.1.push(value),
            None => arms.push((levels, vec![value])),
        }
    }
    if let [(levels, values)] = &arms[..]
        && *levels == all
    {
        fits.push(format!("matches!({field}, {})", patterns(values)));
        return;
    }
    let _ = writeln!(text, "        on &= match {field} {{");
    for (levels, values) in arms {
        let _ = writeln!(text, "            {} => {levels:#x},", patterns(&values));
    }
    let _ = writeln!(text, "            _ => return 0,\n        }};");
}

/// Values as a pattern, neighbours as a range.
fn patterns(values: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &value in values {
        match ranges.last_mut() {
            Some(range) if range.1 + 1 == value => range.1 = value,
            _ => ranges.push((value, value)),
        }
    }
    let range = |(first, last): (u32, u32)| if first == last { first.to_string() } else { format!("{first}..={last}") };
    ranges.into_iter().map(range).collect::<Vec<_>>().join(" | ")
}

/// Writes that a field which is set is one that another field gives a meaning.
fn meant(
    fits: &mut Vec<String>,
    text: &mut String,
    variant: &Variant<'_>,
    (members, member): (&[Member<'_>], &Member<'_>),
    field: &str,
) {
    let conditions = variant.groups(|level, form| {
        Variant::places(level, form, member.name).into_iter().find_map(|field| condition(field, members))
    });
    let (is_set, is_not) = if member.kind == MemberKind::Flag {
        (field.to_owned(), format!("!{field}"))
    } else {
        (format!("{field} != 0"), format!("{field} == 0"))
    };
    for (levels, condition) in &conditions {
        let Some(condition) = condition else { continue };
        if *levels == variant.levels() {
            fits.push(format!("({is_not} || {condition})"));
        } else {
            let _ =
                writeln!(text, "        if {is_set} && !({condition}) {{\n            on &= !{levels:#x};\n        }}");
        }
    }
}
