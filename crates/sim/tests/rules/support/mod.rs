//! Support of the rule tests: any argument under any request, and the memory and jobs to try them on.
#![expect(unsafe_code, reason = "the seam is unsafe; here it is made safe for the tests")]

mod job;
mod pages;
mod rig;
mod shared;

use std::{ffi::c_void, ptr::NonNull, time::Duration};

use amdgpu_sim::{KernelRelease, LockupTimeout, SimDevice, SimKernel, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        self, Answered, Argument, Ctx, CtxAllocAnswer, GemClose, GemCreate, GemCreateFlags, GemDomain, GemMmap, GemVa,
        Info, Request, SyncobjCreate, SyncobjTimelineArray, SyncobjWait, VaFlags, VaOperation, ctx_op,
    },
    winsys::{Kernel, Protection},
};
use zerocopy::{FromBytes, Immutable, IntoBytes};

pub(crate) use self::{
    job::{Chunk, Job},
    pages::Pages,
    rig::{DATA, IBS, Rig, encode},
    shared::{eventfd, ioctl_on, is_readable, owned, sync_file_info},
};

/// Page size, bytes.
pub(crate) const PAGE: u64 = 4096;

/// Time that a hanging job may hang in a test.
pub(crate) const HANG: Duration = Duration::from_millis(30);

/// The options of the kernel that has the rules R1 to R171: Linux 6.12.
pub(crate) fn reference() -> SimOptions {
    SimOptions::of_kernel(KernelRelease::V6_12)
}

/// The same with another lockup timeout.
pub(crate) fn hanging_for(time: Duration) -> SimOptions {
    SimOptions { lockup_timeout: LockupTimeout::all(time), ..reference() }
}

/// A card with more VRAM than the CPU can see, whose stuck rings are given up soon. Like the kernel, and unlike a strict
/// device, it lets jobs touch what they do not list.
pub(crate) fn card() -> SimDevice {
    device("navi21")
}

/// A chip by name, likewise.
pub(crate) fn device(name: &str) -> SimDevice {
    SimDevice::new(profile(name).unwrap(), SimOptions { strict: false, ..hanging_for(HANG) })
}

/// A card on which nothing is given up while the test runs.
pub(crate) fn patient_card() -> SimDevice {
    patient("navi21")
}

/// A chip by name, likewise.
pub(crate) fn patient(name: &str) -> SimDevice {
    let options = SimOptions { strict: false, ..hanging_for(Duration::from_mins(1)) };
    SimDevice::new(profile(name).unwrap(), options)
}

/// One open file.
#[derive(Debug)]
pub(crate) struct File(pub(crate) SimKernel);

/// A file of a fresh card.
pub(crate) fn file() -> File {
    open(&card())
}

/// A file of this device.
pub(crate) fn open(device: &SimDevice) -> File {
    File(device.open())
}

/// Returns the address of a slice, for arguments.
pub(crate) fn address<T>(slice: &[T]) -> u64 {
    slice.as_ptr().expose_provenance() as u64
}

/// Returns the address of a slice that the kernel writes to.
pub(crate) fn address_mut<T>(slice: &mut [T]) -> u64 {
    slice.as_mut_ptr().expose_provenance() as u64
}

/// A moment this far in the future, for timeouts.
pub(crate) fn after(time: Duration) -> u64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).unwrap();
    (Duration::from(now) + time).as_nanos() as u64
}

/// Far more than any job of a test needs.
pub(crate) fn long() -> u64 {
    after(Duration::from_mins(10))
}

impl File {
    /// Sends bytes under any request.
    pub(crate) fn raw(&self, request: Request, bytes: &mut [u8]) -> Result<(), Errno> {
        assert!(bytes.len() >= request.size(), "{request:?} takes more than {} bytes", bytes.len());
        // SAFETY: the request takes at most the slice; tests put only addresses of live buffers into arguments, by
        // `address` and `address_mut`, with their lengths.
        unsafe { self.0.ioctl(request, bytes.as_mut_ptr().cast::<c_void>()) }.map(|_| ())
    }

