//! LDS, FLAT and buffer instructions to steps.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Format, Instruction, OperandKind};

use super::{
    data::{Data, DataKind, Place},
    shape::Shape,
    source::{Refusal, source},
    step::{
        Action, BufferStep, FlatStep, LdsKind, LdsStep, LdsTransfer, LdsTransferAccess, MemoryKind, Segment, Source,
    },
};
use crate::{alu::kernel::Type, atomic::Atomic};

/// Decodes DS.
pub(super) fn lds(instruction: &Instruction) -> Result<Action, Refusal> {
    let name = instruction.name();
    if name == "ds_nop" {
        return Ok(Action::Nothing);
    }
    if instruction.field(Field::Gds) != 0 || name.starts_with("ds_gws_") || name == "ds_ordered_count" {
        return Err(Refusal::NotExecuted("global data share is not there"));
    }
    let kind = lds_kind(name)?;
    let field = |field| instruction.field(field);
    let (low, high) = (field(Field::Offset0), field(Field::Offset1));
    let unit = match kind {
        LdsKind::Load2(bytes) | LdsKind::Store2(bytes) | LdsKind::Exchange2(bytes) => {
            let stride = name.contains("st64") || name.contains("stride64");
            u32::from(bytes) * if stride { 64 } else { 1 }
        }
        _ => 0,
    };
    Ok(Action::Lds(Box::new(LdsStep {
        kind,
        address: field(Field::Addr) as u16,
        data: [field(Field::Data0) as u16, field(Field::Data1) as u16],
        destination: field(Field::Vdst) as u16,
        offset: low | high << 8,
        offsets: [low * unit, high * unit],
    })))
}

fn lds_kind(name: &str) -> Result<LdsKind, Refusal> {
    let rest = name.strip_prefix("ds_").unwrap_or(name);
    let bytes = if name.ends_with("64") { 8 } else { 4 };
    let kind = match rest {
        "swizzle_b32" => LdsKind::Swizzle,
        "permute_b32" => LdsKind::Permute,
        "bpermute_b32" => LdsKind::BackwardPermute,
        "append" => LdsKind::Append(true),
        "consume" => LdsKind::Append(false),
        "read_addtid_b32" | "load_addtid_b32" => LdsKind::LaneAddress(false),
        "write_addtid_b32" | "store_addtid_b32" => LdsKind::LaneAddress(true),
        _ if rest.starts_with("read2") || rest.starts_with("load_2addr") => LdsKind::Load2(bytes),
        _ if rest.starts_with("write2") || rest.starts_with("store_2addr") => LdsKind::Store2(bytes),
        _ if rest.starts_with("wrxchg2") || rest.starts_with("storexchg_2addr") => LdsKind::Exchange2(bytes),
        _ if rest.contains("_src2_") => {
            let plain = rest.replace("write_src2", "swap").replace("_src2", "");
            let (atomic, bytes) = Atomic::parse(&plain).ok_or("the LDS operation is not executed")?;
            LdsKind::AtomicFromMemory { atomic, bytes }
        }
        _ => {
            if let Some(kind) = DataKind::parse(rest) {
                return Ok(LdsKind::Access(kind));
            }
            let plain = rest.replace("_rtn", "");
            let (atomic, bytes) = Atomic::parse(&plain).ok_or("the LDS operation is not executed")?;
            let swapped = rest.starts_with("cmpstore");
            LdsKind::Atomic { atomic, bytes, returns: rest.contains("_rtn"), swapped }
        }
    };
    Ok(kind)
}

/// Returns the low `bits` of `value`, sign-extended.
fn sign_extended(value: u32, bits: u32) -> i64 {
    i64::from((value << (32 - bits)).cast_signed() >> (32 - bits))
}

/// Returns `true` if an atomic operation gives the old value back.
fn returns(instruction: &Instruction) -> bool {
    instruction.field(Field::Glc) != 0 || instruction.field(Field::Th) & 1 != 0
}

/// Returns the operation of an access by its name without prefix.
fn memory_kind(instruction: &Instruction, rest: &str) -> Result<MemoryKind, Refusal> {
    if let Some(kind) = DataKind::parse(rest) {
        return Ok(MemoryKind::Access(kind));
    }
    let unknown = "the memory operation is not executed";
    let (atomic, bytes) = rest.strip_prefix("atomic_").and_then(Atomic::parse).ok_or(unknown)?;
    Ok(MemoryKind::Atomic { atomic, bytes, returns: returns(instruction) })
}

