//! Recording: typed packets into the memory of IBs.

use amdgpu_packets::own;

use super::list::recorded::{Ib, Part};
use crate::{
    cs::{
        CommandList, EncodeError, Error, IbPlacement, Language, Packet, Result, Target,
        ib::{home::Home, memory::IbMemory},
        pm4,
    },
    host_memory::{self, NoHostMemory},
    winsys::{Binding, Device, GfxLevel, ResidencySet},
};

/// The longest IB, in dwords: 20 bits of size.
///
/// Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_ib_packet_size_max_dw`.
pub const MAX_IB_DWORDS: usize = 0xf_ffff;

/// The longest array that [`Stream::room`] hands out, in dwords: a page, which every IB has.
const SINK_DWORDS: usize = 1024;

/// The object of an error without host memory.
const LIST: &str = "a command list";

/// A command stream being recorded, for one kind of ring.
///
/// The language is part of the type, so that an SDMA packet in a graphics stream does not compile. Recording stores
/// dwords straight into GPU-visible memory: no allocation, no lock.
///
/// # Growth
///
/// An IB that is full is closed, and the stream goes on in one of twice its size, up to [`MAX_IB_DWORDS`]. On the
/// graphics and compute rings the closed IB chains to the next, and the kernel is given only the first; the copy engine
/// cannot chain and is given them all. Packets are never cut in two. [`CommandList`] says how an IB ends.
///
/// If there is no memory for the next IB, the stream is *poisoned*: every further call, [`Stream::finish`] included,
/// answers the error of the growth that failed, and [`Stream::clear`] heals it. So a recorder that passes no errors on,
/// like Vulkan's, may look at the end only, and nothing incomplete is ever submitted. [`Stream::room`] and
/// [`Stream::record`] are made for it: they never fail, and what they write into a poisoned stream goes nowhere.
///
/// RADV lets IBs grow to a quarter of this, because it compares bytes with dwords, and writes in front of its mapping when growing fails
/// (Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_grow`).
///
/// ```
/// use amdgpu_winsys::cs::{Stream, pm4};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 256)?;
/// stream.push(&pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH))?;
/// *stream.room() = [0xc000_4600, 0x407]; // the same, encoded by hand
/// assert_eq!(stream.len(), 4);
/// let list = stream.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Stream<L: Language> {
    device: Device,
    language: L,
    level: StreamLevel,
    placement: IbPlacement,
    /// The IB being written. Its window ends where padding and tail need room; that of a poisoned stream is empty, which
    /// sends every call to `grow`.
    memory: IbMemory,
    poison: Option<Error>,
    /// IBs that are full, and what else the list will need.
    part: Part,
}

/// Level of a stream: executed by a queue, or by another stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamLevel {
    /// The kernel's ring.
    Primary,
    /// Another stream.
    Secondary,
}

impl<L: Language> Stream<L> {
    /// Allocates a stream with room for at least `dwords` dwords of packets before it grows. Its IBs lie where
    /// [`IbPlacement::of`] says.
    ///
    /// # Errors
    ///
    /// [`Error::StreamCapacity`], [`Error::Address`], or [`Error::Winsys`] when there is no memory.
    pub fn new(device: &Device, language: L, dwords: usize) -> Result<Self> {
        Self::with_placement(device, language, dwords, IbPlacement::of(device.info(), 0))
    }

    /// Creates a stream in memory of the caller's choice.
    ///
    /// # Errors
    ///
    /// As for [`Stream::new`].
    pub fn with_placement(device: &Device, language: L, dwords: usize, placement: IbPlacement) -> Result<Self> {
        Self::start(device, language, dwords, placement, StreamLevel::Primary, Home::default())
    }

    /// Creates a stream for [`Stream::execute`]. It cannot execute other lists, because the GPU may call it. If it
    /// is likely to be copied instead, its IBs are in cached memory.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_bo_create`.
    ///
    /// # Errors
    ///
    /// As for [`Stream::new`].
    pub fn secondary(device: &Device, language: L, dwords: usize) -> Result<Self> {
        let is_called = is_likely_called(language.into());
        let placement = if is_called { IbPlacement::of(device.info(), 0) } else { IbPlacement::Cached };
        Self::start(device, language, dwords, placement, StreamLevel::Secondary, Home::default())
    }

