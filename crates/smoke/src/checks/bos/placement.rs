//! Checks of memory placement and contents.

use std::collections::BTreeMap;

use amdgpu_winsys::{
    cs::Submission,
    heaps::{
        Addressing, AllocateFlags, AllocateInfo, DeviceMemory, MemoryPropertyFlags, Replay,
        suballocation::{CacheLimits, MemoryCache, SlabPool},
    },
    uapi::VaFlags,
    vamgr::VaRequest,
    winsys::{Binding, Ip, PAGE_SIZE},
};

use crate::{
    checks::check::Check,
    gpu::test_context::TestContext,
    level::Level,
    result::outcome::{ErrorContext, Outcome, Stop, ensure, same, same_bytes},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("memory.copy", "each memory type holds what the GPU copies into it", types)
        .at(Level::Core)
        .anchor("amd_basic@memory-alloc"),
    Check::once("memory.slabs", "pieces of slabs hold their bytes beside each other", slabs).at(Level::Core),
    Check::once("memory.zeroed", "memory that is asked to be zeroed is zero to the GPU", zeroed).at(Level::Core),
    Check::once("va.replay", "captured addresses are given again, in another order, and lead to new memory", replay)
        .at(Level::Core),
    Check::once("va.alias", "two bindings of one BO show the GPU the same bytes", alias)
        .at(Level::Core)
        .anchor("amd_vm@vm-mapping-test"),
    Check::once("va.rebind", "an address that one BO was unbound from leads to the next one bound there", rebind)
        .at(Level::Core)
        .anchor("amd_vm@vm-mapping-test"),
];

const SIZE: u64 = 256 << 10;

fn types(test: &TestContext<'_>) -> Outcome {
    let ring = test.ring_of(Ip::Sdma)?;
    let (from, to) = (test.host_memory(SIZE)?, test.host_memory(SIZE)?);
    let mut tried = 0;
    for (index, row) in (0..).zip(test.memory.properties().types()) {
        if row.is_protected() {
            continue;
        }
        let bytes = test.pattern(40 + index, SIZE as usize);
        from.write(0, &bytes)?;
        to.write(0, &vec![0; SIZE as usize])?;
        let through = test.memory.allocate(&AllocateInfo::new(index, SIZE)).context("allocating")?;
        let (a, b, c) = (from.at(0)?, through.address(), to.at(0)?);
        test.run(
            ring,
            &[from.memory(), &through, to.memory()],
            || to.differs(&[0; 64]),
            |recorder| {
                recorder.copy(b, a, SIZE)?;
                recorder.copy(c, b, SIZE)
            },
        )?;
        same_bytes(&to.read(0, bytes.len())?, &bytes).map_err(|stop| stop.of(format_args!("type {index}")))?;
        tried += 1;
    }
    Ok(format!("{tried} types"))
}

fn slabs(test: &TestContext<'_>) -> Outcome {
    const PIECES: u32 = 48;
    let host = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_COHERENT;
    let tables = test.memory.properties();
    let usable = tables.buffer_types(Addressing::Bits64, false);
    let Some(memory_type) = tables.find_type(usable, host, MemoryPropertyFlags::HOST_CACHED) else {
        return crate::result::outcome::fail(format!("no memory type with {host:?}"));
    };
    let cache = MemoryCache::new(&test.memory, CacheLimits::default());
    let pool = SlabPool::new(&cache);
    let mut pieces = Vec::new();
    for index in 0..PIECES {
        let size = 64 << (index % 6);
        let piece = pool.allocate(memory_type, size, 64).context("taking a piece of a slab")?;
        piece.view().context("looking at a piece")?.write(0, &test.pattern(index, size as usize)).context("writing")?;
        pieces.push(piece);
    }
    let mut places = BTreeMap::new();
    for (piece, index) in pieces.iter().zip(0..) {
        let size = 64 << (index % 6);
        let mut found = vec![0; size];
        piece.view().context("looking at a piece")?.read(0, &mut found).context("reading")?;
        same_bytes(&found, &test.pattern(index, size)).map_err(|stop| stop.of(format_args!("piece {index}")))?;
        places.insert(piece.address(), piece.size());
    }
    same("pieces at addresses of their own", places.len(), pieces.len())?;
    let slabs = pool.stats();
    Ok(format!("{PIECES} pieces, {slabs:?}"))
}

fn zeroed(test: &TestContext<'_>) -> Outcome {
    let ring = test.ring_of(Ip::Sdma)?;
    let back = test.host_memory(SIZE)?;
    let types = test.memory.properties().types();
    let mut tried = 0;
    for (index, row) in (0..).zip(types) {
        if row.is_protected() {
            continue;
        }
        // What lay there before is not zero, if the kernel gives the same pages again.
        let dirt = test.memory.allocate(&AllocateInfo::new(index, SIZE)).context("allocating")?;
        let at = dirt.address();
        test.run(ring, &[&dirt], || false, |recorder| recorder.fill(at, 0xdddd_dddd, SIZE))?;
        drop(dirt);
        let info = AllocateInfo { flags: AllocateFlags::ZERO, ..AllocateInfo::new(index, SIZE) };
        let memory = test.memory.allocate(&info).context("allocating zeroed memory")?;
        back.write(0, &vec![0xa5; SIZE as usize])?;
        let (a, b) = (memory.address(), back.at(0)?);
        test.run(ring, &[&memory, back.memory()], || back.differs(&[0xa5; 64]), |recorder| recorder.copy(b, a, SIZE))?;
        same_bytes(&back.read(0, SIZE as usize)?, &vec![0; SIZE as usize])
            .map_err(|stop| stop.of(format_args!("type {index}")))?;
        tried += 1;
    }
    Ok(format!("{tried} types"))
}

