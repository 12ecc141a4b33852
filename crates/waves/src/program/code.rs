//! Decoded programs.

use std::collections::HashMap;

use super::{decode, shape::Shape, step::Step};
use crate::{memory::Memory, outcome::Reason};

/// A cache of decoded instructions by address. It is created for each dispatch, because code may have changed.
pub(crate) struct Code {
    shape: Shape,
    /// The indices into `pages` by page number.
    places: HashMap<u64, usize>,
    pages: Vec<Box<Page>>,
    /// The page of the last instruction and its index; most programs stay in one page.
    last: Option<(u64, usize)>,
}

const PAGE_BYTES: u64 = 1024;

/// The maximum number of cached pages. A program that uses more is decoded again.
const MOST_PAGES: usize = 1024;

/// The instructions that start in 1 KiB of code.
struct Page {
    steps: [Option<Step>; PAGE_BYTES as usize / 4],
}

impl Code {
    pub(crate) fn new(shape: Shape) -> Self {
        Self { shape, places: HashMap::new(), pages: Vec::new(), last: None }
    }

    /// Returns the index of a page.
    fn place(&mut self, number: u64) -> usize {
        if let Some((last, place)) = self.last
            && last == number
        {
            return place;
        }
        if self.pages.len() >= MOST_PAGES && !self.places.contains_key(&number) {
            self.pages.clear();
            self.places.clear();
        }
        let pages = &mut self.pages;
        let place = *self.places.entry(number).or_insert_with(|| {
            pages.push(Box::new(Page { steps: [const { None }; 256] }));
            pages.len() - 1
        });
        self.last = Some((number, place));
        place
    }

    /// Returns the instruction at `pc`.
    pub(crate) fn step(&mut self, pc: u64, memory: &dyn Memory) -> Result<&Step, Reason> {
        let place = self.place(pc / PAGE_BYTES);
        let shape = self.shape;
        let slot = &mut self.pages[place].steps[(pc % PAGE_BYTES) as usize / 4];
        if slot.is_none() {
            *slot = Some(decode::step(shape, &words(pc, memory)?)?);
        }
        match slot {
            Some(step) => Ok(step),
            None => Err(Reason::Halt),
        }
    }
}

/// Returns the dwords at `pc`: as many as the longest instruction has, or fewer at the end of mapped memory.
///
/// # Errors
///
/// [`Reason::Fetch`] if no dword can be read.
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

#[cfg(test)]
mod tests {
    use amdgpu_hw::GfxLevel;
    use amdgpu_isa::WaveSize;

    use super::*;
    use crate::memory::PageFault;

    /// Memory that is full of `s_nop`.
    struct Nops;

    impl Memory for Nops {
        fn load(&self, _: u64, out: &mut [u8]) -> Result<(), PageFault> {
            out.chunks_exact_mut(4).for_each(|word| word.copy_from_slice(&0xbf80_0000_u32.to_le_bytes()));
            Ok(())
        }

        fn store(&self, _: u64, _: &[u8]) -> Result<(), PageFault> {
            Ok(())
        }

        fn atomic(&self, _: u64, _: u8, _: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
            Ok(0)
        }
    }

    #[test]
    fn a_program_that_runs_through_all_of_memory_keeps_a_bounded_part_of_it() {
        let mut code = Code::new(Shape { level: GfxLevel::Gfx9, wave: WaveSize::Wave64, vgprs: 8, is_graphics: false });
        for page in 0..5000 {
            assert_eq!(code.step(page * PAGE_BYTES, &Nops).unwrap().bytes, 4);
            assert!(code.pages.len() <= MOST_PAGES && code.places.len() == code.pages.len());
        }
    }
}
