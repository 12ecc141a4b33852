//! Command streams, which record typed packets into the memory of IBs.

use amdgpu_packets::own;

use super::list::recorded::{Ib, Part};
use crate::{
    cs::{
        CommandList, EncodeError, IbPlacement, Language, Packet, RecordError, RecordResult as Result, Target,
        ib::{home::Home, memory::IbMemory},
        pm4,
    },
    host_memory::{self, NoHostMemory},
    winsys::{Binding, Device, GfxLevel, ResidencySet},
};

/// The length limit of an IB in dwords: the size field has 20 bits.
///
/// Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_ib_packet_size_max_dw`.
pub const MAX_IB_DWORDS: usize = 0xf_ffff;

/// The longest array that [`Stream::room`] returns, in dwords. It is one page, the minimum size of an IB.
const SINK_DWORDS: usize = 1024;

/// The object name in out-of-memory errors.
const LIST: &str = "a command list";

/// A command stream that is being recorded, for one kind of ring.
///
/// The packet language is part of the type, so that an SDMA packet in a graphics stream does not compile. Recording writes dwords
/// directly to GPU-visible memory, without allocations and locks.
///
/// # Growth
///
/// When an IB is full, it is closed, and the stream continues in an IB of twice its size, up to [`MAX_IB_DWORDS`]. On the graphics
/// and compute rings the closed IB jumps to the next one, and only the first is submitted to the kernel. The copy engine cannot
/// jump, so all IBs are submitted. A packet is always in one IB. [`CommandList`] describes the end of an IB.
///
/// If there is no memory for the next IB, the stream is *poisoned*: every further call, including [`Stream::finish`], returns the
/// error of the failed growth, until [`Stream::clear`] resets it. A recorder that cannot return errors, as in Vulkan, therefore
/// needs to check only the result of `finish`, and an incomplete stream is never submitted. [`Stream::room`] and [`Stream::record`]
/// are for such recorders: they never fail, and their writes to a poisoned stream are discarded.
///
/// RADV limits IBs to a quarter of this size, because it compares bytes with dwords, and writes before the start of its mapping if
/// growing fails (Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_grow`).
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
    /// The IB being written. Its window ends before the space for padding and jump. The window of a poisoned stream is empty, so
    /// that every call takes the slow path through `go_on`.
    memory: IbMemory,
    poison: Option<RecordError>,
    /// Closed IBs, and the other resources of the list.
    part: Part,
}

/// The level of a stream: executed by a queue, or by another stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamLevel {
    /// Executed by a queue.
    Primary,
    /// Executed by another stream.
    Secondary,
}

impl<L: Language> Stream<L> {
    /// Creates a stream with space for at least `dwords` dwords of packets before it grows. [`IbPlacement::of`] chooses the
    /// placement of its IBs.
    ///
    /// # Errors
    ///
    /// [`RecordError::StreamCapacity`] if `dwords` is zero or exceeds an IB; [`RecordError::Address`] if there is no GPU address for the IB;
    /// [`RecordError::Winsys`] if the allocation fails.
    pub fn new(device: &Device, language: L, dwords: usize) -> Result<Self> {
        Self::with_placement(device, language, dwords, IbPlacement::of(device.info(), 0))
    }

    /// Creates a stream like [`Stream::new`], with IBs in the given kind of memory.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::new`].
    pub fn with_placement(device: &Device, language: L, dwords: usize, placement: IbPlacement) -> Result<Self> {
        Self::start(device, language, dwords, placement, StreamLevel::Primary, Home::default())
    }

