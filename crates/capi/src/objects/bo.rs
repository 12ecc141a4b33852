//! BOs that are bound at GPU addresses: creation, import and export.

use std::{
    ffi::c_void,
    os::fd::{BorrowedFd, IntoRawFd},
    ptr::NonNull,
    sync::{Arc, atomic::AtomicPtr},
};

use super::{
    address::chosen_address,
    device::{DeviceMark, DeviceState, agw_device, device, ownership},
};
use crate::border::{
    AGW_ERROR_INVALID_EXTERNAL_HANDLE, AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, Answer, Failure, Handle, Out,
    Versioned, check_out, create, entry, get, reference, release, view, within, write,
};
use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::{VaRequest, VaWindow},
    winsys::{Binding, Bo, BoRequest, BoundRequest, CreateBoundError, NoAddress, UserMemory, UserMemoryError},
};

/// The address must be in the 32-bit window.
pub const AGW_VA_32BIT: u32 = 1 << 0;
/// A later run may request the same address, in `address`.
pub const AGW_VA_REPLAYABLE: u32 = 1 << 1;

/// A BO that is bound at a GPU address.
pub struct agw_bo {
    _private: [u8; 0],
}

/// The first bytes of every `agw_bo`, which a driver may read directly. They never change.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_bo_head {
    /// The GPU address.
    pub va: u64,
    /// Size in bytes, as the caller requested it.
    pub size: u64,
    /// The kernel's GEM handle.
    pub handle: u32,
    /// Reserved, zero.
    pub flags: u32,
}

/// The parameters of a new BO and its GPU address.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_bo_request {
    /// `sizeof(struct agw_bo_request)`.
    pub struct_size: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// Size in bytes. The kernel rounds it up to a page.
    pub size: u64,
    /// Physical alignment in bytes: zero or a power of two.
    pub alignment: u64,
    /// Alignment of the address in bytes; zero for the physical alignment, raised to the page-table fragment for large BOs.
    pub va_alignment: u64,
    /// The requested address; zero for any.
    pub address: u64,
    /// Memory domains, `AMDGPU_GEM_DOMAIN_*`.
    pub domains: u64,
    /// Creation flags, `AMDGPU_GEM_CREATE_*`. A flag that the kernel does not support is refused.
    pub flags: u64,
    /// Mapping flags, `AMDGPU_VM_PAGE_*` and `AMDGPU_VM_MTYPE_*`.
    pub va_flags: u32,
    /// Placement of the address, `AGW_VA_*`.
    pub va_placement: u32,
    /// Priority in the BO lists of submissions, 0 to 31.
    pub priority: u32,
    /// Reserved, zero.
    pub pad: u32,
}

// SAFETY: all fields are integers, and the first two are the size and zero.
unsafe impl Versioned for agw_bo_request {
    const NAME: &'static str = "struct agw_bo_request";

    #[inline]
    fn unused(&self) -> u32 {
        self.reserved | self.pad
    }
}

/// The properties of a BO that the kernel reports.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_bo_info {
    /// `sizeof(struct agw_bo_info)`.
    pub struct_size: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// Size in bytes, a multiple of the page size.
    pub size: u64,
    /// Preferred memory domains, `AMDGPU_GEM_DOMAIN_*`.
    pub domains: u64,
    /// Creation flags, `AMDGPU_GEM_CREATE_*`.
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
    /// The start of the CPU mapping; null if there is none. No lock protects it, because C callers must not map or unmap a BO
    /// in two calls at a time.
    pub(super) mapped: AtomicPtr<u8>,
    pub(crate) binding: Binding,
    mark: DeviceMark,
}

impl Drop for BoBody {
    fn drop(&mut self) {
        if let Some(base) = NonNull::new(*self.mapped.get_mut()) {
            // SAFETY: a call on this BO mapped it, and it was not unmapped since; C does not use a freed BO.
            unsafe { self.binding.bo().unmap_bare(base) };
        }
    }
}

/// Returns the body behind a handle, and records that the current call works on its device.
///
/// # Safety
///
/// The requirements of `shell`.
#[inline]
pub(crate) unsafe fn body<'a>(handle: *const agw_bo) -> Answer<&'a BoBody> {
    // SAFETY: the caller's promise.
    let body = unsafe { get(handle, "bo") }?;
    body.mark.touch()?;
    Ok(body)
}

