//! Sync objects, signalled from the CPU.

use amdgpu_winsys::winsys::{Capabilities, Deadline, Syncobj};

use crate::{
    checks::check::Check,
    gpu::test_context::TestContext,
    result::outcome::{ErrorContext, Outcome, Stop, ensure, same, skip},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("syncobj.binary", "a sync object is signalled exactly from signal to reset", binary).needing_a_kernel(),
    Check::once("syncobj.timeline", "a timeline reaches its points and no later ones", timeline).needing_a_kernel(),
    Check::once("syncobj.share", "a sync object signalled in one open file is signalled in the other", share)
        .needing_a_kernel(),
];

/// A stand-in kernel answers without writing a handle.
fn real(syncobj: &Syncobj) -> Result<(), Stop> {
    ensure(syncobj.handle() != 0, || "the sync object got handle 0, which names nothing".to_owned())
}

fn is_signalled(syncobj: &Syncobj) -> Result<bool, Stop> {
    syncobj.wait(Deadline::POLL).context("polling")
}

fn binary(test: &TestContext<'_>) -> Outcome {
    let syncobj = Syncobj::new(&test.device, false).context("creating it")?;
    real(&syncobj)?;
    same("signalled when new", is_signalled(&syncobj)?, false)?;
    syncobj.signal().context("signalling")?;
    same("signalled after signal", is_signalled(&syncobj)?, true)?;
    syncobj.reset().context("resetting")?;
    same("signalled after reset", is_signalled(&syncobj)?, false)?;
    let born = Syncobj::new(&test.device, true).context("creating a signalled one")?;
    same("signalled when created so", is_signalled(&born)?, true)?;
    Ok(String::new())
}

fn timeline(test: &TestContext<'_>) -> Outcome {
    if !test.device.info().capabilities.contains(Capabilities::TIMELINE_SYNCOBJ) {
        return skip("the kernel has no timeline sync objects");
    }
    let syncobj = Syncobj::new(&test.device, false).context("creating it")?;
    real(&syncobj)?;
    let reached = |point| syncobj.wait_point(point, Deadline::POLL).context("polling a point");
    same("point 1 reached when new", reached(1)?, false)?;
    for point in [1, 4] {
        syncobj.signal_point(point).context("signalling a point")?;
        same("last point", syncobj.query().context("asking for the last point")?, point)?;
        same("the point reached", reached(point)?, true)?;
        same("the next point reached", reached(point + 1)?, false)?;
    }
    same("point 3 reached, as 4 is", reached(3)?, true)?;
    Ok("points 1 and 4".to_owned())
}

fn share(test: &TestContext<'_>) -> Outcome {
    let ours = Syncobj::new(&test.device, false).context("creating it")?;
    let fd = ours.export().context("exporting")?;
    let other = test.target.open().context("opening the GPU again")?;
    let theirs = Syncobj::import(&other, &fd).context("importing")?;
    same("signalled there before", is_signalled(&theirs)?, false)?;
    ours.signal().context("signalling here")?;
    same("signalled there", is_signalled(&theirs)?, true)?;
    theirs.reset().context("resetting there")?;
    same("signalled here after a reset there", is_signalled(&ours)?, false)?;
    Ok(String::new())
}
