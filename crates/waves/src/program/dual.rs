//! Dual-issue instructions (VOPD), decoded.

use amdgpu_isa::{Field, Instruction, Op};

use super::{
    decoded_inst::{DecodedOp, Destination, Direct, Half, Modifiers, Source, Vector},
    source::{Refusal, VCC, source},
};
use crate::alu::{
    kernel::{Form, Type},
    kernels::kernel,
};

impl Modifiers {
    /// No modifiers.
    pub(crate) const NONE: Self =
        Self { negates: 0, absolutes: 0, highs: 0, half: Half::Only, clamp: false, scale: 0, dpp: None, sdwa: None };
}

pub(super) fn op(instruction: &Instruction) -> Result<DecodedOp, Refusal> {
    let second = instruction.second_opcode().ok_or("the second operation is missing")?;
    let (x, y) = (instruction.field(Field::Vdstx), instruction.field(Field::Vdsty));
    let pair = [
        half(instruction, instruction.op(), Field::Srcx0, Field::Vsrcx1, x)?,
        half(instruction, second.op, Field::Srcy0, Field::Vsrcy1, (2 * y) | !x & 1)?,
    ];
    Ok(DecodedOp::Dual(Box::new(pair)))
}

fn half(instruction: &Instruction, op: Op, first: Field, second: Field, destination: u32) -> Result<Vector, Refusal> {
    let operation = kernel(op, Form::Plain).ok_or("the dual operation is not known")?;
    let kind = |index: usize| operation.sources.get(index).copied().unwrap_or(Type::Int32);
    let a = source(instruction, instruction.field(first), kind(0))?;
    let b = Source::Vgpr(instruction.field(second) as u16);
    let literal = Source::Constant(instruction.literal().unwrap_or(0).into());
    let sources = match op {
        Op::VDualFmaakF32 => [a, b, literal],
        Op::VDualFmamkF32 => [a, literal, b],
        Op::VDualCndmaskB32 => [a, b, Source::Scalar(VCC)],
        _ => [a, b, Source::Vgpr(destination as u16)],
    };
    let directed = kernel(op, Form::Directed);
    let destination = Destination::Vgpr(destination as u16);
    Ok(Vector {
        operation,
        directed,
        sources,
        destination,
        carry: None,
        modifiers: Modifiers::NONE,
        plain: true,
        direct: Direct::new((operation, directed), sources, destination, &Modifiers::NONE),
        rescales: false,
    })
}
