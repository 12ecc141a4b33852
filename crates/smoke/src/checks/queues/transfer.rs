//! Ways of moving data that drivers use and quick tests do not: odd offsets, many packets, many IBs, waits in memory.

use amdgpu_winsys::{
    cs::Submission,
    winsys::{GfxLevel, Ip, PAGE_SIZE},
};

use crate::{
    checks::check::Check,
    gpu::{pattern::pattern_dwords, ring::Ring, test_context::TestContext},
    level::Level,
    result::outcome::{ErrorContext, Outcome, ensure, same, same_bytes, skip},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::each_ring("transfer.odd", "copies that begin and end at any byte move those bytes and no others", odd)
        .at(Level::Core)
        .anchor("amd_cp_dma_misc"),
    Check::each_ring("transfer.large", "a copy of more than one packet's worth arrives whole", large)
        .at(Level::Core)
        .anchor("amd_cp_dma_misc"),
    Check::each_ring("transfer.chain", "a command list of several IBs runs all of them, in order", chain)
        .at(Level::Core)
        .anchor("amd_basic@cs-gfx-with-IP-GFX"),
    Check::each_ring("transfer.wait", "a ring waits for a value in memory, and goes on when it comes", wait)
        .at(Level::Core)
        .anchor("amd_basic@sync-dependency-test-with-IP-GFX"),
    Check::each_ring("transfer.clock", "the time that a ring stores lies between two looks at the clock", clock)
        .at(Level::Core)
        .needs("a clock that runs")
        .anchor("amd_info@query-timestamp"),
];

/// Source offset, target offset and length of the unaligned copies, bytes.
const ODD: [(u64, u64, u64); 6] = [(0, 1, 1), (1, 0, 3), (3, 4, 61), (7, 2, 4095), (4095, 4097, 4098), (5, 5, 8191)];

fn odd(test: &TestContext<'_>, ring: Ring) -> Outcome {
    const SIZE: u64 = 4 * PAGE_SIZE;
    let (from, to) = (test.host_memory(SIZE)?, test.host_memory(SIZE)?);
    let (source, blank) = (test.pattern(20, SIZE as usize), vec![0xa5; SIZE as usize]);
    from.write(0, &source)?;
    for (source_at, to_at, len) in ODD {
        to.write(0, &blank)?;
        let (a, b) = (from.at(source_at)?, to.at(to_at)?);
        test.run(ring, &[from.memory(), to.memory()], || to.differs(&blank), |recorder| recorder.copy(b, a, len))?;
        let mut expected = blank.clone();
        let moved = source.iter().skip(source_at as usize).take(len as usize).copied();
        expected.splice(to_at as usize..(to_at + len) as usize, moved);
        same_bytes(&to.read(0, expected.len())?, &expected)
            .map_err(|stop| stop.of(format_args!("{len} bytes from byte {source_at} to byte {to_at}")))?;
    }
    Ok(format!("{} copies", ODD.len()))
}

fn large(test: &TestContext<'_>, ring: Ring) -> Outcome {
    // More than one packet moves on any chip (4 MiB less a page on SDMA 2.4 to 5.0, 2 MiB and less on older ones).
    const SIZE: u64 = (4 << 20) + (64 << 10);
    let (from, to) = (test.host_memory(SIZE)?, test.host_memory(SIZE)?);
    let bytes = test.pattern(21, SIZE as usize);
    from.write(0, &bytes)?;
    let (a, b) = (from.at(0)?, to.at(0)?);
    test.run(ring, &[from.memory(), to.memory()], || to.differs(&[0; 64]), |recorder| recorder.copy(b, a, SIZE))?;
    same_bytes(&to.read(0, bytes.len())?, &bytes)?;
    Ok(format!("{} KiB", SIZE >> 10))
}

/// Writes of one list: enough for several IBs, whose first size is 4096 dwords.
const WRITES: u64 = 3000;

fn chain(test: &TestContext<'_>, ring: Ring) -> Outcome {
    let memory = test.host_memory(WRITES * 4)?;
    let zeroes = vec![0; WRITES as usize * 4];
    memory.write(0, &zeroes)?;
    let data = pattern_dwords(0x16 ^ test.settings.seed, WRITES as usize);
    let queue = test.queue(ring)?;
    let list = test.record(&queue, |recorder| {
        let start = memory.memory().address();
        data.iter().zip(0..).try_for_each(|(dword, index)| {
            start.checked_add(index * 4).map_or(Ok(()), |to| recorder.write(to, std::slice::from_ref(dword)))
        })
    })?;
    let ibs = list.ibs().count();
    ensure(ibs > 1, || format!("{} dwords are one IB", list.len()))?;
    let bindings = [memory.memory().binding().clone()];
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let fence = queue.submit(&submission).context("submitting")?;
    test.wait(&fence, || memory.differs(&zeroes))?;
    let expected: Vec<u8> = data.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    same_bytes(&memory.read(0, expected.len())?, &expected)?;
    Ok(format!("{ibs} IBs, {} dwords", list.len()))
}

fn wait(test: &TestContext<'_>, ring: Ring) -> Outcome {
    const AWAITED: u32 = 0x600d_0001;
    const STORED: u32 = 0x0dd5_ba11;
    let memory = test.polled_memory(PAGE_SIZE)?;
    memory.write(0, &[0; 128])?;
    let (at, to) = (memory.at(0)?, memory.at(64)?);
    let queue = test.queue(ring)?;
    let list = test.record(&queue, |recorder| {
        recorder.wait_for(at, AWAITED)?;
        recorder.write(to, &[STORED])
    })?;
    let bindings = [memory.memory().binding().clone()];
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let fence = queue.submit(&submission).context("submitting")?;
    // Whatever is stored now was not waited for: a ring that is merely slow passes, one that does not wait mostly fails.
    let early = fence.wait(amdgpu_winsys::winsys::Deadline::after(std::time::Duration::from_millis(5)));
    let early = early.context("waiting for the job, which cannot be done")?;
    let before = memory.dwords(64, 1)?;
    memory.write(0, &AWAITED.to_le_bytes())?;
    test.wait(&fence, || true)?;
    if !test.is_stand_in() {
        ensure(!early, || "the job was done before the value was there".to_owned())?;
    }
    same("stored before the value was there", before, vec![0])?;
    same("stored afterwards", memory.dwords(64, 1)?, vec![STORED])?;
    Ok(format!("waited for {AWAITED:#x}"))
}

fn clock(test: &TestContext<'_>, ring: Ring) -> Outcome {
    if ring.ip == Ip::Sdma && test.device.info().gfx_level == GfxLevel::Gfx6 {
        return skip("SDMA 1.0 has no packet that stores the clock");
    }
    let memory = test.host_memory(PAGE_SIZE)?;
    memory.write(0, &[0; 64])?;
    let (to, scratch) = (memory.at(0)?, memory.at(PAGE_SIZE / 2)?);
    let look = || test.device.timestamp().context("asking for the clock");
    let before = look()?;
    if before == 0 {
        return skip("the counter is at zero");
    }
    test.run(ring, &[memory.memory()], || memory.differs(&[0; 64]), |recorder| recorder.timestamp(to, scratch))?;
    let after = look()?;
    let bytes = memory.read(0, 8)?;
    let stored = bytes.as_chunks::<8>().0.first().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    ensure((before..=after).contains(&stored), || format!("{stored} was stored between {before} and {after}"))?;
    Ok(format!("{} ticks after it was submitted, {} before it was waited for", stored - before, after - stored))
}
