//! Rules of bringing a device up and of submitting that no other test of the library shows: weaknesses 19, 40 and 42,
//! checklist rows 5, 13, 14 and 95.
#![expect(unsafe_code, reason = "a kernel that is older or smaller than the simulated one, and listens")]

mod support;

use std::{
    ffi::{c_int, c_void},
    ptr::NonNull,
    sync::{Arc, Mutex},
};

use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    cs::{Error as CsError, Queue, Submission, SyncPoint},
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    uapi::{Argument, Cs, CsChunk, Info, Request, chunk_id, query},
    winsys::{Device, Ip, Kernel, OpenFile, Protection, Syncobj},
};
use nix::errno::Errno;
use support::{chip, host_memory, job_time, jobs};

/// The simulator, by way of somebody who writes down what it is asked, and who may know less of it.
struct Listener {
    inner: SimKernel,
    /// DEV_INFO has no more bytes than this.
    facts: u32,
    has_graphics: bool,
    heard: Arc<Heard>,
}

/// What was asked.
#[derive(Debug, Default)]
struct Heard {
    /// The numbers of INFO queries.
    queries: Mutex<Vec<u32>>,
    /// The kinds of the chunks of each submission.
    chunks: Mutex<Vec<Vec<u32>>>,
}

impl Listener {
    fn new(gpu: &SimDevice) -> (Self, Arc<Heard>) {
        let heard = Arc::new(Heard::default());
        (Self { inner: gpu.open(), facts: u32::MAX, has_graphics: true, heard: Arc::clone(&heard) }, heard)
    }

    /// The kinds of the chunks of a submission.
    ///
    /// # Safety
    ///
    /// `argument` is a [`Cs`] whose addresses are good.
    unsafe fn kinds(argument: *const Cs) -> Vec<u32> {
        // SAFETY: the caller says so.
        let cs = unsafe { argument.read() };
        let table = std::ptr::with_exposed_provenance::<u64>(cs.chunks as usize);
        let kind = |index: usize| {
            // SAFETY: the table has `num_chunks` addresses, and `index` is less.
            let header = unsafe { table.wrapping_add(index).read() };
            // SAFETY: each of them is the address of a header.
            unsafe { std::ptr::with_exposed_provenance::<CsChunk>(header as usize).read() }.chunk_id
        };
        (0..cs.num_chunks as usize).map(kind).collect()
    }
}

// SAFETY: every call is passed on to the simulator, with the caller's argument or with one that allows to write less.
unsafe impl Kernel for Listener {
    fn open_file(&self) -> OpenFile<'_> {
        self.inner.open_file()
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        if request.number() == Cs::REQUEST.number() {
            // SAFETY: the argument of a submission is one, with good addresses by the caller's promise.
            let kinds = unsafe { Self::kinds(argument.cast()) };
            self.heard.chunks.lock().unwrap().push(kinds);
        }
        if request.number() != Info::REQUEST.number() {
            // SAFETY: the caller's promises are passed on unchanged.
            return unsafe { self.inner.ioctl(request, argument) };
        }
        // SAFETY: an INFO argument is an `Info`.
        let mut info = unsafe { argument.cast::<Info>().read() };
        self.heard.queries.lock().unwrap().push(info.query);
        if info.query == query::HW_IP_INFO && info.input[0] == Ip::Gfx as u32 && !self.has_graphics {
            return Ok(0);
        }
        if info.query == query::DEV_INFO {
            info.return_size = info.return_size.min(self.facts);
        }
        // SAFETY: as the caller promised, but for a buffer that is as long or shorter.
        unsafe { self.inner.ioctl(request, std::ptr::from_mut(&mut info).cast()) }
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.mmap(len, protection, at, offset) }
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.munmap(address, len) }
    }
}

fn gpu(name: &str) -> SimDevice {
    SimDevice::new(chip(name), SimOptions::default())
}

/// W-19: RADV has one object for each GPU of a process, and an open with other options keeps a reference for ever. Here each
/// opening is a device of its own.
#[test]
fn w19_row_13_openings_of_one_gpu_share_no_options_and_leave_nothing() {
    let gpu = gpu("navi21");
    let before = gpu.census();
    let [one, other] = [false, true].map(|hide_rebar| {
        let device = Device::new(gpu.open()).unwrap();
        let options = TableOptions { hide_rebar, ..TableOptions::default() };
        (MemoryManager::new(&device, &options).unwrap(), device)
    });
    assert_eq!(gpu.census().files, before.files + 2);
    let memory = [&one, &other].map(|(manager, _)| manager.allocate(&AllocateInfo::new(0, 4096)).unwrap());
    assert_eq!(memory[0].address(), memory[1].address(), "each file has its own addresses");
    drop((one, memory));
    assert!(other.0.allocate(&AllocateInfo::new(0, 4096)).is_ok());
    drop(other);
    assert_eq!(gpu.census(), before);
}