/// Creates the object of memory that is bound.
pub(crate) fn object(state: &Arc<DeviceState>, binding: Binding, size: u64) -> Answer<*mut agw_bo> {
    let head = agw_bo_head { va: binding.address().as_u64(), size, handle: binding.bo().handle(), flags: 0 };
    create(head, BoBody { mapped: AtomicPtr::default(), binding, mark: state.into() })
}

/// The highest priority that a caller may choose, that of IBs in RADV. The kernel reduces higher ones to 32 (Linux 6.12
/// `amdgpu_bo_list.c`, `amdgpu_bo_list_create`).
const MOST_PRIORITY: u32 = 31;

/// Checks a priority in BO lists.
#[inline]
fn check_priority(priority: u32) -> Answer {
    if priority > MOST_PRIORITY {
        return Err(Failure::argument("priority", "is more than 31"));
    }
    Ok(())
}

/// Leases addresses for a BO and binds it there.
fn bind(bo: &Bo, request: VaRequest, flags: VaFlags, priority: u32) -> Answer<Binding> {
    let lease = bo.device().addresses().allocate(request)?;
    let binding = Binding::new(bo, lease, flags).map_err(|(_lease, error)| error)?;
    binding.set_priority(priority);
    Ok(binding)
}

/// Applies the placement and address of a C request.
pub(crate) fn placement(request: VaRequest, flags: u32, address: u64) -> Answer<VaRequest> {
    if flags & !(AGW_VA_32BIT | AGW_VA_REPLAYABLE) != 0 {
        return Err(Failure::argument("va_placement", "has unknown bits"));
    }
    let request = if flags & AGW_VA_32BIT != 0 { request.within(VaWindow::High32) } else { request };
    Ok(match address {
        0 if flags & AGW_VA_REPLAYABLE != 0 => request.highest(),
        0 => request,
        address => request.at(chosen_address(address)?),
    })
}

fn make(state: &Arc<DeviceState>, request: &agw_bo_request) -> Answer<*mut agw_bo> {
    let agw_bo_request { size, alignment, priority, .. } = *request;
    check_priority(priority)?;
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
    let binding = Bo::create_bound(state.own_handle(), &request).map_err(|error| match error {
        CreateBoundError::Address(NoAddress { is_fixed: true, source }) => {
            Failure::from(source).with_code(AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
        }
        CreateBoundError::Address(NoAddress { is_fixed: false, source }) => source.into(),
        CreateBoundError::Bo(error) => error.into(),
        CreateBoundError::Bind(error) => error.into(),
    })?;
    object(state, binding, size)
}

/// Creates a BO and binds it at a GPU address.
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
        // SAFETY: the caller's promise.
        let bo = unsafe { Out::new(bo, "bo") }?;
        // SAFETY: the caller's promise.
        let request = unsafe { view(request, &mut copy) }?;
        let made = make(state, request)?;
        bo.put(made);
        Ok(())
    })
}

/// Creates a BO from pages of this process, and binds it as readable, writeable and executable. Returns
/// `AGW_ERROR_INVALID_EXTERNAL_HANDLE` if the pages are not aligned, or the kernel rejects them as invalid (`EINVAL`).
///
/// # Safety
///
/// `device` is null or a device that was not freed; `bo` is null or valid for writing. The pages belong to the caller, and stay
/// mapped until the BO is freed and the GPU has finished using it.
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
        // SAFETY: the caller's promise.
        let bo = unsafe { Out::new(bo, "bo") }?;
        let Some(start) = NonNull::new(pointer.cast::<u8>()) else {
            return Err(Failure::argument("pointer", "is null"));
        };
        check_priority(priority)?;
        let device = &state.device;
        // SAFETY: the caller's promise.
        let made = unsafe { Bo::from_user_memory(device, UserMemory::new(start, size)) }.map_err(|error| {
            let is_no_handle = matches!(error, UserMemoryError::Misaligned(_))
                || error.errno() == Some(amdgpu_winsys::winsys::Errno::EINVAL);
            let failure = Failure::from(error);
            if is_no_handle { failure.with_code(AGW_ERROR_INVALID_EXTERNAL_HANDLE) } else { failure }
        })?;
        let info = device.info();
        let alignment = device.addresses().user_memory_alignment(size, info.memory.gart_page.into(), info.gfx_level);
        let flags = VaFlags::READABLE | VaFlags::WRITEABLE | VaFlags::EXECUTABLE;
        let binding = bind(&made, VaRequest::new(size).aligned(alignment), flags, priority)?;
        let made = object(state, binding, size)?;
        bo.put(made);
        Ok(())
    })
}

