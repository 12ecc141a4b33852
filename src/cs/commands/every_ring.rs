//! The trait of the commands that can be recorded for every ring.

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
/// recorder.timestamp(at, Point::Top)?; // when the command is fetched
/// recorder.fill(Span::of(memory.binding(), 1024, 1024)?, 7)?;
/// recorder.barrier(Barrier::TRANSFER)?;
/// recorder.timestamp(at.checked_add(8).ok_or("no address")?, Point::Bottom)?; // when the fill has finished
/// let (list, used) = (recorder.finish()?, [memory.binding().clone()]);
/// queue.submit(&Submission { lists: &[&list], memory: &used, ..Submission::default() })?.wait(Deadline::NEVER)?;
/// assert!(memory.map()?.load_u64(0)? <= memory.map()?.load_u64(8)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// The top of the pipe: the command has been fetched, on the graphics ring by PFP.
    Top,
    /// ME has processed the earlier commands and passed their work on.
    Front,
    /// Pixel shaders have finished. Graphics rings only.
    PixelShaders,
    /// Compute shaders have finished.
    ComputeShaders,
    /// All earlier work has finished, including copies.
    Bottom,
}

/// The value of an event that is set.
pub const EVENT_SET: u32 = 1;

/// The value of an event that is not set.
pub const EVENT_RESET: u32 = 0;

/// Commands that can be recorded for every ring. The [module](crate::cs::commands) lists their packets.
///
/// Every method can return [`CommandError::Stream`](super::CommandError::Stream) with the errors of
/// [`Stream::push`](crate::cs::Stream::push). The methods list only their other errors.
///
/// ```
/// use amdgpu_winsys::{
///     cs::{Stream, commands::{self, Commands, Recorder, Span}, pm4, sdma},
///     winsys::Binding,
/// };
///
/// /// Clears a buffer on any kind of ring.
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

    /// Copies bytes between two ranges of the same length that do not overlap.
    ///
    /// # Errors
    ///
    /// [`CommandError::Lengths`](super::CommandError::Lengths) if the ranges differ in length;
    /// [`CommandError::Overlap`](super::CommandError::Overlap) if they overlap.
    fn copy(&mut self, to: Span, from: Span) -> Result<()>;

    /// Fills a range with a repeated dword.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`](super::CommandError::Misaligned) unless the address and the length are multiples of 4.
    fn fill(&mut self, to: Span, pattern: u32) -> Result<()>;

    /// Stores `data` in a range of memory. The stream contains a copy of the data (`vkCmdUpdateBuffer`).
    ///
    /// # Errors
    ///
    /// [`CommandError::Lengths`](super::CommandError::Lengths) unless the range is as long as the data;
    /// [`CommandError::Misaligned`](super::CommandError::Misaligned) unless it begins at a multiple of 4.
    fn update(&mut self, to: Span, data: &[u32]) -> Result<()>;

    /// Stores the GPU's 64-bit reference counter at `at` when all earlier work has passed the point `after`. The copy engine always
    /// waits until earlier work has finished.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`](super::CommandError::Misaligned) unless `at` is a multiple of 8;
    /// [`CommandError::Unsupported`](super::CommandError::Unsupported) for [`Point::PixelShaders`] and [`Point::ComputeShaders`]
    /// on graphics and compute rings, and for all points on the copy engine of GFX6.
    fn timestamp(&mut self, at: GpuVa, after: Point) -> Result<()>;

    /// Stores the dword `value`, for example a marker or a fence, at `at` when all earlier work has passed the point `after`.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`](super::CommandError::Misaligned) unless `at` is a multiple of 4;
    /// [`CommandError::Unsupported`](super::CommandError::Unsupported) for [`Point::PixelShaders`] on compute rings and copy
    /// engines.
    fn store(&mut self, at: GpuVa, value: u32, after: Point) -> Result<()>;

    /// Waits until the dword at `at`, masked with `mask`, passes the comparison `function` with `reference`.
    ///
    /// # Errors
    ///
    /// [`CommandError::Misaligned`](super::CommandError::Misaligned) unless `at` is a multiple of 4.
    fn wait(&mut self, at: GpuVa, function: Compare, reference: u32, mask: u32) -> Result<()>;

    /// Records a barrier, which orders earlier and later commands: the waits and cache operations that the [`Barrier`] needs.
    ///
    /// # Errors
    ///
    /// [`CommandError::Stream`](super::CommandError::Stream) with the errors of [`Stream::push`](crate::cs::Stream::push).
    fn barrier(&mut self, barrier: Barrier) -> Result<()>;

    /// Executes an atomic operation on the dword or qword at `at`.
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
    /// [`CommandError::Stream`](super::CommandError::Stream) with the errors of [`Stream::push`](crate::cs::Stream::push).
    fn settle(&mut self) -> Result<()>;

    /// Sets the event at `at`: stores [`EVENT_SET`] there when all earlier work has passed the point `after`.
    ///
    /// # Errors
    ///
    /// The errors of [`Commands::store`].
    fn set_event(&mut self, at: GpuVa, after: Point) -> Result<()> {
        self.store(at, EVENT_SET, after)
    }

    /// Resets the event at `at`: stores [`EVENT_RESET`] there when all earlier work has passed the point `after`.
    ///
    /// # Errors
    ///
    /// The errors of [`Commands::store`].
    fn reset_event(&mut self, at: GpuVa, after: Point) -> Result<()> {
        self.store(at, EVENT_RESET, after)
    }

    /// Waits until the event at `at` is set. Does not flush or invalidate caches; record a [`Barrier`] after it.
    ///
    /// # Errors
    ///
    /// The errors of [`Commands::wait`].
    fn wait_event(&mut self, at: GpuVa) -> Result<()> {
        self.wait(at, Compare::Equal, EVENT_SET, u32::MAX)
    }
}
