//! Much of everything: memory that does not fit, holes of all sizes, many contexts, many jobs at once.

use std::{collections::BTreeMap, thread};

use amdgpu_winsys::{
    cs::{Fence, Submission},
    heaps::DeviceMemory,
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::{VaRequest, VaWindow},
    winsys::{Binding, Bo, BoRequest, Ip, PAGE_SIZE},
};

use crate::{
    checks::check::Check,
    gpu::{
        pattern::Random,
        ring::Ring,
        test_context::{HostMemory, TestContext},
    },
    level::Level,
    result::outcome::{ErrorContext, Outcome, Stop, ensure, fail, same, same_bytes, skip},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("stress.evict", "memory that the kernel moves to make room comes back with what was in it", evict)
        .at(Level::Stress)
        .needs("`--memory` of more than all VRAM")
        .anchor("amd_basic@eviction-test-with-IP-DMA"),
    Check::once("stress.fragment", "memory of all sizes keeps its bytes while its neighbours come and go", fragment)
        .at(Level::Stress)
        .anchor("amd_basic@memory-alloc"),
    Check::once("stress.addresses", "leases of any size never overlap and all come back", addresses)
        .at(Level::Stress)
        .anchor("amd_vm@vm-mapping-test"),
    Check::once("stress.contexts", "many contexts on every ring each do their own work", contexts)
        .at(Level::Stress)
        .anchor("amd_cs_nop"),
    Check::once("stress.submit", "all rings take jobs from a thread each at the same time", submit)
        .at(Level::Stress)
        .anchor("amd_cs_nop"),
];

/// Number of pieces that fill VRAM; the check allocates a quarter more.
const PIECES: u64 = 8;

fn evict(test: &TestContext<'_>) -> Outcome {
    let vram = test.device.memory_info().context("asking for the memory pools")?.vram.total_heap_size;
    let size = (vram / PIECES).next_multiple_of(PAGE_SIZE);
    let count = PIECES + PIECES / 4;
    // A simulated GPU's memory is this machine's only where it was written, which is little of it here.
    if !test.target.gpu().simulated && test.ceiling() < size * count {
        return skip(format!("{} bytes of memory are needed, {} may be used", size * count, test.ceiling()));
    }
    let ring = test.ring_of(Ip::Sdma)?;
    let before = test.device.evictions().context("asking for the number of evictions")?;
    let way = test.host_memory(2 * MARK as u64)?;
    let mut pieces = Vec::new();
    for index in 0..count {
        let piece = piece(test, size)?;
        way.write(0, &test.pattern(index as u32, 2 * MARK))?;
        ends(test, ring, &way, &piece, true)?;
        pieces.push(piece);
    }
    for (piece, index) in pieces.iter().zip(0..) {
        way.write(0, &[0; 2 * MARK])?;
        ends(test, ring, &way, piece, false)?;
        same_bytes(&way.read(0, 2 * MARK)?, &test.pattern(index, 2 * MARK))
            .map_err(|stop| stop.of(format_args!("piece {index} of {count}")))?;
    }
    let moved = test.device.evictions().context("asking for the number of evictions")?.saturating_sub(before);
    ensure(moved > 0 || test.is_stand_in(), || "there was no room for all, and nothing was evicted".to_owned())?;
    Ok(format!("{count} pieces of {} MiB, {moved} evictions", size >> 20))
}

/// Memory that has to be in VRAM when it is used.
fn piece(test: &TestContext<'_>, size: u64) -> Result<Binding, Stop> {
    let request =
        BoRequest { size, alignment: PAGE_SIZE, domains: GemDomain::VRAM, flags: GemCreateFlags::NO_CPU_ACCESS };
    let bo = Bo::create(&test.device, request).context("creating a BO in VRAM")?;
    let lease = test.device.addresses().allocate(VaRequest::new(size)).context("leasing addresses")?;
    let bound = Binding::new(&bo, lease, VaFlags::READABLE | VaFlags::WRITEABLE);
    bound.map_err(|(_lease, error)| error).context("binding a piece")
}

