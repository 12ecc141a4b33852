//! Requests that create BOs, and requests for a single BO.
//!
//! Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_object.c`.

use std::sync::Arc;

use amdgpu_uapi::{
    Errno, GEM_OP_GET_CREATE_INFO, GEM_OP_GET_MAPPING_INFO, GEM_OP_SET_PLACEMENT, GemClose, GemCreate, GemCreateAnswer,
    GemCreateFlags, GemDomain, GemMetadata, GemMmap, GemMmapAnswer, GemOp, GemOpWithEntries, GemUserptr, GemWaitIdle,
    GemWaitIdleAnswer, IdsFlags, METADATA_OP_GET, METADATA_OP_SET, UserptrFlags,
};

use super::{
    create_flags::{ACCEPTED, FORCED, SETTABLE},
    list,
};
use crate::{
    features::Features,
    kernel::{
        files::file::File,
        ioctl::args::{answer, argument, fill},
        mm::bo::{Attributes, Bo, Identity, Metadata, New, PAGE, Placement, Request, UserPages, allowed},
        sync::events::Until,
        user,
    },
};

/// Performs GEM_CLOSE. An unknown handle gives EINVAL, not ENOENT.
pub(crate) fn close(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let close: GemClose = argument(bytes)?;
    file.close_handle(close.handle)
}

/// The end of the addresses of user space, of which the kernel keeps the last page (`TASK_SIZE_MAX` with four levels of page tables).
const USER_END: u64 = (1 << 47) - PAGE;

/// The domains of on-chip resources.
const ON_CHIP: GemDomain = GemDomain::GDS.union(GemDomain::GWS).union(GemDomain::OA);
/// The domains that cannot be combined with others.
const SPECIAL: GemDomain = ON_CHIP.union(GemDomain::DOORBELL);

/// Performs GEM_CREATE.
pub(crate) fn create(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: GemCreate = argument(bytes)?;
    let (domains, flags) = check_create(file, &request)?;
    let size = rounded_size(&request, domains);
    if size == 0 {
        return Err(Errno::ENOSPC);
    }
    file.gpu.machine.descriptors.sweep();
    let always_valid = flags.contains(GemCreateFlags::VM_ALWAYS_VALID);
    let reservation = if always_valid { Arc::clone(&file.root) } else { Arc::default() };
    let vm = always_valid.then_some(file.number);
    let payer = file.payer();
    let wanted = Request { bytes: size, domains, flags, vm, reservation: Arc::clone(&reservation), payer };
    let (allocation, preferred) = file.gpu.pools.place(wanted)?;
    let in_vram = allocation.residency().is_some_and(|residency| matches!(residency.place, Placement::Vram { .. }));
    if in_vram && !is_vram_alignment(request.alignment) {
        return Err(Errno::EINVAL);
    }
    let allowed = allowed(preferred, flags.contains(GemCreateFlags::DISCARDABLE));
    let mut kept = (flags | FORCED) - GemCreateFlags::CPU_ACCESS_REQUIRED;
    if domains.intersects(ON_CHIP) {
        kept |= GemCreateFlags::NO_CPU_ACCESS;
    }
    let alignment = request.alignment.next_multiple_of(PAGE);
    let bo = Bo::create(New {
        identity: Identity::new(Attributes { size, alignment, preferred, allowed, flags: kept }, &file.gpu.bos.offsets),
        offsets: Arc::clone(&file.gpu.bos.offsets),
        allocation,
        user_pages: None,
        reservation,
    });
    if always_valid {
        file.vm.lock().know(&bo);
    }
    let handle = file.handles.lock().insert(&bo)?;
    // The bytes after the answer are cleared.
    bytes.fill(0);
    answer::<GemCreate>(bytes, &GemCreateAnswer { handle, pad: 0 })
}

