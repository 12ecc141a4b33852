//! Reports of memory to the program.

use std::{collections::BTreeMap, ffi::c_void, ptr, sync::Mutex};

use ash::vk::{self, Handle};

use crate::gpu::{CHIPS, Gpu, Messenger};

/// The kinds of reports as numbers.
mod kind {
    use ash::vk::DeviceMemoryReportEventTypeEXT as Kind;

    pub(super) const ALLOCATE: i32 = Kind::ALLOCATE.as_raw();
    pub(super) const FREE: i32 = Kind::FREE.as_raw();
    pub(super) const IMPORT: i32 = Kind::IMPORT.as_raw();
    pub(super) const UNIMPORT: i32 = Kind::UNIMPORT.as_raw();
    pub(super) const ALLOCATION_FAILED: i32 = Kind::ALLOCATION_FAILED.as_raw();
}

/// A report as the callback received it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Report {
    kind: i32,
    id: u64,
    size: u64,
    object: (vk::ObjectType, u64),
    heap: u32,
}

type Reports = Mutex<Vec<Report>>;

/// Keeps a report.
extern "system" fn keep(report: *const vk::DeviceMemoryReportCallbackDataEXT<'_>, user: *mut c_void) {
    // SAFETY: the report lives for the length of the call.
    let it = unsafe { &*report };
    // SAFETY: the pointer is that of the device, whose list lives longer than it.
    let seen = unsafe { &*user.cast::<Reports>() };
    let object = (it.object_type, it.object_handle);
    let report = Report { kind: it.ty.as_raw(), id: it.memory_object_id, size: it.size, object, heap: it.heap_index };
    seen.lock().unwrap().push(report);
}

