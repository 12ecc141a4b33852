//! A recorder for any ring, and the queue that runs what it records.

use amdgpu_winsys::{
    cs::{
        CommandList, Queue, Stream, Submission, Target,
        commands::{Commands, Recorder, Span},
        pm4, sdma,
    },
    heaps::DeviceMemory,
    winsys::{Device, Ip},
};

use crate::support::{job_time, queue};

/// The rings that take commands.
pub(crate) const IPS: [Ip; 3] = [Ip::Gfx, Ip::Compute, Ip::Sdma];

/// Records commands for a ring that is only known now.
pub(crate) fn record(device: &Device, target: Target, commands: impl FnOnce(&mut dyn Commands)) -> CommandList {
    match target {
        Target::Pm4(target) => {
            let mut recorder = pm4_recorder(device, target);
            commands(&mut recorder);
            recorder.finish().unwrap()
        }
        Target::Sdma(version) => {
            let mut recorder = sdma_recorder(device, version);
            commands(&mut recorder);
            recorder.finish().unwrap()
        }
    }
}

pub(crate) fn pm4_recorder(device: &Device, target: pm4::Target) -> Recorder<pm4::Target> {
    Recorder::new(Stream::new(device, target, 1).unwrap())
}

pub(crate) fn sdma_recorder(device: &Device, version: sdma::Version) -> Recorder<sdma::Version> {
    Recorder::new(Stream::new(device, version, 1).unwrap())
}

/// Every dword of a list, IB by IB.
pub(crate) fn dwords(list: &CommandList) -> Vec<u32> {
    list.dwords().flatten().collect()
}

/// A queue and the memory that its jobs work on.
pub(crate) struct Rig<'a> {
    pub(crate) device: &'a Device,
    pub(crate) memory: &'a DeviceMemory,
    pub(crate) queue: Queue,
}

impl<'a> Rig<'a> {
    pub(crate) fn new(device: &'a Device, memory: &'a DeviceMemory, ip: Ip) -> Self {
        Self { device, memory, queue: queue(device, ip, 0) }
    }

    /// Records for the queue's ring and runs it.
    pub(crate) fn run(&self, commands: impl FnOnce(&mut dyn Commands)) {
        self.submit(&record(self.device, self.queue.target(), commands));
    }

    pub(crate) fn submit(&self, list: &CommandList) {
        let bindings = [self.memory.binding().clone()];
        let submission = Submission { lists: &[list], memory: &bindings, ..Submission::default() };
        assert!(self.queue.submit(&submission).unwrap().wait(job_time()).unwrap());
    }

    pub(crate) fn span(&self, offset: u64, bytes: u64) -> Span {
        Span::of(self.memory.binding(), offset, bytes).unwrap()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.memory.size() as usize];
        self.memory.mapping().unwrap().read(0, &mut bytes).unwrap();
        bytes
    }

    pub(crate) fn u32_at(&self, offset: u64) -> u32 {
        self.memory.mapping().unwrap().load_u32(offset).unwrap()
    }

    pub(crate) fn u64_at(&self, offset: u64) -> u64 {
        self.memory.mapping().unwrap().load_u64(offset).unwrap()
    }

    pub(crate) fn put(&self, offset: u64, value: u32) {
        self.memory.mapping().unwrap().store_u32(offset, value).unwrap();
    }
}
