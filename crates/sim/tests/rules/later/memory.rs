//! R215 to R223: lists of handles and bindings, and stricter requests about memory.

use amdgpu_sim::Features;
use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    Argument, GEM_OP_GET_CREATE_INFO, GEM_OP_GET_MAPPING_INFO, GemCreate, GemCreateFlags, GemDomain, GemListHandles,
    GemListHandlesEntry, GemOpWithEntries, GemUserptr, GemVaTimeline, GemVmEntry, LIST_HANDLES_IS_IMPORT,
    PRIME_CLOEXEC, UserptrFlags, VaFlags, VaOperation,
};

use super::{card_with, with_and_without};
use crate::support::{File, PAGE, RWX, Range, address, address_mut, card, open, reference};

const VA: u64 = 0x100_0000;

impl File {
    /// Lists the handles with room for so many: what was written, and the number that came back.
    fn list_handles(&self, room: u32) -> Result<(Vec<GemListHandlesEntry>, u32), Errno> {
        let mut entries = vec![GemListHandlesEntry { size: u64::MAX, ..GemListHandlesEntry::ZEROED }; room as usize];
        let at = if room == 0 { 0 } else { address_mut(&mut entries) };
        let mut request = GemListHandles { entries: at, num_entries: room, padding: 7 };
        self.send(&mut request)?;
        Ok((entries, request.num_entries))
    }

    pub(crate) fn list_bindings(&self, handle: u32, room: u32) -> Result<(Vec<GemVmEntry>, u32), Errno> {
        let mut entries = vec![GemVmEntry::ZEROED; room as usize];
        let value = if room == 0 { 0 } else { address_mut(&mut entries) };
        let op = GEM_OP_GET_MAPPING_INFO;
        let mut request = GemOpWithEntries { handle, op, value, num_entries: room, padding: 0 };
        self.send(&mut request)?;
        entries.truncate(request.num_entries as usize);
        Ok((entries, request.num_entries))
    }
}

// Checks R215.
#[test]
fn a_list_of_handles_without_room_says_how_many_there_are() {
    let [file, old] = with_and_without(Features::LIST_HANDLES);
    assert_eq!(file.list_handles(0), Ok((vec![], 0)));
    assert_eq!(file.list_handles(2).map(|(_, count)| count), Ok(0));
    for _ in 0..3 {
        file.create(PAGE);
    }
    for room in [0, 2] {
        let (entries, count) = file.list_handles(room).unwrap();
        assert_eq!(count, 3);
        assert!(entries.iter().all(|entry| entry.size == u64::MAX), "nothing is written");
    }
    let mut request = GemListHandles { entries: 0, num_entries: 3, padding: 0 };
    assert_eq!(file.send(&mut request), Err(Errno::EFAULT));
    assert_eq!(old.list_handles(0), Err(Errno::EINVAL));
}

// Checks R216.
#[test]
fn each_handle_is_listed_in_rising_order_with_its_alignment_in_bytes() {
    let device = card_with(Features::LIST_HANDLES);
    let file = open(&device);
    let first = file.create(PAGE + 1);
    let gone = file.create(PAGE);
    let flags = GemCreateFlags::CPU_ACCESS_REQUIRED | GemCreateFlags::CPU_GTT_USWC;
    let third = file.try_create(PAGE, 64 * PAGE, GemDomain::VRAM, flags).unwrap();
    file.close(gone).unwrap();
    let other = open(&device);
    let shared = file.open_dma_buf(&other.dma_buf(other.create(PAGE), PRIME_CLOEXEC).unwrap()).unwrap();
    assert_eq!((first, shared, third), (1, 2, 3));
    let (entries, count) = file.list_handles(9).unwrap();
    assert_eq!(count, 3);
    let cleared = GemCreateFlags::VRAM_CLEARED | GemCreateFlags::VRAM_WIPE_ON_RELEASE;
    let gtt = GemListHandlesEntry {
        gem_handle: first,
        flags: 0,
        size: 2 * PAGE,
        preferred_domains: GemDomain::GTT.bits(),
        alloc_flags: cleared.bits(),
        alignment: 0,
    };
    let alloc_flags = (cleared | GemCreateFlags::CPU_GTT_USWC).bits();
    let (preferred_domains, alignment) = (GemDomain::VRAM.bits(), 64 * PAGE);
    let vram = GemListHandlesEntry { gem_handle: third, size: PAGE, preferred_domains, alloc_flags, alignment, ..gtt };
    assert_eq!(entries[..3], [gtt, GemListHandlesEntry { gem_handle: shared, size: PAGE, ..gtt }, vram]);
}

