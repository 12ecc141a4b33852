//! R149 and R153: what a doorbell starts, and how a queue ends.

use std::time::Duration;

use amdgpu_uapi::Errno;
use amdgpu_winsys::winsys::Ip;

use super::rig::{Bench, RING_BYTES, card};

const ENGINES: [Ip; 3] = [Ip::Gfx, Ip::Compute, Ip::Sdma];

// Checks R149.
#[test]
fn a_store_to_the_doorbell_runs_what_the_ring_holds() {
    for ip in ENGINES {
        let bench = Bench::new(&card(), ip);
        bench.create().unwrap();
        bench.push_ib(&bench.store(0, 7));
        bench.ring_doorbell();
        bench.await_value(0, 7);
        bench.await_read(bench.pointer());
        assert_eq!(bench.file.complaints(), "", "{ip}");
    }
}

// Checks R149.
#[test]
fn nothing_runs_without_the_doorbell_and_nothing_beyond_it() {
    let bench = Bench::new(&card(), Ip::Gfx);
    bench.create().unwrap();
    bench.push_ib(&bench.store(0, 1));
    let first = bench.pointer();
    bench.push_ib(&bench.store(4, 2));
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(bench.load(0), 0);
    bench.tell(first);
    bench.await_read(first);
    assert_eq!([bench.load(0), bench.load(4)], [1, 0]);
}

// Checks R149.
#[test]
fn a_ring_goes_round_also_within_a_packet() {
    for ip in ENGINES {
        let bench = Bench::new(&card(), ip);
        bench.create().unwrap();
        let mut value = 0;
        while bench.pointer() * if ip == Ip::Sdma { 1 } else { 4 } < 3 * RING_BYTES {
            value += 1;
            bench.push_ib(&bench.store(8, value));
            // Packets of the ring itself.
            bench.push(&bench.store(12, value));
            bench.ring_doorbell();
            bench.await_read(bench.pointer());
            assert_eq!([bench.load(8), bench.load(12)], [value; 2], "{ip}");
        }
        assert_eq!(bench.file.complaints(), "", "{ip}");
    }
}

// Checks R149.
#[test]
fn a_queue_sees_bindings_of_after_its_begin() {
    let bench = Bench::new(&card(), Ip::Sdma);
    bench.create().unwrap();
    let late = bench.file.create(0x1000);
    bench.file.bind(late, 0x7000_0000, 0x1000).unwrap();
    bench.push_ib(&[0x2, 0x7000_0000, 0, 0, 5]);
    bench.ring_doorbell();
    bench.file.view(late, 0x1000).await_value(0, 5);
}

// Checks R153.
#[test]
fn a_queue_that_is_freed_runs_nothing_more_and_its_doorbell_serves_the_next() {
    let bench = Bench::new(&card(), Ip::Compute);
    let queue = bench.create().unwrap();
    bench.push_ib(&bench.store(0, 1));
    bench.ring_doorbell();
    bench.await_value(0, 1);
    bench.free(queue).unwrap();
    bench.push_ib(&bench.store(0, 2));
    bench.ring_doorbell();
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(bench.load(0), 1);
    // The next queue starts at the begin of the ring, and not with what the doorbell was told before.
    bench.create().unwrap();
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(bench.load(0), 1);
    assert_eq!(bench.file.complaints(), "");
}

// Checks R153.
#[test]
fn closing_the_file_ends_its_queues_and_their_fences() {
    let card = card();
    let bench = Bench::new(&card, Ip::Gfx);
    let queue = bench.create().unwrap();
    bench.push_ib(&bench.store(0, 1));
    // The doorbell is not rung: the fence never comes.
    bench.tell_memory_only();
    let syncobj = bench.file.syncobj(false);
    bench.signal(queue, syncobj).unwrap();
    assert_eq!(bench.file.wait_syncobj(syncobj, 0, 0), Err(Errno::ETIME));
    bench.free(queue).unwrap();
    assert_eq!(bench.file.wait_syncobj(syncobj, 0, 0), Ok(()), "it was cancelled");
    bench.create().unwrap();
    drop(bench);
    assert_eq!((card.census().files, card.census().bos), (0, 0));
}
