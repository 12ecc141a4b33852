//! The tables of all packets, and their lookup by opcode.

use super::generated::{dma, pm4, sdma};
use super::reader::Reader;
use super::shape::Layout;
use crate::sdma::Version;
use amdgpu_hw::GfxLevel;

/// The maximum number of layouts with the same slot.
const DEPTH: usize = 6;

/// The layouts of a language, by opcode.
pub(super) struct Table {
    all: &'static [&'static Layout],
    slots: [[Option<&'static Layout>; DEPTH]; 0x400],
}

impl Table {
    #[expect(clippy::large_stack_arrays, reason = "it is made when the library is compiled")]
    const fn new(all: &'static [&'static Layout]) -> Self {
        let mut slots = [[None; DEPTH]; 0x400];
        let mut at = 0;
        while at < all.len() {
            let slot = &mut slots[Self::slot(all[at].opcode)];
            let mut depth = 0;
            while slot[depth].is_some() {
                depth += 1;
            }
            slot[depth] = Some(all[at]);
            at += 1;
        }
        Self { all, slots }
    }

    /// Returns the slot of an opcode. Opcodes have eight bits; two bits of the sub-opcode suffice to distribute the copy engine's
    /// packets.
    const fn slot(opcode: u16) -> usize {
        (opcode & 0x3ff) as usize
    }

    /// Returns the layouts of an opcode, in the order of the tables.
    #[inline]
    pub(super) fn of(&self, opcode: u16) -> impl Iterator<Item = &'static Layout> + use<> {
        let slot = self.slots.get(Self::slot(opcode)).copied().unwrap_or_default();
        slot.into_iter().map_while(|layout| layout).filter(move |layout| layout.opcode == opcode)
    }

    /// Returns all layouts.
    pub(super) fn all(&self) -> impl Iterator<Item = &'static Layout> + use<> {
        self.all.iter().copied()
    }
}

pub(super) static PM4: Table = Table::new(&pm4::ALL);
pub(super) static SDMA: Table = Table::new(&sdma::ALL);
pub(super) static SDMA_OLD: Table = Table::new(&dma::ALL);

impl Reader {
    pub(super) const fn table(self) -> &'static Table {
        match self {
            Self::Ring(_) | Self::Constant(_) | Self::Interface(_) => &PM4,
            Self::Copy(Version::V1_0) => &SDMA_OLD,
            Self::Copy(_) => &SDMA,
        }
    }

    /// Returns the layouts of an opcode that this reader accepts.
    #[inline]
    pub fn layouts(self, opcode: u16) -> impl Iterator<Item = &'static Layout> + use<> {
        self.table().of(opcode).filter(move |layout| self.takes(layout))
    }
}

/// Returns `true` if only the kernel's interface queue accepts packets with this opcode.
pub fn is_for_the_interface_queue(opcode: u8, level: GfxLevel) -> bool {
    Reader::Interface(level).layouts(opcode.into()).next().is_some()
}