// Checks R216.
#[test]
fn a_bo_of_another_device_is_an_import() {
    let device = card_with(Features::LIST_HANDLES);
    let other = device.machine().add(amdgpu_sim::profile("renoir").unwrap(), reference());
    let (file, far) = (open(&device), open(&other));
    file.open_dma_buf(&far.dma_buf(far.create(PAGE), PRIME_CLOEXEC).unwrap()).unwrap();
    file.create(PAGE);
    let flags: Vec<_> = file.list_handles(2).unwrap().0.iter().map(|entry| entry.flags).collect();
    assert_eq!(flags, [LIST_HANDLES_IS_IMPORT, 0]);
}

// Checks R217.
#[test]
fn padding_of_gem_op_is_refused_before_the_handle_is_looked_at() {
    let [file, old] = with_and_without(Features::MAPPING_INFO);
    let bo = file.create(PAGE);
    let mut info = [GemCreate::ZEROED];
    let value = address_mut(&mut info);
    let request = GemOpWithEntries { handle: bo, op: GEM_OP_GET_CREATE_INFO, value, ..GemOpWithEntries::ZEROED };
    for handle in [bo, 99] {
        assert_eq!(file.send(&mut GemOpWithEntries { handle, padding: 1, ..request }), Err(Errno::EINVAL));
    }
    assert_eq!(file.send(&mut GemOpWithEntries { handle: 99, op: 77, ..request }), Err(Errno::ENOENT));
    assert_eq!(file.send(&mut GemOpWithEntries { op: 3, ..request }), Err(Errno::EINVAL));
    assert_eq!(file.send(&mut { request }), Ok(()));
    assert_eq!(info[0].bo_size, PAGE);
    let old_bo = old.create(PAGE);
    assert_eq!(old.send(&mut GemOpWithEntries { handle: old_bo, padding: 1, ..request }), Ok(()), "it has no padding");
    assert_eq!(old.list_bindings(old_bo, 1), Err(Errno::EINVAL));
}

// Checks R218.
#[test]
fn all_bindings_of_a_bo_are_counted_and_written_if_all_fit() {
    let file = open(&card_with(Features::MAPPING_INFO));
    let (bo, other) = (file.create(4 * PAGE), file.create(PAGE));
    assert_eq!(file.list_bindings(bo, 4), Ok((vec![], 0)), "a BO that is not bound");
    file.bind(bo, VA, 4 * PAGE).unwrap();
    file.bind(other, VA + 0x10_0000, PAGE).unwrap();
    let read_only = VaFlags::READABLE | VaFlags::DELAY_UPDATE;
    let high = 0xffff_8000_0000_0000;
    file.va(VaOperation::Map, read_only, bo, Range { va: high, offset: PAGE, size: PAGE }).unwrap();
    for room in [0, 1] {
        let (entries, count) = file.list_bindings(bo, room).unwrap();
        assert_eq!((count, entries.iter().all(|entry| *entry == GemVmEntry::ZEROED)), (2, true));
    }
    let all = GemVmEntry { addr: VA, size: 4 * PAGE, offset: 0, flags: RWX.bits().into() };
    let one = GemVmEntry { addr: high & ((1 << 48) - 1), size: PAGE, offset: PAGE, flags: read_only.bits().into() };
    assert_eq!(file.list_bindings(bo, 5), Ok((vec![one, all], 2)));
    // A hole leaves the parts beside it.
    file.va(VaOperation::Clear, RWX, 0, Range { va: VA + PAGE, offset: 0, size: PAGE }).unwrap();
    let before = GemVmEntry { size: PAGE, ..all };
    let after = GemVmEntry { addr: VA + 2 * PAGE, size: 2 * PAGE, offset: 2 * PAGE, ..all };
    assert_eq!(file.list_bindings(bo, 3), Ok((vec![after, before, one], 3)));
    let request = GemOpWithEntries { handle: bo, op: GEM_OP_GET_MAPPING_INFO, ..GemOpWithEntries::ZEROED };
    assert_eq!(file.send(&mut GemOpWithEntries { num_entries: u32::MAX, ..request }), Err(Errno::EINVAL));
    let mut without_buffer = GemOpWithEntries { num_entries: 3, ..request };
    assert_eq!(file.send(&mut without_buffer), Err(Errno::EFAULT));
    assert_eq!(file.list_bindings(99, 3), Err(Errno::ENOENT));
}

