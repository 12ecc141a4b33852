//! Recording: typed packets into the memory of IBs.

use std::sync::Arc;

use super::{CommandList, EncodeError, Error, Language, Packet, Result, command_list::Ib, ib::IbMemory};
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
/// # Growth
///
/// An IB that is full is closed, and the stream goes on in one of twice its size, up to [`MAX_IB_DWORDS`]. On the
/// graphics and compute rings the closed IB chains to the next, and the kernel is given only the first; the copy engine
/// cannot chain and is given them all. Packets are never cut in two.
///
/// Where there is no memory for the next IB, the stream is *poisoned*: every further call, [`Stream::finish`] included,
/// answers the error of the growth that failed, and [`Stream::clear`] heals it. So a recorder that passes no errors on,
/// like Vulkan's, may look at the end only, and nothing incomplete is ever submitted.
///
/// RADV lets IBs grow to a quarter of this, for want of a unit, and writes in front of its mapping when growing fails
/// (Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_grow`).
///
/// ```no_run
/// # use std::{path::Path, sync::Arc};
/// # use amdgpu_winsys::{cs::{Stream, pm4}, winsys::{Device, Ip}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::open(Path::new("/dev/dri/renderD128"))?;
/// let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 256)?;
/// stream.push(&pm4::Nop::Skip(&[0; 7]))?;
/// let list = stream.finish()?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Stream<L: Language> {
    device: Arc<Device>,
    language: L,
    /// The IB being written.
    memory: IbMemory,
    used: usize,
    /// Dwords of it that packets may use: the rest is kept for padding and a chain packet. A poisoned stream has used
    /// them all, which sends every call to `grow`.
    limit: usize,
    /// IBs that are full, oldest first.
    full: Vec<Ib>,
    /// Memory to grow into.
    spare: Vec<IbMemory>,
    poison: Option<Error>,
}

impl<L: Language> Stream<L> {
    /// Allocates a stream with room for at least `dwords` dwords of packets before it grows.
    ///
    /// # Errors
    ///
    /// [`Error::StreamCapacity`], [`Error::Address`], or [`Error::Winsys`] when there is no memory.
    pub fn new(device: &Arc<Device>, language: L, dwords: usize) -> Result<Self> {
        if dwords == 0 || dwords > Self::MOST_DWORDS {
            return Err(Error::StreamCapacity { dwords, most: Self::MOST_DWORDS });
        }
        let memory = IbMemory::new(device, dwords + Self::TAIL_DWORDS)?;
        Ok(Self::over(memory, Vec::new(), language))
    }

    /// What an IB keeps free behind its packets, at most.
    const TAIL_DWORDS: usize = L::PAD_DWORDS + L::CHAIN_DWORDS;

    /// The most dwords of packets that one IB holds.
    const MOST_DWORDS: usize = Self::limit(MAX_IB_DWORDS);

    /// How many of an IB's dwords packets may use.
    const fn limit(capacity: usize) -> usize {
        let capacity = if capacity < MAX_IB_DWORDS { capacity } else { MAX_IB_DWORDS };
        // Padded to a whole block together with what follows, so that padding up to it always fits.
        capacity / L::PAD_DWORDS * L::PAD_DWORDS - L::CHAIN_DWORDS
    }

    /// Starts over in memory that no submission uses any more.
    pub(super) fn over(memory: IbMemory, spare: Vec<IbMemory>, language: L) -> Self {
        let (device, limit) = (Arc::clone(memory.binding().device()), Self::limit(memory.capacity()));
        Self { device, language, memory, used: 0, limit, full: Vec::new(), spare, poison: None }
    }

