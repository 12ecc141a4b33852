//! Checks that everything taken is given back.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use amdgpu_winsys::{
    cs::Submission,
    heaps::{AllocateInfo, DeviceMemory, MemoryPropertyFlags, OwnUsage},
    vamgr::VaWindow,
    winsys::Syncobj,
};

use crate::{
    checks::check::Check,
    gpu::{
        recorder::Recorder,
        ring::Ring,
        target::{Count, Target},
        test_context::TestContext,
    },
    result::outcome::{ErrorContext, Outcome, Stop, ensure},
};

pub(crate) const CHECKS: &[Check] =
    &[Check::once("leak.objects", "allocating, mapping, submitting and freeing leaves nothing behind", objects)];

const ROUNDS: u32 = 3;
const SIZE: u64 = 64 << 10;

/// Time the kernel gets to free what is no longer used.
const PATIENCE: Duration = Duration::from_millis(500);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);

fn objects(test: &TestContext<'_>) -> Outcome {
    let before = settled(test)?;
    for _ in 0..ROUNDS {
        round(test)?;
    }
    let grown = grown_since(test, &before)?;
    ensure(grown.is_empty(), || format!("not given back in {ROUNDS} rounds: {}", grown.join(", ")))?;
    Ok(format!("{ROUNDS} rounds, {} kinds of object counted", before.len()))
}

/// Takes one of everything and gives it back.
fn round(test: &TestContext<'_>) -> Result<(), Stop> {
    let memory = one_of_each_type(test)?;
    for &ring in &test.rings {
        submit(test, ring, &memory)?;
    }
    let syncobj = Syncobj::new(&test.device, true).context("creating a sync object")?;
    let other = test.target.open().context("opening the GPU again")?;
    drop((memory, syncobj, other));
    Ok(())
}

fn one_of_each_type(test: &TestContext<'_>) -> Result<Vec<DeviceMemory>, Stop> {
    let types = (0..).zip(test.memory.properties().types());
    types
        .map(|(index, row)| {
            let memory = test.memory.allocate(&AllocateInfo::new(index, SIZE)).context("allocating")?;
            if row.properties.contains(MemoryPropertyFlags::HOST_VISIBLE) {
                memory.map().context("mapping")?;
            }
            Ok(memory)
        })
        .collect()
}

fn submit(test: &TestContext<'_>, ring: Ring, memory: &[DeviceMemory]) -> Result<(), Stop> {
    let unprotected = |memory: &&DeviceMemory| {
        let row = test.memory.properties().types().get(memory.memory_type() as usize);
        row.is_some_and(|row| !row.is_protected())
    };
    let bindings: Vec<_> = memory.iter().filter(unprotected).map(|memory| memory.binding().clone()).collect();
    let queue = test.queue(ring)?;
    let list = test.record(&queue, Recorder::nop)?;
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let fence = queue.submit(&submission).context("submitting")?;
    // A stand-in kernel takes jobs and never ends them; other checks say so.
    let ended = test.wait(&fence, || false);
    if test.is_stand_in() { Ok(()) } else { ended }
}

/// Returns the counts once the kernel has finished with earlier checks: it frees the resources of a job some time after the
/// job has ended.
fn settled(test: &TestContext<'_>) -> Result<Vec<Count>, Stop> {
    let patience = Instant::now() + PATIENCE;
    let mut counts = counts(test)?;
    loop {
        std::thread::sleep(PAUSE);
        let now = self::counts(test)?;
        if now == counts || Instant::now() >= patience {
            return Ok(now);
        }
        counts = now;
    }
}

/// Returns the counts that have grown since `before` and stay grown.
fn grown_since(test: &TestContext<'_>, before: &[Count]) -> Result<Vec<String>, Stop> {
    grown(before, || counts(test))
}

fn grown(before: &[Count], counts: impl Fn() -> Result<Vec<Count>, Stop>) -> Result<Vec<String>, Stop> {
    let patience = Instant::now() + PATIENCE;
    loop {
        let after = counts()?;
        let grown = before.iter().zip(&after).filter(|((_, before), (_, after))| after > before);
        let grown: Vec<_> =
            grown.map(|((what, before), (_, after))| format!("{what} {before}, then {after}")).collect();
        if grown.is_empty() || Instant::now() >= patience {
            return Ok(grown);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Returns the current count of everything that can leak.
fn counts(test: &TestContext<'_>) -> Result<Vec<Count>, Stop> {
    let OwnUsage { invisible_vram, visible_vram, gtt } = test.memory.usage_tracker().usage();
    let (leases, addresses) = leased_addresses(test);
    let mut counts = vec![
        ("descriptors", open_descriptors()?),
        ("CPU mappings", device_mappings()?),
        ("bytes charged", invisible_vram + visible_vram + gtt),
        ("leases", leases),
        ("bytes of addresses", addresses),
    ];
    counts.extend(test.target.census());
    Ok(counts)
}

/// Leases, and the bytes they hold.
fn leased_addresses(test: &TestContext<'_>) -> (u64, u64) {
    let manager = test.device.addresses();
    let windows = VaWindow::ALL.into_iter().filter(|&window| manager.windows().serving(window) == window);
    let stats = windows.map(|window| manager.stats(window));
    stats.fold((0, 0), |(leases, bytes), of| (leases + of.leases, bytes + of.leased))
}

/// Returns the number of descriptors, and that of CPU mappings of devices.
pub(crate) fn open_things() -> Result<[Count; 2], Stop> {
    Ok([("descriptors", open_descriptors()?), ("CPU mappings", device_mappings()?)])
}

/// Returns those that have become more since `before` and stay so.
pub(crate) fn grown_open_things(target: &Target, before: [Count; 2]) -> Result<Vec<String>, Stop> {
    grown(&before, || {
        // A simulated kernel looks for descriptors that were closed when it is asked for its objects.
        let _ = target.census();
        open_things().map(Vec::from)
    })
}

fn open_descriptors() -> Result<u64, Stop> {
    // One of them is that of the directory being read, both times.
    Ok(fs::read_dir(Path::new("/proc/self/fd")).context("counting descriptors")?.count() as u64)
}

/// Mappings of device nodes and of memory files: those that CPU mappings of BOs are made of.
fn device_mappings() -> Result<u64, Stop> {
    let maps = fs::read_to_string("/proc/self/maps").context("counting mappings")?;
    Ok(maps.lines().filter(|line| line.contains(" /dev/dri/") || line.contains("/memfd:")).count() as u64)
}
