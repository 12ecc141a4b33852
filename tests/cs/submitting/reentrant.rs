//! Code of the caller that uses the queue while it is called for a submission to this queue.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use crate::support::{
    chip, device, ends, host_memory, job_time,
    jobs::{store, wait_for},
    queue,
};
use amdgpu_layers::FaultInjector;
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    cs::{CommandList, Keep, Queue, Submission},
    heaps::DeviceMemory,
    uapi::{Argument as _, Cs},
    winsys::{Binding, Device, Errno, Event, Ip, Observer, Resident},
};

/// Memory that submits to the queue whenever it is asked for its bindings.
struct Reentrant {
    queue: Queue,
    list: CommandList,
    memory: DeviceMemory,
}

impl Reentrant {
    fn submit(&self) {
        let submission = Submission { lists: &[&self.list], memory: &self.memory, ..Submission::default() };
        self.queue.submit(&submission).unwrap();
    }
}

impl Resident for Reentrant {
    fn each_binding(&self, each: &mut dyn FnMut(&Binding)) {
        self.submit();
        each(self.memory.binding());
        self.submit();
    }

    fn binding_count(&self) -> usize {
        self.queue.retire();
        1
    }
}

#[test]
fn memory_that_submits_to_the_queue_that_asks_for_it_ends() {
    for keep in [Keep::Everything, Keep::Lists, Keep::Nothing] {
        let sequences = ends(move || {
            let device = device("navi21");
            let queue = queue(&device, Ip::Compute, 0);
            let memory = host_memory(&device, 4096);
            let list = store(&device, queue.target(), memory.address(), 1);
            let reentrant = Reentrant { queue: queue.clone(), list: list.clone(), memory };
            let submit = || {
                let submission = Submission { lists: &[&list], memory: &reentrant, keep, ..Submission::default() };
                queue.submit(&submission).unwrap().sequence()
            };
            let sequences = [submit(), submit()];
            assert!(queue.wait_idle(job_time()).unwrap());
            assert_eq!(queue.in_flight(), 0);
            sequences
        });
        assert_eq!(sequences, [3, 6], "{keep:?}: two submissions before each");
    }
}

/// Submits to the queue when memory is freed.
#[derive(Debug, Default)]
struct SubmitsWhenFreed {
    queue: OnceLock<(Queue, CommandList)>,
    submitted: AtomicU64,
}

impl Observer for SubmitsWhenFreed {
    fn observe(&self, event: &Event) {
        if let (Event::BoClosed { .. }, Some((queue, list))) = (event, self.queue.get())
            && self.submitted.fetch_add(1, Ordering::Relaxed) == 0
        {
            queue.submit(&Submission { lists: &[list], ..Submission::default() }).unwrap();
        }
    }
}

/// The kernel is short of memory, so that what has ended is retired before the next attempt. Observers hear of it.
#[test]
fn an_observer_submits_while_a_submission_waits_for_memory() {
    ends(|| {
        let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
        let observer = Arc::new(SubmitsWhenFreed::default());
        let device = Device::with_observer(Arc::clone(&kernel), Arc::clone(&observer)).unwrap();
        let queue = queue(&device, Ip::Compute, 0);
        let (gate, used) = (host_memory(&device, 4096), host_memory(&device, 4096));
        let [list, other] = [1, 2].map(|value| store(&device, queue.target(), gate.address(), value));
        let waits = wait_for(&device, queue.target(), gate.address(), 1);
        let memory: &[&dyn Resident] = &[&gate, &used];
        let fence = queue.submit(&Submission { lists: &[&waits], memory: &memory, ..Submission::default() }).unwrap();
        drop(used);
        let _ = observer.queue.set((queue.clone(), other));
        kernel.fail_nth_ioctl(Cs::REQUEST, 0, Errno::ENOMEM);
        let opens = thread::spawn(move || {
            gate.mapping().unwrap().store_u32(0, 1).unwrap();
            while !fence.is_signalled() {}
            gate
        });
        let gate = opens.join().unwrap();
        let submission = Submission { lists: &[&list], memory: &gate, ..Submission::default() };
        assert_eq!(queue.submit(&submission).unwrap().sequence(), 3, "behind the observer's");
        assert!(queue.wait_idle(job_time()).unwrap());
        assert_eq!(observer.submitted.load(Ordering::Relaxed), 1);
    });
}