/// Copies what marks both ends of a piece.
fn ends(test: &TestContext<'_>, ring: Ring, way: &HostMemory, piece: &Binding, is_in: bool) -> Result<(), Stop> {
    let last = piece.address().checked_add(piece.len() - MARK as u64);
    let Some(last) = last else { return fail("a piece ends at no address") };
    let pairs = [(way.at(0)?, piece.address()), (way.at(MARK as u64)?, last)];
    let queue = test.queue(ring)?;
    let list = test.record(&queue, |recorder| {
        pairs.into_iter().try_for_each(|(here, there)| {
            let (to, from) = if is_in { (there, here) } else { (here, there) };
            recorder.copy(to, from, MARK as u64)
        })
    })?;
    let memory = [way.memory().binding().clone(), piece.clone()];
    let submission = Submission { lists: &[&list], memory: &memory, ..Submission::default() };
    let fence = queue.submit(&submission).context("submitting")?;
    test.wait(&fence, || false)
}

/// Bytes at the start and at the end of a piece.
const MARK: usize = 256;

fn mark(test: &TestContext<'_>, memory: &mut DeviceMemory, index: u32) -> Result<(), Stop> {
    let end = memory.size() - MARK as u64;
    let mapping = memory.map().context("mapping")?;
    mapping.write(0, &test.pattern(2 * index, MARK)).context("writing")?;
    mapping.write(end, &test.pattern(2 * index + 1, MARK)).context("writing")
}

fn marked(test: &TestContext<'_>, memory: &mut DeviceMemory, index: u32) -> Result<(), Stop> {
    let end = memory.size() - MARK as u64;
    let mapping = memory.map().context("mapping")?;
    for (offset, seed) in [(0, 2 * index), (end, 2 * index + 1)] {
        let mut found = vec![0; MARK];
        mapping.read(offset, &mut found).context("reading")?;
        same_bytes(&found, &test.pattern(seed, MARK))?;
    }
    Ok(())
}

fn fragment(test: &TestContext<'_>) -> Outcome {
    const ROUNDS: u32 = 4;
    let mut random = Random::new(test.settings.seed);
    let count = (test.ceiling() >> 20).clamp(16, 512) as usize;
    let mut held: BTreeMap<u32, DeviceMemory> = BTreeMap::new();
    let mut next = 0;
    for _ in 0..ROUNDS {
        while held.len() < count {
            let size = u64::from(random.below(64) + 1) * PAGE_SIZE;
            let mut memory = test.host_memory(size)?.into_memory();
            mark(test, &mut memory, next)?;
            held.insert(next, memory);
            next += 1;
        }
        for (&index, memory) in &mut held {
            marked(test, memory, index).map_err(|stop| stop.of(format_args!("allocation {index}")))?;
        }
        held.retain(|_, _| random.below(2) == 0);
    }
    Ok(format!("{next} allocations in {ROUNDS} rounds, {count} at once"))
}

