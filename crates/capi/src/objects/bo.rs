//! BOs with addresses: creation, import and export.

use std::{
    ffi::c_void,
    os::fd::{BorrowedFd, IntoRawFd},
    ptr::NonNull,
    sync::{Arc, atomic::AtomicPtr},
};

use super::device::{DeviceMark, DeviceState, agw_device, device, ownership};
use crate::border::{
    AGW_ERROR_INVALID_EXTERNAL_HANDLE, AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, Answer, Failure, Handle, Versioned,
    create, entry, get, out, put, reference, release, view, within, write,
};
use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::{GpuVa, VaRequest, VaWindow},
    winsys::{Binding, Bo, BoRequest, BoundRequest, Error, UserMemory},
};

/// The address is in the 32-bit window.
pub const AGW_VA_32BIT: u32 = 1 << 0;
/// The address will be asked for again in a later run, by `address`.
pub const AGW_VA_REPLAYABLE: u32 = 1 << 1;

/// A BO with an address: memory.
pub struct agw_bo {
    _private: [u8; 0],
}

/// The first bytes of every `agw_bo`, which a driver may read in its innermost loops. They never change.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_bo_head {
    /// The GPU address.
    pub va: u64,
    /// Bytes, as the caller asked for them.
    pub size: u64,
    /// The kernel's handle.
    pub handle: u32,
    /// Zero.
    pub flags: u32,
}

/// A request for a BO with an address.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_bo_request {
    /// `sizeof(struct agw_bo_request)`.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Bytes; the kernel rounds them up to a page.
    pub size: u64,
    /// Physical alignment: zero or a power of two, bytes.
    pub alignment: u64,
    /// Alignment of the address, bytes; zero for that of the memory, raised to the page tables' fragment.
    pub va_alignment: u64,
    /// The address; zero for any.
    pub address: u64,
    /// `AMDGPU_GEM_DOMAIN_*`.
    pub domains: u64,
    /// `AMDGPU_GEM_CREATE_*`. A flag that is newer than the kernel is refused.
    pub flags: u64,
    /// `AMDGPU_VM_PAGE_*` and `AMDGPU_VM_MTYPE_*`.
    pub va_flags: u32,
    /// `AGW_VA_*`.
    pub va_placement: u32,
    /// Priority in the BO lists of submissions, 0 to 31.
    pub priority: u32,
    /// Zero.
    pub pad: u32,
}

// SAFETY: all fields are integers, and the first two are the size and zero.
unsafe impl Versioned for agw_bo_request {
    const NAME: &'static str = "struct agw_bo_request";
}

/// The kernel's account of a BO.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_bo_info {
    /// `sizeof(struct agw_bo_info)`.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Bytes, a multiple of the page.
    pub size: u64,
    /// `AMDGPU_GEM_DOMAIN_*` that it prefers.
    pub domains: u64,
    /// `AMDGPU_GEM_CREATE_*`.
    pub flags: u64,
}

// SAFETY: all fields are integers, and the first two are the size and zero.
unsafe impl Versioned for agw_bo_info {
    const NAME: &'static str = "struct agw_bo_info";
}

impl Handle for agw_bo {
    type Head = agw_bo_head;
    type Body = BoBody;
    const NAME: &'static str = "agw_bo";
}

pub(crate) struct BoBody {
    /// The first byte of the CPU's mapping; null without one. An address and no lock: the rule of C is that no two calls map or unmap
    /// a BO at once.
    pub(super) mapped: AtomicPtr<u8>,
    pub(crate) binding: Binding,
    mark: DeviceMark,
}

impl Drop for BoBody {
    fn drop(&mut self) {
        if let Some(base) = NonNull::new(*self.mapped.get_mut()) {
            // SAFETY: mapped by a call on this BO, and not unmapped since; C does not use what is freed.
            unsafe { self.binding.bo().unmap_bare(base) };
        }
    }
}

/// Returns the body behind a handle, and notes that the current call works on its device.
///
/// # Safety
///
/// As for `shell`.
#[inline]
pub(crate) unsafe fn body<'a>(handle: *const agw_bo) -> Answer<&'a BoBody> {
    // SAFETY: the caller's promise.
    let body = unsafe { get(handle, "bo") }?;
    body.mark.touch()?;
    Ok(body)
}

/// Makes the object of memory that is bound.
pub(crate) fn object(state: &Arc<DeviceState>, binding: Binding, size: u64) -> Answer<*mut agw_bo> {
    let head = agw_bo_head { va: binding.address().as_u64(), size, handle: binding.bo().handle(), flags: 0 };
    create(head, BoBody { mapped: AtomicPtr::default(), binding, mark: state.into() })
}

