//! The recorder, which writes commands to a stream.

use super::{Commands, Result};
use crate::{
    cs::{self, Breadcrumbs, CommandList, Execution, Inclusion, Language, Marker, Packet, PacketWriter, Stream},
    winsys::Binding,
};

/// A recorder that writes [`Commands`] to a stream and tracks the state that later commands depend on.
///
/// ```
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{
///     cs::{Breadcrumbs, Stream, commands::Recorder, pm4},
///     winsys::Device,
/// };
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let crumbs = Breadcrumbs::new(&device)?;
/// let mut recorder = Recorder::new(Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 256)?);
/// recorder.begin_mark(&crumbs, 1)?;
/// recorder.packet_writer(4)?.put([0xc000_1000, 1])?;
/// recorder.reserve(2)?.copy_from_slice(&[0xc000_1000, 2]);
/// recorder.end_mark(&crumbs, 1)?;
/// let mut stream = recorder.into_stream()?; // continues without the recorder
/// stream.push(&pm4::Nop::Bare)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Recorder<L: Language> {
    pub(super) stream: Stream<L>,
    /// `true` if a CP DMA operation may be incomplete.
    pub(super) dma_is_busy: bool,
}

impl<L: Language> Recorder<L> {
    /// Creates a recorder that appends to a stream. No CP DMA operation of the stream may be incomplete.
    pub const fn new(stream: Stream<L>) -> Self {
        Self { stream, dma_is_busy: false }
    }

    /// Returns the stream that the recorder writes to.
    pub const fn stream(&self) -> &Stream<L> {
        &self.stream
    }

    /// Appends a packet, see [`Stream::push`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::push`].
    #[inline]
    pub fn push<P: Packet<Language = L>>(&mut self, packet: &P) -> cs::RecordResult<()> {
        self.stream.push(packet)
    }

    /// Records an annotation, see [`Stream::annotate`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::annotate`].
    pub fn annotate(&mut self, text: &str) -> cs::RecordResult<()> {
        self.stream.annotate(text)
    }

    /// Executes a command list at this point of the stream, see [`Stream::execute`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::execute`].
    pub fn execute(&mut self, list: &CommandList, inclusion: Inclusion) -> cs::RecordResult<Execution> {
        self.stream.execute(list, inclusion)
    }

    /// Keeps memory alive and resident whenever the list runs, see [`Stream::keep`].
    pub fn keep(&mut self, binding: &Binding) {
        self.stream.keep(binding);
    }

    /// Returns space for exactly `dwords` dwords of packets that are already encoded, see [`Stream::reserve`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::reserve`].
    #[inline]
    pub fn reserve(&mut self, dwords: usize) -> cs::RecordResult<&mut [u32]> {
        self.stream.reserve(dwords)
    }

    /// Returns a writer with space for at most `dwords` dwords of small packets, see [`Stream::packet_writer`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::reserve`].
    #[inline]
    pub fn packet_writer(&mut self, dwords: usize) -> cs::RecordResult<PacketWriter<'_, L>> {
        self.stream.packet_writer(dwords)
    }

    /// Records a write of `mark` when the ring reaches this point, see [`Breadcrumbs::begin`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::push`].
    pub fn begin_mark(&mut self, breadcrumbs: &Breadcrumbs, mark: u32) -> cs::RecordResult<()>
    where
        L: Marker,
    {
        self.stream.keep(breadcrumbs.binding());
        breadcrumbs.begin(&mut self.stream, mark)
    }

    /// Records a write of `mark` once all earlier commands have completed, see [`Breadcrumbs::end`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::push`].
    pub fn end_mark(&mut self, breadcrumbs: &Breadcrumbs, mark: u32) -> cs::RecordResult<()>
    where
        L: Marker,
    {
        self.stream.keep(breadcrumbs.binding());
        breadcrumbs.end(&mut self.stream, mark)
    }

    /// Discards all recorded commands, see [`Stream::clear`].
    pub fn clear(&mut self) {
        self.stream.clear();
        self.dma_is_busy = false;
    }
}

impl<L: Language> Recorder<L>
where
    Self: Commands,
{
    /// Records a wait for incomplete copies and returns the stream.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::push`].
    pub fn into_stream(mut self) -> Result<Stream<L>> {
        self.settle()?;
        Ok(self.stream)
    }

    /// Records a wait for incomplete copies and closes the stream, see [`Stream::finish`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::finish`].
    pub fn finish(mut self) -> Result<CommandList> {
        self.settle()?;
        Ok(self.stream.finish()?)
    }
}
