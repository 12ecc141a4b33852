//! GPU addresses.

use amdgpu_winsys::{
    heaps::{AllocateInfo, AllocateMemoryError, DeviceMemory, Replay},
    vamgr::{VaError, VaLease, VaManager, VaRequest, VaWindow},
};

use crate::{
    checks::check::Check,
    gpu::test_context::TestContext,
    result::outcome::{ErrorContext, Outcome, Stop, ensure, refused, same},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("va.windows", "each address window leases inside itself and takes everything back", windows),
    Check::once("va.fixed", "an address can be asked for again, and is refused while it is held", fixed),
];

const SIZE: u64 = 64 << 10;

fn windows(test: &TestContext<'_>) -> Outcome {
    let manager = test.device.addresses();
    let mut found = Vec::new();
    for window in VaWindow::ALL {
        let range = manager.windows().range(window);
        // Without a high half its windows are those of the low one.
        if manager.windows().serving(window) == window && !range.is_empty() {
            leases_inside(manager, window)?;
            found.push(format!("{window} {:#x}..{:#x}", range.start(), range.end()));
        }
    }
    ensure(!found.is_empty(), || "there is no window".to_owned())?;
    Ok(found.join(", "))
}

fn leases_inside(manager: &VaManager, window: VaWindow) -> Result<(), Stop> {
    let held = || {
        let stats = manager.stats(window);
        (stats.leases, stats.leased, stats.free)
    };
    let before = held();
    let request = VaRequest::new(SIZE).aligned(SIZE).within(window);
    let leases = [lease(manager, request)?, lease(manager, request)?, lease(manager, request.highest())?];
    for lease in &leases {
        let (range, start) = (manager.windows().range(window), lease.start());
        ensure(range.includes(lease.range()), || format!("{lease:?} is not inside the {window} window {range:?}"))?;
        ensure(start.is_aligned(SIZE), || format!("{start} is not a multiple of {SIZE:#x}"))?;
    }
    let [first, second, last] = leases.each_ref().map(VaLease::start);
    ensure(first < second && second < last, || format!("the leases are at {first}, {second} and {last}"))?;
    let taken = (before.0 + 3, before.1 + 3 * SIZE, before.2 - 3 * SIZE);
    same(&format!("leases, bytes leased and free in the {window} window"), held(), taken)?;
    drop(leases);
    same(&format!("the same after giving them back to the {window} window"), held(), before)
}

fn lease(manager: &VaManager, request: VaRequest) -> Result<VaLease, Stop> {
    manager.allocate(request).context("leasing addresses")
}

fn fixed(test: &TestContext<'_>) -> Outcome {
    let manager = test.device.addresses();
    let start = lease(manager, VaRequest::new(SIZE).highest())?.start();
    let again = VaRequest::new(SIZE).at(start);
    let held = lease(manager, again)?;
    same("address leased again", held.start(), start)?;
    refused("a second lease there", manager.allocate(again), |error| matches!(error, VaError::Taken { .. }))?;
    drop(held);

    let captured = replayed(test, Replay::Capture).context("allocating for capture")?.address();
    let memory = replayed(test, Replay::At(captured)).context("allocating at the captured address")?;
    same("replayed address", memory.address(), captured)?;
    let taken = |error: &AllocateMemoryError| matches!(error, AllocateMemoryError::Address(taken) if taken.is_fixed);
    refused("a second allocation there", replayed(test, Replay::At(captured)), taken)?;
    Ok(format!("a lease at {start}, memory at {captured}"))
}

fn replayed(test: &TestContext<'_>, replay: Replay) -> Result<DeviceMemory, AllocateMemoryError> {
    test.memory.allocate(&AllocateInfo { replay, ..AllocateInfo::new(0, SIZE) })
}
