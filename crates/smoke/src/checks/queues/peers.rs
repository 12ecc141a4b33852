//! Copies of each GPU's copy engine to and from the memory of each other GPU, through dma-bufs.

use std::time::{Duration, Instant};

use amdgpu_winsys::{
    cs::Submission,
    heaps::{Addressing, AllocateFlags, AllocateInfo, DeviceMemory, MemoryPropertyFlags},
    uapi::VaFlags,
    vamgr::{GpuVa, VaRequest},
    winsys::{Binding, Bo, Device, Ip},
};

use crate::{
    checks::check::Check,
    gpu::{
        target::{Peer, Target},
        test_context::TestContext,
    },
    level::Level,
    result::{
        outcome::{ErrorContext, Outcome, Stop, fail, same_bytes, skip},
        peers::PeerCopy,
    },
};

pub(crate) const CHECKS: &[Check] = &[Check::once(
    "bandwidth.peers",
    "the copy engine of each GPU reaches the memory of each other one, or the kernel refuses in words",
    peers,
)
.at(Level::Core)
.needs("a second GPU")
.anchor("rvs pbqt")
.needing_a_kernel()];

/// Bytes of a copy.
const BYTES: u64 = 64 << 20;
const SIMULATED_BYTES: u64 = 1 << 20;

/// Copies each way, of which the fastest counts.
const ROUNDS: usize = 3;

fn peers(test: &TestContext<'_>) -> Outcome {
    if let Some(other) = test.target.peers_measured_by() {
        return skip(format!("the run of {other} measures all pairs of GPUs"));
    }
    let peers = test.target.peers();
    if peers.is_empty() {
        return skip("there is no second GPU");
    }
    let size = if test.target.gpu().simulated { SIMULATED_BYTES } else { BYTES };
    let mut targets = Vec::new();
    for Peer { name, open } in peers {
        let device = open().context(&format!("opening {name}"))?;
        targets.push(Target::new(name, move || Ok(device.clone())));
    }
    let others =
        targets.iter().map(|target| TestContext::open(target, test.settings)).collect::<Result<Vec<_>, _>>()?;
    let gpus: Vec<&TestContext<'_>> = std::iter::once(test).chain(&others).collect();
    let mut copies = Vec::new();
    for (at, engine) in gpus.iter().enumerate() {
        for memory in gpus.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, memory)| memory) {
            copies.push(pair(engine, memory, size)?);
        }
    }
    let refused = copies.iter().filter(|copy| copy.refused.is_some()).count();
    let (count, all) = (gpus.len(), copies.len());
    let first = copies.iter().find_map(|copy| copy.refused.clone()).unwrap_or_default();
    test.copied_between(copies);
    match refused {
        0 => Ok(format!("{count} GPUs, {all} pairs, {} KiB each way", size >> 10)),
        _ if refused == all => skip(format!("the kernel lets no GPU reach another: {first}")),
        _ => Ok(format!("{count} GPUs, {refused} of {all} pairs refused: {first}")),
    }
}

/// The name of a GPU in the table.
fn name(test: &TestContext<'_>) -> String {
    test.target.place()
}

