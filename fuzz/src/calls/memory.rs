//! BOs, sparse ranges, sets, and memory by memory type.

use std::{
    ffi::c_void,
    ptr::{null, null_mut},
};

use amdgpu_winsys_c::{border::*, heaps::*, objects::*};

use super::{
    Life, PAGES, REFUSED,
    handles::{Facts, Kind, Picked},
    perhaps,
};

const GTT: u64 = 2;
const VRAM: u64 = 4;
const CPU_ACCESS: u64 = 1;
const NO_CPU_ACCESS: u64 = 2;

fn size_of_struct<T>() -> u32 {
    size_of::<T>() as u32
}

/// The first bytes of a BO or of memory.
///
/// # Safety
///
/// The object is alive.
pub(super) unsafe fn head(handle: *const c_void) -> agw_bo_head {
    // SAFETY: both types begin with a head, and the caller's promise.
    unsafe { handle.cast::<agw_bo_head>().read() }
}

/// Bytes that the CPU maps of a BO of that size.
fn whole_pages(size: u64) -> usize {
    size.next_multiple_of(4096) as usize
}

impl Life {
    pub(super) fn memory(&mut self, function: u8, a: u8, b: u8, c: u8) {
        match function {
            0..4 => self.create_bo(a, b, c),
            4 => self.map_bo(a),
            5 => self.unmap_bo(a, b.is_multiple_of(2)),
            6 => self.bo_facts(a, b, c),
            7 => self.export_bo(a),
            8 => self.import_bo(a, b, c),
            9 => self.user_memory(a, b, c),
            10 => self.create_sparse(a, b, c),
            11 => self.change_sparse(a, b, c),
            12 => self.residents(a, b, c),
            13 => self.manager(a, b, c),
            14 | 15 => self.allocate(a, b, c),
            16 => self.use_memory(a, b, c),
            _ => self.import_memory(a, b, c),
        }
    }

    fn create_bo(&mut self, a: u8, b: u8, c: u8) {
        let device: Picked<agw_device> = self.objects.pick(a);
        let is_mapped = !b.is_multiple_of(4);
        let mut request = agw_bo_request {
            struct_size: size_of_struct::<agw_bo_request>(),
            reserved: 0,
            size: (u64::from(c) + 1) << (b % 10),
            alignment: 0,
            va_alignment: 0,
            address: 0,
            domains: if b.is_multiple_of(2) { GTT } else { VRAM },
            flags: if is_mapped { CPU_ACCESS } else { NO_CPU_ACCESS },
            va_flags: 2 | 4,
            va_placement: u32::from(b) >> 6,
            priority: u32::from(c) % 32,
            pad: 0,
        };
        let odd = c % 32;
        match odd {
            0 => request.size = [0, 1 << 50, u64::MAX][usize::from(b % 3)],
            1 => request.alignment = [3, 1 << 60, u64::MAX][usize::from(b % 3)],
            2 => request.va_alignment = [3, 1 << 60, u64::MAX][usize::from(b % 3)],
            3 => request.address = u64::from(b) << (c % 60),
            4 => request.domains = u64::from(b) << (c % 60),
            5 => request.flags = u64::from(b) << (c % 60),
            6 => request.va_flags = u32::from(b) << (c % 30),
            7 => request.va_placement = u32::from(b),
            8 => request.struct_size = [0, 7, 8, 9, 60, 1 << 20][usize::from(b % 6)],
            9 => request.priority = u32::from(b) << (c % 30),
            _ => {}
        }
        let is_plain = odd > 9;
        let fitting = if is_plain { vec![AGW_SUCCESS] } else { perhaps() };
        let facts = |bo: *mut agw_bo| {
            // SAFETY: it was just made.
            let size = unsafe { head(bo.cast()) }.size;
            Facts::Bo { size, mapped: None, is_plain: is_plain && is_mapped }
        };
        let of = self.objects.device_of(device);
        let result = self.make("agw_bo_create", of, &fitting, facts, |bo| {
            // A size that is no structure's is a fault only of a build that looks; the bytes are there.
            // SAFETY: a handle of this life, a structure that is longer than it says or refused, and a place for the new one.
            unsafe { agw_bo_create(device.handle, &raw const request, bo) }
        });
        self.has_odd_domains |= result == AGW_SUCCESS && odd == 4;
        if let (AGW_SUCCESS, Some(made)) = (result, self.objects.alive.last())
            && is_plain
        {
            // SAFETY: it was just made.
            let made = unsafe { head(std::ptr::with_exposed_provenance(made.address)) };
            assert_eq!(made.size, request.size);
            assert!(made.handle != 0 && made.va != 0);
        }
    }

