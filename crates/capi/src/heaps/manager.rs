//! Memory managers: the heaps, memory types and budgets of a device.

use std::sync::Arc;

use amdgpu_winsys::heaps::{
    Addressing, AdmissionPolicy, BudgetRule, ExternalHandleTypes, HeapKind, MemoryManager, MemoryPolicy,
    MemoryPropertyFlags, TableOptions, TypeMask,
};

use crate::{
    border::{
        AGW_ERROR_FEATURE_NOT_PRESENT, Answer, Failure, Handle, Out, Versioned, check_out, create, entry, fill, get,
        read, reference, release, value, within,
    },
    objects::{DeviceState, agw_device, device, lent},
};

/// Presents the memory of an APU as one device-local heap, without a GTT heap.
pub const AGW_HEAPS_UNIFIED_ON_APU: u32 = 1 << 0;
/// Presents VRAM that is all visible as a visible heap of 256 MiB and an invisible heap, as without resizable BAR. Applies to
/// cards only.
pub const AGW_HEAPS_HIDE_REBAR: u32 = 1 << 1;
/// The kernel clears every VRAM allocation.
pub const AGW_HEAPS_ZERO_VRAM: u32 = 1 << 2;
/// Omits the protected memory types.
pub const AGW_HEAPS_NO_TMZ: u32 = 1 << 3;
/// Refuses allocations that would exceed the size of a heap.
pub const AGW_HEAPS_NO_OVERALLOCATION: u32 = 1 << 4;
/// Refuses allocations that would exceed the size or the budget of a heap.
pub const AGW_HEAPS_WITHIN_BUDGET: u32 = 1 << 5;
/// For debugging: leaves a gap of addresses after each allocation, so that an access past its end is a VM fault.
pub const AGW_HEAPS_GUARD_GAPS: u32 = 1 << 6;

/// All bits of `AGW_HEAPS_*`.
const ALL_FLAGS: u32 = (1 << 7) - 1;

/// VRAM that the CPU cannot map.
pub const AGW_HEAP_INVISIBLE_VRAM: u32 = 0;
/// System memory that the GPU maps.
pub const AGW_HEAP_GTT: u32 = 1;
/// VRAM that the CPU can map; on an APU, the device-local share of all memory.
pub const AGW_HEAP_VISIBLE_VRAM: u32 = 2;

/// Computes budgets exactly as RADV does, including its two errors with a small BAR.
pub const AGW_BUDGET_OF_RADV: u32 = 1 << 0;
/// Queries the kernel, even if its last answer is recent.
pub const AGW_BUDGET_FRESH: u32 = 1 << 1;

/// The buffer needs addresses in the 32-bit window.
pub const AGW_BUFFER_32BIT: u32 = 1 << 0;
/// The buffer is protected.
pub const AGW_BUFFER_PROTECTED: u32 = 1 << 1;

/// The heaps and memory types of a device, and an allocator of device memory.
pub struct agw_memory_manager {
    _private: [u8; 0],
}

/// Options of a memory manager. All zeros select the defaults, and so does a null pointer to the structure.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_memory_manager_options {
    /// `sizeof(struct agw_memory_manager_options)`.
    pub struct_size: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// Options, `AGW_HEAPS_*`.
    pub flags: u32,
    /// Maximum size of VRAM in MiB; zero for no limit.
    pub vram_limit_mib: u32,
}

// SAFETY: all fields are integers, and the first two are the size and zero.
unsafe impl Versioned for agw_memory_manager_options {
    const NAME: &'static str = "struct agw_memory_manager_options";
}

/// A memory heap.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_memory_heap {
    /// Size in bytes.
    pub size: u64,
    /// Property flags, `VkMemoryHeapFlags`.
    pub flags: u32,
    /// Kind of memory, `AGW_HEAP_*`.
    pub kind: u32,
}

/// A memory type.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_memory_type {
    /// Memory domains in which the kernel may place allocations, `AMDGPU_GEM_DOMAIN_*`.
    pub domains: u64,
    /// Creation flags of every allocation, `AMDGPU_GEM_CREATE_*`. A request adds more.
    pub create_flags: u64,
    /// Index of the heap.
    pub heap: u32,
    /// Property flags, `VkMemoryPropertyFlags`.
    pub properties: u32,
    /// Not zero if addresses are in the 32-bit window.
    pub is_32bit: u32,
    /// Reserved, zero.
    pub pad: u32,
}

/// The budget and usage of a heap, as VK_EXT_memory_budget defines them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_heap_budget {
    /// Bytes that the process can expect to use in the heap, including those it already uses.
    pub budget: u64,
    /// Bytes that the process uses.
    pub usage: u64,
}

impl Handle for agw_memory_manager {
    type Head = ();
    type Body = ManagerBody;
    const NAME: &'static str = "agw_memory_manager";
}

pub(crate) struct ManagerBody {
    pub(super) manager: MemoryManager,
    pub(super) state: Arc<DeviceState>,
}

