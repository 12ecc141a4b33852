//! Rules that ARCHITECTURE.md promises of everything, where no other test shows them.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::support::{chip, host_memory, job_time, jobs};
use amdgpu_layers::{Attempt, FaultInjector};
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    cs::{BoListMode, Queue, QueueOptions, Submission},
    heaps::{AllocateInfo, Backing, MemoryManager, SparseBind, SparseRange, TableOptions},
    uapi::{
        Argument, BoList as BoListArgument, Ctx, GemClose, GemVa, GemWaitIdle, SyncobjDestroy, VM_OP_UNRESERVE_VMID,
        VaOperation, Vm, WaitCs, bo_list_op, ctx_op,
    },
    vamgr::VaRequest,
    winsys::{
        Context, Deadline, Device, Errno, Error, Ip, Priority, ResidencySet, Syncobj, Until, VmidReservation, WaitFor,
    },
};

type Injected = Arc<FaultInjector<SimKernel>>;

fn injected(name: &str) -> (Injected, Device) {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip(name))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    (kernel, device)
}

/// Returns `true` if the request's dword at `at` is `value`.
fn has(attempt: &Attempt<'_>, at: usize, value: u32) -> bool {
    matches!(attempt, Attempt::Ioctl { argument, .. } if argument.get(at..at + 4) == Some(&value.to_ne_bytes()))
}

fn unbinds(attempt: &Attempt<'_>) -> bool {
    let operations = [VaOperation::Unmap, VaOperation::Clear];
    attempt.is(GemVa::REQUEST) && operations.iter().any(|&operation| has(attempt, 8, operation as u32))
}

/// Returns `true` for the calls that give something back.
fn releases(attempt: &Attempt<'_>) -> bool {
    unbinds(attempt)
        || attempt.is(GemClose::REQUEST)
        || attempt.is(SyncobjDestroy::REQUEST)
        || (attempt.is(Ctx::REQUEST) && has(attempt, 0, ctx_op::FREE_CTX))
        || (attempt.is(BoListArgument::REQUEST) && has(attempt, 0, bo_list_op::DESTROY))
        || (attempt.is(Vm::REQUEST) && has(attempt, 0, VM_OP_UNRESERVE_VMID))
        || matches!(attempt, Attempt::Munmap { .. })
}

/// Makes something of every kind, and drops it.
fn live(device: &Device) {
    let manager = MemoryManager::new(device, &TableOptions::default()).unwrap();
    let memory = host_memory(device, 4096);
    let hidden = manager.allocate(&AllocateInfo::new(0, 4096)).unwrap();
    let _vmid = VmidReservation::new(device).unwrap();
    let _syncobj = Syncobj::new(device, false).unwrap();
    let _context = Context::new(device, Priority::Normal).unwrap();
    let options = QueueOptions { bo_list_mode: BoListMode::Kept, ..QueueOptions::default() };
    let queue = Queue::with_options(&jobs::context(device), Ip::Compute, 0, options).unwrap();
    let set = ResidencySet::new();
    assert!(set.add(memory.binding()) && set.add(hidden.binding()));
    let list = jobs::store(device, queue.target(), memory.address(), 7);
    for _ in 0..3 {
        let submission = Submission { lists: &[&list], sets: &[&set], ..Submission::default() };
        assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
    }
    let range = SparseRange::new(device, VaRequest::new(1 << 20)).unwrap();
    let backing = Some(Backing { memory: memory.binding().clone(), offset: 0 });
    range.bind(&[SparseBind { offset: 4096, len: 4096, backing }]).unwrap();
}

#[test]
fn whatever_is_dropped_the_kernel_is_asked_three_times_to_take_it_back() {
    for name in ["navi21", "vega10"] {
        let (kernel, device) = injected(name);
        let counts = || (kernel.inner().census(), device.addresses().leased_bytes(), device.usage_tracker().usage());
        live(&device);
        let before = counts();
        let asked = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&asked);
        // Each release is refused twice in a row, and the third time it is not.
        kernel
            .fail_every_where(Errno::ENOMEM, move |attempt| releases(attempt) && counted.fetch_add(1, Relaxed) % 3 < 2);
        live(&device);
        kernel.stop();
        assert_eq!(counts(), before, "{name}");
        let asked = asked.load(Relaxed);
        assert!(asked > 3 * 12 && asked.is_multiple_of(3), "{name}: {asked} calls");
    }
}

