//! The choice of the next load of an access, by kind of memory.

use amdgpu_hw::GfxLevel;

use super::{Address, Alignment, Kind, Place, Request};

/// A load that is possible at a position.
pub(super) struct Picked {
    pub(super) op: &'static str,
    pub(super) bytes: u8,
    pub(super) immediate: u32,
    pub(super) immediate1: Option<u8>,
    pub(super) address: Address,
    /// The part of the constant offset that must be added to the offset register.
    pub(super) to_offset: u32,
}

/// Returns the value from which a constant offset does not fit the immediate, and by which it is reduced; 0 if the kind handles
/// this itself.
pub(super) fn limit(kind: Kind, level: GfxLevel) -> u32 {
    let short = matches!(level, GfxLevel::Gfx10 | GfxLevel::Gfx10_3);
    match kind {
        Kind::ScalarBuffer | Kind::ScalarGlobal => 1024,
        Kind::Lds => 0,
        Kind::Global => match level {
            GfxLevel::Gfx6 => 4096,
            GfxLevel::Gfx7 | GfxLevel::Gfx8 => 1,
            _ if short => 2047,
            _ => 4095,
        },
        Kind::Scratch if short => 2048,
        Kind::Buffer | Kind::SwizzledBuffer | Kind::Scratch => 4096,
    }
}

/// Picks a load of about `need` bytes at `align`, with `constant` as the remaining constant offset.
pub(super) fn pick(request: &Request, level: GfxLevel, align: Alignment, need: u32, constant: u32) -> Picked {
    match request.kind {
        Kind::ScalarBuffer | Kind::ScalarGlobal => scalar(request, align, need, constant),
        Kind::Lds => lds(level, align, need, constant),
        Kind::Global => global(request, level, align, need, constant),
        Kind::Buffer | Kind::SwizzledBuffer | Kind::Scratch => vector(request, level, align, need, constant),
    }
}

fn scalar(request: &Request, align: Alignment, need: u32, constant: u32) -> Picked {
    let need = need.min(64);
    let up = need.next_power_of_two().max(4);
    let global = request.kind == Kind::ScalarGlobal;
    let bytes = if global && !align.known().is_multiple_of(up) { 1 << need.ilog2() } else { up };
    let (buffer, plain) = match bytes {
        4 => ("s_buffer_load_dword", "s_load_dword"),
        8 => ("s_buffer_load_dwordx2", "s_load_dwordx2"),
        16 => ("s_buffer_load_dwordx4", "s_load_dwordx4"),
        32 => ("s_buffer_load_dwordx8", "s_load_dwordx8"),
        _ => ("s_buffer_load_dwordx16", "s_load_dwordx16"),
    };
    let alone = global && request.offset != Place::Scalar;
    Picked {
        op: if global { plain } else { buffer },
        bytes: bytes as u8,
        immediate: if alone { constant } else { 0 },
        immediate1: None,
        address: Address::Scalar,
        to_offset: if alone { 0 } else { constant },
    }
}

/// Returns the number of bytes of a vector memory load.
fn vector_bytes(align: Alignment, need: u32, twelve: bool) -> u8 {
    let known = align.known();
    if need == 1 || !known.is_multiple_of(2) {
        1
    } else if need == 2 || !known.is_multiple_of(4) {
        2
    } else if need <= 4 {
        4
    } else if need <= 8 {
        8
    } else if need <= 12 && twelve {
        12
    } else {
        16
    }
}

/// The names of loads of 1, 2, 4, 8, 12 and 16 bytes.
type Names = [&'static str; 6];

const BUFFER: Names = [
    "buffer_load_ubyte",
    "buffer_load_ushort",
    "buffer_load_dword",
    "buffer_load_dwordx2",
    "buffer_load_dwordx3",
    "buffer_load_dwordx4",
];
const FLAT: Names = [
    "flat_load_ubyte",
    "flat_load_ushort",
    "flat_load_dword",
    "flat_load_dwordx2",
    "flat_load_dwordx3",
    "flat_load_dwordx4",
];
const GLOBAL: Names = [
    "global_load_ubyte",
    "global_load_ushort",
    "global_load_dword",
    "global_load_dwordx2",
    "global_load_dwordx3",
    "global_load_dwordx4",
];
const SCRATCH: Names = [
    "scratch_load_ubyte",
    "scratch_load_ushort",
    "scratch_load_dword",
    "scratch_load_dwordx2",
    "scratch_load_dwordx3",
    "scratch_load_dwordx4",
];

fn name(names: &Names, bytes: u8) -> &'static str {
    names[match bytes {
        1 => 0,
        2 => 1,
        4 => 2,
        8 => 3,
        12 => 4,
        _ => 5,
    }]
}

