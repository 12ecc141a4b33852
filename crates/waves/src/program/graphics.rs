//! Exports and interpolation, decoded.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Format, Instruction, Op};

use super::{
    decoded_inst::{DecodedOp, GraphicsOp, Interpolation, Source},
    source::{Refusal, source},
    wave_config::WaveConfig,
};
use crate::alu::kernel::Type;

impl GraphicsOp {
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
pub(super) fn op(config: WaveConfig, instruction: &Instruction) -> Result<DecodedOp, Refusal> {
    let field = |field| instruction.field(field);
    let (attribute, channel) = (field(Field::Attr) as u8, field(Field::Attrchan) as u8);
    let destination = field(Field::Vdst) as u16;
    let op = instruction.op();
    Ok(DecodedOp::Graphics(Box::new(match instruction.format() {
        Format::Exp | Format::Vexport => {
            if field(Field::Row) != 0 {
                return Err(Refusal::NotExecuted("rows of exports belong to mesh shaders"));
            }
            let mut sources = [Field::Vsrc0, Field::Vsrc1, Field::Vsrc2, Field::Vsrc3].map(|one| field(one) as u16);
            // GFX6 looks at the first component alone to see whether depth, stencil and mask are exported: compilers switch it on with no
            // register that is theirs. A source beyond those that a wave has is v0.
            // Source: Southern Islands ISA, "Out-of-Range behavior"; Mesa 25.0.7 ACO's `export_mrtz`.
            if config.level == GfxLevel::Gfx6 && u32::from(sources[0]) >= config.vgprs {
                sources[0] = 0;
            }
            GraphicsOp::Export {
                target: field(Field::Tgt) as u8,
                enabled: field(Field::En) as u8,
                is_compressed: field(Field::Compr) != 0,
                is_last: field(Field::Done) != 0,
                is_valid_mask: field(Field::Vm) != 0,
                sources,
            }
        }
        Format::Ldsdir | Format::Vdsdir if matches!(op, Op::LdsParamLoad | Op::DsParamLoad) => {
            GraphicsOp::Parameter { destination, attribute, channel }
        }
        Format::Vintrp => {
            let source = (field(Field::Vsrc) & 0xff) as u16;
            let kind = match op {
                Op::VInterpP1F32 => Interpolation::First,
                Op::VInterpP2F32 => Interpolation::Second,
                _ if source < 3 => Interpolation::Move(source as u8),
                _ => return Err(Refusal::Illegal("the parameter does not exist")),
            };
            GraphicsOp::Interpolate { kind, destination, source, attribute, channel }
        }
        Format::Vinterp => {
            let is_first = match op {
                Op::VInterpP10F32 => true,
                Op::VInterpP2F32 => false,
                _ => return Err(Refusal::NotExecuted("16-bit interpolation is not executed")),
            };
            let read = |one| source(instruction, field(one), Type::F32);
            GraphicsOp::Combine {
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

#[cfg(test)]
mod tests {
    use amdgpu_isa::WaveSize;

    use super::super::decode::inst;
    use super::*;
    use crate::outcome::Reason;

    #[test]
    fn an_export_of_gfx6_may_name_no_register_in_its_first_component() {
        // exp mrtz v128, v0 compr, with the first component and the second half enabled.
        let words = [0xf800_048d, 0x8080_0080];
        let decoded = |level: GfxLevel, words: &[u32]| {
            let config = WaveConfig { level, wave: WaveSize::Wave64, vgprs: 36, is_graphics: true };
            inst(config, words).map(|inst| match inst.op {
                DecodedOp::Graphics(op) => op.largest_vgpr(),
                _ => None,
            })
        };
        assert_eq!(decoded(GfxLevel::Gfx6, &words), Ok(Some(0)));
        // The second has a register, and that of other generations has one in both.
        let beyond = |register| Err(Reason::Register { register, allocated: 36 });
        assert_eq!(decoded(GfxLevel::Gfx6, &[words[0], 0x8080_2500]), beyond(37));
        assert_eq!(decoded(GfxLevel::Gfx7, &words), beyond(128));
    }
}
