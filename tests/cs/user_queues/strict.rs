//! User queues on a simulator that checks what their rings lack.

use amdgpu_sim::{SimDevice, SimOptions, Strictness};
use amdgpu_winsys::{
    cs::UserQueue,
    winsys::{Device, Ip},
};

use super::{at, newer};
use crate::support::{
    chip, host_memory, job_time,
    jobs::{load, store},
};

#[test]
fn a_user_queue_of_the_library_flushes_what_no_kernel_flushes() {
    for name in ["navi31", "gfx1201"] {
        let gpu = SimDevice::new(chip(name), SimOptions { strictness: Strictness::Report, ..newer() });
        let device = Device::new(gpu.open()).unwrap();
        for ip in [Ip::Gfx, Ip::Compute] {
            let (memory, own) = (host_memory(&device, 4096), UserQueue::new(&device, ip).unwrap());
            assert!(own.wait_for_bindings(job_time()).unwrap());
            let list = store(&device, own.target(), at(&memory, 0), 7);
            let fence = own.submit(&[&list], &[&[memory.binding().clone()]]).unwrap();
            assert!(fence.wait(job_time()).unwrap());
            assert_eq!(load(&memory, 0), 7, "{name} {ip}");
        }
        assert!(gpu.hazards().is_empty(), "{name}: {:?}", gpu.hazards());
    }
}
