//! Pages of this process as device memory.

use ash::vk::ExternalMemoryHandleTypeFlags as Handles;

use super::{check::Check, copies::pattern};
use crate::{
    gpu::{Gpu, Lane, MemoryPlace, Order, Source},
    outcome::{ErrorContext, Outcome, same_bytes, skip},
};

pub(super) const CHECKS: &[Check] =
    &[Check::each("host.import", "a queue reads and writes pages of this process", import)];

/// Bytes imported.
const LEN: usize = 65536;
/// Bytes copied.
const PART: u64 = 2000;

fn import(gpu: &Gpu, lane: &Lane) -> Outcome {
    let alignment = usize::try_from(gpu.host_alignment()).unwrap_or(usize::MAX);
    if gpu.extensions.host.is_none() || alignment > LEN {
        return skip("no VK_EXT_external_memory_host");
    }
    // A vector with room for an aligned part of it: ordinary memory, as a program would have it.
    let mut storage = vec![0_u8; LEN + alignment];
    let start = storage.as_ptr().align_offset(alignment);
    let Some(pages) = storage.get_mut(start..start + LEN) else { return skip("no aligned pages") };
    let (sent, received) = (pattern(PART as usize, 1), pattern(1000, 2));
    pages.fill(0x77);
    pages.iter_mut().zip(&sent).for_each(|(page, byte)| *page = *byte);

    let Some(allowed) = gpu.host_pages(pages).context("ask about the pages")? else {
        return skip("no VK_EXT_external_memory_host");
    };
    let Some(kind) = gpu.memory_type(allowed, MemoryPlace::Host) else { return skip("no memory type for host pages") };
    let copied = {
        let memory = gpu.allocate(LEN as u64, kind, Source::Pages(pages)).context("import")?;
        let imported = gpu.on(memory, Handles::HOST_ALLOCATION_EXT).context("bind")?;
        let target = gpu.buffer(PART, MemoryPlace::Host).context("make a buffer")?;
        let work = gpu.submit(lane, &Order::free(), |record| {
            record.copy((&imported, 0), (&target, 0), PART);
            record.update(&imported, 4096, &received);
            record.barrier();
        });
        work.context("submit")?.finish().context("finish")?;
        target.memory().read(0, PART as usize)
    };
    let after = storage.get(start..start + LEN).unwrap_or_default();
    let mut expected = vec![0x77; LEN];
    expected.splice(..sent.len(), sent.iter().copied());
    expected.splice(4096..4096 + received.len(), received);
    same_bytes("what the queue read", &copied, &sent)?;
    same_bytes("the pages after the import is gone", after, &expected)?;
    Ok(format!("{LEN} bytes of pages, memory type {kind}"))
}