    fn map_bo(&mut self, a: u8) {
        let bo: Picked<agw_bo> = self.objects.pick(a);
        let mut pointer = null_mut();
        // SAFETY: a handle of this life, and a place of this function.
        let result = unsafe { agw_bo_map(bo.handle, &raw mut pointer) };
        let mut is_plain = false;
        if let Some(Facts::Bo { size, mapped, is_plain: plain }) = self.objects.facts(bo) {
            is_plain = *plain;
            if result == AGW_SUCCESS {
                assert!(mapped.is_none_or(|start| start == pointer.addr()), "a second mapping of a BO");
                *mapped = Some(pointer.expose_provenance());
                if *size >= 4 && is_plain {
                    // SAFETY: inside of the mapping, which stays until it is unmapped; the GPU stores words elsewhere.
                    let _ = unsafe { pointer.cast::<u8>().add(*size as usize - 1).read_volatile() };
                }
            }
        }
        let fitting = if is_plain { vec![AGW_SUCCESS] } else { vec![AGW_SUCCESS, AGW_ERROR_MEMORY_MAP_FAILED] };
        self.objects.judge("agw_bo_map", result, bo.is_good(), &fitting);
    }

    fn unmap_bo(&mut self, a: u8, keeps: bool) {
        let bo: Picked<agw_bo> = self.objects.pick(a);
        // SAFETY: a handle of this life, whose mapping is not used afterwards.
        let result = unsafe { agw_bo_unmap(bo.handle, keeps) };
        self.objects.judge("agw_bo_unmap", result, bo.is_good(), &[AGW_SUCCESS, AGW_ERROR_MEMORY_MAP_FAILED]);
        if let (AGW_SUCCESS, Some(Facts::Bo { size, mapped, .. })) = (result, self.objects.facts(bo)) {
            release_addresses(mapped.take(), *size, keeps);
        }
    }

    fn bo_facts(&mut self, a: u8, b: u8, c: u8) {
        let bo: Picked<agw_bo> = self.objects.pick(a);
        let (handle, is_good) = (bo.handle, bo.is_good());
        let (mut info, mut data) =
            (agw_bo_info { struct_size: 32, reserved: 0, size: 0, domains: 0, flags: 0 }, [b; 256]);
        data[0] = c;
        let size = u32::from(b) * u32::from(c % 4);
        let metadata = agw_bo_metadata {
            struct_size: size_of_struct::<agw_bo_metadata>(),
            reserved: 0,
            tiling: u64::from(c) << 4,
            flags: b.into(),
            size,
            pad: 0,
            data,
        };
        // SAFETY: a handle of this life, structures as long as they say, and a text.
        unsafe {
            let result = agw_bo_get_info(handle, &raw mut info);
            self.objects.judge("agw_bo_get_info", result, is_good, &perhaps());
            if let Some(Facts::Bo { size, .. }) = self.objects.facts(bo) {
                assert!(result != AGW_SUCCESS || info.size >= *size, "the kernel has {} of {size} bytes", info.size);
            }
            let set = agw_bo_set_metadata(handle, &raw const metadata);
            self.objects.judge("agw_bo_set_metadata", set, is_good, &perhaps());
            assert!(size <= 256 || set < 0, "{size} bytes of metadata");
            let mut found = agw_bo_metadata { size: 9, data: [0; 256], tiling: 0, flags: 0, ..metadata };
            let get = agw_bo_get_metadata(handle, &raw mut found);
            self.objects.judge("agw_bo_get_metadata", get, is_good, &perhaps());
            if set == AGW_SUCCESS && get == AGW_SUCCESS {
                assert_eq!((found.tiling, found.size), (metadata.tiling, size));
                // Linux 6.12 `amdgpu_object.c`, `amdgpu_bo_set_metadata`: without data the flags are not looked at.
                assert!(size == 0 || found.flags == metadata.flags);
                assert_eq!(found.data[..size as usize], data[..size as usize]);
            }
            let result = agw_bo_wait_idle(handle, 0);
            self.objects.judge("agw_bo_wait_idle", result, is_good, &perhaps());
            let result = agw_bo_set_name(handle, c"a BO".as_ptr());
            self.objects.judge("agw_bo_set_name", result, is_good, &[AGW_SUCCESS]);
        }
    }

