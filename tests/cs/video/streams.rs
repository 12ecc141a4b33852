//! Streams for video engines: one IB each, of dwords that the caller encodes.

use std::sync::Arc;

use amdgpu_layers::FaultInjector;
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    cs::{self, Keep, SyncPoint, VideoError, VideoQueue, VideoStream, VideoSubmission},
    heaps::VkResult,
    uapi::{Argument, GemCreate},
    winsys::{Context, Device, Errno, Error, Ip, Priority, ResidencySet, Resident, Syncobj},
};

use super::{noted, soon, with_video};
use crate::support::{chip, host_memory, jobs::wait_for};

fn store(stream: &mut VideoStream, dwords: &[u32]) {
    stream.grow(dwords.len()).unwrap();
    stream.window()[..dwords.len()].copy_from_slice(dwords);
    stream.advance(dwords.len()).unwrap();
}

fn queue(device: &Device, ip: Ip) -> VideoQueue {
    VideoQueue::new(&Context::new(device, Priority::Normal).unwrap(), ip, 0).unwrap()
}

#[test]
fn a_stream_is_padded_as_its_engine_requires() {
    let (device, _) = with_video("navi21");
    let old = with_video("polaris10").0;
    let cases: [(&Device, Ip, &[u32], &[u32]); 6] = [
        (&device, Ip::VcnDec, &[0x81ff, 0], &[0x81ff, 0]),
        (&device, Ip::VcnJpeg, &[0x6000_0000, 0], &[0x6000_0000, 0]),
        (&old, Ip::Uvd, &[0x3bff, 0], &[0x8000_0000]),
        (&device, Ip::VcnEnc, &[8, 1], &[]),
        (&old, Ip::Vce, &[8, 1], &[]),
        (&old, Ip::UvdEnc, &[8, 1], &[]),
    ];
    for (device, ip, command, nop) in cases {
        let mut stream = VideoStream::new(device, ip, 8).unwrap();
        store(&mut stream, command);
        assert_eq!((stream.len(), stream.ip()), (command.len(), ip));
        let list = stream.finish().unwrap();
        let mut expected = command.to_vec();
        expected.extend(nop.iter().copied().cycle().take(if nop.is_empty() { 0 } else { 16 - command.len() }));
        assert_eq!(list.dwords(), expected, "{ip}");
        assert_eq!(list.ib().map(|ib| (ib.offset, ib.dwords as usize)), Some((0, expected.len())), "{ip}");
        // Without commands: a block of NOPs, but nothing for UVD, whose driver wants a message, and for encoders.
        let empty = list.record_again().unwrap().finish().unwrap();
        let is_block = !nop.is_empty() && ip != Ip::Uvd;
        assert_eq!((empty.len(), empty.ib().is_some()), (if is_block { 16 } else { 0 }, is_block), "{ip}");
    }
}

#[test]
fn a_stream_that_grows_stays_one_ib_with_all_that_was_stored_and_patched() {
    let (device, _) = with_video("navi21");
    let mut stream = VideoStream::new(&device, Ip::VcnDec, 16).unwrap();
    let (mut moves, mut at) = (0, stream.chunk().as_ptr());
    for value in 0..50_000_u32 {
        store(&mut stream, &[0x81ff, value]);
        moves += usize::from(stream.chunk().as_ptr() != at);
        at = stream.chunk().as_ptr();
    }
    assert!((3..20).contains(&moves), "the memory doubles: {moves}");
    stream.chunk()[1] = 7;
    let list = stream.finish().unwrap();
    assert_eq!((list.len(), &list.dwords()[..4]), (100_000, &[0x81ff, 7, 0x81ff, 1][..]));
    assert!(list.dwords().chunks(2).skip(1).enumerate().all(|(number, pair)| pair[1] as usize == number + 1));
    let queue = queue(&device, Ip::VcnDec);
    let ibs = [list.ib().unwrap()];
    let fence = queue.submit(&VideoSubmission { ibs: &ibs, memory: &list, ..VideoSubmission::default() }).unwrap();
    assert!(fence.wait(soon()).unwrap());
}

