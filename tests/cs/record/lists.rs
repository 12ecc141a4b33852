//! Helpers of tests about lists: targets, a run, and the dwords of memory and of lists.

use crate::support::job_time;
use amdgpu_winsys::{
    cs::{CommandList, Queue, Submission, pm4},
    heaps::DeviceMemory,
    winsys::Device,
};

pub(crate) fn gfx(device: &Device) -> pm4::Target {
    pm4::Target::gfx(device.info().gfx_level)
}

pub(crate) fn compute(device: &Device) -> pm4::Target {
    pm4::Target::compute(device.info().gfx_level)
}

pub(crate) fn run(queue: &Queue, list: &CommandList, memory: &DeviceMemory) {
    let bindings = [memory.binding().clone()];
    let fence = queue.submit(&Submission { lists: &[list], memory: &bindings, ..Submission::default() }).unwrap();
    assert!(fence.wait(job_time()).unwrap());
    // Retired with an ioctl-free look, so that only the test has the list.
    assert_eq!(queue.in_flight(), 0);
}

pub(crate) fn dwords(memory: &DeviceMemory, count: u64) -> Vec<u32> {
    (0..count).map(|at| memory.mapping().unwrap().load_u32(at * 4).unwrap()).collect()
}

/// A store of `value` to dword `at`.
pub(crate) fn store<'a>(memory: &DeviceMemory, at: u64, value: &'a [u32; 1]) -> pm4::WriteData<'a> {
    pm4::WriteData::new(memory.address().checked_add(4 * at).unwrap(), value)
}

/// The last dwords of each IB.
pub(crate) fn tails(list: &CommandList) -> Vec<[u32; 4]> {
    list.dwords().map(|dwords| *dwords.last_chunk().unwrap()).collect()
}
