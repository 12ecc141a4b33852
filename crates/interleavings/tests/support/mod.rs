//! The simulator below the library's second build, and the scheduler above it.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

use amdgpu_layers::{Answered, Ioctl, Layer, Mapped, Mmap, Munmap, Reserve, Reserved, Unmapped};
use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_uapi::Errno;
use amdgpu_winsys_interleaved::winsys::Device;
use shuttle::{
    Config, Runner,
    scheduler::{PctScheduler, RandomScheduler},
};

/// A kernel that lets another thread go on before each call.
pub(crate) struct Turns {
    pub(crate) counts: Arc<Counts>,
}

/// Counts of calls.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// mmap calls that succeeded.
    pub(crate) mapped: AtomicU64,
    /// mmap calls that are still to fail.
    pub(crate) to_fail: AtomicU64,
}

impl Layer for Turns {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        shuttle::thread::yield_now();
        call.forward()
    }

    fn mmap<'c>(&self, call: Mmap<'c>) -> Mapped<'c> {
        shuttle::thread::yield_now();
        if self.counts.to_fail.load(SeqCst) > 0 {
            self.counts.to_fail.fetch_sub(1, SeqCst);
            return call.refuse(Errno::ENOMEM);
        }
        let mapped = call.forward();
        self.counts.mapped.fetch_add(mapped.result().is_ok().into(), SeqCst);
        mapped
    }

    fn munmap<'c>(&self, call: Munmap<'c>) -> Unmapped<'c> {
        shuttle::thread::yield_now();
        call.forward()
    }

    fn reserve<'c>(&self, call: Reserve<'c>) -> Reserved<'c> {
        shuttle::thread::yield_now();
        call.forward()
    }
}

/// A simulated GPU and a device on it.
pub(crate) struct Rig {
    pub(crate) gpu: SimDevice,
    pub(crate) counts: Arc<Counts>,
    pub(crate) device: Device,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let chip = amdgpu_sim::profile("navi21").expect("the simulator's card");
        let gpu = SimDevice::new(chip, SimOptions::default());
        let counts = Arc::<Counts>::default();
        let turns = Turns { counts: Arc::clone(&counts) };
        let device = Device::new(turns.over(gpu.open())).expect("a device");
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
