//! Test controls of a simulated device: hold its rings, stop its clock, and make chosen calls fail.

use std::{sync::Arc, time::Duration};

use amdgpu_layers::{Attempt, FaultInjector};
use amdgpu_sim::{KernelRelease, LockupTimeout, SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    cs::{CommandList, Fence, Queue, Stream, Submission, Target, pm4},
    heaps::{Addressing, AllocateInfo, MemoryManager, MemoryPropertyFlags, TableOptions},
    uapi::{Argument, CtxStateFlags, GemCreate, GemCreateFlags, GemDomain, GemMmap},
    winsys::{self, Bo, BoRequest, Context, Deadline, Device, Ip, Mapping, Priority},
};

/// A card whose hangs reset the whole GPU, as Linux 6.12 has it.
fn gpu() -> SimDevice {
    let lockup_timeout = LockupTimeout::all(Duration::from_millis(200));
    let options = SimOptions { lockup_timeout, ..SimOptions::of_kernel(KernelRelease::V6_12) };
    SimDevice::new(profile("navi21").unwrap(), options)
}

/// A queue and a list that does nothing on it.
fn queue(device: &Device, ip: Ip) -> (Queue, CommandList) {
    let context = Context::new(device, Priority::Normal).unwrap();
    let queue = Queue::new(&context, ip, 0).unwrap();
    let Target::Pm4(target) = queue.target() else { panic!("{ip} does not speak PM4") };
    let mut stream = Stream::new(device, target, 64).unwrap();
    stream.push(&pm4::Nop::Skip(&[1, 2])).unwrap();
    (queue, stream.finish().unwrap())
}

fn submit(queue: &Queue, list: &CommandList) -> Fence {
    queue.submit(&Submission { lists: &[list], ..Submission::default() }).unwrap()
}

fn long() -> Deadline {
    Deadline::after(Duration::from_mins(1))
}

#[test]
fn a_held_ring_starts_nothing_until_it_is_released() {
    let gpu = gpu();
    let device = Device::new(gpu.open()).unwrap();
    let ((gfx, gfx_list), (compute, compute_list)) = (queue(&device, Ip::Gfx), queue(&device, Ip::Compute));
    let held = gpu.hold_ring(Ip::Gfx, 0);
    let behind = submit(&gfx, &gfx_list);
    let free = submit(&compute, &compute_list);
    assert!(free.wait(long()).unwrap(), "another ring is held too");
    assert!(!behind.wait(Deadline::after(Duration::from_millis(1))).unwrap());
    drop(held);
    assert!(behind.wait(long()).unwrap());
}

#[test]
fn a_ring_that_two_hold_is_free_when_both_have_let_go() {
    let gpu = gpu();
    let device = Device::new(gpu.open()).unwrap();
    let (queue, list) = queue(&device, Ip::Gfx);
    let (first, second) = (gpu.hold_ring(Ip::Gfx, 0), gpu.hold_all_rings());
    let fence = submit(&queue, &list);
    drop(first);
    assert!(!fence.wait(Deadline::after(Duration::from_millis(1))).unwrap());
    drop(second);
    assert!(fence.wait(long()).unwrap());
}

#[test]
fn a_device_that_goes_with_a_held_ring_ends_its_jobs() {
    let gpu = gpu();
    let held = gpu.hold_all_rings();
    let device = Device::new(gpu.open()).unwrap();
    let (queue, list) = queue(&device, Ip::Gfx);
    let fence = submit(&queue, &list);
    assert!(!fence.wait(Deadline::POLL).unwrap());
    drop(held);
    drop((fence, queue, list, device, gpu));
}

#[test]
fn a_job_that_was_told_to_hang_is_lost_and_the_next_one_is_not() {
    let gpu = gpu();
    let device = Device::new(gpu.open()).unwrap();
    let ((first, first_list), (second, second_list)) = (queue(&device, Ip::Gfx), queue(&device, Ip::Gfx));
    gpu.hang_next_job(Ip::Gfx, 0);
    let error = submit(&first, &first_list).wait(long()).unwrap_err();
    assert!(matches!(&error, winsys::Error::DeviceLost { .. }), "{error}");
    assert!(first.context().state().unwrap().contains(CtxStateFlags::GUILTY | CtxStateFlags::RESET));
    assert!(!second.context().state().unwrap().contains(CtxStateFlags::GUILTY));
    assert!(submit(&second, &second_list).wait(long()).unwrap());
    assert!(
        gpu.complaints().iter().any(|complaint| complaint.contains("a test requested it")),
        "{:?}",
        gpu.complaints()
    );
}

#[test]
fn a_stopped_clock_moves_by_what_it_is_advanced() {
    let gpu = gpu();
    let device = Device::new(gpu.open()).unwrap();
    gpu.stop_clock();
    let stopped = device.timestamp().unwrap();
    assert_eq!(device.timestamp().unwrap(), stopped);
    gpu.advance_clock(1_000);
    assert_eq!(device.timestamp().unwrap(), stopped + 1_000);
    gpu.advance_clock(u64::MAX);
    assert_eq!(device.timestamp().unwrap(), u64::MAX - 1);
}