/// Leases addresses for memory and binds it there.
fn bind(bo: &Bo, request: VaRequest, flags: VaFlags, priority: u32) -> Answer<Binding> {
    let lease = bo.device().addresses().allocate(request)?;
    let binding = Binding::new(bo, lease, flags).map_err(|(_lease, error)| error)?;
    binding.set_priority(priority);
    Ok(binding)
}

/// Translates the address part of a request.
pub(crate) fn placement(request: VaRequest, flags: u32, address: u64) -> Answer<VaRequest> {
    if flags & !(AGW_VA_32BIT | AGW_VA_REPLAYABLE) != 0 {
        return Err(Failure::argument("va_placement", "has unknown bits"));
    }
    let request = if flags & AGW_VA_32BIT != 0 { request.within(VaWindow::High32) } else { request };
    Ok(match address {
        0 if flags & AGW_VA_REPLAYABLE != 0 => request.highest(),
        0 => request,
        address => request.at(GpuVa::from_48_bits(address)),
    })
}

fn make(state: &Arc<DeviceState>, request: &agw_bo_request) -> Answer<*mut agw_bo> {
    let agw_bo_request { size, alignment, priority, .. } = *request;
    let domains = GemDomain::from_bits_retain(request.domains);
    let flags = GemCreateFlags::from_bits_retain(request.flags);
    let addresses = state.device.addresses();
    let wanted = match request.va_alignment {
        0 => addresses.fragment_alignment(size, alignment.max(1)),
        wanted => wanted,
    };
    let request = BoundRequest {
        bo: BoRequest { size, alignment, domains, flags },
        addresses: placement(VaRequest::new(size).aligned(wanted), request.va_placement, request.address)?,
        flags: VaFlags::from_bits_retain(request.va_flags),
        priority,
        guard_page: false,
    };
    let binding = state.shares.create_bound(&request).map_err(|error| match error {
        Error::Address { is_fixed: true, source } => {
            Failure::from(source).with_code(AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
        }
        Error::Address { is_fixed: false, source } => source.into(),
        error => error.into(),
    })?;
    object(state, binding, size)
}

/// Creates a BO and binds it at an address of its own.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `request` is null or a structure of its `struct_size`; `bo` is null or
/// valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_create(
    device: *const agw_device,
    request: *const agw_bo_request,
    bo: *mut *mut agw_bo,
) -> i32 {
    let mut copy = None;
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        out(bo, "bo")?;
        // SAFETY: the caller's promise.
        let request = unsafe { view(request, &mut copy) }?;
        let made = make(state, request)?;
        // SAFETY: checked above, and the caller's promise.
        unsafe { put(bo, made) };
        Ok(())
    })
}

/// Makes a BO of pages of this process, bound readable, writeable and executable. `AGW_ERROR_INVALID_EXTERNAL_HANDLE` for pages
/// that are not aligned, or that the kernel takes for an invalid argument.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `bo` is null or valid for writing. The pages are the caller's, and stay
/// mapped until the BO is freed and the GPU is done with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_from_user_memory(
    device: *const agw_device,
    pointer: *mut c_void,
    size: u64,
    priority: u32,
    bo: *mut *mut agw_bo,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        out(bo, "bo")?;
        let Some(start) = NonNull::new(pointer.cast::<u8>()) else {
            return Err(Failure::argument("pointer", "is null"));
        };
        let device = &state.device;
        // SAFETY: the caller's promise.
        let made = unsafe { Bo::from_user_memory(device, UserMemory::new(start, size)) }.map_err(|error| {
            let is_no_handle = matches!(error, Error::Misaligned { .. })
                || error.errno() == Some(amdgpu_winsys::winsys::Errno::EINVAL);
            let failure = Failure::from(error);
            if is_no_handle { failure.with_code(AGW_ERROR_INVALID_EXTERNAL_HANDLE) } else { failure }
        })?;
        let info = device.info();
        let alignment = device.addresses().user_memory_alignment(size, info.memory.gart_page.into(), info.gfx_level);
        let flags = VaFlags::READABLE | VaFlags::WRITEABLE | VaFlags::EXECUTABLE;
        let binding = bind(&made, VaRequest::new(size).aligned(alignment), flags, priority)?;
        let made = object(state, binding, size)?;
        // SAFETY: checked above, and the caller's promise.
        unsafe { put(bo, made) };
        Ok(())
    })
}

