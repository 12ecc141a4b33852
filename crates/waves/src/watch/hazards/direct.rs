//! Loads of LDS into vector registers without an address: what is issued before them may still use the registers.

use amdgpu_hw::GfxLevel;

use super::{
    found::Found,
    rules::{DIRECT_AFTER_MEMORY, DIRECT_AFTER_VECTOR, HazardRule},
    traits::{Traits, Unit},
};
use crate::watch::waits::{Span, VECTORS};

/// The largest number of vector operations that a wait can leave open.
const MOST_OPEN: u32 = 15;

/// The last vector operation that used a register: its number, and the number of transcendental ones before it.
#[derive(Clone, Copy, Debug)]
struct Use {
    number: u32,
    slow: u32,
    pc: u64,
}

/// The state of a wave.
///
/// Source: Mesa 25.0.7 `src/amd/compiler/aco_insert_NOPs.cpp`, `handle_lds_direct_valu_hazard_instr` and
/// `handle_instruction_gfx11`.
#[derive(Debug)]
pub(super) struct Direct {
    /// The vector operations so far, and the transcendental ones among them.
    counts: (u32, u32),
    by_vector: Vec<Option<Use>>,
    /// The last use of registers by loads, by stores and by LDS, with addresses.
    by_memory: [Vec<Option<u64>>; 3],
}

impl Default for Direct {
    fn default() -> Self {
        let none = || vec![None; 256];
        Self { counts: (0, 0), by_vector: vec![None; 256], by_memory: [none(), none(), none()] }
    }
}

fn registers(spans: &[Span]) -> impl Iterator<Item = usize> {
    spans.iter().flat_map(|span| span.first..span.first + span.count).map(|register| usize::from(register - VECTORS))
}

impl Direct {
    /// Returns the hazard of the next instruction, and remembers it.
    pub(super) fn step(&mut self, pc: u64, level: GfxLevel, traits: &Traits) -> Option<Found> {
        let found = traits.direct.and_then(|(open, waits_for_memory)| {
            let register = registers(&traits.vectors_written).next()?;
            let vector = self.after_vector(register, open);
            vector.or_else(|| if waits_for_memory { None } else { self.after_memory(register) })
        });
        let waits = traits.depctr();
        if waits.va_vdst {
            self.by_vector.fill(None);
        }
        if waits.vm_vsrc || matches!(traits.unit, Unit::Vector | Unit::Export) {
            self.by_memory.iter_mut().for_each(|used| used.fill(None));
        }
        for (used, is_drained) in self.by_memory.iter_mut().zip(traits.drains) {
            if is_drained {
                used.fill(None);
            }
        }
        self.remember(pc, level, traits);
        found
    }

    fn remember(&mut self, pc: u64, level: GfxLevel, traits: &Traits) {
        let all = registers(&traits.vectors_read).chain(registers(&traits.vectors_written));
        if traits.unit == Unit::Vector {
            self.counts.0 += 1;
            let slow = self.counts.1;
            self.counts.1 += u32::from(traits.is_transcendental);
            for register in all {
                if let Some(used) = self.by_vector.get_mut(register) {
                    *used = Some(Use { number: self.counts.0, slow, pc });
                }
            }
            return;
        }
        // Images of GFX12 have counters of their own, which are not looked at here.
        let is_other = level >= GfxLevel::Gfx12 && traits.is_image;
        let kinds: &[usize] = match traits.unit {
            Unit::Memory if is_other => &[],
            Unit::Memory => match (traits.vectors_written.is_empty(), traits.is_generic) {
                (false, false) => &[0],
                (false, true) => &[0, 2],
                (true, false) => &[1],
                (true, true) => &[1, 2],
            },
            Unit::Lds => &[2],
            _ => &[],
        };
        for register in all {
            for kind in kinds {
                if let Some(used) = self.by_memory[*kind].get_mut(register) {
                    *used = Some(pc);
                }
            }
        }
    }

    fn after_vector(&self, register: usize, open: u32) -> Option<Found> {
        let last = (*self.by_vector.get(register)?)?;
        let between = self.counts.0 - last.number;
        // Transcendental operations may be overtaken by others, so the count says nothing.
        let enough = if self.counts.1 > last.slow { 0 } else { between };
        let is_near = between < MOST_OPEN && open > enough;
        is_near.then_some(found(&DIRECT_AFTER_VECTOR, register, last.pc))
    }

    fn after_memory(&self, register: usize) -> Option<Found> {
        let pc = self.by_memory.iter().find_map(|used| *used.get(register)?)?;
        Some(found(&DIRECT_AFTER_MEMORY, register, pc))
    }
}

fn found(rule: &'static HazardRule, register: usize, earlier: u64) -> Found {
    Found { rule, register: Some(VECTORS + register as u16), earlier: Some(earlier) }
}
