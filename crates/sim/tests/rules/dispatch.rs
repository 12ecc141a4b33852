//! R1 to R7: from a request number to a handler, and what becomes of the argument.

use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        Argument, CsFence, Ctx, GemClose, GemFlink, GemMmap, GemOpen, GemUserptr, GemVa, GemVaTimeline, GetCap,
        Request, SYNCOBJ_TIMELINE_WAIT_SIZE_WITHOUT_DEADLINE, SYNCOBJ_WAIT_SIZE_WITHOUT_DEADLINE, Sched, SetClientCap,
        SyncobjCreate, SyncobjTimelineWait, SyncobjWait, SyncobjWaitFlags, VaOperation, Version, WaitCs, WaitFences,
        cap, ctx_op, priority,
    },
    winsys::Ip,
};
use zerocopy::{FromBytes, IntoBytes};

use crate::support::{File, PAGE, RWX, address, file};

// Checks R1.
#[test]
fn a_foreign_type_is_enotty_and_a_number_without_a_line_is_einval() {
    let file = file();
    assert_eq!(file.raw(Request::bare(b'b', 0), &mut []), Err(Errno::ENOTTY));
    for number in (0x4a..=0x4f).chain(0x56..=0x9f).chain([0x03, 0x04, 0x08]).chain(0xd1..=0xff) {
        let request = Request::read_write::<[u8; 64]>(b'd', number);
        assert_eq!(file.raw(request, &mut [0; 64]), Err(Errno::EINVAL), "{number:#x}");
    }
    assert!(file.complaints().contains("no DRM or amdgpu request has this number"), "{}", file.complaints());
}

/// Source: Linux 6.17 `amdgpu_userq.c`, `amdgpu_userq_ioctl`; `errno.h`, ENOTSUPP.
#[test]
fn linux_6_17_knows_requests_of_user_queues_and_has_none() {
    let options = SimOptions::of_kernel(KernelRelease::V6_17);
    let file = File(SimDevice::new(profile("navi31").unwrap(), options).open());
    let asked = |number| file.raw(Request::read_write::<[u8; 72]>(b'd', number), &mut [0; 72]);
    assert_eq!([0x56, 0x57, 0x58].map(asked), [Err(Errno::from_raw(524)); 3]);
    assert_eq!(asked(0x59), Err(Errno::EINVAL));
}

// Checks R2.
#[test]
fn gem_va_takes_40_or_64_bytes_in_either_direction() {
    let file = file();
    let bo = file.create(PAGE);
    let (map, unmap) = (VaOperation::Map as u32, VaOperation::Unmap as u32);
    let request = GemVaTimeline {
        handle: bo,
        flags: RWX.bits(),
        va_address: 0x10_0000,
        map_size: PAGE,
        vm_timeline_point: u64::MAX,
        vm_timeline_syncobj_out: 99,
        num_syncobj_handles: u32::MAX,
        input_fence_syncobj_handles: u64::MAX,
        ..GemVaTimeline::ZEROED
    };
    let both = |size| Request::read_write::<GemVa>(b'd', 0x48).with_size(size);
    let write_only = |size| GemVa::REQUEST.with_size(size);
    for number in [write_only(40), write_only(64), both(40), both(64)] {
        let mut sent = GemVaTimeline { operation: map, ..request };
        file.send_as(number, &mut sent).unwrap();
        assert_eq!(sent, GemVaTimeline { operation: map, ..request }, "nothing is written back");
        assert_eq!(file.send_as(number, &mut sent), Err(Errno::EINVAL), "it is bound already");
        file.send_as(number, &mut GemVaTimeline { operation: unmap, ..request }).unwrap();
    }
    assert_eq!(file.0.census().bindings, 0);
}

// Checks R3.
#[test]
fn the_waits_without_a_deadline_field_still_work() {
    let file = file();
    let handles = [file.syncobj(false), file.syncobj(true)];
    let mut wait = SyncobjWait { handles: address(&handles[1..]), count_handles: 1, ..SyncobjWait::ZEROED };
    wait.deadline_nsec = 0xdead;
    file.send_as(SyncobjWait::REQUEST.with_size(SYNCOBJ_WAIT_SIZE_WITHOUT_DEADLINE), &mut wait).unwrap();
    assert_eq!((wait.first_signaled, wait.deadline_nsec), (0, 0xdead));

    let flags = SyncobjWaitFlags::WAIT_FOR_SUBMIT.bits();
    let mut wait = SyncobjTimelineWait { handles: address(&handles), count_handles: 2, ..SyncobjTimelineWait::ZEROED };
    wait.flags = flags;
    let short = SyncobjTimelineWait::REQUEST.with_size(SYNCOBJ_TIMELINE_WAIT_SIZE_WITHOUT_DEADLINE);
    file.send_as(short, &mut wait).unwrap();
    assert_eq!(wait.first_signaled, 1);
}

