//! Instructions to steps.

use amdgpu_isa::{Format, Instruction, decode};

use super::{
    dual, graphics, image, memory, packed, scalar,
    shape::Shape,
    source::Refusal,
    step::{Action, Source, Step},
    vector,
};
use crate::outcome::Reason;

/// Decodes the instruction at the start of `words`.
pub(crate) fn step(shape: Shape, words: &[u32]) -> Result<Step, Reason> {
    let instruction = decode(shape.level, shape.wave, words)?;
    let action = action(shape, &instruction).map_err(|refusal| {
        let instruction = instruction.to_string();
        match refusal {
            Refusal::Illegal(why) => Reason::IllegalForm { instruction, why },
            Refusal::NotExecuted(why) => Reason::NotExecuted { instruction, why },
        }
    })?;
    if let Some(register) = largest_vgpr(&action).filter(|register| *register >= shape.vgprs) {
        return Err(Reason::Register { register, allocated: shape.vgprs });
    }
    Ok(Step { bytes: 4 * instruction.dwords().len() as u8, action })
}

/// Decodes an instruction without checking its registers.
pub(crate) fn action(shape: Shape, instruction: &Instruction) -> Result<Action, Refusal> {
    match instruction.format() {
        Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk | Format::Sopp => scalar::action(shape, instruction),
        Format::Smem | Format::Smrd => scalar::memory(instruction),
        Format::Vop2 if instruction.name() == "v_pk_fmac_f16" => packed::sum(instruction),
        Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3 | Format::Vop3Sdst => {
            vector::action(shape, instruction)
        }
        Format::Vop3p => packed::action(instruction),
        Format::Vopd => dual::action(instruction),
        Format::Ds => memory::lds(instruction),
        Format::Flat | Format::Vflat | Format::Vglobal | Format::Vscratch => memory::flat(shape, instruction),
        Format::Mubuf | Format::Mtbuf | Format::Vbuffer => memory::buffer(shape, instruction),
        Format::Mimg | Format::Vimage | Format::Vsample => image::decode::action(instruction),
        Format::Exp | Format::Vexport | Format::Ldsdir | Format::Vdsdir | Format::Vinterp | Format::Vintrp
            if shape.is_graphics =>
        {
            graphics::action(instruction)
        }
        Format::Exp | Format::Vexport => Err(Refusal::NotExecuted("exports belong to graphics shaders")),
        Format::Ldsdir | Format::Vdsdir | Format::Vinterp | Format::Vintrp => {
            Err(Refusal::NotExecuted("interpolation belongs to pixel shaders"))
        }
        _ => Err(Refusal::NotExecuted("the format is unknown")),
    }
}

/// Returns the largest VGPR that an action names.
fn largest_vgpr(action: &Action) -> Option<u32> {
    let source = |source: &Source, dwords: u32| match source {
        Source::Vgpr(register) => Some(u32::from(*register) + dwords - 1),
        _ => None,
    };
    let run = |first: u16, count: u16| Some(u32::from(first) + u32::from(count.max(1)) - 1);
    match action {
        Action::Vector(vector) => vector.largest_vgpr(),
        Action::Dual(pair) => pair.iter().filter_map(super::step::Vector::largest_vgpr).max(),
        Action::Packed(packed) | Action::Dot(packed) => {
            packed.sources.iter().filter_map(|one| source(one, 1)).max().max(run(packed.destination, 1))
        }
        Action::Mix(mix) => mix.sources.iter().filter_map(|one| source(one, 1)).max().max(run(mix.destination, 1)),
        Action::Matrix(matrix) => Some(matrix.largest_vgpr()),
        Action::Lane(lane) => lane.largest_vgpr(),
        Action::Lds(lds) => lds.largest_vgpr(),
        Action::Flat(flat) => flat.largest_vgpr(),
        Action::Buffer(buffer) => buffer.largest_vgpr(),
        Action::LdsTransfer(transfer) => transfer.largest_vgpr(),
        Action::Graphics(step) => step.largest_vgpr(),
        _ => None,
    }
}
