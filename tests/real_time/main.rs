//! A thread with a real-time priority does not starve the holder of a lock that it waits for.
#![expect(unsafe_code, reason = "the standard library sets no priorities of threads")]

use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    vamgr::VaWindow,
    winsys::Device,
};
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};

/// Keeps the calling thread on the first processor that the process may use, so that all threads of a test share one.
fn pin() {
    let (this, mut one) = (Pid::from_raw(0), CpuSet::new());
    let allowed = sched_getaffinity(this).unwrap();
    let first = (0..CpuSet::count()).find(|&cpu| allowed.is_set(cpu).unwrap_or(false)).unwrap();
    one.set(first).unwrap();
    sched_setaffinity(this, &one).unwrap();
}

/// Gives the calling thread a real-time priority. Returns `false` if the process may not do that; the thread is then an ordinary one.
fn be_real_time() -> bool {
    let parameter = libc::sched_param { sched_priority: 10 };
    // SAFETY: 0 is the calling thread, and the structure outlives the call.
    (unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) }) == 0
}

/// Returns the longest of the calls of a real-time thread, which start at times that vary, while an ordinary thread on the same
/// processor does `work` again and again.
fn longest(work: impl Fn() + Sync, call: impl Fn() + Sync) -> Duration {
    const TIME: Duration = Duration::from_secs(2);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            pin();
            while !is_over.load(SeqCst) {
                work();
            }
        });
        let waiting = scope.spawn(|| {
            pin();
            if !be_real_time() {
                eprintln!("the threads have equal priorities: this process may not use SCHED_FIFO");
            }
            let (end, mut longest, mut nap) = (Instant::now() + TIME, Duration::ZERO, 50);
            while Instant::now() < end {
                thread::sleep(Duration::from_micros(nap));
                nap = 37 + (nap * 7919 + 13) % 211;
                let start = Instant::now();
                call();
                longest = longest.max(start.elapsed());
            }
            is_over.store(true, SeqCst);
            longest
        });
        waiting.join().unwrap()
    })
}

/// Linux lets real-time threads use 95 % of a second, so a holder that starves comes to run after a large part of one.
const SOON: Duration = Duration::from_millis(300);

#[test]
fn a_real_time_thread_waits_for_the_cache_of_leases_no_longer_than_its_holder_needs() {
    let device = Device::new(SimKernel::open(amdgpu_sim::profile("navi21").unwrap())).unwrap();
    let manager = device.addresses();
    let request = amdgpu_winsys::vamgr::VaRequest::new(4096);
    let work = || {
        let lease = manager.cached(&request).map_or_else(|| manager.allocate(request), Ok).unwrap();
        manager.free(lease);
    };
    let waited = longest(work, || assert!(manager.stats(VaWindow::High).free > 0));
    assert!(waited < SOON, "{waited:?}");
}

#[test]
fn a_real_time_thread_allocates_beside_an_ordinary_one() {
    let device = Device::new(SimKernel::open(amdgpu_sim::profile("navi21").unwrap())).unwrap();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let pair = || drop(manager.allocate(&AllocateInfo::new(0, 4096)).unwrap());
    let waited = longest(pair, pair);
    assert!(waited < SOON, "{waited:?}");
}
