//! The commands that every ring has.

use super::{atomic::Atomic, barrier::Barrier, error::Result, span::Span};
use crate::{
    cs::{Target, pm4::Compare},
    vamgr::GpuVa,
};

/// A point in the pipeline that earlier work must have passed.
///
/// ```
/// use amdgpu_winsys::{
///     cs::{Stream, Submission, commands::{Barrier, Commands, Point, Recorder, Span}},
///     winsys::Deadline,
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let at = memory.address();
/// let mut recorder = Recorder::new(Stream::new(&device, target, 256)?);
/// recorder.timestamp(at, Point::Top)?; // as soon as the command is fetched
/// recorder.fill(Span::of(memory.binding(), 1024, 1024)?, 7)?;
/// recorder.barrier(Barrier::TRANSFER)?;
/// recorder.timestamp(at.checked_add(8).ok_or("no address")?, Point::Bottom)?; // when the fill is done
/// let (list, used) = (recorder.finish()?, [memory.binding().clone()]);
/// queue.submit(&Submission { lists: &[&list], memory: &used, ..Submission::default() })?.wait(Deadline::NEVER)?;
/// assert!(memory.map()?.load_u64(0)? <= memory.map()?.load_u64(8)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// The top of the pipe: as soon as the command is fetched, by PFP on the graphics ring.
    Top,
    /// ME has passed on what came before.
    Front,
    /// Pixel shaders are done. Graphics rings only.
    PixelShaders,
    /// Compute shaders are done.
    ComputeShaders,
    /// Everything is done, copies too.
    Bottom,
}

/// Value of an event that is set.
pub const EVENT_SET: u32 = 1;

/// Value of an event that is not set.
pub const EVENT_RESET: u32 = 0;

/// Commands that can be recorded for every ring. See the [module](crate::cs::commands) for the packets they become.
///
/// Every method can answer [`CommandError::Stream`](super::CommandError::Stream) with what
/// [`Stream::push`](crate::cs::Stream::push) answers; the other errors are named.
///
/// ```
/// use amdgpu_winsys::{
///     cs::{Stream, commands::{self, Commands, Recorder, Span}, pm4, sdma},
///     winsys::Binding,
/// };
///
/// /// Clears a buffer on a ring of any kind.
/// fn clear(commands: &mut impl Commands, buffer: &Binding) -> commands::Result<()> {
///     commands.fill(Span::of(buffer, 0, buffer.len())?, 0)
/// }
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let level = device.info().gfx_level;
/// let mut graphics = Recorder::new(Stream::new(&device, pm4::Target::gfx(level), 64)?);
/// let mut copies = Recorder::new(Stream::new(&device, sdma::Version::of(level), 64)?);
/// clear(&mut graphics, memory.binding())?;
/// clear(&mut copies, memory.binding())?;
/// assert!(!graphics.stream().is_empty() && !copies.stream().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Commands {
    /// Returns the ring and generation that the packets are for.
    fn target(&self) -> Target;

    /// Copies bytes between ranges of one length that do not overlap.
    ///
    /// # Errors
    ///
    /// [`CommandError::Lengths`](super::CommandError::Lengths),
    /// [`CommandError::Overlap`](super::CommandError::Overlap).
    fn copy(&mut self, to: Span, from: Span) -> Result<()>;

    /// Fills a range with a pattern.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`](super::CommandError::Misaligned) unless address and length are multiples of 4.
    fn fill(&mut self, to: Span, pattern: u32) -> Result<()>;

    /// Stores dwords that the stream holds.
    ///
    /// # Errors
    ///
    /// [`CommandError::Lengths`](super::CommandError::Lengths) unless the range is as long as the data,
    /// [`CommandError::Misaligned`](super::CommandError::Misaligned) unless it begins at a multiple of 4.
    fn update(&mut self, to: Span, data: &[u32]) -> Result<()>;

    /// Stores the GPU's reference counter, 64 bits. The copy engine always waits for what is before.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`](super::CommandError::Misaligned) unless `at` is a multiple of 8;
    /// [`CommandError::Unsupported`](super::CommandError::Unsupported) for the end of shaders, and on the copy engine
    /// of GFX6.
    fn timestamp(&mut self, at: GpuVa, after: Point) -> Result<()>;

    /// Stores a dword: an event, a marker, a fence.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`](super::CommandError::Misaligned) unless `at` is a multiple of 4;
    /// [`CommandError::Unsupported`](super::CommandError::Unsupported) for pixel shaders where there are none.
    fn store(&mut self, at: GpuVa, value: u32, after: Point) -> Result<()>;

    /// Waits until the dword at `at`, masked, compares with `reference`.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`](super::CommandError::Misaligned) unless `at` is a multiple of 4.
    fn wait(&mut self, at: GpuVa, function: Compare, reference: u32, mask: u32) -> Result<()>;

    /// Orders the commands before and after it, see [`Barrier`].
    ///
    /// # Errors
    ///
    /// Only the stream's.
    fn barrier(&mut self, barrier: Barrier) -> Result<()>;

    /// Changes a dword or qword in one step.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`](super::CommandError::Misaligned) unless `at` is a multiple of the operand's size;
    /// [`CommandError::Unsupported`](super::CommandError::Unsupported) on copy engines before 3.0.
    fn atomic(&mut self, at: GpuVa, atomic: Atomic) -> Result<()>;

    /// Waits for outstanding copies. Call it before packets of your own that access copied data; the end of a list waits for them
    /// too.
    ///
    /// # Errors
    ///
    /// Only the stream's.
    fn settle(&mut self) -> Result<()>;

    /// Sets an event when earlier work has passed a point.
    ///
    /// # Errors
    ///
    /// As for [`Commands::store`].
    fn set_event(&mut self, at: GpuVa, after: Point) -> Result<()> {
        self.store(at, EVENT_SET, after)
    }

    /// Resets an event when earlier work has passed a point.
    ///
    /// # Errors
    ///
    /// As for [`Commands::store`].
    fn reset_event(&mut self, at: GpuVa, after: Point) -> Result<()> {
        self.store(at, EVENT_RESET, after)
    }

    /// Waits until an event is set. Does not flush or invalidate caches; record a [`Barrier`] after it.
    ///
    /// # Errors
    ///
    /// As for [`Commands::wait`].
    fn wait_event(&mut self, at: GpuVa) -> Result<()> {
        self.wait(at, Compare::Equal, EVENT_SET, u32::MAX)
    }
}