    /// Sends a null argument.
    pub(crate) fn null(&self, request: Request) -> Result<(), Errno> {
        // SAFETY: the simulated kernel promises to refuse null where it would follow it.
        unsafe { self.0.ioctl(request, std::ptr::null_mut()) }.map(|_| ())
    }

    /// Sends an argument under another number.
    pub(crate) fn send_as<A: Argument>(&self, request: Request, argument: &mut A) -> Result<(), Errno> {
        self.raw(request, argument.as_mut_bytes())
    }

    /// Sends an argument.
    pub(crate) fn send<A: Argument>(&self, argument: &mut A) -> Result<(), Errno> {
        self.send_as(A::REQUEST, argument)
    }

    /// Sends a question and reads the answer.
    pub(crate) fn ask<A: Answered>(&self, mut question: A) -> Result<A::Answer, Errno> {
        self.send(&mut question)?;
        Ok(question.answer())
    }

    /// GEM_CREATE.
    pub(crate) fn try_create(
        &self,
        size: u64,
        alignment: u64,
        domains: GemDomain,
        flags: GemCreateFlags,
    ) -> Result<u32, Errno> {
        let (domains, domain_flags) = (domains.bits(), flags.bits());
        self.ask(GemCreate { bo_size: size, alignment, domains, domain_flags }).map(|answer| answer.handle)
    }

    /// A BO in GTT.
    pub(crate) fn create(&self, size: u64) -> u32 {
        self.try_create(size, 0, GemDomain::GTT, GemCreateFlags::empty()).unwrap()
    }

    /// GEM_CLOSE.
    pub(crate) fn close(&self, handle: u32) -> Result<(), Errno> {
        self.send(&mut GemClose { handle, pad: 0 })
    }

    /// GEM_MMAP.
    pub(crate) fn offset(&self, handle: u32) -> Result<u64, Errno> {
        self.ask(GemMmap { handle, pad: 0 }).map(|answer| answer.addr_ptr)
    }

    /// mmap of the node.
    pub(crate) fn map_at_offset(&self, offset: u64, len: u64) -> Result<View<'_>, Errno> {
        // SAFETY: without a wanted address nothing is replaced.
        let base = unsafe { self.0.mmap(len as usize, Protection::ReadWrite, None, offset) }?;
        Ok(View { file: self, base, len: len as usize })
    }

    /// A CPU mapping of a whole BO.
    pub(crate) fn view(&self, handle: u32, len: u64) -> View<'_> {
        self.map_at_offset(self.offset(handle).unwrap(), len).unwrap()
    }

    /// GEM_VA.
    pub(crate) fn va(&self, operation: VaOperation, flags: VaFlags, handle: u32, at: Range) -> Result<(), Errno> {
        let Range { va, offset, size } = at;
        let (operation, flags) = (operation as u32, flags.bits());
        let mut request =
            GemVa { handle, pad: 0, operation, flags, va_address: va, offset_in_bo: offset, map_size: size };
        self.send(&mut request)
    }

    /// GEM_VA, MAP, with every access right.
    pub(crate) fn bind(&self, handle: u32, va: u64, size: u64) -> Result<(), Errno> {
        self.va(VaOperation::Map, RWX, handle, Range { va, offset: 0, size })
    }

    /// GEM_VA, UNMAP.
    pub(crate) fn unbind(&self, handle: u32, va: u64) -> Result<(), Errno> {
        self.va(VaOperation::Unmap, RWX, handle, Range { va, offset: 0, size: PAGE })
    }

    /// CTX, ALLOC.
    pub(crate) fn context(&self) -> u32 {
        self.try_context(0).unwrap()
    }

    /// CTX, ALLOC, with a priority.
    pub(crate) fn try_context(&self, priority: i32) -> Result<u32, Errno> {
        let mut request = Ctx { op: ctx_op::ALLOC_CTX, priority, ..Ctx::ZEROED };
        self.send(&mut request)?;
        Ok(CtxAllocAnswer::read_from_prefix(request.as_bytes()).unwrap().0.ctx_id)
    }

    /// SYNCOBJ_CREATE.
    pub(crate) fn syncobj(&self, signalled: bool) -> u32 {
        let mut request = SyncobjCreate { handle: 0, flags: u32::from(signalled) };
        self.send(&mut request).unwrap();
        request.handle
    }

    /// SYNCOBJ_WAIT for one.
    pub(crate) fn wait_syncobj(&self, handle: u32, timeout: i64, flags: u32) -> Result<(), Errno> {
        let handles = [handle];
        let (handles, count_handles) = (address(&handles), 1);
        self.send(&mut SyncobjWait { handles, timeout_nsec: timeout, count_handles, flags, ..SyncobjWait::ZEROED })
    }

    /// SYNCOBJ_QUERY of one.
    pub(crate) fn query_syncobj(&self, handle: u32, flags: u32) -> u64 {
        let (handles, mut points) = ([handle], [u64::MAX]);
        let (handles, points_at) = (address(&handles), address_mut(&mut points));
        self.send(&mut SyncobjTimelineArray { handles, points: points_at, count_handles: 1, flags }).unwrap();
        points[0]
    }

    /// SYNCOBJ_TIMELINE_SIGNAL of one.
    pub(crate) fn signal_point(&self, handle: u32, point: u64) {
        let (handles, points) = ([handle], [point]);
        let (handles, points) = (address(&handles), address(&points));
        let mut request = SyncobjTimelineArray { handles, points, count_handles: 1, flags: 0 };
        self.send_as(uapi::SYNCOBJ_TIMELINE_SIGNAL, &mut request).unwrap();
    }

    /// INFO into a buffer.
    pub(crate) fn info_into(&self, query: u32, input: [u32; 4], out: &mut [u8]) -> Result<(), Errno> {
        let return_size = out.len() as u32;
        self.send(&mut Info { return_pointer: address_mut(out), return_size, query, input })
    }

    /// INFO as a value.
    pub(crate) fn info<T: FromBytes + IntoBytes + Immutable>(&self, query: u32, input: [u32; 4]) -> Result<T, Errno> {
        let mut value = T::new_zeroed();
        self.info_into(query, input, value.as_mut_bytes()).map(|()| value)
    }

    /// Returns the complaints, as one text.
    pub(crate) fn complaints(&self) -> String {
        self.0.complaints().join("\n")
    }
}

