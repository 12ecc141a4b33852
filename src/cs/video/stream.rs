//! Streams for video engines.

use super::{VideoError, VideoList, ib, kept::Kept};
use crate::{
    cs::{IbPlacement, RecordError, ib::memory::IbMemory},
    host_memory::NoHostMemory,
    winsys::{Binding, Device, Error as WinsysError, Ip, ResidencySet},
};

/// The object name in out-of-memory errors.
const STREAM: &str = "a stream for a video engine";

/// Commands for a video engine that are being recorded.
///
/// The caller stores dwords of the engine's own language, as structures of a codec: the stream only stores and pads them. IBs of
/// video engines cannot jump to others, so a stream is always a single IB. If it is full, it moves to memory of at least twice its
/// size, and the dwords are copied.
///
/// If there is no memory to grow, the stream is *poisoned* like a [`Stream`](crate::cs::Stream): every further call, including
/// [`VideoStream::finish`], returns the error, until [`VideoStream::clear`] resets it.
///
/// ```
/// use amdgpu_sim::{SimDevice, SimOptions, profile};
/// use amdgpu_winsys::{
///     cs::{VideoQueue, VideoStream, VideoSubmission},
///     winsys::{Context, Deadline, Device, Ip, Priority},
/// };
///
/// let options = SimOptions { video: true, ..SimOptions::default() };
/// let device = Device::new(SimDevice::new(profile("navi21").ok_or("no such chip")?, options).open())?;
/// let mut stream = VideoStream::new(&device, Ip::VcnDec, 64)?;
/// stream.grow(2)?;
/// stream.window()[..2].copy_from_slice(&[0x81ff, 0]); // a NOP
/// stream.advance(2)?;
/// let list = stream.finish()?;
/// assert_eq!(list.dwords(), [0x81ff, 0].repeat(8)); // padded
///
/// let queue = VideoQueue::new(&Context::new(&device, Priority::Normal)?, Ip::VcnDec, 0)?;
/// let ibs: Vec<_> = list.ib().into_iter().collect();
/// let fence = queue.submit(&VideoSubmission { ibs: &ibs, memory: &list, ..VideoSubmission::default() })?;
/// assert!(fence.wait(Deadline::NEVER)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct VideoStream {
    pub(super) device: Device,
    pub(super) ip: Ip,
    placement: IbPlacement,
    /// The IB. Its window ends before the room for padding, and the window of a poisoned stream is empty.
    memory: IbMemory,
    kept: Kept,
    poison: Option<VideoError>,
}

impl VideoStream {
    /// Creates a stream with space for at least `dwords` dwords before it grows. [`IbPlacement::of`] chooses its memory.
    ///
    /// # Errors
    ///
    /// * [`VideoError::NotVideo`] if `ip` is not a video engine;
    /// * [`VideoError::Recording`] with [`StreamCapacity`](RecordError::StreamCapacity) if `dwords` is zero or exceeds an IB, with
    ///   [`Address`](RecordError::Address) or [`Winsys`](RecordError::Winsys) if there is no memory.
    pub fn new(device: &Device, ip: Ip, dwords: usize) -> Result<Self, VideoError> {
        Self::with_placement(device, ip, dwords, IbPlacement::of(device.info(), 0))
    }

    /// Creates a stream like [`VideoStream::new`] in the given kind of memory. A stream that will be
    /// [copied](VideoStream::copy) into others should be in [cached](IbPlacement::Cached) memory.
    ///
    /// # Errors
    ///
    /// The errors of [`VideoStream::new`].
    pub fn with_placement(device: &Device, ip: Ip, dwords: usize, placement: IbPlacement) -> Result<Self, VideoError> {
        if !ib::is_video(ip) {
            return Err(VideoError::NotVideo { ip });
        }
        let tail = ib::unit(device.info(), ip);
        let most = ib::MOST_DWORDS as usize - tail;
        if dwords == 0 || dwords > most {
            return Err(RecordError::StreamCapacity { dwords, most }.into());
        }
        let memory = IbMemory::new(device, dwords + tail, placement)?;
        Ok(Self::over(device.clone(), ip, memory, Kept::default()))
    }

