//! Queries of an open GPU: constant facts, memory usage, and the driver's counters.
#![expect(unsafe_code, reason = "INFO carries the address of its answer")]

use amdgpu_winsys::{
    uapi::{Argument as _, Info, MemoryInfo, query},
    winsys::{Errno, GpuInfo, Kernel},
};

use crate::snapshot::model::Counters;

/// The answers to one round of INFO queries.
#[derive(Clone, Debug)]
pub struct Answers {
    /// Facts about the GPU that never change.
    pub gpu: GpuInfo,
    /// Sizes and usage of the memory pools, or the errno of the query.
    pub memory: Result<MemoryInfo, Errno>,
    /// The driver's counters of evictions, moves, page faults and resets.
    pub counters: Counters,
}

/// Makes all queries, always in the same order, so that a recorded session can be replayed. The facts in `known`, from an earlier
/// round, are not queried again.
///
/// # Errors
///
/// The message of an error of [`GpuInfo::query`].
pub fn ask(kernel: &dyn Kernel, known: Option<GpuInfo>) -> Result<Answers, String> {
    let gpu = match known {
        Some(gpu) => gpu,
        None => GpuInfo::query(kernel).map_err(|error| error.to_string())?,
    };
    let counter = |number| question::<1>(kernel, number).ok().map(|[value]| value);
    Ok(Answers {
        gpu,
        memory: question::<12>(kernel, query::MEMORY).map(|words| memory(&words)),
        counters: Counters {
            evictions: counter(query::NUM_EVICTIONS),
            bytes_moved: counter(query::NUM_BYTES_MOVED),
            cpu_page_faults: counter(query::NUM_VRAM_CPU_PAGE_FAULTS),
            // 32 bits; the upper half stays zero.
            vram_lost: question::<1>(kernel, query::VRAM_LOST_COUNTER).ok().map(|[value]| value & 0xffff_ffff),
        },
    })
}

/// The three pools in the order of `struct drm_amdgpu_memory_info`: total, usable, usage, largest allocation of each.
fn memory(words: &[u64; 12]) -> MemoryInfo {
    let mut memory = MemoryInfo::default();
    let pools = [&mut memory.vram, &mut memory.cpu_accessible_vram, &mut memory.gtt];
    for (pool, words) in pools.into_iter().zip(words.as_chunks::<4>().0) {
        [pool.total_heap_size, pool.usable_heap_size, pool.heap_usage, pool.max_allocation] = *words;
    }
    memory
}

/// Makes a query whose answer has `N` 64-bit words.
///
/// The buffer always has 1 KiB, because Mesa's no-op shim does not respect the size in the request.
fn question<const N: usize>(kernel: &dyn Kernel, number: u32) -> Result<[u64; N], Errno> {
    const { assert!(N <= 128) };
    let mut answer = [0_u64; 128];
    let mut argument = Info {
        return_pointer: answer.as_mut_ptr().expose_provenance() as u64,
        return_size: (N * 8) as u32,
        query: number,
        input: [0; 4],
    };
    // SAFETY: the argument is exclusive and has the size of its request; the only address in it is that of `answer`, which is
    // exclusive too, outlives the call and is longer than any answer.
    unsafe { kernel.ioctl(Info::REQUEST, std::ptr::from_mut(&mut argument).cast()) }?;
    let mut words = [0; N];
    words.iter_mut().zip(answer).for_each(|(word, answered)| *word = answered);
    Ok(words)
}