// Checks R4.
#[test]
fn a_short_argument_is_extended_by_zeros_and_never_overrun() {
    let file = file();
    // Only the size is sent: domains and flags read as zero.
    let mut bytes = [0x55; 32];
    bytes[..16].copy_from_slice([PAGE, 0].as_bytes());
    file.raw(Request::read_write::<[u8; 16]>(b'd', 0x40), &mut bytes).unwrap();
    assert_eq!(u32::read_from_bytes(&bytes[..4]), Ok(1));
    assert!(bytes[16..].iter().all(|&byte| byte == 0x55));
    // The capability is taken, the value does not fit back.
    let mut query = GetCap { capability: cap::SYNCOBJ, value: 7 };
    file.send_as(GetCap::REQUEST.with_size(8), &mut query).unwrap();
    assert_eq!(query.value, 7);
    // A read-only number copies nothing in: the capability is 0, which does not exist.
    let mut query = GetCap { capability: cap::SYNCOBJ, value: 7 };
    assert_eq!(file.send_as(Request::read::<GetCap>(b'd', 0x0c), &mut query), Err(Errno::EINVAL));
    assert_eq!(query, GetCap::ZEROED);
    // A write-only one copies nothing out.
    let mut query = GetCap { capability: cap::SYNCOBJ, value: 7 };
    file.send_as(Request::write::<GetCap>(b'd', 0x0c), &mut query).unwrap();
    assert_eq!(query.value, 7);
    // A longer one gets its tail back as it was.
    let mut long = [9_u64; 5];
    long[0] = cap::SYNCOBJ;
    file.raw(GetCap::REQUEST.with_size(40), long.as_mut_bytes()).unwrap();
    assert_eq!(long, [cap::SYNCOBJ, 1, 9, 9, 9]);
}

// Checks R5.
#[test]
fn a_null_argument_is_efault_before_permissions() {
    let file = file();
    for request in [GemClose::REQUEST, Version::REQUEST, GemVa::REQUEST, Sched::REQUEST, GemFlink::REQUEST] {
        assert_eq!(file.null(request), Err(Errno::EFAULT), "{request:?}");
    }
    assert_eq!(file.null(Request::bare(b'd', 0x1e)), Err(Errno::EACCES), "without an argument there is none to fault");
    assert_eq!(file.null(Request::read::<[u8; 8]>(b'd', 0x4a)), Err(Errno::EINVAL), "no line comes first");
}

// Checks R292.
#[test]
fn an_answer_that_cannot_be_written_is_efault_after_the_request_is_done() {
    let file = file();
    assert_eq!(file.null(Request::read::<SyncobjCreate>(b'd', 0xbf)), Err(Errno::EFAULT));
    assert_eq!(file.0.census().syncobjs, 1, "the kernel found out too late");
    // The argument of a request that is also read is missed first.
    assert_eq!(file.null(SyncobjCreate::REQUEST), Err(Errno::EFAULT));
    assert_eq!(file.0.census().syncobjs, 1);
}

// Checks R6.
#[test]
fn a_render_node_has_no_right_to_display_and_master_requests() {
    let file = file();
    assert_eq!(file.send(&mut Sched::default()), Err(Errno::EACCES));
    assert_eq!(file.send(&mut SetClientCap::default()), Err(Errno::EACCES));
    assert_eq!(file.send(&mut GemFlink::default()), Err(Errno::EACCES));
    assert_eq!(file.send(&mut GemOpen::default()), Err(Errno::EACCES));
    assert_eq!(file.raw(Request::read_write::<[u8; 40]>(b'd', 0x05), &mut [0; 40]), Err(Errno::EACCES));
    for number in (0xa0..=0xbe).chain(0xc6..=0xc9).chain([0xce, 0xd0]) {
        let request = Request::read_write::<[u8; 64]>(b'd', number);
        assert_eq!(file.raw(request, &mut [0; 64]), Err(Errno::EACCES), "{number:#x}");
    }
}

// Checks R7.
#[test]
fn a_failed_gem_mmap_leaves_zeros() {
    let mut request = GemMmap { handle: 77, pad: u32::MAX };
    assert_eq!(file().send(&mut request), Err(Errno::ENOENT));
    assert_eq!(request, GemMmap::ZEROED);
}

// Checks R7.
#[test]
fn a_context_without_the_right_to_its_priority_leaves_word_0_zero() {
    let mut request = Ctx { op: ctx_op::ALLOC_CTX, flags: 0, ctx_id: 5, priority: priority::HIGH };
    assert_eq!(file().send(&mut request), Err(Errno::EACCES));
    assert_eq!(request.op, 0);
    assert_eq!(request.priority, priority::HIGH);
}

// Checks R7.
#[test]
fn failed_waits_leave_the_argument_as_it_was() {
    let file = file();
    let wait = WaitCs { handle: 1, timeout: 2, ip_type: Ip::Gfx as u32, ip_instance: 0, ring: 0, ctx_id: 9 };
    let mut sent = wait;
    assert_eq!(file.send(&mut sent), Err(Errno::EINVAL));
    assert_eq!(sent, wait);
    let fences = [CsFence::ZEROED];
    let wait = WaitFences { fences: address(&fences), fence_count: 1, wait_all: 1, timeout_ns: 3 };
    let mut sent = wait;
    assert_eq!(file.send(&mut sent), Err(Errno::EINVAL));
    assert_eq!(sent, wait);
    let handles = [file.syncobj(false)];
    let wait = SyncobjWait { handles: address(&handles), count_handles: 1, flags: 2, ..SyncobjWait::ZEROED };
    let mut sent = SyncobjWait { first_signaled: 42, ..wait };
    assert_eq!(file.send(&mut sent), Err(Errno::ETIME));
    assert_eq!(sent.first_signaled, 42);
}

#[test]
fn a_failed_userptr_and_a_handler_that_fails_still_copy_out() {
    // Step 11 of the dispatch runs after failures too: GET_CAP zeroes the value of what it does not know.
    let file = file();
    let mut query = GetCap { capability: 0x4711, value: 7 };
    assert_eq!(file.send(&mut query), Err(Errno::EINVAL));
    assert_eq!(query, GetCap { capability: 0x4711, value: 0 });
    let mut user = GemUserptr { addr: 1, size: PAGE, flags: 1, handle: 8 };
    assert_eq!(file.send(&mut user), Err(Errno::EINVAL));
    assert_eq!(user.handle, 8);
}
