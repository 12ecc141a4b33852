//! The test can fail: a kernel that does one thing wrong makes the check fail that is there to find it.
#![expect(unsafe_code, reason = "a kernel that lies, and turns bits in mapped memory")]

mod held;
mod saboteur;

use std::{
    mem::offset_of,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use amdgpu_layers::{Answered, Ioctl, Layer};
use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_smoke::{CheckResult, Count, Exit, Options, Report, Status, Target, run};
use amdgpu_winsys::{
    uapi::{
        Answered as _, Argument, Cs, CsChunkIb, Ctx, CtxStateFlags, GemClose, GemCreate, GemDomain, GemMetadata,
        GemUserptr, GemVa, METADATA_OP_SET, MemoryInfo, PRIME_FD_TO_HANDLE, PrimeHandle, SyncobjArray,
        SyncobjTimelineWait, SyncobjWait, VaOperation, Version, WaitCs, chunk_id, ctx_op, query,
    },
    winsys::{Device, Errno},
};
use held::Held;
use saboteur::{Saboteur, Seen, Trick, lie, lie_as, lock, make_as};

/// Descriptors and mappings are counted for the whole process, so only one test runs at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn counted_bos(gpu: &SimDevice) -> Vec<Count> {
    vec![("BOs", gpu.census().bos as u64)]
}

fn run_with(private_mappings: bool, filter: &str, trick: Trick) -> Report {
    let _turn = lock(&ONE_AT_A_TIME);
    let gpu = SimDevice::new(amdgpu_sim::profile("navi21").unwrap(), SimOptions::hanging_for(Duration::from_secs(1)));
    let counted = gpu.clone();
    let open = move || Device::new(Saboteur { seen: Seen::default(), trick, private_mappings }.over(gpu.open()));
    let target = Target::new("sabotaged", open).simulating().counting(move || counted_bos(&counted));
    run(&target, &Options::filtered(filter).unwrap(), &mut ())
}

fn result<'a>(report: &'a Report, id: &str) -> &'a CheckResult {
    report.results.iter().find(|result| result.id == id).unwrap_or_else(|| panic!("{id} did not run: {report:#?}"))
}

/// The check fails, its evidence holds the text, and with it the run fails.
#[track_caller]
fn fails(report: &Report, id: &str, evidence: &str) {
    let result = result(report, id);
    assert_eq!(result.status, Status::Fail, "{id}: {}", result.detail);
    assert!(result.detail.contains(evidence), "{id}: {:?} does not say {evidence:?}", result.detail);
    assert!(matches!(Exit::of(report), Exit::Fail | Exit::Aborted));
}

#[test]
fn an_honest_kernel_passes() {
    let report = run_with(false, "", |_, call| call.forward());
    let bad: Vec<_> =
        report.results.iter().filter(|result| matches!(result.status, Status::Fail | Status::Crash)).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    assert_eq!(Exit::of(&report), Exit::Pass);
}

#[test]
fn another_driver_is_not_opened() {
    let report = run_with(false, "exec", |_, call| {
        let is_version = call.is(Version::REQUEST);
        let mut answered = call.forward();
        if is_version {
            let version = Version { version_minor: 1, ..answered.read() };
            // SAFETY: the addresses are the caller's own.
            unsafe { answered.write(&version) };
        }
        answered
    });
    fails(&report, "inventory.open", "amdgpu 3.1 is not supported");
    assert_eq!(report.results.len(), 1);
    assert_eq!(Exit::of(&report), Exit::Fail);
}

#[test]
fn a_pool_fuller_than_it_is_large_is_found() {
    let report = run_with(false, "inventory", |_, call| {
        let asks = call.query().is_some_and(|info| info.query == query::MEMORY);
        let mut answered = call.forward();
        if asks {
            answered.patch_info(offset_of!(MemoryInfo, gtt.heap_usage), &(1_u64 << 60).to_ne_bytes());
        }
        answered
    });
    fails(&report, "inventory.pools", "of GTT are in use");
}

#[test]
fn a_clock_that_stands_still_is_found() {
    let report = run_with(false, "inventory", |_, call| match call.query() {
        Some(info) if info.query == query::TIMESTAMP => call.answer_info(&7_u64.to_ne_bytes()),
        _ => call.forward(),
    });
    fails(&report, "inventory.clock", "from 7 to 7");
}

