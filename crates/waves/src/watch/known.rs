//! Decoded instructions with their text.

use std::{collections::HashMap, rc::Rc};

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Instruction, decode};

use super::{counts::InstructionClass, hazards::Traits, waits::Facts};
use crate::{
    memory::{Memory, Reach},
    program::{code::words, decode::op, wave_config::WaveConfig},
};

/// Properties of an instruction that waves do not need.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) text: String,
    /// The length in bytes.
    pub(super) bytes: u64,
    pub(super) class: InstructionClass,
    /// `true` if loads and stores bypass the caches of a compute unit, as atomic operations do.
    pub(super) coherent: bool,
    /// The unit and the reach of its accesses to memory, if there are any.
    pub(super) route: Option<(bool, Reach)>,
    /// Facts about hazards; `None` if waves do not execute the instruction.
    pub(super) traits: Option<Traits>,
    /// Facts about waits; `None` if waves do not execute the instruction.
    pub(super) facts: Option<Facts>,
}

/// The maximum number of cached instructions.
const MOST: usize = 1 << 16;

/// A cache of instructions by address.
#[derive(Debug)]
pub(super) struct KnownCode {
    config: WaveConfig,
    known: HashMap<u64, Rc<Known>>,
}

/// Returns `true` if the instruction requests coherence beyond its compute unit.
fn is_coherent(instruction: &Instruction) -> bool {
    instruction.field(Field::Glc) != 0 || instruction.field(Field::Scope) > 1
}

/// Returns whether an instruction accesses memory by the scalar unit, and how far the accesses reach; `None` for others.
///
/// Source: LLVM, AMDGPUUsage, "Memory Model": a load of device scope needs `glc` up to GFX9 and from GFX11 on, `glc` and `dlc` on
/// GFX10, and a scope on GFX12.
pub(super) fn route(instruction: &Instruction) -> Option<(bool, Reach)> {
    let is_scalar = match InstructionClass::of(instruction) {
        InstructionClass::ScalarMemory => true,
        InstructionClass::Memory | InstructionClass::Image => false,
        _ => return None,
    };
    let is_set = |field| instruction.field(field) != 0;
    let reach = match instruction.level() {
        GfxLevel::Gfx12 => match instruction.field(Field::Scope) {
            0 => Reach::Unit,
            // GFX12 has no cache between those of the compute unit and L2.
            1 | 2 => Reach::Device,
            _ => Reach::System,
        },
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 if is_set(Field::Glc) && !is_set(Field::Dlc) => Reach::Array,
        _ if is_set(Field::Glc) => Reach::Device,
        _ => Reach::Unit,
    };
    Some((is_scalar, reach))
}

/// Returns the facts about hazards of an instruction.
pub(super) fn traits(config: WaveConfig, instruction: &Instruction) -> Option<Traits> {
    let op = op(config, instruction).ok()?;
    Some(Traits::of(config, instruction, &op))
}

impl KnownCode {
    pub(super) fn new(config: WaveConfig) -> Self {
        Self { config, known: HashMap::new() }
    }

    /// Returns the text of an executed instruction.
    pub(super) fn text(&self, pc: u64) -> String {
        self.known.get(&pc).map_or_else(|| "?".to_owned(), |known| known.text.clone())
    }

    /// Returns the instruction at `pc`.
    pub(super) fn at(&mut self, pc: u64, memory: &dyn Memory) -> Rc<Known> {
        if self.known.len() >= MOST {
            self.known.clear();
        }
        let config = self.config;
        let read = || {
            let decoded = words(pc, memory).ok().and_then(|words| decode(config.level, config.wave, &words).ok());
            Rc::new(match decoded {
                Some(instruction) => Known {
                    text: instruction.to_string(),
                    bytes: 4 * instruction.dwords().len() as u64,
                    class: InstructionClass::of(&instruction),
                    coherent: is_coherent(&instruction),
                    route: route(&instruction),
                    traits: traits(config, &instruction),
                    facts: Facts::of(config, &instruction),
                },
                None => Known {
                    text: "?".to_owned(),
                    bytes: 4,
                    class: InstructionClass::Other,
                    coherent: false,
                    route: None,
                    traits: None,
                    facts: None,
                },
            })
        };
        Rc::clone(self.known.entry(pc).or_insert_with(read))
    }
}