/// Copies from `engine`'s own memory to that of `memory`'s GPU and back, and compares.
fn pair(engine: &TestContext<'_>, memory: &TestContext<'_>, size: u64) -> Result<PeerCopy, Stop> {
    let mut copy =
        PeerCopy { engine: name(engine), memory: name(memory), bytes: size, write: None, read: None, refused: None };
    let there = exportable(memory, size)?;
    let dma_buf = there.bo().export().context(&format!("exporting on {}", copy.memory))?;
    let imported = match imported(&engine.device, &dma_buf, size) {
        Ok(imported) => imported,
        Err(error) => {
            copy.refused = Some(error.to_string());
            return Ok(copy);
        }
    };
    let (from, to) = (engine.host_memory(size)?, engine.host_memory(size)?);
    let (here, back) = (engine.device_memory(size)?, engine.device_memory(size)?);
    let bytes = engine.pattern(51, size as usize);
    from.write(0, &bytes)?;
    let memory = [from.memory(), to.memory(), &here, &back];
    let mut bindings: Vec<_> = memory.iter().map(|memory| memory.binding().clone()).collect();
    bindings.push(imported.clone());
    let ways = [
        (here.address(), from.at(0)?),
        (imported.address(), here.address()),
        (back.address(), imported.address()),
        (to.at(0)?, back.address()),
    ];
    let mut times = [Duration::MAX; 4];
    for (time, way) in times.iter_mut().zip(ways) {
        *time = fastest(engine, &bindings, way, size)?;
    }
    let of = |what: &str| format!("{} to {}, {what}", copy.engine, copy.memory);
    same_bytes(&to.read(0, bytes.len())?, &bytes).map_err(|stop| stop.of(of("there and back")))?;
    let rate = |time: Duration| u64::try_from(u128::from(size) * 1_000_000_000 / time.as_nanos().max(1)).ok();
    (copy.write, copy.read) = (rate(times[1]), rate(times[2]));
    Ok(copy)
}

/// The GPU's own memory, for another one.
fn exportable(test: &TestContext<'_>, size: u64) -> Result<DeviceMemory, Stop> {
    let tables = test.memory.properties();
    let usable = tables.buffer_types(Addressing::Bits64, false);
    let local = MemoryPropertyFlags::DEVICE_LOCAL;
    let Some(memory_type) = tables.find_type(usable, local, MemoryPropertyFlags::empty()) else {
        return fail(format!("no memory type with {local:?}"));
    };
    let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(memory_type, size) };
    test.memory.allocate(&info).context("allocating exportable memory")
}

/// Binds another GPU's memory. What the kernel refuses of this is an answer, and no failure.
fn imported(device: &Device, dma_buf: &std::os::fd::OwnedFd, size: u64) -> Result<Binding, Box<dyn std::error::Error>> {
    let bo = Bo::import(device, dma_buf)?;
    let lease = device.addresses().allocate(VaRequest::new(size))?;
    let bound = Binding::new(&bo, lease, VaFlags::READABLE | VaFlags::WRITEABLE);
    Ok(bound.map_err(|(_lease, error)| error)?)
}

/// Returns the time of the fastest of some copies, from submission to end.
fn fastest(
    engine: &TestContext<'_>,
    bindings: &[Binding],
    (to, from): (GpuVa, GpuVa),
    size: u64,
) -> Result<Duration, Stop> {
    let queue = engine.queue(engine.ring_of(Ip::Sdma)?)?;
    let list = engine.record(&queue, |recorder| recorder.copy(to, from, size))?;
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let mut fastest = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let fence = queue.submit(&submission).context("submitting")?;
        engine.wait(&fence, || true)?;
        fastest = fastest.min(start.elapsed());
    }
    Ok(fastest)
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{SimDevice, SimOptions};

    use super::*;
    use crate::gpu::test_context::Settings;

    /// GPUs of two machines, whose kernels know nothing of each other's dma-bufs.
    #[test]
    fn a_refusal_of_the_kernel_is_reported_in_words_and_is_no_failure() {
        let far = SimDevice::new(amdgpu_sim::profile("renoir").unwrap(), SimOptions::default());
        let target = Target::simulated("navi21")
            .unwrap()
            .with_peers(vec![Peer { name: "far".to_owned(), open: Box::new(move || Device::new(far.open())) }]);
        let test = TestContext::open(&target, Settings::default()).unwrap_or_else(|stop| panic!("{stop:?}"));
        let Err(Stop::Skip(reason)) = peers(&test) else { panic!("not skipped") };
        assert!(reason.starts_with("the kernel lets no GPU reach another: ") && reason.contains("EINVAL"), "{reason}");
        let copies = test.take_peers();
        let pairs: Vec<_> = copies.iter().map(|copy| (&*copy.engine, &*copy.memory, copy.write)).collect();
        assert_eq!(pairs, [("navi21 at 0000:03:00.0", "far", None), ("far", "navi21 at 0000:03:00.0", None)]);
        assert!(copies.iter().all(|copy| copy.refused.is_some()), "{copies:?}");
    }
}
