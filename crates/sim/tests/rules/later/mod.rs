//! R200 and later: what kernels after Linux 6.12 do otherwise. Each rule is tried with the feature and without.

mod carve_outs;
mod clients;
mod coredumps;
mod dmem;
mod memory;
mod resets;
mod submission;

use amdgpu_sim::{Features, KernelRelease, SimDevice, SimOptions, profile};

use crate::support::{File, open, reference};

/// A card with a kernel of these features, and no others.
fn card_with(features: Features) -> SimDevice {
    let options = SimOptions { strict: false, features, ..reference() };
    SimDevice::new(profile("navi21").unwrap(), options)
}

/// A file of a card whose kernel has these features, and one of Linux 6.12.
fn with_and_without(features: Features) -> [File; 2] {
    [features, Features::of(KernelRelease::V6_12)].map(|features| open(&card_with(features)))
}
