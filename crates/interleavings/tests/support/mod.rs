//! The simulator below the library's second build, and the scheduler above it.
#![expect(unsafe_code, reason = "a kernel in front of the simulator's")]
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::{
    ffi::{c_int, c_void},
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{uapi::Request as SimRequest, winsys::Protection as SimProtection};
use amdgpu_winsys_interleaved::{
    uapi::Request,
    winsys::{Device, FileIdentity, Kernel, OpenFile, Protection},
};
use nix::errno::Errno;
use shuttle::{
    Config, Runner,
    scheduler::{PctScheduler, RandomScheduler},
};

/// A simulated kernel that lets another thread go on before each call. The calls are the same bytes in both builds.
pub(crate) struct Bytes {
    inner: SimKernel,
    identity: FileIdentity,
    pub(crate) counts: Arc<Counts>,
}

/// What was called.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// mmap calls that succeeded.
    pub(crate) mapped: AtomicU64,
    /// mmap calls that are still to fail.
    pub(crate) to_fail: AtomicU64,
}

// SAFETY: every call is the simulator's, which promises the same; the two builds' types differ in name alone.
unsafe impl Kernel for Bytes {
    fn open_file(&self) -> OpenFile<'_> {
        OpenFile::InProcess(&self.identity)
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        shuttle::thread::yield_now();
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.ioctl(SimRequest::from_bits(request.bits()), argument) }
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        shuttle::thread::yield_now();
        if self.counts.to_fail.load(SeqCst) > 0 {
            self.counts.to_fail.fetch_sub(1, SeqCst);
            return Err(Errno::ENOMEM);
        }
        let protection = match protection {
            Protection::Read => SimProtection::Read,
            Protection::ReadWrite => SimProtection::ReadWrite,
        };
        // SAFETY: the caller's promises are passed on unchanged.
        let mapped = unsafe { self.inner.mmap(len, protection, at, offset) };
        self.counts.mapped.fetch_add(mapped.is_ok().into(), SeqCst);
        mapped
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        shuttle::thread::yield_now();
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.munmap(address, len) }
    }
}

/// A simulated GPU and a device on it.
pub(crate) struct Rig {
    pub(crate) gpu: SimDevice,
    pub(crate) counts: Arc<Counts>,
    pub(crate) device: Arc<Device>,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let chip = amdgpu_sim::profile("navi21").expect("the simulator's card");
        let gpu = SimDevice::new(chip, SimOptions::default());
        let counts = Arc::<Counts>::default();
        let device =
            Device::new(Bytes { inner: gpu.open(), identity: FileIdentity::new(), counts: Arc::clone(&counts) })
                .expect("a device");
        Self { gpu, counts, device }
    }
}

/// Tries orders: some by chance alone, some that hold one thread back for long (the PCT scheduler, which finds a bug of `d`
/// switches with a chance that is known).
pub(crate) fn in_many_orders(work: impl Fn() + Send + Sync + Clone + 'static) {
    const ORDERS: usize = 300;
    let config = || {
        let mut config = Config::new();
        // The simulator is no guest on a thread of its own.
        config.stack_size = 1 << 20;
        config
    };
    Runner::new(RandomScheduler::new(ORDERS), config()).run(work.clone());
    Runner::new(PctScheduler::new(3, ORDERS), config()).run(work);
}
