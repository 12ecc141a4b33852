//! Ways to write a packet, by the levels that have them.

use std::fmt::Write as _;

use super::places::whole;
use super::records::{Member, MemberKind, Record, safe};
use super::spec::{Field, Form, Holds};

/// A way to write a packet: the form of each level.
pub(super) struct Variant<'s> {
    /// Suffix of its type's name after the packet's; empty for the packet itself.
    pub(super) suffix: &'s str,
    /// The levels, the language and the form.
    pub(super) forms: Vec<(u16, &'s str, &'s Form)>,
}

/// The first form of every level, and the forms with a name of their own.
pub(super) fn variants<'s>(record: &Record<'s>) -> Vec<Variant<'s>> {
    let mut found: Vec<Variant<'s>> = vec![Variant { suffix: "", forms: Vec::new() }];
    for (language, packet) in &record.packets {
        for form in &packet.forms {
            let suffix = form.alias.as_deref().unwrap_or_default();
            let at = found.iter().position(|variant| variant.suffix == suffix).unwrap_or_else(|| {
                found.push(Variant { suffix, forms: Vec::new() });
                found.len() - 1
            });
            let Some(variant) = found.get_mut(at) else { continue };
            let taken = variant.forms.iter().fold(0, |bits, (levels, ..)| bits | levels);
            if form.levels & !taken != 0 {
                variant.forms.push((form.levels & !taken, language, form));
            }
        }
    }
    found
}

impl Variant<'_> {
    /// Returns the levels that have a form.
    pub(super) fn levels(&self) -> u16 {
        self.forms.iter().fold(0, |bits, (levels, ..)| bits | levels)
    }

    /// Returns what each level has, with the levels that have the same.
    pub(super) fn groups<T: PartialEq>(&self, of: impl Fn(u16, &Form) -> T) -> Vec<(u16, T)> {
        let mut groups: Vec<(u16, T)> = Vec::new();
        for &(levels, _, form) in &self.forms {
            for level in (0..16).map(|bit| 1 << bit).filter(|level| levels & level != 0) {
                let value = of(level, form);
                match groups.iter_mut().find(|group| group.1 == value) {
                    Some(group) => group.0 |= level,
                    None => groups.push((level, value)),
                }
            }
        }
        groups
    }

    /// Joins the expressions of the levels, so that a level is tested only where the levels differ.
    pub(super) fn by_level(&self, of: impl Fn(u16, &Form) -> String) -> String {
        let mut groups = self.groups(of);
        match &groups[..] {
            [(levels, yes), (_, no)] | [(_, no), (levels, yes)] if yes == "true" && no == "false" => {
                return format!("is_on(l, {levels:#x})");
            }
            _ => {}
        }
        let Some((_, last)) = groups.pop() else { return String::new() };
        let mut text = String::new();
        for (levels, value) in &groups {
            let _ = write!(text, "if is_on(l, {levels:#x}) {{ {value} }} else ");
        }
        if groups.is_empty() { last } else { format!("{text}{{ {last} }}") }
    }

    /// The fields of a member on a level.
    pub(super) fn places<'f>(level: u16, form: &'f Form, member: &str) -> Vec<&'f Field> {
        let mut found: Vec<&Field> = Vec::new();
        let here = form.fields.iter().filter(|field| field.levels & level != 0 && whole(&field.name).0 == member);
        for field in here.filter(|field| !matches!(field.holds, Holds::Only(_))) {
            // Of several fields of one name the first one counts.
            if !found.iter().any(|other| other.name == field.name) {
                found.push(field);
            }
        }
        found
    }
}

/// The dword of a form's last field.
pub(super) fn described(form: &Form) -> u32 {
    form.fields.last().map_or(0, |field| field.dword)
}

/// Returns the last dword with a field that every form has, and the last one of all.
pub(super) fn reach(record: &Record<'_>, part: &Variant<'_>) -> (u32, u32) {
    let last = |form: &Form| described(form).max(if record.has_data() { 0 } else { form.payload.0.into() });
    let always = part.forms.iter().map(|&(_, _, form)| last(form).min(form.payload.0.into())).min();
    let most = part.forms.iter().map(|&(_, _, form)| last(form)).max();
    (always.unwrap_or_default(), most.unwrap_or_default())
}

/// Returns the condition under which a field is meant, of which the records has the deciding fields; `None` if it always is.
pub(super) fn condition(field: &Field, members: &[Member<'_>]) -> Option<String> {
    let one = |(decides, values): &(String, Vec<u32>)| {
        let member = members.iter().find(|member| member.name == decides);
        let is_flag = member.is_some_and(|member| member.kind == MemberKind::Flag);
        let raw = member.map_or_else(|| format!("r.{}", safe(decides)), Member::raw);
        match &values[..] {
            [1] if is_flag => format!("r.{}", safe(decides)),
            [0] if is_flag => format!("!r.{}", safe(decides)),
            values => {
                let values = values.iter().map(u32::to_string).collect::<Vec<_>>().join(" | ");
                format!("matches!({raw}, {values})")
            }
        }
    };
    let all: Vec<_> = field.when.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join(" && "))
}

/// The largest number that bits hold.
pub(super) fn ones(bits: (u8, u8)) -> u32 {
    u32::MAX >> (31 - (bits.0 - bits.1))
}

/// The bits that a field has of a number in two halves.
pub(super) fn bits(field: &Field) -> u64 {
    match whole(&field.name) {
        (_, true) if field.name.ends_with("_hi") => u64::from(ones(field.bits)) << 32,
        _ => u64::from(ones(field.bits)) << field.bits.1,
    }
}
