//! Decoding of instructions.

use amdgpu_isa::{Format, Instruction, decode};

use super::{
    decoded_inst::{DecodedInst, DecodedOp, Source},
    dual, graphics, image, memory,
    operations::{Executor, executor_of},
    packed, scalar,
    source::Refusal,
    vector,
    wave_config::WaveConfig,
};
use crate::{matrix, outcome::Reason};

/// Decodes the instruction at the start of `words`.
#[inline]
pub(crate) fn inst(config: WaveConfig, words: &[u32]) -> Result<DecodedInst, Reason> {
    // The instruction stays where the decoder put it: it is larger than what is made of it.
    let decoded = decode(config.level, config.wave, words);
    let instruction = decoded.as_ref().map_err(|error| *error)?;
    let op = op(config, instruction).map_err(|refusal| {
        let instruction = instruction.to_string();
        match refusal {
            Refusal::Illegal(why) => Reason::IllegalForm { instruction, why },
            Refusal::NotExecuted(why) => Reason::NotExecuted { instruction, why },
        }
    })?;
    if let Some(register) = largest_vgpr(&op).filter(|register| *register >= config.vgprs) {
        return Err(Reason::Register { register, allocated: config.vgprs });
    }
    Ok(DecodedInst { bytes: 4 * instruction.dwords().len() as u8, op })
}

/// Decodes an instruction without checking its registers.
pub(crate) fn op(config: WaveConfig, instruction: &Instruction) -> Result<DecodedOp, Refusal> {
    // Exports and interpolation are refused by the table, which is about compute shaders.
    if config.is_graphics
        && let Format::Exp | Format::Vexport | Format::Ldsdir | Format::Vdsdir | Format::Vinterp | Format::Vintrp =
            instruction.format()
    {
        return graphics::op(config, instruction);
    }
    match executor_of(instruction.op()) {
        Executor::Nothing => Ok(DecodedOp::Nothing),
        Executor::ForgetCode => Ok(DecodedOp::ForgetCode),
        Executor::Refused(why) => Err(Refusal::NotExecuted(why)),
        Executor::Flow(flow) => scalar::flow(config, instruction, flow),
        Executor::Special(special) => scalar::special(config, instruction, special),
        Executor::Scalar(operation) => scalar::plain(instruction, operation),
        Executor::SaveExec { combine, writes_both } => scalar::save_exec(config, instruction, combine, writes_both),
        Executor::ScalarMemory(base, kind, dwords) => {
            Ok(DecodedOp::ScalarLoad(Box::new(scalar::memory(instruction, base, kind, dwords)?)))
        }
        Executor::ScalarAtomic(base, atomic, bytes) => scalar::atomic(instruction, base, atomic, bytes),
        Executor::Vector(_) if instruction.format() == Format::Vop3p => packed::product(instruction),
        Executor::Vector(written) => vector::op(config, instruction, written),
        Executor::Dual => dual::op(instruction),
        Executor::Packed => packed::pair(instruction),
        Executor::PackedSum => packed::sum(instruction),
        Executor::MixedSigns { bits } => packed::mixed_signs(instruction, bits),
        Executor::Mix { fused, half } => packed::mix(instruction, fused, half),
        Executor::Matrix(product) => matrix::decode::op(instruction, product),
        Executor::Lane(kind) => vector::lane(config, instruction, kind),
        Executor::Lds { kind, is_far } => memory::lds(instruction, kind, is_far),
        Executor::Flat { segment, kind, adds_lane } => memory::flat(config, instruction, segment, kind, adds_lane),
        Executor::Buffer { kind, is_typed, is_to_lds } => {
            memory::buffer(config, instruction, kind, is_typed, is_to_lds)
        }
        Executor::Image { operation, has_half_gradients } => {
            image::decode::op(instruction, operation, has_half_gradients)
        }
    }
}

/// Returns the largest VGPR that an operation names.
fn largest_vgpr(op: &DecodedOp) -> Option<u32> {
    let source = |source: &Source, dwords: u32| match source {
        Source::Vgpr(register) => Some(u32::from(*register) + dwords - 1),
        _ => None,
    };
    let run = |first: u16, count: u16| Some(u32::from(first) + u32::from(count.max(1)) - 1);
    match op {
        DecodedOp::Vector(vector) => vector.largest_vgpr(),
        DecodedOp::Dual(pair) => pair.iter().filter_map(super::decoded_inst::Vector::largest_vgpr).max(),
        DecodedOp::Packed(packed) | DecodedOp::Dot(packed) => {
            packed.sources.iter().filter_map(|one| source(one, 1)).max().max(run(packed.destination, 1))
        }
        DecodedOp::Mix(mix) => mix.sources.iter().filter_map(|one| source(one, 1)).max().max(run(mix.destination, 1)),
        DecodedOp::Matrix(matrix) => Some(matrix.largest_vgpr()),
        DecodedOp::Lane(lane) => lane.largest_vgpr(),
        DecodedOp::Lds(lds) => lds.largest_vgpr(),
        DecodedOp::Flat(flat) => flat.largest_vgpr(),
        DecodedOp::Buffer(buffer) => buffer.largest_vgpr(),
        DecodedOp::LdsTransfer(transfer) => transfer.largest_vgpr(),
        DecodedOp::Graphics(op) => op.largest_vgpr(),
        _ => None,
    }
}
