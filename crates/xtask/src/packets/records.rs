//! The sources of the records: a structure for each packet, with the fields of all its forms.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::places::{self, whole};
use super::spec::{Field, Form, Holds, Packet, Spec};

/// A packet of one name, in one language or in both of the copy engines.
pub(super) struct Record<'s> {
    pub(super) name: &'s str,
    about: &'s str,
    /// The forms, with their numbers.
    forms: Vec<(u32, &'s Form)>,
    /// The packets of the name, with their languages.
    pub(super) packets: Vec<(&'s str, &'s Packet)>,
}

/// A field of a record.
pub(super) struct Member<'s> {
    pub(super) name: &'s str,
    pub(super) kind: MemberKind,
    /// The selector that has its values.
    selector: Option<&'s str>,
}

impl Member<'_> {
    /// The name of its type.
    fn type_name(&self) -> String {
        self.selector.map_or_else(|| self.kind.type_name().to_owned(), |selector| format!("v::{}", camel(selector)))
    }

    /// The expression for the member of a record `r` as a plain value.
    pub(super) fn raw(&self) -> String {
        let number = if self.selector.is_some() { ".number()" } else { "" };
        format!("r.{}{number}", safe(self.name))
    }

    /// The expression that makes its type of a plain value.
    pub(super) fn typed(&self, value: String) -> String {
        if self.selector.is_some() { format!("{}::new({value})", self.type_name()) } else { value }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberKind {
    Flag,
    Number,
    /// A number in two fields, `x_lo` and `x_hi`; the low one keeps its place.
    Wide,
}

impl MemberKind {
    const fn type_name(self) -> &'static str {
        match self {
            Self::Flag => "bool",
            Self::Number => "u32",
            Self::Wide => "u64",
        }
    }
}

/// Generates the records of some languages, which share them.
pub(super) fn language(names: &[&str], records: &[Record<'_>]) -> String {
    let mut text = format!(
        "//! The packets of {}, with all their fields. Dword 0 of a packet is its header.\n\n",
        names.join(" and ")
    );
    let mut body = String::new();
    for record in records {
        write_record(&mut body, record);
    }
    write_enum(&mut body, records);
    let on = if body.contains("on(l") { "on, " } else { "" };
    if body.contains("v::") {
        text.push_str("use super::selectors::values as v;\n");
    }
    let _ = writeln!(text, "use crate::layout::{{Fields, bits, {on}wide}};");
    text + &body
}

/// Collects the packets of some languages by name.
pub(super) fn records<'s>(spec: &'s Spec, names: &[&str]) -> Vec<Record<'s>> {
    let mut found: Vec<Record<'s>> = Vec::new();
    let mut number = 0;
    for language in &spec.languages {
        let is_here = names.contains(&language.name);
        for packet in &language.packets {
            let numbered = |form: &'s Form| {
                number += 1;
                (number - 1, form)
            };
            let forms: Vec<_> = packet.forms.iter().map(numbered).collect();
            if is_here {
                add(&mut found, language.name, packet, forms);
            }
        }
    }
    found.sort_by_key(|record| record.name);
    found
}

fn add<'s>(found: &mut Vec<Record<'s>>, language: &'s str, packet: &'s Packet, forms: Vec<(u32, &'s Form)>) {
    let packets = vec![(language, packet)];
    match found.iter_mut().find(|record| record.name == packet.name) {
        Some(record) => {
            record.forms.extend(forms);
            record.packets.extend(packets);
        }
        None => found.push(Record { name: &packet.name, about: &packet.about, forms, packets }),
    }
}

/// A name in camel case.
pub(super) fn camel(name: &str) -> String {
    let part = |part: &str| match part.split_at_checked(1) {
        Some((first, rest)) => format!("{first}{}", rest.to_ascii_lowercase()),
        None => String::new(),
    };
    name.split('_').map(part).collect()
}

/// A name that the language does not keep for itself.
pub(super) fn safe(name: &str) -> &str {
    match name {
        "loop" => "loops",
        "continue" => "continues",
        "bool" => "boolean",
        "priv" => "privileged",
        name => name,
    }
}

