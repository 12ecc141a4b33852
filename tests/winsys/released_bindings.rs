//! The end of a binding: nothing of it shows in the next one, a refusal leaves nothing behind, and no device is kept open.

use std::{sync::Arc, thread};

use crate::support::chip;
use amdgpu_layers::FaultInjector;
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    uapi::{Argument, GemClose, GemCreate, GemCreateFlags, GemDomain, GemVa, VaFlags},
    vamgr::VaRequest,
    winsys::{BindError, Binding, Bo, BoRequest, BoundRequest, CreateBoError, CreateBoundError, Device, Errno},
};

const PAGE: u64 = 4096;

type Kernel = Arc<FaultInjector<SimKernel>>;

fn rig() -> (Kernel, Device) {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    (kernel, device)
}

/// Returns a request for a binding of `pages` pages.
fn request(pages: u64) -> BoundRequest {
    BoundRequest {
        bo: BoRequest {
            size: pages * PAGE,
            alignment: 0,
            domains: GemDomain::GTT,
            flags: GemCreateFlags::CPU_ACCESS_REQUIRED,
        },
        addresses: VaRequest::new((pages + 1) * PAGE),
        flags: VaFlags::READABLE | VaFlags::WRITEABLE,
        priority: 3,
        guard_page: false,
    }
}

fn bound(device: &Device) -> Binding {
    Bo::create_bound(device, &request(4)).unwrap()
}

#[test]
fn no_property_of_a_released_binding_shows_in_the_next() {
    let (_, device) = rig();
    let change = [
        |_: &Binding| (),
        |binding: &Binding| binding.bo().set_name("texture"),
        |binding: &Binding| binding.set_priority(27),
        |binding: &Binding| drop(binding.bo().export().unwrap()),
    ];
    for guard_page in [false, true] {
        for change in change {
            let earlier = Bo::create_bound(&device, &BoundRequest { guard_page, ..request(4) }).unwrap();
            assert_eq!((earlier.has_guard_page(), earlier.len()), (guard_page, 4 * PAGE));
            change(&earlier);
            drop(earlier);
            let flags = GemCreateFlags::NO_CPU_ACCESS;
            let bo = BoRequest { size: 9 * PAGE, alignment: 0, domains: GemDomain::VRAM, flags };
            let addresses = VaRequest::new(9 * PAGE);
            let wanted = BoundRequest { bo, addresses, flags: VaFlags::READABLE, priority: 20, guard_page: false };
            let next = Bo::create_bound(&device, &wanted).unwrap();
            let of_bo = |bo: &Bo| (bo.size(), bo.domains(), bo.flags(), bo.name());
            assert_eq!(of_bo(next.bo()), (9 * PAGE, GemDomain::VRAM, flags, None));
            assert_eq!((next.offset(), next.len(), next.has_guard_page()), (0, 9 * PAGE, false));
            assert_eq!((next.flags(), next.priority(), next.handle_count()), (VaFlags::READABLE, 20, 1));
            assert_eq!(next.bo().create_info().unwrap().size, 9 * PAGE);
            assert!(next.bo().charge().is_some_and(|entry| entry.bytes() == 9 * PAGE));
        }
    }
}

#[test]
fn a_bo_that_was_created_bound_stays_bound_as_long_as_it_has_a_handle() {
    let (_, device) = rig();
    let first = bound(&device);
    let (bo, handle, address) = (first.bo().clone(), first.bo().handle(), first.address());
    assert_eq!(first.handle_count(), 2);
    drop(first);
    let next = Bo::create_bound(&device, &request(7)).unwrap();
    assert!(next.bo() != &bo && next.bo().handle() != handle && next.address() != address);
    assert_eq!((bo.handle(), bo.size(), bo.create_info().unwrap().size), (handle, 4 * PAGE, 4 * PAGE));
    assert_eq!((device.usage_tracker().usage().gtt, device.addresses().leased_bytes()), (11 * PAGE, 13 * PAGE));
    drop((bo, next));
    assert_eq!((device.usage_tracker().usage().gtt, device.addresses().leased_bytes()), (0, 0));
}

