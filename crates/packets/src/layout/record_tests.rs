//! Every record has the values that its layout gives for the same dwords, on every reader and generation.

use std::collections::BTreeMap;

use super::packets::copy_opcode;
use super::record::Record;
use super::records;
use super::*;
use crate::pm4 as language;
use crate::sdma::Version;
use amdgpu_hw::GfxLevel;

/// A pseudo-random number generator.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }

    /// All bits, none, or some.
    fn dword(&mut self) -> u32 {
        match self.roll() % 4 {
            0 => 0,
            1 => u32::MAX,
            _ => self.roll(),
        }
    }
}

pub(super) fn readers() -> Vec<Reader> {
    let mut all: Vec<Reader> = language::Target::all().map(Reader::Ring).collect();
    all.extend(GfxLevel::ALL.map(Reader::Constant));
    all.extend(GfxLevel::ALL.map(Reader::Interface));
    all.extend(Version::ALL.map(Reader::Copy));
    all
}

/// Returns dwords of the form with random fields; selectors have one of their values.
pub(super) fn chance(layout: &'static Layout, form: &'static Form, reader: Reader, dice: &mut Dice) -> Vec<u32> {
    let spare = form.payload.1 - form.payload.0;
    let len = 1 + usize::from(form.payload.0) + dice.roll() as usize % (usize::from(spare.min(6)) + 1);
    let mut wire: Vec<u32> = (0..len).map(|_| dice.dword()).collect();
    let masks = form.mask(reader.level());
    for (dword, &mask) in wire.iter_mut().zip(masks) {
        *dword &= mask;
    }
    let set = |wire: &mut [u32], field: &Field, value: u32| {
        if let Some(dword) = wire.get_mut(field.dword()) {
            *dword = *dword & !field.mask() | value << field.low;
        }
    };
    for field in form.fields(reader) {
        let choices: Vec<&Choice> = field.choices.iter().filter(|choice| choice.levels.has(reader.level())).collect();
        if !choices.is_empty() {
            set(&mut wire, field, choices[dice.roll() as usize % choices.len()].value);
        }
        if form.tail.as_ref().is_some_and(|tail| tail.field == field.key()) {
            set(&mut wire, field, dice.roll() % 4);
        }
    }
    match reader {
        Reader::Copy(version) => {
            let header = if version == Version::V1_0 { u32::from(layout.opcode) << 28 } else { layout.opcode.into() };
            wire[0] = wire[0] & !copy_opcode(0, version).1 | header;
            wire.extend((0..64).map(|_| dice.dword()));
        }
        _ => wire[0] = language::type3(layout.opcode as u8, len - 1, language::HeaderFlags::empty()),
    }
    wire
}

pub(super) fn read(wire: &[u32], opcode: u16, reader: Reader) -> Option<Fields<'_>> {
    match reader {
        Reader::Copy(version) => Fields::read_copy(wire, opcode, reader, copy_opcode(0, version).1).ok(),
        _ => Fields::read(wire, opcode as u8, reader).ok(),
    }
}

/// Returns the parts of a record's debug text: its name, and its members by name.
fn printed(record: &str) -> (String, BTreeMap<String, String>) {
    let (name, rest) = record.split_once('(').expect("a record in its variant");
    let members = rest.split_once("{ ").and_then(|(_, rest)| rest.strip_suffix(" })"));
    let mut found = BTreeMap::new();
    let mut rest = members.unwrap_or("");
    while let Some((member, value)) = rest.split_once(": ") {
        let end = if value.starts_with('[') { value.find(']').map(|at| at + 1) } else { value.find(", ") };
        let (value, left) = value.split_at(end.unwrap_or(value.len()));
        found.insert(member.to_owned(), value.to_owned());
        rest = left.strip_prefix(", ").unwrap_or("");
    }
    (name.to_owned(), found)
}

/// Returns the field's name in the tables, which contain names that Rust reserves.
fn in_tables(member: &str) -> &str {
    match member {
        "loops" => "loop",
        "continues" => "continue",
        "boolean" => "bool",
        "privileged" => "priv",
        name => name,
    }
}

