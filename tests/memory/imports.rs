//! Memory that comes from elsewhere: another file, another GPU, the process itself.
#![expect(unsafe_code, reason = "host pointers")]

use std::{fs::File, os::fd::OwnedFd, sync::Arc};

use crate::pages::Pages;
use crate::support::{RadvResults, chip, chips, chips_with_answers, device, number};
use amdgpu_layers::FaultInjector;
use amdgpu_sim::{SimDevice, SimKernel, SimMachine, SimOptions};
use amdgpu_winsys::{
    heaps::{
        Addressing, AllocateFlags, AllocateInfo, ExportMemoryError, ExternalBufferProperties, ExternalFeatures,
        ExternalHandleTypes, ImportFault, ImportFdError, ImportHostPointerError, ImportInfo, MemoryError,
        MemoryManager, MemoryPropertyFlags, Resource, TableOptions, TypeMask, UnsupportedHandleType, VkResult,
    },
    uapi::{Argument, GemDomain, GemOp, GemUserptr, GemVa, PRIME_FD_TO_HANDLE, VaFlags},
    vamgr::VaWindow,
    winsys::{BoMetadata, Device, Errno, Mapping, Origin, Unmappable, UserMemory},
};

const DMA_BUF: ExternalHandleTypes = ExternalHandleTypes::DMA_BUF;
const OPAQUE: ExternalHandleTypes = ExternalHandleTypes::OPAQUE_FD;
const HOST: ExternalHandleTypes = ExternalHandleTypes::HOST_ALLOCATION;
const SIZE: u64 = 64 << 10;
/// Cached system memory, and VRAM that the CPU sees, on the RX 6800.
const CACHED: u32 = 5;
const VISIBLE: u32 = 3;

fn manager(device: &Device) -> MemoryManager {
    MemoryManager::new(device, &TableOptions::default()).unwrap()
}

fn exportable(memory_type: u32) -> AllocateInfo {
    AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(memory_type, SIZE) }
}

/// Two open files of one GPU.
fn two_files(name: &str) -> [MemoryManager; 2] {
    let gpu = SimDevice::new(chip(name), SimOptions::default());
    [(); 2].map(|()| manager(&Device::new(gpu.open()).unwrap()))
}

fn inode(fd: &OwnedFd) -> u64 {
    nix::sys::stat::fstat(fd).unwrap().st_ino
}

#[test]
fn what_one_file_exports_another_imports_as_the_same_bytes() {
    let [ours, theirs] = two_files("navi21");
    for handle_type in [DMA_BUF, OPAQUE] {
        let memory = ours.allocate(&exportable(VISIBLE)).unwrap();
        memory.map().unwrap().write(100, b"shared").unwrap();
        let fd = memory.export(handle_type).unwrap();
        let imported = theirs.import_fd(fd, &ImportInfo::new(VISIBLE, SIZE)).unwrap();
        drop(memory);
        let mut seen = [0; 6];
        imported.map().unwrap().read(100, &mut seen).unwrap();
        assert_eq!((&seen, imported.size(), imported.bo().origin()), (b"shared", SIZE, Origin::SameGpu));
        assert!(imported.address().is_aligned(1 << 20));
        assert_eq!(imported.bo().domains(), GemDomain::VRAM | GemDomain::GTT);
        // An import leaves again, as what it came in.
        assert_eq!(imported.exportable_as(), DMA_BUF | OPAQUE);
        imported.export(handle_type).unwrap();
    }
}

