//! Sets of memory that submissions share.

use crate::support::{Watch, device, host_memory, host_memory_with, job_time, queue};
use amdgpu_winsys::{
    cs::{self, CommandList, Keep, Stream, Submission, pm4},
    heaps::{AllocateFlags, DeviceMemory},
    winsys::{Deadline, Device, Error, Ip, ResidencySet},
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_memory_is_in_the_set_as_long_as_it_was_added_more_often_than_removed(
        steps in prop::collection::vec((any::<bool>(), 0..6_usize), 1..200),
    ) {
        let device = device("navi21");
        let memories: Vec<_> = (0..6).map(|_| host_memory(&device, 4096)).collect();
        let (set, mut counts) = (ResidencySet::new(), [0_u32; 6]);
        for (adds, which) in steps {
            let before = (set.snapshot(), counts);
            let binding = memories[which].binding();
            let changed = if adds { set.add(binding) } else { set.remove(binding) };
            counts[which] = if adds { counts[which] + 1 } else { counts[which].saturating_sub(1) };
            prop_assert_eq!(changed, (counts[which] == 0) != (before.1[which] == 0));
            let members = set.snapshot();
            prop_assert_eq!(members == before.0, !changed, "copied only when something came or went");
            for (memory, count) in memories.iter().zip(counts) {
                let times = members.iter().filter(|member| *member == memory.binding()).count();
                prop_assert_eq!(times, usize::from(count > 0));
            }
            prop_assert_eq!(set.len(), members.len());
        }
    }
}

/// A list that waits until the first dword of `gate` is 1.
fn wait_for(device: &Device, gate: &DeviceMemory) -> CommandList {
    let mut stream = Stream::new(device, pm4::Target::gfx(device.info().gfx_level), 16).unwrap();
    stream.push(&pm4::WaitRegMem::new(gate.address(), pm4::Compare::Equal, 1)).unwrap();
    stream.finish().unwrap()
}

#[test]
fn the_kernel_is_told_of_every_change_of_a_set() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Gfx, 0);
    let gate = host_memory(&device, 4096);
    // Memory that cannot be shared is used by every job, listed or not.
    let [one, two] = [(); 2].map(|()| host_memory_with(&device, 4096, AllocateFlags::EXPORTABLE));
    let list = wait_for(&device, &gate);
    let is_idle = |memory: &DeviceMemory| memory.bo().wait_idle(Deadline::POLL).unwrap();
    let set = ResidencySet::new();
    set.add(gate.binding());
    set.add(one.binding());
    let sets = [&set];
    let submission = Submission { lists: &[&list], sets: &sets, ..Submission::default() };
    let mut fences = vec![queue.submit(&submission).unwrap()];
    assert_eq!((is_idle(&one), is_idle(&two)), (false, true));
    set.add(two.binding());
    fences.push(queue.submit(&submission).unwrap());
    assert_eq!((is_idle(&one), is_idle(&two)), (false, false));
    gate.mapping().unwrap().store_u32(0, 1).unwrap();
    assert!(fences.iter().all(|fence| fence.wait(job_time()).unwrap()));
    gate.mapping().unwrap().store_u32(0, 0).unwrap();
    set.remove(one.binding());
    let fence = queue.submit(&submission).unwrap();
    assert_eq!((is_idle(&one), is_idle(&two)), (true, false));
    // Memory beside the set, and no set any more.
    let beside = Submission { memory: &[one.binding().clone()], ..submission };
    let last = queue.submit(&beside).unwrap();
    assert!(!is_idle(&one));
    gate.mapping().unwrap().store_u32(0, 1).unwrap();
    assert!(fence.wait(job_time()).unwrap() && last.wait(job_time()).unwrap());
}

#[test]
fn a_memory_that_leaves_its_set_while_a_job_runs_is_no_part_of_the_next_job() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Gfx, 0);
    let gates = [(); 2].map(|()| host_memory(&device, 4096));
    let memory = host_memory_with(&device, 4096, AllocateFlags::EXPORTABLE);
    let lists = gates.each_ref().map(|gate| wait_for(&device, gate));
    let open = |gate: &DeviceMemory| gate.mapping().unwrap().store_u32(0, 1).unwrap();
    let set = ResidencySet::new();
    gates.iter().chain([&memory]).for_each(|memory| assert!(set.add(memory.binding())));
    let submit = |list: &CommandList| {
        queue.submit(&Submission { lists: &[list], sets: &[&set], ..Submission::default() }).unwrap()
    };
    let first = submit(&lists[0]);
    set.remove(memory.binding());
    let second = submit(&lists[1]);
    assert!(!memory.bo().wait_idle(Deadline::POLL).unwrap());
    open(&gates[0]);
    assert!(first.wait(job_time()).unwrap());
    assert!(memory.bo().wait_idle(Deadline::POLL).unwrap());
    assert!(!second.is_signalled());
    open(&gates[1]);
    assert!(second.wait(job_time()).unwrap());
}

