//! Writes the reports of a simulated fleet, to measure `amdgpu-smoke collect`: every fourth chip of the simulator, most checks of the
//! level quick, and faults that go with one kernel, one firmware and one slot.
//!
//! ```sh
//! cargo run --release -p amdgpu-smoke --example simulated-fleet -- DIRECTORY MACHINES
//! ```

#[path = "../tests/support/fleet.rs"]
mod fleet;

use std::{error::Error, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let usage = "usage: simulated-fleet DIRECTORY MACHINES";
    let directory = PathBuf::from(arguments.next().ok_or(usage)?);
    let machines = arguments.next().and_then(|text| text.to_str()?.parse().ok()).ok_or(usage)?;
    let chips: Vec<String> = amdgpu_sim::profiles().iter().step_by(4).map(|profile| profile.name.clone()).collect();
    let chips: Vec<&str> = chips.iter().map(String::as_str).collect();
    // Checks of shaders run long on a simulated GPU, and their results look like all others.
    let filter = "^(inventory|va|bo|memory|prime|syncobj|exec|order|userptr|leak)";
    let plan = fleet::Plan { chips: &chips, filter, machines, junk: machines / 200, seed: 7 };
    fleet::write(&directory, &plan)
}
