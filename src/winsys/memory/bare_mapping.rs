//! CPU mappings that are represented by the address of their first byte alone.

use std::ptr::NonNull;

use amdgpu_hw::num::wide;

use crate::{
    uapi::{Answered, Argument, Errno, GemCreateFlags, GemMmap},
    winsys::{
        Bo, Event, KernelError, MapError, Misaligned, NotReserved, Origin, PAGE_SIZE, Protection, Unmappable,
        answers::UNWRITTEN, own::send, release::release,
    },
};

/// CPU mappings without an owning value, for callers that own the BO and keep the address. A
/// [`Mapping`](crate::winsys::Mapping) unmaps itself, but holds a reference to its BO, which costs two locked instructions.
///
/// ```
/// use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{Bo, BoRequest}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
/// let bo = Bo::create(&device, request)?;
/// let base = bo.map_bare()?;
/// // SAFETY: 4096 bytes are mapped there, and the GPU does not use them.
/// unsafe { base.cast::<u32>().write_volatile(7) };
/// // SAFETY: only this code uses the mapping, and no longer afterwards.
/// unsafe { bo.unmap_bare(base) };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Bo {
    /// Maps the whole BO for the CPU and returns the address of its first byte. It stays mapped until [`Bo::unmap_bare`],
    /// even after the BO is dropped.
    ///
    /// Requests: AMDGPU_GEM_MMAP, then mmap of the node.
    ///
    /// # Errors
    ///
    /// The errors of [`Mapping::new`](crate::winsys::Mapping::new).
    pub fn map_bare(&self) -> Result<NonNull<u8>, MapError> {
        // SAFETY: without an address the kernel picks free ones, so no mapping is replaced.
        let base = unsafe { map(self, None) }?;
        notify_mapped(self, base);
        Ok(base)
    }

    /// Maps the whole BO at address `at` and replaces existing mappings there, like
    /// [`Mapping::placed`](crate::winsys::Mapping::placed). The BO stays mapped until [`Bo::unmap_bare`].
    ///
    /// # Errors
    ///
    /// The errors of [`Mapping::placed`](crate::winsys::Mapping::placed).
    ///
    /// # Safety
    ///
    /// The caller must own the CPU addresses from `at` to `at` plus the size of the BO, and no other code may use them while they
    /// are mapped.
    pub unsafe fn map_bare_at(&self, at: NonNull<u8>) -> Result<NonNull<u8>, MapError> {
        // SAFETY: the caller's promise.
        let base = unsafe { map(self, Some(at)) }?;
        notify_mapped(self, base);
        Ok(base)
    }

    /// Unmaps the mapping at `base`. If the kernel refuses, the error is logged.
    ///
    /// # Safety
    ///
    /// `base` was returned by [`Bo::map_bare`] or [`Bo::map_bare_at`] of this BO and has not been unmapped since, and the
    /// mapping is no longer used.
    pub unsafe fn unmap_bare(&self, base: NonNull<u8>) {
        // SAFETY: the caller's promise.
        unsafe { unmap(self, base, || ()) };
    }

    /// Unmaps the mapping at `base` and keeps its addresses reserved, like
    /// [`Mapping::unmap_reserving`](crate::winsys::Mapping::unmap_reserving).
    ///
    /// # Errors
    ///
    /// [`KernelError`] if the addresses cannot be reserved. The flag that is returned with the error is `true` if the BO is still mapped.
    ///
    /// # Safety
    ///
    /// The requirements of [`Bo::unmap_bare`].
    pub unsafe fn unmap_bare_reserving(&self, base: NonNull<u8>) -> Result<(), (bool, KernelError)> {
        // SAFETY: the caller's promise.
        unsafe { reserve(self, base) }.inspect(|()| notify_unmapped(self, base)).inspect_err(|&(is_mapped, _)| {
            if !is_mapped {
                notify_unmapped(self, base);
            }
        })
    }
}

/// Reports a mapping to the observer, once it has an owner.
pub(super) fn notify_mapped(bo: &Bo, base: NonNull<u8>) {
    bo.device().notify(|| Event::Mapped { handle: bo.handle(), base: base.addr().get(), len: bytes(bo) });
}