/// Opens a chip with two callbacks, and returns what each has received. The lists are never freed, because they must outlive the
/// device.
fn reporting(chip: &str) -> (Gpu, [&'static Reports; 2]) {
    let seen: [&'static Reports; 2] = [(); 2].map(|()| &*Box::leak(Box::default()));
    let callback = |seen: &'static Reports| vk::DeviceDeviceMemoryReportCreateInfoEXT {
        pfn_user_callback: Some(keep),
        p_user_data: std::ptr::from_ref(seen).cast_mut().cast(),
        ..vk::DeviceDeviceMemoryReportCreateInfoEXT::default()
    };
    let [first, second] = seen.map(callback);
    let mut last = second;
    let mut first = vk::DeviceDeviceMemoryReportCreateInfoEXT { p_next: (&raw mut last).cast(), ..first };
    let mut feature = vk::PhysicalDeviceDeviceMemoryReportFeaturesEXT::default().device_memory_report(true);
    feature.p_next = (&raw mut first).cast();
    let gpu = Gpu::with(chip, &[ash::ext::device_memory_report::NAME], (&raw mut feature).cast());
    (gpu, seen)
}

/// Returns the reports of a kind of object, and forgets all.
fn of(seen: &Reports, kind: vk::ObjectType) -> Vec<Report> {
    let all = std::mem::take(&mut *seen.lock().unwrap());
    all.into_iter().filter(|report| report.object.0 == kind).collect()
}

#[test]
fn memory_is_reported_to_every_callback_with_its_object_and_heap() {
    for chip in CHIPS {
        let (gpu, seen) = reporting(chip);
        for (kind, index) in gpu.memory.memory_types[..gpu.memory.memory_type_count as usize].iter().zip(0..) {
            let memory = gpu.allocate(index, 100_000);
            // SAFETY: nothing uses it.
            unsafe { gpu.device.free_memory(memory, None) };
            let [one, other] = seen.map(|seen| of(seen, vk::ObjectType::DEVICE_MEMORY));
            assert_eq!(one, other, "{chip}");
            let [begin, end] = one[..] else { panic!("{chip}: {one:?}") };
            assert_eq!((begin.kind, end.kind), (kind::ALLOCATE, kind::FREE), "{chip}");
            assert_eq!((begin.id, begin.size, begin.object), (end.id, end.size, end.object), "{chip}");
            assert_eq!((begin.object.1, begin.heap), (memory.as_raw(), kind.heap_index), "{chip}");
            assert!(begin.size >= 100_000 && begin.id != 0, "{chip}: {begin:?}");
        }
    }
}

#[test]
fn an_imported_descriptor_is_the_same_memory_and_host_memory_is_imported() {
    let (gpu, [seen, _]) = reporting("navi21");
    let fds = ash::khr::external_memory_fd::Device::new(&gpu.instance, &gpu.device);
    let kind = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
    let mut exported = vk::ExportMemoryAllocateInfo::default().handle_types(kind);
    let info = vk::MemoryAllocateInfo::default().allocation_size(1 << 16);
    // SAFETY: the structures are valid.
    let memory = unsafe { gpu.device.allocate_memory(&info.push_next(&mut exported), None) }.unwrap();
    let asked = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(kind);
    // SAFETY: the memory is live and exportable.
    let fd = unsafe { fds.get_memory_fd(&asked) }.unwrap();
    let mut from = vk::ImportMemoryFdInfoKHR::default().handle_type(kind).fd(fd);
    // SAFETY: the descriptor is open and becomes the driver's.
    let imported = unsafe { gpu.device.allocate_memory(&info.push_next(&mut from), None) }.unwrap();
    for memory in [memory, imported] {
        // SAFETY: nothing uses it.
        unsafe { gpu.device.free_memory(memory, None) };
    }
    let reports = of(seen, vk::ObjectType::DEVICE_MEMORY);
    let kinds: Vec<_> = reports.iter().map(|report| report.kind).collect();
    assert_eq!(kinds, [kind::ALLOCATE, kind::IMPORT, kind::FREE, kind::UNIMPORT]);
    assert!(
        reports.iter().all(|report| report.id == reports[0].id),
        "one memory, so that it is counted once: {reports:?}"
    );

    let mut pages = vec![0_u8; 3 << 12];
    let first = pages.as_mut_ptr().map_addr(|address| address.next_multiple_of(1 << 12));
    let kind = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
    let mut from = vk::ImportMemoryHostPointerInfoEXT::default().handle_type(kind).host_pointer(first.cast());
    let info = vk::MemoryAllocateInfo::default().allocation_size(1 << 12).memory_type_index(gpu.host_type());
    // SAFETY: the pages live longer than the memory.
    let host = unsafe { gpu.device.allocate_memory(&info.push_next(&mut from), None) }.unwrap();
    // SAFETY: nothing uses it.
    unsafe { gpu.device.free_memory(host, None) };
    let kinds: Vec<_> = of(seen, vk::ObjectType::DEVICE_MEMORY).iter().map(|report| report.kind).collect();
    assert_eq!(kinds, [kind::IMPORT, kind::UNIMPORT]);
}

#[test]
fn a_refused_allocation_is_reported_with_its_heap() {
    let (gpu, [seen, _]) = reporting("navi21");
    let kind = gpu.host_type();
    let info = vk::MemoryAllocateInfo::default().allocation_size(u64::MAX).memory_type_index(kind);
    // SAFETY: the structure is valid; its numbers are the driver's to check.
    assert!(unsafe { gpu.device.allocate_memory(&info, None) }.is_err());
    let reports = of(seen, vk::ObjectType::DEVICE_MEMORY);
    let heap = gpu.memory.memory_types[kind as usize].heap_index;
    let [report] = reports[..] else { panic!("{reports:?}") };
    assert_eq!((report.kind, report.size, report.heap), (kind::ALLOCATION_FAILED, u64::MAX, heap));
    assert_eq!(gpu.allocate(kind, 0), vk::DeviceMemory::null());
    assert_eq!(of(seen, vk::ObjectType::DEVICE_MEMORY), [], "no memory was needed");
}

/// A message about addresses: whether they are bound, whether they are internal, the object, the address and the size.
type Binding = (bool, bool, (vk::ObjectType, u64), u64, u64);

/// Keeps a message about addresses.
extern "system" fn keep_addresses(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    message: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the message lives for the length of the call.
    let message = unsafe { &*message };
    // SAFETY: a message of this kind has this structure in its chain.
    let it = unsafe { &*message.p_next.cast::<vk::DeviceAddressBindingCallbackDataEXT<'_>>() };
    assert!(it.s_type == vk::StructureType::DEVICE_ADDRESS_BINDING_CALLBACK_DATA_EXT);
    assert_eq!(message.object_count, 1);
    // SAFETY: the message has one object.
    let object = unsafe { &*message.p_objects };
    // SAFETY: the pointer is that of the messenger, whose list lives longer than it.
    let seen = unsafe { &*user.cast::<Mutex<Vec<Binding>>>() };
    let is_internal = it.flags.contains(vk::DeviceAddressBindingFlagsEXT::INTERNAL_OBJECT);
    let object = (object.object_type, object.object_handle);
    let is_bound = it.binding_type == vk::DeviceAddressBindingTypeEXT::BIND;
    seen.lock().unwrap().push((is_bound, is_internal, object, it.base_address, it.size));
    vk::FALSE
}

#[test]
fn addresses_are_told_as_objects_are_bound_and_what_is_bound_is_unbound() {
    for chip in CHIPS {
        let seen = Mutex::new(Vec::<Binding>::new());
        let mut feature = vk::PhysicalDeviceAddressBindingReportFeaturesEXT::default().report_address_binding(true);
        let names = [ash::ext::device_address_binding_report::NAME];
        let messenger = Messenger { function: keep_addresses, user: (&raw const seen).cast_mut().cast() };
        let gpu = Gpu::with_messenger(chip, &names, (&raw mut feature).cast(), Some(messenger));
        let device = gpu.device.handle();
        let (buffer, memory) = gpu.buffer(gpu.host_type(), 1 << 16);
        let asked = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        // SAFETY: the buffer is bound.
        let address = unsafe { gpu.device.get_buffer_device_address(&asked) };
        // SAFETY: as above.
        gpu.run(0, |device, commands| unsafe { device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 7) });
        gpu.discard((buffer, memory));
        drop(gpu);
        let seen = seen.into_inner().unwrap();
        let of = |object| seen.iter().copied().filter(|it| it.2 == object).collect::<Vec<_>>();
        for object in [(vk::ObjectType::BUFFER, buffer.as_raw()), (vk::ObjectType::DEVICE_MEMORY, memory.as_raw())] {
            let both = [true, false].map(|is_bound| (is_bound, false, object, address, 1 << 16));
            assert_eq!(of(object), both, "{chip}");
        }
        let internal = of((vk::ObjectType::DEVICE, device.as_raw()));
        assert!(!internal.is_empty() && internal.iter().all(|it| it.1), "{chip}: {internal:?}");
        let mut live = BTreeMap::new();
        for (is_bound, _, _, address, size) in internal {
            if is_bound {
                assert_eq!(live.insert(address, size), None, "{chip}");
            } else {
                assert_eq!(live.remove(&address), Some(size), "{chip}");
            }
        }
        assert!(live.is_empty(), "{chip}: {live:?}");
    }
}

#[test]
fn addresses_are_not_told_to_a_program_that_did_not_enable_the_feature() {
    let seen = Mutex::new(Vec::<Binding>::new());
    let messenger = Messenger { function: keep_addresses, user: (&raw const seen).cast_mut().cast() };
    let gpu = Gpu::with_messenger("navi21", &[], ptr::null_mut(), Some(messenger));
    let both = gpu.buffer(0, 4096);
    gpu.discard(both);
    drop(gpu);
    assert_eq!(seen.into_inner().unwrap(), []);
}

#[test]
fn after_a_device_is_destroyed_its_reports_sum_up_to_nothing() {
    for chip in CHIPS {
        let (gpu, [seen, _]) = reporting(chip);
        let device = gpu.device.handle();
        let (buffer, memory) = gpu.buffer(gpu.host_type(), 1 << 16);
        // SAFETY: the buffer is bound.
        gpu.run(0, |device, commands| unsafe { device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 7) });
        gpu.discard((buffer, memory));
        drop(gpu);
        let (mut live, mut of_library) = (BTreeMap::new(), 0);
        for report in seen.lock().unwrap().iter() {
            match report.kind {
                kind::ALLOCATE => assert_eq!(live.insert(report.id, report.size), None, "{chip}: {report:?}"),
                kind::FREE => assert_eq!(live.remove(&report.id), Some(report.size), "{chip}: {report:?}"),
                _ => panic!("{chip}: {report:?}"),
            }
            of_library += u32::from(report.object == (vk::ObjectType::DEVICE, device.as_raw()));
        }
        assert!(live.is_empty(), "{chip}: {live:?}");
        assert!(of_library > 0, "{chip}: the memory of commands is the device's");
    }
}
