//! Checks that the kernel's answers are plausible. They change nothing.

use std::time::Duration;

use amdgpu_winsys::{
    heaps::{Addressing, HeapFlags, MemoryPropertyFlags},
    uapi::HeapInfo,
    winsys::Ip,
};

use crate::{
    checks::{check::Check, engines},
    gpu::test_context::TestContext,
    result::{
        outcome::{ErrorContext, Outcome, ensure, fail, same, skip},
        report,
    },
};

/// The check that is the opening itself.
pub(crate) const OPEN: &str = "inventory.open";

/// The check of heaps and memory types.
pub(crate) const HEAPS: &str = "inventory.heaps";

pub(crate) const CHECKS: &[Check] = &[
    Check::inventory(OPEN, "the node opens and the library knows the GPU behind it", open),
    Check::inventory("inventory.rings", "there are rings, and the kernel says how to submit to them", rings),
    Check::inventory("inventory.firmware", "the command processors run firmware", firmware),
    Check::inventory("inventory.pools", "no memory pool is fuller than it is large", pools),
    Check::inventory(HEAPS, "heaps and memory types are what Vulkan demands of them", heaps),
    Check::inventory(
        "inventory.video",
        "video engines have rings that take IBs, and codecs with limits; no frame is decoded",
        engines::video,
    )
    .needs("a video engine (UVD, VCE, VCN, JPEG, VPE)"),
    Check::inventory("inventory.clock", "the GPU's clock counter advances", clock),
];

fn open(test: &TestContext<'_>) -> Outcome {
    test.device.ping().context("asking the driver again who it is")?;
    let info = test.device.info();
    let (engines, units) = (info.shader.engines, info.shader.compute_units);
    Ok(format!("{}, {engines} shader engines, {units} compute units", info.chip_name()))
}

fn rings(test: &TestContext<'_>) -> Outcome {
    let info = test.device.info();
    ensure(!test.rings.is_empty(), || "no ring takes packets".to_owned())?;
    let mut found = Vec::new();
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        let Some(block) = info.ip_block(ip) else { continue };
        let most = info.max_ibs.get(ip.index()).copied().unwrap_or(0);
        ensure(most > 0, || format!("{ip} has {} rings and takes no IB", block.rings))?;
        found.push(format!("{} {ip} {}.{}", block.rings, block.version.major, block.version.minor));
    }
    Ok(found.join(", "))
}

fn firmware(test: &TestContext<'_>) -> Outcome {
    let running = report::firmware(test.device.info());
    for (name, version) in &running {
        ensure(*version != 0, || {
            format!("{name} has no firmware: the kernel, or fw_version of a capture, says version 0")
        })?;
    }
    Ok(running.iter().map(|(name, version)| format!("{name} {version}")).collect::<Vec<_>>().join(", "))
}

fn pools(test: &TestContext<'_>) -> Outcome {
    let memory = test.device.memory_info().context("asking for the memory pools")?;
    let pools = [("VRAM", memory.vram), ("visible VRAM", memory.cpu_accessible_vram), ("GTT", memory.gtt)];
    for (name, pool) in pools {
        let HeapInfo { total_heap_size: total, heap_usage: used, .. } = pool;
        ensure(used <= total, || format!("{used} of {total} bytes of {name} are in use"))?;
    }
    let (all, visible) = (memory.vram.total_heap_size, memory.cpu_accessible_vram.total_heap_size);
    ensure(visible <= all, || format!("{visible} bytes of VRAM are visible, and there are only {all}"))?;
    let in_use = |(name, pool): (&str, HeapInfo)| {
        format!("{name} {} of {} MiB", pool.heap_usage >> 20, pool.total_heap_size >> 20)
    };
    Ok(pools.map(in_use).join(", "))
}

/// The rules of `VkPhysicalDeviceMemoryProperties`.
fn heaps(test: &TestContext<'_>) -> Outcome {
    let memory = test.memory.properties();
    let (heaps, types) = (memory.heaps(), memory.types());
    for (index, row) in types.iter().enumerate() {
        let Some(heap) = heaps.get(row.heap as usize) else {
            return fail(format!("type {index} takes from heap {}, there are only {}", row.heap, heaps.len()));
        };
        let local = row.properties.contains(MemoryPropertyFlags::DEVICE_LOCAL);
        same(&format!("type {index} is device-local"), local, heap.flags.contains(HeapFlags::DEVICE_LOCAL))?;
    }
    let host = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_COHERENT;
    for needed in [host, MemoryPropertyFlags::DEVICE_LOCAL] {
        ensure(types.iter().any(|row| row.properties.contains(needed)), || format!("no type has {needed:?}"))?;
    }
    let wide = types.iter().filter(|row| row.addressing == Addressing::Bits64).count();
    Ok(format!("{} heaps, {} types, {} of them in the 32-bit window", heaps.len(), types.len(), types.len() - wide))
}

fn clock(test: &TestContext<'_>) -> Outcome {
    /// Enough for many ticks of the slowest counter (25 MHz).
    const PAUSE: Duration = Duration::from_millis(1);
    let before = match test.device.timestamp() {
        Ok(0) => return skip("the counter is at zero"),
        Ok(before) => before,
        Err(error) => return skip(error.to_string()),
    };
    std::thread::sleep(PAUSE);
    let after = test.device.timestamp().context("reading the clock again")?;
    ensure(after > before, || format!("the counter went from {before} to {after}"))?;
    let (ticks, khz) = (after - before, test.device.info().clock_counter_khz);
    // The counter's own time, which a replay tells as well.
    let time = ticks.saturating_mul(1_000_000).checked_div(khz.into()).map(Duration::from_nanos);
    let time = time.map(|time| format!("{:.1} ms at ", time.as_secs_f64() * 1e3)).unwrap_or_default();
    Ok(format!("{ticks} ticks, {time}{khz} kHz"))
}
