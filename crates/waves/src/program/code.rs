//! Decoded programs.

use std::collections::HashMap;

use super::{decode, shape::Shape, step::Step};
use crate::{memory::Memory, outcome::Reason};

/// Instructions that were decoded, by address. Made anew for each dispatch, as code may have changed since.
pub(crate) struct Code {
    shape: Shape,
    pages: HashMap<u64, Box<Page>>,
}

const PAGE_BYTES: u64 = 1024;

/// The instructions that start in 1 KiB of code.
struct Page {
    steps: [Option<Step>; PAGE_BYTES as usize / 4],
}

impl Code {
    pub(crate) fn new(shape: Shape) -> Self {
        Self { shape, pages: HashMap::new() }
    }

    /// Returns the instruction at `pc`.
    pub(crate) fn step(&mut self, pc: u64, memory: &dyn Memory) -> Result<&Step, Reason> {
        let page = self.pages.entry(pc / PAGE_BYTES).or_insert_with(|| Box::new(Page { steps: [const { None }; 256] }));
        let slot = &mut page.steps[(pc % PAGE_BYTES) as usize / 4];
        if slot.is_none() {
            *slot = Some(decode::step(self.shape, &words(pc, memory)?)?);
        }
        match slot {
            Some(step) => Ok(step),
            None => Err(Reason::Halt),
        }
    }
}

/// Returns the dwords at `pc`: as many as the longest instruction has, or fewer where pages end.
///
/// # Errors
///
/// [`Reason::Fetch`] if not even one can be read.
pub(crate) fn words(pc: u64, memory: &dyn Memory) -> Result<Vec<u32>, Reason> {
    let mut bytes = [0; 4 * amdgpu_isa::Instruction::MAX_DWORDS];
    let mut len = bytes.len();
    if memory.fetch(pc, &mut bytes).is_err() {
        len = 0;
        while len < bytes.len() {
            match memory.fetch(pc + len as u64, &mut bytes[len..len + 4]) {
                Ok(()) => len += 4,
                Err(fault) if len == 0 => return Err(fault.into()),
                Err(_) => break,
            }
        }
    }
    Ok(bytes[..len].chunks_exact(4).map(|dword| u32::from_le_bytes([dword[0], dword[1], dword[2], dword[3]])).collect())
}