fn vector(request: &Request, level: GfxLevel, align: Alignment, need: u32, constant: u32) -> Picked {
    let align = if request.kind == Kind::SwizzledBuffer {
        Alignment { mul: u32::from(request.component_bytes).min(4), offset: 0 }
    } else {
        align
    };
    let bytes = vector_bytes(align, need, level != GfxLevel::Gfx6);
    let scratch = request.kind == Kind::Scratch;
    let (names, address) = match (scratch, request.offset) {
        (true, _) if level <= GfxLevel::Gfx8 => (&BUFFER, Address::OffenSoffset),
        (true, Place::Vector) => (&SCRATCH, Address::Vaddr),
        (true, _) => (&SCRATCH, Address::Saddr),
        // An SGPR offset is not clamped on GFX6 and GFX7, so it moves to a vector register.
        (false, Place::Scalar) if level <= GfxLevel::Gfx7 => (&BUFFER, Address::Offen),
        (false, Place::Vector) => (&BUFFER, Address::Offen),
        (false, _) => (&BUFFER, Address::Soffset),
    };
    Picked { op: name(names, bytes), bytes, immediate: constant, immediate1: None, address, to_offset: 0 }
}

fn global(request: &Request, level: GfxLevel, align: Alignment, need: u32, constant: u32) -> Picked {
    let bytes = match vector_bytes(align, need, true) {
        12 if level == GfxLevel::Gfx6 => 8,
        bytes => bytes,
    };
    let vector = request.address == Place::Vector || request.offset == Place::Vector;
    let (names, address) = match level {
        GfxLevel::Gfx6 if vector => (&BUFFER, Address::Addr64),
        GfxLevel::Gfx6 => (&BUFFER, Address::Soffset),
        GfxLevel::Gfx7 | GfxLevel::Gfx8 => (&FLAT, Address::Vaddr),
        _ if request.address == Place::Vector => (&GLOBAL, Address::Vaddr),
        _ => (&GLOBAL, Address::VaddrSaddr),
    };
    let immediate = if matches!(level, GfxLevel::Gfx7 | GfxLevel::Gfx8) { 0 } else { constant };
    Picked { op: name(names, bytes), bytes, immediate, immediate1: None, address, to_offset: 0 }
}

fn lds(level: GfxLevel, align: Alignment, need: u32, constant: u32) -> Picked {
    let known = align.known();
    let aligned = |bytes: u32| known.is_multiple_of(bytes);
    let wide = level >= GfxLevel::Gfx7;
    let d16 = level >= GfxLevel::Gfx9;
    let (op, bytes, pair) = if need >= 16 && aligned(16) && wide {
        ("ds_read_b128", 16, None)
    } else if need >= 16 && aligned(8) && constant.is_multiple_of(8) && wide {
        ("ds_read2_b64", 16, Some(8))
    } else if need >= 12 && aligned(16) && wide {
        ("ds_read_b96", 12, None)
    } else if need >= 8 && aligned(8) {
        ("ds_read_b64", 8, None)
    } else if need >= 8 && aligned(4) && constant.is_multiple_of(4) && wide {
        ("ds_read2_b32", 8, Some(4))
    } else if need >= 4 && aligned(4) {
        ("ds_read_b32", 4, None)
    } else if need >= 2 && aligned(2) {
        (if d16 { "ds_read_u16_d16" } else { "ds_read_u16" }, 2, None)
    } else {
        (if d16 { "ds_read_u8_d16" } else { "ds_read_u8" }, 1, None)
    };
    let unit = pair.unwrap_or(1);
    let range = if pair.is_some() { 255 * unit } else { 65536 };
    let part = if constant > range - unit { constant % range } else { constant };
    Picked {
        op,
        bytes,
        immediate: part / unit,
        immediate1: pair.map(|unit| (part / unit + 1) as u8),
        address: Address::Lds,
        to_offset: constant - part,
    }
}
