//! What happens to a device's objects, told to whoever wants to know.

use std::{fmt, sync::Arc};

use super::{AddressBook, BoHistory};
use crate::{
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::VaRange,
};

/// Something that has just happened: the kernel has agreed to it, or it has told us of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A BO came to be: created, imported, or made of user memory.
    BoOpened {
        /// Its handle.
        handle: u32,
        /// Bytes.
        size: u64,
        /// Where it may be placed.
        domains: GemDomain,
        /// How it was made, as far as that is known.
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
        /// Bytes.
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
        /// Bytes.
        len: usize,
    },
    /// The CPU does not see it there any more.
    Unmapped {
        /// The BO.
        handle: u32,
        /// The CPU address that the first byte had.
        base: usize,
        /// Bytes.
        len: usize,
    },
    /// The kernel took a submission.
    Submitted {
        /// The context's id.
        context: u32,
        /// Its number among the submissions of the leading queue.
        sequence: u64,
        /// How many IBs.
        ibs: usize,
        /// How many BOs were listed.
        bos: usize,
    },
    /// The kernel moved BOs out of VRAM since it was last asked; it does not say whose.
    Evicted {
        /// Evictions that copied.
        evictions: u64,
        /// Bytes copied by evictions and other moves.
        bytes_moved: u64,
    },
    /// The kernel told other numbers of what is in use on the whole device than the last time: budgets have changed.
    /// Bytes, as in [`MemoryInfo`](crate::uapi::MemoryInfo).
    BudgetChanged {
        /// Which answer of the kernel this was.
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
        /// How bad it is now.
        level: PressureLevel,
        /// What this process has of the heap, bytes.
        usage: u64,
        /// What it may expect to have, bytes.
        budget: u64,
    },
    /// An allocation would pass a limit of the admission policy.
    OverCommitted {
        /// Index of the heap.
        heap: u32,
        /// Bytes asked for.
        size: u64,
        /// What this process had of the heap then, bytes.
        usage: u64,
        /// The limit, bytes.
        limit: u64,
        /// Whether it was refused; otherwise the policy only reports.
        refused: bool,
    },
}

/// How much of its budget this process has used of a heap.
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

/// Hears of everything that happens to the objects of a device: a tool, a trace, an
/// [`AddressBook`](super::AddressBook). See [`Device::with_observer`](super::Device::with_observer).
///
/// It is called from whatever thread does the thing, after the kernel has agreed, and must not use the device's objects
/// itself. It may panic: what it hears of has an owner by then, which gives it back. Panics while a panic unwinds already
/// are swallowed. A device without an observer pays one comparison for each event, which is then not even made.
///
/// A list of observers is one: each hears of everything, in the list's order.
pub trait Observer: Send + Sync + fmt::Debug {
    /// Hears of an event.
    fn observe(&self, event: &Event);

    /// The address book among the observers, where [`Device::address_book`](super::Device::address_book) finds it.
    fn address_book(&self) -> Option<&AddressBook> {
        None
    }

    /// The history among the observers, where [`Device::history`](super::Device::history) finds it.
    fn history(&self) -> Option<&BoHistory> {
        None
    }
}

impl Observer for Vec<Arc<dyn Observer>> {
    fn observe(&self, event: &Event) {
        for observer in self {
            observer.observe(event);
        }
    }

    fn address_book(&self) -> Option<&AddressBook> {
        self.iter().find_map(|observer| observer.address_book())
    }

    fn history(&self) -> Option<&BoHistory> {
        self.iter().find_map(|observer| observer.history())
    }
}

/// Tells the observer, if there is one; otherwise the event is not even made.
#[inline]
pub(super) fn tell(observer: Option<&Arc<dyn Observer>>, event: impl FnOnce() -> Event) {
    if let Some(observer) = observer {
        if std::thread::panicking() {
            return tell_while_unwinding(&**observer, &event());
        }
        observer.observe(&event());
    }
}

/// A second panic would end the process.
#[cold]
fn tell_while_unwinding(observer: &dyn Observer, event: &Event) {
    let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| observer.observe(event)));
    if told.is_err() {
        // The panic that unwinds already says enough; dropping this one's payload could panic again.
        std::mem::forget(told);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Counter(AtomicU32);

    impl Observer for Counter {
        fn observe(&self, _: &Event) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn without_an_observer_no_event_is_made() {
        tell(None, || unreachable!("nobody listens"));
    }

    #[test]
    fn a_list_of_observers_tells_each_of_them() {
        let (one, two) = (Arc::new(Counter::default()), Arc::new(Counter::default()));
        let all: Arc<dyn Observer> = Arc::new(vec![Arc::clone(&one) as Arc<dyn Observer>, Arc::clone(&two) as _]);
        tell(Some(&all), || Event::BoClosed { handle: 1 });
        assert_eq!([&one, &two].map(|counter| counter.0.load(Ordering::Relaxed)), [1, 1]);
    }
}
