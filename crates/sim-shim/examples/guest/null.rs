//! The guest on the null kernel.
#![expect(unsafe_code, reason = "a function of the preload library, found by its name")]

use std::path::Path;

use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, pm4},
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    winsys::{Context, Deadline, Device, Ip, Priority},
};

use crate::node::{RENDER, census};

/// The library comes up on it, allocates, maps, submits and waits; and the server hears nothing of it.
pub(crate) fn null() {
    let device = Device::open(Path::new(RENDER)).expect("bring-up");
    assert_eq!(device.info().chip_name(), "NAVI21");
    let manager = MemoryManager::new(&device, &TableOptions::default()).expect("tables");
    for _ in 0..3 {
        let memory = manager.allocate(&AllocateInfo::new(5, 2 << 20)).expect("memory");
        let mapping = memory.map().expect("a mapping");
        assert_eq!(mapping.load_u32(4096).expect("in range"), 0);
        mapping.store_u32(4096, 1).expect("in range");
    }
    let context = Context::new(&device, Priority::Normal).expect("a context");
    let queue = Queue::new(&context, Ip::Gfx, 0).expect("a queue");
    let stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64).expect("a stream");
    let list = stream.finish().expect("a list");
    let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() }).expect("submitted");
    assert_eq!(queue.in_flight(), 0, "it is done when submit returns");
    assert!(fence.wait(Deadline::at(0)).expect("not lost"));
    assert!(census().contains(" bos 0 "), "{}", census());
    requests_are_counted(&device);
}

/// The preload library counts requests between a start and a stop, and no others.
fn requests_are_counted(device: &Device) {
    // SAFETY: a name that ends with a zero.
    let count = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"amdgpu_sim_null_count".as_ptr()) };
    assert!(!count.is_null());
    // SAFETY: the preload library's function, which has this type.
    let count: extern "C" fn(bool) -> u64 = unsafe { std::mem::transmute(count) };
    let ask = || {
        device.timestamp().expect("a timestamp");
    };
    ask();
    count(true);
    (0..7).for_each(|_| ask());
    assert_eq!(count(false), 7, "between a start and a stop");
    ask();
    assert_eq!(count(false), 7, "it has stopped");
    assert_eq!((count(true), count(false)), (7, 0), "and starts from 0");
}