/// Borrows a descriptor of the caller.
///
/// # Safety
///
/// The descriptor is not closed while the result is used. The kernel refuses a descriptor that is not open.
pub(crate) unsafe fn lent<'a>(fd: i32) -> Answer<BorrowedFd<'a>> {
    if fd < 0 {
        return Err(Failure::argument("fd", "is negative").with_code(AGW_ERROR_INVALID_EXTERNAL_HANDLE));
    }
    // SAFETY: not negative, and the caller's promise.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// Alignment of the address of an import, because the alignment that the exporter chose is unknown.
///
/// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_from_fd`.
const IMPORT_ALIGNMENT: u64 = 1 << 20;

/// Imports a dma-buf and binds it with `va_flags`, where zero stands for readable, writeable and executable. The caller keeps
/// the descriptor. A BO that is imported twice has two addresses and one GEM handle.
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
        // SAFETY: the caller's promise.
        let bo = unsafe { Out::new(bo, "bo") }?;
        check_priority(priority)?;
        // SAFETY: lent for the time of this call.
        let imported = Bo::import(&state.device, unsafe { lent(fd) }?)?;
        let made = bind_foreign(state, &imported, va_flags, priority)?;
        bo.put(made);
        Ok(())
    })
}

/// Binds a BO of a GEM handle that the caller created on the device's file, with `va_flags` as in `agw_bo_import`. If
/// `is_owned` is set, the handle is closed with the object; otherwise it remains the caller's.
///
/// If the result is `AGW_ERROR_INVALID_ARGUMENT`, or `AGW_ERROR_INVALID_EXTERNAL_HANDLE` for a handle that the kernel does not
/// know, the caller still owns the handle. If binding fails and `is_owned` is set, the handle has been closed.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `bo` is null or valid for writing. The caller owns the handle, and no
/// object of the library uses it. Nothing else closes it while the object exists, or ever if `is_owned` is set.
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
        // SAFETY: the caller's promise.
        let bo = unsafe { Out::new(bo, "bo") }?;
        check_priority(priority)?;
        // SAFETY: the caller's promise.
        let adopted = unsafe { Bo::from_handle(&state.device, handle, ownership(is_owned)) }.map_err(|error| {
            let is_lost = error.loss().is_some();
            let failure = Failure::from(error);
            if is_lost { failure } else { failure.with_code(AGW_ERROR_INVALID_EXTERNAL_HANDLE) }
        })?;
        let made = bind_foreign(state, &adopted, va_flags, priority)?;
        bo.put(made);
        Ok(())
    })
}

/// Binds a BO that was not created here, with all access rights if `va_flags` is zero.
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

/// Writes the properties of a dma-buf to `info`, without importing it.
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
        check_out(info, "info")?;
        // SAFETY: lent for the time of this call.
        let imported = Bo::import(&state.device, unsafe { lent(fd) }?)?;
        // SAFETY: the caller's promise.
        unsafe { write(info, account(&imported)) }
    })
}

/// Writes the properties of a BO to `info`: the domains and flags of its creation or, for an import, those that the kernel
/// reports.
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

/// Exports a BO as a dma-buf. The caller owns the descriptor, which is closed on exec.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed; `fd` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_export(bo: *const agw_bo, fd: *mut i32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { body(bo) }?;
        // SAFETY: the caller's promise.
        let fd = unsafe { Out::new(fd, "fd") }?;
        let exported = body.binding.bo().export()?;
        fd.put(exported.into_raw_fd());
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

/// Removes a reference to a BO. The last one unmaps, unbinds and closes it, unless streams, queues or sparse ranges still use
/// it.
///
/// # Safety
///
/// `bo` is null or a BO that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_bo_unref(bo: *mut agw_bo) {
    // SAFETY: the caller's promise.
    unsafe { within(|| release(bo, "bo")) };
}
