//! A BO without other handles is unbound by closing it, on a device that allows it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::support::chip;
use amdgpu_layers::{Attempt, FaultInjector};
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    uapi::{Argument as _, GemClose, GemCreateFlags, GemDomain, GemVa, VaFlags, VaOperation},
    vamgr::{GpuVa, VaRequest},
    winsys::{Binding, Bo, BoRequest, BoundRequest, Device, DeviceOptions, Errno, PAGE_SIZE, VaLookup, VaMap},
};
use parking_lot::Mutex;

type Kernel = Arc<FaultInjector<SimKernel>>;

const SIZE: u64 = 1 << 16;

fn rig() -> (Kernel, Device) {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let options = DeviceOptions { unbind_by_closing: true, ..DeviceOptions::default() };
    let device = Device::with_options(Arc::clone(&kernel), options).unwrap();
    (kernel, device)
}

/// Binds a new BO at an address, or anywhere.
fn bound(device: &Device, at: Option<GpuVa>, guard_page: bool) -> Binding {
    let request = VaRequest::new(SIZE + if guard_page { PAGE_SIZE } else { 0 });
    Bo::create_bound(
        device,
        &BoundRequest {
            bo: BoRequest { size: SIZE, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() },
            addresses: at.map_or(request, |at| request.at(at)),
            flags: VaFlags::READABLE | VaFlags::WRITEABLE,
            priority: 0,
            guard_page,
        },
    )
    .unwrap()
}

/// Returns the name of a request that releases something.
fn name(attempt: &Attempt<'_>) -> Option<&'static str> {
    if attempt.is(GemClose::REQUEST) {
        return Some("close");
    }
    let Attempt::Ioctl { argument, .. } = attempt else { return None };
    let operation = u32::from_ne_bytes(*argument.get(8..)?.first_chunk()?);
    (attempt.is(GemVa::REQUEST) && operation == VaOperation::Unmap as u32).then_some("unmap")
}

/// Returns the requests that release something during `work`, of which `refuse` refuses some by their index.
fn releases(
    kernel: &Kernel,
    refuse: impl Fn(&str, u64) -> bool + Send + Sync + 'static,
    work: impl FnOnce(),
) -> Vec<&'static str> {
    let (seen, count) = (Arc::new(Mutex::new(Vec::new())), AtomicU64::new(0));
    let log = Arc::clone(&seen);
    kernel.fail_every_where(Errno::EIO, move |attempt| {
        let Some(name) = name(attempt) else { return false };
        log.lock().push(name);
        refuse(name, count.fetch_add(1, Relaxed))
    });
    work();
    kernel.stop();
    seen.lock().clone()
}

#[test]
fn a_bo_without_other_handles_is_only_closed_and_its_addresses_are_free() {
    for guard_page in [false, true] {
        let (kernel, device) = rig();
        let binding = bound(&device, None, guard_page);
        let at = binding.address();
        assert_eq!(releases(&kernel, |_, _| false, || drop(binding)), ["close"], "guard page: {guard_page}");
        let again = bound(&device, Some(at), guard_page);
        assert_eq!(again.address(), at, "the kernel binds there again");
        drop(again);
        assert_eq!(device.usage_tracker().usage().total(), 0);
    }
}

#[test]
fn a_device_that_was_not_asked_to_unbinds_before_it_closes() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let binding = bound(&device, None, false);
    assert_eq!(releases(&kernel, |_, _| false, || drop(binding)), ["unmap", "close"]);
}

/// Binds the BO of a binding once more, elsewhere.
fn bound_twice(device: &Device, first: &Binding) -> Binding {
    let lease = device.addresses().allocate(VaRequest::new(first.len())).unwrap();
    Binding::new(first.bo(), lease, VaFlags::READABLE).unwrap()
}

#[test]
fn a_bo_that_others_may_use_is_unbound_first() {
    let (kernel, device) = rig();
    let first = bound(&device, None, false);
    let second = bound_twice(&device, &first);
    assert_eq!(releases(&kernel, |_, _| false, || drop(second)), ["unmap"], "the first one has the BO");
    assert_eq!(releases(&kernel, |_, _| false, || drop(first)), ["close"]);
    let first = bound(&device, None, false);
    let second = bound_twice(&device, &first);
    assert!(releases(&kernel, |_, _| false, || drop(first)).is_empty(), "the second one keeps the BO, which is bound");
    assert_eq!(releases(&kernel, |_, _| false, || drop(second)), ["unmap", "close"]);
    let binding = bound(&device, None, false);
    let _file = binding.bo().export().unwrap();
    assert_eq!(releases(&kernel, |_, _| false, || drop(binding)), ["unmap", "close"], "it was exported");
}

#[test]
fn an_observer_is_told_of_both() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let map = VaMap::new(16);
    let options = DeviceOptions { observer: Some(Box::new(map.clone())), unbind_by_closing: true };
    let device = Device::with_options(Arc::clone(&kernel), options).unwrap();
    let binding = bound(&device, None, false);
    let at = binding.address();
    assert_eq!(releases(&kernel, |_, _| false, || drop(binding)), ["unmap", "close"]);
    let found = map.lookup(at.as_u64());
    assert!(matches!(found, VaLookup::Freed { .. }), "{found:?}");
}

#[test]
fn what_the_kernel_does_not_close_is_unbound_and_its_addresses_are_free() {
    let (kernel, device) = rig();
    let binding = bound(&device, None, true);
    let (at, leased) = (binding.address(), device.addresses().leased_bytes());
    let requests = releases(&kernel, |name, _| name == "close", || drop(binding));
    assert_eq!(requests.iter().filter(|name| **name == "unmap").count(), 2, "{requests:?}");
    assert!(requests.iter().take_while(|name| **name == "close").count() > 1, "{requests:?}");
    assert!(device.addresses().leased_bytes() < leased);
    assert_eq!(bound(&device, Some(at), false).address(), at);
}

#[test]
fn what_the_kernel_neither_closes_nor_unbinds_keeps_its_addresses() {
    let (kernel, device) = rig();
    let binding = bound(&device, None, false);
    let leased = device.addresses().leased_bytes();
    releases(&kernel, |_, _| true, || drop(binding));
    assert_eq!(device.addresses().leased_bytes(), leased);
}
