//! One packet made readable.

use super::{Dumper, Field, Meaning, Next, Note, Packet, Register, Shown};
use crate::annotation::skipped;
use crate::layout::names;
use crate::layout::records::pm4::Packet as Record;
use crate::layout::{FieldName, Fields, Half, Listed, Reader};
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
    let record = Record::read(fields);
    packet.note = skipped(fields).and_then(note);
    if let Some((record, level)) = record.zip(level(dumper.reader)) {
        packet.registers = writes(&record, level);
        find_shaders(&mut packet.registers, dumper);
    }
    if packet.registers.is_empty() {
        packet.data = fields.data().to_vec();
    }
}

/// What a NOP says.
fn note(data: &[u32]) -> Option<Note> {
    match *data {
        [mark] if mark >> 16 == TRACE_POINT => Some(Note::TracePoint(mark as u16)),
        _ => read_annotation(data).map(Note::Annotation),
    }
}

/// The upper half of a trace point.
const TRACE_POINT: u32 = 0xcafe;

/// The registers that a SET packet writes.
fn writes(record: &Record<'_>, level: GfxLevel) -> Vec<Register> {
    use Aperture::{Config, Context, Sh, Uconfig};
    match *record {
        Record::SetConfigReg(set) => in_a_row(Config, set.reg_offset, set.data, level),
        Record::SetContextReg(set) => in_a_row(Context, set.reg_offset, set.data, level),
        Record::SetContextRegIndex(set) => in_a_row(Context, set.reg_offset, set.data, level),
        Record::SetShReg(set) => in_a_row(Sh, set.reg_offset, set.data, level),
        Record::SetShRegIndex(set) => in_a_row(Sh, set.reg_offset, set.data, level),
        Record::SetUconfigReg(set) => in_a_row(Uconfig, set.reg_offset, set.data, level),
        Record::SetUconfigRegIndex(set) => in_a_row(Uconfig, set.reg_offset, set.data, level),
        Record::SetContextRegPairs(set) => in_pairs(Context, set.dwords, level),
        Record::SetShRegPairs(set) => in_pairs(Sh, set.dwords, level),
        Record::SetUconfigRegPairs(set) => in_pairs(Uconfig, set.dwords, level),
        Record::SetContextRegPairsPacked(set) => in_packed_pairs(Context, set.dwords, level),
        Record::SetShRegPairsPacked(set) => in_packed_pairs(Sh, set.dwords, level),
        Record::SetShRegPairsPackedGfx12(set) => in_packed_pairs(Sh, set.dwords, level),
        Record::SetShRegPairsPackedN(set) => in_packed_pairs(Sh, set.dwords, level),
        _ => Vec::new(),
    }
}

/// The registers from a dword of an aperture on.
fn in_a_row(aperture: Aperture, first: u32, values: &[u32], level: GfxLevel) -> Vec<Register> {
    let one = |(&value, index): (&u32, u32)| written(aperture, first.saturating_add(index), value, level);
    values.iter().zip(0..).filter_map(one).collect()
}

/// The registers of a packet whose header is followed by offsets and values in turn.
fn in_pairs(aperture: Aperture, dwords: &[u32], level: GfxLevel) -> Vec<Register> {
    let one = |pair: &[u32]| match *pair {
        [offset, value] => written(aperture, offset & 0xffff, value, level),
        _ => None,
    };
    dwords.get(1..).unwrap_or_default().chunks_exact(2).filter_map(one).collect()
}

/// The registers of a packet whose header and count are followed by two offsets in a dword and their values in turn.
fn in_packed_pairs(aperture: Aperture, dwords: &[u32], level: GfxLevel) -> Vec<Register> {
    let both = |three: &[u32]| match *three {
        [offsets, first, second] => {
            [written(aperture, offsets & 0xffff, first, level), written(aperture, offsets >> 16, second, level)]
        }
        _ => [None, None],
    };
    dwords.get(2..).unwrap_or_default().chunks_exact(3).flat_map(both).flatten().collect()
}

