//! Exports and interpolation to steps.

use amdgpu_isa::{Field, Format, Instruction, Op};

use super::{
    source::{Refusal, source},
    step::{Action, GraphicsStep, Interpolation, Source},
};
use crate::alu::kernel::Type;

impl GraphicsStep {
    /// Returns the largest VGPR.
    pub(crate) fn largest_vgpr(&self) -> Option<u32> {
        let vgpr = |source: &Source| match source {
            Source::Vgpr(register) => Some(u32::from(*register)),
            _ => None,
        };
        match self {
            Self::Export { sources, enabled, is_compressed, .. } => {
                let count = if *is_compressed { 2 } else { 4 };
                let read = |index: usize| if *is_compressed { 3 << (2 * index) } else { 1 << index };
                let used = (0..count).filter(|index| enabled & read(*index) != 0);
                used.map(|index| u32::from(sources[index])).max()
            }
            Self::Interpolate { kind: Interpolation::Move(_), destination, .. }
            | Self::Parameter { destination, .. } => Some(u32::from(*destination)),
            Self::Interpolate { destination, source, .. } => Some(u32::from(*destination.max(source))),
            Self::Combine { destination, sources, .. } => {
                sources.iter().filter_map(vgpr).max().max(Some(u32::from(*destination)))
            }
        }
    }
}

/// Decodes an export or an interpolation.
pub(super) fn action(instruction: &Instruction) -> Result<Action, Refusal> {
    let field = |field| instruction.field(field);
    let (attribute, channel) = (field(Field::Attr) as u8, field(Field::Attrchan) as u8);
    let destination = field(Field::Vdst) as u16;
    let op = instruction.op();
    Ok(Action::Graphics(Box::new(match instruction.format() {
        Format::Exp | Format::Vexport => {
            if field(Field::Row) != 0 {
                return Err(Refusal::NotExecuted("rows of exports belong to mesh shaders"));
            }
            GraphicsStep::Export {
                target: field(Field::Tgt) as u8,
                enabled: field(Field::En) as u8,
                is_compressed: field(Field::Compr) != 0,
                is_last: field(Field::Done) != 0,
                is_valid_mask: field(Field::Vm) != 0,
                sources: [Field::Vsrc0, Field::Vsrc1, Field::Vsrc2, Field::Vsrc3].map(|one| field(one) as u16),
            }
        }
        Format::Ldsdir | Format::Vdsdir if matches!(op, Op::LdsParamLoad | Op::DsParamLoad) => {
            GraphicsStep::Parameter { destination, attribute, channel }
        }
        Format::Vintrp => {
            let source = (field(Field::Vsrc) & 0xff) as u16;
            let kind = match op {
                Op::VInterpP1F32 => Interpolation::First,
                Op::VInterpP2F32 => Interpolation::Second,
                _ if source < 3 => Interpolation::Move(source as u8),
                _ => return Err(Refusal::Illegal("the parameter does not exist")),
            };
            GraphicsStep::Interpolate { kind, destination, source, attribute, channel }
        }
        Format::Vinterp => {
            let is_first = match op {
                Op::VInterpP10F32 => true,
                Op::VInterpP2F32 => false,
                _ => return Err(Refusal::NotExecuted("16-bit interpolation is not executed")),
            };
            let read = |one| source(instruction, field(one), Type::F32);
            GraphicsStep::Combine {
                destination,
                sources: [read(Field::Src0)?, read(Field::Src1)?, read(Field::Src2)?],
                negates: field(Field::Neg) as u8,
                first_lane: if is_first { 1 } else { 2 },
                adds_first: is_first,
                clamp: field(Field::Clamp) != 0,
            }
        }
        _ => return Err(Refusal::NotExecuted("loads of LDS dwords to all lanes are not executed")),
    })))
}
