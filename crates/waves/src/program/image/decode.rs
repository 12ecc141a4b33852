//! Image instructions, decoded.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Format, Instruction};

use super::op::{ImageOp, MOST_ADDRESSES, Operation};
use crate::program::{decoded_inst::DecodedOp, source::Refusal};

/// Returns the operation with the bit that says whether an atomic operation gives the old value back.
fn with_return(operation: Operation, instruction: &Instruction) -> Operation {
    match operation {
        Operation::Atomic { atomic, .. } => {
            let returns = instruction.field(Field::Glc) != 0 || instruction.field(Field::Th) & 1 != 0;
            Operation::Atomic { atomic, returns }
        }
        other => other,
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

/// Decodes MIMG, VIMAGE and VSAMPLE. `has_half_gradients` is `true` if gradients have 16 bits without a bit that says so.
pub(crate) fn op(
    instruction: &Instruction,
    operation: Operation,
    has_half_gradients: bool,
) -> Result<DecodedOp, Refusal> {
    let field = |field| instruction.field(field);
    let operation = with_return(operation, instruction);
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
    Ok(DecodedOp::Image(Box::new(ImageOp {
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
            has_half_gradients || half_addresses && instruction.level() < GfxLevel::Gfx10_3
        } else {
            half_addresses
        },
        unnormalized: field(Field::Unorm) != 0,
        residency: field(Field::Tfe) | field(Field::Lwe) != 0,
    })))
}