#[test]
fn a_memory_that_left_its_set_lives_until_its_last_job_is_done() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Gfx, 0);
    let [gate, memory] = [(); 2].map(|()| host_memory(&device, 4096));
    let list = wait_for(&device, &gate);
    let set = ResidencySet::new();
    set.add(gate.binding());
    set.add(memory.binding());
    let fence = queue.submit(&Submission { lists: &[&list], sets: &[&set], ..Submission::default() }).unwrap();
    let binding = Watch::of(memory.binding());
    assert!(set.remove(memory.binding()));
    drop(memory);
    assert!(binding.is_bound(), "the job still may use it");
    gate.mapping().unwrap().store_u32(0, 1).unwrap();
    assert!(fence.wait(job_time()).unwrap());
    assert!(!binding.is_bound(), "nobody remembers it");
}

#[test]
fn a_set_with_foreign_memory_is_refused_and_the_next_submission_is_not() {
    let (home, abroad) = (device("navi21"), device("navi21"));
    let queue = queue(&home, Ip::Gfx, 0);
    let foreign = host_memory(&abroad, 4096);
    let gate = host_memory(&home, 4096);
    gate.mapping().unwrap().store_u32(0, 1).unwrap();
    let list = wait_for(&home, &gate);
    let set = ResidencySet::new();
    set.add(gate.binding());
    set.add(foreign.binding());
    let sets = [&set];
    let submission = Submission { lists: &[&list], sets: &sets, ..Submission::default() };
    for _ in 0..2 {
        assert_eq!(
            queue.submit(&submission).unwrap_err(),
            cs::SubmitError::Winsys(Error::ForeignDevice { what: "memory" })
        );
    }
    set.remove(foreign.binding());
    assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
}

/// An empty snapshot counts nothing, and is known by no address of its own.
#[test]
fn members_of_a_set_that_was_empty_when_it_was_submitted_are_listed_from_then_on() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Gfx, 0);
    let gate = host_memory(&device, 4096);
    let shared = host_memory_with(&device, 4096, AllocateFlags::EXPORTABLE);
    let list = wait_for(&device, &gate);
    let is_idle = || shared.bo().wait_idle(Deadline::POLL).unwrap();
    let set = ResidencySet::new();
    assert_eq!(set.snapshot(), ResidencySet::new().snapshot(), "no members are no members");
    let sets = [&set];
    let beside = [gate.binding().clone()];
    let submission = Submission { lists: &[&list], sets: &sets, memory: &beside, ..Submission::default() };
    let mut fences = vec![queue.submit(&submission).unwrap(), queue.submit(&submission).unwrap()];
    assert!(is_idle());
    set.add(shared.binding());
    fences.push(queue.submit(&submission).unwrap());
    assert!(!is_idle(), "the new member is listed");
    gate.mapping().unwrap().store_u32(0, 1).unwrap();
    assert!(fences.iter().all(|fence| fence.wait(job_time()).unwrap()));
    gate.mapping().unwrap().store_u32(0, 0).unwrap();
    set.remove(shared.binding());
    let last = queue.submit(&submission).unwrap();
    assert!(is_idle(), "it has left the set");
    gate.mapping().unwrap().store_u32(0, 1).unwrap();
    assert!(last.wait(job_time()).unwrap());
}

#[test]
fn a_set_without_members_does_not_hide_the_one_behind_it() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Gfx, 0);
    let gate = host_memory(&device, 4096);
    let [one, two] = [(); 2].map(|()| host_memory_with(&device, 4096, AllocateFlags::EXPORTABLE));
    let list = wait_for(&device, &gate);
    let is_idle = |memory: &DeviceMemory| memory.bo().wait_idle(Deadline::POLL).unwrap();
    let [first, second] = [(); 2].map(|()| ResidencySet::new());
    second.add(gate.binding());
    second.add(one.binding());
    let sets = [&first, &second];
    for keep in [Keep::Everything, Keep::Lists, Keep::Nothing] {
        let submission = Submission { lists: &[&list], sets: &sets, keep, ..Submission::default() };
        gate.mapping().unwrap().store_u32(0, 0).unwrap();
        let mut fences = vec![queue.submit(&submission).unwrap(), queue.submit(&submission).unwrap()];
        assert_eq!((is_idle(&one), is_idle(&two)), (false, true), "{keep:?}");
        first.add(two.binding());
        fences.push(queue.submit(&submission).unwrap());
        assert!(!is_idle(&two), "{keep:?}: the first has a member now");
        gate.mapping().unwrap().store_u32(0, 1).unwrap();
        assert!(fences.iter().all(|fence| fence.wait(job_time()).unwrap()), "{keep:?}");
        assert!(is_idle(&one) && is_idle(&two), "{keep:?}");
        first.remove(two.binding());
        gate.mapping().unwrap().store_u32(0, 0).unwrap();
        let last = queue.submit(&submission).unwrap();
        assert_eq!((is_idle(&one), is_idle(&two)), (false, true), "{keep:?}: it is empty again");
        gate.mapping().unwrap().store_u32(0, 1).unwrap();
        assert!(last.wait(job_time()).unwrap(), "{keep:?}");
    }
}

