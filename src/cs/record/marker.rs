//! Markers: dwords that a ring writes to memory or waits for.

use crate::{
    cs::{CommandList, Language, RecordResult as Result, Stream, Target, pm4, sdma},
    vamgr::GpuVa,
    winsys::Device,
};

/// A packet language that can store a dword and wait for one. Both packet languages implement it with their own packets.
///
/// ```
/// use amdgpu_winsys::{cs::{Marker, RecordResult, Stream, pm4, sdma}, vamgr::GpuVa};
///
/// /// Stores 1 when all earlier commands have completed, on any kind of ring.
/// fn set<L: Marker>(stream: &mut Stream<L>, at: GpuVa) -> RecordResult<()> {
///     L::store(stream, at, 1)
/// }
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let level = device.info().gfx_level;
/// let mut graphics = Stream::new(&device, pm4::Target::gfx(level), 64)?;
/// let mut copies = Stream::new(&device, sdma::Version::of(level), 64)?;
/// set(&mut graphics, memory.address())?;
/// set(&mut copies, memory.address())?;
/// assert!(graphics.len() > copies.len()); // an end-of-pipe event is longer than a fence of four dwords
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Marker: Language {
    /// Records a store of a dword that executes when the ring reaches it. Earlier commands may still run.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::push`].
    fn note(stream: &mut Stream<Self>, at: GpuVa, value: u32) -> Result<()>;

    /// Records a store of a dword that executes when all earlier commands have completed, with the additional packets that some
    /// generations need, see [`Stream::end_of_pipe`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::push`].
    fn store(stream: &mut Stream<Self>, at: GpuVa, value: u32) -> Result<()>;

    /// Records a wait until the dword at `at` equals `value`.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::push`].
    fn wait_for(stream: &mut Stream<Self>, at: GpuVa, value: u32) -> Result<()>;
}

impl Marker for pm4::Target {
    fn note(stream: &mut Stream<Self>, at: GpuVa, value: u32) -> Result<()> {
        stream.push(&pm4::WriteData::new(at, &[value]))
    }

    fn store(stream: &mut Stream<Self>, at: GpuVa, value: u32) -> Result<()> {
        stream.end_of_pipe(pm4::EndOfPipe::fence(at, value))
    }

    fn wait_for(stream: &mut Stream<Self>, at: GpuVa, value: u32) -> Result<()> {
        stream.push(&pm4::WaitRegMem::new(at, pm4::Compare::Equal, value))
    }
}

/// The copy engine executes its commands one after another, so a note and a store are the same.
impl Marker for sdma::Version {
    fn note(stream: &mut Stream<Self>, at: GpuVa, value: u32) -> Result<()> {
        Self::store(stream, at, value)
    }

    fn store(stream: &mut Stream<Self>, at: GpuVa, value: u32) -> Result<()> {
        stream.push(&sdma::Fence::new(stream.language(), at, value))
    }

    fn wait_for(stream: &mut Stream<Self>, at: GpuVa, value: u32) -> Result<()> {
        stream.push(&sdma::PollMem::new(at, pm4::Compare::Equal, value))
    }
}

/// A step of a list that only stores and waits for markers.
#[derive(Clone, Copy, Debug)]
pub(in crate::cs) enum Step {
    Store(GpuVa, u32),
    WaitFor(GpuVa, u32),
}

/// Records steps for a ring whose language is only known at run time. Without steps, the list has only NOPs.
pub(in crate::cs) fn record(device: &Device, target: Target, steps: &[Step]) -> Result<CommandList> {
    match target {
        Target::Pm4(target) => record_in(device, target, steps),
        Target::Sdma(version) => record_in(device, version, steps),
    }
}

fn record_in<L: Marker>(device: &Device, language: L, steps: &[Step]) -> Result<CommandList> {
    let mut stream = Stream::new(device, language, 64)?;
    for step in steps {
        match *step {
            Step::Store(at, value) => L::store(&mut stream, at, value)?,
            Step::WaitFor(at, value) => L::wait_for(&mut stream, at, value)?,
        }
    }
    stream.finish()
}
