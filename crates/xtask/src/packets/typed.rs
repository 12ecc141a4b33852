//! The sources of what writes and reads the packets that are marked as typed: checks of every field, then plain stores or
//! their comparison with what was read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::loads;
use super::records::{Member, MemberKind, Record, camel, safe};
use super::selectors::{Selector, Value};
use super::spec::{Form, Holds, Spec};
use super::takers;
use super::variant::{Variant, bits, condition, described, ones, reach, variants};
use crate::Error;

/// Use of a packet's dwords.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dwords {
    /// They are stored.
    Stored,
    /// They were read, and are compared with what would be stored.
    Compared,
}

impl Dwords {
    /// The name of the slice that holds them.
    const fn name(self) -> &'static str {
        match self {
            Self::Stored => "out",
            Self::Compared => "packet",
        }
    }

    /// The statement for a dword at a reference.
    fn statement(self, dword: u32, place: &str, value: &str) -> String {
        match self {
            Self::Stored => format!("*{place} = {value};"),
            Self::Compared => format!("equal({dword}, *{place}, {value})?;"),
        }
    }

    /// The expression that leaves the function where dwords are missing, and the one where all is done.
    const fn ends(self) -> (&'static str, &'static str) {
        match self {
            Self::Stored => ("return", "return"),
            Self::Compared => ("return Err(FieldError::Missing { dword: packet.len() })", "return Ok(())"),
        }
    }
}

