//! Allocation of device memory by memory type.

use std::{ffi::c_void, os::fd::IntoRawFd, ptr::NonNull, sync::Arc};

use amdgpu_winsys::{
    heaps::{AllocateFlags, AllocateInfo, DeviceMemory, ExternalHandleTypes, ImportInfo, Replay},
    winsys::UserMemory,
};
use parking_lot::Mutex;

use super::manager::{agw_memory_manager, manager, only};
use crate::{
    border::{
        AGW_ERROR_DEVICE_LOST, AGW_ERROR_MEMORY_MAP_FAILED, Answer, Failure, Handle, Out, Versioned, create, entry,
        get, read, reference, release, within,
    },
    objects::{DeviceState, agw_bo, agw_bo_head, bo_object, chosen_address, duplicate, lent},
};

/// The memory can be exported as a descriptor.
pub const AGW_MEMORY_EXPORTABLE: u32 = 1 << 0;
/// Submissions wait for the fences of other users of the memory, as for memory of a window system.
pub const AGW_MEMORY_IMPLICIT_SYNC: u32 = 1 << 1;
/// The memory bypasses the GPU's L2 cache. Ignored before GFX9.
pub const AGW_MEMORY_BYPASS_L2: u32 = 1 << 2;
/// Clears VRAM to zero. GTT is always cleared.
pub const AGW_MEMORY_ZERO: u32 = 1 << 3;
/// The kernel may discard the contents instead of moving them to GTT.
pub const AGW_MEMORY_DISCARDABLE: u32 = 1 << 4;
/// The GPU may compress the memory.
pub const AGW_MEMORY_ALLOW_DCC: u32 = 1 << 5;
/// Internal memory of the driver, which gets no guard page.
pub const AGW_MEMORY_INTERNAL: u32 = 1 << 6;
/// The GPU may only read the memory.
pub const AGW_MEMORY_READ_ONLY: u32 = 1 << 7;
/// Shaders cannot be executed from the memory.
pub const AGW_MEMORY_NO_EXECUTE: u32 = 1 << 8;
/// The memory bypasses the infinity cache.
pub const AGW_MEMORY_BYPASS_INFINITY_CACHE: u32 = 1 << 9;
/// Requests VRAM without GTT as a second domain.
pub const AGW_MEMORY_NO_SPILL: u32 = 1 << 10;
/// The memory is not always valid: submissions must list it.
pub const AGW_MEMORY_LISTED: u32 = 1 << 11;
/// A later run may request the same address, in `address`.
pub const AGW_MEMORY_REPLAYABLE: u32 = 1 << 31;

const _: () = {
    assert!(AGW_MEMORY_EXPORTABLE == AllocateFlags::EXPORTABLE.bits());
    assert!(AGW_MEMORY_IMPLICIT_SYNC == AllocateFlags::IMPLICIT_SYNC.bits());
    assert!(AGW_MEMORY_BYPASS_L2 == AllocateFlags::BYPASS_L2.bits());
    assert!(AGW_MEMORY_ZERO == AllocateFlags::ZERO.bits());
    assert!(AGW_MEMORY_DISCARDABLE == AllocateFlags::DISCARDABLE.bits());
    assert!(AGW_MEMORY_ALLOW_DCC == AllocateFlags::ALLOW_DCC.bits());
    assert!(AGW_MEMORY_INTERNAL == AllocateFlags::INTERNAL.bits());
    assert!(AGW_MEMORY_READ_ONLY == AllocateFlags::READ_ONLY.bits());
    assert!(AGW_MEMORY_NO_EXECUTE == AllocateFlags::NO_EXECUTE.bits());
    assert!(AGW_MEMORY_BYPASS_INFINITY_CACHE == AllocateFlags::BYPASS_INFINITY_CACHE.bits());
    assert!(AGW_MEMORY_NO_SPILL == AllocateFlags::NO_SPILL.bits());
    assert!(AGW_MEMORY_LISTED == AllocateFlags::LISTED.bits());
    assert!(AGW_MEMORY_REPLAYABLE & AllocateFlags::all().bits() == 0);
};

