//! Decoded instructions with their text.

use std::{collections::HashMap, rc::Rc};

use amdgpu_isa::{Field, Instruction, decode};

use super::{counts::InstructionClass, waits::Facts};
use crate::{
    memory::Memory,
    program::{code::words, shape::Shape},
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
    /// Facts about waits; `None` if waves do not execute the instruction.
    pub(super) facts: Option<Facts>,
}

/// The maximum number of cached instructions.
const MOST: usize = 1 << 16;

/// A cache of instructions by address.
#[derive(Debug)]
pub(super) struct KnownCode {
    shape: Shape,
    known: HashMap<u64, Rc<Known>>,
}

/// Returns `true` if the instruction requests coherence beyond its compute unit.
fn is_coherent(instruction: &Instruction) -> bool {
    instruction.field(Field::Glc) != 0 || instruction.field(Field::Scope) > 1
}

impl KnownCode {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, known: HashMap::new() }
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
        let shape = self.shape;
        let read = || {
            let decoded = words(pc, memory).ok().and_then(|words| decode(shape.level, shape.wave, &words).ok());
            Rc::new(match decoded {
                Some(instruction) => Known {
                    text: instruction.to_string(),
                    bytes: 4 * instruction.dwords().len() as u64,
                    class: InstructionClass::of(&instruction),
                    coherent: is_coherent(&instruction),
                    facts: Facts::of(shape, &instruction),
                },
                None => Known {
                    text: "?".to_owned(),
                    bytes: 4,
                    class: InstructionClass::Other,
                    coherent: false,
                    facts: None,
                },
            })
        };
        Rc::clone(self.known.entry(pc).or_insert_with(read))
    }
}