#[test]
fn an_import_has_the_addresses_of_its_type_and_the_priority_it_was_given() {
    let [ours, theirs] = two_files("navi21");
    let memory = ours.allocate(&exportable(CACHED)).unwrap();
    let tables = theirs.properties();
    let types = tables.types_of_memory(memory.bo().domains(), memory.bo().flags());
    let mut narrow = 0;
    for (memory_type, (priority, expected)) in types.iter().zip([(0.0, 0), (1.0, 27), (0.5, 14)]) {
        let info = ImportInfo { priority, ..ImportInfo::new(memory_type, SIZE) };
        let imported = theirs.import_fd(memory.export(DMA_BUF).unwrap(), &info).unwrap();
        assert_eq!(imported.binding().priority(), expected, "type {memory_type}");
        let is_narrow = imported.address().high() == theirs.device().addresses().windows().address32_hi();
        assert_eq!(is_narrow, tables.types()[memory_type as usize].addressing == Addressing::Bits32);
        narrow += u32::from(is_narrow);
    }
    assert!(narrow > 0, "{types:?}");
}

/// W-08, W-09: RADV charges an import to the wrong counter, or to two.
#[test]
fn the_same_memory_imported_twice_is_one_object_and_is_charged_once_in_any_order_of_ends() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let [ours, theirs] = two_files("navi21");
        let memory = ours.allocate(&exportable(VISIBLE)).unwrap();
        let import = |manager: &MemoryManager| {
            manager.import_fd(memory.export(DMA_BUF).unwrap(), &ImportInfo::new(VISIBLE, SIZE)).unwrap()
        };
        let mut there = [(); 3].map(|()| Some(import(&theirs)));
        let handles = there.each_ref().map(|memory| memory.as_ref().unwrap().bo().handle());
        let addresses = there.each_ref().map(|memory| memory.as_ref().unwrap().address());
        assert!(handles[0] == handles[1] && handles[1] == handles[2]);
        assert!(addresses[0] != addresses[1] && addresses[1] != addresses[2]);
        assert_eq!((theirs.usage_tracker().usage().visible_vram, theirs.usage_tracker().usage().gtt), (SIZE, 0));
        for (left, index) in [2, 1, 0].into_iter().zip(order) {
            there[index] = None;
            let expected = if left > 0 { SIZE } else { 0 };
            assert_eq!(theirs.usage_tracker().usage().visible_vram, expected, "{left} left");
        }
        // At home it is charged already.
        let home = import(&ours);
        assert_eq!((home.bo().handle(), ours.usage_tracker().usage().visible_vram), (memory.bo().handle(), SIZE));
        drop(memory);
        assert_eq!(ours.usage_tracker().usage().visible_vram, SIZE);
        drop(home);
        assert_eq!(ours.usage_tracker().usage().visible_vram, 0);
    }
}

#[test]
fn every_exportable_type_of_every_chip_is_among_the_types_of_its_descriptor() {
    for name in chips() {
        let manager = manager(&device(name));
        let tables = manager.properties();
        for (index, ty) in (0..).zip(tables.types()) {
            let memory = manager.allocate(&exportable(index)).unwrap();
            let types = manager.fd_types(DMA_BUF, memory.export(DMA_BUF).unwrap()).unwrap();
            let wide = ty.addressing == Addressing::Bits64;
            assert_eq!(types.contains(index), wide, "{name}: type {index} in {types:?}");
            for other in types.iter() {
                let other = &tables.types()[other as usize];
                assert_eq!(other.domains, ty.domains, "{name}: type {index}");
                assert_eq!(other.is_protected(), ty.is_protected(), "{name}: type {index}");
            }
        }
        let before = manager.device().addresses().leased_bytes();
        assert_eq!(before, 0, "{name}: asking keeps nothing");
    }
}

#[test]
fn handle_types_without_an_answer_are_refused() {
    let manager = manager(&device("navi21"));
    let memory = manager.allocate(&exportable(CACHED)).unwrap();
    let fd = memory.export(OPAQUE).unwrap();
    for error in [
        manager.fd_types(OPAQUE, &fd).unwrap_err().into(),
        manager.fd_types(OPAQUE | DMA_BUF, &fd).unwrap_err().into(),
        manager.host_pointer_types(ExternalHandleTypes::HOST_MAPPED_FOREIGN).unwrap_err().into(),
        MemoryError::from(manager.fd_types(DMA_BUF, File::open("/dev/null").unwrap()).unwrap_err()),
    ] {
        assert_eq!(error.vk_result(), VkResult::InvalidExternalHandle, "{error}");
    }
    assert!(matches!(memory.export(OPAQUE | DMA_BUF), Err(ExportMemoryError::NotExportable { .. })));
    assert!(matches!(memory.export(HOST), Err(ExportMemoryError::NotExportable { .. })));
}

