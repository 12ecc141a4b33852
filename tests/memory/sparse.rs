//! Sparse ranges: what the GPU finds in them, what is bound when something fails, and in which order it comes.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::support::{Watch, chip, device, host_memory, job_time, queue};
use amdgpu_layers::{Attempt, FaultInjector};
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, Target, sdma},
    heaps::{
        AllocateFlags, AllocateInfo, Backing, DeviceMemory, MemoryManager, SparseBind, SparsePoint, SparseQueue,
        SparseQueueError, SparseRange, SparseSubmission, TableOptions, VkResult,
    },
    uapi::{Argument, GemVa},
    vamgr::VaRequest,
    winsys::{
        BindError, Binding, Capabilities, Deadline, Device, Errno, Error, Ip, KernelError, Misaligned, OutOfRange,
        Reservation, Syncobj,
    },
};
use proptest::prelude::*;

const PAGE: u64 = 4096;

fn sparse_range(device: &Device, pages: u64) -> SparseRange {
    SparseRange::new(device, VaRequest::new(pages * PAGE).aligned(64 << 10)).unwrap()
}

/// Host memory in which each page begins with a number of its own.
fn numbered(device: &Device, pages: u64, first: u32) -> DeviceMemory {
    let memory = host_memory(device, pages * PAGE);
    for page in 0..pages {
        memory.mapping().unwrap().store_u32(page * PAGE, first + page as u32).unwrap();
    }
    memory
}

/// Puts pages of `memory` into the range, or takes away what is there.
fn change(page: u64, pages: u64, backing: Option<(&DeviceMemory, u64)>) -> SparseBind {
    let backing = backing.map(|(memory, page)| Backing { memory: memory.binding().clone(), offset: page * PAGE });
    SparseBind { offset: page * PAGE, len: pages * PAGE, backing }
}

/// The first dword of each page, as a copy engine sees them.
fn seen_by_gpu(queue: &Queue, range: &SparseRange) -> Vec<u32> {
    let device = queue.context().device();
    let result = host_memory(device, range.size());
    let Target::Sdma(version) = queue.target() else { panic!("no copy engine") };
    let mut stream = Stream::new(device, version, 256).unwrap();
    stream.push(&sdma::CopyLinear::new(result.address(), range.address(), range.size() as u32)).unwrap();
    let list = stream.finish().unwrap();
    let submission = Submission {
        lists: &[&list],
        memory: &[result.binding().clone()],
        sets: &[range.residents()],
        ..Submission::default()
    };
    let fence = queue.submit(&submission).unwrap();
    assert!(fence.wait(job_time()).unwrap());
    (0..range.size() / PAGE).map(|page| result.mapping().unwrap().load_u32(page * PAGE).unwrap()).collect()
}

#[test]
fn unbound_pages_read_zero_and_lose_what_is_written() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Sdma, 0);
    let (range, memory) = (sparse_range(&device, 4), numbered(&device, 4, 100));
    assert_eq!(seen_by_gpu(&queue, &range), [0; 4]);
    range.bind(&[change(1, 2, Some((&memory, 2)))]).unwrap();
    assert_eq!(seen_by_gpu(&queue, &range), [0, 102, 103, 0]);
    let Target::Sdma(version) = queue.target() else { panic!("no copy engine") };
    let mut stream = Stream::new(&device, version, 256).unwrap();
    stream.push(&sdma::ConstFill::new(range.address(), 7, (4 * PAGE) as u32)).unwrap();
    let list = stream.finish().unwrap();
    let submission = Submission { lists: &[&list], sets: &[range.residents()], ..Submission::default() };
    let fence = queue.submit(&submission).unwrap();
    assert!(fence.wait(job_time()).unwrap());
    assert_eq!(seen_by_gpu(&queue, &range), [0, 7, 7, 0]);
    assert_eq!(memory.mapping().unwrap().load_u32(PAGE).unwrap(), 101, "pages that are not bound are not touched");
    range.bind(&[change(0, 4, None)]).unwrap();
    assert_eq!(seen_by_gpu(&queue, &range), [0; 4]);
}