/// Performs the checks before the allocation, in the kernel's order.
fn check_create(file: &File, request: &GemCreate) -> Result<(GemDomain, GemCreateFlags), Errno> {
    let domains = GemDomain::from_bits(request.domains);
    let takes_caches = file.gpu.facts.has(Features::CACHE_FLAGS);
    let takes_doorbells = takes_caches || file.gpu.facts.has_user_queues();
    if domains.is_some_and(|domains| domains.contains(GemDomain::DOORBELL)) && !takes_doorbells {
        return Err(Errno::EINVAL);
    }
    let accepted = if takes_caches { SETTABLE } else { ACCEPTED };
    let flags = GemCreateFlags::from_bits(request.domain_flags).ok_or(Errno::EINVAL)?;
    let domains = domains.ok_or(Errno::EINVAL)?;
    let special = domains & SPECIAL;
    let mixed = special.bits().count_ones() > 1 || (!special.is_empty() && special != domains);
    let tmz = IdsFlags::from_bits_retain(file.gpu.facts.profile.dev_info.ids_flags).contains(IdsFlags::TMZ);
    let refused = !accepted.contains(flags)
        || mixed
        || (flags.contains(GemCreateFlags::ENCRYPTED) && !tmz)
        || (!special.is_empty() && flags.contains(GemCreateFlags::VM_ALWAYS_VALID))
        || request.alignment >= 1 << 31;
    if refused { Err(Errno::EINVAL) } else { Ok((domains, flags)) }
}

/// Returns the size in bytes of a BO. GDS uses a page for each byte, GWS and OA for each unit.
fn rounded_size(request: &GemCreate, domains: GemDomain) -> u64 {
    if domains.contains(GemDomain::GDS) {
        request.bo_size.checked_next_multiple_of(4).and_then(|size| size.checked_mul(PAGE)).unwrap_or(0)
    } else if domains.intersects(ON_CHIP) {
        request.bo_size.checked_mul(PAGE).unwrap_or(0)
    } else {
        // A size that wraps becomes zero, as in the kernel.
        request.bo_size.checked_next_multiple_of(PAGE).unwrap_or(0)
    }
}

/// Returns `true` if VRAM supports the alignment: a power-of-two number of pages, or none.
fn is_vram_alignment(alignment: u64) -> bool {
    let pages = alignment.div_ceil(PAGE);
    pages == 0 || pages.is_power_of_two()
}

/// Performs GEM_MMAP. The argument is zeroed before it is checked.
pub(crate) fn mmap(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: GemMmap = argument(bytes)?;
    answer::<GemMmap>(bytes, &GemMmapAnswer { addr_ptr: 0 })?;
    let bo = file.bo(request.handle).ok_or(Errno::ENOENT)?;
    if !bo.is_mappable() {
        return Err(Errno::EPERM);
    }
    answer::<GemMmap>(bytes, &GemMmapAnswer { addr_ptr: bo.mmap_offset() })
}

/// Performs GEM_METADATA. An unknown operation succeeds without effect.
pub(crate) fn metadata(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: GemMetadata = argument(bytes)?;
    let bo = file.bo(request.handle).ok_or(Errno::ENOENT)?;
    let mut stored = bo.metadata();
    match request.op {
        METADATA_OP_SET => {
            if request.data_size_bytes as usize > size_of_val(&request.data) || !is_tiling(file, request.tiling_info) {
                return Err(Errno::EINVAL);
            }
            stored.tiling = request.tiling_info;
            if request.data_size_bytes == 0 {
                // Deletes the data and keeps the stored flags.
                *stored = Metadata { tiling: stored.tiling, flags: stored.flags, ..Metadata::default() };
            } else {
                stored.size = request.data_size_bytes;
                stored.flags = request.flags;
                stored.data = request.data;
            }
        }
        METADATA_OP_GET => {
            request.tiling_info = stored.tiling;
            request.data_size_bytes = stored.size;
            request.flags = stored.flags;
            let len = stored.size as usize;
            let (from, to) = (&stored.data, &mut request.data);
            zerocopy::IntoBytes::as_mut_bytes(to)[..len].copy_from_slice(&zerocopy::IntoBytes::as_bytes(from)[..len]);
        }
        _ => {}
    }
    drop(stored);
    fill(bytes, &request)
}

/// Returns `true` if the tiling flags are valid: the kernel only checks that the tile split of GFX6 to GFX8 has one of seven
/// values.
///
/// Source: Linux 6.12 `amdgpu_object.c`, `amdgpu_bo_set_tiling_flags`.
fn is_tiling(file: &File, tiling: u64) -> bool {
    const FAMILY_CZ: u32 = 135;
    const TILE_SPLIT_SHIFT: u32 = 9;
    file.gpu.facts.profile.dev_info.family > FAMILY_CZ || tiling >> TILE_SPLIT_SHIFT & 7 <= 6
}

