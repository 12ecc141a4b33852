//! The test can fail: a kernel that does one thing wrong makes the check fail that is there to find it.
#![expect(unsafe_code, reason = "a kernel below the seam reads and writes ioctl arguments")]

mod held;
mod saboteur;

use std::{
    ffi::{c_int, c_void},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_smoke::{CheckResult, Count, Exit, Options, Report, Status, Target, run};
use amdgpu_winsys::{
    uapi::{
        Argument, Cs, CsChunkIb, Ctx, GemClose, GemCreate, GemDomain, GemMetadata, GemUserptr, GemVa, Info,
        METADATA_OP_SET, MemoryInfo, PRIME_FD_TO_HANDLE, PrimeHandle, Request, SyncobjArray, SyncobjTimelineWait,
        SyncobjWait, VaOperation, Version, WaitCs, chunk_id, ctx_op, query,
    },
    winsys::Device,
};
use held::{Held, chunks};
use nix::errno::Errno;
use saboteur::{Below, Saboteur, Trick, argument, lock};

/// Descriptors and mappings are counted for the whole process, so only one test runs at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn counted_bos(gpu: &SimDevice) -> Vec<Count> {
    vec![("BOs", gpu.census().bos as u64)]
}

fn run_with(private_mappings: bool, filter: &str, trick: Trick) -> Report {
    let _turn = lock(&ONE_AT_A_TIME);
    let gpu = SimDevice::new(amdgpu_sim::profile("navi21").unwrap(), SimOptions::hanging_for(Duration::from_secs(1)));
    let counted = gpu.clone();
    let open = move || Device::new(Saboteur { below: Below::new(gpu.open()), trick, private_mappings });
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
    assert_eq!(result.word, Status::Fail, "{id}: {}", result.detail);
    assert!(result.detail.contains(evidence), "{id}: {:?} does not say {evidence:?}", result.detail);
    assert!(matches!(Exit::of(report), Exit::Fail | Exit::Aborted));
}

#[test]
fn an_honest_kernel_passes() {
    let report = run_with(false, "", |_, _, _| None);
    let bad: Vec<_> =
        report.results.iter().filter(|result| matches!(result.word, Status::Fail | Status::Crash)).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    assert_eq!(Exit::of(&report), Exit::Pass);
}

#[test]
fn another_driver_is_not_opened() {
    let report = run_with(false, "exec", |below, request, version| {
        (request == Version::REQUEST).then(|| {
            let done = below.ask(request, version);
            argument::<Version>(version).version_minor = 1;
            done
        })
    });
    fails(&report, "inventory.open", "amdgpu 3.1 is not supported");
    assert_eq!(report.results.len(), 1);
    assert_eq!(Exit::of(&report), Exit::Fail);
}

#[test]
fn a_pool_fuller_than_it_is_large_is_found() {
    let report = run_with(false, "inventory", |below, request, info| {
        let asked = request == Info::REQUEST && argument::<Info>(info).query == query::MEMORY;
        asked.then(|| {
            let done = below.ask(request, info);
            let answer = argument::<Info>(info).return_pointer as usize;
            // SAFETY: the library asked for a `MemoryInfo` there, and the simulator has just written one.
            let answer = unsafe { &mut *std::ptr::with_exposed_provenance_mut::<MemoryInfo>(answer) };
            answer.gtt.heap_usage = answer.gtt.total_heap_size + 1;
            done
        })
    });
    fails(&report, "inventory.pools", "of GTT are in use");
}

#[test]
fn a_clock_that_stands_still_is_found() {
    let report = run_with(false, "inventory", |_, request, info| {
        let asked = request == Info::REQUEST && argument::<Info>(info).query == query::TIMESTAMP;
        asked.then(|| {
            let answer = argument::<Info>(info).return_pointer as usize;
            // SAFETY: the library has room for the u64 that TIMESTAMP answers with.
            unsafe { std::ptr::with_exposed_provenance_mut::<u64>(answer).write(7) };
            Ok(0)
        })
    });
    fails(&report, "inventory.clock", "from 7 to 7");
}

#[test]
fn memory_in_the_wrong_domain_is_found() {
    let report = run_with(false, "bo.create", |below, request, create| {
        (request == GemCreate::REQUEST).then(|| {
            argument::<GemCreate>(create).domains = GemDomain::GTT.bits();
            below.ask(request, create)
        })
    });
    fails(&report, "bo.create", "domain the kernel remembers");
}

#[test]
fn mappings_that_do_not_share_are_found() {
    let report = run_with(true, "bo.map", |_, _, _| None);
    fails(&report, "bo.map", "byte 0x0 of 0x2000: found 00");
}

#[test]
fn lost_metadata_is_found() {
    let report = run_with(false, "bo.metadata", |_, request, metadata| {
        let stores = request == GemMetadata::REQUEST && argument::<GemMetadata>(metadata).op == METADATA_OP_SET;
        stores.then_some(Ok(0))
    });
    fails(&report, "bo.metadata", "flags: found 0, expected 90");
}

