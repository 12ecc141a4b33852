//! Instructions to steps.

use amdgpu_isa::{Format, Instruction, decode};

use super::{
    dual, graphics, image, memory,
    operations::{Executor, executor_of},
    packed, scalar,
    shape::Shape,
    source::Refusal,
    step::{Action, Source, Step},
    vector,
};
use crate::{matrix, outcome::Reason};

/// Decodes the instruction at the start of `words`.
#[inline]
pub(crate) fn step(shape: Shape, words: &[u32]) -> Result<Step, Reason> {
    // The instruction stays where the decoder put it: it is larger than what is made of it.
    let decoded = decode(shape.level, shape.wave, words);
    let instruction = decoded.as_ref().map_err(|error| *error)?;
    let action = action(shape, instruction).map_err(|refusal| {
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
    // Exports and interpolation are refused by the table, which is about compute shaders.
    if shape.is_graphics
        && let Format::Exp | Format::Vexport | Format::Ldsdir | Format::Vdsdir | Format::Vinterp | Format::Vintrp =
            instruction.format()
    {
        return graphics::action(shape, instruction);
    }
    match executor_of(instruction.op()) {
        Executor::Nothing => Ok(Action::Nothing),
        Executor::ForgetCode => Ok(Action::ForgetCode),
        Executor::Refused(why) => Err(Refusal::NotExecuted(why)),
        Executor::Flow(flow) => scalar::flow(shape, instruction, flow),
        Executor::Special(special) => scalar::special(shape, instruction, special),
        Executor::Scalar(operation) => scalar::plain(instruction, operation),
        Executor::SaveExec { combine, writes_both } => scalar::save_exec(shape, instruction, combine, writes_both),
        Executor::ScalarMemory(base, kind, dwords) => {
            Ok(Action::ScalarLoad(Box::new(scalar::memory(instruction, base, kind, dwords)?)))
        }
        Executor::ScalarAtomic(base, atomic, bytes) => scalar::atomic(instruction, base, atomic, bytes),
        Executor::Vector(_) if instruction.format() == Format::Vop3p => packed::product(instruction),
        Executor::Vector(written) => vector::action(shape, instruction, written),
        Executor::Dual => dual::action(instruction),
        Executor::Packed => packed::pair(instruction),
        Executor::PackedSum => packed::sum(instruction),
        Executor::MixedSigns { bits } => packed::mixed_signs(instruction, bits),
        Executor::Mix { fused, half } => packed::mix(instruction, fused, half),
        Executor::Matrix(product) => matrix::decode::action(instruction, product),
        Executor::Lane(kind) => vector::lane(shape, instruction, kind),
        Executor::Lds { kind, is_far } => memory::lds(instruction, kind, is_far),
        Executor::Flat { segment, kind, adds_lane } => memory::flat(shape, instruction, segment, kind, adds_lane),
        Executor::Buffer { kind, is_typed, is_to_lds } => memory::buffer(shape, instruction, kind, is_typed, is_to_lds),
        Executor::Image { operation, has_half_gradients } => {
            image::decode::action(instruction, operation, has_half_gradients)
        }
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