    /// Starts a stream in existing memory, which must be larger than the room for padding.
    pub(super) fn over(device: Device, ip: Ip, memory: IbMemory, kept: Kept) -> Self {
        let mut stream = Self { device, ip, placement: memory.placement(), memory, kept, poison: None };
        stream.clear();
        stream
    }

    /// Returns the IP that the stream is recorded for.
    pub fn ip(&self) -> Ip {
        self.ip
    }

    /// Returns the device of the stream.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the free dwords, possibly none. Dwords written there count as recorded after a call of [`VideoStream::advance`].
    /// The memory may be write-combined, so write it in order and do not read it.
    pub fn window(&mut self) -> &mut [u32] {
        self.memory.window()
    }

    /// Counts the first `dwords` dwords of the window as recorded.
    ///
    /// # Errors
    ///
    /// [`VideoError::Recording`] with [`TooLong`](RecordError::TooLong) if the window is shorter; no dwords are then counted.
    pub fn advance(&mut self, dwords: usize) -> Result<(), VideoError> {
        let most = self.memory.left();
        if dwords > most {
            return Err(RecordError::TooLong { needed: dwords, most }.into());
        }
        self.memory.advance(dwords);
        Ok(())
    }

    /// Ensures that the window has at least `dwords` dwords. If it is shorter, the stream moves to larger memory, and slices and
    /// pointers to the former memory are no longer valid.
    ///
    /// # Errors
    ///
    /// The error that poisoned the stream; [`VideoError::Recording`] with [`TooLong`](RecordError::TooLong) if the IB would exceed its
    /// maximum length, otherwise if there is no memory, which poisons the stream.
    pub fn grow(&mut self, dwords: usize) -> Result<(), VideoError> {
        if dwords > self.memory.left() { self.enlarge(dwords) } else { Ok(()) }
    }

    #[cold]
    fn enlarge(&mut self, dwords: usize) -> Result<(), VideoError> {
        self.status()?;
        let (used, tail, limit) = (self.memory.used(), self.tail(), ib::MOST_DWORDS as usize);
        let most = limit - tail - used;
        if dwords > most {
            return Err(RecordError::TooLong { needed: dwords, most }.into());
        }
        let capacity = (2 * self.memory.capacity()).min(limit).max(used + dwords + tail);
        let larger = IbMemory::new(&self.device, capacity, self.placement);
        let mut larger = larger.map_err(VideoError::from).inspect_err(|error| self.poison(error.clone()))?;
        larger.rewind(larger.capacity().min(limit) - tail);
        let recorded = self.memory.chunk().get(..used).unwrap_or_default();
        if let Some(room) = larger.take(recorded.len()) {
            room.copy_from_slice(recorded);
        }
        self.memory = larger;
        Ok(())
    }

    /// Returns the dwords of the IB, to read and patch them: first the [`VideoStream::len`] recorded ones, then the window.
    pub fn chunk(&mut self) -> &mut [u32] {
        self.memory.chunk()
    }

    /// Returns the number of dwords recorded so far.
    pub fn len(&self) -> usize {
        self.memory.used()
    }

    /// Returns `true` if nothing has been recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Records NOPs until the length of the IB plus `leave` dwords is one that the engine requires, see
    /// [`VideoQueue::padding`](super::VideoQueue::padding). Only callers that copy the IB elsewhere need this;
    /// [`VideoStream::finish`] pads by itself.
    ///
    /// # Errors
    ///
    /// The errors of [`VideoStream::grow`].
    pub fn pad(&mut self, leave: usize) -> Result<(), VideoError> {
        self.grow(self.tail())?;
        self.fill(leave);
        Ok(())
    }