#[test]
fn always_valid_memory_is_never_exported() {
    let manager = manager(&device("navi21"));
    let memory = manager.allocate(&AllocateInfo::new(VISIBLE, SIZE)).unwrap();
    assert!(memory.is_always_valid() && memory.exportable_as().is_empty());
    let error = memory.export(DMA_BUF).unwrap_err();
    assert_eq!(error, ExportMemoryError::NotExportable { memory_type: VISIBLE, handle_type: DMA_BUF });
    assert_eq!(error.vk_result(), VkResult::OutOfDeviceMemory);
    // The kernel says so too.
    assert_eq!(memory.bo().export().unwrap_err().errno(), Some(Errno::EPERM));
}

/// W-18: when a later step of an import failed, RADV had closed the descriptor already and freed the BO twice.
#[test]
fn a_failed_import_leaves_the_descriptor_with_the_caller_and_nothing_else() {
    let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
    let theirs = manager(&Device::new(gpu.open()).unwrap());
    let kernel = Arc::new(FaultInjector::new(gpu.open()));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let ours = manager(&device);
    let memory = theirs.allocate(&exportable(CACHED)).unwrap();
    let mut fd = memory.export(DMA_BUF).unwrap();
    let number = inode(&fd);
    let before = (kernel.inner().census(), device.addresses().leased_bytes(), ours.usage_tracker().usage());
    let disliked = || MemoryError::from(UnsupportedHandleType { handle_type: DMA_BUF });
    let mut try_it = |info: &ImportInfo, accepted: bool| {
        let was = fd.try_clone().unwrap();
        let accept = |_: &_| if accepted { Ok(()) } else { Err(disliked()) };
        let (back, error) = ours.import_fd_if(std::mem::replace(&mut fd, was), info, accept).map(drop).unwrap_err();
        assert_eq!(inode(&back), number, "{error}: the descriptor is open and the same");
        assert_eq!(
            (kernel.inner().census(), device.addresses().leased_bytes(), ours.usage_tracker().usage()),
            before,
            "{error}"
        );
        error
    };
    let good = ImportInfo::new(CACHED, SIZE);
    for (request, result) in [
        (PRIME_FD_TO_HANDLE, VkResult::InvalidExternalHandle),
        (GemOp::REQUEST, VkResult::Unknown),
        (GemVa::REQUEST, VkResult::OutOfDeviceMemory),
    ] {
        kernel.fail_nth_ioctl(request, 0, Errno::ENOMEM);
        assert_eq!(try_it(&good, true).vk_result(), result);
        assert!(kernel.has_fired());
        kernel.stop();
    }
    assert_eq!(try_it(&good, false), disliked(), "the driver does not like it");
    // A descriptor that lies: less than was said, or of another type.
    let small = try_it(&ImportInfo::new(CACHED, SIZE + 1), true);
    assert_eq!(small, ImportFdError::Fault(ImportFault::TooSmall { size: SIZE, wanted: SIZE + 1 }).into());
    let other = try_it(&ImportInfo::new(VISIBLE, SIZE), true);
    assert!(
        matches!(
            other,
            MemoryError::ImportFd(ImportFdError::Fault(ImportFault::WrongType { memory_type: VISIBLE, .. }))
        ),
        "{other}"
    );
    assert_eq!(try_it(&ImportInfo::new(99, SIZE), true).vk_result(), VkResult::Unknown);
    assert_eq!([small, other].map(|error| error.vk_result()), [VkResult::InvalidExternalHandle; 2]);
    ours.import_fd(fd, &good).unwrap();
}