fn whole(field: &str) -> &str {
    field.strip_suffix("_lo").or_else(|| field.strip_suffix("_hi")).unwrap_or(field)
}

/// Returns the expected value of a record's member.
fn expected(fields: &Fields<'_>, form: &Form, member: &str, is_wide: bool) -> u64 {
    let level = fields.level();
    let first = |name: &str| form.fields.iter().find(|field| field.name() == name && field.is_on(level));
    let value = |field: &Field| u64::from(fields.dwords().get(field.dword()).map_or(0, |&dword| field.of_dword(dword)));
    if !is_wide {
        return first(member).map_or(0, value);
    }
    let low = [member.to_owned(), format!("{member}_lo")]
        .iter()
        .filter_map(|name| first(name))
        .fold(0, |sum, field| sum | value(field) << field.low);
    low | first(&format!("{member}_hi")).map_or(0, |field| value(field) << 32)
}

/// Compares a packet's record with its layout; returns the form.
fn compare(fields: &Fields<'_>, wide: &[(&'static str, &'static str)]) -> u16 {
    let layout = fields.layout();
    let form = layout.forms.iter().find(|form| form.number == fields.form()).expect("a form of the layout");
    let record = match records::pm4::Packet::read(fields) {
        Some(record) => {
            assert_eq!(records::sdma::Packet::read(fields), None, "{}: one language only", layout.name);
            format!("{record:?}")
        }
        None => format!("{:?}", records::sdma::Packet::read(fields).expect("a record of either language")),
    };
    let (name, members) = printed(&record);
    assert_eq!(name.to_ascii_uppercase(), layout.name.replace('_', ""));
    let level = fields.level();
    for field in form.fields.iter().filter(|field| field.is_on(level) && field.choices.len() != 1) {
        let is_there = members.keys().any(|member| {
            let name = in_tables(member);
            name == field.name() || name == whole(field.name())
        });
        assert!(is_there, "{}: {} is missing in {record}", layout.name, field.name());
    }
    for (member, value) in &members {
        let name = in_tables(member);
        let context = || format!("{}.{member} of {:08x?}", layout.name, fields.dwords());
        match (name, value.as_str()) {
            ("dwords", list) if list.starts_with('[') => {
                assert_eq!(list, format!("{:?}", fields.dwords()), "{}", context());
            }
            ("data", list) if list.starts_with('[') => {
                assert_eq!(list, format!("{:?}", fields.data()), "{}", context());
            }
            (_, flag @ ("true" | "false")) => {
                assert_eq!(flag == "true", expected(fields, form, name, false) != 0, "{}", context());
            }
            (_, number) => {
                // The values of selectors have their names in front.
                let number = number.rsplit_once(" (").map_or(number, |(_, number)| number.trim_end_matches(')'));
                let is_wide = wide.contains(&(layout.name, name));
                // The header's constant fields are no members.
                let is_constant = form.fields.iter().any(|field| field.name() == name && field.choices.len() == 1);
                if !is_constant {
                    assert_eq!(number, expected(fields, form, name, is_wide).to_string(), "{}", context());
                }
            }
        }
    }
    form.number
}

#[test]
fn every_record_holds_what_its_layout_says_on_every_reader() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let all = || pm4::all().chain(sdma::all()).chain(dma::all());
    let fields = || {
        all().flat_map(|layout| layout.forms.iter().flat_map(move |form| form.fields.iter().map(move |f| (layout, f))))
    };
    let halves: Vec<_> = fields()
        .filter(|(_, field)| whole(field.name()) != field.name())
        .map(|(layout, field)| (layout.name, whole(field.name())))
        .collect();
    let mut seen = std::collections::BTreeSet::new();
    let mut forms = std::collections::BTreeSet::new();
    for reader in readers() {
        for layout in reader.table().all() {
            for form in layout.forms(reader) {
                forms.insert((form.number, reader.level()));
                for _ in 0..12 {
                    let wire = chance(layout, form, reader, &mut dice);
                    if let Some(fields) = read(&wire, layout.opcode, reader) {
                        seen.insert((compare(&fields, &halves), reader.level()));
                    }
                }
            }
        }
    }
    // An earlier form of the same length accepts everything that these two accept.
    let shadowed = ["EVENT_WRITE", "INDIRECT_BUFFER"].map(|name| {
        let layout = pm4::all().find(|layout| layout.name == name).expect("a layout");
        layout.forms.last().expect("a form").number
    });
    let unseen: Vec<_> = forms.difference(&seen).filter(|(form, _)| !shadowed.contains(form)).collect();
    assert!(unseen.is_empty(), "chance never gave these forms anything that fits: {unseen:?}");
}