/// Returns the body behind a handle, and records that the current call works on its device.
///
/// # Safety
///
/// The requirements of `shell`.
pub(super) unsafe fn manager<'a>(handle: *const agw_memory_manager) -> Answer<&'a ManagerBody> {
    // SAFETY: the caller's promise.
    let body = unsafe { get(handle, "manager") }?;
    body.state.touch()?;
    Ok(body)
}

/// Returns an error if `flags` has unknown bits.
pub(super) fn only(flags: u32, known: u32, argument: &str) -> Answer {
    if flags & !known != 0 { Err(Failure::argument(argument, "has unknown bits")) } else { Ok(()) }
}

fn build(state: &Arc<DeviceState>, flags: u32, vram_limit_mib: u32) -> Answer<*mut agw_memory_manager> {
    only(flags, ALL_FLAGS, "flags")?;
    let has = |flag: u32| flags & flag != 0;
    let options = TableOptions {
        unified_heap_on_apu: has(AGW_HEAPS_UNIFIED_ON_APU),
        hide_rebar: has(AGW_HEAPS_HIDE_REBAR),
        zero_vram: has(AGW_HEAPS_ZERO_VRAM),
        no_tmz: has(AGW_HEAPS_NO_TMZ),
        override_vram_mib: (vram_limit_mib != 0).then_some(vram_limit_mib),
        ..TableOptions::default()
    };
    let policy = MemoryPolicy { guard_gaps: has(AGW_HEAPS_GUARD_GAPS), ..MemoryPolicy::default() };
    let mut manager = MemoryManager::with_policy(&state.device, &options, policy)?;
    if has(AGW_HEAPS_WITHIN_BUDGET) {
        manager = manager.with_admission(AdmissionPolicy::within_budget());
    } else if has(AGW_HEAPS_NO_OVERALLOCATION) {
        manager = manager.with_admission(AdmissionPolicy::no_overallocation());
    }
    create((), ManagerBody { manager, state: Arc::clone(state) })
}

/// Creates a memory manager, with the heaps and memory types of a device. `options` may be null. A device can have several
/// managers, whose allocations are accounted together.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `options` is null or a structure of its `struct_size`; `manager` is null or
/// valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_manager_create(
    device: *const agw_device,
    options: *const agw_memory_manager_options,
    manager: *mut *mut agw_memory_manager,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        // SAFETY: the caller's promise.
        let manager = unsafe { Out::new(manager, "manager") }?;
        let (flags, limit) = if options.is_null() {
            (0, 0)
        } else {
            // SAFETY: not null, and the caller's promise.
            let options = unsafe { read(options) }?;
            (options.flags, options.vram_limit_mib)
        };
        let made = build(state, flags, limit)?;
        manager.put(made);
        Ok(())
    })
}

/// Writes the heaps to `heaps`. `heap_count` contains the length of the array, and is set to the number of heaps. Returns
/// `AGW_INCOMPLETE` if the array is too short. If `heaps` is null, only the number is written.
///
/// # Safety
///
/// `manager` is null or a manager that was not freed; `heap_count` is null or valid for reading and writing; `heaps` is null,
/// or valid for writing `*heap_count` heaps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_manager_get_heaps(
    manager: *const agw_memory_manager,
    heaps: *mut agw_memory_heap,
    heap_count: *mut u32,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::manager(manager) }?;
        let all = body.manager.properties().heaps().iter().map(|heap| agw_memory_heap {
            size: heap.size,
            flags: heap.flags.bits(),
            kind: match heap.kind {
                HeapKind::InvisibleVram => AGW_HEAP_INVISIBLE_VRAM,
                HeapKind::Gtt => AGW_HEAP_GTT,
                HeapKind::VisibleVram => AGW_HEAP_VISIBLE_VRAM,
            },
        });
        // SAFETY: the caller's promise.
        unsafe { fill(heaps, heap_count, ["heaps", "heap_count"], all) }
    })
}

/// Writes the memory types to `types`, with `type_count` as in `agw_memory_manager_get_heaps`.
///
/// # Safety
///
/// `manager` is null or a manager that was not freed; `type_count` is null or valid for reading and writing; `types` is null,
/// or valid for writing `*type_count` types.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_manager_get_types(
    manager: *const agw_memory_manager,
    types: *mut agw_memory_type,
    type_count: *mut u32,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::manager(manager) }?;
        let all = body.manager.properties().types().iter().map(|kind| agw_memory_type {
            domains: kind.domains.bits(),
            create_flags: kind.create_flags.bits(),
            heap: kind.heap,
            properties: kind.properties.bits(),
            is_32bit: (kind.addressing == Addressing::Bits32).into(),
            pad: 0,
        });
        // SAFETY: the caller's promise.
        unsafe { fill(types, type_count, ["types", "type_count"], all) }
    })
}