/// W-40: RADV asks for the facts of a GPU three times.
#[test]
fn w40_no_fact_is_asked_for_twice() {
    for name in support::CHIPS {
        let (kernel, heard) = Listener::new(&gpu(name));
        Device::new(kernel).unwrap();
        let queries = heard.queries.lock().unwrap();
        for once in [query::DEV_INFO, query::MEMORY, query::ACCEL_WORKING, query::MAX_IBS] {
            assert_eq!(queries.iter().filter(|&&query| query == once).count(), 1, "{name}: query {once:#x}");
        }
    }
}

/// W-42: radeonsi closes the file and destroys sync objects of it afterwards.
#[test]
fn w42_the_file_outlives_every_object_of_it() {
    let gpu = gpu("navi21");
    let before = gpu.census();
    let device = Device::new(gpu.open()).unwrap();
    let weak = Arc::downgrade(&device);
    let syncobj = Syncobj::new(&device, false).unwrap();
    let queue = Queue::new(&jobs::context(&device), Ip::Sdma, 0).unwrap();
    let memory = host_memory(&device, 4096);
    drop(device);
    drop((queue, memory));
    assert!(weak.upgrade().is_some() && syncobj.signal().is_ok());
    drop(syncobj);
    assert!(weak.upgrade().is_none());
    assert_eq!(gpu.census(), before);
}

/// Row 5: what an older kernel does not tell is zero, and zero is what the field means there.
#[test]
fn row_05_facts_that_an_older_kernel_does_not_tell_are_zero() {
    let (mut kernel, _) = Listener::new(&gpu("navi21"));
    // Where the upper half of the address space is told; Linux learnt it with minor 25.
    kernel.facts = 336;
    let device = Device::new(kernel).unwrap();
    assert_eq!((device.info().high_va_offset, device.info().high_va_max), (0, 0));
    let memory = host_memory(&device, 4096);
    assert!(memory.address().as_u64() < device.info().va_max, "the lower half serves");
}

/// Row 14: accelerators have no graphics ring, and need none.
#[test]
fn row_14_a_chip_without_a_graphics_ring_computes() {
    for name in ["vega10", "navi31"] {
        let (mut kernel, _) = Listener::new(&gpu(name));
        kernel.has_graphics = false;
        let device = Device::new(kernel).unwrap();
        assert_eq!((device.info().ring_count(Ip::Gfx), device.info().gfx_level), (0, chip_level(name)), "{name}");
        let context = jobs::context(&device);
        let missing = Queue::new(&context, Ip::Gfx, 0).unwrap_err();
        assert_eq!(missing, CsError::NoSuchRing { ip: Ip::Gfx, ring: 0, rings: 0 });
        let queue = Queue::new(&context, Ip::Compute, 0).unwrap();
        let memory = host_memory(&device, 4096);
        let list = jobs::store(&device, queue.target(), memory.address(), 7);
        let bindings = [Arc::clone(memory.binding())];
        let fence = queue.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap();
        assert!(fence.wait(job_time()).unwrap());
        assert_eq!(jobs::load(&memory, 0), 7);
    }
}

fn chip_level(name: &str) -> amdgpu_winsys::winsys::GfxLevel {
    support::device(name).info().gfx_level
}

/// Row 95: the IBs, the user fence, what is waited for, what is signalled, and the BOs.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_submit`.
#[test]
fn row_95_chunks_come_in_the_order_of_the_reference() {
    let (kernel, heard) = Listener::new(&gpu("navi21"));
    let device = Device::new(kernel).unwrap();
    let context = jobs::context(&device);
    let [queue, other] = [0, 1].map(|ring| Queue::new(&context, Ip::Compute, ring).unwrap());
    let memory = host_memory(&device, 4096);
    let list = jobs::store(&device, queue.target(), memory.address(), 7);
    let bindings = [Arc::clone(memory.binding())];
    let plain = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let before = other.submit(&plain).unwrap();
    let [ready, done] = [true, false].map(|is_signalled| Syncobj::new(&device, is_signalled).unwrap());
    let (waits, signals) = ([SyncPoint::binary(&ready)], [SyncPoint::timeline(&done, 3)]);
    let all = Submission { lists: &[&list, &list], waits: &waits, signals: &signals, after: &[&before], ..plain };
    assert!(queue.submit(&all).unwrap().wait(job_time()).unwrap());
    let expected = [
        chunk_id::IB,
        chunk_id::IB,
        chunk_id::FENCE,
        chunk_id::DEPENDENCIES,
        chunk_id::SYNCOBJ_TIMELINE_WAIT,
        chunk_id::SYNCOBJ_TIMELINE_SIGNAL,
        chunk_id::BO_HANDLES,
    ];
    assert_eq!(heard.chunks.lock().unwrap().last().unwrap(), &expected);
}