    /// Appends a packet.
    ///
    /// # Errors
    ///
    /// [`Error::Encode`] when the ring has no such packet or a value does not fit, [`Error::TooLong`]: the stream is
    /// then as it was. [`Error::Address`] or [`Error::Winsys`] when the stream cannot grow: it is then poisoned.
    #[inline]
    pub fn push<P: Packet<Language = L>>(&mut self, packet: &P) -> Result<()> {
        loop {
            let (used, limit) = (self.used, self.limit);
            let room = &mut self.memory.as_mut_slice()[used..limit];
            match packet.encode(self.language, room) {
                Ok(len) => {
                    self.used += len;
                    return Ok(());
                }
                Err(EncodeError::NoRoom { needed, .. }) => self.grow(needed)?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Room for exactly `dwords` dwords, for packets that are already encoded. They count as recorded; what is not
    /// overwritten stays as it was, so fill all of it.
    ///
    /// # Errors
    ///
    /// As [`Stream::push`].
    #[inline]
    pub fn reserve(&mut self, dwords: usize) -> Result<&mut [u32]> {
        if dwords > self.limit - self.used {
            self.grow(dwords)?;
        }
        let start = self.used;
        self.used += dwords;
        Ok(&mut self.memory.as_mut_slice()[start..start + dwords])
    }

    /// Dwords recorded so far. Padding and chain packets of IBs that are full count too.
    pub fn len(&self) -> usize {
        self.used + self.full.iter().map(|ib| ib.dwords).sum::<usize>()
    }

    /// Whether nothing was recorded yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Dwords that can be recorded before the stream grows.
    pub fn remaining(&self) -> usize {
        self.limit - self.used
    }

    /// The ring the stream is for.
    pub fn language(&self) -> L {
        self.language
    }

    /// What poisoned the stream, if anything did.
    ///
    /// # Errors
    ///
    /// The error of the growth that failed.
    pub fn status(&self) -> Result<()> {
        self.poison.clone().map_or(Ok(()), Err)
    }

    /// Forgets what was recorded, an error included, and keeps the memory.
    pub fn clear(&mut self) {
        self.spare.extend(self.full.drain(..).map(|ib| ib.memory));
        self.poison = None;
        self.used = 0;
        self.limit = Self::limit(self.memory.capacity());
    }

    /// Pads the last IB as the ring wants it, links the IBs and closes the stream. An empty stream becomes one block of
    /// fillers.
    ///
    /// # Errors
    ///
    /// What poisoned the stream, if anything did.
    pub fn finish(mut self) -> Result<CommandList> {
        self.status()?;
        let padding = match self.used {
            0 => L::PAD_DWORDS,
            used => self.language.padding(used, 0),
        };
        self.fill(padding);
        let mut ibs = self.full;
        ibs.push(Ib { memory: self.memory, dwords: self.used });
        if L::CHAIN_DWORDS > 0 {
            link(self.language, &mut ibs)?;
        }
        Ok(CommandList::new(ibs, self.spare, self.language.into(), L::CHAIN_DWORDS > 0))
    }

    /// Goes on in another IB with room for `needed` dwords.
    #[cold]
    fn grow(&mut self, needed: usize) -> Result<()> {
        self.status()?;
        if needed > Self::MOST_DWORDS {
            return Err(Error::TooLong { needed, most: Self::MOST_DWORDS });
        }
        let next = self.next_memory(needed).inspect_err(|error| {
            tracing::warn!(%error, "a stream cannot grow");
            self.poison = Some(error.clone());
            self.used = self.limit;
        })?;
        self.limit = Self::limit(next.capacity());
        if self.used == 0 {
            self.spare.push(std::mem::replace(&mut self.memory, next));
            return Ok(());
        }
        self.fill(self.language.padding(self.used, L::CHAIN_DWORDS));
        // The chain packet is written when the length of the next IB is known.
        self.used += L::CHAIN_DWORDS;
        let memory = std::mem::replace(&mut self.memory, next);
        self.full.push(Ib { memory, dwords: std::mem::take(&mut self.used) });
        Ok(())
    }

    /// Memory with room for `needed` dwords of packets: some that is there already, else twice as much as this IB's.
    fn next_memory(&mut self, needed: usize) -> Result<IbMemory> {
        let fits = |memory: &IbMemory| Self::limit(memory.capacity()) >= needed;
        if let Some(at) = self.spare.iter().position(fits) {
            return Ok(self.spare.swap_remove(at));
        }
        let wanted = (2 * self.memory.capacity()).min(MAX_IB_DWORDS).max(needed + Self::TAIL_DWORDS);
        IbMemory::new(&self.device, wanted)
    }

    /// Appends fillers, into the part that packets may not use.
    fn fill(&mut self, dwords: usize) {
        let start = self.used;
        self.used += dwords;
        self.language.fill(&mut self.memory.as_mut_slice()[start..start + dwords]);
    }
}

/// Ends each IB but the last with a jump to the one behind it, whose length is only known now.
fn link<L: Language>(language: L, ibs: &mut [Ib]) -> Result<()> {
    for at in 1..ibs.len() {
        let (before, behind) = ibs.split_at_mut(at);
        let (Some(from), Some(to)) = (before.last_mut(), behind.first()) else { continue };
        let tail = from.dwords - L::CHAIN_DWORDS..from.dwords;
        language.chain(&mut from.memory.as_mut_slice()[tail], to.memory.address(), to.dwords as u32)?;
    }
    Ok(())
}
