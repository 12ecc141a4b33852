//! A kernel that says yes and writes nothing, or writes what cannot be: what stood in the question is never taken for
//! something that was made, and never closed.
#![expect(unsafe_code, reason = "a kernel that lies")]

use std::{
    os::fd::{AsRawFd, OwnedFd},
    ptr::NonNull,
    sync::Arc,
};

use crate::support::chip;
use amdgpu_layers::{Answered, Forward, Ioctl, Layer, Mapped, Mmap};
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, pm4},
    uapi::{
        Argument, BoList as BoListArgument, BoListEntry, CsFence, Ctx, FenceToHandle, GemCreate, GemCreateFlags,
        GemDomain, GemMmap, GemOp, GemUserptr, PRIME_FD_TO_HANDLE, PrimeHandle, Request, SYNCOBJ_FD_TO_HANDLE,
        SyncobjCreate, SyncobjHandle, SyncobjTimelineWait, WaitFences, ctx_op,
    },
    winsys::{
        Bo, BoList, BoRequest, Context, Deadline, Device, Errno, Error, ImportError, InvalidReply, Ip, Mapping,
        Priority, Result, Syncobj, Until, UserMemory, WaitFor, wait_fences,
    },
};
use parking_lot::Mutex;

/// An answer to a request, in the kernel's place or after it.
type Lie = Arc<dyn for<'c> Fn(Ioctl<'c>) -> Answered<'c> + Send + Sync>;

/// The simulator, but for one lie at a time.
struct Liar {
    lie: Mutex<Option<Lie>>,
    /// Fill pattern of a fresh mapping of one page.
    used_pages: Option<u8>,
}

impl Layer for Liar {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        let lie = self.lie.lock().clone();
        match lie {
            Some(lie) => lie(call),
            None => call.forward(),
        }
    }

    fn mmap<'c>(&self, call: Mmap<'c>) -> Mapped<'c> {
        let is_page = call.len() == 4096;
        let mut mapped = call.forward();
        if let (Some(byte), true) = (self.used_pages, is_page) {
            mapped.fill(byte);
        }
        mapped
    }
}

struct Rig {
    gpu: SimDevice,
    kernel: Arc<Forward<SimKernel, Liar>>,
    device: Device,
}

const PAGE: BoRequest =
    BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::CPU_ACCESS_REQUIRED };

/// Says that a request was made.
fn agreed(call: Ioctl<'_>) -> Answered<'_> {
    // SAFETY: tests do so only where something would be made, or found out, and the GPU is idle.
    unsafe { call.agree() }
}

impl Rig {
    fn new() -> Self {
        Self::with_pages(None)
    }

    fn with_pages(used_pages: Option<u8>) -> Self {
        let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
        let kernel = Arc::new(Liar { lie: Mutex::default(), used_pages }.over(gpu.open()));
        let device = Device::new(Arc::clone(&kernel)).unwrap();
        Self { gpu, kernel, device }
    }

    /// Has a lie told from now on.
    fn lie(&self, lie: impl for<'c> Fn(Ioctl<'c>) -> Answered<'c> + Send + Sync + 'static) {
        *self.kernel.layer().lie.lock() = Some(Arc::new(lie));
    }

    /// Says yes to a request from now on, and does nothing.
    fn silence(&self, silent: Request) {
        self.lie(move |call| if call.is(silent) { agreed(call) } else { call.forward() });
    }

    /// Writes over the answer of a request, in place of an honest one.
    fn write<T: Argument + 'static>(&self, lied_about: Request, write: impl Fn(&mut T) + Send + Sync + 'static) {
        self.lie(move |call| {
            if !call.is(lied_about) {
                return call.forward();
            }
            let mut argument: T = call.read();
            write(&mut argument);
            let mut answered = agreed(call);
            // SAFETY: the numbers that tests write name nothing.
            unsafe { answered.write(&argument) };
            answered
        });
    }

    fn honest(&self) {
        *self.kernel.layer().lie.lock() = None;
    }

    fn queue(&self) -> (Context, Queue) {
        let context = Context::new(&self.device, Priority::Normal).unwrap();
        (context.clone(), Queue::new(&context, Ip::Gfx, 0).unwrap())
    }

    /// A submission that does nothing; its number.
    fn job(&self, queue: &Queue) -> u64 {
        let mut stream = Stream::new(&self.device, pm4::Target::gfx(self.device.info().gfx_level), 64).unwrap();
        stream.push(&pm4::Nop::Skip(&[0; 7])).unwrap();
        let list = stream.finish().unwrap();
        let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() }).unwrap();
        assert!(fence.wait(crate::support::job_time()).unwrap());
        fence.sequence()
    }
}

