//! R150 to R151, R154: fences of user queues for others, fences of others for user queues, and page tables on a timeline.

use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{GemVaTimeline, SyncobjWaitFlags, UserqFenceInfo, UserqSignal, UserqWait, VaOperation},
    winsys::Ip,
};

use super::rig::{Bench, card};
use crate::support::{PAGE, RWX, address, address_mut, long, open};

const FOR_SUBMIT: u32 = SyncobjWaitFlags::WAIT_FOR_SUBMIT.bits();

/// The fences of a sync object, as a queue can wait for them.
fn fences_of(bench: &Bench, waitq_id: u32, syncobj: u32, room: u16) -> Result<Vec<UserqFenceInfo>, Errno> {
    let (handles, mut infos) = ([syncobj], [UserqFenceInfo::ZEROED; 4]);
    let mut request = UserqWait {
        waitq_id,
        syncobj_handles: address(&handles),
        num_syncobj_handles: 1,
        num_fences: room,
        out_fences: address_mut(&mut infos),
        ..UserqWait::ZEROED
    };
    bench.file.send(&mut request)?;
    Ok(infos[..request.num_fences.into()].to_vec())
}

// Checks R150.
#[test]
fn a_signalled_sync_object_means_that_the_queue_came_to_its_write_pointer() {
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        let bench = Bench::new(&card(), ip);
        let queue = bench.create().unwrap();
        let syncobj = bench.file.syncobj(false);
        for value in 1..20 {
            bench.push_ib(&bench.store(0, value));
            bench.ring_doorbell();
            bench.signal(queue, syncobj).unwrap();
            bench.file.wait_syncobj(syncobj, long().cast_signed(), FOR_SUBMIT).unwrap();
            assert_eq!(bench.load(0), value, "{ip}");
        }
    }
}

// Checks R150.
#[test]
fn a_bo_that_a_queue_uses_is_busy_until_its_fence() {
    let bench = Bench::new(&card(), Ip::Gfx);
    let queue_id = bench.create().unwrap();
    let bo = bench.file.create(PAGE);
    bench.push_ib(&bench.store(0, 1));
    bench.tell_memory_only();
    let handles = [bo];
    let (bo_write_handles, num_bo_write_handles) = (address(&handles), 1);
    let request = UserqSignal { queue_id, bo_write_handles, num_bo_write_handles, ..UserqSignal::ZEROED };
    bench.file.send(&mut { request }).unwrap();
    assert!(!bench.is_idle(bo));
    bench.ring_doorbell();
    bench.await_value(0, 1);
    bench.await_read(bench.pointer());
    while !bench.is_idle(bo) {}
}

// Checks R150.
#[test]
fn what_signal_refuses() {
    let bench = Bench::new(&card(), Ip::Gfx);
    let queue_id = bench.create().unwrap();
    assert_eq!(bench.signal(99, bench.file.syncobj(false)), Err(Errno::ENOENT));
    assert_eq!(bench.signal(queue_id, 99), Err(Errno::ENOENT));
    let handles = [77];
    let bo_read_handles = address(&handles);
    let unknown = UserqSignal { queue_id, bo_read_handles, num_bo_read_handles: 1, ..UserqSignal::ZEROED };
    assert_eq!(bench.file.send(&mut { unknown }), Err(Errno::ENOENT));
    let many = UserqSignal { queue_id, num_bo_read_handles: 1 << 17, ..UserqSignal::ZEROED };
    assert_eq!(bench.file.send(&mut { many }), Err(Errno::EINVAL));
    bench.unbind_write_pointer();
    assert_eq!(bench.signal(queue_id, bench.file.syncobj(false)), Err(Errno::EINVAL));
}

// Checks R151.
#[test]
fn a_queue_waits_for_another_files_fence_by_address_and_value() {
    let card = card();
    let first = Bench::new(&card, Ip::Gfx);
    let queue = first.create().unwrap();
    let syncobj = first.file.syncobj(false);
    first.push_ib(&first.store(0, 1));
    first.tell_memory_only();
    first.signal(queue, syncobj).unwrap();
    let count = |room| fences_of(&first, queue, syncobj, room).map(|infos| infos.len());
    assert_eq!(count(0), Ok(1), "the number of fences");
    assert_eq!(fences_of(&first, 99, syncobj, 1), Err(Errno::EINVAL), "no such queue");
    let [info] = fences_of(&first, queue, syncobj, 4).unwrap()[..] else { panic!("one fence") };
    assert_eq!(info.value, first.pointer());

    // The address means the same in every file.
    let second = Bench::of_file(open(&card), Ip::Compute, 0x2000_0000);
    second.create().unwrap();
    let halves = |wide: u64| [wide as u32, (wide >> 32) as u32];
    let ([va, va_high], [value, value_high]) = (halves(info.va), halves(info.value));
    second.push(&[0xc004_d100, 0, va, va_high, value, value_high]);
    second.push_ib(&second.store(0, 2));
    second.ring_doorbell();
    std::thread::sleep(std::time::Duration::from_millis(10));
    assert_eq!(second.load(0), 0, "it waits");
    first.ring_doorbell();
    second.await_value(0, 2);
    assert_eq!(first.load(0), 1);
}

// Checks R151.
#[test]
fn fences_of_jobs_are_waited_for_and_not_told() {
    let bench = Bench::new(&card(), Ip::Gfx);
    let queue = bench.create().unwrap();
    let done = bench.file.syncobj(true);
    assert_eq!(fences_of(&bench, queue, done, 1), Ok(vec![]));
}

// Checks R154.
#[test]
fn page_tables_tell_a_timeline_when_they_are_there() {
    let file = open(&card());
    let (bo, timeline) = (file.create(PAGE), file.syncobj(false));
    let map = GemVaTimeline {
        handle: bo,
        operation: VaOperation::Map as u32,
        flags: RWX.bits(),
        va_address: 0x10_0000,
        map_size: PAGE,
        vm_timeline_point: 5,
        vm_timeline_syncobj_out: timeline,
        ..GemVaTimeline::ZEROED
    };
    assert_eq!(file.send(&mut GemVaTimeline { vm_timeline_syncobj_out: 99, ..map }), Err(Errno::ENOENT));
    assert_eq!(file.query_syncobj(timeline, 0), 0);
    file.send(&mut { map }).unwrap();
    assert_eq!(file.query_syncobj(timeline, 0), 5);
    let empty = [file.syncobj(false)];
    let (num_syncobj_handles, input_fence_syncobj_handles) = (1, address(&empty));
    let behind = GemVaTimeline { num_syncobj_handles, input_fence_syncobj_handles, ..map };
    assert_eq!(file.send(&mut { behind }), Err(Errno::EINVAL), "it waits for nothing");
    let unmap = GemVaTimeline { operation: VaOperation::Unmap as u32, vm_timeline_point: 6, ..map };
    file.send(&mut { unmap }).unwrap();
    assert_eq!(file.query_syncobj(timeline, 0), 6);
}