fn replay(test: &TestContext<'_>) -> Outcome {
    const COUNT: u32 = 16;
    let allocate = |test: &TestContext<'_>, replay, size| -> Result<DeviceMemory, Stop> {
        let info = AllocateInfo { replay, ..AllocateInfo::new(0, size) };
        test.memory.allocate(&info).context("allocating at a captured address")
    };
    let size = |index: u32| u64::from(index + 1) * PAGE_SIZE * 4;
    let captured: Vec<_> =
        (0..COUNT).map(|index| allocate(test, Replay::Capture, size(index))).collect::<Result<_, _>>()?;
    let addresses: Vec<_> = captured.iter().map(DeviceMemory::address).collect();
    drop(captured);
    // Another open file is what another process is to the kernel.
    let other = TestContext::open(test.target, test.settings)?;
    let mut again = Vec::new();
    for (index, &address) in (0..COUNT).zip(&addresses).rev() {
        let memory = allocate(&other, Replay::At(address), size(index))?;
        same("replayed address", memory.address(), address)?;
        again.push(memory);
    }
    let ring = other.ring_of(Ip::Sdma)?;
    let back = other.host_memory(PAGE_SIZE)?;
    let blank = vec![0; PAGE_SIZE as usize];
    back.write(0, &blank)?;
    let Some(first) = again.first() else { return crate::result::outcome::fail("nothing was replayed") };
    let (a, b) = (first.address(), back.at(0)?);
    other.run(
        ring,
        &[first, back.memory()],
        || back.differs(&blank),
        |recorder| {
            recorder.fill(a, 0x5eed_5eed, PAGE_SIZE)?;
            recorder.copy(b, a, PAGE_SIZE)
        },
    )?;
    same_bytes(&back.read(0, 4)?, &0x5eed_5eed_u32.to_le_bytes())?;
    Ok(format!("{COUNT} addresses"))
}

fn rebind(test: &TestContext<'_>) -> Outcome {
    let ring = test.ring_of(Ip::Sdma)?;
    let to = test.host_memory(PAGE_SIZE)?;
    let memory = [test.host_memory(PAGE_SIZE)?, test.host_memory(PAGE_SIZE)?];
    let manager = test.device.addresses();
    let mut request = VaRequest::new(PAGE_SIZE);
    for (memory, seed) in memory.iter().zip(42..) {
        let bytes = test.pattern(seed, PAGE_SIZE as usize);
        memory.write(0, &bytes)?;
        to.write(0, &vec![0; PAGE_SIZE as usize])?;
        // Both BOs live on; only the binding goes with each turn.
        let lease = manager.allocate(request).context("leasing the address")?;
        request = request.at(lease.start());
        let bound = Binding::new(memory.memory().bo(), lease, VaFlags::READABLE);
        let bound = bound.map_err(|(_lease, error)| error).context("binding there")?;
        let (queue, at) = (test.queue(ring)?, to.at(0)?);
        let list = test.record(&queue, |recorder| recorder.copy(at, bound.address(), PAGE_SIZE))?;
        let bindings = [bound.clone(), to.memory().binding().clone()];
        let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
        let fence = queue.submit(&submission).context("submitting")?;
        test.wait(&fence, || to.differs(&[0; 64]))?;
        same_bytes(&to.read(0, PAGE_SIZE as usize)?, &bytes)?;
    }
    Ok("two BOs, one address".to_owned())
}

fn alias(test: &TestContext<'_>) -> Outcome {
    let ring = test.ring_of(Ip::Sdma)?;
    let memory = test.device_memory(SIZE)?;
    let lease = test.device.addresses().allocate(VaRequest::new(SIZE / 2)).context("leasing addresses")?;
    let flags = VaFlags::READABLE | VaFlags::WRITEABLE;
    let bound = Binding::of_part(memory.bo(), SIZE / 2, SIZE / 2, lease, flags);
    let second = bound.map_err(|(_lease, error)| error).context("binding half of a BO again")?;
    ensure(second.address() != memory.address(), || "both bindings are at the same address".to_owned())?;
    let (from, to) = (test.host_memory(SIZE / 2)?, test.host_memory(SIZE / 2)?);
    let bytes = test.pattern(41, SIZE as usize / 2);
    from.write(0, &bytes)?;
    let Some(half) = memory.address().checked_add(SIZE / 2) else {
        return crate::result::outcome::fail("no such address");
    };
    let (a, b) = (from.at(0)?, to.at(0)?);
    let queue = test.queue(ring)?;
    let list = test.record(&queue, |recorder| {
        recorder.copy(half, a, SIZE / 2)?;
        recorder.copy(b, second.address(), SIZE / 2)
    })?;
    let bindings = [from.memory().binding(), to.memory().binding(), memory.binding(), &second].map(Clone::clone);
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let fence = queue.submit(&submission).context("submitting")?;
    test.wait(&fence, || to.differs(&[0; 64]))?;
    same_bytes(&to.read(0, bytes.len())?, &bytes)?;
    Ok(format!("at {half} and at {}", second.address()))
}
