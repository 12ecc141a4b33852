//! The GPU virtual-address manager, which leases ranges of GPU addresses by pure arithmetic, without I/O.
//!
//! Every BO needs a range of GPU addresses before it can be bound for the GPU. The kernel lets user space choose the addresses:
//! it only refuses ranges that overlap, are unaligned, or are outside the page tables. The [`VaManager`] records which
//! addresses are in use. It divides them into [four windows](Windows), hands out [leases](VaLease), and takes their addresses
//! back when they are dropped. It does not depend on BOs, kernels or devices.
//!
//! ```
//! use amdgpu_hw::GfxLevel;
//! use amdgpu_va::{VaError, VaLimits, VaManager, VaRequest, VaWindow};
//!
//! let manager = VaManager::new(&VaLimits {
//!     low_offset: 0x1_0000,
//!     low_max: 0x8000_0000_0000,
//!     high_offset: 0xffff_8000_0000_0000,
//!     high_max: 0xffff_ffff_ffbf_0000,
//!     alignment: 4096,
//!     pte_fragment: 2 << 20,
//!     half_for_sparse: VaLimits::halves_for_sparse(GfxLevel::Gfx10_3),
//! })?;
//! let size = 3 << 20;
//! let buffer = manager.allocate(VaRequest::new(size).aligned(manager.fragment_alignment(size, 256 << 10)))?;
//! let shader = manager.allocate(VaRequest::new(8192).within(VaWindow::High32))?;
//! assert_eq!(shader.start().high(), manager.windows().address32_hi());
//!
//! let replayed = VaRequest::new(size).at(buffer.start());
//! assert!(matches!(manager.allocate(replayed), Err(VaError::Taken { .. })));
//! drop(buffer);
//! assert!(manager.allocate(replayed).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Differences from libdrm
//!
//! Placement is that of libdrm: first fit from below, or from above for replayable leases. The same requests therefore get the
//! same addresses in every run, and the same ones as in RADV on libdrm. The windows are those of libdrm except for [three
//! differences](Windows::new). The manager differs where libdrm loses or hides something:
//!
//! * freeing cannot fail; libdrm loses the range if it has no memory for a list node;
//! * sizes of zero and sums that overflow are errors, and double frees cannot be expressed;
//! * an error contains the request, the free space, and the conflicting range;
//! * the fallback into the 32-bit window is [optional](Fallback), and keeps the first error;
//! * the cost does not grow with the number of holes;
//! * device memory reuses addresses that its thread freed recently, without a search.
//!
//! Source: libdrm 2.4.134, `amdgpu/amdgpu_vamgr.c`, `amdgpu_vamgr_find_va` and `amdgpu_vamgr_free_va`.
//!
//! # Choice of the data structure
//!
//! The requirement is first fit in address order. [`Holes`] is the fastest of the structures for it that were implemented and
//! measured. `cargo bench -p amdgpu-bench --bench vamgr` repeats the measurement with all of them, checks that they make the
//! same placements, and takes half a minute. The table has nanoseconds for one free and one allocation, for a number of live
//! ranges of 4 KiB to 64 MiB, log-uniform, of which one in three is aligned to 64 KiB or 2 MiB:
//!
//! | | empty | 1,000 | 10,000 | 100,000 | 1,000,000 | host bytes per lease |
//! |---|---|---|---|---|---|---|
//! | [`VaManager`] (locks, checks, leases) | 30 | 176 | 222 | 310 | 587 | 34 to 47 from 10,000 on, and 24 for the lease |
//! | the same, every range 64 KiB at 64 KiB | | 76 | 91 | 138 | 238 | |
//! | [`Holes`] alone | 17 | 154 | 203 | 290 | 564 | |
//! | treap, best hole below each node | 30 | 524 | 783 | 1,358 | 3,542 | 36 to 58 |
//! | B-tree map, one set of holes per size class | 253 | 1,153 | 3,819 | | | |
//! | sorted list, as in libdrm | 5 | 730 | 6,589 | | | |
//!
//! Medians of 200 batches of 1,000 pairs on a shared virtual machine with two cores (AMD EPYC 7003, 0.5 MiB of L2, huge pages
//! off) and other load: repeated runs differ by 5% up to 100,000 ranges and by 10% beyond. About 100 ns of the time for a
//! million ranges are the benchmark's own, for fetching the lease to be freed from memory. The figures precede the compilation
//! of allocating and freeing for wide vectors and the removal of branches, which save a seventh at 1,000 and 10,000.
//!
//! Other allocators were measured on the same kind of machine. libdrm takes 24 ns when empty, 1,300 at 1,000 and 25,000 at
//! 10,000 ranges. The TLSF of the Vulkan Memory Allocator takes 76 when empty, then 123, 1,013 and 4,383. TLSF takes a hole of
//! about the right size at any address, and examines one or two. Finding the lowest one costs more while everything fits the
//! caches (twice as much at 1,000), and less beyond (a third at 100,000, an eighth at a million), because memory stays compact
//! and the search short. This is the price of addresses that do not depend on the history of a free list. The first goals were
//! 200 ns at 100,000 ranges, and less than three times as much at a million as at 1,000. Ranges of one size meet the first goal
//! and narrowly miss the second (3.1 times). No first-fit index was found that meets them for the mixed sizes above (310 ns and
//! 3.3 times; 220 ns with page alignment only).
//!
//! If half of all blocks are holes that do not fit (100,000 blocks, 50,000 holes), an allocation takes 102 ns if all of them
//! are too small, 146 ns if all are misaligned (including the pass that adds the alignment class), and 129 ns if it takes the
//! first one. The treap, which supports three alignments only, needs 30,000 ns for the misaligned case with a tenth of the
//! blocks, and the list 10,000 ns.

mod arena;
mod error;
mod holes;
mod interval_map;
mod lease;
mod lease_cache;
mod limits;
mod manager;
mod replay;
mod request;
pub mod shard;
mod statistics;
mod window;

pub use amdgpu_hw::{GpuVa, InTheHole};
pub use error::VaError;
pub use holes::{BadSpan, CELLS_END, Hole, Holes, NotTaken, SPAN_MAX, Step, TakeError};
pub use interval_map::{IntervalMap, Run};
pub use lease::VaLease;
pub use limits::{Half, LimitsError, VaLimits};
pub use manager::VaManager;
pub use replay::ReplayWindows;
pub use request::{Fallback, Placement, VaRequest};
pub use statistics::{HoleHistogram, WindowStats};
pub use window::{VaRange, VaWindow, Windows};