    fn export_bo(&mut self, a: u8) {
        let bo: Picked<agw_bo> = self.objects.pick(a);
        let mut fd = -7;
        // SAFETY: a handle of this life, and a place of this function.
        let result = unsafe { agw_bo_export(bo.handle, &raw mut fd) };
        self.objects.judge("agw_bo_export", result, bo.is_good(), &perhaps());
        self.keep_descriptor("agw_bo_export", result, fd);
    }

    fn import_bo(&mut self, a: u8, b: u8, c: u8) {
        let device: Picked<agw_device> = self.objects.pick(a);
        let fd = self.descriptor(b);
        let mut info = agw_bo_info { struct_size: 32, reserved: 0, size: 0, domains: 0, flags: 0 };
        // SAFETY: a handle of this life, and a place of this function.
        let probed = unsafe { agw_bo_probe(device.handle, fd, &raw mut info) };
        self.objects.judge("agw_bo_probe", probed, device.is_good(), &perhaps());
        let of = self.objects.device_of(device);
        let is_handle = c.is_multiple_of(8);
        let facts = |bo: *mut agw_bo| {
            // SAFETY: it was just made.
            Facts::Bo { size: unsafe { head(bo.cast()) }.size, mapped: None, is_plain: false }
        };
        // 32 is too high.
        let priority = u32::from(c) % 33;
        let result = self.make("agw_bo_import", of, &perhaps(), facts, |bo| {
            // SAFETY: a handle of this life, a number that no object has, and a place for the new one.
            unsafe {
                if is_handle {
                    agw_bo_from_handle(device.handle, 1 << 24 | u32::from(b), c > 127, 0, 0, bo)
                } else {
                    agw_bo_import(device.handle, fd, 0, priority, bo)
                }
            }
        });
        assert!(!is_handle || result < 0, "a handle that the kernel never gave");
        assert!(
            is_handle || !device.is_good() || (probed == AGW_SUCCESS && priority < 32) == (result == AGW_SUCCESS),
            "{probed}, then {result}"
        );
    }

    fn user_memory(&mut self, a: u8, b: u8, c: u8) {
        let device: Picked<agw_device> = self.objects.pick(a);
        let (offset, size) = (usize::from(b % 16) * 4096, (u64::from(c % 4)) * 4096);
        let (offset, size) = if c > 220 { (offset + 1, size + 1) } else { (offset, size) };
        let room = (PAGES - offset) as u64;
        // SAFETY: inside of the pages.
        let start = unsafe { self.pages.add(offset) };
        let facts = |_: *mut agw_bo| Facts::Bo { size: size.min(room), mapped: None, is_plain: false };
        let of = self.objects.device_of(device);
        self.make("agw_bo_from_user_memory", of, &perhaps(), facts, |bo| {
            // SAFETY: pages that stay mapped, a handle of this life, and a place for the new one.
            unsafe { agw_bo_from_user_memory(device.handle, start.cast(), size.min(room), 0, bo) }
        });
    }

    fn create_sparse(&mut self, a: u8, b: u8, c: u8) {
        let device: Picked<agw_device> = self.objects.pick(a);
        let size = if c < 16 { u64::from(c) << (b % 60) } else { u64::from(c) << 16 };
        let (placement, address) = if b < 16 { (b.into(), u64::from(c) << (b * 2)) } else { (0, 0) };
        let of = self.objects.device_of(device);
        self.make(
            "agw_sparse_create",
            of,
            &perhaps(),
            |_| Facts::None,
            |range: *mut *mut agw_sparse| {
                // SAFETY: a handle of this life, and a place for the new one.
                unsafe { agw_sparse_create(device.handle, size, u64::from(b) << 12, placement, address, range) }
            },
        );
    }

