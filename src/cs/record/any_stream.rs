//! Streams whose packet language is known at run time.

use crate::{
    cs::{
        CommandList, EncodeError, Execution, IbPlacement, IbPool, Inclusion, RecordResult as Result, Stream, Target,
        pm4, sdma,
    },
    vamgr::GpuVa,
    winsys::{Binding, Device, ResidencySet},
};

/// A stream for any kind of ring, for command buffers that cannot be generic over the packet language.
///
/// [`window`](AnyStream::window) and [`reserve`](AnyStream::reserve) record dwords for every ring. To record typed packets, match
/// the variant.
///
/// ```
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{cs::{AnyStream, Target, pm4}, winsys::{Device, Ip}};
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// for ip in [Ip::Gfx, Ip::Sdma] {
///     let target = Target::new(device.info().gfx_level, ip).ok_or("no packets")?;
///     let mut stream = AnyStream::new(&device, target, 64)?;
///     if let AnyStream::Pm4(stream) = &mut stream {
///         stream.push(&pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH))?;
///     }
///     stream.pad(0)?;
///     assert_eq!(stream.finish()?.target(), target);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum AnyStream {
    /// A stream for a graphics or compute ring.
    Pm4(Stream<pm4::Target>),
    /// A stream for a copy engine.
    Sdma(Stream<sdma::Version>),
}

impl From<Stream<pm4::Target>> for AnyStream {
    fn from(stream: Stream<pm4::Target>) -> Self {
        Self::Pm4(stream)
    }
}

impl From<Stream<sdma::Version>> for AnyStream {
    fn from(stream: Stream<sdma::Version>) -> Self {
        Self::Sdma(stream)
    }
}

/// Calls a method of the stream in the variant.
macro_rules! each {
    ($any:expr, $stream:ident => $call:expr) => {
        match $any {
            AnyStream::Pm4($stream) => $call,
            AnyStream::Sdma($stream) => $call,
        }
    };
}

impl AnyStream {
    /// Creates a stream for a kind of ring and generation, see [`Stream::new`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::new`].
    pub fn new(device: &Device, target: Target, dwords: usize) -> Result<Self> {
        Ok(match target {
            Target::Pm4(target) => Stream::new(device, target, dwords)?.into(),
            Target::Sdma(version) => Stream::new(device, version, dwords)?.into(),
        })
    }

    /// Creates a stream with IBs in the given kind of memory, see [`Stream::with_placement`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::new`].
    pub fn with_placement(device: &Device, target: Target, dwords: usize, placement: IbPlacement) -> Result<Self> {
        Ok(match target {
            Target::Pm4(target) => Stream::with_placement(device, target, dwords, placement)?.into(),
            Target::Sdma(version) => Stream::with_placement(device, version, dwords, placement)?.into(),
        })
    }

    /// Creates a stream for [`AnyStream::execute`], see [`Stream::secondary`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::new`].
    pub fn secondary(device: &Device, target: Target, dwords: usize) -> Result<Self> {
        Ok(match target {
            Target::Pm4(target) => Stream::secondary(device, target, dwords)?.into(),
            Target::Sdma(version) => Stream::secondary(device, version, dwords)?.into(),
        })
    }

    /// Creates a stream whose IBs come from a pool and return to it, see [`IbPool::stream`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::new`].
    pub fn of_pool(pool: &IbPool, target: Target, dwords: usize) -> Result<Self> {
        Ok(match target {
            Target::Pm4(target) => pool.stream(target, dwords)?.into(),
            Target::Sdma(version) => pool.stream(version, dwords)?.into(),
        })
    }

    /// Reuses the memory of a list for a new stream of the same ring, see [`CommandList::record_again`].
    ///
    /// # Errors
    ///
    /// The list itself if it cannot be reused, see [`CommandList::record_again`].
    pub fn record_again(list: CommandList) -> Result<Self, CommandList> {
        Ok(match list.target() {
            Target::Pm4(target) => list.record_again(target)?.into(),
            Target::Sdma(version) => list.record_again(version)?.into(),
        })
    }

