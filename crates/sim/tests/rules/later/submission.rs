//! R224 to R226 and R280: submissions, waits and options.

use amdgpu_sim::Features;
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{CsChunkIb, DevInfo, IbFlags, ProcOptions, WaitFences, chunk_id, query},
    winsys::Ip,
};

use super::{card_with, with_and_without};
use crate::support::{Chunk, Job, Rig, address};

// Checks R224.
#[test]
fn waiting_for_no_fence_is_einval() {
    let [file, old] = with_and_without(Features::STRICT_WAITS);
    let nothing: [u64; 1] = [0];
    let request = |wait_all| WaitFences { fences: address(&nothing), fence_count: 0, wait_all, timeout_ns: 0 };
    assert_eq!([0, 1].map(|all| file.send(&mut request(all))), [Err(Errno::EINVAL); 2]);
    assert_eq!([0, 1].map(|all| old.send(&mut request(all))), [Err(Errno::EINVAL), Ok(())]);
}

// Checks R225.
#[test]
fn ibs_of_the_constant_engine_are_einval_on_every_ring() {
    for (features, expected) in [(Features::NO_CONSTANT_ENGINE, Err(Errno::EINVAL)), (Features::empty(), Ok(()))] {
        let rig = Rig::new(&card_with(features));
        for ip in [Ip::Gfx, Ip::Compute] {
            let (va_start, ib_bytes) = rig.ib(&rig.store(ip, 0, 1));
            let plain = CsChunkIb { va_start, ib_bytes, ip_type: ip as u32, ..CsChunkIb::ZEROED };
            let ibs = [CsChunkIb { flags: IbFlags::CE.bits(), ..plain }, plain];
            let [flagged, plain] = ibs.map(|ib| Chunk::new(chunk_id::IB, &[ib]));
            let job = Job::new(rig.context).with(flagged).with(plain).with(Chunk::bos(&[rig.ibs, rig.data]));
            assert_eq!(job.send(&rig.file).map(drop), expected, "{ip}");
        }
    }
}

// Checks R226.
#[test]
fn dev_info_tells_that_several_rings_start_together() {
    let [new, old] = with_and_without(Features::GANG_FLAG).map(|file| {
        let info: DevInfo = file.info(query::DEV_INFO, [0; 4]).unwrap();
        info.ids_flags
    });
    assert_eq!(new, old | 0x10);
}

// Checks R280.
#[test]
fn options_of_a_process_have_one_operation_that_does_nothing_here() {
    let [file, old] = with_and_without(Features::PROC_OPTIONS);
    for value in [0, 1, u32::MAX] {
        assert_eq!(file.send(&mut ProcOptions { op: 0, value }), Ok(()));
        assert_eq!(file.send(&mut ProcOptions { op: 1, value }), Err(Errno::EINVAL));
        assert_eq!(old.send(&mut ProcOptions { op: 0, value }), Err(Errno::EINVAL));
    }
}