#[test]
fn memory_in_the_wrong_domain_is_found() {
    let report = run_with(false, "bo.create", |_, call| {
        if !call.is(GemCreate::REQUEST) {
            return call.forward();
        }
        let mut create = GemCreate { domains: GemDomain::GTT.bits(), ..call.read() };
        make_as(call, &mut create)
    });
    fails(&report, "bo.create", "domain the kernel remembers");
}

#[test]
fn mappings_that_do_not_share_are_found() {
    let report = run_with(true, "bo.map", |_, call| call.forward());
    fails(&report, "bo.map", "byte 0x0 of 0x2000: found 00");
}

#[test]
fn lost_metadata_is_found() {
    let report = run_with(false, "bo.metadata", |_, call| {
        let stores = call.is(GemMetadata::REQUEST) && call.read::<GemMetadata>().op == METADATA_OP_SET;
        if stores { lie(call, &[]) } else { call.forward() }
    });
    fails(&report, "bo.metadata", "flags: found 0, expected 90");
}

/// Makes a BO, and returns its handle.
fn other_bo(call: &Ioctl<'_>, bo_size: u64) -> Result<u32, Errno> {
    let mut create = GemCreate { bo_size, alignment: 0, domains: GemDomain::GTT.bits(), domain_flags: 0 };
    // SAFETY: the handle is the caller's, in the place of the one that it asked for.
    unsafe { call.ask(GemCreate::REQUEST, &mut create) }?;
    Ok(create.answer().handle)
}

#[test]
fn an_import_that_is_another_bo_is_found() {
    let report = run_with(false, "prime", |_, call| {
        if !call.is(PRIME_FD_TO_HANDLE) {
            return call.forward();
        }
        match other_bo(&call, 64 << 10) {
            Ok(handle) => {
                let answer = PrimeHandle { handle, ..call.read() };
                lie_as(call, &answer)
            }
            Err(errno) => call.refuse(errno),
        }
    });
    fails(&report, "prime.share", "byte 0x0");
    fails(&report, "prime.again", "handle where it was created");
}

#[test]
fn user_memory_that_is_other_memory_is_found() {
    let report = run_with(false, "userptr", |_, call| {
        if !call.is(GemUserptr::REQUEST) {
            return call.forward();
        }
        let asked: GemUserptr = call.read();
        match other_bo(&call, asked.size) {
            Ok(handle) => lie_as(call, &GemUserptr { handle, ..asked }),
            Err(errno) => call.refuse(errno),
        }
    });
    fails(&report, "userptr.share", "byte 0x0 of 0x10000: found 00");
}

#[test]
fn a_sync_object_that_is_always_signalled_is_found() {
    let report = run_with(false, "syncobj", |_, call| {
        let waits = call.is(SyncobjWait::REQUEST) || call.is(SyncobjTimelineWait::REQUEST);
        if waits { lie(call, &[]) } else { call.forward() }
    });
    for id in ["syncobj.binary", "syncobj.timeline", "syncobj.share"] {
        fails(&report, id, "found true, expected false");
    }
}

#[test]
fn a_sync_object_that_is_never_reset_is_found() {
    let report =
        run_with(
            false,
            "syncobj",
            |_, call| {
                if call.is(SyncobjArray::REQUEST) { lie(call, &[]) } else { call.forward() }
            },
        );
    fails(&report, "syncobj.binary", "signalled after reset");
    fails(&report, "syncobj.share", "signalled here after a reset there");
}

#[test]
fn a_refused_submission_is_reported_with_its_errno() {
    let report =
        run_with(
            false,
            "exec.nop",
            |_, call| {
                if call.is(Cs::REQUEST) { call.refuse(Errno::ENOMEM) } else { call.forward() }
            },
        );
    for id in ["exec.nop.gfx0", "exec.nop.compute0", "exec.nop.sdma0"] {
        fails(&report, id, "submitting: AMDGPU_CS: ENOMEM");
    }
    assert_eq!(Exit::of(&report), Exit::Fail);
}