#[test]
fn a_clock_that_runs_never_goes_back() {
    let device = Device::new(gpu().open()).unwrap();
    let first = device.timestamp().unwrap();
    assert!(device.timestamp().unwrap() >= first);
}

/// Queues two jobs on each of two queues of three rings, lets them run, and says in which order they did.
fn order_by_seed(seed: u64) -> Vec<usize> {
    const JOBS: usize = 12;
    let gpu = gpu();
    gpu.schedule_by_seed(seed);
    let device = Device::new(gpu.open()).unwrap();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let properties = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_CACHED;
    let tables = manager.properties();
    let usable = tables.buffer_types(Addressing::Bits64, false);
    let memory_type = tables.find_type(usable, properties, MemoryPropertyFlags::empty()).unwrap();
    let memory = manager.allocate(&AllocateInfo::new(memory_type, 4096)).unwrap();
    memory.map().unwrap();
    let held = gpu.hold_all_rings();
    let mut queues = Vec::new();
    let mut fences = Vec::new();
    for ip in [Ip::Gfx, Ip::Compute, Ip::Compute, Ip::Gfx, Ip::Compute, Ip::Compute] {
        let (queue, _) = queue(&device, ip);
        for _ in 0..2 {
            let Target::Pm4(target) = queue.target() else { panic!("{ip} does not speak PM4") };
            let mut stream = Stream::new(&device, target, 64).unwrap();
            let to = memory.address().checked_add(fences.len() as u64 * 8).unwrap();
            stream.push(&pm4::EndOfPipe::timestamp(to)).unwrap();
            let list = stream.finish().unwrap();
            let memory = [memory.binding().clone()];
            let submission = Submission { lists: &[&list], memory: &memory, ..Submission::default() };
            fences.push(queue.submit(&submission).unwrap());
        }
        queues.push(queue);
    }
    assert_eq!(fences.len(), JOBS);
    drop(held);
    assert!(fences.iter().all(|fence| fence.wait(long()).unwrap()));
    let mapping = memory.mapping().unwrap();
    let mut order: Vec<_> = (0..JOBS).collect();
    order.sort_by_key(|&job| mapping.load_u64(job as u64 * 8).unwrap());
    order
}

#[test]
fn a_seed_draws_the_same_order_every_time_and_another_one_another() {
    let orders = [1, 2, 3, 1, 2, 3].map(order_by_seed);
    assert_eq!(orders[..3], orders[3..]);
    assert!(orders[0] != orders[1] || orders[1] != orders[2], "{orders:?}");
    for order in orders {
        let place = |job| order.iter().position(|&other| other == job);
        assert!((0..12).step_by(2).all(|job| place(job) < place(job + 1)), "a queue overtook itself: {order:?}");
    }
}

fn bo(device: &Device, size: u64) -> amdgpu_winsys::winsys::Result<Bo> {
    let flags = GemCreateFlags::CPU_ACCESS_REQUIRED;
    Ok(Bo::create(device, BoRequest { size, alignment: 0, domains: GemDomain::GTT, flags })?)
}

fn injected() -> (Arc<FaultInjector<amdgpu_sim::SimKernel>>, Device) {
    let kernel = Arc::new(FaultInjector::new(gpu().open()));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    (kernel, device)
}

#[test]
fn the_nth_call_that_fits_a_predicate_fails_and_no_other() {
    let (kernel, device) = injected();
    let large = |attempt: &Attempt<'_>| matches!(attempt, Attempt::Mmap { len, .. } if *len > 4096);
    kernel.fail_nth_where(1, Errno::ENFILE, large);
    let (small, big) = (bo(&device, 4096).unwrap(), bo(&device, 8192).unwrap());
    let outcomes = [&small, &big, &small, &big, &big].map(|bo| Mapping::new(bo).err().and_then(|error| error.errno()));
    assert_eq!(outcomes, [None, None, None, Some(Errno::ENFILE), None]);
    assert!(kernel.has_fired());
}

#[test]
fn a_predicate_sees_the_argument() {
    let (kernel, device) = injected();
    kernel.fail_every_where(Errno::EIO, |attempt| match attempt {
        Attempt::Ioctl { argument, .. } => {
            attempt.is(GemCreate::REQUEST) && argument.starts_with(&(3_u64 << 12).to_le_bytes())
        }
        _ => false,
    });
    let outcomes = [1_u64, 3, 2, 3].map(|pages| bo(&device, pages << 12).err().and_then(|error| error.errno()));
    assert_eq!(outcomes, [None, Some(Errno::EIO), None, Some(Errno::EIO)]);
    kernel.stop();
    assert!(bo(&device, 3 << 12).is_ok());
}

#[test]
fn the_nth_call_of_one_request_fails() {
    let (kernel, device) = injected();
    kernel.fail_nth_ioctl(GemMmap::REQUEST, 1, Errno::ENOMEM);
    let bo = bo(&device, 4096).unwrap();
    let outcomes = [(); 3].map(|()| Mapping::new(&bo).err().and_then(|error| error.errno()));
    assert_eq!(outcomes, [None, Some(Errno::ENOMEM), None]);
}
