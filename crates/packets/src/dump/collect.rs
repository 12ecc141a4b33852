//! One packet made readable.

use super::{Dumper, Field, Meaning, Next, Note, Packet, Register, Shown};
use crate::layout::{Fields, Listed, Reader};
use crate::registers::{self, Aperture};
use crate::{DecodeFault, pm4::opcode, read_annotation};
use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;

/// The generation whose registers a reader writes.
pub(super) const fn level(reader: Reader) -> Option<GfxLevel> {
    match reader {
        Reader::Ring(target) => Some(target.level),
        Reader::Constant(level) | Reader::Interface(level) => Some(level),
        Reader::Copy(_) => None,
    }
}

pub(super) fn packet(dumper: &Dumper<'_>, listed: &Listed<'_>) -> Packet {
    let mut packet = Packet {
        offset: listed.offset,
        dwords: listed.dwords.to_vec(),
        name: "NOP",
        about: "nothing",
        flags: listed.flags,
        fields: Vec::new(),
        registers: Vec::new(),
        data: Vec::new(),
        note: None,
        next: Vec::new(),
        problem: None,
    };
    match listed.content {
        Ok(None) => {}
        Ok(Some(fields)) => describe(&mut packet, dumper, &fields),
        Err(error) => {
            packet.name = match error.fault {
                DecodeFault::Field { packet, .. } => packet,
                DecodeFault::UnknownOpcode { opcode } if level(dumper.reader).is_some() => {
                    opcode::name(opcode as u8).unwrap_or("unknown")
                }
                _ => "unknown",
            };
            packet.about = "";
            packet.problem = Some(error);
        }
    }
    packet
}

fn describe(packet: &mut Packet, dumper: &Dumper<'_>, fields: &Fields<'_>) {
    packet.name = fields.name();
    packet.about = fields.layout().about();
    packet.fields = collect(dumper, fields);
    packet.next = leads_to(fields);
    let data = fields.data();
    packet.note = note(fields.name(), data);
    let set = level(dumper.reader)
        .and_then(|level| Some((level, Aperture::of_packet(fields.name())?)))
        .and_then(|(level, aperture)| Some((level, aperture.bytes(level)?.start)));
    match set {
        Some((level, base)) if fields.name().starts_with("SET_") => {
            packet.registers = writes(fields, data, base, level);
            find_shaders(&mut packet.registers, dumper);
        }
        _ => packet.data = data.to_vec(),
    }
    if fields.name().starts_with("SET_") && packet.registers.is_empty() {
        packet.data = data.to_vec();
    }
}

/// What a NOP says.
fn note(name: &str, data: &[u32]) -> Option<Note> {
    match *data {
        _ if name != "NOP" => None,
        [mark] if mark >> 16 == TRACE_POINT => Some(Note::TracePoint(mark as u16)),
        _ => read_annotation(data).map(Note::Annotation),
    }
}

/// The upper half of a trace point.
const TRACE_POINT: u32 = 0xcafe;

/// The registers that a SET packet writes.
fn writes(fields: &Fields<'_>, data: &[u32], base: u32, level: GfxLevel) -> Vec<Register> {
    let at = |index: u32, value: u32| register(base.saturating_add(index.saturating_mul(4)), Some(value), level);
    let name = fields.name();
    if name.contains("PAIRS_PACKED") {
        let triplets = fields.tail(2).chunks_exact(3);
        let both = |three: &[u32]| match *three {
            [offsets, first, second] => vec![at(offsets & 0xffff, first), at(offsets >> 16, second)],
            _ => Vec::new(),
        };
        return triplets.flat_map(both).collect();
    }
    if name.ends_with("_PAIRS") {
        let pairs = fields.tail(1).chunks_exact(2);
        let one = |two: &[u32]| if let [offset, value] = *two { Some(at(offset & 0xffff, value)) } else { None };
        return pairs.filter_map(one).collect();
    }
    if name.contains("OFFSET") {
        return Vec::new();
    }
    let first = fields.get("reg_offset");
    data.iter().zip(0..).map(|(&value, index): (_, u32)| at(first.saturating_add(index), value)).collect()
}

/// The addresses of shaders: 256-byte units, in two registers in a row.
fn find_shaders(registers: &mut [Register], dumper: &Dumper<'_>) {
    let names = |register: &Register, part: &str| register.name.is_some_and(|name| name.contains(part));
    for index in 0..registers.len().saturating_sub(1) {
        let [low, high] = [registers.get(index), registers.get(index + 1)];
        let Some((low, high)) = low.zip(high).filter(|(low, high)| names(low, "PGM_LO") && names(high, "PGM_HI"))
        else {
            continue;
        };
        let (Some(low), Some(high)) = (low.value, high.value) else { continue };
        let address = (u64::from(high & 0xff) << 32 | u64::from(low)) << 8;
        if let Some(register) = registers.get_mut(index) {
            register.shader = Some((address, (dumper.names)(address)));
        }
    }
}

