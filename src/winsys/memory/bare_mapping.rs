//! CPU mappings whose owner keeps their first byte and nothing else.

use std::ptr::NonNull;

use amdgpu_hw::num::wide;

use crate::{
    uapi::{Answered, Argument, Errno, GemCreateFlags, GemMmap},
    winsys::{
        Bo, Error, Event, NotReserved, Origin, PAGE_SIZE, Protection, Result, answers::UNWRITTEN, kernel::send,
        release::release,
    },
};

/// Mappings for an owner of a BO that keeps the first byte. A [`Mapping`](crate::winsys::Mapping) has a reference to its BO instead,
/// which costs two locked instructions, and ends by itself.
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
/// // SAFETY: the mapping is this function's, and not used afterwards.
/// unsafe { bo.unmap_bare(base) };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Bo {
    /// Maps all of the BO, and returns the first byte. It stays mapped until [`Bo::unmap_bare`], even beyond the BO's end.
    ///
    /// Requests: AMDGPU_GEM_MMAP, then mmap of the node.
    ///
    /// # Errors
    ///
    /// Those of [`Mapping::new`](crate::winsys::Mapping::new).
    pub fn map_bare(&self) -> Result<NonNull<u8>> {
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let base = unsafe { map(self, None) }?;
        tell_mapped(self, base);
        Ok(base)
    }

    /// Maps all of the BO at `at`, over whatever is mapped there, as [`Mapping::placed`](crate::winsys::Mapping::placed) does. It stays
    /// mapped until [`Bo::unmap_bare`].
    ///
    /// # Errors
    ///
    /// Those of [`Mapping::placed`](crate::winsys::Mapping::placed).
    ///
    /// # Safety
    ///
    /// The caller owns the bytes from `at` on, for the size of the BO, and nothing uses them while they are mapped.
    pub unsafe fn map_bare_at(&self, at: NonNull<u8>) -> Result<NonNull<u8>> {
        // SAFETY: the caller's promise.
        let base = unsafe { map(self, Some(at)) }?;
        tell_mapped(self, base);
        Ok(base)
    }

    /// Unmaps what was mapped at `base`. A refusal is logged.
    ///
    /// # Safety
    ///
    /// `base` came from [`Bo::map_bare`] or [`Bo::map_bare_at`] of this BO, was not unmapped since, and nothing uses the mapping any
    /// more.
    pub unsafe fn unmap_bare(&self, base: NonNull<u8>) {
        // SAFETY: the caller's promise.
        unsafe { unmap(self, base, || ()) };
    }

    /// Unmaps what was mapped at `base`, but keeps the addresses, as
    /// [`Mapping::unmap_reserving`](crate::winsys::Mapping::unmap_reserving) does.
    ///
    /// # Errors
    ///
    /// [`Error::Bo`]: the addresses are not reserved. `true` beside it if the mapping is still there.
    ///
    /// # Safety
    ///
    /// As for [`Bo::unmap_bare`].
    pub unsafe fn unmap_bare_reserving(&self, base: NonNull<u8>) -> Result<(), (bool, Error)> {
        // SAFETY: the caller's promise.
        unsafe { reserve(self, base) }.inspect(|()| tell_unmapped(self, base)).inspect_err(|&(is_mapped, _)| {
            if !is_mapped {
                tell_unmapped(self, base);
            }
        })
    }
}

/// Tells the observer of a mapping, which has an owner by now.
pub(super) fn tell_mapped(bo: &Bo, base: NonNull<u8>) {
    bo.device().tell(|| Event::Mapped { handle: bo.handle(), base: base.addr().get(), len: bytes(bo) });
}

/// Tells the observer that a mapping is gone, which nothing believes in any more.
pub(super) fn tell_unmapped(bo: &Bo, base: NonNull<u8>) {
    bo.device().tell(|| Event::Unmapped { handle: bo.handle(), base: base.addr().get(), len: bytes(bo) });
}

/// Unmaps, and tells after `forget`, which makes the owner believe that it has no mapping.
///
/// # Safety
///
/// As for [`Bo::unmap_bare`].
pub(super) unsafe fn unmap(bo: &Bo, base: NonNull<u8>, forget: impl FnOnce()) {
    // SAFETY: the bytes of the BO were mapped there, and the caller promises the rest.
    let unmapped = release(|| unsafe { bo.device().kernel().munmap(base, bytes(bo)) });
    if unmapped.is_done() {
        forget();
        tell_unmapped(bo, base);
    }
    unmapped.report("munmap", bo.handle());
}

/// Unmaps and keeps the addresses. `true` beside the error if the mapping is still there.
///
/// # Safety
///
/// As for [`Bo::unmap_bare`].
pub(super) unsafe fn reserve(bo: &Bo, base: NonNull<u8>) -> Result<(), (bool, Error)> {
    // SAFETY: the bytes of the BO were mapped there, and the caller promises the rest.
    unsafe { bo.device().kernel().reserve(base, bytes(bo)) }
        .map_err(|NotReserved { errno, is_mapped }| (is_mapped, bo.refused("mmap", errno)))
}

/// Maps all of a BO, and tells nothing of it.
///
/// # Errors
///
/// Those of [`Bo::map_bare_at`].
///
/// # Safety
///
/// With `at`, the caller owns the bytes from there on, for the size of the BO.
pub(super) unsafe fn map(bo: &Bo, at: Option<NonNull<u8>>) -> Result<NonNull<u8>> {
    let handle = bo.handle();
    let value = at.map_or(0, |at| wide(at.addr().get()));
    if !value.is_multiple_of(PAGE_SIZE) {
        return Err(Error::Misaligned { what: "placed address", value, alignment: PAGE_SIZE });
    }
    if bo.flags().contains(GemCreateFlags::NO_CPU_ACCESS) {
        return Err(Error::NotMappable { handle });
    }
    if bo.origin() == Origin::Elsewhere {
        return Err(Error::ForeignMemory { handle });
    }
    let device = bo.device();
    let mut argument = GemMmap { handle, pad: 0 };
    send(device.kernel(), &mut argument).map_err(|errno| bo.refused(GemMmap::NAME, errno))?;
    let offset = argument.answer().addr_ptr;
    if offset == u64::from(handle) {
        // Not written: offsets begin behind all 32-bit numbers (Linux 6.12 `drm_vma_manager.h`).
        return Err(bo.refused(GemMmap::NAME, UNWRITTEN));
    }
    let len = extent(bo)?;
    // SAFETY: without an address nothing that exists is replaced; with one, the caller owns the range.
    unsafe { device.kernel().mmap(len, Protection::ReadWrite, at, offset) }.map_err(|errno| bo.refused("mmap", errno))
}

/// Returns the length of a mapping of a BO that is mapped.
fn bytes(bo: &Bo) -> usize {
    // Checked when it was mapped.
    bo.size() as usize
}

/// Returns the length of a mapping of a BO, if it is one that the CPU's address space and [`Mapping`](crate::winsys::Mapping) can have.
pub(super) fn extent(bo: &Bo) -> Result<usize> {
    let pages = u32::try_from(bo.size() / PAGE_SIZE);
    pages.map(|_| bytes(bo)).map_err(|_| bo.refused("mmap", Errno::EOVERFLOW))
}
