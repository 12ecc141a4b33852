//! The readable content of one packet.

use super::content::{Field, Meaning, Next, Note, Packet, Register, Shown};
use super::settings::Settings;
use crate::annotation::skipped;
use crate::layout::flags::{GCR, Gcr};
use crate::layout::names;
use crate::layout::records::pm4::Packet as Record;
use crate::layout::{FieldName, Fields, Half, Listed};
use crate::registers::{self, Aperture, RegisterSet};
use crate::{DecodeFault, pm4::opcode, read_annotation};
use amdgpu_hw::GpuVa;

pub(super) fn packet(settings: &Settings<'_>, listed: &Listed<'_>) -> Packet {
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
        Ok(Some(fields)) => describe(&mut packet, settings, &fields),
        Err(error) => {
            packet.name = match error.fault {
                DecodeFault::Field { packet, .. } => packet,
                DecodeFault::UnknownOpcode { opcode } if settings.registers().is_some() => {
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

fn describe(packet: &mut Packet, settings: &Settings<'_>, fields: &Fields<'_>) {
    packet.name = fields.name();
    packet.about = fields.layout().about();
    packet.fields = collect(settings, fields);
    packet.next = leads_to(fields);
    let record = Record::read(fields);
    packet.note = skipped(fields).and_then(note);
    if let Some((record, set)) = record.zip(settings.registers()) {
        packet.registers = writes(&record, set);
        find_shaders(&mut packet.registers, settings);
    }
    if packet.registers.is_empty() {
        packet.data = fields.data().to_vec();
    }
}

/// Returns the note in the payload of a NOP.
fn note(data: &[u32]) -> Option<Note> {
    match *data {
        [mark] if mark >> 16 == TRACE_POINT => Some(Note::TracePoint(mark as u16)),
        _ => read_annotation(data).map(Note::Annotation),
    }
}

/// The upper half of the dword that marks a trace point.
const TRACE_POINT: u32 = 0xcafe;

/// Returns the registers that a SET packet writes.
fn writes(record: &Record<'_>, set: RegisterSet) -> Vec<Register> {
    use Aperture::{Config, Context, Sh, Uconfig};
    match *record {
        Record::SetConfigReg(packet) => in_a_row(Config, packet.reg_offset, packet.data, set),
        Record::SetContextReg(packet) => in_a_row(Context, packet.reg_offset, packet.data, set),
        Record::SetContextRegIndex(packet) => in_a_row(Context, packet.reg_offset, packet.data, set),
        Record::SetShReg(packet) => in_a_row(Sh, packet.reg_offset, packet.data, set),
        Record::SetShRegIndex(packet) => in_a_row(Sh, packet.reg_offset, packet.data, set),
        Record::SetUconfigReg(packet) => in_a_row(Uconfig, packet.reg_offset, packet.data, set),
        Record::SetUconfigRegIndex(packet) => in_a_row(Uconfig, packet.reg_offset, packet.data, set),
        Record::SetContextRegPairs(packet) => in_pairs(Context, packet.dwords, set),
        Record::SetShRegPairs(packet) => in_pairs(Sh, packet.dwords, set),
        Record::SetUconfigRegPairs(packet) => in_pairs(Uconfig, packet.dwords, set),
        Record::SetContextRegPairsPacked(packet) => in_packed_pairs(Context, packet.dwords, set),
        Record::SetShRegPairsPacked(packet) => in_packed_pairs(Sh, packet.dwords, set),
        Record::SetShRegPairsPackedGfx12(packet) => in_packed_pairs(Sh, packet.dwords, set),
        Record::SetShRegPairsPackedN(packet) => in_packed_pairs(Sh, packet.dwords, set),
        _ => Vec::new(),
    }
}

/// Returns consecutive registers of an aperture.
fn in_a_row(aperture: Aperture, first: u32, values: &[u32], set: RegisterSet) -> Vec<Register> {
    let one = |(&value, index): (&u32, u32)| written(aperture, first.saturating_add(index), value, set);
    values.iter().zip(0..).filter_map(one).collect()
}

/// Returns the registers of a packet with alternating offsets and values.
fn in_pairs(aperture: Aperture, dwords: &[u32], set: RegisterSet) -> Vec<Register> {
    let one = |pair: &[u32]| match *pair {
        [offset, value] => written(aperture, offset & 0xffff, value, set),
        _ => None,
    };
    dwords.get(1..).unwrap_or_default().chunks_exact(2).filter_map(one).collect()
}

/// Returns the registers of a packet with pairs of offsets in a dword, followed by their values.
fn in_packed_pairs(aperture: Aperture, dwords: &[u32], set: RegisterSet) -> Vec<Register> {
    let both = |three: &[u32]| match *three {
        [offsets, first, second] => {
            [written(aperture, offsets & 0xffff, first, set), written(aperture, offsets >> 16, second, set)]
        }
        _ => [None, None],
    };
    dwords.get(2..).unwrap_or_default().chunks_exact(3).flat_map(both).flatten().collect()
}

/// Returns the register at a dword index of an aperture; `None` if the generation does not have the aperture.
fn written(aperture: Aperture, index: u32, value: u32, set: RegisterSet) -> Option<Register> {
    let base = aperture.bytes(set.level())?.start;
    Some(register(base.saturating_add(index.saturating_mul(4)), Some(value), set))
}

/// Finds the addresses of shaders, which are in units of 256 bytes in two consecutive registers.
fn find_shaders(registers: &mut [Register], settings: &Settings<'_>) {
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
            register.shader = Some((address, (settings.names)(address)));
        }
    }
}

/// Returns the register at an offset in bytes, with the meaning of its value.
///
/// ```
/// use amdgpu_hw::GfxLevel;
/// use amdgpu_packets::dump::register;
///
/// let limits = register(0xb81c, Some(64), GfxLevel::Gfx10.into());
/// assert_eq!(limits.to_string(), "COMPUTE_NUM_THREAD_X <- 0x40  {num_thread_full = 64}");
/// ```
pub fn register(offset: u32, value: Option<u32>, set: RegisterSet) -> Register {
    let Some(known) = registers::at(offset, set) else {
        return Register { offset, name: None, value, fields: Vec::new(), unnamed: 0, shader: None };
    };
    content(known, offset, value, set)
}

/// Returns a register with the meaning of its value.
fn content(register: registers::Register, offset: u32, value: Option<u32>, set: RegisterSet) -> Register {
    let meant = value.into_iter().flat_map(|value| register.decode(value, set)).filter(|field| field.value != 0);
    Register {
        offset,
        name: Some(register.name()),
        value,
        fields: meant.map(|found| (found.field.name(), found.value, found.choice)).collect(),
        unnamed: value.map_or(0, |value| value & register.unnamed_bits(set)),
        shader: None,
    }
}

fn collect(settings: &Settings<'_>, fields: &Fields<'_>) -> Vec<Field> {
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
                let meaning = meaning(settings, fields, field, value);
                found.push((field.key(), Field { name: field.name(), value: value.into(), meaning }));
            }
        }
    }
    let named = |(key, mut field): (FieldName, Field)| {
        if field.meaning == Meaning::Number && key.is_address() {
            field.meaning = Meaning::Address((settings.names)(field.value));
        }
        field
    };
    found.into_iter().map(named).collect()
}