/// A register with what goes into it.
fn register(offset: u32, value: Option<u32>, level: GfxLevel) -> Register {
    let Some(known) = registers::at(offset, level) else {
        return Register { offset, name: None, value, fields: Vec::new(), unnamed: 0, shader: None };
    };
    content(known, offset, value, level)
}

/// What a value means in a register.
fn content(register: registers::Register, offset: u32, value: Option<u32>, level: GfxLevel) -> Register {
    let meant = value.into_iter().flat_map(|value| register.decode(value, level)).filter(|field| field.value != 0);
    Register {
        offset,
        name: Some(register.name()),
        value,
        fields: meant.map(|found| (found.field.name(), found.value, found.choice)).collect(),
        unnamed: value.map_or(0, |value| value & register.unnamed_bits(level)),
        shader: None,
    }
}

/// The halves of a number: the common part of the name, and whether it is the high one.
fn half(name: &'static str) -> Option<(&'static str, bool)> {
    let low = name.strip_suffix("_lo").map(|whole| (whole, false));
    low.or_else(|| name.strip_suffix("_hi").map(|whole| (whole, true)))
}

/// Whether a number in two halves is an address in the job's address space.
fn is_address(name: &str) -> bool {
    name.contains("addr") || name == "index_base" || name == "base"
}

fn collect(dumper: &Dumper<'_>, fields: &Fields<'_>) -> Vec<Field> {
    let mut found: Vec<Field> = Vec::new();
    for (field, value) in fields.iter() {
        let (low_bit, name) = (field.bits().1, field.name());
        let is_wide = matches!(field.bits(), (31, _)) || name.ends_with("_hi");
        match half(name).filter(|_| is_wide) {
            Some((whole, false)) => {
                found.push(Field { name: whole, value: u64::from(value) << low_bit, meaning: Meaning::Number });
            }
            Some((whole, true)) => match found.iter_mut().find(|field| field.name == whole) {
                Some(low) => low.value |= u64::from(value) << 32,
                None => found.push(Field { name, value: value.into(), meaning: Meaning::Number }),
            },
            None => {
                let meaning = meaning(dumper, fields, field, value);
                found.push(Field { name, value: value.into(), meaning });
            }
        }
    }
    for field in &mut found {
        if field.meaning == Meaning::Number && is_address(field.name) {
            field.meaning = Meaning::Address((dumper.names)(field.value));
        }
    }
    found
}

/// Fields that hold what a register holds.
const CONTENTS: &[(&str, registers::Register)] = &[
    ("dispatch_initiator", registers::COMPUTE_DISPATCH_INITIATOR),
    ("draw_initiator", registers::VGT_DRAW_INITIATOR),
    ("coher_cntl", registers::CP_COHER_CNTL),
];

fn meaning(dumper: &Dumper<'_>, fields: &Fields<'_>, field: &crate::layout::Field, value: u32) -> Meaning {
    if let Some(choice) = fields.choice(field, value).filter(|_| field.choices().len() > 1) {
        return Meaning::Choice(choice);
    }
    let Some(level) = level(dumper.reader) else { return Meaning::Number };
    let name = field.name();
    if let Some(&(_, register)) = CONTENTS.iter().find(|row| row.0 == name) {
        let offset = register.offset(level).unwrap_or_default();
        return Meaning::Register(content(register, offset, Some(value), level));
    }
    if matches!(name, "dst_reg" | "src_reg" | "poll_reg" | "dst_reg_lo" | "src_reg_lo" | "poll_reg_lo" | "write_reg") {
        return Meaning::Register(register(value.saturating_mul(4), None, level));
    }
    Meaning::Number
}

/// The IBs that a packet calls or jumps to, none of which was [shown](Next::shown) yet.
pub fn leads_to(fields: &Fields<'_>) -> Vec<Next> {
    let to = |low, high, size, is_chain| {
        let va = fields.address(low, high).ok()?;
        let dwords = fields.get(size) as usize;
        (dwords > 0).then_some(Next { va, dwords, is_chain, shown: Shown::Unreadable })
    };
    let chain = fields.is_set("chain");
    let both = match fields.name() {
        "INDIRECT_BUFFER" | "INDIRECT_BUFFER_CONST" | "INDIRECT_BUFFER_PRIV" => {
            [to("addr_lo", "addr_hi", "ib_size", chain), None]
        }
        "COND_INDIRECT_BUFFER" => {
            [to("ib1_addr_lo", "ib1_addr_hi", "ib1_size", false), to("ib2_addr_lo", "ib2_addr_hi", "ib2_size", false)]
        }
        _ => [None, None],
    };
    both.into_iter().flatten().filter(|next| next.va != GpuVa::NULL).collect()
}