/// Reports to the observer that a mapping is gone, after its owner has forgotten it.
pub(super) fn notify_unmapped(bo: &Bo, base: NonNull<u8>) {
    bo.device().notify(|| Event::Unmapped { handle: bo.handle(), base: base.addr().get(), len: bytes(bo) });
}

/// Unmaps the mapping at `base`. If that succeeds, calls `forget`, which clears the owner's record, and then tells the
/// observer.
///
/// # Safety
///
/// The requirements of [`Bo::unmap_bare`].
pub(super) unsafe fn unmap(bo: &Bo, base: NonNull<u8>, forget: impl FnOnce()) {
    // SAFETY: the bytes of the BO were mapped there, and the caller promises the rest.
    let unmapped = release(|| unsafe { bo.device().kernel().munmap(base, bytes(bo)) });
    if unmapped.is_done() {
        forget();
        notify_unmapped(bo, base);
    }
    unmapped.report("munmap", bo.handle());
}

/// Unmaps the mapping at `base` and reserves its addresses. The flag that is returned with the error is `true` if the BO is still mapped.
///
/// # Safety
///
/// The requirements of [`Bo::unmap_bare`].
pub(super) unsafe fn reserve(bo: &Bo, base: NonNull<u8>) -> Result<(), (bool, KernelError)> {
    // SAFETY: the bytes of the BO were mapped there, and the caller promises the rest.
    unsafe { bo.device().kernel().reserve(base, bytes(bo)) }
        .map_err(|NotReserved { errno, is_mapped }| (is_mapped, bo.refused("mmap", errno)))
}

/// Maps the whole BO without telling the observer.
///
/// # Errors
///
/// The errors of [`Bo::map_bare_at`].
///
/// # Safety
///
/// If `at` is given, the caller owns the addresses that start there, for the size of the BO.
pub(super) unsafe fn map(bo: &Bo, at: Option<NonNull<u8>>) -> Result<NonNull<u8>, MapError> {
    let handle = bo.handle();
    let value = at.map_or(0, |at| wide(at.addr().get()));
    if !value.is_multiple_of(PAGE_SIZE) {
        return Err(Misaligned { what: "placed address", value, alignment: PAGE_SIZE }.into());
    }
    if bo.flags().contains(GemCreateFlags::NO_CPU_ACCESS) {
        return Err(Unmappable::NoCpuAccess { handle }.into());
    }
    if bo.origin() == Origin::Elsewhere {
        return Err(Unmappable::ForeignMemory { handle }.into());
    }
    let device = bo.device();
    let mut argument = GemMmap { handle, pad: 0 };
    send(device.kernel(), &mut argument).map_err(|errno| bo.refused(GemMmap::NAME, errno))?;
    let offset = argument.answer().addr_ptr;
    if offset == u64::from(handle) {
        // The answer was not written: offsets start above all 32-bit numbers (Linux 6.12 `drm_vma_manager.h`).
        return Err(bo.refused(GemMmap::NAME, UNWRITTEN).into());
    }
    let len = extent(bo)?;
    // SAFETY: without an address the kernel picks free ones; with one, the caller owns the range.
    let mapped = unsafe { device.kernel().mmap(len, Protection::ReadWrite, at, offset) };
    Ok(mapped.map_err(|errno| bo.refused("mmap", errno))?)
}

/// Returns the length in bytes of a mapped BO's mapping.
fn bytes(bo: &Bo) -> usize {
    // `extent` checked the size before the BO was mapped.
    bo.size() as usize
}

/// Returns the length in bytes of a BO's mapping; an error if a [`Mapping`](crate::winsys::Mapping) cannot represent it.
pub(super) fn extent(bo: &Bo) -> Result<usize, KernelError> {
    let pages = u32::try_from(bo.size() / PAGE_SIZE);
    pages.map(|_| bytes(bo)).map_err(|_| bo.refused("mmap", Errno::EOVERFLOW))
}
