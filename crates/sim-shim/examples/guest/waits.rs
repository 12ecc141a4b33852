//! Waiting at the server.

use std::{
    os::fd::AsRawFd,
    sync::atomic::{AtomicBool, Ordering},
};

use amdgpu_winsys::uapi::{SyncobjArray, SyncobjCreate, SyncobjWait, SyncobjWaitFlags};
use nix::{
    errno::Errno,
    sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction},
};

use crate::node::{RENDER, create, ioctl, ioctl_as, open};

/// SYNCOBJ_WAIT with WAIT_FOR_SUBMIT, up to an absolute time.
pub(crate) fn wait_for_submission(node: &impl AsRawFd, handle: u32, timeout: i64) -> Result<(), Errno> {
    let handles = [handle];
    let mut wait = SyncobjWait {
        handles: handles.as_ptr().expose_provenance() as u64,
        timeout_nsec: timeout,
        count_handles: 1,
        flags: SyncobjWaitFlags::WAIT_FOR_SUBMIT.bits(),
        ..SyncobjWait::ZEROED
    };
    ioctl(node, &mut wait)
}

fn signal_object(node: &impl AsRawFd, handle: u32) -> Result<(), Errno> {
    let handles = [handle];
    let mut array = SyncobjArray { handles: handles.as_ptr().expose_provenance() as u64, count_handles: 1, pad: 0 };
    ioctl_as(node, amdgpu_winsys::uapi::SYNCOBJ_SIGNAL, &mut array)
}

fn new_object(node: &impl AsRawFd) -> u32 {
    let mut request = SyncobjCreate { handle: 0, flags: 0 };
    ioctl(node, &mut request).expect("a sync object");
    request.handle
}

/// A thread in a long wait holds up no other, more of them than connections are kept.
pub(crate) fn threads() {
    const WAITERS: usize = 40;
    let node = open(RENDER);
    let objects: Vec<u32> = (0..WAITERS).map(|_| new_object(&node)).collect();
    let node = &node;
    std::thread::scope(|scope| {
        let waits: Vec<_> =
            objects.iter().map(|&object| scope.spawn(move || wait_for_submission(node, object, i64::MAX))).collect();
        for &object in &objects {
            create(node, 4096).expect("a BO while others wait");
            signal_object(node, object).expect("SYNCOBJ_SIGNAL");
        }
        for wait in waits {
            assert_eq!(wait.join().expect("the thread"), Ok(()));
        }
    });
}

static CAME: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_: i32) {
    CAME.store(true, Ordering::SeqCst);
}

/// A signal that is not to be restarted ends a wait with EINTR.
#[expect(unsafe_code, reason = "a signal handler")]
pub(crate) fn signal() {
    let node = open(RENDER);
    let object = new_object(&node);
    let action = SigAction::new(SigHandler::Handler(note), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler only stores to an atomic.
    unsafe { sigaction(Signal::SIGUSR1, &action) }.expect("sigaction");
    let waiter = nix::sys::pthread::pthread_self();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Again and again, for the first may come before the wait has begun.
            while !done.load(Ordering::SeqCst) {
                nix::sys::pthread::pthread_kill(waiter, Signal::SIGUSR1).expect("pthread_kill");
                std::thread::yield_now();
            }
        });
        let result = wait_for_submission(&node, object, i64::MAX);
        done.store(true, Ordering::SeqCst);
        assert_eq!(result, Err(Errno::EINTR));
    });
    assert!(CAME.load(Ordering::SeqCst));
    assert_eq!(create(&node, 4096), Ok(1), "the connection is still of use");
}
