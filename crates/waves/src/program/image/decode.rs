//! Image instructions to steps.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Format, Instruction};

use super::step::{Detail, ImageStep, Lookup, MOST_ADDRESSES, Operation, Transfer};
use crate::{
    atomic::Atomic,
    program::{source::Refusal, step::Action},
};

impl Lookup {
    fn parse(suffix: &str) -> Option<Self> {
        let mut lookup =
            Self { has_offset: false, has_bias: false, compares: false, has_clamp: false, detail: Detail::Neighbours };
        for part in suffix.split('_').filter(|part| !part.is_empty()) {
            match part {
                "c" => lookup.compares = true,
                "b" => lookup.has_bias = true,
                "o" => lookup.has_offset = true,
                "cl" => lookup.has_clamp = true,
                "l" => lookup.detail = Detail::Explicit,
                "lz" => lookup.detail = Detail::Zero,
                "d" | "cd" => lookup.detail = Detail::Gradients,
                "g16" => {}
                _ => return None,
            }
        }
        Some(lookup)
    }
}

fn transfer(rest: &str) -> Option<Transfer> {
    let mut transfer = Transfer { has_level: false, is_raw: false, is_signed: false };
    for part in rest.split('_').filter(|part| !part.is_empty()) {
        match part {
            "mip" => transfer.has_level = true,
            "pck" => transfer.is_raw = true,
            "sgn" => transfer.is_signed = true,
            _ => return None,
        }
    }
    Some(transfer)
}

fn operation(instruction: &Instruction) -> Option<Operation> {
    let name = instruction.name().strip_prefix("image_")?;
    if let Some(rest) = name.strip_prefix("load") {
        return transfer(rest).map(Operation::Load);
    }
    if let Some(rest) = name.strip_prefix("store") {
        return transfer(rest).map(Operation::Store);
    }
    if let Some(rest) = name.strip_prefix("sample") {
        return Lookup::parse(rest).map(Operation::Sample);
    }
    if let Some(rest) = name.strip_prefix("gather4") {
        return Lookup::parse(rest).map(Operation::Gather);
    }
    if let Some(rest) = name.strip_prefix("atomic_") {
        let plain = rest.replace("_uint", "_u32").replace("_int", "_i32").replace("_flt", "_f32");
        let (atomic, _) = Atomic::parse(&plain)?;
        let returns = instruction.field(Field::Glc) != 0 || instruction.field(Field::Th) & 1 != 0;
        return Some(Operation::Atomic { atomic, returns });
    }
    match name {
        "get_resinfo" => Some(Operation::Size),
        "get_lod" => Some(Operation::Lod),
        "msaa_load" => Some(Operation::LoadSamples),
        _ => None,
    }
}

/// Returns the VGPRs of the address. The instruction names the first ones; the rest follow the last named one.
fn addresses(instruction: &Instruction) -> [u16; MOST_ADDRESSES] {
    let field = |field| instruction.field(field);
    let mut named = vec![];
    if instruction.has_field(Field::Vaddr0) {
        let fields = [Field::Vaddr0, Field::Vaddr1, Field::Vaddr2, Field::Vaddr3, Field::Vaddr4];
        named.extend(fields.into_iter().filter(|one| instruction.has_field(*one)).map(field));
    } else {
        named.push(field(Field::Vaddr));
        let extra = field(Field::Nsa) as usize;
        let dwords = instruction.dwords().get(2..2 + extra).unwrap_or_default();
        named.extend(dwords.iter().flat_map(|dword| dword.to_le_bytes()).map(u32::from));
    }
    let last = named.len() - 1;
    std::array::from_fn(|index| named[index.min(last)] as u16 + index.saturating_sub(last) as u16)
}

/// Decodes MIMG, VIMAGE and VSAMPLE.
pub(crate) fn action(instruction: &Instruction) -> Result<Action, Refusal> {
    let field = |field| instruction.field(field);
    let operation = operation(instruction).ok_or("the image operation is not executed")?;
    let is_newest = matches!(instruction.format(), Format::Vimage | Format::Vsample);
    let (resource, sampler) = if is_newest {
        (field(Field::Rsrc), field(Field::Samp))
    } else {
        (4 * field(Field::Srsrc), 4 * field(Field::Ssamp))
    };
    if resource > 120 || sampler > 124 {
        return Err(Refusal::Illegal("the scalar resource does not exist"));
    }
    let half_addresses = field(Field::A16) != 0;
    let has_g16 = instruction.level() >= GfxLevel::Gfx10;
    Ok(Action::Image(Box::new(ImageStep {
        operation,
        addresses: addresses(instruction),
        dimension: instruction.has_field(Field::Dim).then(|| field(Field::Dim) as u8 & 7),
        has_layer: field(Field::Da) != 0,
        resource: resource as u8,
        is_short: field(Field::R128) != 0,
        sampler: sampler as u8,
        data: field(Field::Vdata) as u16,
        mask: field(Field::Dmask) as u8 & 15,
        half_data: field(Field::D16) != 0,
        half_addresses,
        half_gradients: if has_g16 {
            instruction.name().ends_with("_g16") || half_addresses && instruction.level() < GfxLevel::Gfx10_3
        } else {
            half_addresses
        },
        unnormalized: field(Field::Unorm) != 0,
        residency: field(Field::Tfe) | field(Field::Lwe) != 0,
    })))
}