/// Borrows a descriptor of the caller's.
///
/// # Safety
///
/// The descriptor is not closed while the result is used. One that is not open is refused by the kernel.
pub(crate) unsafe fn lent<'a>(fd: i32) -> Answer<BorrowedFd<'a>> {
    if fd < 0 {
        return Err(Failure::argument("fd", "is negative").with_code(AGW_ERROR_INVALID_EXTERNAL_HANDLE));
    }
    // SAFETY: not negative, and the caller's promise.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// Alignment of the address of an import: what its maker aligned it to is not known.
///
/// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_from_fd`.
const IMPORT_ALIGNMENT: u64 = 1 << 20;

/// Imports a dma-buf and binds it with `va_flags`, zero for readable, writeable and executable. The descriptor stays the
/// caller's. The same memory imported twice has two addresses and one kernel handle.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `bo` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_import(
    device: *const agw_device,
    fd: i32,
    va_flags: u32,
    priority: u32,
    bo: *mut *mut agw_bo,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        out(bo, "bo")?;
        // SAFETY: lent for the time of this call.
        let imported = Bo::import(&state.device, unsafe { lent(fd) }?)?;
        let made = bind_foreign(state, &imported, va_flags, priority)?;
        // SAFETY: checked above, and the caller's promise.
        unsafe { put(bo, made) };
        Ok(())
    })
}

/// Binds a BO whose GEM handle the caller made on the device's file, with `va_flags` as for `agw_bo_import`. With `is_owned` the
/// handle is closed with the object, and it stays the caller's otherwise.
///
/// After `AGW_ERROR_INVALID_ARGUMENT`, and `AGW_ERROR_INVALID_EXTERNAL_HANDLE` for a number that the kernel does not take, the handle
/// is the caller's as before. Where binding fails, it was closed if `is_owned`.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `bo` is null or valid for writing. The handle is the caller's, and no object of
/// the library has it. Nothing else closes it while the object lives, and with `is_owned` nothing else closes it at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_from_handle(
    device: *const agw_device,
    handle: u32,
    is_owned: bool,
    va_flags: u32,
    priority: u32,
    bo: *mut *mut agw_bo,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        out(bo, "bo")?;
        // SAFETY: the caller's promise.
        let adopted = unsafe { Bo::from_handle(&state.device, handle, ownership(is_owned)) }.map_err(|error| {
            let is_lost = error.loss().is_some();
            let failure = Failure::from(error);
            if is_lost { failure } else { failure.with_code(AGW_ERROR_INVALID_EXTERNAL_HANDLE) }
        })?;
        let made = bind_foreign(state, &adopted, va_flags, priority)?;
        // SAFETY: checked above, and the caller's promise.
        unsafe { put(bo, made) };
        Ok(())
    })
}

/// Binds a BO that was made elsewhere, with all rights for no `va_flags`.
fn bind_foreign(state: &Arc<DeviceState>, bo: &Bo, va_flags: u32, priority: u32) -> Answer<*mut agw_bo> {
    let flags = match va_flags {
        0 => VaFlags::READABLE | VaFlags::WRITEABLE | VaFlags::EXECUTABLE,
        bits => VaFlags::from_bits_retain(bits),
    };
    let size = bo.size();
    object(state, bind(bo, VaRequest::new(size).aligned(IMPORT_ALIGNMENT), flags, priority)?, size)
}

fn account(bo: &Bo) -> agw_bo_info {
    agw_bo_info { struct_size: 0, reserved: 0, size: bo.size(), domains: bo.domains().bits(), flags: bo.flags().bits() }
}

/// Writes the kernel's account of a dma-buf to `info`, without keeping the memory.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `info` is null, or valid for writing as many bytes as its `struct_size`
/// says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_probe(device: *const agw_device, fd: i32, info: *mut agw_bo_info) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        out(info, "info")?;
        // SAFETY: lent for the time of this call.
        let imported = Bo::import(&state.device, unsafe { lent(fd) }?)?;
        // SAFETY: the caller's promise.
        unsafe { write(info, account(&imported)) }
    })
}

/// Writes the account of a BO to `info`: domains and flags as it was created, or as the kernel reports them of an import.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed; `info` is null, or valid for writing as many bytes as its `struct_size` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_get_info(bo: *const agw_bo, info: *mut agw_bo_info) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { body(bo) }?;
        // SAFETY: the caller's promise.
        unsafe { write(info, account(body.binding.bo())) }
    })
}

/// Exports a BO as a dma-buf. The descriptor is the caller's, and closed on exec.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed; `fd` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_export(bo: *const agw_bo, fd: *mut i32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { body(bo) }?;
        out(fd, "fd")?;
        let exported = body.binding.bo().export()?;
        // SAFETY: checked above, and the caller's promise.
        unsafe { put(fd, exported.into_raw_fd()) };
        Ok(())
    })
}

/// Adds a reference to a BO, and returns it.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_ref(bo: *mut agw_bo) -> *mut agw_bo {
    // SAFETY: the caller's promise.
    unsafe { within(|| reference(bo, "bo")) }
}

/// Removes a reference to a BO. With the last one it is unmapped, unbound and closed, unless streams, queues or sparse ranges
/// still use it.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_unref(bo: *mut agw_bo) {
    // SAFETY: the caller's promise.
    unsafe { within(|| release(bo, "bo")) };
}
