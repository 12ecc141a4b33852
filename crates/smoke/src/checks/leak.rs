//! Whether everything that was taken is given back.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use amdgpu_winsys::{
    cs::Submission,
    heaps::{AllocateInfo, DeviceMemory, MemoryPropertyFlags},
    winsys::Syncobj,
};

use crate::{
    lab::Lab,
    outcome::{Doing, Outcome, Stop, ensure},
    plan::Check,
    recorder::Recorder,
    ring::Ring,
};

pub(crate) const CHECKS: &[Check] =
    &[Check::once("leak.objects", "allocating, mapping, submitting and freeing leaves nothing behind", objects)];

const ROUNDS: u32 = 3;
const SIZE: u64 = 64 << 10;

/// How long a kernel may take to free what nobody uses any more.
const PATIENCE: Duration = Duration::from_millis(500);

fn objects(lab: &Lab<'_>) -> Outcome {
    let before = settled_counts(lab)?;
    for _ in 0..ROUNDS {
        round(lab)?;
    }
    let changed = changed_since(lab, &before)?;
    ensure(changed.is_empty(), || format!("not given back in {ROUNDS} rounds: {}", changed.join("; ")))?;
    let counted: Vec<_> = before.iter().map(|(what, _)| *what).collect();
    Ok(format!("{ROUNDS} rounds; {}", counted.join(", ")))
}

/// Takes one of everything and gives it back.
fn round(lab: &Lab<'_>) -> Result<(), Stop> {
    let memory = one_of_each_type(lab)?;
    for &ring in &lab.rings {
        submit(lab, ring, &memory)?;
    }
    let syncobj = Syncobj::new(&lab.device, true).doing("creating a sync object")?;
    let other = lab.target.open().doing("opening the GPU again")?;
    drop((memory, syncobj, other));
    Ok(())
}

fn one_of_each_type(lab: &Lab<'_>) -> Result<Vec<DeviceMemory>, Stop> {
    let types = (0..).zip(lab.memory.properties().types());
    types
        .map(|(index, row)| {
            let mut memory = lab.memory.allocate(&AllocateInfo::new(index, SIZE)).doing("allocating")?;
            if row.properties.contains(MemoryPropertyFlags::HOST_VISIBLE) {
                memory.map().doing("mapping")?;
            }
            Ok(memory)
        })
        .collect()
}

fn submit(lab: &Lab<'_>, ring: Ring, memory: &[DeviceMemory]) -> Result<(), Stop> {
    let unprotected = |memory: &&DeviceMemory| {
        let row = lab.memory.properties().types().get(memory.memory_type() as usize);
        row.is_some_and(|row| !row.is_protected())
    };
    let bindings: Vec<_> = memory.iter().filter(unprotected).map(|memory| Arc::clone(memory.binding())).collect();
    let queue = lab.queue(ring)?;
    let list = lab.record(&queue, Recorder::nop)?;
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let fence = queue.submit(&submission).doing("submitting")?;
    // A stand-in kernel takes jobs and never ends them; other checks say so.
    let ended = lab.wait(&fence, || false);
    if lab.is_stand_in() { Ok(()) } else { ended }
}

/// The counts once they stand still: what earlier checks ran may be freed a moment after it was seen to be done.
fn settled_counts(lab: &Lab<'_>) -> Result<Vec<Count>, Stop> {
    let patience = Instant::now() + PATIENCE;
    let mut last = counts(lab)?;
    loop {
        std::thread::sleep(Duration::from_millis(2));
        let now = counts(lab)?;
        if now == last || Instant::now() >= patience {
            return Ok(now);
        }
        last = now;
    }
}

/// What is not as it was. A kernel frees what jobs used some time after they ended, so it is given a while.
fn changed_since(lab: &Lab<'_>, before: &[Count]) -> Result<Vec<String>, Stop> {
    let patience = Instant::now() + PATIENCE;
    loop {
        let after = counts(lab)?;
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after);
        let changed: Vec<_> = changed.map(|((what, old), (_, new))| format!("{what} {old}, then {new}")).collect();
        if changed.is_empty() || Instant::now() >= patience {
            return Ok(changed);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

type Count = (&'static str, String);

/// What there is now of everything that can leak.
fn counts(lab: &Lab<'_>) -> Result<Vec<Count>, Stop> {
    let mut counts = vec![
        ("descriptors", open_descriptors()?.to_string()),
        ("CPU mappings", device_mappings()?.to_string()),
        ("own usage", format!("{:?}", lab.memory.ledger().usage())),
        ("bytes of addresses", lab.device.addresses().leased_bytes().to_string()),
    ];
    counts.extend(lab.target.census().map(|census| ("the simulator's census", census)));
    Ok(counts)
}

fn open_descriptors() -> Result<usize, Stop> {
    // One of them is that of the directory being read, both times.
    Ok(fs::read_dir(Path::new("/proc/self/fd")).doing("counting descriptors")?.count())
}

/// Mappings of device nodes and of memory files: those that CPU mappings of BOs are made of.
fn device_mappings() -> Result<usize, Stop> {
    let maps = fs::read_to_string("/proc/self/maps").doing("counting mappings")?;
    Ok(maps.lines().filter(|line| line.contains(" /dev/dri/") || line.contains("/memfd:")).count())
}
