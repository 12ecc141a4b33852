//! Decoded programs.

use std::collections::HashMap;

use amdgpu_isa::Instruction;

use super::{
    block::Block,
    cache::CodeCache,
    decode,
    decoded_inst::DecodedInst,
    page::{PAGE_BYTES, Page, SOURCE_BYTES},
    wave_config::WaveConfig,
};
use crate::{memory::Memory, number::mode::Mode, outcome::Reason};

/// The decoded instructions of a dispatch by address. It is created for each dispatch, because code may have changed.
pub(crate) struct Code {
    config: WaveConfig,
    /// The indices into `pages` by page number.
    places: HashMap<u64, usize>,
    pages: Vec<(u64, Box<Page>)>,
    /// The page of the last instruction and its index; most programs stay in one page.
    last: Option<(u64, usize)>,
}

/// The maximum number of cached pages. A program that uses more is decoded again.
const MOST_PAGES: usize = 1024;

impl Code {
    pub(crate) fn new(config: WaveConfig) -> Self {
        Self { config, places: HashMap::new(), pages: Vec::new(), last: None }
    }

    /// Returns the index of a page that is not that of the last instruction.
    #[cold]
    fn turn(&mut self, number: u64, memory: &dyn Memory) -> usize {
        if self.pages.len() >= MOST_PAGES && !self.places.contains_key(&number) {
            self.forget();
        }
        let (pages, config) = (&mut self.pages, self.config);
        let place = *self.places.entry(number).or_insert_with(|| {
            pages.push((number, Page::at(config, number, memory)));
            pages.len() - 1
        });
        self.last = Some((number, place));
        place
    }

    /// Returns the instructions around `pc`, in which most programs stay.
    #[inline(always)]
    pub(crate) fn near(&mut self, pc: u64, memory: &dyn Memory) -> Near<'_> {
        let number = pc / PAGE_BYTES;
        let place = match self.last {
            Some((last, place)) if last == number => place,
            _ => self.turn(number, memory),
        };
        Near { config: self.config, number, page: &mut self.pages[place].1 }
    }

    /// Forgets all instructions, because code may have changed.
    pub(crate) fn forget(&mut self) {
        self.pages.clear();
        self.places.clear();
        self.last = None;
    }

    /// Gives the instructions to later dispatches.
    pub(crate) fn keep(self, cache: &CodeCache) {
        for (number, page) in self.pages {
            if page.source.is_some() {
                cache.keep(self.config, number, page);
            }
        }
    }
}

/// The instructions that start in a page of code.
pub(crate) struct Near<'c> {
    config: WaveConfig,
    number: u64,
    page: &'c mut Page,
}

impl Near<'_> {
    /// Returns `true` if the instruction at `pc` is one of them.
    #[inline(always)]
    pub(crate) fn holds(&self, pc: u64) -> bool {
        self.number == pc / PAGE_BYTES
    }

    /// Returns the instruction at `pc`, which [`holds`](Self::holds) has to be `true` of.
    #[inline(always)]
    pub(crate) fn inst(&mut self, pc: u64, memory: &dyn Memory) -> Result<&DecodedInst, Reason> {
        let place = (pc % PAGE_BYTES) as usize / 4;
        if self.page.insts[place].is_none() {
            self.page.decode(self.config, pc, memory)?;
        }
        self.page.insts[place].as_ref().ok_or(Reason::Halt)
    }

    /// Returns the block that starts at `pc`, with the kernels for a mode. [`holds`](Self::holds) has to be `true` of `pc`.
    #[inline(always)]
    pub(crate) fn block(&mut self, pc: u64, mode: Mode) -> Option<&Block> {
        self.page.block((pc % PAGE_BYTES) as usize / 4, mode)
    }
}

impl Page {
    /// Returns the page with a number: that of an earlier dispatch if its code is the same.
    fn at(config: WaveConfig, number: u64, memory: &dyn Memory) -> Box<Self> {
        let source = memory.code_cache().and_then(|cache| {
            let mut bytes = Box::new([0; SOURCE_BYTES]);
            memory.fetch(number * PAGE_BYTES, &mut bytes[..]).ok()?;
            Some((cache, bytes))
        });
        if let Some((cache, source)) = &source
            && let Some(page) = cache.take(config, number, source)
        {
            return page;
        }
        Box::new(Self::new(source.map(|(_, bytes)| bytes)))
    }

    /// Decodes the instruction at `pc` from memory. If the memory is no longer what the page was decoded from, no other dispatch may
    /// use the page.
    #[cold]
    fn decode(&mut self, config: WaveConfig, pc: u64, memory: &dyn Memory) -> Result<(), Reason> {
        let (words, len) = fetch(pc, memory)?;
        let offset = (pc % PAGE_BYTES) as usize;
        self.source = self.source.take().filter(|source| {
            let (before, _) = source[offset..].as_chunks::<4>();
            before.iter().zip(&words[..len]).all(|(before, word)| *before == word.to_le_bytes())
        });
        self.insts[offset / 4] = Some(decode::inst(config, &words[..len])?);
        Ok(())
    }
}

/// Returns the dwords at `pc`: as many as the longest instruction has, or fewer at the end of mapped memory.
///
/// # Errors
///
/// [`Reason::Fetch`] if no dword can be read.
pub(crate) fn words(pc: u64, memory: &dyn Memory) -> Result<Vec<u32>, Reason> {
    fetch(pc, memory).map(|(words, len)| words[..len].to_vec())
}

/// Returns [`words`] in an array, and their number.
fn fetch(pc: u64, memory: &dyn Memory) -> Result<([u32; Instruction::MAX_DWORDS], usize), Reason> {
    let mut bytes = [0; 4 * Instruction::MAX_DWORDS];
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
    let mut words = [0; Instruction::MAX_DWORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    Ok((words, len / 4))
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
        let mut code =
            Code::new(WaveConfig { level: GfxLevel::Gfx9, wave: WaveSize::Wave64, vgprs: 8, is_graphics: false });
        for page in 0..5000 {
            assert_eq!(code.near(page * PAGE_BYTES, &Nops).inst(page * PAGE_BYTES, &Nops).unwrap().bytes, 4);
            assert!(code.pages.len() <= MOST_PAGES && code.places.len() == code.pages.len());
        }
    }
}
