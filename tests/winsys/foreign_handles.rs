//! Handles that the caller made itself, on the same open file.

use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    VkResult,
    uapi::{self, Answered, GemClose, GemCreate, GemDomain, SyncobjCreate, SyncobjDestroy, VaFlags},
    vamgr::VaRequest,
    winsys::{
        BindError, Bo, BoRequest, BoundRequest, CreateBoError, CreateBoundError, Device, Errno, Error, HandleOwnership,
        ImportError, KernelError, Syncobj,
    },
};

use crate::support::chip;

fn device() -> Device {
    Device::new(SimKernel::open(chip("navi21"))).unwrap()
}

/// Sends a request for an object of the test's own.
fn send(device: &Device, argument: &mut impl uapi::Plain) -> Result<(), Errno> {
    // SAFETY: the tests create objects, and destroy only those. The library closes a handle that it owns itself, so the number is
    // then unused: no test creates another object in between.
    #[expect(unsafe_code, reason = "requests beside the library's")]
    unsafe {
        uapi::send_plain(device.kernel(), argument)
    }
}

fn made(device: &Device, bo_size: u64) -> u32 {
    let mut made = GemCreate { bo_size, alignment: 0, domains: GemDomain::GTT.bits(), domain_flags: 0 };
    send(device, &mut made).unwrap();
    made.answer().handle
}

fn adopt(device: &Device, handle: u32, ownership: HandleOwnership) -> Result<Bo, ImportError> {
    // SAFETY: each test made the handle, closes it only after the BO, and maps nothing of it.
    #[expect(unsafe_code, reason = "the promise of a foreign handle")]
    unsafe {
        Bo::from_handle(device, handle, ownership)
    }
}

fn close(device: &Device, handle: u32) -> Result<(), Errno> {
    send(device, &mut GemClose { handle, pad: 0 })
}

#[test]
fn an_owned_handle_is_closed_with_the_last_clone_and_a_borrowed_one_is_not() {
    let device = device();
    for (ownership, closed_by_us) in [(HandleOwnership::Owned, true), (HandleOwnership::Borrowed, false)] {
        let handle = made(&device, 5000);
        let bo = adopt(&device, handle, ownership).unwrap();
        assert_eq!((bo.handle(), bo.size(), bo.domains()), (handle, 8192, GemDomain::GTT), "as the kernel says");
        assert_eq!(device.usage_tracker().usage().gtt, 8192, "{ownership:?}");
        let clone = bo.clone();
        drop(bo);
        assert!(clone.create_info().is_ok());
        drop(clone);
        assert_eq!(device.usage_tracker().usage().gtt, 0);
        assert_eq!(close(&device, handle).is_err(), closed_by_us, "{ownership:?}");
    }
}

#[test]
fn a_handle_that_is_borrowed_and_imported_is_never_closed_by_the_library() {
    let device = device();
    let handle = made(&device, 4096);
    let borrowed = adopt(&device, handle, HandleOwnership::Borrowed).unwrap();
    let again = Bo::import(&device, borrowed.export().unwrap()).unwrap();
    assert_eq!((again.handle(), device.usage_tracker().usage().gtt), (handle, 4096), "one handle, charged once");
    drop((borrowed, again));
    close(&device, handle).unwrap();
}

#[test]
fn an_unknown_number_is_refused_and_stays_the_callers() {
    let device = device();
    let error = adopt(&device, 77, HandleOwnership::Owned).unwrap_err();
    assert_eq!(error, ImportError::Kernel(KernelError::of_bo("AMDGPU_GEM_OP", 77, Errno::ENOENT)));
    // Made afterwards with the same number or another: nothing of the failure is left.
    let handle = made(&device, 4096);
    drop(adopt(&device, handle, HandleOwnership::Borrowed).unwrap());
    close(&device, handle).unwrap();
}

#[test]
fn a_foreign_sync_object_is_destroyed_only_if_it_is_owned() {
    let device = device();
    for (ownership, destroyed_by_us) in [(HandleOwnership::Owned, true), (HandleOwnership::Borrowed, false)] {
        let mut made = SyncobjCreate { handle: 0, flags: 0 };
        send(&device, &mut made).unwrap();
        let syncobj = Syncobj::from_handle(&device, made.handle, ownership);
        syncobj.clone().signal().unwrap();
        drop(syncobj);
        let destroyed = send(&device, &mut SyncobjDestroy { handle: made.handle, pad: 0 });
        assert_eq!(destroyed.is_err(), destroyed_by_us, "{ownership:?}");
    }
}

#[test]
fn objects_of_two_devices_do_not_change_places() {
    let (mut one, mut other) = (Syncobj::new(&device(), true).unwrap(), Syncobj::new(&device(), false).unwrap());
    assert_eq!(one.swap(&mut other), Err(Error::ForeignDevice { what: "sync object" }));
    let clone = one.clone();
    let mut mate = Syncobj::new(one.device(), false).unwrap();
    one.swap(&mut mate).unwrap();
    assert_eq!((clone == mate, clone == one), (true, false), "a clone stays with its object");
}

#[test]
fn a_point_without_a_fence_is_no_sync_file() {
    let device = device();
    let timeline = Syncobj::new(&device, false).unwrap();
    timeline.signal_point(3).unwrap();
    assert!(timeline.export_sync_file_at(2).is_ok(), "reached with the third");
    assert_eq!(timeline.export_sync_file_at(4).unwrap_err().errno(), Some(Errno::EINVAL));
}

#[test]
fn registers_are_read_in_parts_and_unknown_ones_are_refused() {
    let device = device();
    let mut one = [0];
    device.read_registers(0x263e, &mut one, Device::ALL_INSTANCES).unwrap();
    assert_eq!(one[0], device.info().tiling.gb_addr_config);
    device.read_registers(0x263e, &mut [], Device::ALL_INSTANCES).unwrap();
    let error = device.read_registers(0x263e, &mut [0; 300], Device::ALL_INSTANCES).unwrap_err();
    assert!(matches!(error, Error::Kernel(KernelError { request: "READ_MMR_REG", .. })), "{error}");
}

#[test]
fn a_bound_bo_that_fails_leaves_nothing() {
    let device = device();
    let flags = VaFlags::READABLE;
    let request = |size, addresses| BoundRequest {
        bo: BoRequest { size, alignment: 0, domains: GemDomain::GTT, flags: uapi::GemCreateFlags::empty() },
        addresses,
        flags,
        priority: 3,
        guard_page: false,
    };
    let leased = || device.addresses().leased_bytes();
    let before = leased();
    let binding = Bo::create_bound(&device, &request(8192, VaRequest::new(8192))).unwrap();
    let taken = VaRequest::new(8192).at(binding.address());
    let error = Bo::create_bound(&device, &request(8192, taken)).unwrap_err();
    assert_eq!(error.vk_result(), VkResult::InvalidOpaqueCaptureAddress, "{error}");
    let too_short = Bo::create_bound(&device, &request(8192, VaRequest::new(4096))).unwrap_err();
    assert!(matches!(too_short, CreateBoundError::Bind(BindError::OutOfRange(_))), "{too_short}");
    let empty = Bo::create_bound(&device, &request(0, VaRequest::new(4096))).unwrap_err();
    assert!(matches!(empty, CreateBoundError::Bo(CreateBoError::Rule(_))), "{empty}");
    assert_eq!(device.usage_tracker().usage().gtt, 8192, "the one that succeeded");
    drop(binding);
    assert_eq!(leased(), before);
}
