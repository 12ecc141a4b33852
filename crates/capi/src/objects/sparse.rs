//! Sparse address ranges, in which memory is bound and unbound page by page.

use std::sync::Arc;

use amdgpu_winsys::{
    heaps::{Backing, SparseBind, SparseRange},
    vamgr::VaRequest,
};

use super::{
    address::chosen_address,
    bo::{agw_bo, body, placement},
    device::{DeviceState, agw_device, device},
};
use crate::border::{Answer, Handle, Out, array, create, entry, get, reference, release, within};

/// A range of GPU addresses in which memory is bound page by page.
pub struct agw_sparse {
    _private: [u8; 0],
}

/// The first bytes of every `agw_sparse`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_sparse_head {
    /// The GPU address.
    pub va: u64,
    /// Size of the range in bytes.
    pub size: u64,
}

/// A change of a sparse range. All numbers are in bytes, and multiples of the page size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_sparse_bind {
    /// Offset in the range.
    pub offset: u64,
    /// Size of the change.
    pub size: u64,
    /// The memory to bind; null to unbind.
    pub bo: *const agw_bo,
    /// Offset in the memory.
    pub bo_offset: u64,
}

impl Handle for agw_sparse {
    type Head = agw_sparse_head;
    type Body = SparseBody;
    const NAME: &'static str = "agw_sparse";
}

pub(crate) struct SparseBody {
    pub(crate) range: Arc<SparseRange>,
    state: Arc<DeviceState>,
}

/// Returns the body behind a handle, and records that the current call works on its device.
///
/// # Safety
///
/// The requirements of `shell`.
pub(crate) unsafe fn sparse<'a>(handle: *const agw_sparse) -> Answer<&'a SparseBody> {
    // SAFETY: the caller's promise.
    let body = unsafe { get(handle, "range") }?;
    body.state.touch()?;
    Ok(body)
}

/// Leases a range of addresses, in which unbound pages read as zero and ignore writes. `va_placement` and `address` are as in
/// `agw_bo_request`.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `range` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sparse_create(
    device: *const agw_device,
    size: u64,
    alignment: u64,
    va_placement: u32,
    address: u64,
    range: *mut *mut agw_sparse,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        // SAFETY: the caller's promise.
        let range = unsafe { Out::new(range, "range") }?;
        chosen_address(address)?;
        let alignment = state.device.addresses().fragment_alignment(size, alignment.max(1));
        let request = placement(VaRequest::new(size).aligned(alignment), va_placement, address)?;
        let leased = SparseRange::new(&state.device, request)?;
        let head = agw_sparse_head { va: leased.address().as_u64(), size };
        let made = create(head, SparseBody { range: Arc::new(leased), state: Arc::clone(state) })?;
        range.put(made);
        Ok(())
    })
}

/// Changes bindings immediately. Adjacent changes are combined into one request to the kernel. The range keeps bound memory
/// alive.
///
/// # Safety
///
/// `range` is null or was not freed; `binds` is null or `count` changes, whose BOs were not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sparse_change(range: *const agw_sparse, binds: *const agw_sparse_bind, count: u32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let sparse = unsafe { sparse(range) }?;
        // SAFETY: the caller's promise.
        let binds = unsafe { array(binds, count, "binds") }?;
        let changes = binds.iter().map(|bind| {
            let backing = if bind.bo.is_null() {
                None
            } else {
                // SAFETY: the caller's promise.
                let memory = unsafe { body(bind.bo) }?.binding.clone();
                Some(Backing { memory, offset: bind.bo_offset })
            };
            Ok(SparseBind { offset: bind.offset, len: bind.size, backing })
        });
        let changes: Vec<_> = changes.collect::<Answer<_>>()?;
        sparse.range.bind(&changes)?;
        Ok(())
    })
}

/// Adds a reference to a range, and returns it.
///
/// # Safety
///
/// `range` is null or a range that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sparse_ref(range: *mut agw_sparse) -> *mut agw_sparse {
    // SAFETY: the caller's promise.
    unsafe { within(|| reference(range, "range")) }
}

/// Removes a reference to a range. The last one unbinds everything.
///
/// # Safety
///
/// `range` is null or a range that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_sparse_unref(range: *mut agw_sparse) {
    // SAFETY: the caller's promise.
    unsafe { within(|| release(range, "range")) };
}
