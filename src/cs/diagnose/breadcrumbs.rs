//! Breadcrumbs: marks that record how far a ring has progressed.

use crate::{
    cs::{Marker, RecordResult as Result, Stream, record::marker_page::MarkerPage},
    vamgr::GpuVa,
    winsys::{Binding, Device},
};

/// Two dwords in system memory that commands of a stream write: the last mark that the ring has reached, and the last mark before
/// which all work has completed. If the GPU hangs, the cause is between these two marks.
///
/// Each queue needs its own breadcrumbs. Every submission that writes marks must list the [binding](Breadcrumbs::binding).
///
/// ```
/// use amdgpu_winsys::{cs::{Breadcrumbs, Progress, Stream, Submission}, winsys::Deadline};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let crumbs = Breadcrumbs::new(&device)?;
/// let mut stream = Stream::new(&device, target, 64)?;
/// for draw in 1..=3 {
///     crumbs.begin(&mut stream, draw)?;
///     crumbs.end(&mut stream, draw)?;
/// }
/// let (list, used) = (stream.finish()?, [crumbs.binding().clone()]);
/// queue.submit(&Submission { lists: &[&list], memory: &used, ..Submission::default() })?.wait(Deadline::NEVER)?;
/// assert_eq!(crumbs.progress(), Progress { begun: 3, done: 3 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Breadcrumbs {
    page: MarkerPage,
}

/// The progress of a ring: the last marks that it wrote, or 0 before the first mark.
///
/// ```
/// use amdgpu_winsys::{cs::{Breadcrumbs, Progress, Stream, Submission}, winsys::Deadline};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let crumbs = Breadcrumbs::new(&device)?;
/// let mut stream = Stream::new(&device, target, 64)?;
/// crumbs.begin(&mut stream, 1)?;
/// crumbs.end(&mut stream, 1)?;
/// crumbs.begin(&mut stream, 2)?; // without an end
/// let (list, used) = (stream.finish()?, [crumbs.binding().clone()]);
/// queue.submit(&Submission { lists: &[&list], memory: &used, ..Submission::default() })?.wait(Deadline::NEVER)?;
/// let Progress { begun, done } = crumbs.progress();
/// assert_eq!((begun, done), (2, 1)); // the hang is after mark 1 and before the end of mark 2
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The last mark that the ring has reached.
    pub begun: u32,
    /// The last mark before which all work has completed.
    pub done: u32,
}

/// Indices of the dwords, which are in separate cache lines.
const BEGUN: usize = 0;
const DONE: usize = 16;

impl Breadcrumbs {
    /// Creates breadcrumbs without marks.
    ///
    /// # Errors
    ///
    /// [`RecordError::Address`](crate::cs::RecordError::Address) if there is no GPU address; [`RecordError::Winsys`](crate::cs::RecordError::Winsys) if the
    /// allocation fails.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { page: MarkerPage::new(device)? })
    }

    /// Returns the binding, which every submission that writes marks must list.
    pub fn binding(&self) -> &Binding {
        self.page.binding()
    }

    /// Records a write of `mark` when the ring reaches this point; earlier commands may still run. The caller chooses `mark`, for
    /// example the number of a draw; it must not be 0.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::push`].
    pub fn begin<L: Marker>(&self, stream: &mut Stream<L>, mark: u32) -> Result<()> {
        L::note(stream, self.page.at(BEGUN), mark)
    }

    /// Records a write of `mark` once all earlier commands have completed. The GPU waits at the end of the pipe.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::push`].
    pub fn end<L: Marker>(&self, stream: &mut Stream<L>, mark: u32) -> Result<()> {
        L::store(stream, self.page.at(DONE), mark)
    }

    /// Returns the current progress of the ring.
    pub fn progress(&self) -> Progress {
        Progress { begun: self.page.load(BEGUN), done: self.page.load(DONE) }
    }

    /// Returns the address and the value of the last mark before which all work has completed.
    pub(super) fn done_mark(&self) -> (GpuVa, u32) {
        (self.page.at(DONE), self.page.load(DONE))
    }

    /// Returns the address and the value of the last mark that the ring has reached.
    pub(super) fn last_mark(&self) -> (GpuVa, u32) {
        let Progress { begun, done } = self.progress();
        if begun == 0 { (self.page.at(DONE), done) } else { (self.page.at(BEGUN), begun) }
    }
}