/// Vulkan's `VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT`.
pub const AGW_HANDLE_OPAQUE_FD: u32 = 0x1;
/// Vulkan's `VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT`.
pub const AGW_HANDLE_DMA_BUF: u32 = 0x200;

/// Device memory of a memory type, bound at a GPU address. It begins with a `struct agw_bo_head`.
pub struct agw_memory {
    _private: [u8; 0],
}

/// The parameters of an allocation or an import.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_memory_request {
    /// `sizeof(struct agw_memory_request)`.
    pub struct_size: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// Size in bytes. For an import, the minimum size, or zero for any; for host memory, its length.
    pub size: u64,
    /// The address to replay from an earlier run; zero for any. It must be zero for imports.
    pub address: u64,
    /// Index of the memory type.
    pub memory_type: u32,
    /// Options, `AGW_MEMORY_*`.
    pub flags: u32,
    /// Priority for staying in VRAM when it is full, 0.0 to 1.0. Vulkan's default is 0.5.
    pub priority: f32,
    /// Reserved, zero.
    pub pad: u32,
}

// SAFETY: all fields are numbers for which every bit pattern is valid, and the first two are the size and zero.
unsafe impl Versioned for agw_memory_request {
    const NAME: &'static str = "struct agw_memory_request";

    fn unused(&self) -> u32 {
        self.reserved | self.pad
    }
}

impl Handle for agw_memory {
    type Head = agw_bo_head;
    type Body = MemoryBody;
    const NAME: &'static str = "agw_memory";
}

pub(crate) struct MemoryBody {
    /// Locked during each call, although only unmapping requires it.
    memory: Mutex<DeviceMemory>,
    state: Arc<DeviceState>,
}

/// Returns the body behind a handle, and records that the current call works on its device.
///
/// # Safety
///
/// The requirements of `shell`.
unsafe fn memory<'a>(handle: *const agw_memory) -> Answer<&'a MemoryBody> {
    // SAFETY: the caller's promise.
    let body = unsafe { get(handle, "memory") }?;
    body.state.touch()?;
    Ok(body)
}

/// Creates the object of device memory.
fn object(state: &Arc<DeviceState>, memory: DeviceMemory) -> Answer<*mut agw_memory> {
    let head =
        agw_bo_head { va: memory.address().as_u64(), size: memory.size(), handle: memory.bo().handle(), flags: 0 };
    create(head, MemoryBody { memory: Mutex::new(memory), state: Arc::clone(state) })
}

fn wishes(request: &agw_memory_request) -> Answer<AllocateFlags> {
    only(request.flags, AllocateFlags::all().bits() | AGW_MEMORY_REPLAYABLE, "flags")?;
    check_priority(request.priority)?;
    Ok(AllocateFlags::from_bits_truncate(request.flags))
}

/// Converts the request of an import.
/// Checks a priority, which may be no number at all.
fn check_priority(priority: f32) -> Answer {
    if (0.0..=1.0).contains(&priority) {
        Ok(())
    } else {
        Err(Failure::argument("priority", &format!("is {priority}, not 0.0 to 1.0")))
    }
}

fn import_info(request: &agw_memory_request) -> Answer<ImportInfo> {
    if request.address != 0 || request.flags & AGW_MEMORY_REPLAYABLE != 0 {
        return Err(Failure::argument("address", "of an import cannot be chosen"));
    }
    let &agw_memory_request { memory_type, size, priority, .. } = request;
    Ok(ImportInfo { memory_type, size, flags: wishes(request)?, priority })
}

/// Allocates memory of a type, and binds it at a GPU address.
///
/// # Safety
///
/// `manager` is null or a manager that was not freed; `request` is null or a structure of its `struct_size`; `memory` is null or
/// valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_allocate(
    manager: *const agw_memory_manager,
    request: *const agw_memory_request,
    memory: *mut *mut agw_memory,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::manager(manager) }?;
        // SAFETY: the caller's promise.
        let memory = unsafe { Out::new(memory, "memory") }?;
        // SAFETY: the caller's promise.
        let request = unsafe { read(request) }?;
        let flags = wishes(&request)?;
        let replay = match request.address {
            0 if request.flags & AGW_MEMORY_REPLAYABLE != 0 => Replay::Capture,
            0 => Replay::No,
            address => Replay::At(chosen_address(address)?),
        };
        let agw_memory_request { memory_type, size, priority, .. } = request;
        let allocated = body.manager.allocate(&AllocateInfo { memory_type, size, flags, priority, replay })?;
        let made = object(&body.state, allocated)?;
        memory.put(made);
        Ok(())
    })
}