    /// Records the commands of a list for the same IP, and keeps the memory that they access.
    ///
    /// # Errors
    ///
    /// * [`VideoError::OtherEngine`] if the list is for another IP;
    /// * [`VideoError::Winsys`] with [`ForeignDevice`](WinsysError::ForeignDevice) if it is of another device;
    /// * the errors of [`VideoStream::grow`].
    pub fn copy(&mut self, list: &VideoList) -> Result<(), VideoError> {
        if list.ip() != self.ip {
            return Err(VideoError::OtherEngine { recorded: list.ip(), ip: self.ip });
        }
        if *list.device() != self.device {
            return Err(WinsysError::ForeignDevice { what: "command list" }.into());
        }
        let commands = list.commands();
        self.grow(commands.len())?;
        if let Some(room) = self.memory.take(commands.len()) {
            room.copy_from_slice(commands);
        }
        let Kept { bindings, sets } = list.kept();
        bindings.as_slice().iter().for_each(|binding| self.keep(binding));
        sets.as_slice().iter().for_each(|set| self.keep_set(set));
        self.status()
    }

    /// Keeps memory resident, and alive, whenever the list runs. If the process has no memory for the reference, the stream is
    /// poisoned.
    pub fn keep(&mut self, binding: &Binding) {
        let added = self.kept.bindings.add(binding);
        self.noted(added);
    }

    /// Keeps the members of a set resident, and alive, whenever the list runs: those at the time of the submission. If the process
    /// has no memory for the reference, the stream is poisoned.
    pub fn keep_set(&mut self, set: &ResidencySet) {
        let added = self.kept.sets.add(set);
        self.noted(added);
    }

    fn noted(&mut self, added: Result<(), NoHostMemory>) {
        if let Err(error) = added {
            self.poison(error.of(STREAM).into());
        }
    }

    /// Returns an error if the stream is poisoned.
    ///
    /// # Errors
    ///
    /// The first error that poisoned the stream.
    pub fn status(&self) -> Result<(), VideoError> {
        self.poison.clone().map_or(Ok(()), Err)
    }

    #[cold]
    fn poison(&mut self, error: VideoError) {
        if self.poison.is_none() {
            tracing::warn!(%error, "a stream for a video engine is poisoned");
            self.poison = Some(error);
        }
        self.memory.shut();
    }

    /// Discards all recorded commands, including an error, and keeps the memory.
    pub fn clear(&mut self) {
        self.kept.bindings.clear();
        self.kept.sets.clear();
        self.poison = None;
        let limit = self.memory.capacity().min(ib::MOST_DWORDS as usize) - self.tail();
        self.memory.rewind(limit);
    }

    /// Pads the IB and closes the stream. On engines that ignore NOPs an empty stream becomes one block of NOPs; for UVD, whose
    /// kernel driver refuses IBs without a message, and for encoders, which have no NOPs, it has no IB.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_pad`; Linux 6.12
    /// `amdgpu_uvd.c`, `amdgpu_uvd_ring_parse_cs`.
    ///
    /// # Errors
    ///
    /// The error that poisoned the stream, if it is poisoned.
    pub fn finish(mut self) -> Result<VideoList, VideoError> {
        self.status()?;
        let recorded = self.len();
        self.memory.extend(self.tail());
        self.fill(0);
        let Self { device, ip, memory, kept, .. } = self;
        Ok(VideoList::new(device, ip, memory, recorded, kept))
    }

    /// Pads with NOPs, for which there must be room.
    fn fill(&mut self, leave: usize) {
        let missing = match self.len() + leave {
            0 if self.ip == Ip::Uvd => 0,
            0 => self.tail(),
            used => used.next_multiple_of(self.tail()) - used,
        };
        for dword in ib::nops(self.ip, missing) {
            if let Some([place]) = self.memory.take_array() {
                *place = dword;
            }
        }
    }

    /// Returns the room for padding at the end of the memory, in dwords.
    fn tail(&self) -> usize {
        ib::unit(self.device.info(), self.ip)
    }
}
