//! The sources of what writes the packets that are marked as typed: checks of every field, then plain stores.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::records::{Kind, Member, Record, camel, safe, whole};
use super::spec::{Field, Form, Holds, Selector, Spec};
use crate::Error;

/// A way to write a packet: the form of each level.
struct Variant<'s> {
    /// Suffix of its type's name after the packet's; empty for the packet itself.
    suffix: &'s str,
    /// The levels, the language and the form.
    forms: Vec<(u16, &'s str, &'s Form)>,
}

/// Generates what writes the typed packets of some languages.
pub(super) fn language(spec: &Spec, names: &[&str], records: &[Record<'_>]) -> Result<String, Error> {
    let mut body = String::new();
    for record in records.iter().filter(|record| record.is_typed()) {
        for variant in variants(record) {
            write_variant(&mut body, spec, record, &variant)?;
        }
    }
    let mut text = format!("//! Encoders of the typed packets of {}.\n\n", names.join(" and "));
    let helpers = ["copy", "fixed", "flag", "fits", "is_on", "meant", "one_of", "ranged", "tailed", "within"];
    let used: Vec<_> = helpers.into_iter().filter(|helper| body.contains(&format!("{helper}("))).collect();
    let _ = writeln!(text, "use super::{}_records::*;", names.first().unwrap_or(&""));
    let _ = writeln!(text, "use crate::layout::record::{{Record, {}}};\nuse crate::FieldError;", used.join(", "));
    Ok(text + &body)
}

/// The first form of every level, and the forms with a name of their own.
fn variants<'s>(record: &Record<'s>) -> Vec<Variant<'s>> {
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
    fn levels(&self) -> u16 {
        self.forms.iter().fold(0, |bits, (levels, ..)| bits | levels)
    }

    /// Joins the expressions of the levels, so that a level is tested only where the levels differ.
    fn by_level(&self, of: impl Fn(u16, &Form) -> String) -> String {
        let mut groups: Vec<(u16, String)> = Vec::new();
        for &(levels, _, form) in &self.forms {
            for level in (0..16).map(|bit| 1 << bit).filter(|level| levels & level != 0) {
                let value = of(level, form);
                match groups.iter_mut().find(|group| group.1 == value) {
                    Some(group) => group.0 |= level,
                    None => groups.push((level, value)),
                }
            }
        }
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
    fn places<'f>(level: u16, form: &'f Form, member: &str) -> Vec<&'f Field> {
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
fn described(form: &Form) -> u32 {
    form.fields.last().map_or(0, |field| field.dword)
}

fn write_variant(text: &mut String, spec: &Spec, record: &Record<'_>, variant: &Variant<'_>) -> Result<(), Error> {
    let (packet, members) = (camel(record.name), record.members());
    let lifetime = if record.has_data() { "<'_>" } else { "" };
    let name = format!("{packet}{}", camel(variant.suffix));
    if !variant.suffix.is_empty() {
        let _ = write!(
            text,
            "\n/// {} in the form for {}.\n#[derive(Clone, Copy, Debug)]\npub(crate) struct {name}(pub(crate) {packet});\n",
            record.name,
            variant.suffix.to_lowercase()
        );
    }
    let _ = writeln!(text, "\nimpl Record for {name}{lifetime} {{");
    for ring in ["gfx", "compute", "sdma"] {
        let rings = record.packets.iter().flat_map(|(_, packet)| &packet.rings).filter(|(name, _)| name == ring);
        let levels = rings.fold(0, |bits, (_, levels)| bits | levels) & variant.levels();
        if levels != 0 {
            let _ = writeln!(text, "    const {}: u16 = {levels:#x};", ring.to_uppercase());
        }
    }
    let opcode = record.packets.first().map_or(0, |(_, packet)| packet.opcode);
    let _ = writeln!(text, "    const OPCODE: u16 = {opcode:#x};\n");

    let mut checks = String::new();
    for member in &members {
        check_member(&mut checks, spec, variant, member)?;
    }
    let length = variant.by_level(|_, form| length(form, record));
    let mut stores = String::new();
    store_all(&mut stores, record, variant, &members);
    let this = if variant.suffix.is_empty() { "self" } else { "&self.0" };
    let open = |code: &str| {
        let record = if code.contains("r.") { format!("        let r = {this};\n") } else { String::new() };
        (if code.contains("(l, ") { "l" } else { "_" }, record)
    };
    checks = format!("{checks}        {length}\n");
    let (level, record) = open(&checks);
    let _ = writeln!(text, "    #[inline(always)]\n    fn check(&self, {level}: u8) -> Result<usize, FieldError> {{");
    let _ = writeln!(text, "{record}{checks}    }}\n");
    let (level, record) = open(&stores);
    let _ = writeln!(text, "    #[inline(always)]\n    fn store(&self, {level}: u8, out: &mut [u32]) {{");
    let _ = writeln!(text, "{record}{stores}    }}\n}}");
    Ok(())
}

