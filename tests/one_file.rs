//! A device has its open file for itself: handles and addresses of one file under two managers would corrupt both.
#![expect(unsafe_code, reason = "a kernel behind a descriptor")]

mod support;

use std::{
    fs::File,
    os::fd::{AsRawFd, OwnedFd},
    sync::Arc,
};

use amdgpu_layers::{FaultInjector, Layer};
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain},
    winsys::{Bo, BoRequest, Device, Errno, Error, OpenError, RenderNode},
};
use support::chip;

fn node() -> OwnedFd {
    File::open("/dev/null").unwrap().into()
}

/// A device on a simulated file that has a descriptor, as a render node does.
fn on(fd: OwnedFd) -> Result<Device, Error> {
    let kernel = ().over(SimKernel::open(chip("navi21")));
    // SAFETY: nothing else reaches this simulated file.
    Device::new(unsafe { kernel.known_by(fd) })
}

const PAGE_OF_GTT: BoRequest =
    BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };

#[test]
fn a_kernel_that_is_shared_has_one_device_at_a_time() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    assert_eq!(Device::new(Arc::clone(&kernel)).unwrap_err(), Error::Open(OpenError::FileInUse));
    let wrapped = FaultInjector::new(Arc::clone(&kernel));
    assert_eq!(Device::new(wrapped).unwrap_err(), Error::Open(OpenError::FileInUse), "a wrapper is the kernel inside");
    // What a device made keeps the file, too.
    let bo = Bo::create(&device, PAGE_OF_GTT).unwrap();
    drop(device);
    assert_eq!(Device::new(Arc::clone(&kernel)).unwrap_err(), Error::Open(OpenError::FileInUse));
    drop(bo);
    Device::new(kernel).unwrap();
}

#[test]
fn copies_of_a_descriptor_are_one_file_and_two_openings_are_not() {
    let (one, other) = (node(), node());
    let copy = one.try_clone().unwrap();
    let copy_of_copy = copy.try_clone().unwrap();
    let number = one.as_raw_fd();
    let device = on(one).unwrap();
    assert_eq!(device.as_fd().map(|fd| fd.as_raw_fd()), Some(number), "lent, not copied");
    assert_eq!(on(copy).unwrap_err(), Error::Open(OpenError::FileInUse));
    let second = on(other).unwrap();
    drop(device);
    on(copy_of_copy).unwrap();
    drop(second);
}

#[test]
fn a_bring_up_that_failed_claims_nothing() {
    let (one, copy) = (node(), node());
    for fd in [one.try_clone().unwrap(), one, copy] {
        let error = Device::new(RenderNode::from_fd(fd)).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::ENOTTY));
    }
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    kernel.fail_nth(0, Errno::ENODEV);
    assert!(Device::new(Arc::clone(&kernel)).is_err());
    kernel.stop();
    Device::new(kernel).unwrap();
}