/// Returns the register whose value a field contains.
fn held(key: FieldName) -> Option<registers::Register> {
    match key {
        names::dispatch_initiator => Some(registers::COMPUTE_DISPATCH_INITIATOR),
        names::draw_initiator => Some(registers::VGT_DRAW_INITIATOR),
        names::coher_cntl => Some(registers::CP_COHER_CNTL),
        _ => None,
    }
}

/// Returns GCR_CNTL as a register. It is not one, but its fields are decoded in the same way.
fn cache_control(value: u32) -> Register {
    let fields = GCR.iter().map(|bits| (bits.name(), bits.of(value)));
    let fields = fields.filter(|(_, (value, _))| *value != 0).map(|(name, (value, choice))| (name, value, choice));
    Register {
        offset: 0,
        name: Some("GCR_CNTL"),
        value: Some(value),
        fields: fields.collect(),
        unnamed: value & !Gcr::all().bits(),
        shader: None,
    }
}

/// Returns `true` if a field contains the index of a register.
fn is_register(key: FieldName) -> bool {
    matches!(
        key,
        names::dst_reg | names::src_reg | names::poll_reg | names::write_reg | names::dst_reg_lo | names::src_reg_lo
    )
}

fn meaning(settings: &Settings<'_>, fields: &Fields<'_>, field: &crate::layout::Field, value: u32) -> Meaning {
    if let Some(choice) = fields.choice(field, value).filter(|_| field.choices().len() > 1) {
        return Meaning::Choice(choice);
    }
    let Some(set) = settings.registers() else { return Meaning::Number };
    if field.key() == names::gcr_cntl {
        return Meaning::Register(cache_control(value));
    }
    if let Some(register) = held(field.key()) {
        let offset = register.offset(set).unwrap_or_default();
        return Meaning::Register(content(register, offset, Some(value), set));
    }
    if is_register(field.key()) {
        return Meaning::Register(register(value.saturating_mul(4), None, set));
    }
    Meaning::Number
}

/// Returns the IBs that a packet calls or chains to, all as not yet [shown](Next::shown). Engines ignore the upper 16 bits of their
/// addresses, which the kernel leaves zero in its own packets.
pub fn leads_to(fields: &Fields<'_>) -> Vec<Next> {
    let to = |address, dwords: u32, is_chain| {
        let va = Some(GpuVa::from_48_bits(address)).filter(|&va| va != GpuVa::NULL && dwords > 0)?;
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
