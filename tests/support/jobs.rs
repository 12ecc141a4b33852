//! Command lists for whatever ring, and GPUs that take their time.

use std::time::Duration;

use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::{
    cs::{CommandList, Marker, Stream, Target},
    heaps::DeviceMemory,
    vamgr::GpuVa,
    winsys::{Context, Device, Priority},
};

use super::chip;

/// A list that stores a dword when what was before it is done.
pub(crate) fn store(device: &Device, target: Target, at: GpuVa, value: u32) -> CommandList {
    fn record<L: Marker>(device: &Device, language: L, at: GpuVa, value: u32) -> CommandList {
        let mut stream = Stream::new(device, language, 64).unwrap();
        L::store(&mut stream, at, value).unwrap();
        stream.finish().unwrap()
    }
    match target {
        Target::Pm4(target) => record(device, target, at, value),
        Target::Sdma(version) => record(device, version, at, value),
    }
}

/// A list that waits until a dword has a value.
pub(crate) fn wait_for(device: &Device, target: Target, at: GpuVa, value: u32) -> CommandList {
    fn record<L: Marker>(device: &Device, language: L, at: GpuVa, value: u32) -> CommandList {
        let mut stream = Stream::new(device, language, 64).unwrap();
        L::wait_for(&mut stream, at, value).unwrap();
        stream.finish().unwrap()
    }
    match target {
        Target::Pm4(target) => record(device, target, at, value),
        Target::Sdma(version) => record(device, version, at, value),
    }
}

/// A GPU that gives a stuck job up only after a minute.
pub(crate) fn patient_gpu(name: &str) -> SimDevice {
    SimDevice::new(chip(name), SimOptions::hanging_for(Duration::from_mins(1)))
}

/// A GPU that gives a stuck job up after 200 ms.
pub(crate) fn impatient_gpu(name: &str) -> SimDevice {
    SimDevice::new(chip(name), SimOptions::hanging_for(Duration::from_millis(200)))
}

/// A context of normal priority.
pub(crate) fn context(device: &Device) -> Context {
    Context::new(device, Priority::Normal).unwrap()
}

/// A dword of mapped memory.
pub(crate) fn load(memory: &DeviceMemory, offset: u64) -> u32 {
    memory.mapping().unwrap().load_u32(offset).unwrap()
}

/// Stores a dword into mapped memory.
pub(crate) fn poke(memory: &DeviceMemory, offset: u64, value: u32) {
    memory.mapping().unwrap().store_u32(offset, value).unwrap();
}