/// Decodes FLAT, GLOBAL and SCRATCH of all generations.
pub(super) fn flat(shape: Shape, instruction: &Instruction) -> Result<Action, Refusal> {
    let name = instruction.name();
    if matches!(name, "global_inv" | "global_wb" | "global_wbinv") {
        return Ok(Action::Nothing);
    }
    let (level, newest) = (instruction.level(), instruction.has_field(Field::Ioffset));
    let field = |field| instruction.field(field);
    let (segment, rest) = match instruction.opcode().format {
        Format::Global | Format::Vglobal => (Segment::Global, name.strip_prefix("global_")),
        Format::Scratch | Format::Vscratch => (Segment::Scratch, name.strip_prefix("scratch_")),
        _ => (Segment::Flat, name.strip_prefix("flat_")),
    };
    // Addresses of `addtid` operations have the number of the lane in place of a register.
    let plain = rest.unwrap_or(name).replacen("_addtid", "", 1);
    let adds_lane = plain != rest.unwrap_or(name);
    let kind = memory_kind(instruction, &plain)?;
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
    let step = FlatStep { segment, kind, address, scalar, offset, data, destination };
    if field(Field::Lds) != 0 {
        let passed = passed_by_lds(shape, kind)?;
        let access = LdsTransferAccess::Flat(FlatStep { data: passed, destination: passed, ..step });
        return Ok(transfer(access, offset as u32, kind));
    }
    Ok(Action::Flat(Box::new(step)))
}

/// Decodes MUBUF, MTBUF and VBUFFER.
pub(super) fn buffer(shape: Shape, instruction: &Instruction) -> Result<Action, Refusal> {
    let name = instruction.name();
    if ["buffer_gl", "buffer_wb", "buffer_inv"].iter().any(|prefix| name.starts_with(prefix)) {
        return Ok(Action::Nothing);
    }
    let field = |field| instruction.field(field);
    let (rest, typed) = match name.strip_prefix("tbuffer_") {
        Some(rest) => (rest, true),
        None => (name.strip_prefix("buffer_").unwrap_or(name), false),
    };
    // Accesses of LDS have names of their own on GFX11, and a bit before.
    let named = rest.replacen("_lds_", "_", 1);
    let kind = memory_kind(instruction, &named)?;
    let format = match (typed, instruction.has_field(Field::Dfmt)) {
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
    let step = BufferStep {
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
    if field(Field::Lds) != 0 || named != rest {
        if step.residency {
            return Err(Refusal::Illegal("LDS has no place for the residency code"));
        }
        let offset = step.offset;
        let access = LdsTransferAccess::Buffer(BufferStep { data: passed_by_lds(shape, kind)?, ..step });
        return Ok(transfer(access, offset, kind));
    }
    Ok(Action::Buffer(Box::new(step)))
}

/// Returns the register behind the last one, through which the dword of a lane passes between memory and LDS.
fn passed_by_lds(shape: Shape, kind: MemoryKind) -> Result<u16, Refusal> {
    let is_dword = |data: Data| match data {
        Data::Dwords(dwords) => dwords == 1,
        Data::Part { place, .. } => place == Place::Whole,
        Data::Format { components, half, .. } => components == 1 && !half,
    };
    match kind {
        MemoryKind::Access(kind) if is_dword(kind.data()) => Ok(shape.vgprs as u16),
        _ => Err(Refusal::Illegal("LDS takes one dword of a lane")),
    }
}

fn transfer(access: LdsTransferAccess, offset: u32, kind: MemoryKind) -> Action {
    let stores = matches!(kind, MemoryKind::Access(DataKind::Store(_)));
    Action::LdsTransfer(Box::new(LdsTransfer { access, offset, stores }))
}

impl MemoryKind {
    /// Returns the data of a load or store that a format converts.
    pub(crate) fn is_formatted(self) -> bool {
        matches!(self, Self::Access(kind) if matches!(kind.data(), Data::Format { .. }))
    }
}