#[test]
fn neighbours_are_one_ioctl_in_whatever_order_they_come() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi31"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let (range, memory) = (sparse_range(&device, 64), host_memory(&device, 64 * PAGE));
    let mut changes: Vec<_> = (0..64).map(|page| change(page, 1, Some((&memory, page)))).collect();
    changes.reverse();
    changes.swap(3, 40);
    let calls = kernel.calls();
    assert_eq!(range.bind(&changes).unwrap(), 1);
    assert_eq!(kernel.calls() - calls, 1);
    assert_eq!(range.lookup(9 * PAGE).unwrap().0, 0..64 * PAGE);
    let every_other: Vec<_> = (0..64).step_by(2).map(|page| change(page, 1, None)).collect();
    assert_eq!(range.bind(&every_other).unwrap(), 32);
    assert_eq!(range.bound_bytes(), 32 * PAGE);
    // The later of two changes holds.
    assert_eq!(range.bind(&[change(0, 8, Some((&memory, 0))), change(0, 64, None)]).unwrap(), 1);
    assert_eq!(range.bound_bytes(), 0);
}

const PAGES: u64 = 12;

/// Page, pages, and which memory from which of its pages; no memory takes away.
type Draw = (u64, u64, Option<(usize, u64)>);

fn batch() -> impl Strategy<Value = Vec<Draw>> {
    let one = (0..PAGES, 1..6_u64, prop::option::of((0..2_usize, 0..4_u64)));
    prop::collection::vec(one.prop_map(|(page, pages, from)| (page, pages.min(PAGES - page), from)), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_gpu_finds_what_an_array_of_pages_says(batches in prop::collection::vec(batch(), 1..8)) {
        let device = device("vega10");
        let queue = queue(&device, Ip::Sdma, 0);
        let memories = [numbered(&device, 9, 100), numbered(&device, 9, 200)];
        let range = sparse_range(&device, PAGES);
        let mut model = [0; PAGES as usize];
        for batch in batches {
            let changes: Vec<_> = batch
                .iter()
                .map(|&(page, pages, from)| change(page, pages, from.map(|(which, page)| (&memories[which], page))))
                .collect();
            range.bind(&changes).unwrap();
            for (page, pages, from) in batch {
                for step in 0..pages {
                    let value = from.map_or(0, |(which, first)| 100 * (which as u32 + 1) + (first + step) as u32);
                    model[(page + step) as usize] = value;
                }
            }
            prop_assert_eq!(&seen_by_gpu(&queue, &range), &model);
            prop_assert_eq!(range.bound_bytes(), PAGE * model.iter().filter(|&&page| page != 0).count() as u64);
            let memories_bound = [1, 2].iter().filter(|&&hundred| model.iter().any(|page| page / 100 == hundred)).count();
            prop_assert_eq!(range.residents().len(), memories_bound);
        }
    }
}

#[test]
fn bound_memory_stays_alive_and_unchanged_residents_are_not_copied() {
    let device = device("renoir");
    let range = sparse_range(&device, 8);
    let memory = numbered(&device, 8, 50);
    range.bind(&[change(0, 8, Some((&memory, 0)))]).unwrap();
    let before = range.residents().snapshot();
    range.bind(&[change(2, 2, None)]).unwrap();
    assert_eq!(before, range.residents().snapshot(), "pages went, but no memory");
    let binding = Watch::of(memory.binding());
    drop((memory, before));
    assert_eq!(seen_by_gpu(&queue(&device, Ip::Sdma, 0), &range), [50, 51, 0, 0, 54, 55, 56, 57]);
    range.bind(&[change(0, 8, None)]).unwrap();
    assert!(range.residents().is_empty());
    assert!(!binding.is_bound(), "nobody needs it any more");
}

#[test]
fn a_wrong_change_is_named_and_nothing_of_its_batch_is_made() {
    let (home, abroad) = (device("navi21"), device("navi21"));
    let (range, memory, foreign) = (sparse_range(&home, 8), host_memory(&home, 4 * PAGE), host_memory(&abroad, PAGE));
    let good = change(0, 1, Some((&memory, 0)));
    let size = 8 * PAGE;
    let handle = memory.bo().handle();
    for (wrong, error) in [
        (
            SparseBind { offset: 8, ..good.clone() },
            Error::Misaligned(Misaligned { what: "offset in the sparse range", value: 8, alignment: PAGE }),
        ),
        (
            SparseBind { len: 100, ..good.clone() },
            Error::Misaligned(Misaligned { what: "length of a sparse binding", value: 100, alignment: PAGE }),
        ),
        (SparseBind { len: 0, ..good.clone() }, Error::OutOfRange(OutOfRange { handle: 0, offset: 0, len: 0, size })),
        (change(8, 1, None), Error::OutOfRange(OutOfRange { handle: 0, offset: size, len: PAGE, size })),
        (
            change(u64::MAX / PAGE, 1, None),
            Error::OutOfRange(OutOfRange { handle: 0, offset: !0xfff, len: PAGE, size }),
        ),
        (
            change(0, 2, Some((&memory, 3))),
            Error::OutOfRange(OutOfRange { handle, offset: 3 * PAGE, len: 2 * PAGE, size: memory.size() }),
        ),
        (change(0, 1, Some((&foreign, 0))), Error::ForeignDevice { what: "memory" }),
    ] {
        assert_eq!(range.bind(&[good.clone(), wrong]).unwrap_err(), error);
        assert_eq!(range.bound_bytes(), 0);
    }
}

#[test]
fn after_a_refusal_the_library_knows_what_is_bound() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let (range, memory) = (sparse_range(&device, 8), numbered(&device, 8, 10));
    let changes: Vec<_> = [0, 2, 4, 6].iter().map(|&page| change(page, 1, Some((&memory, page)))).collect();
    kernel.fail_nth_ioctl(GemVa::REQUEST, 2, Errno::ENOMEM);
    let error = range.bind(&changes).unwrap_err();
    assert_eq!(error.vk_result(), VkResult::OutOfDeviceMemory, "{error}");
    let believed: Vec<_> = (0..8).map(|page| range.lookup(page * PAGE).is_some()).collect();
    assert_eq!(believed, [true, false, true, false, false, false, false, false]);
    assert_eq!(seen_by_gpu(&queue(&device, Ip::Sdma, 0), &range), [10, 0, 12, 0, 0, 0, 0, 0]);
}