/// The length of a packet with its header, or a refusal of its data.
fn length(form: &Form, record: &Record<'_>) -> String {
    let ((least, most), described) = (form.payload, described(form));
    if !record.has_data() {
        return format!("Ok({})", least + 1);
    }
    match &form.tail {
        Some((field, times, plus)) => {
            let times = if *times == 1 { String::new() } else { format!(" * {times}") };
            format!(
                "tailed({} + r.{} as usize{times}, {described}, r.data.len())",
                u32::from(least) + plus,
                safe(field)
            )
        }
        None if least == most => format!("fixed({least}, {described}, r.data.len())"),
        None => format!("ranged({least}, {most}, {described}, r.data.len())"),
    }
}

/// The values that a selector has on a level, one bit for each.
fn values(spec: &Spec, name: &str, level: u16) -> Result<u64, Error> {
    let selector: Option<&Selector> = spec.selectors.iter().find(|selector| selector.name == name);
    let mut bits = 0;
    for (value, _, levels) in selector.into_iter().flat_map(|selector| &selector.values) {
        if *value > 63 {
            return Err(Error::Table(format!("{name} has values above 63, and a typed packet has it")));
        }
        bits |= u64::from(levels & level != 0) << value;
    }
    Ok(bits)
}

fn ones(bits: (u8, u8)) -> u32 {
    u32::MAX >> (31 - (bits.0 - bits.1))
}

/// Writes the checks of a member: that the level has it, that the value fits, and that it is meant.
fn check_member(text: &mut String, spec: &Spec, variant: &Variant<'_>, member: &Member<'_>) -> Result<(), Error> {
    let (name, field) = (member.name, format!("r.{}", safe(member.name)));
    let mut wrong = None;
    let limit = match member.kind {
        Kind::Flag => variant.by_level(|level, form| (!Variant::places(level, form, name).is_empty()).to_string()),
        Kind::Wide => variant.by_level(|level, form| {
            let of = |field: &&Field| match whole(&field.name) {
                (_, true) if field.name.ends_with("_hi") => u64::from(ones(field.bits)) << 32,
                _ => u64::from(ones(field.bits)) << field.bits.1,
            };
            let mask = Variant::places(level, form, name).iter().map(of).fold(0, |mask, bits| mask | bits);
            format!("{mask:#x}")
        }),
        Kind::Number => {
            let is_selector = |level: u16, form: &Form| {
                Variant::places(level, form, name).iter().any(|field| matches!(field.holds, Holds::Choice(_)))
            };
            let selects = variant.forms.iter().any(|&(levels, _, form)| is_selector(levels, form));
            let limit = variant.by_level(|level, form| match Variant::places(level, form, name).first() {
                None => (if selects { "0x1" } else { "0x0" }).to_owned(),
                Some(field) => match &field.holds {
                    Holds::Choice(selector) => match values(spec, selector, level) {
                        Ok(values) => format!("{values:#x}"),
                        Err(error) => {
                            // Reported below; a closure cannot.
                            format!("!{error}")
                        }
                    },
                    _ => format!("{:#x}", ones(field.bits)),
                },
            });
            if limit.contains('!') {
                wrong = Some(Error::Table(limit.clone()));
            }
            if selects {
                let _ = writeln!(text, "        one_of({name:?}, {field}, {limit})?;");
                String::new()
            } else {
                limit
            }
        }
    };
    if let Some(error) = wrong {
        return Err(error);
    }
    let (check, nothing) = match member.kind {
        Kind::Flag => ("flag", "true"),
        Kind::Number => ("fits", "0xffffffff"),
        Kind::Wide => ("within", "0xffffffffffffffff"),
    };
    if !limit.is_empty() && limit != nothing {
        let _ = writeln!(text, "        {check}({name:?}, {field}, {limit})?;");
    }
    let condition = variant.by_level(|level, form| {
        let when = Variant::places(level, form, name).into_iter().find_map(|field| field.when.as_ref());
        when.map_or("true".to_owned(), |(decides, values)| {
            let values = values.iter().map(u32::to_string).collect::<Vec<_>>().join(" | ");
            format!("matches!(r.{}, {values})", safe(decides))
        })
    });
    if condition != "true" {
        let is_set = if member.kind == Kind::Flag { field } else { format!("{field} != 0") };
        let _ = writeln!(text, "        meant({name:?}, {is_set}, {condition})?;");
    }
    Ok(())
}