#[test]
fn an_import_that_is_another_bo_is_found() {
    let report = run_with(false, "prime", |below, request, prime| {
        (request == PRIME_FD_TO_HANDLE).then(|| {
            let mut create =
                GemCreate { bo_size: 64 << 10, alignment: 0, domains: GemDomain::GTT.bits(), domain_flags: 0 };
            let done = below.ask(GemCreate::REQUEST, std::ptr::from_mut(&mut create).cast());
            // The handle is the answer's first word.
            argument::<PrimeHandle>(prime).handle = create.bo_size as u32;
            done
        })
    });
    fails(&report, "prime.share", "byte 0x0");
    fails(&report, "prime.again", "handle where it was created");
}

#[test]
fn user_memory_that_is_other_memory_is_found() {
    let report = run_with(false, "userptr", |below, request, pages| {
        (request == GemUserptr::REQUEST).then(|| {
            let bo_size = argument::<GemUserptr>(pages).size;
            let mut create = GemCreate { bo_size, alignment: 0, domains: GemDomain::GTT.bits(), domain_flags: 0 };
            let done = below.ask(GemCreate::REQUEST, std::ptr::from_mut(&mut create).cast());
            // The handle is the answer's first word.
            argument::<GemUserptr>(pages).handle = create.bo_size as u32;
            done
        })
    });
    fails(&report, "userptr.share", "byte 0x0 of 0x10000: found 00");
}

#[test]
fn a_sync_object_that_is_always_signalled_is_found() {
    let report = run_with(false, "syncobj", |_, request, _| {
        [SyncobjWait::REQUEST, SyncobjTimelineWait::REQUEST].contains(&request).then_some(Ok(0))
    });
    for id in ["syncobj.binary", "syncobj.timeline", "syncobj.share"] {
        fails(&report, id, "found true, expected false");
    }
}

#[test]
fn a_sync_object_that_is_never_reset_is_found() {
    let report = run_with(false, "syncobj", |_, request, _| (request == SyncobjArray::REQUEST).then_some(Ok(0)));
    fails(&report, "syncobj.binary", "signalled after reset");
    fails(&report, "syncobj.share", "signalled here after a reset there");
}

#[test]
fn a_refused_submission_is_reported_with_its_errno() {
    let report = run_with(false, "exec.nop", |_, request, _| (request == Cs::REQUEST).then_some(Err(Errno::ENOMEM)));
    for id in ["exec.nop.gfx0", "exec.nop.compute0", "exec.nop.sdma0"] {
        fails(&report, id, "submitting: AMDGPU_CS: ENOMEM");
    }
    assert_eq!(Exit::of(&report), Exit::Fail);
}

#[test]
fn a_sequence_number_that_was_not_issued_is_found() {
    let report = run_with(false, "exec.fence.gfx0", |below, request, job| {
        (request == Cs::REQUEST).then(|| {
            let done = below.ask(request, job);
            // SAFETY: the answer to CS is a u64 at the start of its 24 bytes.
            let sequence = unsafe { &mut *job.cast::<u64>() };
            *sequence += 1;
            done
        })
    });
    fails(&report, "exec.fence.gfx0", "waiting for the job: AMDGPU_WAIT_CS: EINVAL");
}