// Checks R219.
#[test]
fn gem_va_refuses_ranges_that_overflow_and_delayed_updates_with_an_output() {
    let both = Features::STRICT_VA | Features::VA_SYNCOBJS;
    let [new, old] = [both, Features::VA_SYNCOBJS].map(|features| open(&card_with(features)));
    for (file, is_strict) in [(&new, true), (&old, false)] {
        let bo = file.create(PAGE);
        file.bind(bo, VA, PAGE).unwrap();
        let size = u64::MAX - VA + 1;
        let unmap = file.va(VaOperation::Unmap, RWX, bo, Range { va: VA, offset: 0, size });
        assert_eq!(unmap, if is_strict { Err(Errno::EINVAL) } else { Ok(()) });
        let out = file.syncobj(false);
        let delayed = GemVaTimeline {
            handle: bo,
            operation: VaOperation::Map as u32,
            flags: (RWX | VaFlags::DELAY_UPDATE).bits(),
            va_address: 2 * VA,
            map_size: PAGE,
            vm_timeline_syncobj_out: out,
            ..GemVaTimeline::ZEROED
        };
        let mut absent = GemVaTimeline { handle: 99, ..delayed };
        assert_eq!(file.send(&mut absent), Err(if is_strict { Errno::EINVAL } else { Errno::ENOENT }));
        assert_eq!(file.send(&mut { delayed }), if is_strict { Err(Errno::EINVAL) } else { Ok(()) });
    }
}

// Checks R220.
#[test]
fn input_sync_objects_of_gem_va_are_looked_at_in_order() {
    let file = open(&card_with(Features::VA_SYNCOBJS));
    let (bo, empty, done) = (file.create(PAGE), file.syncobj(false), file.syncobj(true));
    let map = |inputs: &[u32]| GemVaTimeline {
        handle: bo,
        operation: VaOperation::Map as u32,
        flags: RWX.bits(),
        va_address: VA,
        map_size: PAGE,
        num_syncobj_handles: inputs.len() as u32,
        input_fence_syncobj_handles: address(inputs),
        ..GemVaTimeline::ZEROED
    };
    let with = |inputs: &[u32]| file.send(&mut map(inputs));
    assert_eq!(with(&[done, 0, 99]), Err(Errno::EINVAL));
    assert_eq!(with(&[done, 99, 0]), Err(Errno::ENOENT));
    assert_eq!(with(&[empty, 99]), Err(Errno::EINVAL));
    let null = GemVaTimeline { input_fence_syncobj_handles: 0, ..map(&[done]) };
    assert_eq!(file.send(&mut { null }), Err(Errno::EFAULT));
    // The handle of the BO and the operation come first.
    assert_eq!(file.send(&mut GemVaTimeline { handle: 99, ..map(&[0]) }), Err(Errno::ENOENT));
    assert_eq!(file.send(&mut GemVaTimeline { operation: 9, handle: 99, ..map(&[0]) }), Err(Errno::EINVAL));
    assert_eq!(with(&[done, done]), Ok(()));
    assert_eq!(with(&[done]), Err(Errno::EINVAL), "it is bound");
}