/// W-37: libdrm's import closed a handle that another import had, or locked a lock that it held.
#[test]
fn a_failed_second_import_does_not_close_the_first_ones_handle() {
    let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
    let theirs = manager(&Device::new(gpu.open()).unwrap());
    let kernel = Arc::new(FaultInjector::new(gpu.open()));
    let ours = manager(&Device::new(Arc::clone(&kernel)).unwrap());
    let memory = theirs.allocate(&exportable(CACHED)).unwrap();
    let import = || ours.import_fd(memory.export(DMA_BUF).unwrap(), &ImportInfo::new(CACHED, SIZE));
    let first = import().unwrap();
    for request in [GemOp::REQUEST, GemVa::REQUEST] {
        kernel.fail_nth_ioctl(request, 0, Errno::ENOMEM);
        import().unwrap_err();
        assert!(kernel.has_fired());
    }
    kernel.stop();
    assert_eq!(kernel.inner().census().handles, 1);
    first.map().unwrap().store_u32(0, 1).unwrap();
    assert_eq!(memory.map().unwrap().load_u32(0), Ok(1));
}

#[test]
fn another_gpus_memory_is_recognised_used_and_not_mapped() {
    let machine = SimMachine::new();
    let managers = ["navi21", "renoir"]
        .map(|name| manager(&Device::new(machine.add(chip(name), SimOptions::default()).open()).unwrap()));
    let [card, apu] = &managers;
    let memory = apu.allocate(&exportable(0)).unwrap();
    let fd = memory.export(DMA_BUF).unwrap();
    let types = card.fd_types(DMA_BUF, &fd).unwrap();
    assert!(!types.is_empty());
    for index in types.iter() {
        assert_eq!(card.properties().types()[index as usize].domains, GemDomain::GTT);
    }
    let memory_type = types.iter().next().unwrap();
    let imported = card.import_fd(fd, &ImportInfo::new(memory_type, SIZE)).unwrap();
    assert_eq!((imported.bo().origin(), imported.bo().domains()), (Origin::Elsewhere, GemDomain::GTT));
    assert_eq!(imported.bo().prefer(GemDomain::VRAM).unwrap_err().errno(), Some(Errno::EINVAL));
    let error = imported.map().unwrap_err();
    assert_eq!(error, Unmappable::ForeignMemory { handle: imported.bo().handle() }.into());
    assert_eq!(error.vk_result(), VkResult::MemoryMapFailed);
    assert_eq!(card.usage_tracker().usage().gtt, SIZE);
}

#[test]
fn an_exported_image_takes_its_layout_along_and_the_importer_may_look_first() {
    let [ours, theirs] = two_files("navi21");
    let layout = BoMetadata { tiling: 0x1b, flags: 0, data: vec![1; 40] };
    let memory = ours.allocate(&exportable(VISIBLE)).unwrap();
    let fd = memory.export_image(DMA_BUF, &layout).unwrap();
    let mut seen = None;
    theirs
        .import_fd_if(fd, &ImportInfo::new(VISIBLE, 0), |bo| {
            seen = Some(bo.metadata()?);
            Ok::<_, MemoryError>(())
        })
        .unwrap();
    assert_eq!(seen, Some(layout));
}

fn host_type(manager: &MemoryManager) -> Option<u32> {
    manager.host_pointer_types(HOST).unwrap().iter().next()
}

