//! Queues on video rings: without a user fence, so that the end is asked for.

mod streams;

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use amdgpu_layers::Forward;
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    cs::{Keep, Queue, Submission, SyncPoint, VideoError, VideoIb, VideoIbFault, VideoQueue, VideoSubmission},
    heaps::{DeviceMemory, VkResult},
    uapi::{Cs, WaitCs, chunk_id},
    winsys::{Binding, Context, Deadline, Device, Errno, Error, Ip, Priority, Resident, Syncobj},
};

use crate::{
    spy::{Seen, Spy},
    support::{chip, host_memory, jobs::wait_for},
};

/// A NOP of VCN's decoder, eight times.
const NOPS: [u32; 16] = [0x81ff, 0, 0x81ff, 0, 0x81ff, 0, 0x81ff, 0, 0x81ff, 0, 0x81ff, 0, 0x81ff, 0, 0x81ff, 0];

type Watched = Arc<Forward<SimKernel, Spy>>;

fn with_video(name: &str) -> (Device, Watched) {
    let options = SimOptions { video: true, ..SimOptions::hanging_for(Duration::from_millis(200)) };
    let kernel = Spy::on(SimDevice::new(chip(name), options).open());
    (Device::new(Arc::clone(&kernel)).unwrap(), kernel)
}

fn commands(device: &Device, dwords: &[u32]) -> DeviceMemory {
    let memory = host_memory(device, 4096);
    memory.map().unwrap().write_dwords(0, dwords).unwrap();
    memory
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(30))
}

fn ib(memory: &DeviceMemory, dwords: u32) -> VideoIb<'_> {
    VideoIb { memory: memory.binding(), offset: 0, dwords }
}

/// Notes the submissions that go to the kernel from now on.
fn noted(kernel: &Watched) -> Arc<Mutex<Vec<Seen>>> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    kernel.layer().watch(move |request| {
        if request.is::<Cs>() || request.is::<WaitCs>() {
            notes.lock().unwrap().push(request.clone());
        }
    });
    seen
}

#[test]
fn a_submission_to_a_video_ring_has_no_user_fence_and_ends_by_its_number() {
    let (device, kernel) = with_video("navi21");
    let context = Context::new(&device, Priority::Normal).unwrap();
    let queue = VideoQueue::new(&context, Ip::VcnDec, 0).unwrap();
    let (memory, picture) = (commands(&device, &NOPS), host_memory(&device, 4096));
    let (before, after) = (Syncobj::new(&device, true).unwrap(), Syncobj::new(&device, false).unwrap());
    let seen = noted(&kernel);
    let fence = queue
        .submit(&VideoSubmission {
            ibs: &[ib(&memory, 16)],
            memory: &picture,
            waits: &[SyncPoint::binary(&before)],
            signals: &[SyncPoint::binary(&after)],
            ..VideoSubmission::default()
        })
        .unwrap();
    assert_eq!(fence.sequence(), 1);
    assert!(fence.wait(soon()).unwrap() && fence.is_done().unwrap());
    assert!(after.wait(soon()).unwrap() && fence.to_syncobj().unwrap().wait(soon()).unwrap());
    let seen = seen.lock().unwrap();
    let submissions: Vec<_> = seen.iter().filter(|request| request.is::<Cs>()).collect();
    let [submission] = submissions[..] else { panic!("{seen:?}") };
    let ids: Vec<_> = submission.chunks.iter().map(|chunk| chunk.id).collect();
    let sync = [chunk_id::SYNCOBJ_TIMELINE_WAIT, chunk_id::SYNCOBJ_TIMELINE_SIGNAL];
    assert_eq!(ids, [chunk_id::IB, sync[0], sync[1], chunk_id::BO_HANDLES]);
    let va = memory.address().as_u64();
    let expected = [0, 0, va as u32, (va >> 32) as u32, 64, Ip::VcnDec.raw(), 0, 0];
    assert_eq!(submission.chunks_of(chunk_id::IB).collect::<Vec<_>>(), [&expected[..]]);
    let mut bos: Vec<_> = submission.bos().into_iter().map(|(handle, _)| handle).collect();
    bos.sort_unstable();
    let mut own = [memory.binding().bo().handle(), picture.binding().bo().handle()];
    own.sort_unstable();
    assert_eq!(bos, own);
    assert!(seen.iter().any(Seen::is::<WaitCs>), "the kernel is asked");
}