#[test]
fn a_bo_that_was_bound_later_outlives_its_binding() {
    let (_, device) = rig();
    let bo = Bo::create(&device, request(4).bo).unwrap();
    let lease = device.addresses().allocate(VaRequest::new(bo.size())).unwrap();
    let binding = Binding::new(&bo, lease, VaFlags::READABLE).unwrap();
    assert_eq!((binding.bo(), binding.handle_count()), (&bo, 1));
    drop(binding);
    assert_eq!((device.usage_tracker().usage().gtt, device.addresses().leased_bytes()), (4 * PAGE, 0));
    assert_eq!(bo.create_info().unwrap().size, 4 * PAGE);
}

#[test]
fn a_dma_buf_of_a_released_binding_is_not_of_the_next() {
    let (_, device) = rig();
    let first = bound(&device);
    let dma_buf = first.bo().export().unwrap();
    drop(first);
    let next = bound(&device);
    assert_eq!(device.usage_tracker().usage().gtt, 4 * PAGE);
    let (of_next, imported) = (next.bo().export().unwrap(), Bo::import(&device, &dma_buf).unwrap());
    assert!(imported.handle() != next.bo().handle());
    assert_eq!(Bo::import(&device, &of_next).unwrap().handle(), next.bo().handle());
}

#[test]
fn a_refused_binding_leaves_nothing_behind() {
    let (kernel, device) = rig();
    drop([bound(&device), bound(&device)]);
    let state = || (kernel.inner().census(), device.addresses().leased_bytes(), device.usage_tracker().usage());
    let before = state();
    for (refused, name) in [(GemCreate::REQUEST, GemCreate::NAME), (GemVa::REQUEST, GemVa::NAME)] {
        kernel.fail_nth_ioctl(refused, 0, Errno::ENOMEM);
        let error = Bo::create_bound(&device, &request(4)).unwrap_err();
        let (CreateBoundError::Bo(CreateBoError::Kernel(cause)) | CreateBoundError::Bind(BindError::Kernel(cause))) =
            error
        else {
            panic!("{error}")
        };
        assert_eq!((cause.request, cause.errno), (name, Errno::ENOMEM));
        assert!(kernel.has_fired());
        assert_eq!(state(), before, "{error}");
        drop(bound(&device));
        assert_eq!(state(), before);
    }
}

#[test]
fn a_release_that_the_kernel_refuses_once_is_repeated() {
    let (kernel, device) = rig();
    let before = kernel.inner().census();
    for refused in [GemVa::REQUEST, GemClose::REQUEST] {
        let binding = bound(&device);
        kernel.fail_nth_ioctl(refused, 0, Errno::EINTR);
        drop(binding);
        assert!(kernel.has_fired());
        assert_eq!((kernel.inner().census(), device.addresses().leased_bytes()), (before, 0));
    }
}

#[test]
fn a_handle_that_is_not_the_last_leaves_the_memory_bound() {
    let (_, device) = rig();
    let first = bound(&device);
    drop(first.clone());
    assert_eq!((first.handle_count(), device.usage_tracker().usage().gtt), (1, 4 * PAGE));
    assert_eq!(first.bo().create_info().unwrap().size, 4 * PAGE);
    drop(first);
    assert_eq!((device.addresses().leased_bytes(), device.usage_tracker().usage().gtt), (0, 0));
}

/// A device is closed with its last owner, whichever handle and thread that is.
#[test]
fn nothing_that_was_released_keeps_a_device_open() {
    for count in [1, 3, 40] {
        let (kernel, device) = rig();
        let more = device.separate_handle().unwrap();
        let bindings: Vec<_> = (0..count).map(|at| bound(if at % 2 == 0 { &device } else { &more })).collect();
        let mut bindings = bindings.into_iter();
        let others = bindings.by_ref().take(count / 3).collect::<Vec<_>>();
        thread::scope(|scope| scope.spawn(|| drop(others)).join()).unwrap();
        let last = bindings.next_back().unwrap();
        drop((device, more));
        bindings.for_each(drop);
        assert!(Arc::strong_count(&kernel) > 1, "the last binding keeps it");
        drop(last);
        assert_eq!(Arc::strong_count(&kernel), 1, "{count}");
    }
}