#[test]
fn addresses_that_the_kernel_never_unbinds_are_never_leased_again() {
    // GFX9 has a guard page behind each memory, which is unbound by itself.
    for (name, refused) in [("navi21", 3), ("vega10", 3), ("vega10", u32::MAX)] {
        let (kernel, device) = injected(name);
        let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
        let allocate = || manager.allocate(&AllocateInfo::new(0, 4096)).unwrap();
        let before = (kernel.inner().census().handles, device.addresses().leased_bytes());
        let memory = allocate();
        let (lost, leased) = (memory.address(), device.addresses().leased_bytes());
        let asked = AtomicU32::new(0);
        kernel
            .fail_every_where(Errno::ENOMEM, move |attempt| unbinds(attempt) && asked.fetch_add(1, Relaxed) < refused);
        drop(memory);
        kernel.stop();
        assert_eq!((kernel.inner().census().handles, device.addresses().leased_bytes()), (before.0, leased), "{name}");
        // Neither the thread's own recently freed addresses nor the manager give them out, freed or not.
        for _ in 0..20 {
            let held: Vec<_> = (0..20).map(|_| allocate()).collect();
            assert!(held.iter().all(|memory| memory.address() != lost), "{name}: {lost} is leased again");
        }
        let there = VaRequest::new(4096).at(lost);
        assert!(device.addresses().allocate(there).is_err(), "{name}: {lost} can be asked for");
    }
}

#[test]
fn a_deadline_is_the_same_moment_in_every_request_of_a_wait() {
    let (kernel, device) = injected("navi21");
    let queue = Queue::new(&jobs::context(&device), Ip::Compute, 0).unwrap();
    let memory = host_memory(&device, 4096);
    let list = jobs::store(&device, queue.target(), memory.address(), 7);
    let bindings = [memory.binding().clone()];
    let fence = queue.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap();
    assert!(fence.wait(job_time()).unwrap());
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    kernel.fail_every_where(Errno::EIO, move |attempt| {
        if let Attempt::Ioctl { argument, .. } = attempt
            && (attempt.is(GemWaitIdle::REQUEST) || attempt.is(WaitCs::REQUEST))
        {
            // The time-out is the second eight bytes of both.
            let timeout = argument.get(8..16).and_then(|bytes| bytes.try_into().ok());
            heard.lock().unwrap().push(timeout.map(u64::from_ne_bytes));
        }
        false
    });
    let deadline = Deadline::after(Duration::from_mins(10));
    for _ in 0..3 {
        assert!(memory.bo().wait_idle(deadline).unwrap());
        assert!(queue.context().wait(Ip::Compute, 0, 1, deadline).unwrap());
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(*told.lock().unwrap(), [Some(deadline.for_amdgpu()); 6]);
    assert!(deadline.remaining() < Duration::from_mins(10));
}

#[test]
fn points_of_two_devices_are_not_waited_for_together() {
    let devices = [(); 2].map(|()| Device::new(SimKernel::open(chip("navi21"))).unwrap());
    let [mine, other] = devices.each_ref().map(|device| Syncobj::new(device, true).unwrap());
    let wait =
        |points: &[(&Syncobj, u64)]| Syncobj::wait_points(points, WaitFor::All, Until::Signalled, Deadline::POLL);
    assert!(matches!(wait(&[(&mine, 0), (&other, 0)]), Err(Error::ForeignDevice { .. })));
    assert!(matches!(wait(&[(&mine, 0), (&mine, 0), (&other, 0)]), Err(Error::ForeignDevice { .. })));
    assert_eq!(wait(&[(&mine, 0), (&mine, 0)]).unwrap(), Some(0));
    let memory = host_memory(&devices[0], 4096);
    assert!(!memory.binding().is_empty());
    assert_eq!(memory.binding().len(), 4096);
}