/// Asserts that nothing was made, for a kernel that writes nothing.
#[track_caller]
fn refused<T, E: Into<Error>>(outcome: Result<T, E>) {
    let error: Error = outcome.map(|_| ()).expect_err("an answer that was not written was believed").into();
    assert_eq!(error.errno(), Some(Errno::EBADF), "{error}");
}

#[test]
fn a_bo_that_was_not_made_is_nobodys() {
    let rig = Rig::new();
    // BOs with the numbers that stand in the question.
    let bos: Vec<_> = (0..8).map(|_| Bo::create(&rig.device, PAGE).unwrap()).collect();
    let before = rig.gpu.census();
    rig.silence(GemCreate::REQUEST);
    for size in [1, 2, 7, 4095, 4096, 4097, 1 << 32] {
        refused(Bo::create(&rig.device, BoRequest { size, ..PAGE }));
    }
    rig.honest();
    assert_eq!(rig.gpu.census(), before);
    for bo in &bos {
        bo.create_info().unwrap();
    }
}

/// A handle may be the size by chance. The simulator clears what is behind the handle, as the kernel does; a shim does not.
#[test]
fn a_handle_that_is_the_size_by_chance_is_taken() {
    let rig = Rig::new();
    let first = Bo::create(&rig.device, PAGE).unwrap();
    let next = u64::from(first.handle()) + 1;
    let chance = Bo::create(&rig.device, BoRequest { size: next, ..PAGE }).unwrap();
    assert_eq!(u64::from(chance.handle()), next);
    rig.lie(|call| {
        if !call.is(GemCreate::REQUEST) {
            return call.forward();
        }
        let question: GemCreate = call.read();
        let mut answered = call.forward();
        let answer = GemCreate { bo_size: answered.read::<GemCreate>().bo_size, ..question };
        // SAFETY: the handle is still the one that was made.
        unsafe { answered.write(&answer) };
        answered
    });
    let next = next + 1;
    let chance = Bo::create(&rig.device, BoRequest { size: next, ..PAGE }).unwrap();
    assert_eq!(u64::from(chance.handle()), next + 1, "asked once more");
    assert_eq!(chance.size(), 4096);
    assert_eq!(chance.create_info().unwrap().size, 4096);
}

/// A BO may have no domains. Found by the fuzz target `calls`: the first of two handles was left open.
#[test]
fn a_handle_that_is_the_size_of_a_bo_without_domains_is_taken_the_first_time() {
    let rig = Rig::new();
    let before = rig.kernel.inner().census();
    let next = u64::from(Bo::create(&rig.device, PAGE).unwrap().handle());
    let flags = GemCreateFlags::NO_CPU_ACCESS;
    let request = BoRequest { size: next, alignment: 0, domains: GemDomain::empty(), flags };
    let chance = Bo::create(&rig.device, request).unwrap();
    assert_eq!(u64::from(chance.handle()), next);
    drop(chance);
    assert_eq!(rig.kernel.inner().census(), before);
}

/// The second question is for as many pages as the first, and no size is cut to the 32 bits that a handle has.
#[test]
fn a_large_bo_is_asked_for_again_with_a_size_of_as_many_pages() {
    const FOUR_GIB: u64 = 1 << 32;
    for (size, again) in
        [(FOUR_GIB + 1, FOUR_GIB + 2), (FOUR_GIB + 2, FOUR_GIB + 1), (FOUR_GIB + 4096, FOUR_GIB + 4095)]
    {
        let rig = Rig::new();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let sizes = Arc::clone(&asked);
        rig.lie(move |call| {
            if !call.is(GemCreate::REQUEST) {
                return call.forward();
            }
            let mut sizes = sizes.lock();
            sizes.push(call.read::<GemCreate>().bo_size);
            if sizes.len() == 1 { agreed(call) } else { call.forward() }
        });
        let bo = Bo::create(&rig.device, BoRequest { size, ..PAGE }).unwrap();
        rig.honest();
        assert_eq!(*asked.lock(), [size, again]);
        assert_eq!((bo.size(), bo.create_info().unwrap().size), (FOUR_GIB + 4096, FOUR_GIB + 4096));
    }
}