/// Imports a dma-buf as memory of a type that `agw_memory_manager_fd_types` returned. The caller keeps the descriptor.
///
/// # Safety
///
/// `manager` is null or a manager that was not freed; `request` is null or a structure of its `struct_size`; `memory` is null or
/// valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_import_fd(
    manager: *const agw_memory_manager,
    fd: i32,
    request: *const agw_memory_request,
    memory: *mut *mut agw_memory,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::manager(manager) }?;
        // SAFETY: the caller's promise.
        let memory = unsafe { Out::new(memory, "memory") }?;
        // SAFETY: the caller's promise.
        let info = import_info(&unsafe { read(request) }?)?;
        // SAFETY: lent for the duration of this call. An invalid descriptor and one that cannot be duplicated give different
        // errors.
        unsafe { lent(fd) }?;
        let imported = body.manager.import_fd(duplicate(fd)?, &info).map_err(|(_copy, error)| error)?;
        let made = object(&body.state, imported)?;
        memory.put(made);
        Ok(())
    })
}

/// Imports host memory of this process, which stays mapped at `pointer`. `pointer` and `size` must be multiples of 4096.
///
/// # Safety
///
/// `manager` is null or a manager that was not freed; `request` is null or a structure of its `struct_size`; `memory` is null
/// or valid for writing. The pages belong to the caller, and stay mapped and writable until the memory is freed and the GPU has
/// finished using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_import_host(
    manager: *const agw_memory_manager,
    pointer: *mut c_void,
    request: *const agw_memory_request,
    memory: *mut *mut agw_memory,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::manager(manager) }?;
        // SAFETY: the caller's promise.
        let memory = unsafe { Out::new(memory, "memory") }?;
        // SAFETY: the caller's promise.
        let info = import_info(&unsafe { read(request) }?)?;
        let Some(start) = NonNull::new(pointer.cast::<u8>()) else {
            return Err(Failure::argument("pointer", "is null"));
        };
        // SAFETY: the caller's promise.
        let imported = unsafe { body.manager.import_host_pointer(UserMemory::new(start, info.size), &info) }?;
        let made = object(&body.state, imported)?;
        memory.put(made);
        Ok(())
    })
}

fn not_mapped(error: impl Into<Failure>) -> Failure {
    let failure = error.into();
    if failure.code() == AGW_ERROR_DEVICE_LOST { failure } else { failure.with_code(AGW_ERROR_MEMORY_MAP_FAILED) }
}

/// Maps the whole memory for the CPU. It has one mapping, which later calls return again.
///
/// # Safety
///
/// `memory` is null or memory that was not freed; `pointer` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_map(memory: *const agw_memory, pointer: *mut *mut c_void) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::memory(memory) }?;
        // SAFETY: the caller's promise.
        let pointer = unsafe { Out::new(pointer, "pointer") }?;
        let start = body.memory.lock().map().map_err(not_mapped)?.as_ptr();
        pointer.put(start.as_ptr().cast());
        Ok(())
    })
}

/// Maps the whole memory at an address, replacing any mapping there. Fails if the memory is already mapped at another address.
///
/// # Safety
///
/// `memory` is null or memory that was not freed. The range from `address` on, with the size of the memory, belongs to the
/// caller, and nothing else uses it until the memory is unmapped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_map_at(memory: *const agw_memory, address: *mut c_void) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::memory(memory) }?;
        let Some(at) = NonNull::new(address.cast::<u8>()) else {
            return Err(Failure::argument("address", "is null"));
        };
        let memory = body.memory.lock();
        // SAFETY: the caller's promise.
        unsafe { memory.map_placed(at) }.map_err(not_mapped)?;
        Ok(())
    })
}

