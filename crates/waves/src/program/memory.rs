//! LDS, FLAT and buffer instructions, decoded.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Instruction, OperandKind};

use super::{
    data::{Data, DataKind, Place},
    decoded_inst::{
        BufferOp, DecodedOp, FlatOp, LdsKind, LdsOp, LdsTransfer, LdsTransferAccess, MemoryKind, Segment, Source,
    },
    source::{Refusal, source},
    wave_config::WaveConfig,
};
use crate::alu::kernel::Type;

/// Decodes DS. `is_far` is `true` if the two offsets count 64 elements.
pub(super) fn lds(instruction: &Instruction, kind: LdsKind, is_far: bool) -> Result<DecodedOp, Refusal> {
    if instruction.field(Field::Gds) != 0 {
        return Err(Refusal::NotExecuted("global data share is not there"));
    }
    let field = |field| instruction.field(field);
    let (low, high) = (field(Field::Offset0), field(Field::Offset1));
    let unit = match kind {
        LdsKind::Load2(bytes) | LdsKind::Store2(bytes) | LdsKind::Exchange2(bytes) => {
            u32::from(bytes) * if is_far { 64 } else { 1 }
        }
        _ => 0,
    };
    Ok(DecodedOp::Lds(Box::new(LdsOp {
        kind,
        address: field(Field::Addr) as u16,
        data: [field(Field::Data0) as u16, field(Field::Data1) as u16],
        destination: field(Field::Vdst) as u16,
        offset: low | high << 8,
        offsets: [low * unit, high * unit],
    })))
}

/// Returns the low `bits` of `value`, sign-extended.
fn sign_extended(value: u32, bits: u32) -> i64 {
    i64::from((value << (32 - bits)).cast_signed() >> (32 - bits))
}

impl MemoryKind {
    /// Returns the operation with the bit that says whether an atomic operation gives the old value back.
    fn of(self, instruction: &Instruction) -> Self {
        match self {
            Self::Atomic { atomic, bytes, .. } => {
                let returns = instruction.field(Field::Glc) != 0 || instruction.field(Field::Th) & 1 != 0;
                Self::Atomic { atomic, bytes, returns }
            }
            access @ Self::Access(_) => access,
        }
    }
}

/// Decodes FLAT, GLOBAL and SCRATCH of all generations. `adds_lane` is `true` if the number of the lane is added to the address.
pub(super) fn flat(
    config: WaveConfig,
    instruction: &Instruction,
    segment: Segment,
    kind: MemoryKind,
    adds_lane: bool,
) -> Result<DecodedOp, Refusal> {
    let (level, newest) = (instruction.level(), instruction.has_field(Field::Ioffset));
    let field = |field| instruction.field(field);
    let kind = kind.of(instruction);
    let offset = match (level, segment) {
        (GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8, _) | (GfxLevel::Gfx10, Segment::Flat) => 0,
        (GfxLevel::Gfx9, Segment::Flat) => i64::from(field(Field::Offset) & 0xfff),
        (GfxLevel::Gfx10_3, Segment::Flat) => i64::from(field(Field::Offset) & 0x7ff),
        (GfxLevel::Gfx10 | GfxLevel::Gfx10_3, _) => sign_extended(field(Field::Offset), 12),
        _ if newest => sign_extended(field(Field::Ioffset), 24),
        _ => sign_extended(field(Field::Offset), 13),
    };
    let vaddr = if newest { field(Field::Vaddr) } else { field(Field::Addr) } as u16;
    let saddr = field(Field::Saddr);
    let absent = match level {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => true,
        GfxLevel::Gfx9 => saddr == 127,
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => matches!(saddr, 125 | 127),
        _ => saddr == 124,
    };
    let scalar = if absent || segment == Segment::Flat {
        None
    } else {
        Some(source(instruction, saddr, if segment == Segment::Global { Type::Unsigned64 } else { Type::Int32 })?)
    };
    let address = match (segment, level) {
        (Segment::Global, _) if adds_lane => None,
        (Segment::Flat | Segment::Global, _) => Some(vaddr),
        (_, GfxLevel::Gfx9) => scalar.is_none().then_some(vaddr),
        (_, GfxLevel::Gfx10 | GfxLevel::Gfx10_3) => (saddr == 125).then_some(vaddr),
        _ => (field(Field::Sve) != 0).then_some(vaddr),
    };
    let data = if newest { field(Field::Vsrc) } else { field(Field::Data) } as u16;
    let destination = field(Field::Vdst) as u16;
    let op = FlatOp { segment, kind, address, scalar, offset, data, destination };
    if field(Field::Lds) != 0 {
        let passed = passed_by_lds(config, kind)?;
        let access = LdsTransferAccess::Flat(FlatOp { data: passed, destination: passed, ..op });
        return Ok(transfer(access, offset as u32, kind));
    }
    Ok(DecodedOp::Flat(Box::new(op)))
}

