//! Threads submit to one queue at the same time.

mod support;

use std::{collections::BTreeSet, sync::Arc};

use amdgpu_winsys_interleaved::{
    cs::{CommandList, Keep, Queue, Stream, Submission, pm4},
    heaps::{AllocateInfo, DeviceMemory, MemoryManager, TableOptions},
    winsys::{Context, Deadline, Ip, Priority, ResidencySet},
};
use shuttle::thread;
use support::{Rig, in_many_orders};

/// Cached system memory on the RX 6800.
const CACHED: u32 = 5;

fn memory(rig: &Rig) -> DeviceMemory {
    let manager = MemoryManager::new(&rig.device, &TableOptions::default()).expect("a manager");
    manager.allocate(&AllocateInfo::new(CACHED, 4096)).expect("memory")
}

/// A list that stores a dword.
fn store(rig: &Rig, memory: &DeviceMemory, value: u32) -> CommandList {
    let mut stream = Stream::new(&rig.device, pm4::Target::compute(rig.device.info().gfx_level), 64).expect("a stream");
    stream.push(&pm4::EndOfPipe::fence(memory.address(), value)).expect("room");
    stream.finish().expect("a list")
}

fn queue(rig: &Rig) -> Queue {
    let context = Context::new(&rig.device, Priority::Normal).expect("a context");
    Queue::new(&context, Ip::Compute, 0).expect("a queue")
}

/// Some threads keep their lists in the queue, some keep nothing: each submission has a number of its own, and all run.
#[test]
fn threads_submit_to_one_queue_at_the_same_time() {
    in_many_orders(|| {
        let rig = Rig::new();
        let (queue, memory) = (queue(&rig), memory(&rig));
        let threads: Vec<_> = [Keep::Nothing, Keep::Nothing, Keep::Everything]
            .into_iter()
            .map(|keep| {
                let (queue, list) = (queue.clone(), store(&rig, &memory, 1));
                thread::spawn(move || {
                    let submission = Submission { lists: &[&list], keep, ..Submission::default() };
                    let numbers: Vec<u64> =
                        (0..2).map(|_| queue.submit(&submission).expect("a submission").sequence()).collect();
                    (numbers, list)
                })
            })
            .collect();
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
        let numbers: BTreeSet<u64> = results.iter().flat_map(|(numbers, _)| numbers).copied().collect();
        assert_eq!(numbers, (1..=6).collect());
        assert!(results.iter().all(|(numbers, _)| numbers.is_sorted()));
        assert_eq!(queue.last().sequence(), 6);
        assert!(queue.wait_idle(Deadline::NEVER).expect("it works"));
        assert_eq!(queue.in_flight(), 0);
    });
}

/// One thread frees a member of the set while another submits with the set again: no submission fails.
#[test]
fn a_member_is_removed_and_freed_at_any_moment_of_a_submission() {
    in_many_orders(|| {
        let rig = Rig::new();
        let (queue, set) = (queue(&rig), ResidencySet::new());
        let (memory, member) = (memory(&rig), memory(&rig));
        set.add(memory.binding());
        set.add(member.binding());
        let list = Arc::new(store(&rig, &memory, 1));
        let submit = |queue: &Queue, list: &CommandList, set: &ResidencySet| {
            let submission = Submission { lists: &[list], sets: &[set], keep: Keep::Nothing, ..Submission::default() };
            queue.submit(&submission).expect("a submission").sequence()
        };
        submit(&queue, &list, &set);
        let submitting = {
            let (queue, list, set) = (queue.clone(), Arc::clone(&list), set.clone());
            thread::spawn(move || (submit(&queue, &list, &set), submit(&queue, &list, &set)))
        };
        set.remove(member.binding());
        drop(member);
        assert_eq!(submitting.join().expect("no panic"), (2, 3));
        assert!(queue.wait_idle(Deadline::NEVER).expect("it works"));
    });
}
