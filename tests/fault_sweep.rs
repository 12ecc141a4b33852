//! Every call of a whole scenario fails once, for every n: nothing is leaked, nothing panics, every error is typed.

#[path = "support/scenario.rs"]
mod scenario;
mod support;

use std::sync::Arc;

use amdgpu_layers::FaultInjector;
use amdgpu_sim::SimKernel;
use amdgpu_winsys::winsys::{Deadline, Device, Errno, Syncobj};
use scenario::scenario;
use support::{Trouble, chip};

type Kernel = Arc<FaultInjector<SimKernel>>;

/// Runs the scenario with the n-th call failing; whether there was an n-th call.
fn fails_cleanly(name: &str, n: u64, errno: Errno) -> bool {
    let kernel: Kernel = Arc::new(FaultInjector::new(SimKernel::open(chip(name))));
    let closed = kernel.inner().census();
    kernel.fail_nth(n, errno);
    let outcome = match Device::new(Arc::clone(&kernel)) {
        Ok(device) => {
            let bytes = |device: &Device| device.addresses().leased_bytes();
            let before = (kernel.inner().census(), bytes(&device));
            let outcome = scenario(&device);
            let after = (kernel.inner().census(), bytes(&device));
            assert_eq!(after, before, "{name}: call {n} failed with {errno}: {outcome:?}");
            outcome
        }
        Err(error) => Err(Trouble::Winsys(error)),
    };
    assert_eq!(kernel.inner().census(), closed, "{name}: call {n} failed with {errno}, and the device was dropped");
    let reached = kernel.has_fired();
    if !reached {
        outcome.unwrap_or_else(|error| panic!("{name}: no call failed, and yet: {error}"));
    }
    reached
}

/// More than the scenario makes.
const MOST_CALLS: u64 = 100_000;

fn sweep(name: &str, errno: Errno) -> u64 {
    let calls = (0..MOST_CALLS).find(|&n| !fails_cleanly(name, n, errno)).expect("the scenario ends");
    assert!(calls > 100, "{name}: the scenario makes only {calls} calls");
    calls
}

#[test]
fn no_single_failure_leaks_anything_on_a_card() {
    sweep("navi21", Errno::ENOMEM);
}

#[test]
fn no_single_failure_leaks_anything_on_an_apu() {
    sweep("renoir", Errno::EIO);
}

#[test]
fn no_single_failure_leaks_guard_pages_on_the_oldest_chip() {
    sweep("pitcairn", Errno::ENOMEM);
}

/// A wait that times out is not an error, whatever failed before.
#[test]
fn a_poll_after_a_failure_still_answers() {
    let kernel: Kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let syncobj = Syncobj::new(&device, false).unwrap();
    kernel.fail_nth(0, Errno::ENOMEM);
    assert!(syncobj.wait(Deadline::POLL).is_err());
    assert!(!syncobj.wait(Deadline::POLL).unwrap());
}