/// Performs GEM_WAIT_IDLE. A timeout is not an error.
pub(crate) fn wait_idle(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: GemWaitIdle = argument(bytes)?;
    let bo = file.bo(request.handle).ok_or(Errno::ENOENT)?;
    let idle = file.gpu.machine.events.wait(Until::amdgpu(request.timeout), || bo.is_idle().then_some(()));
    answer::<GemWaitIdle>(bytes, &GemWaitIdleAnswer { status: u32::from(idle.is_none()), domain: 0 })
}

/// Performs GEM_OP.
pub(crate) fn op(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let GemOp { handle, op, value } = argument(bytes)?;
    let bo = file.bo(handle).ok_or(Errno::ENOENT)?;
    operate(&bo, op, value)
}

/// Performs GEM_OP with [`Features::MAPPING_INFO`].
///
/// Source: Linux 7.2 `amdgpu_gem.c`, `amdgpu_gem_op_ioctl`.
pub(crate) fn op_with_entries(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: GemOpWithEntries = argument(bytes)?;
    if request.padding != 0 {
        return Err(Errno::EINVAL);
    }
    let bo = file.bo(request.handle).ok_or(Errno::ENOENT)?;
    if request.op != GEM_OP_GET_MAPPING_INFO {
        return operate(&bo, request.op, request.value);
    }
    let result = list::mappings(file, &bo, &mut request);
    fill(bytes, &request)?;
    result
}

/// Performs an operation of GEM_OP that all kernels have.
fn operate(bo: &Bo, op: u32, value: u64) -> Result<(), Errno> {
    match op {
        GEM_OP_GET_CREATE_INFO => {
            let Attributes { size, alignment, preferred, flags, .. } = bo.attributes();
            let info = GemCreate { bo_size: size, alignment, domains: preferred.bits(), domain_flags: flags.bits() };
            user::write_slice(value, &[info])
        }
        GEM_OP_SET_PLACEMENT if bo.is_user_memory() => Err(Errno::EPERM),
        // Memory of another device stays where it is.
        GEM_OP_SET_PLACEMENT if bo.is_imported() && value & GemDomain::VRAM.bits() != 0 => Err(Errno::EINVAL),
        GEM_OP_SET_PLACEMENT => {
            let movable = GemDomain::VRAM | GemDomain::GTT | GemDomain::CPU;
            let preferred = GemDomain::from_bits_truncate(value) & movable;
            bo.set_placement(preferred, allowed(preferred, false));
            Ok(())
        }
        _ => Err(Errno::EINVAL),
    }
}

/// Performs GEM_USERPTR.
pub(crate) fn userptr(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: GemUserptr = argument(bytes)?;
    if !request.addr.is_multiple_of(PAGE) || !request.size.is_multiple_of(PAGE) {
        return Err(Errno::EINVAL);
    }
    let end = request.addr.checked_add(request.size);
    if file.gpu.facts.has(Features::USERPTR_RANGE) && end.is_none_or(|end| end > USER_END) {
        return Err(Errno::EFAULT);
    }
    let flags = UserptrFlags::from_bits(request.flags).ok_or(Errno::EINVAL)?;
    let read_only = flags.contains(UserptrFlags::READONLY);
    if !read_only && !flags.contains(UserptrFlags::REGISTER) {
        return Err(Errno::EACCES);
    }
    if request.size == 0 {
        return Err(Errno::ENOSPC);
    }
    if end.is_none() {
        return Err(Errno::EOVERFLOW);
    }
    let pages = UserPages::new(request.addr, request.size, flags)?;
    let reservation = Arc::default();
    let allocation = file.gpu.pools.take_user(request.size, &reservation)?;
    if flags.contains(UserptrFlags::VALIDATE) {
        pages.validate()?;
        allocation.validate()?;
    }
    let (preferred, allowed) = (GemDomain::GTT, GemDomain::GTT);
    let attributes = Attributes { size: request.size, alignment: 0, preferred, allowed, flags: FORCED };
    let bo = Bo::create(New {
        allocation,
        identity: Identity::new(attributes, &file.gpu.bos.offsets),
        offsets: Arc::clone(&file.gpu.bos.offsets),
        user_pages: Some(pages),
        reservation,
    });
    request.handle = file.handles.lock().insert(&bo)?;
    fill(bytes, &request)
}
