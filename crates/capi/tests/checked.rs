//! A checked build ends the process of a caller who breaks a rule, and says which function, which argument and what is wrong.
//!
//! Each case runs in a process of its own: this program, called for one case.
#![cfg(feature = "checked")]
#![expect(unsafe_code, reason = "the functions are C's")]
#![expect(clippy::multiple_unsafe_ops_per_block, reason = "each case is one broken rule")]

mod support;

use std::{
    env,
    ffi::CStr,
    os::unix::process::ExitStatusExt,
    process::Command,
    ptr::{null, null_mut},
    sync::atomic::{AtomicPtr, Ordering},
    thread,
};

use amdgpu_layers::{Answered, Ioctl, Layer};
use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::uapi::{Argument, GemCreate};
use amdgpu_winsys_c::{border::*, objects::*, recording::*};
use support::request;

/// The variable that names the case.
const CASE: &str = "AGW_CHECKED_CASE";

fn kernel() -> SimKernel {
    SimKernel::open(profile("navi21").unwrap())
}

fn device() -> *mut agw_device {
    device_of_kernel(kernel()).unwrap()
}

fn bo(device: *mut agw_device) -> *mut agw_bo {
    let mut bo = null_mut();
    // SAFETY: a live device, and variables of this function.
    assert_eq!(unsafe { agw_bo_create(device, &request(4096), &raw mut bo) }, AGW_SUCCESS);
    bo
}

fn stream(device: *mut agw_device) -> *mut agw_stream {
    let mut stream = null_mut();
    // SAFETY: as above.
    assert_eq!(unsafe { agw_stream_create(device, AGW_IP_GFX, 0, 64, &raw mut stream) }, AGW_SUCCESS);
    stream
}

/// The stream that another thread uses while it grows.
static SHARED: AtomicPtr<agw_stream> = AtomicPtr::new(null_mut());

/// A kernel in which the creation of a BO takes so long that another thread comes.
struct Slow;

impl Layer for Slow {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        if call.is(GemCreate::REQUEST) && !SHARED.load(Ordering::Relaxed).is_null() {
            thread::spawn(|| {
                // SAFETY: a live stream; that another thread uses it is what the case is about.
                unsafe { agw_stream_pad(SHARED.load(Ordering::Relaxed), 0) }
            })
            .join()
            .unwrap();
        }
        call.forward()
    }
}

/// A case: its name, the message, and what a caller does. Those with a message break a rule.
type Case = (&'static str, &'static str, fn());

const CASES: &[Case] = &[
    ("right", "", || {
        let device = device();
        let (bo, stream) = (bo(device), stream(device));
        // SAFETY: live objects, freed once each.
        unsafe {
            assert_eq!(agw_stream_add_bo(stream, bo), AGW_SUCCESS);
            agw_bo_unref(agw_bo_ref(bo));
            agw_device_unref(device);
            agw_bo_unref(bo);
            agw_stream_destroy(stream);
        }
    }),
    ("faults as answers", "", || {
        let device = device();
        let bo = bo(device);
        let mut pointer = null_mut();
        answer_faults();
        // SAFETY: broken on purpose; a checked build looks first. At the end no handle is used any more.
        unsafe {
            agw_bo_unref(bo);
            assert_eq!(agw_bo_map(bo, &raw mut pointer), AGW_ERROR_INVALID_ARGUMENT);
            assert_eq!(CStr::from_ptr(agw_last_error()), c"bo: the agw_bo was freed");
            assert_eq!(agw_bo_map(device.cast(), &raw mut pointer), AGW_ERROR_INVALID_ARGUMENT);
            agw_bo_unref(bo);
            assert_eq!(agw_bo_ref(bo), bo);
            assert!(pointer.is_null());
            assert_eq!(forget_freed(), 1, "the device is alive");
            agw_device_unref(device);
            assert_eq!(forget_freed(), 0);
        }
    }),
    ("freed", "agw_bo_map: argument bo: the agw_bo was freed", || {
        let bo = bo(device());
        let mut pointer = null_mut();
        // SAFETY: broken on purpose, as in all cases below.
        unsafe {
            agw_bo_unref(bo);
            agw_bo_map(bo, &raw mut pointer);
        }
    }),
    ("freed twice", "agw_bo_unref: argument bo: the agw_bo was freed", || {
        let bo = bo(device());
        // SAFETY: see the first case.
        unsafe {
            agw_bo_unref(bo);
            agw_bo_unref(bo);
        }
    }),
    ("freed device", "agw_device_name: argument device: the agw_device was freed", || {
        let device = device();
        // SAFETY: see the first case.
        unsafe {
            agw_device_unref(device);
            agw_device_name(device);
        }
    }),
    ("another type", "agw_ctx_id: argument ctx: is no agw_ctx but an agw_bo", || {
        // SAFETY: see the first case.
        unsafe { agw_ctx_id(bo(device()).cast()) };
    }),
    ("foreign", "agw_device_fd: argument device: is no agw_device", || {
        let mut memory = [0_u64; 64];
        // SAFETY: see the first case.
        unsafe { agw_device_fd(memory.as_mut_ptr().cast()) };
    }),
    ("freed in an array", "agw_sync_wait: argument points: the agw_sync was freed", || {
        let mut sync = null_mut();
        // SAFETY: see the first case.
        unsafe {
            agw_sync_create(device(), true, &raw mut sync);
            agw_sync_destroy(sync);
            agw_sync_wait([agw_sync_point { sync, point: 0 }].as_ptr(), 1, 0, 0);
        }
    }),
    ("two threads", "agw_stream_pad: argument stream: another thread uses the stream", || {
        let device = device_of_kernel(Slow.over(kernel())).unwrap();
        let stream = stream(device);
        SHARED.store(stream, Ordering::Relaxed);
        // SAFETY: see the first case.
        unsafe { agw_stream_grow(stream, 1 << 16) };
    }),
    (
        "size of a structure",
        "agw_bo_create: argument request: struct_size is 0, and not the size of a struct agw_bo_request",
        || {
            let (mut request, mut bo) = (request(4096), null_mut());
            request.struct_size = 0;
            // SAFETY: see the first case.
            unsafe { agw_bo_create(device(), &raw const request, &raw mut bo) };
        },
    ),
    ("length of an array", "agw_sync_wait: argument points: has more than 1 GiB", || {
        let points = [agw_sync_point { sync: null(), point: 0 }];
        // SAFETY: see the first case.
        unsafe { agw_sync_wait(points.as_ptr(), u32::MAX, 0, 0) };
    }),
    ("alignment", "agw_bo_create: argument bo: is not aligned as its type is", || {
        let mut places = [null_mut::<agw_bo>(); 2];
        // SAFETY: see the first case.
        unsafe { agw_bo_create(device(), &request(4096), places.as_mut_ptr().byte_add(1)) };
    }),
];

/// Runs the case that the variable names; without one it has nothing to do.
#[test]
fn child() {
    let Some(wanted) = env::var_os(CASE) else { return };
    let (_, _, case) = CASES.iter().find(|(name, ..)| wanted == *name).unwrap();
    case();
}

#[test]
fn every_broken_rule_ends_the_process_with_function_argument_and_fault() {
    for (name, message, _) in CASES {
        let child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .env(CASE, name)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stderr).into_owned();
        if message.is_empty() {
            assert!(child.status.success(), "{name}: {said}");
            continue;
        }
        assert_eq!(child.status.signal(), Some(libc::SIGABRT), "{name}: {said}");
        assert!(said.lines().any(|line| line == *message), "{name}: {said}");
    }
}