    /// Creates a stream for [`Stream::execute`]. It cannot execute lists that call others, because the GPU may call it. If it
    /// is likely to be copied instead, its IBs are in cached memory.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_bo_create`.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::new`].
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
            return Err(RecordError::StreamCapacity { dwords, most: Self::MOST_DWORDS });
        }
        let part = Part::new(home).map_err(|error| error.of(LIST))?;
        let memory = match part.home.take(|memory| Self::limit(memory.capacity()) >= dwords) {
            Some(memory) => memory,
            None => IbMemory::new(device, dwords + Self::TAIL_DWORDS, placement)?,
        };
        Ok(Self { level, placement, ..Self::over(memory, part, language) })
    }

    /// The maximum number of dwords after the packets of an IB: padding and jump.
    const TAIL_DWORDS: usize = L::PAD_DWORDS + L::CHAIN_DWORDS;

    /// The maximum number of packet dwords in one IB.
    pub(super) const MOST_DWORDS: usize = Self::limit(MAX_IB_DWORDS);

    /// Returns the number of dwords of an IB that packets may use.
    const fn limit(capacity: usize) -> usize {
        let capacity = if capacity < MAX_IB_DWORDS { capacity } else { MAX_IB_DWORDS };
        // The end is a multiple of the padding unit, including the jump, so that the padding always fits.
        capacity / L::PAD_DWORDS * L::PAD_DWORDS - L::CHAIN_DWORDS
    }

    /// Starts a stream in memory that no submission uses any more.
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
    /// [`RecordError::Encode`] if the ring does not have the packet or a value does not fit, [`RecordError::TooLong`] if the packet is longer
    /// than an IB: the stream is then unchanged. [`RecordError::Address`] or [`RecordError::Winsys`] if the stream cannot grow: it is then
    /// poisoned.
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

    /// Appends a packet if the fast path failed, because little space is left or a value is invalid.
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

    /// Appends a packet like [`Stream::push`], but poisons the stream on every error instead of returning it.
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

    /// Returns space for exactly `dwords` dwords of packets that are already encoded. All of them count as recorded. The
    /// memory keeps its previous content, so the caller must write every dword.
    ///
    /// # Errors
    ///
    /// [`RecordError::TooLong`] if `dwords` exceeds an IB: the stream is then unchanged. [`RecordError::Address`] or
    /// [`RecordError::Winsys`] if the stream cannot grow: it is then poisoned.
    #[inline]
    pub fn reserve(&mut self, dwords: usize) -> Result<&mut [u32]> {
        self.grow(dwords)?;
        self.memory.take(dwords).ok_or(RecordError::TooLong { needed: dwords, most: Self::MOST_DWORDS })
    }

    /// Returns space for a constant number of dwords, at most 1024. It never fails: if the stream cannot grow, the stream is
    /// poisoned and the dwords are discarded. The fast path is one comparison.
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

    /// Keeps memory alive and resident whenever the list runs, so that submissions need not list it. If the stream keeps the memory
    /// already, this costs only a look-up. Without host memory the stream is poisoned.
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
    ///     stream.keep(memory.binding()); // whenever it is bound
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

    /// Keeps the members of a set alive and resident whenever the list runs, like [`Stream::keep`] does for one binding. This is
    /// for a sparse range (`SparseRange::residents` of [`heaps`](crate::heaps)), whose memory changes after recording: the members
    /// at the time of submission count. If the stream keeps the set already, this costs only a look-up. Without host memory the
    /// stream is poisoned.
    ///
    /// A submission of such a list allocates an array for the sets.
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
    /// // Bound after recording, and not listed in the submission:
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

    /// Returns the number of dwords recorded so far, including padding and jumps of closed IBs.
    pub fn len(&self) -> usize {
        self.memory.used() + self.part.ibs.iter().map(|ib| ib.dwords).sum::<usize>()
    }

    /// Returns `true` if nothing has been recorded.
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

    /// Returns the device of the stream.
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
    /// The first error that poisoned the stream.
    pub fn status(&self) -> Result<()> {
        self.poison.clone().map_or(Ok(()), Err)
    }

    /// Poisons the stream with `error`, unless it is poisoned already.
    #[cold]
    pub(super) fn poison(&mut self, error: RecordError) {
        if self.poison.is_none() {
            tracing::warn!(%error, "a stream is poisoned");
            self.poison = Some(error);
        }
        self.memory.shut();
    }

    /// Discards all recorded commands, including an error, and keeps the memory.
    pub fn clear(&mut self) {
        self.part.recycle();
        self.poison = None;
        self.memory.rewind(Self::limit(self.memory.capacity()));
    }

    /// Pads the last IB as the ring requires, links the IBs and closes the stream. An empty stream becomes one block of NOPs.
    ///
    /// # Errors
    ///
    /// * The error that poisoned the stream, if it is poisoned;
    /// * [`RecordError::Encode`] if the jumps cannot hold the device's addresses, because the stream is for another generation than the
    ///   device;
    /// * [`RecordError::Winsys`] if the process has no memory left for the list.
    pub fn finish(mut self) -> Result<CommandList> {
        self.status()?;
        let (dwords, packet_dwords) = self.close();
        let Self { language, memory, mut part, .. } = self;
        let no_memory = |error: NoHostMemory| error.of(LIST);
        host_memory::push(&mut part.ibs, Ib { memory, dwords, packet_dwords, detour: None }).map_err(no_memory)?;
        part.link(language.into())?;
        Ok(CommandList::new(language.into(), part).map_err(no_memory)?)
    }

    /// Continues in another IB with space for `needed` dwords.
    #[cold]
    pub(super) fn go_on(&mut self, needed: usize) -> Result<()> {
        self.status()?;
        if needed > Self::MOST_DWORDS {
            return Err(RecordError::TooLong { needed, most: Self::MOST_DWORDS });
        }
        let room = self.part.reserve_ib().map_err(|error| error.of(LIST).into());
        let mut next = room
            .and_then(|()| self.next_memory(needed))
            .inspect_err(|error: &RecordError| self.poison(error.clone()))?;
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

    /// Returns memory for `needed` dwords of packets: spare memory or memory of the pool, otherwise new memory of twice the current
    /// size.
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

    /// Ends the IB with padding and a NOP in place of the jump. Returns its length with and without them, in dwords.
    fn close(&mut self) -> (usize, usize) {
        let used = self.memory.used();
        self.memory.extend(Self::TAIL_DWORDS);
        // `Part::link` overwrites the tail with a jump when the length of the next IB is known.
        for gap in [self.language.padding(used, L::CHAIN_DWORDS), L::CHAIN_DWORDS] {
            if let Some(gap) = self.memory.take(gap) {
                self.language.fill(gap);
            }
        }
        (self.memory.used(), used)
    }
}

/// Returns space for discarded dwords: the IB of a poisoned stream, which is never submitted.
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