/// Jobs are taken and never run, and waits say so.
fn never_runs(_: &Below, request: Request, job: *mut c_void) -> Option<Result<c_int, Errno>> {
    /// The library's probe for kernels that know no refusal; an honest answer keeps it from taking us for one.
    const PROBED: u64 = 1 << 40;
    if request == Cs::REQUEST {
        // SAFETY: the answer to CS is a u64 at the start of its 24 bytes.
        unsafe { job.cast::<u64>().write(1) };
        return Some(Ok(0));
    }
    if request == WaitCs::REQUEST && argument::<WaitCs>(job).handle < PROBED {
        // The answer is a u64 at the same place: 1 is busy.
        argument::<WaitCs>(job).handle = 1;
        return Some(Ok(0));
    }
    None
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

/// The chunk with the user fence does not reach the kernel.
fn without_user_fence(below: &Below, request: Request, submission: *mut c_void) -> Option<Result<c_int, Errno>> {
    if request != Cs::REQUEST {
        return None;
    }
    let given = argument::<Cs>(submission);
    let kept: Vec<u64> =
        chunks(given).filter(|(_, chunk)| chunk.chunk_id != chunk_id::FENCE).map(|(at, _)| at).collect();
    let mut changed = Cs { num_chunks: kept.len() as u32, chunks: kept.as_ptr().expose_provenance() as u64, ..*given };
    let done = below.ask(request, std::ptr::from_mut(&mut changed).cast());
    *given = changed;
    Some(done)
}

#[test]
fn a_sequence_number_that_is_never_written_is_found() {
    let report = run_with(false, "exec", without_user_fence);
    fails(&report, "exec.nop.gfx0", "nothing executed: the kernel calls the job done");
    fails(&report, "exec.write.sdma0", "memory was written, but the kernel calls the job done");
}

/// Before a job runs, one bit in the middle of what it will copy turns.
fn turns_a_bit(below: &Below, request: Request, _: *mut c_void) -> Option<Result<c_int, Errno>> {
    if request == Cs::REQUEST
        && let Some((base, len)) = *lock(&below.large_mapping)
    {
        let byte = std::ptr::with_exposed_provenance_mut::<u8>(base + len / 2);
        // SAFETY: the mapping is live, or `munmap` would have taken it out, and `len / 2` is inside.
        let old = unsafe { byte.read_volatile() };
        // SAFETY: as above.
        unsafe { byte.write_volatile(old ^ 1) };
    }
    None
}

#[test]
fn one_wrong_bit_in_a_mebibyte_is_found_where_it_is() {
    let report = run_with(false, "exec.copy.gfx0", turns_a_bit);
    fails(&report, "exec.copy.gfx0", "byte 0x80000 of 0x100000: found ");
}

/// The kinds of chunk that make a job wait.
const WAITS: [u32; 2] = [chunk_id::DEPENDENCIES, chunk_id::SYNCOBJ_TIMELINE_WAIT];

/// A job that others wait for runs after the first one that should wait for it.
fn turns_the_order_round(below: &Below, request: Request, submission: *mut c_void) -> Option<Result<c_int, Errno>> {
    if request != Cs::REQUEST {
        return None;
    }
    let mut held = Held::new(argument::<Cs>(submission));
    let Some(first) = lock(&below.held).take() else {
        *lock(&below.held) = Some(held);
        // SAFETY: the answer to CS is a u64 at the start of its 24 bytes; the queue is fresh, so its first number is 1.
        unsafe { submission.cast::<u64>().write(1) };
        return Some(Ok(0));
    };
    held.chunks.retain(|(kind, _)| !WAITS.contains(kind));
    let done = held.submit(below);
    let ib = held.chunks.iter().find(|(id, _)| *id == chunk_id::IB).map_or(&[][..], |(_, dwords)| dwords);
    let mut wait =
        WaitCs { handle: 1, timeout: u64::MAX, ip_type: ib[5], ip_instance: ib[6], ring: ib[7], ctx_id: held.context };
    below.ask(WaitCs::REQUEST, std::ptr::from_mut(&mut wait).cast()).unwrap();
    first.submit(below).unwrap();
    // SAFETY: as above.
    unsafe { submission.cast::<u64>().write(1) };
    Some(done)
}

#[test]
fn jobs_in_the_wrong_order_are_found() {
    for id in ["order.syncobj", "order.dependency", "order.timeline"] {
        let report = run_with(false, id, turns_the_order_round);
        fails(&report, id, "gfx0 to compute0: byte 0x0 of 0x10000: found 00");
    }
}

/// The last eight dwords of each IB are cut off, and with them the end of a packet.
fn cuts_jobs_short(_: &Below, request: Request, submission: *mut c_void) -> Option<Result<c_int, Errno>> {
    if request == Cs::REQUEST {
        for (_, chunk) in chunks(argument::<Cs>(submission)).filter(|(_, chunk)| chunk.chunk_id == chunk_id::IB) {
            // SAFETY: an IB chunk holds the address of a `CsChunkIb`, which the library does not look at again.
            let ib = unsafe { &mut *std::ptr::with_exposed_provenance_mut::<CsChunkIb>(chunk.chunk_data as usize) };
            ib.ib_bytes -= 32;
        }
    }
    None
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
    let report = run_with(false, "exec", |_, request, context| {
        if request == Cs::REQUEST {
            IS_LOST.store(true, Ordering::Relaxed);
            return Some(Err(Errno::ENOMEM));
        }
        let asks = request == Ctx::REQUEST && argument::<Ctx>(context).op == ctx_op::QUERY_STATE2;
        (asks && IS_LOST.load(Ordering::Relaxed)).then(|| {
            // SAFETY: the answer is a u64 of flags at the start of its 16 bytes: RESET and VRAMLOST.
            unsafe { context.cast::<u64>().write(3) };
            Ok(0)
        })
    });
    fails(&report, "exec.nop.gfx0", "the GPU was reset: CtxStateFlags(RESET | VRAMLOST)");
    assert_eq!(Exit::of(&report), Exit::Aborted);
}

#[test]
fn handles_that_are_not_closed_are_found() {
    let report = run_with(false, "leak", |_, request, _| (request == GemClose::REQUEST).then_some(Ok(0)));
    fails(&report, "leak.objects", "BOs ");
}

#[test]
fn bindings_that_are_not_removed_are_found() {
    let report = run_with(false, "leak", |_, request, va| {
        let unmaps = request == GemVa::REQUEST && argument::<GemVa>(va).operation == VaOperation::Unmap as u32;
        unmaps.then_some(Err(Errno::EINVAL))
    });
    fails(&report, "leak.objects", "leases ");
}