/// Every right a binding can give.
pub(crate) const RWX: VaFlags = VaFlags::READABLE.union(VaFlags::WRITEABLE).union(VaFlags::EXECUTABLE);

/// A range for GEM_VA.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) va: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// A CPU mapping.
#[derive(Debug)]
pub(crate) struct View<'f> {
    file: &'f File,
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: it is plain shared memory; every access is one volatile load or store.
unsafe impl Sync for View<'_> {}
// SAFETY: as above; munmap may be called from any thread.
unsafe impl Send for View<'_> {}

impl View<'_> {
    fn dword(&self, at: usize) -> NonNull<u32> {
        assert!(at.is_multiple_of(4) && at + 4 <= self.len, "{at} lies outside {} bytes", self.len);
        // SAFETY: the range was just checked, and mmap mapped that many bytes.
        unsafe { self.base.add(at) }.cast()
    }

    /// The dword at this byte.
    pub(crate) fn load(&self, at: usize) -> u32 {
        // SAFETY: `dword` gives an aligned address inside the mapping, which lives as long as `self`.
        unsafe { self.dword(at).read_volatile() }
    }

    /// Stores a dword at this byte.
    pub(crate) fn store(&self, at: usize, value: u32) {
        // SAFETY: as in `load`; the mapping is writable.
        unsafe { self.dword(at).write_volatile(value) }
    }

    /// Stores dwords from this byte on.
    pub(crate) fn store_all(&self, at: usize, values: &[u32]) {
        values.iter().enumerate().for_each(|(index, &value)| self.store(at + 4 * index, value));
    }

    /// Waits until the dword has this value.
    pub(crate) fn await_value(&self, at: usize, value: u32) {
        let start = std::time::Instant::now();
        while self.load(at) != value {
            assert!(start.elapsed() < Duration::from_mins(10), "{:#x} never became {value:#x}", self.load(at));
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one, and nothing borrowed from it is left.
        unsafe { self.file.0.munmap(self.base, self.len) }.unwrap();
    }
}
