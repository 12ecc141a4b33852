//! R152: whatever a queue's memory holds, the queue hangs alone.

use amdgpu_uapi::Errno;
use amdgpu_winsys::winsys::Ip;

use super::rig::{Bench, RING_BYTES, card};
use crate::support::{long, open};

/// A queue of another file works.
fn works(device: &amdgpu_sim::SimDevice) {
    let bench = Bench::of_file(open(device), Ip::Gfx, 0x4000_0000);
    bench.create().unwrap();
    bench.push_ib(&bench.store(0, 7));
    bench.ring_doorbell();
    bench.await_value(0, 7);
}

/// A queue of an engine that hangs after this, and another one that does not.
fn hangs(ip: Ip, words: &str, spoil: impl FnOnce(&Bench)) {
    let card = card();
    let bench = Bench::new(&card, ip);
    let queue = bench.create().unwrap();
    spoil(&bench);
    bench.await_complaint(words);
    works(&card);
    // A fence behind it ends with an error, once it is overdue.
    let syncobj = bench.file.syncobj(false);
    bench.tell(bench.pointer().max(1));
    bench.signal(queue, syncobj).unwrap();
    assert_eq!(bench.file.wait_syncobj(syncobj, long().cast_signed(), 0), Ok(()));
    bench.free(queue).unwrap();
    works(&card);
}

// Checks R152.
#[test]
fn a_write_pointer_that_runs_away_hangs_its_queue_alone() {
    hangs(Ip::Gfx, "does not follow the read pointer", |bench| bench.tell(RING_BYTES / 4 + 1));
    hangs(Ip::Compute, "does not follow the read pointer", |bench| bench.tell(u64::MAX));
    hangs(Ip::Sdma, "does not follow the read pointer", |bench| bench.tell(2));
}

// Checks R152.
#[test]
fn a_ring_without_packets_hangs_its_queue_alone() {
    hangs(Ip::Gfx, "begins no packet", |bench| bench.tell(8));
    hangs(Ip::Gfx, "goes beyond the write pointer", |bench| {
        bench.push(&[0xc002_3f00, 0]);
        bench.ring_doorbell();
    });
    hangs(Ip::Sdma, "unknown packet", |bench| {
        bench.push(&[0xff, 0xff]);
        bench.ring_doorbell();
    });
}

// Checks R152.
#[test]
fn a_ring_that_is_gone_hangs_its_queue_alone() {
    hangs(Ip::Gfx, "fetching the ring failed", |bench| {
        bench.push_ib(&bench.store(0, 1));
        bench.unbind_ring();
        bench.ring_doorbell();
    });
}

// Checks R152.
#[test]
fn an_ib_that_is_nowhere_hangs_its_queue_alone() {
    for ip in [Ip::Gfx, Ip::Compute] {
        hangs(ip, "fetching commands failed", |bench| {
            bench.push(&[0xc002_3f00, 0x6000_0000, 0, 8 | 1 << 23]);
            bench.ring_doorbell();
        });
    }
}

// Checks R152.
#[test]
fn a_wait_without_end_is_over_when_its_fence_is_overdue() {
    let bench = Bench::new(&card(), Ip::Gfx);
    let queue = bench.create().unwrap();
    bench.push(&[0xc004_d100, 0, 0x1000_0000, 0, u32::MAX, u32::MAX]);
    bench.push_ib(&bench.store(0, 1));
    bench.ring_doorbell();
    let syncobj = bench.file.syncobj(false);
    bench.signal(queue, syncobj).unwrap();
    assert_eq!(bench.file.wait_syncobj(syncobj, 0, 0), Err(Errno::ETIME));
    assert_eq!(bench.file.wait_syncobj(syncobj, long().cast_signed(), 0), Ok(()));
    bench.await_complaint("gave up waiting");
    assert_eq!(bench.load(0), 0);
}

// Checks R152.
#[test]
fn a_queue_whose_wait_has_no_end_can_be_freed() {
    let bench = Bench::new(&card(), Ip::Sdma);
    let queue = bench.create().unwrap();
    bench.push(&[0x8 | 3 << 28 | 1 << 31, 0x1000_0000, 0, 1, u32::MAX, 0x0fff_0010]);
    bench.ring_doorbell();
    bench.free(queue).unwrap();
    assert_eq!(bench.file.0.census().user_queues, 0);
}
