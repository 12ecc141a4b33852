//! A mapping that many threads ask for is made by one.

mod support;

use std::sync::{Arc, atomic::Ordering::SeqCst};

use amdgpu_winsys_interleaved::heaps::{AllocateInfo, DeviceMemory, MemoryManager, TableOptions};
use shuttle::thread;
use support::{Rig, in_many_orders};

/// Cached system memory on the RX 6800.
const CACHED: u32 = 5;

fn memory(rig: &Rig) -> Arc<DeviceMemory> {
    let manager = MemoryManager::new(&rig.device, &TableOptions::default()).expect("a manager");
    Arc::new(manager.allocate(&AllocateInfo::new(CACHED, 4096)).expect("memory"))
}

/// Maps in several threads, each of which stores through its mapping and returns if it sees its value.
fn map_in_threads(memory: &Arc<DeviceMemory>, threads: u64) -> Vec<bool> {
    let threads: Vec<_> = (0..threads)
        .map(|number| {
            let memory = Arc::clone(memory);
            thread::spawn(move || {
                let Ok(mapping) = memory.map() else { return false };
                mapping.store_u32(number * 4, number as u32 + 1).expect("inside");
                let first = &raw const *mapping;
                drop(mapping);
                std::ptr::eq(first, &raw const *memory.mapping().expect("it is there"))
            })
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
}

#[test]
fn one_thread_maps_and_all_get_its_mapping() {
    in_many_orders(|| {
        let rig = Rig::new();
        let memory = memory(&rig);
        assert_eq!(map_in_threads(&memory, 3), [true; 3]);
        assert_eq!(rig.counts.mapped.load(SeqCst), 1, "mapped once");
        let mapping = memory.mapping().expect("it is there");
        assert_eq!([0, 4, 8].map(|at| mapping.load_u32(at)), [Ok(1), Ok(2), Ok(3)]);
        drop(mapping);
        drop(memory);
        assert_eq!(rig.gpu.census().bos, 0);
    });
}

#[test]
fn after_a_failure_the_next_thread_tries_again() {
    in_many_orders(|| {
        let rig = Rig::new();
        let memory = memory(&rig);
        rig.counts.to_fail.store(1, SeqCst);
        let done = map_in_threads(&memory, 3);
        assert_eq!(done.iter().filter(|done| **done).count(), 2, "one thread alone is told of the failure");
        assert_eq!(rig.counts.mapped.load(SeqCst), 1);
    });
}

/// Each thread uses its mapping after it has unmapped; the last to use it takes it away.
#[test]
fn what_a_thread_uses_is_not_taken_away_and_nothing_is_left() {
    in_many_orders(|| {
        let rig = Rig::new();
        let memory = memory(&rig);
        let threads: Vec<_> = (0..3_u64)
            .map(|number| {
                let memory = Arc::clone(&memory);
                thread::spawn(move || {
                    let mapping = memory.map().expect("a mapping");
                    mapping.store_u32(number * 4, 1).expect("inside");
                    memory.unmap();
                    mapping.load_u32(number * 4)
                })
            })
            .collect();
        for thread in threads {
            assert_eq!(thread.join().expect("no panic"), Ok(1));
        }
        memory.unmap();
        assert!(memory.mapping().is_none());
        drop(memory);
        assert_eq!(rig.gpu.census().bos, 0);
    });
}