#[test]
fn a_range_that_fails_half_way_and_one_that_is_dropped_leave_nothing() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let memory = host_memory(&device, 4 * PAGE);
    let counts = || (kernel.inner().census(), device.addresses().leased_bytes());
    let before = counts();
    kernel.fail_nth_ioctl(GemVa::REQUEST, 0, Errno::ENOMEM);
    assert!(SparseRange::new(&device, VaRequest::new(1 << 20)).is_err());
    assert_eq!(counts(), before);
    let range = sparse_range(&device, 256);
    range.bind(&[change(3, 2, Some((&memory, 0))), change(9, 2, Some((&memory, 1)))]).unwrap();
    assert_ne!(counts(), before);
    // A drop tries again.
    kernel.fail_nth_ioctl(GemVa::REQUEST, 0, Errno::ENOMEM);
    drop(range);
    assert_eq!(counts(), before);
}

/// A range outside a BO, its lease or a page is refused by name, without a call to the kernel.
#[test]
fn parts_that_no_binding_or_reservation_has_are_refused_by_name() {
    let device = device("navi21");
    let memory = numbered(&device, 4, 100);
    let (flags, handle) = (memory.binding().flags(), memory.bo().handle());
    let lease = || device.addresses().allocate(VaRequest::new(3 * PAGE)).unwrap();
    let bind = |offset, len| Binding::of_part(memory.bo(), offset, len, lease(), flags).unwrap_err().1;
    let misaligned = |what, value| Error::Misaligned(Misaligned { what, value, alignment: PAGE });
    assert_eq!(Error::from(bind(1, PAGE)), misaligned("offset in the BO", 1));
    assert_eq!(Error::from(bind(PAGE, PAGE - 1)), misaligned("bound length", PAGE - 1));
    for (offset, len) in [(0, 0), (2 * PAGE, 3 * PAGE), (4 * PAGE, PAGE), (0, 4 * PAGE), (u64::MAX - PAGE + 1, PAGE)] {
        assert_eq!(bind(offset, len), BindError::OutOfRange(OutOfRange { handle, offset, len, size: 3 * PAGE }));
    }
    let reservation = Reservation::new(&device, lease()).unwrap();
    assert_eq!(reservation.unbind(1, PAGE).unwrap_err(), misaligned("offset in the range", 1));
    assert_eq!(reservation.unbind(0, PAGE + 1).unwrap_err(), misaligned("bound length", PAGE + 1));
    for (offset, len) in [(0, 0), (PAGE, 3 * PAGE), (3 * PAGE, PAGE), (u64::MAX - PAGE + 1, PAGE)] {
        let outside = Error::OutOfRange(OutOfRange { handle: 0, offset, len, size: 3 * PAGE });
        assert_eq!(reservation.unbind(offset, len).unwrap_err(), outside);
    }
    reservation.unbind(0, 3 * PAGE).unwrap();
}

