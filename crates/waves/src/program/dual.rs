//! Dual-issue instructions (VOPD) to steps.

use amdgpu_isa::{Field, Instruction, Opcode};

use super::{
    source::{Refusal, VCC, source},
    step::{Action, Destination, Half, Modifiers, Source, Vector},
};
use crate::alu::{
    kernel::{Operation, Type},
    names,
};

impl Modifiers {
    /// No modifiers.
    pub(crate) const NONE: Self =
        Self { negates: 0, absolutes: 0, highs: 0, half: Half::Only, clamp: false, scale: 0, dpp: None, sdwa: None };
}

pub(super) fn action(instruction: &Instruction) -> Result<Action, Refusal> {
    let second = instruction.second_opcode().ok_or("the second operation is missing")?;
    let (x, y) = (instruction.field(Field::Vdstx), instruction.field(Field::Vdsty));
    let pair = [
        half(instruction, instruction.opcode(), Field::Srcx0, Field::Vsrcx1, x)?,
        half(instruction, second, Field::Srcy0, Field::Vsrcy1, (2 * y) | !x & 1)?,
    ];
    Ok(Action::Dual(Box::new(pair)))
}

fn half(
    instruction: &Instruction,
    opcode: &Opcode,
    first: Field,
    second: Field,
    destination: u32,
) -> Result<Vector, Refusal> {
    let name = opcode.name().replace("v_dual_", "v_");
    let operation: &'static Operation = names::operation(&name).ok_or("the dual operation is not known")?;
    let kind = |index: usize| operation.sources.get(index).copied().unwrap_or(Type::Int32);
    let a = source(instruction, instruction.field(first), kind(0))?;
    let b = Source::Vgpr(instruction.field(second) as u16);
    let literal = Source::Constant(instruction.literal().unwrap_or(0).into());
    let sources = match name.as_str() {
        "v_fmaak_f32" => [a, b, literal],
        "v_fmamk_f32" => [a, literal, b],
        "v_cndmask_b32" => [a, b, Source::Scalar(VCC)],
        _ => [a, b, Source::Vgpr(destination as u16)],
    };
    Ok(Vector {
        operation,
        directed: names::operation(&format!("{name}:directed")),
        sources,
        destination: Destination::Vgpr(destination as u16),
        carry: None,
        modifiers: Modifiers::NONE,
        plain: true,
        rescales: false,
    })
}