#[test]
fn what_no_ib_holds_is_refused_and_poisons_nothing() {
    let (device, _) = with_video("navi21");
    assert_eq!(VideoStream::new(&device, Ip::Gfx, 8).unwrap_err(), VideoError::NotVideo { ip: Ip::Gfx });
    let most = 0x7f_fff0 - 16;
    for dwords in [0, most + 1] {
        let refused = VideoStream::new(&device, Ip::VcnDec, dwords).unwrap_err();
        assert_eq!(refused, VideoError::Recording(cs::RecordError::StreamCapacity { dwords, most }));
        assert_eq!((refused.vk_result(), refused.loss()), (VkResult::Unknown, None));
    }
    let mut stream = VideoStream::new(&device, Ip::VcnDec, 8).unwrap();
    store(&mut stream, &[0x81ff, 0]);
    let refused = stream.grow(most - 1).unwrap_err();
    assert_eq!(refused, VideoError::Recording(cs::RecordError::TooLong { needed: most - 1, most: most - 2 }));
    let left = stream.window().len();
    let refused = stream.advance(left + 1).unwrap_err();
    assert_eq!(refused, VideoError::Recording(cs::RecordError::TooLong { needed: left + 1, most: left }));
    assert_eq!((stream.status(), stream.len()), (Ok(()), 2));
}

#[test]
fn a_stream_without_memory_to_grow_is_poisoned_until_it_is_cleared() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let mut stream = VideoStream::new(&device, Ip::VcnDec, 8).unwrap();
    kernel.fail_every_ioctl(GemCreate::REQUEST, Errno::ENOMEM);
    let error = stream.grow(5000).unwrap_err();
    assert_eq!((error.vk_result(), stream.window().len()), (VkResult::OutOfDeviceMemory, 0));
    kernel.stop();
    assert_eq!(stream.grow(5000), Err(error.clone()));
    assert_eq!(stream.status(), Err(error));
    stream.clear();
    store(&mut stream, &vec![0; 5000]);
    assert!(stream.finish().is_ok());
}

#[test]
fn memory_of_a_list_is_listed_and_kept_as_the_submission_says() {
    let (device, _) = with_video("navi21");
    let context = Context::new(&device, Priority::Normal).unwrap();
    let queue = VideoQueue::new(&context, Ip::VcnDec, 0).unwrap();
    let gfx = cs::Queue::new(&context, Ip::Gfx, 0).unwrap();
    let (picture, session, gate) = (host_memory(&device, 4096), host_memory(&device, 4096), host_memory(&device, 4096));
    let set = ResidencySet::new();
    set.add(session.binding());
    let mut child = VideoStream::new(&device, Ip::VcnDec, 8).unwrap();
    store(&mut child, &[0x81ff, 5]);
    child.keep(picture.binding());
    child.keep_set(&set);
    let child = child.finish().unwrap();
    let mut stream = VideoStream::new(&device, Ip::VcnDec, 8).unwrap();
    stream.copy(&child).unwrap();
    stream.keep(picture.binding());
    let mut list = stream.finish().unwrap();
    assert_eq!((list.dwords(), list.binding_count()), (child.dwords(), 2), "each once, and padded once");
    let foreign = VideoStream::new(&device, Ip::VcnJpeg, 8).unwrap().copy(&child).unwrap_err();
    assert_eq!(foreign, VideoError::OtherEngine { recorded: Ip::VcnDec, ip: Ip::VcnJpeg });
    let (another, _) = with_video("navi21");
    let foreign = VideoStream::new(&another, Ip::VcnDec, 8).unwrap().copy(&child).unwrap_err();
    assert_eq!(foreign, Error::ForeignDevice { what: "command list" }.into());
    assert_eq!((child.device(), child.device() == &another), (&device, false));
    drop(child);

    let (picture, session) = (picture.binding().clone(), session.binding().clone());
    let waiting = wait_for(&device, gfx.target(), gate.address(), 1);
    let waiting = gfx.submit(&cs::Submission { lists: &[&waiting], memory: &gate, ..Default::default() }).unwrap();
    let counts = || (picture.handle_count(), session.handle_count());
    let before = counts();
    // Nothing is kept, then the IB, then everything.
    for (keep, more) in [(Keep::Nothing, 0), (Keep::Lists, 0), (Keep::Everything, 1)] {
        let ibs = [list.ib().unwrap()];
        let submission = VideoSubmission { ibs: &ibs, memory: &list, keep, after: &[&waiting], ..Default::default() };
        queue.submit(&submission).unwrap();
        assert_eq!(counts(), (before.0 + more, before.1 + more), "{keep:?}");
        list = match list.record_again() {
            Ok(_) if keep != Keep::Nothing => panic!("{keep:?}: the queue has it"),
            Ok(stream) => {
                let mut stream = stream;
                stream.keep(&picture);
                stream.keep_set(&set);
                stream.finish().unwrap()
            }
            Err(list) => list,
        };
    }
    gate.map().unwrap().store_u32(0, 1).unwrap();
    assert!(queue.wait_idle(soon()).unwrap());
    assert_eq!((queue.in_flight(), counts()), (Ok(0), before));
    let again = list.record_again().unwrap();
    assert!(again.is_empty() && again.finish().unwrap().binding_count() == 0);
}