/// A binding may be of a part of its BO; what backs a range is that part.
#[test]
fn a_part_of_a_bo_backs_a_range_from_its_own_start_to_its_own_end() {
    let device = device("navi21");
    let (range, memory) = (sparse_range(&device, 4), numbered(&device, 4, 100));
    let lease = device.addresses().allocate(VaRequest::new(2 * PAGE)).unwrap();
    let flags = memory.binding().flags();
    let part = Binding::of_part(memory.bo(), PAGE, 2 * PAGE, lease, flags).unwrap();
    let bind = |offset: u64, pages: u64| {
        let backing = Some(Backing { memory: part.clone(), offset: offset * PAGE });
        range.bind(&[SparseBind { offset: PAGE, len: pages * PAGE, backing }])
    };
    bind(0, 2).unwrap();
    assert_eq!(seen_by_gpu(&queue(&device, Ip::Sdma, 0), &range), [0, 101, 102, 0]);
    let beyond =
        Error::OutOfRange(OutOfRange { handle: memory.bo().handle(), offset: PAGE, len: 2 * PAGE, size: 2 * PAGE });
    assert_eq!(bind(1, 2).unwrap_err(), beyond, "the BO goes on, the part does not");
}

#[test]
fn pages_of_a_range_have_the_rights_of_the_memory_behind_them() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let range = sparse_range(&device, 4);
    for wishes in [AllocateFlags::empty(), AllocateFlags::READ_ONLY, AllocateFlags::NO_EXECUTE] {
        let memory = manager.allocate(&AllocateInfo { flags: wishes, ..AllocateInfo::new(0, PAGE) }).unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        kernel.fail_every_where(Errno::EIO, move |attempt| {
            if let Attempt::Ioctl { argument, .. } = attempt
                && attempt.is(GemVa::REQUEST)
            {
                // The flags are the fourth dword.
                heard.lock().unwrap().push(argument.get(12..16).map(<[u8]>::to_vec));
            }
            false
        });
        range.bind(&[change(0, 1, Some((&memory, 0)))]).unwrap();
        kernel.stop();
        let flags = memory.binding().flags().bits().to_ne_bytes().to_vec();
        // What was bound there before may go afterwards.
        assert_eq!(told.lock().unwrap().first(), Some(&Some(flags)), "{wishes:?}");
    }
}

/// The driver decides on which chips an application is offered sparse memory.
#[test]
fn chips_whose_sparse_memory_is_not_announced_bind_it_all_the_same() {
    for name in ["pitcairn", "stoney"] {
        let device = device(name);
        assert!(!device.info().capabilities.contains(Capabilities::SPARSE), "{name}");
        let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
        let memory = manager.allocate(&AllocateInfo::new(0, 64 << 10)).unwrap();
        let range = SparseRange::new(&device, VaRequest::new(1 << 20).aligned(64 << 10)).unwrap();
        let backing = Some(Backing { memory: memory.binding().clone(), offset: 0 });
        range.bind(&[SparseBind { offset: 64 << 10, len: 64 << 10, backing }]).unwrap();
        assert_eq!(range.bound_bytes(), 64 << 10, "{name}");
    }
}

#[test]
fn a_sparse_queue_binds_after_its_waits_and_signals_after_its_binds() {
    let device = device("navi21");
    let binds = SparseQueue::new(&device).unwrap();
    let (range, memory) = (sparse_range(&device, 4), numbered(&device, 4, 1));
    let gate = Syncobj::new(&device, false).unwrap();
    let done = Syncobj::new(&device, false).unwrap();
    let point = |syncobj: &Syncobj, point| SparsePoint { syncobj: syncobj.clone(), point };
    let submission = SparseSubmission {
        waits: vec![point(&gate, 5)],
        binds: vec![(range.clone(), vec![change(0, 4, Some((&memory, 0)))])],
        signals: vec![point(&done, 9)],
    };
    let fence = binds.submit(submission).unwrap();
    let behind = binds.submit(SparseSubmission::default()).unwrap();
    assert!(!fence.wait(Deadline::after(Duration::from_millis(60))).unwrap());
    assert!(!behind.wait(Deadline::POLL).unwrap(), "one after the other");
    assert_eq!((range.bound_bytes(), done.query().unwrap()), (0, 0));
    gate.signal_point(5).unwrap();
    assert!(fence.wait(job_time()).unwrap() && behind.wait(Deadline::NEVER).unwrap());
    assert_eq!((range.bound_bytes(), done.query().unwrap()), (4 * PAGE, 9));
}

#[test]
fn a_dropped_sparse_queue_abandons_what_still_waits() {
    let device = device("navi21");
    let binds = SparseQueue::new(&device).unwrap();
    let range = sparse_range(&device, 4);
    let never = SparsePoint { syncobj: Syncobj::new(&device, false).unwrap(), point: 0 };
    let submission = SparseSubmission {
        waits: vec![never],
        binds: vec![(range.clone(), vec![change(0, 4, None)])],
        ..SparseSubmission::default()
    };
    let fence = binds.submit(submission).unwrap();
    let behind = binds.submit(SparseSubmission::default()).unwrap();
    drop(binds);
    for fence in [fence, behind] {
        assert_eq!(fence.wait(Deadline::NEVER).unwrap_err(), SparseQueueError::Abandoned);
    }
}

