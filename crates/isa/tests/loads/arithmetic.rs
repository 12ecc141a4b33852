//! The arithmetic instructions with which ACO performs the address steps and shifts of a plan.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::load::{Address, AddressStep, Kind, Load, Place, Plan, Request, Shift};

/// Returns the instructions before the loads of one access.
pub(crate) fn of_loads(request: &Request, level: GfxLevel, loads: &[Load]) -> Vec<&'static str> {
    loads.iter().flat_map(|load| before(request, level, load)).collect()
}

/// Returns the instructions of a plan of the older form.
pub(crate) fn of_plan(request: &Request, level: GfxLevel, plan: &Plan) -> Vec<&'static str> {
    let mut names = Vec::new();
    let mut constant = request.const_offset;
    for piece in plan {
        if piece.access.shift != Shift::None {
            if constant != 0 {
                names.extend(offset_sum(request, level));
            }
            names.extend(match (request.offset, request.address) {
                (Place::Constant, _) => None,
                (Place::None, Place::Scalar) => Some("s_and_b64"),
                (Place::Vector | Place::None, _) => Some("v_and_b32"),
                (Place::Scalar, _) => Some("s_and_b32"),
            });
        }
        names.extend(of_loads(request, level, &piece.loads));
        names.extend(shift(request, piece.access.shift, piece.access.bytes()));
        constant += piece.access.yields;
    }
    names
}

/// Returns the instructions that shift `bytes` loaded bytes.
fn shift(request: &Request, shift: Shift, bytes: u32) -> Vec<&'static str> {
    let scalar = matches!(request.kind, Kind::ScalarBuffer | Kind::ScalarGlobal);
    let right = if bytes == 4 { "s_lshr_b32" } else { "s_lshr_b64" };
    match shift {
        Shift::None => Vec::new(),
        Shift::Known(_) if scalar => vec![right],
        Shift::Dynamic if scalar => vec!["s_and_b32", "s_lshl_b32", right],
        // A shift by whole components only selects others.
        Shift::Known(bytes) if bytes.is_multiple_of(request.component_bytes) => Vec::new(),
        Shift::Known(_) | Shift::Dynamic => vec!["v_alignbyte_b32"; request.bytes().div_ceil(4) as usize],
    }
}

fn vector_sum(level: GfxLevel) -> Vec<&'static str> {
    vec![if level <= GfxLevel::Gfx8 { "v_add_co_u32" } else { "v_add_u32" }]
}

fn vector_address_sum(level: GfxLevel) -> Vec<&'static str> {
    vec![if level <= GfxLevel::Gfx9 { "v_add_co_u32" } else { "v_add_co_u32_e64" }, "v_addc_co_u32"]
}

/// Returns the addition to the offset register, or to the address without one.
fn offset_sum(request: &Request, level: GfxLevel) -> Vec<&'static str> {
    match (request.offset, request.address) {
        (Place::Constant, _) => Vec::new(),
        (Place::Vector, _) => vector_sum(level),
        (Place::Scalar, _) => vec!["s_add_i32"],
        (Place::None, Place::Vector) => vector_address_sum(level),
        (Place::None, _) => vec!["s_add_u32"; 2],
    }
}

/// Returns the instructions of the steps before a load.
fn before(request: &Request, level: GfxLevel, load: &Load) -> Vec<&'static str> {
    let vector = request.offset == Place::Vector || request.address == Place::Vector;
    let steps = load.before.iter().flatten().map(|step| match step {
        // Scalar loads add the rest that the immediate could contain by another instruction.
        AddressStep::AddOffset(bytes) if load.address == Address::Scalar && *bytes < 1024 => vec!["s_add_u32"],
        AddressStep::AddOffset(_) => offset_sum(request, level),
        // The constant becomes the offset register that these forms have room for.
        AddressStep::AddAddress(_)
            if request.kind == Kind::Global
                && request.offset == Place::None
                && (level == GfxLevel::Gfx6 || load.address == Address::VaddrSaddr) =>
        {
            Vec::new()
        }
        AddressStep::AddAddress(_) if request.address == Place::Vector => vector_address_sum(level),
        AddressStep::AddOffsetToAddress if vector => vector_address_sum(level),
        AddressStep::AddAddress(_) | AddressStep::AddOffsetToAddress => vec!["s_add_u32"; 2],
        AddressStep::ToVector => Vec::new(),
    });
    steps.flatten().collect()
}