/// A register by its dword in an aperture; `None` where the generation has no such aperture.
fn written(aperture: Aperture, index: u32, value: u32, level: GfxLevel) -> Option<Register> {
    let base = aperture.bytes(level)?.start;
    Some(register(base.saturating_add(index.saturating_mul(4)), Some(value), level))
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

fn collect(dumper: &Dumper<'_>, fields: &Fields<'_>) -> Vec<Field> {
    let mut found: Vec<(FieldName, Field)> = Vec::new();
    let number = |key: FieldName, value: u64| (key, Field { name: key.text(), value, meaning: Meaning::Number });
    for (field, value) in fields.iter() {
        match field.half() {
            Half::Low if field.bits().0 == 31 => found.push(number(field.whole(), u64::from(value) << field.bits().1)),
            Half::High => match found.iter_mut().find(|(key, _)| *key == field.whole()) {
                Some((_, low)) => low.value |= u64::from(value) << 32,
                None => found.push(number(field.key(), value.into())),
            },
            Half::Low | Half::Whole => {
                let meaning = meaning(dumper, fields, field, value);
                found.push((field.key(), Field { name: field.name(), value: value.into(), meaning }));
            }
        }
    }
    let named = |(key, mut field): (FieldName, Field)| {
        if field.meaning == Meaning::Number && key.is_address() {
            field.meaning = Meaning::Address((dumper.names)(field.value));
        }
        field
    };
    found.into_iter().map(named).collect()
}

/// The register whose content a field holds.
fn held(key: FieldName) -> Option<registers::Register> {
    match key {
        names::dispatch_initiator => Some(registers::COMPUTE_DISPATCH_INITIATOR),
        names::draw_initiator => Some(registers::VGT_DRAW_INITIATOR),
        names::coher_cntl => Some(registers::CP_COHER_CNTL),
        _ => None,
    }
}

/// Returns `true` if a field holds the index of a register.
fn is_register(key: FieldName) -> bool {
    matches!(
        key,
        names::dst_reg | names::src_reg | names::poll_reg | names::write_reg | names::dst_reg_lo | names::src_reg_lo
    )
}

fn meaning(dumper: &Dumper<'_>, fields: &Fields<'_>, field: &crate::layout::Field, value: u32) -> Meaning {
    if let Some(choice) = fields.choice(field, value).filter(|_| field.choices().len() > 1) {
        return Meaning::Choice(choice);
    }
    let Some(level) = level(dumper.reader) else { return Meaning::Number };
    if let Some(register) = held(field.key()) {
        let offset = register.offset(level).unwrap_or_default();
        return Meaning::Register(content(register, offset, Some(value), level));
    }
    if is_register(field.key()) {
        return Meaning::Register(register(value.saturating_mul(4), None, level));
    }
    Meaning::Number
}

/// The IBs that a packet calls or jumps to, none of which was [shown](Next::shown) yet.
pub fn leads_to(fields: &Fields<'_>) -> Vec<Next> {
    let to = |address, dwords: u32, is_chain| {
        let va = GpuVa::new(address).ok().filter(|&va| va != GpuVa::NULL && dwords > 0)?;
        Some(Next { va, dwords: dwords as usize, is_chain, shown: Shown::Unreadable })
    };
    let both = match Record::read(fields) {
        Some(Record::IndirectBuffer(ib)) => [to(ib.addr, ib.ib_size, ib.chain), None],
        Some(Record::IndirectBufferConst(ib)) => [to(ib.addr, ib.ib_size, ib.chain), None],
        Some(Record::IndirectBufferPriv(ib)) => [to(ib.addr, ib.ib_size, false), None],
        Some(Record::CondIndirectBuffer(ib)) => {
            [to(ib.ib1_addr, ib.ib1_size, false), to(ib.ib2_addr, ib.ib2_size, false)]
        }
        _ => [None, None],
    };
    both.into_iter().flatten().collect()
}
