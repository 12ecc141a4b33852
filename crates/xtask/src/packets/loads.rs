//! The sources of what reads typed packets: straight-line extraction of the fields that a level has.

use std::fmt::Write as _;

use super::records::{Member, MemberKind, Record, camel, safe};
use super::spec::Form;
use super::variant::{Variant, described, reach};

/// Writes the reader of one form of a packet.
pub(super) fn write(text: &mut String, record: &Record<'_>, variant: &Variant<'_>) {
    let packet = camel(record.name);
    let (life, name) = (if record.has_data() { "<'p>" } else { "" }, format!("{packet}{}", camel(variant.suffix)));
    let (always, most) = reach(record, variant);
    let mut fields = String::new();
    let members = record.members();
    let mut loaded = 0;
    for member in &members {
        let nothing = if member.kind == MemberKind::Flag { "false" } else { "0" };
        let value = variant.by_level(|level, form| value(member, level, form).unwrap_or_else(|| nothing.to_owned()));
        if value != nothing {
            let value = member.typed(value);
            let _ = writeln!(fields, "            {}: {value},", safe(member.name));
            loaded += 1;
        }
    }
    if record.has_data() {
        let from = variant.by_level(|_, form| (described(form) + 1).to_string());
        let _ = writeln!(fields, "            dwords: packet,");
        let _ = writeln!(fields, "            data: packet.get({from}..).unwrap_or_default(),");
    }
    if loaded < members.len() {
        let _ = writeln!(fields, "            ..{packet}::default()");
    }
    let level = if fields.contains("(l, ") { "l" } else { "_" };
    let _ = writeln!(text, "\nimpl<'p> Load<'p> for {name}{life} {{");
    let _ = writeln!(
        text,
        "    #[inline(always)]\n    fn load(packet: &'p [u32], {level}: u8) -> Result<Self, FieldError> {{"
    );
    let names: Vec<_> = (1..=always).map(|dword| used(&fields, dword)).collect();
    if !names.is_empty() {
        let missing = format!("return Err(FieldError::Missing {{ dword: {always} }})");
        let _ = writeln!(text, "        let &[_, {}, ..] = packet else {{ {missing} }};", names.join(", "));
    }
    for dword in always + 1..=most {
        let name = used(&fields, dword);
        let _ = writeln!(text, "        let {name} = packet.get({dword}).copied().unwrap_or_default();");
    }
    if variant.suffix.is_empty() {
        let _ = writeln!(text, "        Ok(Self {{\n{fields}        }})\n    }}\n}}");
    } else {
        let _ = writeln!(text, "        Ok(Self({packet} {{\n{fields}        }}))\n    }}\n}}");
    }
}

/// Returns the name of a dword's variable, which may be one that is not used.
fn used(fields: &str, dword: u32) -> String {
    let name = format!("d{dword}");
    let is_used = fields.contains(&format!("({name},")) || fields.contains(&format!("({name})"));
    if is_used { name } else { format!("_d{dword}") }
}

/// Returns the expression that reads a member from a form; `None` if the form does not have it on a level.
fn value(member: &Member<'_>, level: u16, form: &Form) -> Option<String> {
    let places = Variant::places(level, form, member.name);
    let part = |field: &&super::spec::Field| {
        let (high, low) = field.bits;
        let bits = format!("bits(d{}, {high}, {low})", field.dword);
        match member.kind {
            MemberKind::Wide if field.name.ends_with("_hi") => format!("u64::from({bits}) << 32"),
            MemberKind::Wide => format!("u64::from({bits}) << {low}"),
            MemberKind::Flag | MemberKind::Number => bits,
        }
    };
    let parts: Vec<String> = places.iter().map(part).collect();
    let joined = (!parts.is_empty()).then(|| parts.join(" | "))?;
    Some(if member.kind == MemberKind::Flag { format!("{joined} != 0") } else { joined })
}