    fn change_sparse(&mut self, a: u8, b: u8, c: u8) {
        let range: Picked<agw_sparse> = self.objects.pick(a);
        let bo: Picked<agw_bo> = self.objects.pick(b);
        let is_null = bo.handle.is_null();
        let change = agw_sparse_bind {
            offset: u64::from(c % 8) << 12,
            size: u64::from(b % 8) << (8 + c % 8),
            bo: bo.handle,
            bo_offset: u64::from(c >> 6) << 12,
        };
        let further = agw_sparse_bind { offset: 1 << 16, size: 4096, bo: null(), bo_offset: 0 };
        let changes = [change, further];
        // SAFETY: as many changes as it is said, of handles of this life.
        let result = unsafe { agw_sparse_change(range.handle, changes.as_ptr(), u32::from(c % 3)) };
        let is_named = !c.is_multiple_of(3);
        let is_good = range.is_good() && (!is_named || is_null || bo.is_good());
        let is_foreign = is_named && !is_null && self.objects.device_of(range) != self.objects.device_of(bo);
        let fitting = if is_foreign { REFUSED.to_vec() } else { perhaps() };
        self.objects.judge("agw_sparse_change", result, is_good, &fitting);
    }

    fn residents(&mut self, a: u8, b: u8, c: u8) {
        if c.is_multiple_of(3) {
            let device: Picked<agw_device> = self.objects.pick(a);
            let of = self.objects.device_of(device);
            self.make(
                "agw_residents_create",
                of,
                &[AGW_SUCCESS],
                |_| Facts::Residents(false),
                |set: *mut *mut agw_residents| {
                    // SAFETY: a handle of this life, and a place for the new one.
                    unsafe { agw_residents_create(device.handle, set) }
                },
            );
            return;
        }
        let set: Picked<agw_residents> = self.objects.pick(a);
        let bo: Picked<agw_bo> = self.objects.pick(b);
        let is_good = set.is_good() && bo.is_good();
        if c % 3 == 1 {
            // SAFETY: handles of this life.
            let result = unsafe { agw_residents_add(set.handle, bo.handle) };
            self.objects.judge("agw_residents_add", result, is_good, &[AGW_SUCCESS]);
            let is_foreign = self.objects.device_of(set) != self.objects.device_of(bo);
            if let Some(Facts::Residents(has_foreign)) = self.objects.facts(set) {
                *has_foreign |= is_foreign;
            }
        } else {
            // SAFETY: handles of this life.
            let result = unsafe { agw_residents_remove(set.handle, bo.handle) };
            self.objects.judge("agw_residents_remove", result, is_good, &[AGW_SUCCESS]);
        }
    }

