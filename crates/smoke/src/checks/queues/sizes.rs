//! The speed of copies by their size, up and down, the time of the shortest one, and the speed of the CPU through the BAR.

use std::time::{Duration, Instant};

use crate::{
    checks::{check::Check, queues::bandwidth::fastest},
    gpu::{ring::Ring, test_context::TestContext},
    level::Level,
    result::{
        bandwidth::Rate,
        outcome::{Outcome, same_bytes, skip},
    },
};

pub(crate) const CHECKS: &[Check] = &[
    Check::each_ring(
        "bandwidth.sizes",
        "copies of 4 KiB to 1 GiB up and down arrive, and latency and speed of each size are reported",
        sizes,
    )
    .at(Level::Stress)
    .anchor("rocm_bandwidth_test"),
    Check::once(
        "bandwidth.bar",
        "what the CPU stores in the GPU's own memory arrives, and its speed both ways is reported",
        bar,
    )
    .at(Level::Stress)
    .needs("memory of the GPU that the CPU maps")
    .anchor("rocm_bandwidth_test"),
];

/// The smallest copy in bytes, whose time is mostly that of the submission.
const SMALLEST: u64 = 4 << 10;
/// The largest copy in bytes, of a Radeon and of the simulator, whose copies are this machine's.
const LARGEST: u64 = 1 << 30;
const SIMULATED_LARGEST: u64 = 1 << 20;
/// The factor between two sizes.
const FACTOR: u64 = 4;
/// The bytes at both ends of a copy that are compared.
const COMPARED: u64 = SMALLEST;

fn sizes(test: &TestContext<'_>, ring: Ring) -> Outcome {
    let most = if test.target.gpu().simulated { SIMULATED_LARGEST } else { LARGEST };
    // Three buffers, and some room for others.
    let room = test.ceiling() / 4;
    let sizes: Vec<u64> = std::iter::successors(Some(SMALLEST), |size| size.checked_mul(FACTOR))
        .take_while(|&size| size <= most.min(room))
        .collect();
    let Some(&largest) = sizes.last() else {
        return skip(format!("{} bytes may be used, and {} are needed", test.ceiling(), 4 * SMALLEST));
    };
    let (from, to) = (test.host_memory(largest)?, test.host_memory(largest)?);
    let device = test.device_memory(largest)?;
    let memory = [from.memory(), &device, to.memory()];
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for (&size, seed) in sizes.iter().zip(29..) {
        // The ends of each size are different, so that the copy before is not taken for this one.
        let bytes = test.pattern(seed, COMPARED as usize);
        for at in [0, size - COMPARED] {
            from.write(at, &bytes)?;
            to.write(at, &vec![0; bytes.len()])?;
        }
        up.push(fastest(test, ring, &memory, (device.address(), from.at(0)?, size))?);
        down.push(fastest(test, ring, &memory, (to.at(0)?, device.address(), size))?);
        for at in [0, size - COMPARED] {
            same_bytes(&to.read(at, bytes.len())?, &bytes)?;
        }
    }
    let row = |name: &str, times: &[Duration]| {
        let latency = times.first().map_or(0, Duration::as_micros);
        let rates: Vec<_> =
            sizes.iter().zip(times).map(|(&size, time)| format!("{} {}", short(size), rate(size, *time))).collect();
        format!("{name} {latency} us, {}", rates.join(", "))
    };
    Ok(format!("{}; {}", row("up", &up), row("down", &down)))
}

/// The bytes that the CPU stores and loads, of a Radeon and of the simulator.
const BAR_BYTES: u64 = 16 << 20;
const SIMULATED_BAR_BYTES: u64 = 1 << 20;

fn bar(test: &TestContext<'_>) -> Outcome {
    let size = if test.target.gpu().simulated { SIMULATED_BAR_BYTES } else { BAR_BYTES };
    if test.ceiling() < 2 * size {
        return skip(format!("{} bytes may be used, and {} are needed", test.ceiling(), 2 * size));
    }
    let Some(memory) = test.visible_memory(size)? else {
        return skip("no memory type is the GPU's own and mapped");
    };
    let bytes = test.pattern(31, size as usize);
    // The first stores also fault the pages in.
    memory.write(0, &bytes)?;
    let start = Instant::now();
    memory.write(0, &bytes)?;
    let stored = start.elapsed();
    let start = Instant::now();
    let loaded = memory.read(0, bytes.len())?;
    let load = start.elapsed();
    same_bytes(&loaded, &bytes)?;
    Ok(format!("stores {}, loads {}", rate(size, stored), rate(size, load)))
}

fn rate(size: u64, time: Duration) -> Rate {
    Rate(u64::try_from(u128::from(size) * 1_000_000_000 / time.as_nanos().max(1)).unwrap_or(u64::MAX))
}

/// Returns a size of whole KiB, MiB or GiB.
fn short(size: u64) -> String {
    match size {
        size if size >= 1 << 30 => format!("{} GiB", size >> 30),
        size if size >= 1 << 20 => format!("{} MiB", size >> 20),
        size => format!("{} KiB", size >> 10),
    }
}
