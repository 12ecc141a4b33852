//! Sync objects, contexts and lists of BOs: each is its own device's, and each count and limit is exact.

use std::sync::Arc;

use amdgpu_layers::FaultInjector;
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    uapi::{
        Argument, BO_LIST_MAX_ENTRIES, BoListEntry, CP_GFX_SHADOW_INIT, Cs, CsChunkCpGfxShadow, CsChunkIb,
        GemCreateFlags, GemDomain, GemWaitIdle, VaFlags,
    },
    vamgr::VaRequest,
    winsys::{
        Binding, Bo, BoRequest, ChunkScratch, Chunks, Context, Deadline, Device, Errno, Error, Event, Ip, KernelError,
        Mapping, Observer, Priority, Syncobj, Until, UserFence, WaitFor,
    },
};
use parking_lot::Mutex;

use crate::support::{chip, device, job_time};

fn bo(device: &Device, size: u64) -> Bo {
    let (domains, flags) = (GemDomain::GTT, GemCreateFlags::CPU_ACCESS_REQUIRED);
    Bo::create(device, BoRequest { size, alignment: 0, domains, flags }).unwrap()
}

#[test]
fn sync_objects_of_two_devices_are_not_mixed() {
    let (one, other) = (device("navi21"), device("navi21"));
    let mut own = Syncobj::new(&one, true).unwrap();
    let mut foreign = Syncobj::new(&other, true).unwrap();
    let refused = Error::ForeignDevice { what: "sync object" };
    let both = [&own, &foreign];
    let points = both.map(|syncobj| (syncobj, 0));
    assert_eq!(Syncobj::wait_many(&both, WaitFor::All, Deadline::POLL), Err(refused.clone()));
    for until in [Until::Submitted, Until::Signalled] {
        assert_eq!(Syncobj::wait_points(&points, WaitFor::Any, until, Deadline::POLL), Err(refused.clone()));
    }
    assert_eq!(own.transfer(0, &foreign, 0), Err(refused.clone()));
    assert_eq!(own.swap(&mut foreign), Err(refused));
    assert!(own.device() == &one && foreign.device() == &other);
}

#[test]
fn a_wait_for_any_tells_which_and_one_for_all_waits_for_the_last() {
    let device = device("navi21");
    let [signalled, empty] = [true, false].map(|signalled| Syncobj::new(&device, signalled).unwrap());
    let wait = |syncobjs: &[&Syncobj], condition| Syncobj::wait_many(syncobjs, condition, Deadline::POLL);
    assert_eq!(wait(&[], WaitFor::Any), Ok(true));
    assert_eq!(wait(&[&signalled, &empty], WaitFor::Any), Ok(true));
    assert_eq!(wait(&[&signalled, &empty], WaitFor::All), Ok(false));
    assert_eq!(wait(&[&signalled, &signalled], WaitFor::All), Ok(true));
    assert_eq!(wait(&[&empty, &empty], WaitFor::Any), Ok(false));
    let points = |of: &[&Syncobj], condition| {
        let points: Vec<_> = of.iter().map(|&syncobj| (syncobj, 0)).collect();
        Syncobj::wait_points(&points, condition, Until::Signalled, Deadline::POLL)
    };
    assert_eq!(points(&[], WaitFor::All), Ok(Some(0)));
    assert_eq!(points(&[&empty, &empty, &signalled], WaitFor::Any), Ok(Some(2)));
    assert_eq!(points(&[&empty, &signalled], WaitFor::All), Ok(None));
    assert_eq!(points(&[&signalled, &signalled], WaitFor::All), Ok(Some(0)));
}

#[test]
fn a_point_beyond_32_bits_is_reached_and_not_one_before_it() {
    let device = device("navi21");
    let timeline = Syncobj::new(&device, false).unwrap();
    timeline.signal_point(5 << 32).unwrap();
    assert_eq!((timeline.query(), timeline.last_submitted()), (Ok(5 << 32), Ok(5 << 32)));
    assert_eq!(timeline.wait_point(5 << 32, Deadline::POLL), Ok(true));
    assert_eq!(timeline.wait_point((5 << 32) + 1, Deadline::POLL), Ok(false));
    timeline.reset().unwrap();
    assert_eq!((timeline.query(), timeline.wait(Deadline::POLL)), (Ok(0), Ok(false)));
    timeline.signal().unwrap();
    assert_eq!(timeline.wait(Deadline::POLL), Ok(true));
}

#[test]
fn the_clones_of_a_handle_are_counted() {
    let device = device("navi21");
    let context = Context::new(&device, Priority::Normal).unwrap();
    let syncobj = Syncobj::new(&device, false).unwrap();
    let counts = || (context.handle_count(), syncobj.handle_count());
    assert_eq!(counts(), (1, 1));
    let clones = ([(); 2].map(|()| context.clone()), [(); 3].map(|()| syncobj.clone()));
    assert_eq!(counts(), (3, 4));
    drop(clones);
    assert_eq!(counts(), (1, 1));
}

/// An IB that does nothing, as the kernel is given it, and its memory.
fn idle_ib(device: &Device) -> (Binding, CsChunkIb) {
    /// A NOP of one dword, from GFX7 on.
    const NOP: u32 = 0xffff_1000;
    let bo = bo(device, 4096);
    Mapping::new(&bo).unwrap().write_dwords(0, &[NOP; 8]).unwrap();
    let lease = device.addresses().allocate(VaRequest::new(4096)).unwrap();
    let binding = Binding::new(&bo, lease, VaFlags::READABLE | VaFlags::EXECUTABLE).unwrap();
    let va_start = binding.address().as_u64();
    (binding, CsChunkIb { va_start, ib_bytes: 8 * 4, ip_type: Ip::Gfx.raw(), ..CsChunkIb::ZEROED })
}

