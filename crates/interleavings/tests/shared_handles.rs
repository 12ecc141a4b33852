//! The kernel returns one handle for a BO and does not count references: one close closes it for all. So imports and closes of
//! shared handles exclude each other.

mod support;

use std::{os::fd::OwnedFd, sync::Arc};

use amdgpu_winsys_interleaved::{
    heaps::{AllocateFlags, AllocateInfo, MemoryManager, TableOptions},
    winsys::{Bo, Device},
};
use shuttle::thread;
use support::{Rig, in_many_orders};

/// Cached system memory on the RX 6800.
const CACHED: u32 = 5;
const SIZE: u64 = 4096;

/// Imports a BO that is open already, and drops it.
fn import_and_drop(device: &Device, file: &OwnedFd, times: usize) {
    for _ in 0..times {
        let bo = Bo::import(device, file).expect("an import");
        assert_eq!(bo.create_info().expect("the handle is open").size, SIZE);
    }
}

#[test]
fn an_import_is_open_until_it_is_dropped_whoever_drops_another_meanwhile() {
    in_many_orders(|| {
        let rig = Rig::new();
        let manager = MemoryManager::new(&rig.device, &TableOptions::default()).expect("a manager");
        let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(CACHED, SIZE) };
        let memory = manager.allocate(&info).expect("memory");
        let file = Arc::new(memory.bo().export().expect("an export"));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (device, file) = (rig.device.clone(), Arc::clone(&file));
                thread::spawn(move || import_and_drop(&device, &file, 2))
            })
            .collect();
        drop(memory);
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert_eq!(rig.device.usage_tracker().usage().total(), 0, "charged as often as taken off");
        drop(file);
        assert_eq!(rig.gpu.census().bos, 0, "and closed in the end");
    });
}

/// The first export of a BO, by two threads at once: it is listed once, and closed once.
#[test]
fn two_first_exports_at_once_list_a_handle_once() {
    in_many_orders(|| {
        let rig = Rig::new();
        let manager = MemoryManager::new(&rig.device, &TableOptions::default()).expect("a manager");
        let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(CACHED, SIZE) };
        let memory = Arc::new(manager.allocate(&info).expect("memory"));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (device, memory) = (rig.device.clone(), Arc::clone(&memory));
                thread::spawn(move || {
                    let file = memory.bo().export().expect("an export");
                    drop(memory);
                    import_and_drop(&device, &file, 1);
                })
            })
            .collect();
        drop(memory);
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert_eq!((rig.device.usage_tracker().usage().total(), rig.gpu.census().bos), (0, 0));
    });
}
