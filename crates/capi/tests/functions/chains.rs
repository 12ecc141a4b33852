//! Streams behind streams, and one stream in two submissions at once.

use std::{
    ptr::null_mut,
    sync::{
        Arc,
        atomic::{AtomicPtr, Ordering::Relaxed},
    },
    thread,
};

use amdgpu_layers::{Answered, Ioctl, Layer};
use amdgpu_winsys::uapi::{Argument, Cs};
use amdgpu_winsys_c::{border::*, objects::*, recording::*};

use super::{kernel, ok, submission};

/// PRE_ENA of the last dword of a jump.
const PRE_ENA: u32 = 1 << 21;

fn closed(device: *mut agw_device, ip: u32, flags: u32) -> *mut agw_stream {
    let mut stream = null_mut();
    ok!(agw_stream_create(device, ip, flags, 64, &raw mut stream));
    ok!(agw_stream_finalize(stream));
    stream
}

/// The last dword of a stream of one IB.
fn last_dword(stream: *mut agw_stream) -> u32 {
    let (mut ib, mut count) = (agw_ib { va: 0, dwords: 0, pad: 0 }, 1);
    ok!(agw_stream_ibs(stream, &raw mut ib, &raw mut count));
    let mut dwords = vec![0; usize::try_from(ib.dwords).unwrap()];
    ok!(agw_stream_read(stream, 0, dwords.as_mut_ptr(), ib.dwords));
    *dwords.last().unwrap()
}

#[test]
fn a_chain_is_replayed_after_a_preemption_where_the_ring_can() {
    let device = device_of_kernel(kernel()).unwrap();
    let [first, second, third] = [0; 3].map(|flags| closed(device, AGW_IP_GFX, flags));
    // SAFETY: live streams that the test alone uses.
    unsafe {
        let end = last_dword(first);
        assert!(agw_stream_chain_replayed(first, second));
        assert!(agw_stream_chain(second, third));
        assert_eq!([first, second].map(|stream| last_dword(stream) & PRE_ENA), [PRE_ENA, 0]);
        assert!(!agw_stream_chain_replayed(first, third), "it is chained");
        ok!(agw_stream_unchain(first));
        assert_eq!(last_dword(first), end);
        let alone = closed(device, AGW_IP_GFX, AGW_STREAM_UNCHAINED);
        assert!(!agw_stream_chain_replayed(first, alone) && !agw_stream_chain_replayed(alone, first));
        let compute = [0; 2].map(|flags| closed(device, AGW_IP_COMPUTE, flags));
        assert!(!agw_stream_chain_replayed(compute[0], compute[1]) && agw_stream_chain(compute[0], compute[1]));
        assert!(!agw_stream_chain_replayed(null_mut(), first) && !agw_stream_chain_replayed(first, null_mut()));
        for stream in [first, second, third, alone, compute[0], compute[1]] {
            agw_stream_destroy(stream);
        }
        agw_device_unref(device);
    }
}

/// A kernel that, asked to submit, has another thread submit the same stream first, and in a checked build try to record it.
#[derive(Default)]
struct Together {
    queue: AtomicPtr<agw_queue>,
    stream: AtomicPtr<agw_stream>,
}

impl Layer for &'static Together {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        let queue = if call.is(Cs::REQUEST) { self.queue.swap(null_mut(), Relaxed) } else { null_mut() };
        if !queue.is_null() {
            let (queue, stream) = (queue.expose_provenance(), self.stream.load(Relaxed).expose_provenance());
            let other = thread::spawn(move || {
                let queue = std::ptr::with_exposed_provenance(queue);
                let stream: *mut agw_stream = std::ptr::with_exposed_provenance_mut(stream);
                ok!(agw_queue_submit(queue, &submission(&[stream.cast_const()], &[]), null_mut()));
                // Other builds trust the contract of C.
                if cfg!(feature = "checked") {
                    // SAFETY: a live stream; that it is in use is what the test is about.
                    assert_eq!(unsafe { agw_stream_reset(stream) }, AGW_ERROR_INVALID_ARGUMENT);
                }
            });
            other.join().unwrap();
        }
        call.forward()
    }
}

#[test]
fn two_threads_submit_one_stream_at_once_and_a_checked_build_finds_who_records_it_meanwhile() {
    answer_faults();
    let together: &'static Together = Box::leak(Box::default());
    let device = device_of_kernel(Arc::new(together.over(kernel()))).unwrap();
    let (mut ctx, mut queues) = (null_mut(), [null_mut(); 2]);
    ok!(agw_ctx_create(device, AGW_PRIORITY_NORMAL, &raw mut ctx));
    for (ring, queue) in (0..).zip(&mut queues) {
        ok!(agw_queue_create(ctx, AGW_IP_COMPUTE, ring, queue));
    }
    let stream = closed(device, AGW_IP_COMPUTE, 0);
    together.stream.store(stream, Relaxed);
    together.queue.store(queues[1], Relaxed);
    ok!(agw_queue_submit(queues[0], &submission(&[stream.cast_const()], &[]), null_mut()));
    assert!(together.queue.load(Relaxed).is_null(), "the other thread was there");
    // SAFETY: one reference each.
    unsafe {
        for queue in queues {
            ok!(agw_queue_wait_idle(queue, u64::MAX));
            agw_queue_unref(queue);
        }
        ok!(agw_stream_reset(stream));
        agw_stream_destroy(stream);
        agw_ctx_unref(ctx);
        agw_device_unref(device);
    }
}