impl<'s> Record<'s> {
    fn fields(&self) -> impl Iterator<Item = &'s Field> {
        self.forms.iter().flat_map(|(_, form)| &form.fields).filter(|field| !matches!(field.holds, Holds::Only(_)))
    }

    /// Returns `true` if the packet is marked as typed.
    pub(super) fn is_typed(&self) -> bool {
        self.packets.iter().any(|(_, packet)| packet.is_typed)
    }

    pub(super) fn members(&self) -> Vec<Member<'s>> {
        let mut found: Vec<Member<'s>> = Vec::new();
        for field in self.fields() {
            let (name, is_half) = whole(&field.name);
            let (high, low) = field.bits;
            let kind = match &field.holds {
                _ if is_half => MemberKind::Wide,
                Holds::Anything if high == low => MemberKind::Flag,
                _ => MemberKind::Number,
            };
            match found.iter_mut().find(|member| member.name == name) {
                Some(member) if member.kind == MemberKind::Flag && kind != MemberKind::Flag => member.kind = kind,
                Some(member) if kind == MemberKind::Wide => member.kind = kind,
                Some(_) => {}
                None => {
                    found.push(Member { name, kind, selector: None });
                }
            }
        }
        for member in found.iter_mut().filter(|member| member.kind == MemberKind::Number) {
            member.selector = self.selector(member.name);
        }
        found
    }

    /// Returns the dwords and bits of a member in all forms.
    fn places(&self, member: &Member<'_>) -> String {
        let forms =
            self.packets.iter().flat_map(|(language, packet)| packet.forms.iter().map(|form| (*language, form)));
        places::of(forms, member.name, member.kind == MemberKind::Wide)
    }

    /// Returns the selector of a field; `None` if it is a number in some form, or has several.
    fn selector(&self, name: &str) -> Option<&'s str> {
        let mut selectors =
            self.fields().filter(|field| whole(&field.name).0 == name).map(|field| match &field.holds {
                Holds::Choice(selector) => Some(selector.as_str()),
                _ => None,
            });
        let first = selectors.next()??;
        selectors.all(|other| other == Some(first)).then_some(first)
    }

    /// Returns `true` if the packet has dwords besides its fields, or not always the same number of them.
    pub(super) fn has_data(&self) -> bool {
        self.forms.iter().any(|(_, form)| {
            let (least, most) = form.payload;
            let described = form.fields.last().map_or(0, |field| field.dword);
            least != most || form.tail.is_some() || u32::from(most) > described
        })
    }
}

fn write_record(text: &mut String, record: &Record<'_>) {
    let (members, has_data) = (record.members(), record.has_data());
    let (name, lifetime) = (camel(record.name), if has_data { "<'p>" } else { "" });
    let _ = write!(text, "\n/// {}: {}. Fields that the form does not have are zero.\n", record.name, record.about);
    let _ = writeln!(text, "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]\npub struct {name}{lifetime} {{");
    for member in &members {
        text.push_str(&places::lines(&record.places(member), "    "));
        let _ = writeln!(text, "    pub {}: {},", safe(member.name), member.type_name());
    }
    if has_data {
        text.push_str("    /// All dwords of the packet.\n    pub dwords: &'p [u32],\n");
        text.push_str("    /// The dwords behind the fields.\n    pub data: &'p [u32],\n");
    }
    text.push_str("}\n\n");
    let life = if has_data { "<'p>" } else { "" };
    let _ = writeln!(text, "impl{life} {name}{life} {{");
    let argument = if has_data { "&Fields<'p>" } else { "&Fields<'_>" };
    let _ = writeln!(text, "    /// Returns the packet that was read; all fields are zero where it is another one.");
    if members.is_empty() && !has_data {
        let _ = writeln!(text, "    pub const fn read(_: {argument}) -> Self {{\n        Self {{}}\n    }}\n}}");
        return;
    }
    let _ = writeln!(text, "    pub fn read(fields: {argument}) -> Self {{");
    let mut arms: Vec<(Vec<u32>, String)> = Vec::new();
    for (number, form) in &record.forms {
        let arm = arm(&members, has_data, form);
        match arms.iter_mut().find(|known| known.1 == arm) {
            Some((numbers, _)) => numbers.push(*number),
            None => arms.push((vec![*number], arm)),
        }
    }
    let mut body = String::from("        match fields.form() {\n");
    for (numbers, arm) in arms.iter().filter(|arm| !arm.1.is_empty()) {
        let numbers = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" | ");
        let _ = writeln!(body, "            {numbers} => Self {{\n{arm}            }},");
    }
    body.push_str("            _ => Self::default(),\n        }\n    }\n}\n");
    if body.contains("(p, ") {
        text.push_str("        let p = fields.dwords();\n");
    }
    if body.contains("on(l") {
        text.push_str("        let l = fields.level();\n");
    }
    text.push_str(&body);
}

