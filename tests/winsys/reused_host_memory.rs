//! Bindings that reuse the host memory of released ones: no property of a released binding shows in the next one.

use std::{sync::Arc, thread};

use crate::support::chip;
use amdgpu_layers::FaultInjector;
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    uapi::{Argument, GemClose, GemCreate, GemCreateFlags, GemDomain, GemVa, VaFlags},
    vamgr::VaRequest,
    winsys::{Binding, Bo, BoRequest, BoundRequest, Device, DeviceRefs, Errno, Error},
};

const PAGE: u64 = 4096;

type Kernel = Arc<FaultInjector<SimKernel>>;

fn rig() -> (Kernel, Device, DeviceRefs) {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let shares = DeviceRefs::new(&device);
    (kernel, device, shares)
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

fn bound(shares: &DeviceRefs) -> Binding {
    shares.create_bound(&request(4)).unwrap()
}

/// The two ways to release a binding: with its references to the device at hand, and without.
const WAYS: [fn(&DeviceRefs, Binding); 2] = [DeviceRefs::release, |_, binding| drop(binding)];

#[test]
fn no_property_of_a_released_binding_shows_in_the_next() {
    for release in WAYS {
        no_property_shows_after(release);
    }
}

fn no_property_shows_after(release: fn(&DeviceRefs, Binding)) {
    let (_, _, shares) = rig();
    let change = [
        |_: &Binding| (),
        |binding: &Binding| binding.bo().set_name("texture"),
        |binding: &Binding| binding.set_priority(27),
        |binding: &Binding| drop(binding.bo().export().unwrap()),
    ];
    for guard_page in [false, true] {
        for change in change {
            let earlier = shares.create_bound(&BoundRequest { guard_page, ..request(4) }).unwrap();
            assert_eq!((earlier.has_guard_page(), earlier.len()), (guard_page, 4 * PAGE));
            change(&earlier);
            release(&shares, earlier);
            let flags = GemCreateFlags::NO_CPU_ACCESS;
            let bo = BoRequest { size: 9 * PAGE, alignment: 0, domains: GemDomain::VRAM, flags };
            let addresses = VaRequest::new(9 * PAGE);
            let wanted = BoundRequest { bo, addresses, flags: VaFlags::READABLE, priority: 20, guard_page: false };
            let next = shares.create_bound(&wanted).unwrap();
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
fn a_bo_that_outlives_its_binding_stays_what_it_is() {
    let (_, device, shares) = rig();
    let first = bound(&shares);
    let (bo, handle) = (first.bo().clone(), first.bo().handle());
    drop(first);
    let next = shares.create_bound(&request(7)).unwrap();
    assert!(next.bo() != &bo && next.bo().handle() != handle);
    assert_eq!((bo.handle(), bo.size(), bo.create_info().unwrap().size), (handle, 4 * PAGE, 4 * PAGE));
    assert_eq!(device.usage_tracker().usage().gtt, 11 * PAGE);
    drop((bo, next));
    assert_eq!(device.usage_tracker().usage().gtt, 0);
}

#[test]
fn a_weak_handle_of_a_released_binding_does_not_find_the_next() {
    let (_, _, shares) = rig();
    for release in WAYS {
        let first = bound(&shares);
        let weak = first.downgrade();
        release(&shares, first);
        let next = bound(&shares);
        assert_eq!((weak.upgrade(), weak.handle_count(), next.handle_count()), (None, 0, 1));
        let of_next = next.downgrade();
        assert_eq!(of_next.upgrade().as_ref(), Some(&next));
    }
}

#[test]
fn a_dma_buf_of_a_released_binding_is_not_of_the_next() {
    let (_, device, shares) = rig();
    let first = bound(&shares);
    let dma_buf = first.bo().export().unwrap();
    drop(first);
    let next = bound(&shares);
    assert_eq!(device.usage_tracker().usage().gtt, 4 * PAGE);
    let (of_next, imported) = (next.bo().export().unwrap(), Bo::import(&device, &dma_buf).unwrap());
    assert!(imported.handle() != next.bo().handle());
    assert_eq!(Bo::import(&device, &of_next).unwrap().handle(), next.bo().handle());
}

#[test]
fn a_refusal_in_reused_host_memory_leaves_nothing_behind() {
    for release in WAYS {
        let (kernel, device, shares) = rig();
        drop([bound(&shares), bound(&shares)]);
        let state = || (kernel.inner().census(), device.addresses().leased_bytes(), device.usage_tracker().usage());
        let before = state();
        for refused in [GemCreate::REQUEST, GemVa::REQUEST] {
            release(&shares, bound(&shares));
            kernel.fail_nth_ioctl(refused, 0, Errno::ENOMEM);
            let error = shares.create_bound(&request(4)).unwrap_err();
            assert!(matches!(error, Error::CreateBo { .. } | Error::Bind { .. }), "{error}");
            assert!(kernel.has_fired());
            assert_eq!(state(), before, "{error}");
            release(&shares, bound(&shares));
            assert_eq!(state(), before);
        }
    }
}

#[test]
fn a_release_that_the_kernel_refuses_once_is_repeated() {
    for release in WAYS {
        let (kernel, device, shares) = rig();
        let before = kernel.inner().census();
        for refused in [GemVa::REQUEST, GemClose::REQUEST] {
            let binding = bound(&shares);
            kernel.fail_nth_ioctl(refused, 0, Errno::EINTR);
            release(&shares, binding);
            assert!(kernel.has_fired());
            assert_eq!((kernel.inner().census(), device.addresses().leased_bytes()), (before, 0));
        }
    }
}

#[test]
fn a_released_handle_that_is_not_the_last_leaves_the_memory_bound() {
    let (_, device, shares) = rig();
    let first = bound(&shares);
    shares.release(first.clone());
    assert_eq!((first.handle_count(), device.usage_tracker().usage().gtt), (1, 4 * PAGE));
    assert_eq!(first.bo().create_info().unwrap().size, 4 * PAGE);
    shares.release(first);
    assert_eq!((device.addresses().leased_bytes(), device.usage_tracker().usage().gtt), (0, 0));
}

#[test]
fn a_binding_of_another_device_is_released_on_its_own() {
    let ((_, device, shares), (kernel, other, others)) = (rig(), rig());
    shares.release(bound(&others));
    assert_eq!((other.addresses().leased_bytes(), other.usage_tracker().usage().gtt), (0, 0));
    drop((other, others));
    assert_eq!(Arc::strong_count(&kernel), 1, "the first device keeps nothing of it");
    let next = bound(&shares);
    assert!(next.device() == &device);
}

/// A device is closed with its last owner, whatever is kept for it.
#[test]
fn what_is_kept_for_reuse_keeps_no_device() {
    let mut ended: Vec<Kernel> = Vec::new();
    for (release, count) in WAYS.into_iter().flat_map(|release| [1, 3, 40].map(|count| (release, count))) {
        let (kernel, device, shares) = rig();
        let more = DeviceRefs::new(&device);
        let bindings: Vec<_> = (0..count).map(|_| bound(&shares)).collect();
        // A third of them is released on another thread, which exits, and others with other references.
        let mut bindings = bindings.into_iter();
        let others = bindings.by_ref().take(count / 3).collect::<Vec<_>>();
        thread::scope(|scope| scope.spawn(|| others.into_iter().for_each(|binding| release(&shares, binding))).join())
            .unwrap();
        bindings.by_ref().take(count / 3).for_each(|binding| release(&more, binding));
        let last = bindings.next_back().unwrap();
        bindings.for_each(|binding| release(&shares, binding));
        drop((device, shares));
        release(&more, last);
        assert!(Arc::strong_count(&kernel) > 1, "the other references keep it");
        drop(more);
        ended.push(kernel);
        assert!(ended.iter().all(|kernel| Arc::strong_count(kernel) == 1), "{count}");
    }
}
