//! R231, R233 and R234: rules of user queues after Linux 6.17.

use amdgpu_sim::{KernelRelease, LockupTimeout, SimDevice, SimOptions, profile};
use amdgpu_uapi::{Errno, WedgedEvent};
use amdgpu_winsys::{
    uapi::{USERQ_SECURE, Userq, UserqSignal, UserqWait},
    winsys::Ip,
};

use super::rig::Bench;
use crate::support::{HANG, PAGE, address, long};

fn card(kernel: KernelRelease) -> SimDevice {
    let lockup_timeout = LockupTimeout::all(HANG);
    SimDevice::new(
        profile("navi31").unwrap(),
        SimOptions { user_queues: true, lockup_timeout, ..SimOptions::of_kernel(kernel) },
    )
}

// Checks R231.
#[test]
fn secure_queues_of_copy_engines_alone_need_encrypted_memory() {
    for (ip, expected) in [(Ip::Gfx, Ok(())), (Ip::Compute, Ok(())), (Ip::Sdma, Err(Errno::EINVAL))] {
        let bench = Bench::new(&card(KernelRelease::V7_2), ip);
        let mut secure = Userq { flags: USERQ_SECURE, ..bench.question() };
        assert_eq!(bench.file.send(&mut secure), expected, "{ip}");
    }
}

// Checks R233.
#[test]
fn a_queue_with_a_late_fence_is_reset_alone_and_from_linux_7_3_on_its_process_is_named() {
    for (kernel, is_named) in [(KernelRelease::V7_2, false), (KernelRelease::V7_3, true)] {
        let card = card(kernel);
        let (bench, other) = (Bench::new(&card, Ip::Gfx), Bench::new(&card, Ip::Gfx));
        let (queue, healthy) = (bench.create().unwrap(), other.create().unwrap());
        bench.push(&[0xc002_3f00, 0x6000_0000, 0, 8 | 1 << 23]);
        bench.ring_doorbell();
        bench.await_complaint("fetching commands failed");
        let syncobj = bench.file.syncobj(false);
        bench.tell(bench.pointer().max(1));
        bench.signal(queue, syncobj).unwrap();
        assert_eq!(bench.file.wait_syncobj(syncobj, long().cast_signed(), 0), Ok(()));
        let events = card.machine().uevents_after(0);
        let events: Vec<_> = events.iter().map(|event| WedgedEvent::parse(&event.message).unwrap()).collect();
        let [event] = &events[..] else { panic!("{kernel}: {events:?}") };
        assert_eq!((event.methods.as_str(), event.process.is_some()), ("none", is_named), "{kernel}");
        assert!(event.process.iter().all(|(pid, _)| *pid == std::process::id()));
        other.push_ib(&other.store(0, 7));
        other.ring_doorbell();
        other.await_value(0, 7);
        other.free(healthy).unwrap();
    }
}

// Checks R234.
#[test]
fn the_same_bo_twice_is_ealready_until_linux_7_2() {
    for (kernel, expected) in [(KernelRelease::V7_2, Err(Errno::EALREADY)), (KernelRelease::V7_3, Ok(()))] {
        let bench = Bench::new(&card(kernel), Ip::Gfx);
        let queue_id = bench.create().unwrap();
        let bo = bench.file.create(PAGE);
        let (once, twice) = ([bo], [bo, bo]);
        let signal = |bos: &[u32], written: &[u32]| {
            let (bo_read_handles, num_bo_read_handles) = (address(bos), bos.len() as u32);
            let (bo_write_handles, num_bo_write_handles) = (address(written), written.len() as u32);
            bench.file.send(&mut UserqSignal {
                queue_id,
                bo_read_handles,
                num_bo_read_handles,
                bo_write_handles,
                num_bo_write_handles,
                ..UserqSignal::ZEROED
            })
        };
        assert_eq!([signal(&twice, &[]), signal(&[], &twice), signal(&once, &once)], [expected; 3], "{kernel}");
        assert_eq!(signal(&once, &[]), Ok(()), "{kernel}");
        let (bo_read_handles, num_bo_read_handles) = (address(&twice), 2);
        let wait = UserqWait { waitq_id: queue_id, bo_read_handles, num_bo_read_handles, ..UserqWait::ZEROED };
        assert_eq!(bench.file.send(&mut { wait }), expected, "{kernel}");
    }
}
