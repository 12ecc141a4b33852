//! Events of a device's objects, for observers.

use crate::{
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::VaRange,
};

/// An event that a device reports to its observer: the kernel has completed an operation on an object, or has reported a change.
///
/// ```
/// use amdgpu_winsys::winsys::{BoHistory, Device, Event};
/// # use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{Bo, BoRequest}};
///
/// let history = BoHistory::new(16);
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// let device = Device::with_observer(kernel, history.clone())?;
/// # let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
/// drop(Bo::create(&device, request)?);
/// let events: Vec<_> = history.entries().into_iter().map(|entry| entry.event).collect();
/// let [Event::BoOpened { handle, size: 4096, .. }, Event::BoClosed { .. }] = events[..] else {
///     return Err(format!("{events:?}").into());
/// };
/// assert_eq!(events[1].handle(), Some(handle));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A BO was created, imported, or made from user memory.
    BoOpened {
        /// The BO's handle.
        handle: u32,
        /// Size in bytes.
        size: u64,
        /// Domains in which the BO may be placed.
        domains: GemDomain,
        /// Creation flags, as far as they are known.
        flags: GemCreateFlags,
    },
    /// A GEM handle was closed, which releases this file's reference to the BO. The kernel may reuse the number.
    BoClosed {
        /// The GEM handle that was closed.
        handle: u32,
    },
    /// A BO was allocated as device memory, like memory from vkAllocateMemory. This event follows [`Event::BoOpened`] and
    /// [`Event::Bound`]; [`Event::BoClosed`] reports the end of the memory.
    Allocated {
        /// The BO's handle.
        handle: u32,
        /// Index of the memory type.
        memory_type: u32,
        /// Index of the heap.
        heap: u32,
        /// Size in bytes.
        size: u64,
    },
    /// GPU addresses were bound to a BO, or part of one, replacing earlier bindings.
    Bound {
        /// The bound range.
        range: VaRange,
        /// The BO's handle.
        handle: u32,
        /// Offset of the bound part in the BO, in bytes.
        bo_offset: u64,
        /// Access rights and MTYPE.
        flags: VaFlags,
    },
    /// GPU addresses were unbound.
    Unbound {
        /// The unbound range.
        range: VaRange,
    },
    /// A BO was mapped for the CPU.
    Mapped {
        /// The BO's handle.
        handle: u32,
        /// The CPU address of the first byte.
        base: usize,
        /// Size in bytes.
        len: usize,
    },
    /// A CPU mapping of a BO was removed.
    Unmapped {
        /// The BO's handle.
        handle: u32,
        /// The CPU address of the former first byte.
        base: usize,
        /// Size in bytes.
        len: usize,
    },
    /// The kernel accepted a submission.
    Submitted {
        /// The kernel's ID of the context.
        context: u32,
        /// Sequence number of the submission on its leading queue.
        sequence: u64,
        /// Number of IBs.
        ibs: usize,
        /// Number of listed BOs.
        bos: usize,
    },
    /// The kernel evicted BOs from VRAM since the last query. It does not report the processes that they belong to.
    Evicted {
        /// Number of BOs that were evicted and copied.
        evictions: u64,
        /// Number of bytes copied by evictions and other moves.
        bytes_moved: u64,
    },
    /// The kernel reported a changed memory usage of the whole GPU, so budgets have changed. Sizes are in bytes, as in
    /// [`MemoryInfo`](crate::uapi::MemoryInfo).
    BudgetChanged {
        /// Number of the usage query that found the change, counted from 1.
        generation: u64,
        /// Usage of VRAM.
        vram: u64,
        /// Usage of visible VRAM.
        visible_vram: u64,
        /// Usage of GTT.
        gtt: u64,
    },
    /// The pressure level of a heap has changed.
    Pressure {
        /// Index of the heap.
        heap: u32,
        /// The new level.
        level: PressureLevel,
        /// This process's usage of the heap, in bytes.
        usage: u64,
        /// This process's budget for the heap, in bytes.
        budget: u64,
    },
    /// An allocation would exceed a limit of the admission policy.
    OverCommitted {
        /// Index of the heap.
        heap: u32,
        /// Requested size in bytes.
        size: u64,
        /// This process's usage of the heap at the time of the request, in bytes.
        usage: u64,
        /// The limit in bytes.
        limit: u64,
        /// `true` if the allocation was refused, `false` if the policy only reports.
        refused: bool,
    },
}

/// The pressure on a heap: the share of its budget that this process uses.
///
/// For the exact limits, see [`HeapBudget::pressure`](crate::heaps::HeapBudget::pressure).
///
/// ```
/// use amdgpu_winsys::{heaps::HeapBudget, winsys::PressureLevel};
///
/// let level = |usage| HeapBudget { budget: 1000, usage }.pressure(PressureLevel::Low);
/// assert_eq!([level(700), level(800), level(1001)], [
///     PressureLevel::Low,      // nothing to do
///     PressureLevel::High,     // drop caches
///     PressureLevel::Exceeded, // the kernel evicts memory
/// ]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PressureLevel {
    /// Less than 80 % of the budget is used.
    #[default]
    Low,
    /// At least 80 % of the budget is used.
    High,
    /// More than the whole budget is used.
    Exceeded,
}

impl Event {
    /// Returns the handle of the BO that the event is about, if any.
    pub const fn handle(&self) -> Option<u32> {
        match *self {
            Self::BoOpened { handle, .. }
            | Self::BoClosed { handle }
            | Self::Allocated { handle, .. }
            | Self::Bound { handle, .. }
            | Self::Mapped { handle, .. }
            | Self::Unmapped { handle, .. } => Some(handle),
            _ => None,
        }
    }

    /// Returns the GPU addresses that the event is about, if any.
    pub const fn addresses(&self) -> Option<VaRange> {
        match *self {
            Self::Bound { range, .. } | Self::Unbound { range } => Some(range),
            _ => None,
        }
    }
}