#[test]
fn every_video_ring_of_a_chip_runs_what_it_passes_over() {
    for (name, ips) in [("polaris10", &[Ip::Uvd, Ip::UvdEnc][..]), ("renoir", &[Ip::VcnDec, Ip::VcnEnc, Ip::VcnJpeg])] {
        let (device, _) = with_video(name);
        let context = Context::new(&device, Priority::Normal).unwrap();
        for &ip in ips {
            let queue = VideoQueue::new(&context, ip, 0).unwrap();
            let mut dwords = match ip {
                Ip::Uvd => vec![0x3bff, 0],
                Ip::VcnJpeg => vec![0x6000_0000, 0],
                Ip::VcnDec => vec![0x81ff, 0],
                _ => vec![0; 16],
            };
            dwords.extend(queue.padding(dwords.len()));
            assert_eq!(dwords.len(), 16, "{name} {ip}");
            let memory = commands(&device, &dwords);
            let fences = [1, 2].map(|_| {
                queue.submit(&VideoSubmission { ibs: &[ib(&memory, 16)], ..VideoSubmission::default() }).unwrap()
            });
            assert!(fences[1].wait(soon()).unwrap() && fences[0].is_done().unwrap(), "{name} {ip}");
            assert_eq!(fences.map(|fence| fence.sequence()), [1, 2], "{name} {ip}");
        }
    }
}

/// Memory that submits to a queue whenever it is asked for its bindings.
struct Reentrant<'q> {
    queue: &'q VideoQueue,
    commands: &'q DeviceMemory,
}

impl Reentrant<'_> {
    fn submit(&self) {
        self.queue.submit(&VideoSubmission { ibs: &[ib(self.commands, 16)], ..VideoSubmission::default() }).unwrap();
    }
}

impl Resident for Reentrant<'_> {
    fn each_binding(&self, each: &mut dyn FnMut(&Binding)) {
        self.submit();
        each(self.commands.binding());
    }

    fn binding_count(&self) -> usize {
        self.submit();
        1
    }
}

#[test]
fn memory_may_submit_to_the_queue_that_asks_for_its_bindings() {
    let (done, outcome) = mpsc::channel();
    // A thread of its own: without the rule it waits for itself.
    thread::spawn(move || {
        for keep in [Keep::Everything, Keep::Nothing] {
            let (device, _) = with_video("navi21");
            let context = Context::new(&device, Priority::Normal).unwrap();
            let queue = VideoQueue::new(&context, Ip::VcnDec, 0).unwrap();
            let commands = commands(&device, &NOPS);
            let memory = Reentrant { queue: &queue, commands: &commands };
            let ibs = [ib(&commands, 16)];
            let submission = VideoSubmission { ibs: &ibs, memory: &memory, keep, ..VideoSubmission::default() };
            assert!(queue.submit(&submission).unwrap().wait(soon()).unwrap());
        }
        done.send(())
    });
    outcome.recv_timeout(Duration::from_mins(1)).expect("a submission that ends");
}

#[test]
fn memory_of_a_submission_lives_until_its_end_is_noticed() {
    let gpu =
        SimDevice::new(chip("navi21"), SimOptions { video: true, ..SimOptions::hanging_for(Duration::from_mins(1)) });
    let device = Device::new(gpu.open()).unwrap();
    let context = Context::new(&device, Priority::Normal).unwrap();
    let queue = VideoQueue::new(&context, Ip::VcnDec, 0).unwrap();
    let (memory, gate) = (commands(&device, &NOPS), host_memory(&device, 4096));
    let binding = memory.binding().clone();
    let alone = binding.handle_count();
    let gfx = Queue::new(&context, Ip::Gfx, 0).unwrap();
    let list = wait_for(&device, gfx.target(), gate.address(), 1);
    let waiting = gfx.submit(&Submission { lists: &[&list], memory: &gate, ..Submission::default() }).unwrap();
    let ibs = [ib(&memory, 16)];
    let fence = queue.submit(&VideoSubmission { ibs: &ibs, after: &[&waiting], ..VideoSubmission::default() }).unwrap();
    assert!(!fence.is_done().unwrap());
    assert_eq!((queue.in_flight().unwrap(), binding.handle_count()), (1, alone + 1));
    gate.map().unwrap().store_u32(0, 1).unwrap();
    assert!(fence.to_syncobj().unwrap().wait(soon()).unwrap());
    assert_eq!(binding.handle_count(), alone + 1, "the queue has not asked");
    queue.retire().unwrap();
    assert_eq!((queue.in_flight().unwrap(), binding.handle_count()), (0, alone));
}