#[test]
fn a_sequence_number_that_was_not_issued_is_found() {
    let report = run_with(false, "exec.fence.gfx0", |_, call| {
        let submits = call.is(Cs::REQUEST);
        let mut answered = call.forward();
        if submits {
            let sequence = answered.read::<Cs>().answer().handle + 1;
            // SAFETY: a number that names nothing.
            unsafe { answered.write_bytes(&sequence.to_ne_bytes()) };
        }
        answered
    });
    fails(&report, "exec.fence.gfx0", "waiting for the job: AMDGPU_WAIT_CS: EINVAL");
}

/// Jobs are taken and never run, and waits say so.
fn never_runs<'c>(_: &Seen, call: Ioctl<'c>) -> Answered<'c> {
    /// The library's probe for kernels that know no refusal; an honest answer keeps it from taking us for one.
    const PROBED: u64 = 1 << 40;
    const BUSY: u64 = 1;
    if call.is(Cs::REQUEST) {
        return lie(call, &1_u64.to_ne_bytes());
    }
    if call.is(WaitCs::REQUEST) && call.read::<WaitCs>().handle < PROBED {
        return lie(call, &BUSY.to_ne_bytes());
    }
    call.forward()
}

#[test]
fn a_ring_that_executes_nothing_is_found_on_every_check() {
    let report = run_with(false, "", never_runs);
    for id in ["exec.nop.gfx0", "exec.write.compute1", "exec.fill.sdma0", "exec.copy.sdma1", "exec.fence.gfx0"] {
        fails(&report, id, "nothing executed: the job was not done");
    }
    for id in ["exec.many.gfx0", "order.syncobj", "order.dependency", "order.timeline", "userptr.share"] {
        fails(&report, id, "nothing executed: the job was not done");
    }
    assert!(!report.gpu.facts.as_ref().unwrap().stand_in);
    assert_eq!(Exit::of(&report), Exit::Fail);
}

/// Submits with other chunks than the library's.
fn submits_changed(call: Ioctl<'_>, change: impl FnOnce(&mut Held)) -> Answered<'_> {
    if !call.is(Cs::REQUEST) {
        return call.forward();
    }
    let mut held = Held::new(&call);
    change(&mut held);
    held.submit(|submission| make_as(call, submission))
}

/// The chunk with the user fence does not reach the kernel.
fn without_user_fence<'c>(_: &Seen, call: Ioctl<'c>) -> Answered<'c> {
    submits_changed(call, |held| held.chunks.retain(|chunk| chunk.id != chunk_id::FENCE))
}

#[test]
fn a_sequence_number_that_is_never_written_is_found() {
    let report = run_with(false, "exec", without_user_fence);
    fails(&report, "exec.nop.gfx0", "nothing executed: the kernel calls the job done");
    fails(&report, "exec.write.sdma0", "memory was written, but the kernel calls the job done");
}

/// Before a job runs, one bit in the middle of what it will copy turns.
fn turns_a_bit<'c>(seen: &Seen, call: Ioctl<'c>) -> Answered<'c> {
    if call.is(Cs::REQUEST)
        && let Some((base, len)) = *lock(&seen.large_mapping)
    {
        let byte = std::ptr::with_exposed_provenance_mut::<u8>(base + len / 2);
        // SAFETY: the mapping is live, or `munmap` would have taken it out, and `len / 2` is inside.
        let old = unsafe { byte.read_volatile() };
        // SAFETY: as above.
        unsafe { byte.write_volatile(old ^ 1) };
    }
    call.forward()
}

#[test]
fn one_wrong_bit_in_a_mebibyte_is_found_where_it_is() {
    let report = run_with(false, "exec.copy.gfx0", turns_a_bit);
    fails(&report, "exec.copy.gfx0", "byte 0x80000 of 0x100000: found ");
}

/// The kinds of chunk that make a job wait.
const WAITS: [u32; 2] = [chunk_id::DEPENDENCIES, chunk_id::SYNCOBJ_TIMELINE_WAIT];