    pub(super) fn start(
        device: &Device,
        language: L,
        dwords: usize,
        placement: IbPlacement,
        level: StreamLevel,
        home: Home,
    ) -> Result<Self> {
        if dwords == 0 || dwords > Self::MOST_DWORDS {
            return Err(Error::StreamCapacity { dwords, most: Self::MOST_DWORDS });
        }
        let part = Part::new(home).map_err(|error| error.of(LIST))?;
        let memory = match part.home.take(|memory| Self::limit(memory.capacity()) >= dwords) {
            Some(memory) => memory,
            None => IbMemory::new(device, dwords + Self::TAIL_DWORDS, placement)?,
        };
        Ok(Self { level, placement, ..Self::over(memory, part, language) })
    }

    /// Dwords that an IB keeps free after its packets, at most.
    const TAIL_DWORDS: usize = L::PAD_DWORDS + L::CHAIN_DWORDS;

    /// The most dwords of packets that one IB holds.
    pub(super) const MOST_DWORDS: usize = Self::limit(MAX_IB_DWORDS);

    /// Returns the number of an IB's dwords that packets may use.
    const fn limit(capacity: usize) -> usize {
        let capacity = if capacity < MAX_IB_DWORDS { capacity } else { MAX_IB_DWORDS };
        // Padded to a whole block together with what follows, so that padding up to it always fits.
        capacity / L::PAD_DWORDS * L::PAD_DWORDS - L::CHAIN_DWORDS
    }

    /// Starts over in memory that no submission uses any more.
    pub(super) fn over(mut memory: IbMemory, part: Part, language: L) -> Self {
        memory.rewind(Self::limit(memory.capacity()));
        Self {
            device: memory.binding().device().clone(),
            language,
            level: StreamLevel::Primary,
            placement: memory.placement(),
            memory,
            poison: None,
            part,
        }
    }

