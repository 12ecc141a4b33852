//! The GPU virtual-address manager: pure arithmetic over address windows, no I/O.
//!
//! Every BO that the GPU is to see needs a range of GPU addresses before it can be bound there. The kernel leaves it to
//! user space which: it only refuses what overlaps, is unaligned, or lies where no page tables are. The [`VaManager`]
//! is the part that knows which addresses are in use. It divides them into [four windows](Windows), hands out
//! [leases](VaLease), and takes them back when they are dropped. It knows nothing of BOs, kernels or devices.
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
//! Placement is libdrm's: first fit from below, from above for replayable leases, so that the same requests have the
//! same addresses in every run, and the ones that RADV on libdrm has. Windows are libdrm's, but for the
//! [exceptions](Windows::new). It differs where libdrm loses or hides something:
//!
//! * giving back cannot fail; libdrm loses the range when it has no memory for a list node;
//! * sizes of zero, sums that wrap, and double frees are errors or cannot be written down;
//! * a refusal says what was asked, what was free and what was in the way;
//! * the fallback into the 32-bit window is [asked for](Fallback), and keeps the first error;
//! * the cost does not grow with the number of holes;
//! * device memory has addresses again that its thread has freed lately, without a search.
//!
//! Source: libdrm 2.4.134, `amdgpu/amdgpu_vamgr.c`, `amdgpu_vamgr_find_va` and `amdgpu_vamgr_free_va`.
//!
//! # Why this structure
//!
//! First fit in address order is the requirement; [`Holes`] is the fastest structure for it of those that were built
//! and measured. `cargo bench -p amdgpu-bench --bench vamgr` repeats the measurement with all of them, checks that they make the same
//! placements, and takes half a minute. Nanoseconds for one free and one allocation, at the given number of live ranges of 4 KiB to
//! 64 MiB, log-uniform, one in three aligned to 64 KiB or 2 MiB:
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
//! Medians of 200 batches of 1,000 pairs on a shared virtual machine of two cores (AMD EPYC 7003, 0.5 MiB of L2, huge
//! pages off) with other work going on: repeated runs differ by 5% up to 100,000 ranges and by 10% beyond. Of a million
//! ranges' time about 100 ns are the benchmark's own, fetching the lease to be freed from memory. They are from before
//! taking and giving were compiled for wide vectors and rid of branches, which takes a seventh off at 1,000 and 10,000.
//!
//! Measured elsewhere on the same kind of machine: libdrm 24 ns empty, 1,300 at 1,000 and 25,000 at 10,000 ranges; the
//! TLSF of the Vulkan Memory Allocator 76, 123, 1,013 and 4,383. TLSF takes a hole that is about right, wherever it
//! is, and looks at one or two. To find the lowest one costs more while everything fits the caches (twice as much at
//! 1,000), and less beyond (a third at 100,000, an eighth at a million), as memory stays compact and the walk short.
//! That is the price of addresses that do not depend on the history of a free list. The first goals were 200 ns at
//! 100,000 ranges and less than three times as much at a million as at 1,000. Ranges of one size meet the first and miss
//! the second by little (3.1 times); for the mixed sizes above no first-fit index was found that does (310 ns and 3.3
//! times; 220 ns with page alignment only).
//!
//! If half of all blocks are holes that do not fit (100,000 blocks, 50,000 holes), an allocation that finds all of
//! them too small takes 102 ns, all of them misaligned 146 (the pass that adds the class included), and one that takes
//! the first 129. The treap, which knows three alignments and no others, needs 30,000 for the second with a tenth of
//! the blocks, and the list 10,000.

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
