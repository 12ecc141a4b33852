//! Pages of decoded code.

use amdgpu_isa::Instruction;

use super::{
    block::{Block, Missing},
    decoded_inst::DecodedInst,
};
use crate::number::mode::Mode;

/// The bytes of code of a page.
pub(super) const PAGE_BYTES: u64 = 1024;

/// The bytes that the instructions of a page are decoded from: the last one may reach into the next page.
pub(super) const SOURCE_BYTES: usize = PAGE_BYTES as usize + 4 * (Instruction::MAX_DWORDS - 1);

/// The number of times that waves come to an instruction before its block is made, which takes as long as some ten executions save.
const OFTEN: u8 = 8;

/// The number of instructions of a page's blocks after which no other is made: four times as many as the page has. Waves of a real
/// program come to few places by a jump.
const MOST_IN_BLOCKS: u32 = 4 * PAGE_BYTES as u32 / 4;

/// The instructions that start in 1 KiB of code.
pub(super) struct Page {
    pub(super) insts: [Option<DecodedInst>; PAGE_BYTES as usize / 4],
    blocks: [Start; PAGE_BYTES as usize / 4],
    /// The number of instructions of the blocks.
    in_blocks: u32,
    /// The bytes that all of its instructions were decoded from; `None` for a page that no other dispatch may use.
    pub(super) source: Option<Box<[u8; SOURCE_BYTES]>>,
}

/// The block that starts with an instruction.
enum Start {
    /// It is not looked for yet: the number of times that a wave came to the instruction.
    Met(u8),
    None,
    Block(Box<Block>),
}

impl Page {
    /// Returns a page without instructions, which are decoded from these bytes.
    pub(super) fn new(source: Option<Box<[u8; SOURCE_BYTES]>>) -> Self {
        Self {
            insts: [const { None }; PAGE_BYTES as usize / 4],
            blocks: [const { Start::Met(0) }; PAGE_BYTES as usize / 4],
            in_blocks: 0,
            source,
        }
    }

    /// Returns `true` if all of its instructions were decoded from these bytes.
    pub(super) fn is_of(&self, source: &[u8; SOURCE_BYTES]) -> bool {
        self.source.as_deref() == Some(source)
    }

    /// Returns the block that starts at a place, with the kernels for a mode.
    #[inline(always)]
    pub(super) fn block(&mut self, place: usize, mode: Mode) -> Option<&Block> {
        match &mut self.blocks[place] {
            Start::None => return None,
            Start::Met(times) if *times < OFTEN => {
                *times += 1;
                return None;
            }
            Start::Block(block) if block.is_for(mode) => {}
            _ => self.find(place, mode),
        }
        match &self.blocks[place] {
            Start::Block(block) if block.is_for(mode) => Some(block),
            _ => None,
        }
    }

    /// Finds the block at a place, unless there are many, or not all of its instructions are decoded.
    #[cold]
    fn find(&mut self, place: usize, mode: Mode) {
        let had_one = matches!(self.blocks[place], Start::Block(_));
        if !had_one && self.in_blocks >= MOST_IN_BLOCKS {
            self.blocks[place] = Start::None;
            return;
        }
        match Block::new(&self.insts[place..], mode) {
            Ok(block) => {
                self.in_blocks += if had_one { 0 } else { block.instructions };
                self.blocks[place] = Start::Block(Box::new(block));
            }
            Err(Missing::Undecoded) => {}
            // In another mode there may be one.
            Err(Missing::Short) if had_one => {}
            Err(Missing::Short) => self.blocks[place] = Start::None,
        }
    }
}