/// Unmaps the memory from the CPU. With `keep_addresses`, the addresses stay reserved and belong to the caller. Does nothing if
/// the memory is not mapped, or for imported host memory.
///
/// # Safety
///
/// `memory` is null or memory that was not freed; nothing uses its mapping any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_unmap(memory: *const agw_memory, keep_addresses: bool) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let memory = unsafe { self::memory(memory) }?.memory.lock();
        if keep_addresses {
            memory.unmap_reserving().map_err(not_mapped)?;
        } else {
            memory.unmap();
        }
        Ok(())
    })
}

/// Makes CPU writes to a range of mapped memory visible to the GPU (`vkFlushMappedMemoryRanges`). `offset` and `size` must be
/// multiples of 64, except that the range may extend to the end of the memory, also by a size of `UINT64_MAX`.
///
/// # Safety
///
/// `memory` is null or memory that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_flush(memory: *const agw_memory, offset: u64, size: u64) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        Ok(unsafe { self::memory(memory) }?.memory.lock().flush(offset, size)?)
    })
}

/// Makes GPU writes to a range of mapped memory visible to the CPU (`vkInvalidateMappedMemoryRanges`). `offset` and `size` are
/// as in `agw_memory_flush`.
///
/// # Safety
///
/// `memory` is null or memory that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_invalidate(memory: *const agw_memory, offset: u64, size: u64) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        Ok(unsafe { self::memory(memory) }?.memory.lock().invalidate(offset, size)?)
    })
}

/// Exports memory that was allocated with `AGW_MEMORY_EXPORTABLE`, or imported from a descriptor, as a descriptor of type
/// `AGW_HANDLE_*`. The caller owns the descriptor, which is closed on exec.
///
/// # Safety
///
/// `memory` is null or memory that was not freed; `fd` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_export(memory: *const agw_memory, handle_type: u32, fd: *mut i32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::memory(memory) }?;
        // SAFETY: the caller's promise.
        let fd = unsafe { Out::new(fd, "fd") }?;
        if ![AGW_HANDLE_OPAQUE_FD, AGW_HANDLE_DMA_BUF].contains(&handle_type) {
            return Err(Failure::argument("handle_type", "is no AGW_HANDLE_*"));
        }
        let exported = body.memory.lock().export(ExternalHandleTypes::from_bits_retain(handle_type))?;
        fd.put(exported.into_raw_fd());
        Ok(())
    })
}

/// Changes the priority of memory, 0.0 to 1.0.
///
/// # Safety
///
/// `memory` is null or memory that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_set_priority(memory: *const agw_memory, priority: f32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::memory(memory) }?;
        check_priority(priority)?;
        body.memory.lock().set_priority(priority);
        Ok(())
    })
}

/// Creates a BO object of the memory, at the same address, for streams, submissions, sparse ranges and metadata. The memory
/// stays allocated until both objects are freed. Each object has a CPU mapping of its own.
///
/// # Safety
///
/// `memory` is null or memory that was not freed; `bo` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_bo(memory: *const agw_memory, bo: *mut *mut agw_bo) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::memory(memory) }?;
        // SAFETY: the caller's promise.
        let bo = unsafe { Out::new(bo, "bo") }?;
        let (binding, size) = {
            let memory = body.memory.lock();
            (memory.binding().clone(), memory.size())
        };
        let made = bo_object(&body.state, binding, size)?;
        bo.put(made);
        Ok(())
    })
}

/// Adds a reference to memory, and returns it.
///
/// # Safety
///
/// `memory` is null or memory that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_ref(memory: *mut agw_memory) -> *mut agw_memory {
    // SAFETY: the caller's promise.
    unsafe { within(|| reference(memory, "memory")) }
}

/// Removes a reference to memory. The last one unmaps, unbinds and closes it, unless BO objects of it, streams, queues or
/// sparse ranges still use it.
///
/// # Safety
///
/// `memory` is null or memory that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_unref(memory: *mut agw_memory) {
    // SAFETY: the caller's promise.
    unsafe { within(|| release(memory, "memory")) };
}