/// The members that a form has; nothing for a form without any.
fn arm(members: &[Member<'_>], has_data: bool, form: &Form) -> String {
    let mut arm = String::new();
    let mut values = 0;
    for member in members {
        if let Some(value) = value(member, form) {
            let value = member.typed(value);
            let _ = writeln!(arm, "                {}: {value},", safe(member.name));
            values += 1;
        }
    }
    if has_data {
        arm.push_str("                dwords: fields.dwords(),\n                data: fields.data(),\n");
    }
    if values < members.len() && !arm.is_empty() {
        arm.push_str("                ..Self::default()\n");
    }
    arm
}

/// Returns the expression that reads a member from a form; `None` if the form has no such field.
fn value(member: &Member<'_>, form: &Form) -> Option<String> {
    let fields: Vec<&Field> = form
        .fields
        .iter()
        .filter(|field| whole(&field.name).0 == member.name && !matches!(field.holds, Holds::Only(_)))
        .collect();
    let mut parts = Vec::new();
    // Of several fields of one name the first one that the generation has counts.
    let mut taken: BTreeMap<&str, u16> = BTreeMap::new();
    for field in fields {
        let before = taken.entry(&field.name).or_default();
        let here = field.levels & !*before & form.levels;
        *before |= field.levels;
        if here == 0 {
            continue;
        }
        let (high, low) = field.bits;
        let is_high = field.name.ends_with("_hi") && member.kind == MemberKind::Wide;
        let read = match (member.kind, is_high) {
            (MemberKind::Wide, true) => format!("wide(p, {}, {high}, {low}, 32)", field.dword),
            (MemberKind::Wide, false) => format!("wide(p, {}, {high}, {low}, {low})", field.dword),
            _ => format!("bits(p, {}, {high}, {low})", field.dword),
        };
        parts.push(if here == form.levels {
            read
        } else if member.kind == MemberKind::Wide {
            format!("u64::from(on(l, {here:#x})) * {read}")
        } else {
            format!("on(l, {here:#x}) * {read}")
        });
    }
    let sum = match parts.len() {
        0 => return None,
        _ => parts.join(" | "),
    };
    Some(match (member.kind, parts.len()) {
        (MemberKind::Flag, 1) if !sum.contains('*') => format!("{sum} != 0"),
        (MemberKind::Flag, _) => format!("({sum}) != 0"),
        _ => sum,
    })
}

fn write_enum(text: &mut String, records: &[Record<'_>]) {
    text.push_str(
        "\n/// A packet that was read.\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub enum Packet<'p> {\n",
    );
    for record in records {
        let (name, life) = (camel(record.name), if record.has_data() { "<'p>" } else { "" });
        let _ = writeln!(text, "    /// {}.\n    {name}({name}{life}),", record.name);
    }
    text.push_str("}\n\nimpl<'p> Packet<'p> {\n");
    text.push_str("    /// Returns the packet that was read; `None` where it is of another language.\n");
    text.push_str("    pub fn read(fields: &Fields<'p>) -> Option<Self> {\n        Some(match fields.form() {\n");
    for record in records.iter().filter(|record| !record.forms.is_empty()) {
        let numbers = record.forms.iter().map(|(number, _)| number.to_string()).collect::<Vec<_>>().join(" | ");
        let name = camel(record.name);
        let _ = writeln!(text, "            {numbers} => Self::{name}({name}::read(fields)),");
    }
    text.push_str("            _ => return None,\n        })\n    }\n}\n");
}