    /// Appends a packet.
    ///
    /// # Errors
    ///
    /// [`Error::Encode`] when the ring has no such packet or a value does not fit, [`Error::TooLong`]: the stream is
    /// then as it was. [`Error::Address`] or [`Error::Winsys`] when the stream cannot grow: it is then poisoned.
    #[expect(
        clippy::inline_always,
        reason = "packets are mostly constants, of which little is left once it is inlined"
    )]
    #[inline(always)]
    pub fn push<P: Packet<Language = L>>(&mut self, packet: &P) -> Result<()> {
        match packet.put(self.language, self.memory.window()) {
            Some(len) => {
                self.memory.advance(len);
                Ok(())
            }
            None => self.push_slowly(*packet),
        }
    }

    /// Appends a packet where little room is left, or something is wrong.
    #[cold]
    #[inline(never)]
    fn push_slowly<P: Packet<Language = L>>(&mut self, mut packet: P) -> Result<()> {
        own(&mut packet);
        let len = match packet.encode(self.language, self.memory.window()) {
            Err(EncodeError::NoRoom { needed, .. }) => {
                self.go_on(needed)?;
                packet.encode(self.language, self.memory.window())?
            }
            outcome => outcome?,
        };
        self.memory.advance(len);
        Ok(())
    }

    /// Appends a packet, or poisons the stream with the error of [`Stream::push`].
    #[expect(clippy::inline_always, reason = "as for `push`")]
    #[inline(always)]
    pub fn record<P: Packet<Language = L>>(&mut self, packet: &P) {
        match packet.put(self.language, self.memory.window()) {
            Some(len) => self.memory.advance(len),
            None => self.record_slowly(*packet),
        }
    }

    #[cold]
    #[inline(never)]
    fn record_slowly<P: Packet<Language = L>>(&mut self, mut packet: P) {
        own(&mut packet);
        if let Err(error) = self.push_slowly(packet) {
            self.poison(error);
        }
    }

    /// Reserves room for exactly `dwords` dwords, for packets that are already encoded. They count as recorded; what is not
    /// overwritten stays as it was, so fill all of it.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::push`].
    #[inline]
    pub fn reserve(&mut self, dwords: usize) -> Result<&mut [u32]> {
        self.grow(dwords)?;
        self.memory.take(dwords).ok_or(Error::TooLong { needed: dwords, most: Self::MOST_DWORDS })
    }

    /// Reserves a constant number of dwords, at most 1024, without an error: where the stream cannot grow it is poisoned,
    /// and the dwords are dropped. It costs one comparison.
    ///
    /// ```compile_fail
    /// # use amdgpu_winsys::cs::{Stream, pm4};
    /// fn too_long(stream: &mut Stream<pm4::Target>) {
    ///     stream.room::<1025>();
    /// }
    /// # fn main() { std::hint::black_box(too_long as fn(&mut Stream<pm4::Target>)); }
    /// ```
    #[inline]
    pub fn room<const N: usize>(&mut self) -> &mut [u32; N] {
        const { assert!(N <= SINK_DWORDS, "longer than the memory for what goes nowhere") };
        if N > self.memory.left() {
            return self.room_elsewhere();
        }
        match self.memory.take_array() {
            Some(room) => room,
            None => unreachable!("the window is as long as that"),
        }
    }

    #[cold]
    #[inline(never)]
    fn room_elsewhere<const N: usize>(&mut self) -> &mut [u32; N] {
        if self.go_on(N).is_ok() && N <= self.memory.left() {
            return self.room();
        }
        sink(&mut self.memory)
    }

    #[inline]
    pub(super) fn memory(&self) -> &IbMemory {
        &self.memory
    }

    #[inline]
    pub(super) fn memory_mut(&mut self) -> &mut IbMemory {
        &mut self.memory
    }

    /// Keeps memory resident and alive for every run of the list, without naming it in submissions. Memory that the stream
    /// keeps already costs a look, and no reference. Without host memory the stream is poisoned.
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::{
    ///     cs::{Queue, Stream, Submission, pm4},
    ///     heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
    ///     winsys::{Context, Deadline, Device, Ip, Priority},
    /// };
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let manager = MemoryManager::new(&device, &TableOptions::default())?;
    /// let memory_type = manager.properties().type_for(MemoryUsage::Readback).ok_or("no such type")?;
    /// let memory = manager.allocate(&AllocateInfo::new(memory_type, 4096))?;
    ///
    /// let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?;
    /// for value in 0..10 {
    ///     stream.keep(memory.binding()); // with every bind
    ///     stream.push(&pm4::WriteData::new(memory.address(), &[value]))?;
    /// }
    /// let (list, kept) = (stream.finish()?, memory.binding().handle_count());
    /// assert_eq!(kept, 2, "the memory's own handle, and one of the list");
    /// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
    /// assert!(queue.submit(&Submission { lists: &[&list], ..Submission::default() })?.wait(Deadline::NEVER)?);
    /// assert_eq!(memory.map()?.load_u32(0)?, 9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep(&mut self, binding: &Binding) {
        if let Err(error) = self.part.residents.add(binding) {
            self.poison(error.of(LIST).into());
        }
    }

    /// Keeps the members of a set resident and alive for every run of the list, as [`Stream::keep`] does for one memory: for a
    /// sparse range (`SparseRange::residents` of [`heaps`](crate::heaps)), whose memory comes and goes after it was recorded. The
    /// members are those at the time of the submission. A set that the stream keeps already costs a look.
    ///
    /// A submission that runs such a list allocates an array for the sets.
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::{
    ///     cs::{Queue, Stream, Submission, pm4},
    ///     heaps::{AllocateInfo, Backing, MemoryManager, SparseBind, SparseRange, TableOptions},
    ///     vamgr::VaRequest,
    ///     winsys::{Context, Deadline, Device, Ip, Priority},
    /// };
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let memory = MemoryManager::new(&device, &TableOptions::default())?.allocate(&AllocateInfo::new(5, 64 << 10))?;
    /// let range = SparseRange::new(&device, VaRequest::new(1 << 20).aligned(64 << 10))?;
    ///
    /// let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?;
    /// stream.keep_set(range.residents());
    /// stream.push(&pm4::WriteData::new(range.address(), &[42]))?;
    /// let list = stream.finish()?;
    ///
    /// // Bound after it was recorded, and named nowhere:
    /// let backing = Some(Backing { memory: memory.binding().clone(), offset: 0 });
    /// range.bind(&[SparseBind { offset: 0, len: 64 << 10, backing }])?;
    /// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
    /// let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() })?;
    /// assert!(fence.wait(Deadline::NEVER)?);
    /// assert_eq!(memory.map()?.load_u32(0)?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep_set(&mut self, set: &ResidencySet) {
        if let Err(error) = self.part.sets.add(set) {
            self.poison(error.of(LIST).into());
        }
    }

    /// Returns the number of dwords recorded so far. Padding and chain packets of IBs that are full count too.
    pub fn len(&self) -> usize {
        self.memory.used() + self.part.ibs.iter().map(|ib| ib.dwords).sum::<usize>()
    }

    /// Returns `true` if nothing was recorded yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of dwords that can be recorded before the stream grows.
    pub fn remaining(&self) -> usize {
        self.memory.left()
    }

    /// Returns the packet language: the kind of ring and the generation that the stream is recorded for.
    #[inline]
    pub fn language(&self) -> L {
        self.language
    }

    /// Returns the device the stream is for.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn level(&self) -> StreamLevel {
        self.level
    }

    pub(super) fn part_mut(&mut self) -> &mut Part {
        &mut self.part
    }

    /// Returns an error if the stream is poisoned.
    ///
    /// # Errors
    ///
    /// The first error that poisoned it.
    pub fn status(&self) -> Result<()> {
        self.poison.clone().map_or(Ok(()), Err)
    }

    /// Makes the stream answer `error` from now on. The first error stays.
    #[cold]
    pub(super) fn poison(&mut self, error: Error) {
        if self.poison.is_none() {
            tracing::warn!(%error, "a stream is poisoned");
            self.poison = Some(error);
        }
        self.memory.shut();
    }

    /// Forgets what was recorded, an error included, and keeps the memory.
    pub fn clear(&mut self) {
        self.part.recycle();
        self.poison = None;
        self.memory.rewind(Self::limit(self.memory.capacity()));
    }

    /// Pads the last IB as the ring wants it, links the IBs and closes the stream. An empty stream becomes one block of
    /// fillers.
    ///
    /// # Errors
    ///
    /// The error that poisoned the stream, if it is poisoned; [`Error::Encode`] for a stream in the language of another generation
    /// than the device's, whose jumps cannot say where this device has its memory; [`Error::Winsys`] without host memory for
    /// the list's containers. The list itself is one allocation behind an `Arc`, which cannot fail but by ending the process.
    pub fn finish(mut self) -> Result<CommandList> {
        self.status()?;
        let (dwords, packet_dwords) = self.close();
        let Self { language, memory, mut part, .. } = self;
        let no_memory = |error: NoHostMemory| error.of(LIST);
        host_memory::push(&mut part.ibs, Ib { memory, dwords, packet_dwords, detour: None }).map_err(no_memory)?;
        part.link(language.into())?;
        Ok(CommandList::new(language.into(), part).map_err(no_memory)?)
    }

    /// Goes on in another IB with room for `needed` dwords.
    #[cold]
    pub(super) fn go_on(&mut self, needed: usize) -> Result<()> {
        self.status()?;
        if needed > Self::MOST_DWORDS {
            return Err(Error::TooLong { needed, most: Self::MOST_DWORDS });
        }
        let room = self.part.reserve_ib().map_err(|error| error.of(LIST).into());
        let mut next =
            room.and_then(|()| self.next_memory(needed)).inspect_err(|error: &Error| self.poison(error.clone()))?;
        next.rewind(Self::limit(next.capacity()));
        if self.memory.used() == 0 {
            self.part.spare.push(std::mem::replace(&mut self.memory, next));
            return Ok(());
        }
        let (dwords, packet_dwords) = self.close();
        let memory = std::mem::replace(&mut self.memory, next);
        self.part.ibs.push(Ib { memory, dwords, packet_dwords, detour: None });
        Ok(())
    }

    /// Memory with room for `needed` dwords of packets: some that is there already, else twice as much as this IB's.
    fn next_memory(&mut self, needed: usize) -> Result<IbMemory> {
        let fits = |memory: &IbMemory| Self::limit(memory.capacity()) >= needed;
        if let Some(at) = self.part.spare.iter().position(fits) {
            return Ok(self.part.spare.swap_remove(at));
        }
        if let Some(memory) = self.part.home.take(fits) {
            return Ok(memory);
        }
        let wanted = (2 * self.memory.capacity()).min(MAX_IB_DWORDS).max(needed + Self::TAIL_DWORDS);
        IbMemory::new(&self.device, wanted, self.placement)
    }

    /// Ends the IB with padding and tail; how long it is with them and without.
    fn close(&mut self) -> (usize, usize) {
        let used = self.memory.used();
        self.memory.extend(Self::TAIL_DWORDS);
        // The tail is a jump as soon as the length of the next IB is known.
        for gap in [self.language.padding(used, L::CHAIN_DWORDS), L::CHAIN_DWORDS] {
            if let Some(gap) = self.memory.take(gap) {
                self.language.fill(gap);
            }
        }
        (self.memory.used(), used)
    }
}

/// Returns room for what goes nowhere: the IB of a poisoned stream, which is never submitted.
fn sink<const N: usize>(memory: &mut IbMemory) -> &mut [u32; N] {
    match memory.first_dwords() {
        Some(room) => room,
        None => unreachable!("N is at most SINK_DWORDS, as `room` asserts when it is compiled"),
    }
}

/// Returns `true` if secondary streams for this ring are more often called than copied.
fn is_likely_called(target: Target) -> bool {
    matches!(target, Target::Pm4(target) if target.ring == pm4::Ring::Gfx && target.level >= GfxLevel::Gfx8)
}
