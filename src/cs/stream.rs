//! Recording: typed packets into the memory of an IB.

use std::sync::Arc;

use super::{CommandList, EncodeError, Error, Language, Packet, Result, ib::IbMemory};
use crate::winsys::Device;

/// The longest IB, in dwords: 20 bits of size.
///
/// Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_ib_packet_size_max_dw`.
pub const MAX_IB_DWORDS: usize = 0xf_ffff;

/// A command stream being recorded, for one kind of ring.
///
/// The language is part of the type, so that an SDMA packet in a graphics stream does not compile. Recording stores
/// dwords straight into GPU-visible memory: no allocation, no lock.
///
/// ```no_run
/// # use std::{path::Path, sync::Arc};
/// # use amdgpu_winsys::{cs::{Stream, pm4}, winsys::{Device, Ip}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::open(Path::new("/dev/dri/renderD128"))?;
/// let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 256)?;
/// stream.push(&pm4::Nop::Skip(&[0; 7]))?;
/// let list = stream.finish();
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Stream<L: Language> {
    memory: IbMemory,
    language: L,
    used: usize,
    /// Dwords that packets may use: the rest is kept for the padding.
    limit: usize,
}

impl<L: Language> Stream<L> {
    /// Allocates a stream with room for at least `dwords` dwords of packets.
    ///
    /// # Errors
    ///
    /// [`Error::StreamCapacity`], [`Error::Address`], or [`Error::Winsys`] when there is no memory.
    pub fn new(device: &Arc<Device>, language: L, dwords: usize) -> Result<Self> {
        if dwords == 0 || dwords > MAX_IB_DWORDS {
            return Err(Error::StreamCapacity { dwords });
        }
        let memory = IbMemory::new(device, dwords + L::PAD_DWORDS)?;
        Ok(Self::over(memory, language))
    }

    /// Starts over in memory that no submission uses any more.
    pub(super) fn over(memory: IbMemory, language: L) -> Self {
        let limit = memory.capacity().min(MAX_IB_DWORDS) / L::PAD_DWORDS * L::PAD_DWORDS;
        Self { memory, language, used: 0, limit }
    }

    /// Appends a packet.
    ///
    /// # Errors
    ///
    /// [`Error::Encode`] when the ring has no such packet or a value does not fit, [`Error::StreamFull`]. The stream
    /// is then as it was.
    #[inline]
    pub fn push<P: Packet<Language = L>>(&mut self, packet: &P) -> Result<()> {
        let (used, limit) = (self.used, self.limit);
        let room = &mut self.memory.as_mut_slice()[used..limit];
        match packet.encode(self.language, room) {
            Ok(len) => {
                self.used += len;
                Ok(())
            }
            Err(EncodeError::NoRoom { needed, left, .. }) => Err(self.full(needed, left)),
            Err(error) => Err(error.into()),
        }
    }

    /// Room for exactly `dwords` dwords, for packets that are already encoded. They count as recorded; what is not
    /// overwritten stays as it was, so fill all of it.
    ///
    /// # Errors
    ///
    /// [`Error::StreamFull`].
    #[inline]
    pub fn reserve(&mut self, dwords: usize) -> Result<&mut [u32]> {
        let left = self.limit - self.used;
        if dwords > left {
            return Err(self.full(dwords, left));
        }
        let start = self.used;
        self.used += dwords;
        Ok(&mut self.memory.as_mut_slice()[start..start + dwords])
    }

    /// Dwords recorded so far.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Whether nothing was recorded yet.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Dwords that can be recorded before the stream is full.
    pub fn remaining(&self) -> usize {
        self.limit - self.used
    }

    /// The ring the stream is for.
    pub fn language(&self) -> L {
        self.language
    }

    /// Forgets what was recorded and keeps the memory.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Pads the IB as the ring wants it and closes the stream. An empty stream becomes one block of fillers.
    pub fn finish(mut self) -> CommandList {
        let padding = match self.used {
            0 => L::PAD_DWORDS,
            used => self.language.padding(used, 0),
        };
        // The limit is a multiple of the block, so padding up to the next one always fits.
        let (used, language) = (self.used, self.language);
        language.fill(&mut self.memory.as_mut_slice()[used..used + padding]);
        CommandList::new(self.memory, language.into(), used + padding)
    }

    fn full(&self, needed: usize, left: usize) -> Error {
        Error::StreamFull { needed, left, capacity: self.limit }
    }
}