/// Writes the budget and usage of every heap to `budgets`, with `budget_count` as in `agw_memory_manager_get_heaps`. The usage
/// is always current. The kernel is queried at most ten times a second, or by every call with `AGW_BUDGET_FRESH`. `flags` is a
/// combination of `AGW_BUDGET_*`.
///
/// # Safety
///
/// `manager` is null or a manager that was not freed; `budget_count` is null or valid for reading and writing; `budgets` is
/// null, or valid for writing `*budget_count` budgets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_manager_get_budgets(
    manager: *const agw_memory_manager,
    flags: u32,
    budgets: *mut agw_heap_budget,
    budget_count: *mut u32,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::manager(manager) }?;
        only(flags, AGW_BUDGET_OF_RADV | AGW_BUDGET_FRESH, "flags")?;
        check_out(budget_count, "budget_count")?;
        let rule = if flags & AGW_BUDGET_OF_RADV != 0 { BudgetRule::Radv } else { BudgetRule::Corrected };
        let found = if flags & AGW_BUDGET_FRESH != 0 {
            body.manager.budgets(rule)?
        } else {
            body.manager.cached_budgets(rule)?
        };
        let all = found.heaps().iter().map(|heap| agw_heap_budget { budget: heap.budget, usage: heap.usage });
        // SAFETY: the caller's promise.
        unsafe { fill(budgets, budget_count, ["budgets", "budget_count"], all) }
    })
}

/// Returns a bit mask of the memory types that a buffer may be bound to; 0 if an argument is invalid. `flags` is a combination of
/// `AGW_BUFFER_*`.
///
/// # Safety
///
/// `manager` is null or a manager that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_manager_buffer_types(manager: *const agw_memory_manager, flags: u32) -> u32 {
    value(0, || {
        // SAFETY: the caller's promise.
        let body = unsafe { self::manager(manager) }?;
        only(flags, AGW_BUFFER_32BIT | AGW_BUFFER_PROTECTED, "flags")?;
        let addressing = if flags & AGW_BUFFER_32BIT != 0 { Addressing::Bits32 } else { Addressing::Bits64 };
        let is_protected = flags & AGW_BUFFER_PROTECTED != 0;
        Ok(body.manager.properties().buffer_types(addressing, is_protected).bits())
    })
}

/// Finds the memory type in `allowed` that has all `required` properties and the most `preferred` ones; among equal types, the
/// first. Both are `VkMemoryPropertyFlags`. Returns `AGW_ERROR_FEATURE_NOT_PRESENT` if no type has the required properties.
///
/// # Safety
///
/// `manager` is null or a manager that was not freed; `memory_type` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_manager_find_type(
    manager: *const agw_memory_manager,
    allowed: u32,
    required: u32,
    preferred: u32,
    memory_type: *mut u32,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::manager(manager) }?;
        // SAFETY: the caller's promise.
        let memory_type = unsafe { Out::new(memory_type, "memory_type") }?;
        let flags = MemoryPropertyFlags::from_bits_retain;
        let found =
            body.manager.properties().find_type(TypeMask::from_bits(allowed), flags(required), flags(preferred));
        let none = || Failure::new(AGW_ERROR_FEATURE_NOT_PRESENT, "no memory type has the required properties");
        memory_type.put(found.ok_or_else(none)?);
        Ok(())
    })
}

/// Writes a bit mask of the memory types as which a dma-buf may be imported to `types`. The dma-buf is not imported.
///
/// # Safety
///
/// `manager` is null or a manager that was not freed; `types` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_manager_fd_types(
    manager: *const agw_memory_manager,
    fd: i32,
    types: *mut u32,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::manager(manager) }?;
        // SAFETY: the caller's promise.
        let types = unsafe { Out::new(types, "types") }?;
        // SAFETY: lent for the duration of this call.
        let fd = unsafe { lent(fd) }?;
        let found = body.manager.fd_types(ExternalHandleTypes::DMA_BUF, fd)?;
        types.put(found.bits());
        Ok(())
    })
}

/// Writes a bit mask of the memory types as which host memory may be imported to `types`.
///
/// # Safety
///
/// `manager` is null or a manager that was not freed; `types` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_manager_host_types(manager: *const agw_memory_manager, types: *mut u32) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::manager(manager) }?;
        // SAFETY: the caller's promise.
        let types = unsafe { Out::new(types, "types") }?;
        let found = body.manager.host_pointer_types(ExternalHandleTypes::HOST_ALLOCATION)?;
        types.put(found.bits());
        Ok(())
    })
}

/// Adds a reference to a manager, and returns it.
///
/// # Safety
///
/// `manager` is null or a manager that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_manager_ref(manager: *mut agw_memory_manager) -> *mut agw_memory_manager {
    // SAFETY: the caller's promise.
    unsafe { within(|| reference(manager, "manager")) }
}

/// Removes a reference to a manager. Its allocations stay valid.
///
/// # Safety
///
/// `manager` is null or a manager that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_memory_manager_unref(manager: *mut agw_memory_manager) {
    // SAFETY: the caller's promise.
    unsafe { within(|| release(manager, "manager")) };
}