#[test]
fn a_refused_change_ends_a_sparse_queue() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let binds = SparseQueue::new(&device).unwrap();
    let range = sparse_range(&device, 4);
    let done = Syncobj::new(&device, false).unwrap();
    let submission = SparseSubmission {
        binds: vec![(range.clone(), vec![change(0, 4, None)])],
        signals: vec![SparsePoint { syncobj: done.clone(), point: 0 }],
        ..SparseSubmission::default()
    };
    kernel.fail_nth_ioctl(GemVa::REQUEST, 0, Errno::ENOMEM);
    let error = binds.submit(submission.clone()).unwrap().wait(job_time()).unwrap_err();
    assert!(
        matches!(error, SparseQueueError::Winsys(Error::Kernel(KernelError { errno: Errno::ENOMEM, .. }))),
        "{error:?}"
    );
    assert_eq!(binds.submit(submission.clone()).unwrap().wait(job_time()).unwrap_err(), error);
    assert!(!done.wait(Deadline::POLL).unwrap());
    let abroad = crate::support::device("navi21");
    let foreign = SparseQueue::new(&abroad).unwrap().submit(submission).unwrap_err();
    assert_eq!(foreign, SparseQueueError::Winsys(Error::ForeignDevice { what: "sync object" }));
    let tables = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    tables.allocate(&AllocateInfo::new(0, PAGE)).unwrap();
}

#[test]
fn a_sparse_queue_takes_nothing_of_another_device() {
    let (mine, other) = (device("navi21"), device("navi21"));
    let queue = SparseQueue::new(&mine).unwrap();
    let foreign = |submission: SparseSubmission| match queue.submit(submission) {
        Err(SparseQueueError::Winsys(error)) => matches!(error, Error::ForeignDevice { .. }),
        _ => false,
    };
    let point = |device| SparsePoint { syncobj: Syncobj::new(device, false).unwrap(), point: 0 };
    let range = (sparse_range(&other, 4), Vec::new());
    assert!(foreign(SparseSubmission { binds: vec![range], ..SparseSubmission::default() }));
    assert!(foreign(SparseSubmission { waits: vec![point(&other)], ..SparseSubmission::default() }));
    assert!(foreign(SparseSubmission { signals: vec![point(&other)], ..SparseSubmission::default() }));
    let own = SparseSubmission { binds: vec![(sparse_range(&mine, 4), Vec::new())], ..SparseSubmission::default() };
    assert!(queue.submit(own).unwrap().wait(job_time()).unwrap());
}

/// Offsets in memory and in a range are 64 bits wide.
#[test]
fn pages_beyond_the_fourth_gibibyte_of_a_memory_back_a_range() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Sdma, 0);
    let far = (4 << 30) / PAGE + 1;
    let memory = host_memory(&device, (far + 2) * PAGE);
    let mapping = memory.mapping().unwrap();
    for (page, value) in [(0, 1), (1, 2), (far, 77), (far + 1, 78)] {
        mapping.store_u32(page * PAGE, value).unwrap();
    }
    let range = sparse_range(&device, 4);
    range.bind(&[change(1, 2, Some((&memory, far)))]).unwrap();
    assert_eq!(seen_by_gpu(&queue, &range), [0, 77, 78, 0]);
}

#[test]
fn what_is_left_of_a_large_piece_keeps_its_place_in_the_memory() {
    const GIB: u64 = 1 << 30;
    let device = device("navi21");
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let memory = manager.allocate(&AllocateInfo::new(0, 7 * GIB)).unwrap();
    let range = sparse_range(&device, 6 * GIB / PAGE);
    range.bind(&[change(0, 6 * GIB / PAGE, Some((&memory, GIB / PAGE)))]).unwrap();
    assert_eq!((range.bound_bytes(), range.size()), (6 * GIB, 6 * GIB));
    range.bind(&[change(0, 5 * GIB / PAGE, None)]).unwrap();
    assert_eq!(range.bound_bytes(), GIB);
    assert!(range.lookup(0).is_none());
    let (piece, backing) = range.lookup(5 * GIB).unwrap();
    assert_eq!((piece, backing.offset), (5 * GIB..6 * GIB, 6 * GIB));
}
