//! Closed streams of video engines.

use super::{VideoIb, kept::Kept};
use crate::{
    cs::ib::memory::IbMemory,
    vamgr::GpuVa,
    winsys::{Binding, Device, Ip, Resident},
};

/// A closed [`VideoStream`](super::VideoStream): an IB, and references to the memory that it accesses.
///
/// As [`Resident`], it stands for that memory, and a [`VideoSubmission`](super::VideoSubmission) lists it beside
/// [its IB](VideoList::ib).
///
/// ```
/// use amdgpu_winsys::{cs::{VideoError, VideoStream}, winsys::{Ip, Resident}};
///
/// # let options = amdgpu_sim::SimOptions { video: true, ..amdgpu_sim::SimOptions::default() };
/// # let gpu = amdgpu_sim::SimDevice::new(amdgpu_sim::profile("navi21").ok_or("no such chip")?, options);
/// # let device = amdgpu_winsys::winsys::Device::new(gpu.open())?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let picture = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(0, 4096))?;
/// let mut stream = VideoStream::new(&device, Ip::VcnDec, 64)?;
/// stream.keep(picture.binding());
/// let list = stream.finish()?;
/// assert_eq!((list.ib().map(|ib| ib.dwords), list.binding_count()), (Some(16), 1)); // a block of NOPs
///
/// let stream = list.record_again().map_err(|_list| "a queue still has it")?;
/// assert!(stream.is_empty());
/// let encode = VideoStream::new(&device, Ip::VcnEnc, 64)?.finish()?;
/// assert!(encode.ib().is_none()); // an encoder has no NOPs
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct VideoList {
    device: Device,
    ip: Ip,
    memory: IbMemory,
    /// Length in dwords, without padding.
    recorded: usize,
    kept: Kept,
}

impl VideoList {
    pub(super) fn new(device: Device, ip: Ip, memory: IbMemory, recorded: usize, kept: Kept) -> Self {
        let mut memory = memory;
        memory.fix(memory.used());
        Self { device, ip, memory, recorded, kept }
    }

    /// Returns the IP that the list was recorded for.
    pub fn ip(&self) -> Ip {
        self.ip
    }

    /// Returns the device of the list.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the IB to submit; `None` if it has no dwords, which no ring accepts.
    pub fn ib(&self) -> Option<VideoIb<'_>> {
        let dwords = u32::try_from(self.len()).ok().filter(|&dwords| dwords > 0)?;
        Some(VideoIb { memory: self.memory.binding(), offset: 0, dwords })
    }

    /// Returns the GPU address of the IB.
    pub fn address(&self) -> GpuVa {
        self.memory.address()
    }

    /// Returns the length of the IB in dwords, including padding.
    pub fn len(&self) -> usize {
        self.memory.used()
    }

    /// Returns `true` if the IB has no dwords.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the dwords of the IB, including padding. Reading is slow unless the list was recorded in cached memory.
    pub fn dwords(&self) -> &[u32] {
        self.memory.fixed()
    }

    /// Returns the recorded dwords, without padding.
    pub(super) fn commands(&self) -> &[u32] {
        self.dwords().get(..self.recorded).unwrap_or_default()
    }

    pub(super) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// Returns `true` if a queue or someone else has a handle of the memory of the IB.
    pub(super) fn is_used(&self) -> bool {
        self.memory.binding().handle_count() > 1
    }

    /// Returns the device, the IP, the memory of the IB, and the references.
    pub(super) fn into_parts(self) -> (Device, Ip, IbMemory, Kept) {
        (self.device, self.ip, self.memory, self.kept)
    }
}

impl Resident for VideoList {
    fn each_binding(&self, each: &mut dyn FnMut(&Binding)) {
        self.kept.bindings.as_slice().each_binding(each);
        for set in self.kept.sets.as_slice() {
            set.snapshot().each_binding(each);
        }
    }

    fn binding_count(&self) -> usize {
        let sets = self.kept.sets.as_slice().iter().map(|set| set.snapshot().len());
        self.kept.bindings.as_slice().len() + sets.sum::<usize>()
    }
}