fn addresses(test: &TestContext<'_>) -> Outcome {
    const STEPS: u32 = 20_000;
    const MOST: usize = 2_000;
    let manager = test.device.addresses();
    let window = manager.windows().serving(VaWindow::Low);
    let before = manager.stats(window);
    let mut random = Random::new(test.settings.seed);
    let mut held = BTreeMap::new();
    for step in 0..STEPS {
        if held.len() >= MOST || (random.below(5) < 2 && !held.is_empty()) {
            let at = random.below(held.len() as u32) as usize;
            let Some(&start) = held.keys().nth(at) else { continue };
            held.remove(&start);
            continue;
        }
        let size = u64::from(random.below(256) + 1) * PAGE_SIZE;
        let alignment = PAGE_SIZE << random.below(6);
        let request = VaRequest::new(size).aligned(alignment).within(window);
        let lease = manager.allocate(request).context("leasing addresses")?;
        let (start, end) = (lease.start().as_u64(), lease.start().as_u64() + size);
        ensure(start.is_multiple_of(alignment), || format!("step {step}: {start:#x} is not aligned to {alignment}"))?;
        let below = held.range(..end).next_back();
        let taken = below.is_some_and(|(_, (_, other_end))| *other_end > start);
        ensure(!taken, || format!("step {step}: {start:#x}..{end:#x} was leased twice"))?;
        held.insert(start, (lease, end));
    }
    let most = held.len();
    drop(held);
    let after = manager.stats(window);
    same("leases and free bytes afterwards", (after.leases, after.free), (before.leases, before.free))?;
    Ok(format!("{STEPS} steps, {most} leases at the end"))
}

fn contexts(test: &TestContext<'_>) -> Outcome {
    const CONTEXTS: u32 = 24;
    let slots = CONTEXTS * test.rings.len() as u32;
    let memory = test.host_memory(u64::from(slots) * 4)?;
    let blank = vec![0; slots as usize * 4];
    memory.write(0, &blank)?;
    let value = |slot: u32| slot.wrapping_mul(0x9e37_79b9) | 1;
    let bindings = [memory.memory().binding().clone()];
    let mut jobs = Vec::new();
    for (slot, &ring) in (0..slots).zip(test.rings.iter().cycle()) {
        let (queue, to) = (test.queue(ring)?, memory.at(u64::from(slot) * 4)?);
        let list = test.record(&queue, |recorder| recorder.write(to, &[value(slot)]))?;
        let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
        let fence = queue.submit(&submission).context("submitting")?;
        jobs.push((queue, fence));
    }
    for (_queue, fence) in &jobs {
        test.wait(fence, || memory.differs(&blank))?;
    }
    same("what each context stored", memory.dwords(0, slots as usize)?, (0..slots).map(value).collect())?;
    Ok(format!("{slots} contexts on {} rings", test.rings.len()))
}

fn submit(test: &TestContext<'_>) -> Outcome {
    const JOBS: u32 = 100;
    let memory = test.host_memory(PAGE_SIZE.max(test.rings.len() as u64 * 64))?;
    let blank = vec![0; memory.memory().size() as usize];
    memory.write(0, &blank)?;
    let mut work = Vec::new();
    for (&ring, place) in test.rings.iter().zip(0..) {
        let (queue, to) = (test.queue(ring)?, memory.at(place * 64)?);
        let lists: Vec<_> = (1..=JOBS)
            .map(|job| test.record(&queue, |recorder| recorder.write(to, &[job])))
            .collect::<Result<_, _>>()?;
        work.push((queue, lists));
    }
    let bindings = [memory.memory().binding().clone()];
    let last: Vec<Result<Option<Fence>, _>> = thread::scope(|scope| {
        let threads: Vec<_> = work
            .iter()
            .map(|(queue, lists)| {
                let bindings = &bindings;
                scope.spawn(move || {
                    lists.iter().try_fold(None, |_, list| {
                        let submission = Submission { lists: &[list], memory: bindings, ..Submission::default() };
                        queue.submit(&submission).map(Some)
                    })
                })
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    same("threads that came to their end", last.len(), work.len())?;
    for fence in last {
        let Some(fence) = fence.context("submitting")? else { return fail("no job") };
        test.wait(&fence, || memory.differs(&blank))?;
    }
    for (ring, place) in test.rings.iter().zip(0..) {
        same(&format!("the last job of {ring}"), memory.dwords(place * 64, 1)?, vec![JOBS])?;
    }
    let sdma = test.rings.iter().filter(|ring| ring.ip == Ip::Sdma).count();
    Ok(format!("{JOBS} jobs on each of {} rings, {sdma} of them copy engines", test.rings.len()))
}