    fn manager(&mut self, a: u8, b: u8, c: u8) {
        let managers = self.objects.alive.iter().filter(|object| object.kind == Kind::Manager).count();
        if managers < 2 || c > 200 {
            let device: Picked<agw_device> = self.objects.pick(a);
            let flags = if b > 200 { u32::from(b) } else { u32::from(b) % 128 };
            let options = agw_memory_manager_options {
                struct_size: 16,
                reserved: 0,
                flags,
                vram_limit_mib: u32::from(c % 2) * 64,
            };
            let of = self.objects.device_of(device);
            self.make(
                "agw_memory_manager_create",
                of,
                &perhaps(),
                |_| Facts::None,
                |manager: *mut *mut agw_memory_manager| {
                    // SAFETY: a handle of this life, a structure of its size, and a place for the new one.
                    unsafe { agw_memory_manager_create(device.handle, &raw const options, manager) }
                },
            );
            return;
        }
        let manager: Picked<agw_memory_manager> = self.objects.pick(a);
        let (handle, is_good) = (manager.handle, manager.is_good());
        let none = agw_memory_type { domains: 0, create_flags: 0, heap: 0, properties: 0, is_32bit: 0, pad: 0 };
        let (mut types, mut heaps) = ([none; 8], [agw_memory_heap { size: 0, flags: 0, kind: 0 }; 4]);
        let mut budgets = [agw_heap_budget { budget: 0, usage: 0 }; 4];
        let (mut room, mut found) = (u32::from(b % 8), 77);
        let fitting = [AGW_SUCCESS, AGW_INCOMPLETE];
        // SAFETY: a handle of this life, and arrays that are no shorter than they are said to be.
        unsafe {
            let result = agw_memory_manager_get_types(handle, types.as_mut_ptr(), &raw mut room);
            self.objects.judge("agw_memory_manager_get_types", result, is_good, &fitting);
            let mut room = u32::from(c % 4);
            let result = agw_memory_manager_get_heaps(handle, heaps.as_mut_ptr(), &raw mut room);
            self.objects.judge("agw_memory_manager_get_heaps", result, is_good, &fitting);
            let mut room = u32::from(c % 4);
            let result = agw_memory_manager_get_budgets(handle, u32::from(b % 4), budgets.as_mut_ptr(), &raw mut room);
            self.objects.judge("agw_memory_manager_get_budgets", result, is_good, &fitting);
            let allowed = agw_memory_manager_buffer_types(handle, u32::from(b % 4));
            assert!(is_good || allowed == 0);
            let result = agw_memory_manager_find_type(handle, allowed, u32::from(c % 16), 1, &raw mut found);
            self.objects.judge(
                "agw_memory_manager_find_type",
                result,
                is_good,
                &[AGW_SUCCESS, AGW_ERROR_FEATURE_NOT_PRESENT],
            );
            assert_eq!(found == 77, result != AGW_SUCCESS);
            let mut types = 0;
            let result = agw_memory_manager_fd_types(handle, self.descriptor(b), &raw mut types);
            self.objects.judge("agw_memory_manager_fd_types", result, is_good, &perhaps());
        }
    }

    fn memory_request(b: u8, c: u8) -> agw_memory_request {
        agw_memory_request {
            struct_size: size_of_struct::<agw_memory_request>(),
            reserved: 0,
            size: if c == 255 { u64::MAX >> (b % 64) } else { u64::from(c) << (b % 10) },
            address: if b > 230 { u64::from(c) << 20 } else { 0 },
            memory_type: u32::from(b % 12),
            flags: if b > 200 { 1 << (c % 32) } else { AGW_MEMORY_EXPORTABLE },
            priority: if b == 7 { f32::NAN } else { f32::from(c) / 128.0 },
            pad: 0,
        }
    }

    fn allocate(&mut self, a: u8, b: u8, c: u8) {
        let manager: Picked<agw_memory_manager> = self.objects.pick(a);
        let request = Self::memory_request(b, c);
        let of = self.objects.device_of(manager);
        self.make("agw_memory_allocate", of, &perhaps(), memory_facts, |memory| {
            // SAFETY: a handle of this life, a structure of its size, and a place for the new one.
            unsafe { agw_memory_allocate(manager.handle, &raw const request, memory) }
        });
    }

    fn import_memory(&mut self, a: u8, b: u8, c: u8) {
        let manager: Picked<agw_memory_manager> = self.objects.pick(a);
        let of = self.objects.device_of(manager);
        let mut request = Self::memory_request(b, c);
        if c.is_multiple_of(2) {
            let fd = self.descriptor(b);
            self.make("agw_memory_import_fd", of, &perhaps(), memory_facts, |memory| {
                // SAFETY: a handle of this life, a structure of its size, and a place for the new one.
                unsafe { agw_memory_import_fd(manager.handle, fd, &raw const request, memory) }
            });
        } else {
            request.size = request.size.min(PAGES as u64);
            let start = if b > 240 { null_mut() } else { self.pages };
            self.make("agw_memory_import_host", of, &perhaps(), memory_facts, |memory| {
                // SAFETY: pages that stay mapped, a handle of this life, and a place for the new one.
                unsafe { agw_memory_import_host(manager.handle, start.cast(), &raw const request, memory) }
            });
        }
    }