fn listed(binding: &Binding) -> BoListEntry {
    BoListEntry { bo_handle: binding.bo().handle(), bo_priority: 0 }
}

#[test]
fn what_a_context_submits_itself_has_a_number_and_is_told_of() {
    let history = Arc::new(Submitted::default());
    let device = Device::with_observer(SimKernel::open(chip("navi21")), Arc::clone(&history)).unwrap();
    let (context, user_fence) = (Context::new(&device, Priority::Normal).unwrap(), UserFence::new(&device).unwrap());
    let ((memory, ib), mut scratch) = (idle_ib(&device), ChunkScratch::default());
    let bos = [listed(&memory)];
    let chunks = Chunks { ibs: &[ib], bos: &bos, user_fence: Some(&user_fence), ..Chunks::default() };
    for number in 1..=3 {
        assert_eq!(context.submit(chunks, &mut scratch), Ok(number));
        assert_eq!(context.wait(Ip::Gfx, 0, number, job_time()), Ok(true));
    }
    assert_eq!(user_fence.value(), 3);
    assert_eq!(*history.0.lock(), [1, 2, 3].map(|sequence| (context.id(), sequence, 1, 1)));
}

/// The simulated firmware faults at an area that is not mapped, which tells that it was given the address.
#[test]
fn a_submission_carries_the_address_of_the_shadow_area() {
    let mut profile = chip("navi31").clone();
    let info = &mut profile.dev_info;
    (info.shadow_size, info.shadow_alignment, info.csa_size, info.csa_alignment) = (73_728, 256, 484, 256);
    let device = Device::new(SimKernel::open(profile)).unwrap();
    assert_eq!(device.info().shadow.map(|areas| areas.size), Some(73_728));
    let context = Context::new(&device, Priority::Normal).unwrap();
    let (memory, ib) = idle_ib(&device);
    let (bos, shadow_va) = ([listed(&memory)], 0x4000_0000);
    let shadow = CsChunkCpGfxShadow { shadow_va, flags: CP_GFX_SHADOW_INIT, ..CsChunkCpGfxShadow::ZEROED };
    let chunks = Chunks { ibs: &[ib], bos: &bos, shadow: Some(&shadow), ..Chunks::default() };
    let number = context.submit(chunks, &mut ChunkScratch::default()).unwrap();
    assert_eq!(context.wait(Ip::Gfx, 0, number, job_time()), Ok(true));
    assert_eq!(device.page_fault().unwrap().map(|fault| fault.page.as_u64()), Some(shadow_va));
}

/// Submissions that were told of: context, number, IBs and BOs.
#[derive(Debug, Default)]
struct Submitted(Mutex<Vec<(u32, u64, usize, usize)>>);

impl Observer for Submitted {
    fn observe(&self, event: &Event) {
        if let Event::Submitted { context, sequence, ibs, bos } = *event {
            self.0.lock().push((context, sequence, ibs, bos));
        }
    }
}

/// Source: Linux 6.12 `amdgpu_bo_list.h`, `AMDGPU_BO_LIST_MAX_ENTRIES`.
#[test]
fn a_list_of_exactly_as_many_bos_as_the_kernel_takes_is_given_to_it() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let context = Context::new(&device, Priority::Normal).unwrap();
    let ((memory, ib), mut scratch) = (idle_ib(&device), ChunkScratch::default());
    let entries = vec![listed(&memory); BO_LIST_MAX_ENTRIES as usize + 1];
    kernel.fail_every_ioctl(Cs::REQUEST, Errno::ENOMEM);
    let mut submit =
        |bos: &[BoListEntry]| context.submit(Chunks { ibs: &[ib], bos, ..Chunks::default() }, &mut scratch);
    let asked = submit(&entries[1..]);
    assert_eq!(asked, Err(Error::OutOfMemory { request: Cs::NAME, bos: BO_LIST_MAX_ENTRIES as usize }));
    assert_eq!(submit(&entries), Err(Error::Kernel(KernelError::new(Cs::NAME, Errno::EINVAL))), "not even asked");
}

#[test]
fn a_user_fence_of_another_device_is_refused() {
    let (one, other) = (device("navi21"), device("navi21"));
    let context = Context::new(&one, Priority::Normal).unwrap();
    let ((_memory, ib), foreign) = (idle_ib(&one), UserFence::new(&other).unwrap());
    let chunks = Chunks { ibs: &[ib], user_fence: Some(&foreign), ..Chunks::default() };
    let outcome = context.submit(chunks, &mut ChunkScratch::default());
    assert_eq!(outcome, Err(Error::ForeignDevice { what: "user fence" }));
}

#[test]
fn a_mapping_has_bytes_and_a_page_that_nothing_uses_is_idle() {
    let device = device("navi21");
    let (bo, fence) = (bo(&device, 3 * 4096), UserFence::new(&device).unwrap());
    let mapping = Mapping::new(&bo).unwrap();
    assert_eq!((mapping.len(), mapping.is_empty()), (3 * 4096, false));
    assert_eq!((bo.wait_idle(Deadline::POLL), fence.wait_idle(Deadline::POLL)), (Ok(true), Ok(true)));
    assert_eq!(fence.device(), &device);
}

#[test]
fn a_refused_wait_names_the_bo() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let bo = bo(&device, 4096);
    kernel.fail_every_ioctl(GemWaitIdle::REQUEST, Errno::EIO);
    let refused = KernelError::of_bo(GemWaitIdle::NAME, bo.handle(), Errno::EIO);
    assert_eq!(bo.wait_idle(Deadline::POLL), Err(refused));
}