#[test]
fn host_pointers_have_the_type_and_the_binding_that_radv_gives_them() {
    let mut compared = 0;
    for name in chips_with_answers() {
        let manager = manager(&device(name));
        let recorded = RadvResults::read(name);
        let bits = number(&recorded.default()["hostPointerProperties"]["memoryTypeBits"]) as u32;
        assert_eq!(manager.host_pointer_types(HOST).unwrap(), TypeMask::from_bits(bits), "{name}");
        for probe in recorded.default()["allocationProbes"].as_array().unwrap() {
            if probe["probe"] != "import host pointer" {
                continue;
            }
            let (size, memory_type) = (number(&probe["allocationSize"]), number(&probe["memoryTypeIndex"]) as u32);
            let map = probe["allocate"].as_array().unwrap().iter().find(|call| call["ioctl"] == "GEM_VA").unwrap();
            let pages = Pages::new(size as usize);
            let info = ImportInfo::new(memory_type, size);
            // SAFETY: the pages outlive the memory, and only volatile copies are made of them.
            let memory = unsafe { manager.import_host_pointer(UserMemory::new(pages.base(), size), &info) }.unwrap();
            assert_eq!(u64::from(memory.binding().flags().bits()), number(&map["flags"]), "{name}");
            assert_eq!((memory.size(), memory.binding().has_guard_page()), (number(&map["map_size"]), false), "{name}");
            assert_eq!(manager.usage_tracker().usage().gtt, size, "{name}");
            let windows = manager.device().addresses().windows();
            let found = windows.containing(memory.address());
            assert_eq!(found, Some(windows.serving(VaWindow::High)), "{name}: {}", memory.address());
            // The mapping is the pointer, and stays.
            assert_eq!(memory.map().unwrap().as_ptr(), pages.base());
            memory.unmap();
            memory.unmap_reserving().unwrap();
            memory.map().unwrap().write(8, &[9]).unwrap();
            assert_eq!(pages.load(8), 9);
            compared += 1;
        }
    }
    assert!(compared >= chips_with_answers().len(), "only {compared} probes");
}

#[test]
fn host_memory_that_cannot_be_says_why() {
    let manager = manager(&device("navi21"));
    let ty = host_type(&manager).unwrap();
    let pages = Pages::new(SIZE as usize);
    let import = |memory: UserMemory, info: ImportInfo| {
        // SAFETY: the pages outlive the memory, and only volatile copies are made of them.
        unsafe { manager.import_host_pointer(memory, &info) }.map(drop).unwrap_err()
    };
    let whole = UserMemory::new(pages.base(), SIZE);
    let inside = UserMemory::new(pages.base().map_addr(|at| at.checked_add(8).unwrap()), 4096);
    let info = ImportInfo::new(ty, 0);
    for (memory, info, result) in [
        (inside, info, VkResult::InvalidExternalHandle),
        (UserMemory::new(pages.base(), 100), info, VkResult::InvalidExternalHandle),
        (UserMemory::new(pages.base(), 0), info, VkResult::Unknown),
        (whole, ImportInfo::new(ty, SIZE + 1), VkResult::InvalidExternalHandle),
        (whole, ImportInfo::new(0, SIZE), VkResult::InvalidExternalHandle),
        (whole, ImportInfo::new(99, SIZE), VkResult::Unknown),
        (
            UserMemory::new(std::ptr::NonNull::without_provenance(4096.try_into().unwrap()), 4096),
            info,
            VkResult::Unknown,
        ),
    ] {
        let error = import(memory, info);
        assert_eq!(error.vk_result(), result, "{error}");
    }
    assert_eq!((manager.device().addresses().leased_bytes(), manager.usage_tracker().usage().gtt), (0, 0));
}

#[test]
fn pages_that_are_being_moved_are_asked_for_again() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let manager = manager(&Device::new(Arc::clone(&kernel)).unwrap());
    let pages = Pages::new(4096);
    let info = ImportInfo::new(host_type(&manager).unwrap(), 4096);
    // SAFETY: the pages outlive the memory, and only volatile copies are made of them.
    let import = || unsafe { manager.import_host_pointer(UserMemory::new(pages.base(), 4096), &info) };
    kernel.fail_nth_ioctl(GemUserptr::REQUEST, 0, Errno::EAGAIN);
    import().unwrap();
    assert!(kernel.has_fired());
    kernel.fail_every_ioctl(GemUserptr::REQUEST, Errno::EAGAIN);
    let error = import().unwrap_err();
    assert!(
        matches!(&error, ImportHostPointerError::UserMemory(error) if error.errno() == Some(Errno::EAGAIN)),
        "{error}"
    );
}