/// Writes a record that was read, if it can be written; returns `true` if so.
fn rewritten(record: &impl Record, fields: &Fields<'_>, is_copy: bool) -> bool {
    let (level, read) = (fields.level(), fields.dwords());
    let is_taken = record.check(level).is_ok();
    assert_eq!(record.fits() && record.takers() >> level & 1 != 0, is_taken, "{}: {read:08x?}", fields.name());
    let Some(len) = record.length(level).ok().filter(|_| is_taken) else { return false };
    let mut out = vec![0; len];
    record.store(level, &mut out);
    // The header of a copy engine's packet contains fields, the header of a PM4 packet does not.
    let first = usize::from(!is_copy);
    assert_eq!(len, read.len(), "{}: {read:08x?}", fields.name());
    assert_eq!(out[first..], read[first..], "{}", fields.name());
    true
}

#[test]
fn a_record_that_was_read_is_written_as_the_same_dwords() {
    use records::{pm4::Packet as P, sdma::Packet as S};
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut written = std::collections::BTreeMap::new();
    for reader in readers() {
        for layout in reader.table().all() {
            for form in layout.forms(reader) {
                for _ in 0..150 {
                    let wire = chance(layout, form, reader, &mut dice);
                    let Some(fields) = read(&wire, layout.opcode, reader) else { continue };
                    let is_written = match (P::read(&fields), S::read(&fields)) {
                        (Some(P::AcquireMem(r)), _) => rewritten(&r, &fields, false),
                        (Some(P::CopyData(r)), _) => rewritten(&r, &fields, false),
                        (Some(P::CpDma(r)), _) => rewritten(&r, &fields, false),
                        (Some(P::DmaData(r)), _) => rewritten(&r, &fields, false),
                        (Some(P::EventWriteEop(r)), _) => rewritten(&r, &fields, false),
                        (Some(P::EventWriteEos(r)), _) => rewritten(&r, &fields, false),
                        (Some(P::IndirectBuffer(r)), _) => rewritten(&r, &fields, false),
                        (Some(P::ReleaseMem(r)), _) => rewritten(&r, &fields, false),
                        (Some(P::SurfaceSync(r)), _) => rewritten(&r, &fields, false),
                        (Some(P::WaitRegMem(r)), _) => rewritten(&r, &fields, false),
                        (Some(P::WriteData(r)), _) => rewritten(&r, &fields, false),
                        (_, Some(S::ConstFill(r))) => rewritten(&r, &fields, true),
                        (_, Some(S::CopyLinear(r))) => rewritten(&r, &fields, true),
                        (_, Some(S::Fence(r))) => rewritten(&r, &fields, true),
                        (_, Some(S::PollRegmem(r))) => rewritten(&r, &fields, true),
                        (_, Some(S::PollRegMem(r))) => rewritten(&r, &fields, true),
                        (_, Some(S::TimestampGetGlobal(r))) => rewritten(&r, &fields, true),
                        (_, Some(S::WriteLinear(r))) => rewritten(&r, &fields, true),
                        _ => continue,
                    };
                    *written.entry(layout.name).or_insert(0) += u32::from(is_written);
                }
            }
        }
    }
    let never: Vec<_> = written.iter().filter(|(_, times)| **times == 0).collect();
    assert!(written.len() >= 18 && never.is_empty(), "chance gave nothing that can be written: {never:?}");
}