    fn use_memory(&mut self, a: u8, b: u8, c: u8) {
        let memory: Picked<agw_memory> = self.objects.pick(a);
        let (handle, is_good) = (memory.handle, memory.is_good());
        match b % 6 {
            0 => {
                let mut pointer = null_mut();
                // SAFETY: a handle of this life, and a place of this function.
                let result = unsafe { agw_memory_map(handle, &raw mut pointer) };
                self.objects.judge("agw_memory_map", result, is_good, &[AGW_SUCCESS, AGW_ERROR_MEMORY_MAP_FAILED]);
                if let (AGW_SUCCESS, Some(Facts::Memory { mapped, .. })) = (result, self.objects.facts(memory)) {
                    assert!(mapped.is_none_or(|start| start == pointer.addr()), "a second mapping of memory");
                    *mapped = Some(pointer.expose_provenance());
                }
            }
            1 => {
                let keeps = c.is_multiple_of(2);
                // SAFETY: a handle of this life, whose mapping is not used afterwards.
                let result = unsafe { agw_memory_unmap(handle, keeps) };
                self.objects.judge("agw_memory_unmap", result, is_good, &[AGW_SUCCESS, AGW_ERROR_MEMORY_MAP_FAILED]);
                let pages = self.pages.addr()..self.pages.addr() + PAGES;
                if let (AGW_SUCCESS, Some(Facts::Memory { size, mapped })) = (result, self.objects.facts(memory)) {
                    // Memory of the process stays mapped where it is.
                    if !mapped.is_some_and(|start| pages.contains(&start)) {
                        release_addresses(mapped.take(), *size, keeps);
                    }
                }
            }
            2 => {
                let (offset, size) = (u64::from(c % 16) << 5, if c > 127 { u64::MAX } else { u64::from(c) << 4 });
                // SAFETY: a handle of this life.
                unsafe {
                    let result = agw_memory_flush(handle, offset, size);
                    self.objects.judge("agw_memory_flush", result, is_good, &perhaps());
                    let result = agw_memory_invalidate(handle, offset, size);
                    self.objects.judge("agw_memory_invalidate", result, is_good, &perhaps());
                }
            }
            3 => {
                let kind =
                    if c > 200 { c.into() } else { [AGW_HANDLE_DMA_BUF, AGW_HANDLE_OPAQUE_FD][usize::from(c % 2)] };
                let mut fd = -7;
                // SAFETY: a handle of this life, and a place of this function.
                let result = unsafe { agw_memory_export(handle, kind, &raw mut fd) };
                self.objects.judge("agw_memory_export", result, is_good, &perhaps());
                self.keep_descriptor("agw_memory_export", result, fd);
            }
            4 => {
                // SAFETY: a handle of this life.
                let result = unsafe { agw_memory_set_priority(handle, f32::from(c) / 100.0) };
                let fitting = if c <= 100 { AGW_SUCCESS } else { AGW_ERROR_INVALID_ARGUMENT };
                self.objects.judge("agw_memory_set_priority", result, is_good, &[fitting]);
            }
            _ => {
                let of = self.objects.device_of(memory);
                let facts = |bo: *mut agw_bo| {
                    // SAFETY: it was just made.
                    Facts::Bo { size: unsafe { head(bo.cast()) }.size, mapped: None, is_plain: false }
                };
                self.make("agw_memory_bo", of, &[AGW_SUCCESS], facts, |bo| {
                    // SAFETY: a handle of this life, and a place for the new one.
                    unsafe { agw_memory_bo(handle, bo) }
                });
            }
        }
    }
}

fn memory_facts(memory: *mut agw_memory) -> Facts {
    // SAFETY: it was just made.
    Facts::Memory { size: unsafe { head(memory.cast()) }.size, mapped: None }
}

/// Gives back addresses that an unmapping kept for the caller.
fn release_addresses(mapped: Option<usize>, size: u64, keeps: bool) {
    if let Some(start) = mapped
        && keeps
    {
        // SAFETY: the addresses of an ended mapping, which are this caller's.
        let result = unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(start), whole_pages(size)) };
        assert_eq!(result, 0);
    }
}
