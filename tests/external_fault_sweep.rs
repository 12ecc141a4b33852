//! Every call of importing, exporting, placing, replaying and the rest fails once, for every n: nothing is leaked, every
//! error is typed, and descriptors stay whose they were.
#![expect(unsafe_code, reason = "host pointers and placed mappings")]

#[path = "support/pages.rs"]
mod pages;
mod support;

use std::{os::fd::OwnedFd, sync::Arc};

use amdgpu_layers::FaultInjector;
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    heaps::{
        AllocateFlags, AllocateInfo, ExternalHandleTypes, ImportInfo, MemoryError, MemoryManager, OwnUsage, Replay,
        TableOptions,
    },
    uapi::GemDomain,
    winsys::{BoMetadata, Device, Errno, UserMemory},
};
use pages::Pages;
use support::chip;

type Kernel = Arc<FaultInjector<SimKernel>>;

const DMA_BUF: ExternalHandleTypes = ExternalHandleTypes::DMA_BUF;
const SIZE: u64 = 64 << 10;

struct Bench {
    kernel: Kernel,
    manager: MemoryManager,
    /// Cached system memory.
    cached: u32,
    /// Memory of another file, by descriptor.
    dma_buf: OwnedFd,
    pages: Pages,
    place: Pages,
}

fn bench(name: &str) -> Bench {
    let gpu = SimDevice::new(chip(name), SimOptions::default());
    let kernel: Kernel = Arc::new(FaultInjector::new(gpu.open()));
    let manager = |device: &Device| MemoryManager::new(device, &TableOptions::default()).unwrap();
    let theirs = manager(&Device::new(gpu.open()).unwrap());
    let cached = theirs.properties().host_pointer_types().iter().next().unwrap();
    let dma_buf = theirs.allocate(&exportable(cached)).unwrap().export(DMA_BUF).unwrap();
    let manager = manager(&Device::new(Arc::clone(&kernel)).unwrap());
    let (pages, place) = (Pages::new(SIZE as usize), Pages::reserved(SIZE as usize));
    Bench { kernel, manager, cached, dma_buf, pages, place }
}

fn exportable(memory_type: u32) -> AllocateInfo {
    AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(memory_type, SIZE) }
}

type Counts = (amdgpu_sim::Census, u64, OwnUsage);

impl Bench {
    fn counts(&self) -> Counts {
        let device = self.manager.device();
        (self.kernel.inner().census(), device.addresses().leased_bytes(), self.manager.usage_tracker().usage())
    }

    fn info(&self) -> ImportInfo {
        ImportInfo::new(self.cached, SIZE)
    }
}

/// An operation under test.
type Operation = fn(&Bench) -> Result<(), MemoryError>;

fn import(bench: &Bench) -> Result<(), MemoryError> {
    let fd = bench.dma_buf.try_clone().unwrap();
    let inode = |fd: &OwnedFd| nix::sys::stat::fstat(fd).unwrap().st_ino;
    let was = inode(&fd);
    let memory = bench.manager.import_fd(fd, &bench.info()).map_err(|(fd, error)| {
        assert_eq!(inode(&fd), was, "{error}: the descriptor came back");
        error
    })?;
    memory.map()?.store_u32(0, 1)?;
    memory.export(DMA_BUF)?;
    Ok(())
}

fn ask(bench: &Bench) -> Result<(), MemoryError> {
    Ok(bench.manager.fd_types(DMA_BUF, &bench.dma_buf).map(drop)?)
}

fn export(bench: &Bench) -> Result<(), MemoryError> {
    let memory = bench.manager.allocate(&exportable(bench.cached))?;
    let metadata = BoMetadata { tiling: 1, flags: 0, data: vec![1; 16] };
    let fd = memory.export_image(DMA_BUF, &metadata)?;
    let again = bench.manager.import_fd(fd, &bench.info()).map_err(|(_, error)| error)?;
    drop(memory);
    assert_eq!(again.bo().metadata()?, metadata);
    again.bo().prefer(GemDomain::GTT)?;
    Ok(())
}

fn host_pointer(bench: &Bench) -> Result<(), MemoryError> {
    let memory = UserMemory::new(bench.pages.base(), SIZE);
    // SAFETY: the pages outlive the memory, and only volatile copies are made of them.
    let memory = unsafe { bench.manager.import_host_pointer(memory, &bench.info()) }?;
    memory.map()?.write(0, &[7])?;
    assert_eq!(bench.pages.load(0), 7);
    Ok(())
}

fn placed(bench: &Bench) -> Result<(), MemoryError> {
    let memory = bench.manager.allocate(&AllocateInfo::new(bench.cached, SIZE))?;
    // SAFETY: the addresses are ours and hold nothing.
    let mapped = unsafe { memory.map_placed(bench.place.base()) }.map(|mapping| mapping.store_u32(0, 1));
    let outcome = mapped.map_err(MemoryError::from).and_then(|stored| Ok(stored?));
    // Whatever happened, the addresses end up reserved, so that the test keeps them.
    memory.unmap_reserving().or_else(|_| memory.unmap_reserving())?;
    outcome
}

fn replay(bench: &Bench) -> Result<(), MemoryError> {
    let info = AllocateInfo { replay: Replay::Capture, ..AllocateInfo::new(bench.cached, SIZE) };
    let at = bench.manager.allocate(&info)?.address();
    let again = bench.manager.allocate(&AllocateInfo { replay: Replay::At(at), ..info })?;
    assert_eq!(again.address(), at);
    Ok(())
}

const OPERATIONS: [(&str, Operation); 6] = [
    ("import", import),
    ("ask", ask),
    ("export", export),
    ("host pointer", host_pointer),
    ("placed", placed),
    ("replay", replay),
];

/// More than any operation makes.
const MOST_CALLS: u64 = 1000;

fn sweep(name: &str, errno: Errno) {
    for (what, operation) in OPERATIONS {
        let bench = bench(name);
        let before = bench.counts();
        let mut calls = 0;
        loop {
            bench.kernel.fail_nth(calls, errno);
            let outcome = operation(&bench);
            assert_eq!(bench.counts(), before, "{name}: {what}: call {calls} failed with {errno}: {outcome:?}");
            if !bench.kernel.has_fired() {
                outcome.unwrap_or_else(|error| panic!("{name}: {what}: no call failed, and yet: {error}"));
                break;
            }
            calls += 1;
            assert!(calls < MOST_CALLS, "{name}: {what} does not end");
        }
        assert!(calls >= 2, "{name}: {what} makes only {calls} calls");
        bench.kernel.stop();
        operation(&bench).unwrap();
    }
}

#[test]
fn no_single_failure_leaks_anything_on_a_card() {
    sweep("navi21", Errno::ENOMEM);
}

#[test]
fn no_single_failure_leaks_anything_on_an_apu() {
    sweep("renoir", Errno::EIO);
}

#[test]
fn no_single_failure_leaks_guard_pages_on_the_oldest_chip() {
    sweep("pitcairn", Errno::EINVAL);
}