// Checks R221.
#[test]
fn an_unknown_output_of_gem_va_binds_nothing() {
    let file = open(&card_with(Features::VA_SYNCOBJS));
    let bo = file.create(PAGE);
    let mut map = GemVaTimeline {
        handle: bo,
        operation: VaOperation::Map as u32,
        flags: RWX.bits(),
        va_address: VA,
        map_size: PAGE,
        vm_timeline_syncobj_out: 99,
        ..GemVaTimeline::ZEROED
    };
    assert_eq!(file.send(&mut map), Err(Errno::ENOENT));
    assert_eq!(file.0.census().bindings, 0);
}

// Checks R222.
#[test]
fn gem_create_takes_flags_for_caches_and_doorbells() {
    let [file, old] = with_and_without(Features::CACHE_FLAGS);
    let added = [
        GemCreateFlags::VRAM_WIPE_ON_RELEASE,
        GemCreateFlags::COHERENT,
        GemCreateFlags::UNCACHED,
        GemCreateFlags::EXT_COHERENT,
    ];
    let create = |file: &File, domains, flags| file.try_create(PAGE, 0, domains, flags).map(drop);
    for flags in added {
        assert_eq!(create(&file, GemDomain::GTT, flags), Ok(()), "{flags:?}");
        assert_eq!(create(&old, GemDomain::GTT, flags), Err(Errno::EINVAL), "{flags:?}");
    }
    for flags in [GemCreateFlags::VRAM_CONTIGUOUS, GemCreateFlags::PREEMPTIBLE, GemCreateFlags::CP_MQD_GFX9] {
        assert_eq!(create(&file, GemDomain::GTT, flags), Err(Errno::EINVAL), "{flags:?}");
    }
    let none = GemCreateFlags::empty();
    assert_eq!(create(&file, GemDomain::DOORBELL, none), Ok(()));
    assert_eq!(create(&file, GemDomain::DOORBELL | GemDomain::GTT, none), Err(Errno::EINVAL));
    assert_eq!(create(&old, GemDomain::DOORBELL, none), Err(Errno::EINVAL));
}

// Checks R223.
#[test]
fn user_memory_beyond_user_space_is_efault_before_flags() {
    let [file, old] = with_and_without(Features::USERPTR_RANGE);
    let end = (1_u64 << 47) - PAGE;
    let at = |addr, size, flags| GemUserptr { addr, size, flags, handle: 0 };
    for request in [at(end, PAGE, u32::MAX), at(1 << 63, PAGE, u32::MAX), at(PAGE, PAGE.wrapping_neg(), u32::MAX)] {
        assert_eq!(file.send(&mut { request }), Err(Errno::EFAULT), "{request:?}");
        assert_eq!(old.send(&mut { request }), Err(Errno::EINVAL), "{request:?}");
    }
    assert_eq!(file.send(&mut at(end + 1, PAGE, 0)), Err(Errno::EINVAL), "pages come first");
    let register = UserptrFlags::REGISTER.bits();
    assert_eq!(file.send(&mut at(end - PAGE, PAGE, register)), Ok(()), "the last page of user space");
}

// Checks R206.
#[test]
fn numbers_above_those_of_a_kernel_are_einval() {
    let device = card();
    let file = open(&device);
    for number in [0x59, 0x5a, 0xd1, 0xd2] {
        let request = amdgpu_winsys::uapi::Request::read_write::<GemListHandles>(b'd', number);
        assert_eq!(file.raw(request, &mut [0; 16]), Err(Errno::EINVAL), "{number:#x}");
    }
    let new = open(&card_with(Features::all()));
    for number in [0x5b, 0xd2, 0xd3] {
        let request = amdgpu_winsys::uapi::Request::read_write::<GemListHandles>(b'd', number);
        assert_eq!(new.raw(request, &mut [0; 16]), Err(Errno::EINVAL), "{number:#x}");
        // A number that had a function once copies its argument.
        let errno = if number == 0xd2 { Errno::EFAULT } else { Errno::EINVAL };
        assert_eq!(new.null(request), Err(errno), "{number:#x}");
    }
    assert_eq!(GemListHandles::REQUEST.number(), 0x59);
}