#[test]
fn chips_without_a_video_ring_and_other_rings_are_refused_by_name() {
    let bare = crate::support::device("navi21");
    let context = Context::new(&bare, Priority::Normal).unwrap();
    for ip in [Ip::Uvd, Ip::Vce, Ip::UvdEnc, Ip::VcnDec, Ip::VcnEnc, Ip::VcnJpeg, Ip::Vpe] {
        let refused = VideoQueue::new(&context, ip, 0).unwrap_err();
        assert_eq!(refused, VideoError::NoSuchRing { ip, ring: 0, rings: 0 });
        assert_eq!(refused.vk_result(), VkResult::FeatureNotPresent);
    }
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        assert_eq!(VideoQueue::new(&context, ip, 0).unwrap_err(), VideoError::NotVideo { ip });
    }
    let (device, _) = with_video("navi21");
    let context = Context::new(&device, Priority::Normal).unwrap();
    let queue = VideoQueue::new(&context, Ip::VcnEnc, 0).unwrap();
    let taken = VideoError::QueueTaken { context: context.id(), ip: Ip::VcnEnc, ring: 0 };
    assert_eq!(VideoQueue::new(&context, Ip::VcnEnc, 0).unwrap_err(), taken);
    drop(queue);
    assert!(VideoQueue::new(&context, Ip::VcnEnc, 0).is_ok(), "given back");
}

#[test]
fn ibs_that_no_engine_could_read_are_refused_and_change_nothing() {
    let (device, kernel) = with_video("navi21");
    let context = Context::new(&device, Priority::Normal).unwrap();
    let queue = VideoQueue::new(&context, Ip::VcnDec, 0).unwrap();
    let memory = commands(&device, &NOPS);
    let abroad = with_video("navi21").0;
    let foreign = commands(&abroad, &NOPS);
    let stranger = Syncobj::new(&abroad, true).unwrap();
    let seen = noted(&kernel);
    let at = |offset, dwords| VideoIb { memory: memory.binding(), offset, dwords };
    let submit =
        |ibs: &[VideoIb<'_>]| queue.submit(&VideoSubmission { ibs, ..VideoSubmission::default() }).unwrap_err();
    assert_eq!(submit(&[]), VideoError::NoIb { ip: Ip::VcnDec });
    assert_eq!(submit(&[at(0, 16), at(0, 16)]), VideoError::TooManyIbs { ip: Ip::VcnDec, ibs: 2, limit: 1 });
    for (offset, dwords, fault) in [
        (2, 16, VideoIbFault::Misaligned { offset: 2 }),
        (0, 0, VideoIbFault::Length { dwords: 0 }),
        (0, u32::MAX, VideoIbFault::Length { dwords: u32::MAX }),
        (4096 - 60, 16, VideoIbFault::Outside { offset: 4096 - 60, dwords: 16, size: 4096 }),
        (u64::MAX - 3, 16, VideoIbFault::Outside { offset: u64::MAX - 3, dwords: 16, size: 4096 }),
    ] {
        assert_eq!(submit(&[at(offset, dwords)]), VideoError::Ib { index: 0, fault });
    }
    let memory_abroad = VideoError::Winsys(Error::ForeignDevice { what: "memory" });
    assert_eq!(submit(&[ib(&foreign, 16)]), memory_abroad);
    let with = VideoSubmission { ibs: &[at(0, 16)], ..VideoSubmission::default() };
    assert_eq!(queue.submit(&VideoSubmission { memory: &foreign, ..with }).unwrap_err(), memory_abroad);
    let signals = [SyncPoint::binary(&stranger)];
    let refused = queue.submit(&VideoSubmission { signals: &signals, ..with }).unwrap_err();
    assert_eq!(refused, VideoError::Winsys(Error::ForeignDevice { what: "sync object" }));
    assert!(seen.lock().unwrap().is_empty(), "the kernel was not asked");
    assert_eq!(queue.submit(&with).unwrap().sequence(), 1);
}

#[test]
fn a_command_that_the_kernel_refuses_or_that_hangs_is_an_error() {
    let (device, _) = with_video("navi21");
    let context = Context::new(&device, Priority::Normal).unwrap();
    let jpeg = VideoQueue::new(&context, Ip::VcnJpeg, 0).unwrap();
    let wrong = commands(&device, &[0x8000, 0]);
    let refused = jpeg.submit(&VideoSubmission { ibs: &[ib(&wrong, 2)], ..VideoSubmission::default() }).unwrap_err();
    let VideoError::Winsys(error) = &refused else { panic!("{refused:?}") };
    assert_eq!((error.errno(), refused.loss()), (Some(Errno::EINVAL), None));
    let decoder = VideoQueue::new(&context, Ip::VcnDec, 0).unwrap();
    let hanging = commands(&device, &[0xc000_1000, 0]);
    let fence = decoder.submit(&VideoSubmission { ibs: &[ib(&hanging, 2)], ..VideoSubmission::default() }).unwrap();
    let lost = fence.wait(soon()).unwrap_err();
    assert!(lost.loss().is_some() && lost.vk_result() == VkResult::DeviceLost, "{lost}");
    assert!(decoder.retire().is_err());
}