#[test]
fn a_context_that_was_not_made_is_nobodys() {
    let rig = Rig::new();
    rig.silence(Ctx::REQUEST);
    refused(Context::new(&rig.device, Priority::Normal));
    let silent_allocation = || {
        rig.lie(|call| {
            let is_allocation = call.is(Ctx::REQUEST) && call.read::<Ctx>().op == ctx_op::ALLOC_CTX;
            if is_allocation { agreed(call) } else { call.forward() }
        });
    };
    // No client has context 1.
    silent_allocation();
    let error = Context::new(&rig.device, Priority::Normal).unwrap_err();
    assert_eq!(error.errno(), Some(Errno::EINVAL), "{error}");
    rig.honest();
    let first = Context::new(&rig.device, Priority::Normal).unwrap();
    assert_eq!(first.id(), 1, "the kernel's first");
    silent_allocation();
    refused(Context::new(&rig.device, Priority::Normal));
    rig.write::<Ctx>(Ctx::REQUEST, |answer| answer.op = 0);
    refused(Context::new(&rig.device, Priority::Normal));
    rig.honest();
    first.state().unwrap();
    let second = Context::new(&rig.device, Priority::Normal).unwrap();
    drop(first);
    assert_eq!(Context::new(&rig.device, Priority::Normal).unwrap().id(), 1, "free again");
    drop(second);
}

#[test]
fn a_fence_that_was_not_exported_does_not_close_standard_output() {
    let rig = Rig::new();
    let (context, queue) = rig.queue();
    assert_eq!(context.id(), 1, "which is the number of standard output");
    let sequence = rig.job(&queue);
    let syncobj = Syncobj::new(&rig.device, false).unwrap();
    rig.silence(FenceToHandle::REQUEST);
    refused(context.fence_to_sync_file(Ip::Gfx, 0, sequence));
    refused(context.fence_to_syncobj(Ip::Gfx, 0, sequence));
    rig.write::<FenceToHandle>(FenceToHandle::REQUEST, |answer| answer.fence.ctx_id = u32::MAX);
    refused(context.fence_to_sync_file(Ip::Gfx, 0, sequence));
    rig.honest();
    // SAFETY: looks a number up.
    assert!(unsafe { nix::libc::fcntl(1, nix::libc::F_GETFD) } >= 0, "standard output is closed");
    syncobj.signal().unwrap();
    let file = context.fence_to_sync_file(Ip::Gfx, 0, sequence).unwrap();
    assert!(file.as_raw_fd() > 1);
    assert!(context.fence_to_syncobj(Ip::Gfx, 0, sequence).unwrap().wait(Deadline::POLL).unwrap());
}

/// The number of a context may be a descriptor that is free. It is not while a fence is exported.
#[test]
fn an_unwritten_descriptor_is_told_from_a_new_one_with_any_context() {
    let rig = Rig::new();
    let contexts: Vec<_> = (0..80).map(|_| Context::new(&rig.device, Priority::Normal).unwrap()).collect();
    for context in &contexts {
        rig.silence(FenceToHandle::REQUEST);
        refused(context.fence_to_sync_file(Ip::Gfx, 0, 0));
        rig.honest();
        let files: Vec<OwnedFd> = (0..2).map(|_| context.fence_to_sync_file(Ip::Gfx, 0, 0).unwrap()).collect();
        assert_ne!(files[0].as_raw_fd(), files[1].as_raw_fd());
    }
}

#[test]
fn nothing_else_that_was_not_made_is_owned() {
    let rig = Rig::new();
    let bo = Bo::create(&rig.device, PAGE).unwrap();
    let (shared, file) = (bo.export().unwrap(), Syncobj::new(&rig.device, true).unwrap().export().unwrap());
    let before = rig.gpu.census();
    rig.silence(SyncobjCreate::REQUEST);
    refused(Syncobj::new(&rig.device, false));
    rig.silence(SyncobjHandle::REQUEST);
    rig.honest();
    let syncobj = Syncobj::new(&rig.device, true).unwrap();
    rig.silence(SyncobjHandle::REQUEST);
    refused(syncobj.export());
    refused(syncobj.export_sync_file());
    rig.write::<SyncobjHandle>(SyncobjHandle::REQUEST, |answer| answer.fd = i32::MAX);
    refused(syncobj.export());
    rig.silence(SYNCOBJ_FD_TO_HANDLE);
    refused(Syncobj::import(&rig.device, &file));
    rig.silence(PrimeHandle::REQUEST);
    refused(bo.export());
    rig.write::<PrimeHandle>(PrimeHandle::REQUEST, |answer| answer.fd = i32::MAX);
    refused(bo.export());
    rig.silence(PRIME_FD_TO_HANDLE);
    refused(Bo::import(&rig.device, &shared));
    rig.silence(BoListArgument::REQUEST);
    refused(BoList::new(&rig.device, &[BoListEntry { bo_handle: bo.handle(), bo_priority: 0 }]));
    rig.silence(GemMmap::REQUEST);
    refused(Mapping::new(&bo));
    rig.silence(GemUserptr::REQUEST);
    let memory = UserMemory::new(NonNull::without_provenance(0x10_0000.try_into().unwrap()), 4096);
    // SAFETY: no BO is made of it.
    refused(unsafe { Bo::from_user_memory(&rig.device, memory) });
    rig.honest();
    drop(syncobj);
    assert_eq!(rig.gpu.census(), before);
}

