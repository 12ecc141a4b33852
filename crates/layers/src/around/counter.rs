//! A layer that counts calls.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use amdgpu_uapi::Request;

use super::{Answered, Ioctl, Layer, Mapped, Mmap, Munmap, Reserve, Reserved, Unmapped};

/// A layer that counts the calls to a kernel, including refused ones.
///
/// ```
/// use amdgpu_layers::{Counter, Layer};
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_uapi::{Argument, GemCreate};
/// use amdgpu_winsys::winsys::{Bo, BoRequest, Device};
/// use std::sync::Arc;
///
/// let kernel = Arc::new(Counter::default().over(SimKernel::open(profile("navi21").ok_or("no such chip")?)));
/// let device = Device::new(Arc::clone(&kernel))?;
/// let before = kernel.layer().of(GemCreate::REQUEST);
/// let request = BoRequest {
///     size: 4096,
///     alignment: 0,
///     domains: amdgpu_uapi::GemDomain::GTT,
///     flags: amdgpu_uapi::GemCreateFlags::empty(),
/// };
/// let bo = Bo::create(&device, request)?;
/// assert_eq!(kernel.layer().of(GemCreate::REQUEST), before + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Counter {
    /// By request number.
    ioctls: [AtomicU64; 256],
    mappings: AtomicU64,
    ends: AtomicU64,
}

impl Default for Counter {
    fn default() -> Self {
        Self { ioctls: [const { AtomicU64::new(0) }; 256], mappings: AtomicU64::new(0), ends: AtomicU64::new(0) }
    }
}

impl Counter {
    /// Returns the number of ioctls so far.
    pub fn ioctls(&self) -> u64 {
        self.ioctls.iter().map(|count| count.load(Relaxed)).sum()
    }

    /// Returns the number of ioctls of this request so far, regardless of the size of the argument.
    pub fn of(&self, request: Request) -> u64 {
        self.ioctls[usize::from(request.number())].load(Relaxed)
    }

    /// Returns the number of mmap calls so far.
    pub fn mappings(&self) -> u64 {
        self.mappings.load(Relaxed)
    }

    /// Returns the number of munmap and reserve calls so far.
    pub fn ends(&self) -> u64 {
        self.ends.load(Relaxed)
    }
}

impl Layer for Counter {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        self.ioctls[usize::from(call.request().number())].fetch_add(1, Relaxed);
        call.forward()
    }

    fn mmap<'c>(&self, call: Mmap<'c>) -> Mapped<'c> {
        self.mappings.fetch_add(1, Relaxed);
        call.forward()
    }

    fn munmap<'c>(&self, call: Munmap<'c>) -> Unmapped<'c> {
        self.ends.fetch_add(1, Relaxed);
        call.forward()
    }

    fn reserve<'c>(&self, call: Reserve<'c>) -> Reserved<'c> {
        self.ends.fetch_add(1, Relaxed);
        call.forward()
    }
}