/// Decodes MUBUF, MTBUF and VBUFFER. `is_to_lds` is `true` if data goes between memory and LDS without a bit that says so.
pub(super) fn buffer(
    config: WaveConfig,
    instruction: &Instruction,
    kind: MemoryKind,
    is_typed: bool,
    is_to_lds: bool,
) -> Result<DecodedOp, Refusal> {
    let field = |field| instruction.field(field);
    let kind = kind.of(instruction);
    let format = match (is_typed, instruction.has_field(Field::Dfmt)) {
        (false, _) => None,
        (true, true) => Some((field(Field::Dfmt), field(Field::Nfmt))),
        (true, false) => Some((field(Field::Format), 0)),
    };
    let newest = instruction.has_field(Field::Ioffset);
    let resource = if newest { field(Field::Rsrc) } else { 4 * field(Field::Srsrc) };
    if resource > 124 {
        return Err(Refusal::Illegal("the scalar resource does not exist"));
    }
    let has_soffset = instruction.opcode().operands.iter().any(|operand| operand.kind == OperandKind::Soffset);
    let scalar_offset =
        if has_soffset { source(instruction, field(Field::Soffset), Type::Int32)? } else { Source::Constant(0) };
    let op = BufferOp {
        kind,
        address: field(Field::Vaddr) as u16,
        data: field(Field::Vdata) as u16,
        resource: resource as u8,
        scalar_offset,
        offset: if newest { field(Field::Ioffset) } else { field(Field::Offset) },
        has_offset: field(Field::Offen) != 0,
        has_index: field(Field::Idxen) != 0,
        address64: field(Field::Addr64) != 0,
        format,
        residency: field(Field::Tfe) != 0,
    };
    if field(Field::Lds) != 0 || is_to_lds {
        if op.residency {
            return Err(Refusal::Illegal("LDS has no place for the residency code"));
        }
        let offset = op.offset;
        let access = LdsTransferAccess::Buffer(BufferOp { data: passed_by_lds(config, kind)?, ..op });
        return Ok(transfer(access, offset, kind));
    }
    Ok(DecodedOp::Buffer(Box::new(op)))
}

/// Returns the register behind the last one, through which the dword of a lane passes between memory and LDS.
fn passed_by_lds(config: WaveConfig, kind: MemoryKind) -> Result<u16, Refusal> {
    let is_dword = |data: Data| match data {
        Data::Dwords(dwords) => dwords == 1,
        Data::Part { place, .. } => place == Place::Whole,
        Data::Format { components, half, .. } => components == 1 && !half,
    };
    match kind {
        MemoryKind::Access(kind) if is_dword(kind.data()) => Ok(config.vgprs as u16),
        _ => Err(Refusal::Illegal("LDS takes one dword of a lane")),
    }
}

fn transfer(access: LdsTransferAccess, offset: u32, kind: MemoryKind) -> DecodedOp {
    let stores = matches!(kind, MemoryKind::Access(DataKind::Store(_)));
    DecodedOp::LdsTransfer(Box::new(LdsTransfer { access, offset, stores }))
}

impl MemoryKind {
    /// Returns the data of a load or store that a format converts.
    pub(crate) fn is_formatted(self) -> bool {
        matches!(self, Self::Access(kind) if matches!(kind.data(), Data::Format { .. }))
    }
}
