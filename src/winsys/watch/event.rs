//! Events of a device's objects.

use crate::{
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::VaRange,
};

/// Something that has just happened: the kernel has agreed to it, or it has reported it.
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
    /// A BO came to be: created, imported, or made of user memory.
    BoOpened {
        /// Its handle.
        handle: u32,
        /// Size in bytes.
        size: u64,
        /// Domains in which it may be placed.
        domains: GemDomain,
        /// Creation flags, as far as they are known.
        flags: GemCreateFlags,
    },
    /// A handle was closed; the number may be used again. That frees the BO, as far as this file is concerned.
    BoClosed {
        /// The handle.
        handle: u32,
    },
    /// A BO became device memory of a type: what vkAllocateMemory returns. It comes after [`Event::BoOpened`] and
    /// [`Event::Bound`]; [`Event::BoClosed`] is its end.
    Allocated {
        /// The BO.
        handle: u32,
        /// Index of the memory type.
        memory_type: u32,
        /// Index of the heap.
        heap: u32,
        /// Size in bytes.
        size: u64,
    },
    /// Addresses point to (part of) a BO from now on, whatever was there before.
    Bound {
        /// The addresses.
        range: VaRange,
        /// The BO.
        handle: u32,
        /// The first byte of it.
        bo_offset: u64,
        /// Access rights and memory type.
        flags: VaFlags,
    },
    /// Addresses point nowhere any more.
    Unbound {
        /// The addresses.
        range: VaRange,
    },
    /// The CPU sees a BO.
    Mapped {
        /// The BO.
        handle: u32,
        /// The CPU address of the first byte.
        base: usize,
        /// Size in bytes.
        len: usize,
    },
    /// The CPU does not see it there any more.
    Unmapped {
        /// The BO.
        handle: u32,
        /// The CPU address that the first byte had.
        base: usize,
        /// Size in bytes.
        len: usize,
    },
    /// The kernel took a submission.
    Submitted {
        /// The context's id.
        context: u32,
        /// Its number among the submissions of the leading queue.
        sequence: u64,
        /// Number of IBs.
        ibs: usize,
        /// Number of BOs listed.
        bos: usize,
    },
    /// The kernel moved BOs out of VRAM since it was last asked; it does not say whose.
    Evicted {
        /// Evictions that copied.
        evictions: u64,
        /// Bytes copied by evictions and other moves.
        bytes_moved: u64,
    },
    /// The kernel reported other usage of the whole device than the last time: budgets have changed.
    /// Bytes, as in [`MemoryInfo`](crate::uapi::MemoryInfo).
    BudgetChanged {
        /// Number of the kernel's answer.
        generation: u64,
        /// VRAM in use.
        vram: u64,
        /// Visible VRAM in use.
        visible_vram: u64,
        /// GTT in use.
        gtt: u64,
    },
    /// A heap came under pressure or was relieved of it.
    Pressure {
        /// Index of the heap.
        heap: u32,
        /// The new level.
        level: PressureLevel,
        /// This process's usage of the heap, bytes.
        usage: u64,
        /// This process's budget, bytes.
        budget: u64,
    },
    /// An allocation would pass a limit of the admission policy.
    OverCommitted {
        /// Index of the heap.
        heap: u32,
        /// Bytes asked for.
        size: u64,
        /// This process's usage of the heap at that time, bytes.
        usage: u64,
        /// The limit, bytes.
        limit: u64,
        /// `true` if it was refused; otherwise the policy only reports.
        refused: bool,
    },
}

/// Share of its budget of a heap that this process has used.
///
/// ```
/// use amdgpu_winsys::{heaps::HeapBudget, winsys::PressureLevel};
///
/// let level = |usage| HeapBudget { budget: 1000, usage }.pressure(PressureLevel::Low);
/// assert_eq!([level(700), level(800), level(1001)], [
///     PressureLevel::Low,      // go on
///     PressureLevel::High,     // drop caches
///     PressureLevel::Exceeded, // the kernel moves memory about
/// ]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PressureLevel {
    /// Less than the rest.
    #[default]
    Low,
    /// Four fifths or more.
    High,
    /// More than all of it.
    Exceeded,
}

impl Event {
    /// Returns the BO it is about.
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

    /// Returns the GPU addresses it is about.
    pub const fn addresses(&self) -> Option<VaRange> {
        match *self {
            Self::Bound { range, .. } | Self::Unbound { range } => Some(range),
            _ => None,
        }
    }
}