/// Lists that are the caller's to keep are not counted. Those that bring sets along are.
#[test]
fn what_a_list_keeps_is_listed_whoever_keeps_the_list() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Gfx, 0);
    let gate = host_memory(&device, 4096);
    let [kept, member] = [(); 2].map(|()| host_memory_with(&device, 4096, AllocateFlags::EXPORTABLE));
    let is_idle = |memory: &DeviceMemory| memory.bo().wait_idle(Deadline::POLL).unwrap();
    let set = ResidencySet::new();
    set.add(member.binding());
    for (has_set, keep) in [false, true]
        .into_iter()
        .flat_map(|has_set| [Keep::Everything, Keep::Lists, Keep::Nothing].map(|keep| (has_set, keep)))
    {
        gate.mapping().unwrap().store_u32(0, 0).unwrap();
        let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 16).unwrap();
        stream.push(&pm4::WaitRegMem::new(gate.address(), pm4::Compare::Equal, 1)).unwrap();
        stream.keep(gate.binding());
        stream.keep(kept.binding());
        if has_set {
            stream.keep_set(&set);
        }
        let list = stream.finish().unwrap();
        let empty = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 16).unwrap().finish().unwrap();
        // One list, a few, and too many to be looked at in one pass.
        for before in [0, 1, 20, 300] {
            gate.mapping().unwrap().store_u32(0, 0).unwrap();
            let lists = [vec![&empty; before], vec![&list]].concat();
            let fence = queue.submit(&Submission { lists: &lists, keep, ..Submission::default() }).unwrap();
            assert_eq!((is_idle(&kept), is_idle(&member)), (false, !has_set), "{keep:?}, {before}");
            gate.mapping().unwrap().store_u32(0, 1).unwrap();
            assert!(fence.wait(job_time()).unwrap(), "{keep:?}, {before}");
        }
    }
}

#[test]
fn a_list_that_keeps_memory_of_another_device_is_refused() {
    let (own, other) = (device("navi21"), device("navi21"));
    let queue = queue(&own, Ip::Gfx, 0);
    let foreign = host_memory(&other, 4096);
    let target = pm4::Target::gfx(own.info().gfx_level);
    let mut stream = Stream::new(&own, target, 16).unwrap();
    stream.keep(foreign.binding());
    let list = stream.finish().unwrap();
    let refused = queue.submit(&Submission { lists: &[&list], ..Submission::default() }).unwrap_err();
    assert_eq!(refused, cs::SubmitError::Winsys(Error::ForeignDevice { what: "command list" }));
    let all_of_other = Stream::new(&other, target, 16).unwrap().finish().unwrap();
    let refused = queue.submit(&Submission { lists: &[&all_of_other], ..Submission::default() }).unwrap_err();
    assert_eq!(refused, cs::SubmitError::Winsys(Error::ForeignDevice { what: "command list" }));
}

/// The set of a list is not among those that the submission names.
#[test]
fn a_set_of_a_list_that_gets_its_first_member_between_two_runs_of_the_list_is_listed() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Gfx, 0);
    let gate = host_memory(&device, 4096);
    let member = host_memory_with(&device, 4096, AllocateFlags::EXPORTABLE);
    // A submission that was not waited for is still listed by the queue, and may serve the next one.
    for (keep, waits) in [Keep::Everything, Keep::Lists, Keep::Nothing]
        .into_iter()
        .flat_map(|keep| [true, false].map(|waits| (keep, waits)))
    {
        let set = ResidencySet::new();
        let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 16).unwrap();
        stream.push(&pm4::WaitRegMem::new(gate.address(), pm4::Compare::Equal, 1)).unwrap();
        stream.keep(gate.binding());
        stream.keep_set(&set);
        let list = stream.finish().unwrap();
        let submission = Submission { lists: &[&list], keep, ..Submission::default() };
        for (has_member, runs) in [(false, 3), (true, 3)] {
            if has_member {
                set.add(member.binding());
            }
            for run in 0..runs {
                gate.mapping().unwrap().store_u32(0, 0).unwrap();
                let fence = queue.submit(&submission).unwrap();
                let is_listed = !member.bo().wait_idle(Deadline::POLL).unwrap();
                assert_eq!(is_listed, has_member, "{keep:?}, {waits}, run {run}");
                gate.mapping().unwrap().store_u32(0, 1).unwrap();
                let end = || fence.to_syncobj().unwrap().wait(job_time()).unwrap();
                assert!(if waits { fence.wait(job_time()).unwrap() } else { end() }, "{keep:?}");
            }
        }
    }
}
