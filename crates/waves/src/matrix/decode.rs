//! Multiplications of matrices, decoded.
//!
//! Sources: AMD's guides to the instruction sets of RDNA3 and RDNA4, "Wave Matrix Multiply Accumulate"; LLVM's encodings.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Instruction};

use super::{
    element::Element,
    layout::Layout,
    op::{Added, Factor, Index, MatrixOp, Place},
};
use crate::{
    alu::kernel::Type,
    program::{
        decoded_inst::{DecodedOp, Source},
        source::{Refusal, source},
    },
};

/// A multiplication of matrices, as the operation says it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    pub(crate) result: Element,
    pub(crate) depth: u32,
    pub(crate) factors: [Element; 2],
    pub(crate) is_sparse: bool,
}

/// Decodes a multiplication of matrices.
pub(crate) fn op(instruction: &Instruction, product: Product) -> Result<DecodedOp, Refusal> {
    let Product { result, depth, factors, is_sparse } = product;
    if instruction.extension().is_some() {
        return Err(Refusal::Illegal("matrices have no DPP"));
    }
    let field = |field| instruction.field(field);
    let (lows, highs) = (field(Field::NegLo), field(Field::NegHi));
    let bit = |mask: u32, index: u32| mask >> index & 1 != 0;
    let saturates = field(Field::Clamp) != 0;
    if saturates && result.is_float() {
        return Err(Refusal::Illegal("products of floats have no clamp"));
    }
    let layout = Layout { lanes: instruction.wave().lanes(), repeats: instruction.level() < GfxLevel::Gfx12 };
    let factor = |index: u32| {
        let number = field([Field::Src0, Field::Src1][index as usize]);
        let Source::Vgpr(register) = source(instruction, number, Type::Int32)? else {
            return Err(Refusal::Illegal("factors are vector registers"));
        };
        Ok(match factors[index as usize] {
            Element::Integer { bits, .. } => {
                let element = Element::Integer { bits, signed: bit(lows, index) };
                Factor { element, register, negates: [false; 2] }
            }
            element => Factor { element, register, negates: [bit(lows, index), bit(highs, index)] },
        })
    };
    let destination = field(Field::Vdst) as u16;
    let selects = field(Field::OpSel);
    let (place, index) = if is_sparse {
        let Source::Vgpr(register) = source(instruction, field(Field::Src2), Type::Int32)? else {
            return Err(Refusal::Illegal("the index of a sparse matrix is a vector register"));
        };
        (Place::Registers(destination), Some(Index { register, key: selects & 3 }))
    } else {
        (added(instruction, result)?, None)
    };
    let signs = !is_sparse && result.is_float();
    Ok(DecodedOp::Matrix(Box::new(MatrixOp {
        layout,
        depth,
        a: factor(0)?,
        b: factor(1)?,
        added: Added { place, negates: signs && bit(lows, 2), is_absolute: signs && bit(highs, 2) },
        result,
        destination,
        high: layout.repeats && result.bits() == 16 && bit(selects, 2),
        saturates,
        index,
    })))
}

/// Returns C, which may be a constant.
fn added(instruction: &Instruction, result: Element) -> Result<Place, Refusal> {
    let number = instruction.field(Field::Src2);
    let is_float = (240..=248).contains(&number);
    let kind = match result {
        Element::F16 => Type::F16,
        Element::Brain if !is_float => Type::Int16,
        Element::Integer { .. } => Type::Int32,
        _ => Type::F32,
    };
    match source(instruction, number, kind)? {
        Source::Vgpr(register) => Ok(Place::Registers(register)),
        Source::Constant(bits) if number != 255 => {
            Ok(Place::Constant(if result == Element::Brain && is_float { bits >> 16 } else { bits } as u32))
        }
        _ => Err(Refusal::Illegal("the matrix C is in vector registers or a constant")),
    }
}