/// W-07: RADV binds host pointers readable, writable and executable, whatever was asked.
#[test]
fn host_memory_and_allocations_have_no_more_rights_than_asked_for() {
    let manager = manager(&device("navi21"));
    let pages = Pages::new(4096);
    let memory = UserMemory { is_read_only: true, ..UserMemory::new(pages.base(), 4096) };
    let info = ImportInfo { flags: AllocateFlags::NO_EXECUTE, ..ImportInfo::new(host_type(&manager).unwrap(), 0) };
    // SAFETY: the pages outlive the memory, and only volatile copies are made of them.
    let imported = unsafe { manager.import_host_pointer(memory, &info) }.unwrap();
    assert_eq!(imported.binding().flags(), VaFlags::READABLE);
    let rights = |flags| {
        let info = AllocateInfo { flags, ..AllocateInfo::new(CACHED, 4096) };
        manager.allocate(&info).unwrap().binding().flags()
    };
    let (read, write, run) = (VaFlags::READABLE, VaFlags::WRITEABLE, VaFlags::EXECUTABLE);
    assert_eq!(rights(AllocateFlags::empty()), read | write | run);
    assert_eq!(rights(AllocateFlags::NO_EXECUTE), read | write);
    assert_eq!(rights(AllocateFlags::READ_ONLY), read | run);
    assert_eq!(rights(AllocateFlags::BYPASS_INFINITY_CACHE), read | write | run | VaFlags::NOALLOC);
    assert_eq!(rights(AllocateFlags::BYPASS_L2), read | write | run | VaFlags::MTYPE_UC);
}

#[test]
fn what_buffers_may_be_shared_as_is_what_radv_says() {
    for name in chips_with_answers() {
        let recorded = RadvResults::read(name);
        for usage in ["transfer", "storage", "sparse"] {
            for (_, expected) in recorded.default()["externalBufferProperties"][usage].as_object().unwrap() {
                let word = |key: &str| number(&expected[key]) as u32;
                let of = ExternalBufferProperties::of(ExternalHandleTypes::from_bits_retain(word("handleType")));
                assert_eq!(of.export_from_imported.bits(), word("exportFromImportedHandleTypes"), "{name}: {usage}");
                assert_eq!(of.compatible.bits(), word("compatibleHandleTypes"), "{name}: {usage}");
                let features: Vec<_> = of.features.iter_names().map(|(name, _)| name).collect();
                let recorded = expected["externalMemoryFeatures"].as_array().unwrap();
                assert_eq!(features, recorded.iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>(), "{name}");
            }
        }
    }
    assert!(!ExternalBufferProperties::of(DMA_BUF).features.contains(ExternalFeatures::DEDICATED_ONLY));
}

#[test]
fn only_tiled_images_that_are_shared_need_memory_of_their_own() {
    let none = ExternalHandleTypes::empty();
    assert!(Resource::TiledImage.requires_dedicated(OPAQUE) && !Resource::TiledImage.requires_dedicated(none));
    assert!(!Resource::Buffer.requires_dedicated(DMA_BUF) && !Resource::LinearImage.requires_dedicated(DMA_BUF));
}

#[test]
fn an_import_is_mapped_apart_from_the_exporters_mapping() {
    let [ours, theirs] = two_files("vega10");
    let host = MemoryPropertyFlags::HOST_VISIBLE;
    let usable = ours.properties().buffer_types(Addressing::Bits64, false);
    let ty = ours.properties().find_type(usable, host, MemoryPropertyFlags::HOST_CACHED).unwrap();
    let memory = ours.allocate(&exportable(ty)).unwrap();
    let imported = theirs.import_fd(memory.export(DMA_BUF).unwrap(), &ImportInfo::new(ty, 0)).unwrap();
    assert_ne!(memory.map().unwrap().as_ptr(), imported.map().unwrap().as_ptr());
    assert!(Mapping::new(imported.bo()).is_ok());
}