#[test]
fn an_imported_bo_without_bytes_is_refused_and_given_back() {
    let rig = Rig::new();
    let theirs = Device::new(rig.gpu.open()).unwrap();
    let shared = Bo::create(&theirs, PAGE).unwrap().export().unwrap();
    let before = rig.kernel.inner().census();
    // The answer, elsewhere, stays zero; or has half a page.
    rig.silence(GemOp::REQUEST);
    let invalid = Bo::import(&rig.device, &shared).unwrap_err();
    assert!(matches!(invalid, ImportError::InvalidReply(InvalidReply { field: "bo_size", value: 0, .. })), "{invalid}");
    rig.write::<GemOp>(GemOp::REQUEST, |question| {
        let answer = std::ptr::with_exposed_provenance_mut::<GemCreate>(question.value as usize);
        // SAFETY: the library lends a `GemCreate` at this address.
        unsafe { (*answer).bo_size = 2048 };
    });
    let invalid = Bo::import(&rig.device, &shared).unwrap_err();
    assert!(
        matches!(invalid, ImportError::InvalidReply(InvalidReply { field: "bo_size", value: 2048, .. })),
        "{invalid}"
    );
    rig.honest();
    assert_eq!(rig.kernel.inner().census(), before);
    Bo::import(&rig.device, &shared).unwrap();
}

#[test]
fn an_index_that_no_fence_has_is_not_passed_on() {
    let rig = Rig::new();
    let (context, queue) = rig.queue();
    let seq_no = rig.job(&queue);
    let fence = CsFence { ctx_id: context.id(), ip_type: Ip::Gfx as u32, ip_instance: 0, ring: 0, seq_no };
    let fences = [fence; 3];
    let any = |condition| wait_fences(&rig.device, &fences, condition, Deadline::POLL);
    assert_eq!(any(WaitFor::Any), Ok(Some(0)));
    for (first, outcome) in [(2, Some(2)), (3, None), (u32::MAX, None)] {
        // Status and index are written over the address of the fences.
        rig.write::<WaitFences>(WaitFences::REQUEST, move |answer| answer.fences = u64::from(first) << 32 | 1);
        match (any(WaitFor::Any), outcome) {
            (Ok(found), Some(_)) => assert_eq!(found, outcome),
            (Err(Error::InvalidReply(InvalidReply { field: "first_signaled", value, .. })), None) => {
                assert_eq!(value, u64::from(first));
            }
            (other, _) => panic!("{first}: {other:?}"),
        }
        assert_eq!(any(WaitFor::All), Ok(Some(0)));
    }
    rig.silence(WaitFences::REQUEST);
    let silent = any(WaitFor::All).unwrap_err();
    assert!(matches!(silent, Error::InvalidReply(InvalidReply { field: "status", .. })), "{silent}");
    rig.honest();

    let syncobjs = [(); 3].map(|()| Syncobj::new(&rig.device, true).unwrap());
    let points: Vec<_> = syncobjs.iter().map(|syncobj| (syncobj, 0)).collect();
    let any = || Syncobj::wait_points(&points, WaitFor::Any, Until::Signalled, Deadline::POLL);
    assert_eq!(any(), Ok(Some(0)));
    for first in [3, u32::MAX] {
        rig.write::<SyncobjTimelineWait>(SyncobjTimelineWait::REQUEST, move |answer| answer.first_signaled = first);
        assert!(matches!(any(), Err(Error::InvalidReply(InvalidReply { field: "first_signaled", .. }))), "{first}");
    }
    rig.silence(SyncobjTimelineWait::REQUEST);
    assert!(matches!(any(), Err(Error::InvalidReply(InvalidReply { field: "first_signaled", .. }))));
}

/// A reused page has a number in it that is taken for one of this queue's.
#[test]
fn a_used_page_for_the_user_fence_says_nothing_about_new_jobs() {
    let rig = Rig::with_pages(Some(0x7f));
    let (_context, queue) = rig.queue();
    let held = rig.gpu.hold_all_rings();
    let mut stream = Stream::new(&rig.device, pm4::Target::gfx(rig.device.info().gfx_level), 64).unwrap();
    stream.push(&pm4::Nop::Skip(&[0; 7])).unwrap();
    let list = stream.finish().unwrap();
    let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() }).unwrap();
    assert!(!fence.wait(Deadline::POLL).unwrap(), "the ring is held");
    assert_eq!(queue.in_flight(), 1);
    drop(held);
    assert!(fence.wait(crate::support::job_time()).unwrap());
}
