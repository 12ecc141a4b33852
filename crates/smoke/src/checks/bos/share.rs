//! BOs shared between two open files of the same GPU.

use std::sync::Arc;

use amdgpu_winsys::{
    heaps::{AllocateFlags, AllocateInfo, DeviceMemory, MemoryPropertyFlags},
    winsys::{Bo, Device, Mapping},
};

use crate::{
    checks::check::Check,
    gpu::test_context::TestContext,
    result::outcome::{ErrorContext, Outcome, Stop, ensure, fail, same, same_bytes},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("prime.share", "an exported BO shows its bytes to another open file of the GPU", share)
        .needing_a_kernel(),
    Check::once("prime.again", "a BO imported twice, or where it was created, has one handle", again)
        .needing_a_kernel(),
];

const SIZE: u64 = 64 << 10;

/// Exportable system memory.
pub(crate) fn exportable(test: &TestContext<'_>, size: u64) -> Result<DeviceMemory, Stop> {
    let tables = test.memory.properties();
    let host = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_COHERENT;
    let usable = tables.buffer_types(amdgpu_winsys::heaps::Addressing::Bits64, false);
    let Some(memory_type) = tables.find_type(usable, host, MemoryPropertyFlags::HOST_CACHED) else {
        return fail(format!("no memory type with {host:?}"));
    };
    let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(memory_type, size) };
    test.memory.allocate(&info).context("allocating exportable memory")
}

fn share(test: &TestContext<'_>) -> Outcome {
    let memory = exportable(test, SIZE)?;
    let dma_buf = memory.bo().export().context("exporting")?;
    let other = test.target.open().context("opening the GPU again")?;
    let imported = Bo::import(&other, &dma_buf).context("importing")?;
    same("imported size", imported.size(), SIZE)?;
    let theirs = Mapping::new(&imported).context("mapping the imported BO")?;
    let bytes = test.pattern(4, SIZE as usize);
    memory.map().context("mapping the exported BO")?.write(0, &bytes).context("writing")?;
    // The storage outlives the exporter.
    drop((memory, dma_buf));
    let mut found = vec![0; bytes.len()];
    theirs.read(0, &mut found).context("reading")?;
    same_bytes(&found, &bytes)?;
    Ok(format!("{} KiB, read after the exporter closed it", SIZE >> 10))
}

fn again(test: &TestContext<'_>) -> Outcome {
    let memory = exportable(test, SIZE)?;
    let dma_buf = memory.bo().export().context("exporting")?;
    let import = |device: &Device| Bo::import(device, &dma_buf).context("importing");
    let home = import(&test.device)?;
    same("handle where it was created", home.handle(), memory.bo().handle())?;
    let other = test.target.open().context("opening the GPU again")?;
    let (first, second) = (import(&other)?, import(&other)?);
    same("handle of the second import", second.handle(), first.handle())?;
    drop((home, second));
    let first = Arc::new(first);
    ensure(Mapping::new(&first).is_ok(), || "dropping one import took the other one's handle away".to_owned())?;
    ensure(memory.bo().export().is_ok(), || "dropping an import took the creator's handle away".to_owned())?;
    Ok(format!("handle {} here, {} there", memory.bo().handle(), first.handle()))
}
