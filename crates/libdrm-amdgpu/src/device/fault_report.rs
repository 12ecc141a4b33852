//! Reports of page faults.

use amdgpu_winsys::{
    uapi::{GpuvmFault, query},
    vamgr::GpuVa,
    winsys::PageFault,
};

use super::{Device, facts::ask};
use crate::border::complain;

/// Prints the last fault of a device's file with what is mapped there, once.
pub(crate) fn report(device: &Device) {
    let Some(faults) = &device.faults else { return };
    let mut answer = [GpuvmFault::ZEROED];
    let Ok(kernel) = device.kernel() else { return };
    if ask(&kernel, query::GPUVM_FAULT, [0; 4], &mut answer).is_err() {
        return;
    }
    let [GpuvmFault { addr, status, vmhub, .. }] = answer;
    if addr == 0 {
        return;
    }
    let fault = PageFault { page: GpuVa::from_48_bits(addr), status, hub: vmhub };
    if let Some(told) = faults.explain(&fault) {
        complain(format_args!("amdgpu-winsys: {}: {told}", device.title().to_string_lossy()));
    }
}
