//! Dumps as JSON.
//!
//! ```text
//! {"schema": "amdgpu-ib", "version": 1, "reader": "the GFX10_3 gfx ring", "ibs": [{"va": .., "dwords": .., "from": ..,
//!   "packets": [{"offset": .., "name": .., "about": .., "dwords": [..], "flags": [..], "fields": [..], "registers": [..],
//!     "data": [..], "note": null, "next": [..], "problem": null}]}]}
//! ```
//!
//! A draw or dispatch has `state`, the registers that were set before it, if requested. A dispatch has `shader` with the
//! `instructions` of its shader, if the machine code is available. A draw has `draw`: its primitives, programs, area and targets, the
//! lines of the text as `words`, and `draws_nothing`, `contradictions` and `not_executed`.
//!
//! Addresses are numbers. A missing name, object or problem is null. A register has `reserved` if bits are set that belong to no
//! field.

use amdgpu_winsys::cs::dump::{Dump, Field, Ib, Meaning, Next, Note, Packet, Register, Shown};
use amdgpu_winsys::vamgr::GpuVa;
use serde_json::{Value, json};

/// Returns a dump as JSON.
pub fn dump(dump: &Dump) -> Value {
    json!({
        "schema": "amdgpu-ib",
        "version": 1,
        "reader": dump.reader.target().to_string(),
        "ibs": dump.ibs.iter().map(ib).collect::<Vec<_>>(),
    })
}

fn ib(ib: &Ib) -> Value {
    json!({
        "va": ib.va.map(GpuVa::as_u64),
        "dwords": ib.dwords,
        "from": ib.from.map(|from| json!({"ib": from.ib, "offset": from.offset, "chain": from.is_chain})),
        "packets": ib.packets.iter().map(packet).collect::<Vec<_>>(),
    })
}

fn note(note: &Note) -> Value {
    match note {
        Note::Annotation(text) => json!({"annotation": text}),
        Note::TracePoint(number) => json!({"trace_point": number}),
    }
}

fn packet(packet: &Packet) -> Value {
    json!({
        "offset": packet.offset,
        "name": packet.name,
        "about": packet.about,
        "dwords": packet.dwords,
        "flags": packet.flags.iter_names().map(|(name, _)| name.to_lowercase()).collect::<Vec<_>>(),
        "fields": packet.fields.iter().map(field).collect::<Vec<_>>(),
        "registers": packet.registers.iter().map(register).collect::<Vec<_>>(),
        "data": packet.data,
        "note": packet.note.as_ref().map(note),
        "next": packet.next.iter().map(next).collect::<Vec<_>>(),
        "problem": packet.problem.map(|problem| problem.fault.to_string()),
    })
}

fn field(field: &Field) -> Value {
    let mut value = json!({"name": field.name, "value": field.value});
    let (key, meaning) = match &field.meaning {
        Meaning::Number => return value,
        Meaning::Choice(name) => ("choice", json!(name)),
        Meaning::Address(object) => ("object", json!(object)),
        Meaning::Register(found) => ("register", register(found)),
    };
    value[key] = meaning;
    value
}

/// A register with its fields.
pub(crate) fn register(register: &Register) -> Value {
    let one =
        |&(name, value, choice): &(&str, u32, Option<&str>)| json!({"name": name, "value": value, "choice": choice});
    let mut value = json!({
        "offset": register.offset,
        "name": register.name,
        "value": register.value,
        "fields": register.fields.iter().map(one).collect::<Vec<_>>(),
        "shader": register.shader.as_ref().map(|(address, object)| json!({"address": address, "object": object})),
    });
    if register.unnamed != 0 {
        value["reserved"] = json!(register.unnamed);
    }
    value
}

fn next(next: &Next) -> Value {
    let (ib, missing) = match next.shown {
        Shown::As(index) => (Some(index), None),
        Shown::Unreadable => (None, Some("unreadable")),
        Shown::Limit => (None, Some("limit")),
    };
    json!({"va": next.va.as_u64(), "dwords": next.dwords, "chain": next.is_chain, "ib": ib, "missing": missing})
}