/// Generates what writes the typed packets of some languages.
pub(super) fn language(spec: &Spec, names: &[&str], records: &[Record<'_>]) -> Result<String, Error> {
    let mut body = String::new();
    for record in records.iter().filter(|record| record.is_typed()) {
        for variant in variants(record) {
            write_variant(&mut body, spec, record, &variant)?;
            if names.contains(&"pm4") {
                loads::write(&mut body, record, &variant);
            }
        }
    }
    let mut text = format!("//! Encoders of the typed packets of {}.\n\n", names.join(" and "));
    let helpers = [
        "bits",
        "copy",
        "equal",
        "equal_data",
        "fixed",
        "flag",
        "fits",
        "is_on",
        "meant",
        "one_of",
        "ranged",
        "tailed",
        "within",
    ];
    let used: Vec<_> = helpers
        .into_iter()
        .filter(|helper| [" ", "("].iter().any(|before| body.contains(&format!("{before}{helper}("))))
        .collect();
    let _ = writeln!(text, "use super::{}_records::*;", names.first().unwrap_or(&""));
    if body.contains("v::") {
        text.push_str("use super::selectors::values as v;\n");
    }
    let load = if body.contains("Load<") { "Load, " } else { "" };
    let _ = writeln!(text, "use crate::layout::record::{{{load}Record, {}}};\nuse crate::FieldError;", used.join(", "));
    Ok(text + &body)
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
    let _ = writeln!(text, "    const OPCODE: u16 = {opcode:#x};");
    let mut lengths = variant.groups(|_, form| form.payload.0 + 1);
    lengths.sort_by_key(|&(_, dwords)| dwords);
    if let [(levels, short), (_, long)] = lengths[..]
        && !record.has_data()
    {
        let _ = writeln!(text, "    const LENGTHS: Option<(usize, usize)> = Some(({short}, {long}));");
        let _ = writeln!(text, "    const SHORT: u16 = {levels:#x};");
    }
    text.push('\n');

    let mut checks = String::new();
    for member in &members {
        check_member(&mut checks, spec, variant, (&members, member))?;
    }
    let length = variant.by_level(|_, form| length(form, record));
    let mut stores = String::new();
    put_all(&mut stores, Dwords::Stored, record, variant, &members);
    let mut matches = String::new();
    put_all(&mut matches, Dwords::Compared, record, variant, &members);
    matches.push_str("        Ok(())\n");
    let this = if variant.suffix.is_empty() { "self" } else { "&self.0" };
    let open = |code: &str| {
        let record = if code.contains("r.") { format!("        let r = {this};\n") } else { String::new() };
        (if code.contains("(l, ") { "l" } else { "_" }, record)
    };
    let (fits, takers) = takers::bodies(spec, variant, &members);
    let (_, record_of) = open(&fits);
    let _ = writeln!(text, "    #[inline(always)]\n    fn fits(&self) -> bool {{\n{record_of}{fits}    }}\n");
    let (_, record_of) = open(&takers);
    let _ = writeln!(text, "    #[inline(always)]\n    fn takers(&self) -> u16 {{\n{record_of}{takers}    }}\n");
    let (level, record_of) = open(&length);
    let _ = writeln!(
        text,
        "    #[inline(always)]\n    fn length(&self, {level}: u8) -> Result<usize, FieldError> {{\n{record_of}        {length}\n    }}\n"
    );
    checks.push_str("        Ok(())\n");
    let (level, record) = open(&checks);
    let _ = writeln!(text, "    #[inline(always)]\n    fn check(&self, {level}: u8) -> Result<(), FieldError> {{");
    let _ = writeln!(text, "{record}{checks}    }}\n");
    let (level, record) = open(&stores);
    let _ = writeln!(text, "    #[inline(always)]\n    fn store(&self, {level}: u8, out: &mut [u32]) {{");
    let _ = writeln!(text, "{record}{stores}    }}\n");
    let (level, record) = open(&matches);
    let _ = writeln!(
        text,
        "    #[inline(always)]\n    fn matches(&self, {level}: u8, packet: &[u32]) -> Result<(), FieldError> {{"
    );
    let _ = writeln!(text, "{record}{matches}    }}\n}}");
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
    for Value { number: value, levels, .. } in selector.into_iter().flat_map(|selector| &selector.values) {
        if *value > 63 {
            return Err(Error::Table(format!("{name} has values above 63, and a typed packet has it")));
        }
        bits |= u64::from(levels & level != 0) << value;
    }
    Ok(bits)
}

/// Writes the checks of a member: that the level has it, that the value fits, and that it is meant.
fn check_member(
    text: &mut String,
    spec: &Spec,
    variant: &Variant<'_>,
    (members, member): (&[Member<'_>], &Member<'_>),
) -> Result<(), Error> {
    let (name, field) = (member.name, member.raw());
    let mut wrong = None;
    let limit = match member.kind {
        MemberKind::Flag => {
            variant.by_level(|level, form| (!Variant::places(level, form, name).is_empty()).to_string())
        }
        MemberKind::Wide => variant.by_level(|level, form| {
            let mask = Variant::places(level, form, name).into_iter().map(bits).fold(0, |mask, bits| mask | bits);
            format!("{mask:#x}")
        }),
        MemberKind::Number => {
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
        MemberKind::Flag => ("flag", "true"),
        MemberKind::Number => ("fits", "0xffffffff"),
        MemberKind::Wide => ("within", "0xffffffffffffffff"),
    };
    if !limit.is_empty() && limit != nothing {
        let _ = writeln!(text, "        {check}({name:?}, {field}, {limit})?;");
    }
    let condition = variant.by_level(|level, form| {
        let when = Variant::places(level, form, name).into_iter().find_map(|field| condition(field, members));
        when.unwrap_or_else(|| "true".to_owned())
    });
    if condition != "true" {
        let is_set = if member.kind == MemberKind::Flag { field } else { format!("{field} != 0") };
        let _ = writeln!(text, "        meant({name:?}, {is_set}, {condition})?;");
    }
    Ok(())
}

/// Writes what is done with the dwords, for each language on its own: the old DMA engine's packets have everything elsewhere.
fn put_all(text: &mut String, dwords: Dwords, record: &Record<'_>, variant: &Variant<'_>, members: &[Member<'_>]) {
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
    let done = dwords.ends().1;
    for part in others {
        let (mut body, mut inner) = (String::new(), String::new());
        put_part(&mut body, dwords, record, part, members);
        for line in body.lines() {
            let _ = writeln!(inner, "    {line}");
        }
        let _ = writeln!(text, "        if is_on(l, {:#x}) {{\n{inner}            {done};\n        }}", part.levels());
    }
    put_part(text, dwords, record, last, members);
}

fn put_part(text: &mut String, dwords: Dwords, record: &Record<'_>, part: &Variant<'_>, members: &[Member<'_>]) {
    let language = part.forms.first().map_or("", |form| form.1);
    let packet = record.packets.iter().find(|(name, _)| *name == language);
    let opcode = packet.map_or(0, |(_, packet)| packet.opcode);
    let (always, most) = reach(record, part);
    let header = match language {
        "pm4" => None,
        "dma" => Some(opcode << 28),
        _ => Some(opcode),
    };
    let (slice, (missing, _)) = (dwords.name(), dwords.ends());
    let first = u32::from(header.is_none());
    let names: Vec<_> = (first..=always).map(|dword| format!("d{dword}")).collect();
    if !names.is_empty() {
        let skipped = if header.is_none() { "_, " } else { "" };
        let _ = writeln!(text, "        let [{skipped}{}, ..] = {slice} else {{ {missing} }};", names.join(", "));
    }
    for dword in first..=most {
        let mut terms = terms(dword, part, members);
        if let (0, Some(header)) = (dword, header.filter(|header| *header != 0 || terms.is_empty())) {
            terms.insert(0, format!("{header:#x}"));
        }
        let value = if terms.is_empty() { "0".to_owned() } else { terms.join(" | ") };
        if dword <= always {
            let _ = writeln!(text, "        {}", dwords.statement(dword, &format!("d{dword}"), &value));
        } else {
            let get = if dwords == Dwords::Stored { "get_mut" } else { "get" };
            let _ = writeln!(
                text,
                "        if let Some(slot) = {slice}.{get}({dword}) {{\n            {}\n        }}",
                dwords.statement(dword, "slot", &value)
            );
        }
    }
    if record.has_data() {
        let from = part.by_level(|_, form| (described(form) + 1).to_string());
        let _ = match dwords {
            Dwords::Stored => writeln!(text, "        copy(out, {from}, r.data);"),
            Dwords::Compared => writeln!(text, "        equal_data(packet, {from}, r.data)?;"),
        };
    }
}

/// A dword, the bits in it, and the levels that have a field there.
type FieldPlace = (u32, (u8, u8), u16);

/// Returns the terms of a dword.
fn terms(dword: u32, part: &Variant<'_>, members: &[Member<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for member in members {
        // The places of each half: the dword, the lowest bit, and the levels.
        let mut places: BTreeMap<bool, Vec<FieldPlace>> = BTreeMap::new();
        for &(levels, _, form) in &part.forms {
            for level in (0..16).map(|bit| 1 << bit).filter(|level| levels & level != 0) {
                for field in Variant::places(level, form, member.name) {
                    let half = places.entry(field.name.ends_with("_hi")).or_default();
                    // The low half of a number keeps its place, whatever its lowest bit.
                    let is_same = |bits: (u8, u8)| bits.1 == field.bits.1 || member.kind == MemberKind::Wide;
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
                let field = member.raw();
                let value = match (member.kind, is_high, low) {
                    (MemberKind::Wide, false, _) => format!("{field} as u32"),
                    (MemberKind::Wide, true, 0) => format!("({field} >> 32) as u32"),
                    (MemberKind::Wide, true, low) => format!("(({field} >> 32) as u32) << {low}"),
                    (MemberKind::Flag, _, low) => format!("u32::from({field}) << {low}"),
                    (MemberKind::Number, _, 0) => field,
                    (MemberKind::Number, _, low) => format!("{field} << {low}"),
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
