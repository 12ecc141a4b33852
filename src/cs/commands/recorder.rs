//! The recorder of commands.

use super::{Commands, Result};
use crate::{
    cs::{self, Breadcrumbs, CommandList, Execution, Inclusion, Language, Marker, Packet, PacketWriter, Stream},
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::{GpuVa, VaRequest},
    winsys::{Binding, Bo, BoRequest, PAGE_SIZE},
};

/// A recorder of [`Commands`] into a stream, with the state that later commands depend on.
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
/// let mut stream = recorder.into_stream()?; // and goes on without commands
/// stream.push(&pm4::Nop::Bare)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Recorder<L: Language> {
    pub(super) stream: Stream<L>,
    /// CP DMA may be under way.
    pub(super) dma_is_busy: bool,
    /// Memory for stores that are never read.
    scratch: Option<GpuVa>,
}

impl<L: Language> Recorder<L> {
    /// Goes on in a stream in which no CP DMA is under way.
    pub const fn new(stream: Stream<L>) -> Self {
        Self { stream, dma_is_busy: false, scratch: None }
    }

    /// Returns the stream.
    pub const fn stream(&self) -> &Stream<L> {
        &self.stream
    }

    /// Appends a packet.
    ///
    /// # Errors
    ///
    /// As for [`Stream::push`].
    #[inline]
    pub fn push<P: Packet<Language = L>>(&mut self, packet: &P) -> cs::Result<()> {
        self.stream.push(packet)
    }

    /// Records an annotation, see [`Stream::annotate`].
    ///
    /// # Errors
    ///
    /// As for [`Stream::annotate`].
    pub fn annotate(&mut self, text: &str) -> cs::Result<()> {
        self.stream.annotate(text)
    }

    /// Runs a list here, see [`Stream::execute`].
    ///
    /// # Errors
    ///
    /// As for [`Stream::execute`].
    pub fn execute(&mut self, list: &CommandList, inclusion: Inclusion) -> cs::Result<Execution> {
        self.stream.execute(list, inclusion)
    }

    /// Keeps memory resident and alive for every run of the list, see [`Stream::keep`].
    pub fn keep(&mut self, binding: &Binding) {
        self.stream.keep(binding);
    }

    /// Returns room for packets that are already encoded, see [`Stream::reserve`].
    ///
    /// # Errors
    ///
    /// As for [`Stream::reserve`].
    #[inline]
    pub fn reserve(&mut self, dwords: usize) -> cs::Result<&mut [u32]> {
        self.stream.reserve(dwords)
    }

    /// Returns room for many small packets, see [`Stream::packet_writer`].
    ///
    /// # Errors
    ///
    /// As for [`Stream::reserve`].
    #[inline]
    pub fn packet_writer(&mut self, dwords: usize) -> cs::Result<PacketWriter<'_, L>> {
        self.stream.packet_writer(dwords)
    }

    /// Records a write of `mark` when the ring reaches this point, see [`Breadcrumbs::begin`].
    ///
    /// # Errors
    ///
    /// As for [`Stream::push`].
    pub fn begin_mark(&mut self, breadcrumbs: &Breadcrumbs, mark: u32) -> cs::Result<()>
    where
        L: Marker,
    {
        self.stream.keep(breadcrumbs.binding());
        breadcrumbs.begin(&mut self.stream, mark)
    }

    /// Marks that all that was recorded so far is done, see [`Breadcrumbs::end`].
    ///
    /// # Errors
    ///
    /// As for [`Stream::push`].
    pub fn end_mark(&mut self, breadcrumbs: &Breadcrumbs, mark: u32) -> cs::Result<()>
    where
        L: Marker,
    {
        self.stream.keep(breadcrumbs.binding());
        breadcrumbs.end(&mut self.stream, mark)
    }

    /// Forgets what was recorded, see [`Stream::clear`].
    pub fn clear(&mut self) {
        self.stream.clear();
        self.dma_is_busy = false;
        self.scratch = None;
    }

    /// Returns 4 KiB that the GPU may write and that are never read; the stream keeps them alive.
    pub(super) fn scratch(&mut self) -> cs::Result<GpuVa> {
        if let Some(scratch) = self.scratch {
            return Ok(scratch);
        }
        let device = self.stream.device();
        let lease = device.addresses().allocate(VaRequest::new(PAGE_SIZE))?;
        let request = BoRequest {
            size: PAGE_SIZE,
            alignment: PAGE_SIZE,
            domains: GemDomain::GTT,
            flags: GemCreateFlags::NO_CPU_ACCESS,
        };
        let bo = Bo::create(device, request)?;
        let flags = VaFlags::READABLE | VaFlags::WRITEABLE;
        let binding = Binding::new(&bo, lease, flags).map_err(|(_lease, error)| error)?;
        self.stream.keep(&binding);
        self.scratch = Some(binding.address());
        Ok(binding.address())
    }
}

impl<L: Language> Recorder<L>
where
    Self: Commands,
{
    /// Waits for what is under way and gives the stream back.
    ///
    /// # Errors
    ///
    /// As for [`Stream::push`].
    pub fn into_stream(mut self) -> Result<Stream<L>> {
        self.settle()?;
        Ok(self.stream)
    }

    /// Waits for what is under way and closes the stream, see [`Stream::finish`].
    ///
    /// # Errors
    ///
    /// As for [`Stream::finish`].
    pub fn finish(mut self) -> Result<CommandList> {
        self.settle()?;
        Ok(self.stream.finish()?)
    }
}