    /// Returns the ring and generation that the stream is recorded for.
    pub fn target(&self) -> Target {
        each!(self, stream => stream.language().into())
    }

    /// Keeps memory alive and resident whenever the list runs, see [`Stream::keep`].
    pub fn keep(&mut self, binding: &Binding) {
        each!(self, stream => stream.keep(binding));
    }

    /// Keeps the members of a set alive and resident whenever the list runs, see [`Stream::keep_set`].
    pub fn keep_set(&mut self, set: &ResidencySet) {
        each!(self, stream => stream.keep_set(set));
    }

    /// Returns the free dwords of the current IB, see [`Stream::window`].
    #[inline]
    pub fn window(&mut self) -> &mut [u32] {
        each!(self, stream => stream.window())
    }

    /// Counts dwords of the window as recorded, see [`Stream::advance`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::advance`].
    #[inline]
    pub fn advance(&mut self, dwords: usize) -> Result<()> {
        each!(self, stream => stream.advance(dwords))
    }

    /// Ensures that the window has at least `dwords` dwords, see [`Stream::grow`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::grow`].
    #[inline]
    pub fn grow(&mut self, dwords: usize) -> Result<()> {
        each!(self, stream => stream.grow(dwords))
    }

    /// Returns the dwords of the current IB, see [`Stream::chunk`].
    #[inline]
    pub fn chunk(&mut self) -> &mut [u32] {
        each!(self, stream => stream.chunk())
    }

    /// Returns the number of dwords recorded in the current IB.
    #[inline]
    pub fn chunk_len(&self) -> usize {
        each!(self, stream => stream.chunk_len())
    }

    /// Records NOPs up to the alignment of an IB, see [`Stream::pad`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::pad`].
    pub fn pad(&mut self, leave: usize) -> Result<()> {
        each!(self, stream => stream.pad(leave))
    }

    /// Returns space for exactly `dwords` dwords, which count as recorded, see [`Stream::reserve`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::reserve`].
    #[inline]
    pub fn reserve(&mut self, dwords: usize) -> Result<&mut [u32]> {
        each!(self, stream => stream.reserve(dwords))
    }

    /// Records text for readers of a dump, see [`Stream::annotate`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::annotate`].
    pub fn annotate(&mut self, text: &str) -> Result<()> {
        each!(self, stream => stream.annotate(text))
    }

    /// Executes a command list at this point of the stream, see [`Stream::execute`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::execute`].
    pub fn execute(&mut self, list: &CommandList, inclusion: Inclusion) -> Result<Execution> {
        each!(self, stream => stream.execute(list, inclusion))
    }

    /// Executes commands that the GPU generates, see [`Stream::detour`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::detour`], and [`RecordError::Encode`](crate::cs::RecordError::Encode) if the stream is for a copy engine.
    pub fn detour(&mut self, va: GpuVa, dwords: usize, trailer: GpuVa) -> Result<()> {
        match self {
            Self::Pm4(stream) => stream.detour(va, dwords, trailer),
            Self::Sdma(stream) => {
                let (packet, target) = ("INDIRECT_BUFFER", stream.language().into());
                Err(EncodeError::NoSuchPacket { packet, target }.into())
            }
        }
    }

    /// Returns an error if the stream is poisoned, see [`Stream::status`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::status`].
    pub fn status(&self) -> Result<()> {
        each!(self, stream => stream.status())
    }

    /// Returns the number of dwords recorded so far, see [`Stream::len`].
    pub fn len(&self) -> usize {
        each!(self, stream => stream.len())
    }

    /// Returns `true` if nothing has been recorded.
    pub fn is_empty(&self) -> bool {
        each!(self, stream => stream.is_empty())
    }

    /// Returns the number of dwords that can be recorded before the stream grows.
    pub fn remaining(&self) -> usize {
        each!(self, stream => stream.remaining())
    }

    /// Discards all recorded commands, see [`Stream::clear`].
    pub fn clear(&mut self) {
        each!(self, stream => stream.clear());
    }

    /// Closes the stream into a command list, see [`Stream::finish`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::finish`].
    pub fn finish(self) -> Result<CommandList> {
        each!(self, stream => stream.finish())
    }
}