/// Writes the stores, for each language on its own: the old DMA engine's packets have everything elsewhere.
fn store_all(text: &mut String, record: &Record<'_>, variant: &Variant<'_>, members: &[Member<'_>]) {
    let mut languages: Vec<&str> = variant.forms.iter().map(|&(_, language, _)| language).collect();
    languages.dedup();
    let parts: Vec<_> = languages
        .iter()
        .map(|language| {
            let forms: Vec<_> = variant.forms.iter().copied().filter(|form| form.1 == *language).collect();
            Variant { suffix: variant.suffix, forms }
        })
        .collect();
    let Some((last, others)) = parts.split_last() else { return };
    for part in others {
        let (mut body, mut inner) = (String::new(), String::new());
        store_part(&mut body, record, part, members);
        for line in body.lines() {
            let _ = writeln!(inner, "    {line}");
        }
        let _ = writeln!(text, "        if is_on(l, {:#x}) {{\n{inner}            return;\n        }}", part.levels());
    }
    store_part(text, record, last, members);
}

fn store_part(text: &mut String, record: &Record<'_>, part: &Variant<'_>, members: &[Member<'_>]) {
    let language = part.forms.first().map_or("", |form| form.1);
    let packet = record.packets.iter().find(|(name, _)| *name == language);
    let opcode = packet.map_or(0, |(_, packet)| packet.opcode);
    let last = |form: &Form| described(form).max(if record.has_data() { 0 } else { form.payload.0.into() });
    let always = part.forms.iter().map(|&(_, _, form)| last(form).min(form.payload.0.into())).min().unwrap_or_default();
    let most = part.forms.iter().map(|&(_, _, form)| last(form)).max().unwrap_or_default();
    let header = match language {
        "pm4" => None,
        "dma" => Some(opcode << 28),
        _ => Some(opcode),
    };
    let first = u32::from(header.is_none());
    let names: Vec<_> = (first..=always).map(|dword| format!("d{dword}")).collect();
    if !names.is_empty() {
        let skipped = if header.is_none() { "_, " } else { "" };
        let _ = writeln!(text, "        let [{skipped}{}, ..] = out else {{ return }};", names.join(", "));
    }
    for dword in first..=most {
        let mut terms = terms(dword, part, members);
        if let (0, Some(header)) = (dword, header.filter(|header| *header != 0 || terms.is_empty())) {
            terms.insert(0, format!("{header:#x}"));
        }
        let value = if terms.is_empty() { "0".to_owned() } else { terms.join(" | ") };
        if dword <= always {
            let _ = writeln!(text, "        *d{dword} = {value};");
        } else {
            let _ = writeln!(
                text,
                "        if let Some(slot) = out.get_mut({dword}) {{\n            *slot = {value};\n        }}"
            );
        }
    }
    if record.has_data() {
        let from = part.by_level(|_, form| (described(form) + 1).to_string());
        let _ = writeln!(text, "        copy(out, {from}, r.data);");
    }
}

/// A dword, the bits in it, and the levels that have a field there.
type Place = (u32, (u8, u8), u16);

/// Returns the terms of a dword.
fn terms(dword: u32, part: &Variant<'_>, members: &[Member<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for member in members {
        // The places of each half: the dword, the lowest bit, and the levels.
        let mut places: BTreeMap<bool, Vec<Place>> = BTreeMap::new();
        for &(levels, _, form) in &part.forms {
            for level in (0..16).map(|bit| 1 << bit).filter(|level| levels & level != 0) {
                for field in Variant::places(level, form, member.name) {
                    let half = places.entry(field.name.ends_with("_hi")).or_default();
                    // The low half of a number keeps its place, whatever its lowest bit.
                    let is_same = |bits: (u8, u8)| bits.1 == field.bits.1 || member.kind == Kind::Wide;
                    match half.iter_mut().find(|place| place.0 == field.dword && is_same(place.1)) {
                        Some(place) => place.2 |= level,
                        None => half.push((field.dword, field.bits, level)),
                    }
                }
            }
        }
        for (is_high, half) in places {
            let moves = half.len() > 1;
            for (_, (_, low), levels) in half.into_iter().filter(|place| place.0 == dword) {
                let field = format!("r.{}", safe(member.name));
                let value = match (member.kind, is_high, low) {
                    (Kind::Wide, false, _) => format!("{field} as u32"),
                    (Kind::Wide, true, 0) => format!("({field} >> 32) as u32"),
                    (Kind::Wide, true, low) => format!("(({field} >> 32) as u32) << {low}"),
                    (Kind::Flag, _, low) => format!("u32::from({field}) << {low}"),
                    (Kind::Number, _, 0) => field,
                    (Kind::Number, _, low) => format!("{field} << {low}"),
                };
                found.push(if moves {
                    format!("(if is_on(l, {levels:#x}) {{ {value} }} else {{ 0 }})")
                } else {
                    value
                });
            }
        }
    }
    found.extend(fixed_terms(dword, part));
    found
}

/// The fields that hold one value only, and no zero.
fn fixed_terms(dword: u32, part: &Variant<'_>) -> Vec<String> {
    let mut found: Vec<(u32, u16)> = Vec::new();
    for &(levels, _, form) in &part.forms {
        for field in form.fields.iter().filter(|field| field.dword == dword) {
            let (Holds::Only(value), here) = (&field.holds, field.levels & levels) else { continue };
            if *value != 0 && here != 0 {
                found.push((value << field.bits.1, here));
            }
        }
    }
    let all = part.levels();
    let term = |(bits, levels): (u32, u16)| {
        if levels == all {
            format!("{bits:#x}")
        } else {
            format!("(if is_on(l, {levels:#x}) {{ {bits:#x} }} else {{ 0 }})")
        }
    };
    found.into_iter().map(term).collect()
}
