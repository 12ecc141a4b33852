//! Facts about an instruction on which its waits depend.

use amdgpu_descriptors::view::ImageKind;
use amdgpu_isa::Instruction;

use super::{access::Accesses, counter::Limits, issue::Issue};
use crate::{
    program::{decode, decoded_inst::DecodedOp, image::op::ImageOp, wave_config::WaveConfig},
    wave::state::Wave,
};

/// Facts about an instruction that do not change between executions, but for the kind of an image.
#[derive(Clone, Debug)]
pub(in crate::watch) struct Facts {
    accesses: Accesses,
    /// The accesses of an instruction whose number of coordinates depends on the descriptor: its last word, and the accesses for
    /// each kind of image.
    by_kind: Option<(u8, Vec<Accesses>)>,
    pub(super) limits: Limits,
    pub(super) issue: Issue,
    /// `true` if an index in M0 may be added to the numbers of vector registers.
    is_indexed: bool,
}

/// The numbers of kinds of images in descriptors.
const KINDS: std::ops::Range<u32> = 8..16;

impl Facts {
    /// Returns the facts about an instruction; `None` if waves do not execute it.
    pub(in crate::watch) fn of(config: WaveConfig, instruction: &Instruction) -> Option<Self> {
        let op = decode::op(config, instruction).ok()?;
        let of = |kind| Accesses::of(&op, config, kind);
        let accesses = of(ImageKind::D1);
        let by_kind = match &op {
            DecodedOp::Image(op) if op.dimension.is_none() => {
                let kinds = KINDS.filter_map(|number| ImageKind::of(number.into()));
                Some((last_word(op), kinds.map(of).collect()))
            }
            _ => None,
        };
        let issue = Issue::of(instruction, !accesses.writes.is_empty());
        let is_indexed = matches!(op, DecodedOp::Vector(_));
        Some(Self { accesses, by_kind, limits: Limits::of(instruction), issue, is_indexed })
    }

    /// Returns the registers that a wave's execution of the instruction accesses; `None` if an index selects them.
    pub(super) fn accesses(&self, wave: &Wave) -> Option<&Accesses> {
        if self.is_indexed && wave.indexing.on {
            return None;
        }
        let Some((word, kinds)) = &self.by_kind else { return Some(&self.accesses) };
        let kind = wave.registers.scalars.get(usize::from(*word)).map_or(0, |word| word >> 28);
        // A descriptor that is no image has no coordinates.
        let index = kind.checked_sub(KINDS.start).map(|index| index as usize);
        Some(index.and_then(|index| kinds.get(index)).unwrap_or(&self.accesses))
    }
}

/// Returns the slot of the word of an image descriptor that has its kind.
fn last_word(op: &ImageOp) -> u8 {
    op.resource + 3
}