/// A job that others wait for runs after the first one that should wait for it.
fn turns_the_order_round<'c>(seen: &Seen, call: Ioctl<'c>) -> Answered<'c> {
    // The queue is fresh.
    const FIRST: [u8; 8] = 1_u64.to_ne_bytes();
    if !call.is(Cs::REQUEST) {
        return call.forward();
    }
    let mut held = Held::new(&call);
    let Some(first) = lock(&seen.held).take() else {
        *lock(&seen.held) = Some(held);
        return lie(call, &FIRST);
    };
    held.chunks.retain(|chunk| !WAITS.contains(&chunk.id));
    // SAFETY: the library's own submissions, made later than it thinks; what they use it keeps until it has waited for both.
    let submit = |held: &Held| held.submit(|submission| unsafe { call.ask(Cs::REQUEST, submission) });
    if let Err(errno) = submit(&held) {
        return call.refuse(errno);
    }
    let ib = held.chunks.iter().find(|chunk| chunk.id == chunk_id::IB).map_or(&[][..], |chunk| &chunk.payload);
    let mut wait =
        WaitCs { handle: 1, timeout: u64::MAX, ip_type: ib[5], ip_instance: ib[6], ring: ib[7], ctx_id: held.context };
    // SAFETY: a wait makes and ends nothing.
    unsafe { call.ask(WaitCs::REQUEST, &mut wait) }.unwrap();
    submit(&first).unwrap();
    lie(call, &FIRST)
}

#[test]
fn jobs_in_the_wrong_order_are_found() {
    for id in ["order.syncobj", "order.dependency", "order.timeline"] {
        let report = run_with(false, id, turns_the_order_round);
        fails(&report, id, "gfx0 to compute0: byte 0x0 of 0x10000: found 00");
    }
}

/// The last eight dwords of each IB are cut off, and with them the end of a packet.
fn cuts_jobs_short<'c>(_: &Seen, call: Ioctl<'c>) -> Answered<'c> {
    const IB_BYTES: usize = offset_of!(CsChunkIb, ib_bytes) / 4;
    submits_changed(call, |held| {
        for chunk in held.chunks.iter_mut().filter(|chunk| chunk.id == chunk_id::IB) {
            chunk.payload[IB_BYTES] -= 32;
        }
    })
}

#[test]
fn a_job_that_hangs_the_gpu_ends_the_plan() {
    let report = run_with(false, "exec.copy", cuts_jobs_short);
    fails(&report, "exec.copy.gfx0", "the GPU was reset");
    assert_eq!(Exit::of(&report), Exit::Aborted);
    assert_eq!(report.results.len(), 1, "it went on");
    assert!(report.aborted && report.summary.notrun > 0);
}

#[test]
fn a_gpu_lost_to_somebody_else_ends_the_plan_at_the_next_failure() {
    // Contexts are asked before as well, whether their numbers are in use: the reset comes with the submission.
    static IS_LOST: AtomicBool = AtomicBool::new(false);
    let report = run_with(false, "exec", |_, call| {
        if call.is(Cs::REQUEST) {
            IS_LOST.store(true, Ordering::Relaxed);
            return call.refuse(Errno::ENOMEM);
        }
        let asks = call.is(Ctx::REQUEST) && call.read::<Ctx>().op == ctx_op::QUERY_STATE2;
        let flags = CtxStateFlags::RESET | CtxStateFlags::VRAMLOST;
        if asks && IS_LOST.load(Ordering::Relaxed) { lie(call, &flags.bits().to_ne_bytes()) } else { call.forward() }
    });
    fails(&report, "exec.nop.gfx0", "the GPU was reset: CtxStateFlags(RESET | VRAMLOST)");
    assert_eq!(Exit::of(&report), Exit::Aborted);
}

#[test]
fn handles_that_are_not_closed_are_found() {
    let report =
        run_with(false, "leak", |_, call| if call.is(GemClose::REQUEST) { lie(call, &[]) } else { call.forward() });
    fails(&report, "leak.objects", "BOs ");
}

#[test]
fn bindings_that_are_not_removed_are_found() {
    let report = run_with(false, "leak", |_, call| {
        let unmaps = call.is(GemVa::REQUEST) && call.read::<GemVa>().operation == VaOperation::Unmap as u32;
        if unmaps { call.refuse(Errno::EINVAL) } else { call.forward() }
    });
    fails(&report, "leak.objects", "leases ");
}