#[test]
fn a_signal_without_an_ib_comes_after_earlier_submissions_and_its_waits_and_before_later_ones() {
    let (device, _) = with_video("navi21");
    let context = Context::new(&device, Priority::Normal).unwrap();
    let queue = VideoQueue::new(&context, Ip::VcnDec, 0).unwrap();
    let gfx = cs::Queue::new(&context, Ip::Gfx, 0).unwrap();
    let line = Syncobj::new(&device, false).unwrap();
    let [earlier, first, second, done] = [(); 4].map(|()| Syncobj::new(&device, false).unwrap());

    // Nothing was submitted yet: the CPU signals.
    assert_eq!(queue.signal(&[], &[SyncPoint::binary(&earlier), SyncPoint::timeline(&line, 1)]), Ok(0));
    assert!(earlier.wait(soon()).unwrap() && line.query() == Ok(1) && queue.wait_idle(soon()) == Ok(true));

    let [gate_of_ib, gate_of_wait] = [(); 2].map(|()| host_memory(&device, 4096));
    let held = |gate: &_, signal: &Syncobj| {
        let gate: &amdgpu_winsys::heaps::DeviceMemory = gate;
        let list = wait_for(&device, gfx.target(), gate.address(), 1);
        let signals = [SyncPoint::binary(signal)];
        gfx.submit(&cs::Submission { lists: &[&list], memory: gate, signals: &signals, ..Default::default() }).unwrap()
    };
    let waiting = held(&gate_of_ib, &first);
    held(&gate_of_wait, &second);
    let list = VideoStream::new(&device, Ip::VcnDec, 8).unwrap().finish().unwrap();
    let ibs = [list.ib().unwrap()];
    queue.submit(&VideoSubmission { ibs: &ibs, after: &[&waiting], ..Default::default() }).unwrap();
    // After the submission alone; and after a wait too.
    assert_eq!(queue.signal(&[], &[SyncPoint::timeline(&line, 2)]), Ok(1));
    let waits = [SyncPoint::binary(&second), SyncPoint::timeline(&line, 1)];
    assert_eq!(queue.signal(&waits, &[SyncPoint::binary(&done), SyncPoint::timeline(&line, 3)]), Ok(1));
    let later = queue.submit(&VideoSubmission { ibs: &ibs, ..Default::default() }).unwrap();
    assert_eq!((line.query(), later.is_done()), (Ok(1), Ok(false)));
    gate_of_ib.map().unwrap().store_u32(0, 1).unwrap();
    assert!(line.wait_point(2, soon()).unwrap());
    assert_eq!((line.query(), later.is_done()), (Ok(2), Ok(false)), "the wait holds both");
    gate_of_wait.map().unwrap().store_u32(0, 1).unwrap();
    assert!(done.wait(soon()).unwrap() && line.wait_point(3, soon()).unwrap() && later.wait(soon()).unwrap());
}

#[test]
fn a_signal_without_an_ib_refuses_waits_without_a_fence_and_sync_objects_of_others() {
    let (device, kernel) = with_video("navi21");
    let queue = queue(&device, Ip::VcnEnc);
    let [unset, after] = [(); 2].map(|()| Syncobj::new(&device, false).unwrap());
    let refused = queue.signal(&[SyncPoint::binary(&unset)], &[SyncPoint::binary(&after)]).unwrap_err();
    let VideoError::Winsys(error) = refused else { panic!("{refused}") };
    assert_eq!(error.errno(), Some(Errno::EINVAL));
    let stranger = Syncobj::new(&crate::support::device("navi21"), true).unwrap();
    let seen = noted(&kernel);
    for (waits, signals) in [([&stranger], [&after]), ([&unset], [&stranger])] {
        let [wait, signal] = [waits[0], signals[0]].map(|syncobj| [SyncPoint::binary(syncobj)]);
        let foreign = VideoError::Winsys(Error::ForeignDevice { what: "sync object" });
        assert_eq!(queue.signal(&wait, &signal), Err(foreign));
    }
    assert!(seen.lock().unwrap().is_empty(), "the kernel was not asked");
}
