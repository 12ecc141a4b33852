//! What happens to a device's objects, told to whoever wants to know.

use std::fmt;

use crate::{
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::VaRange,
};

/// Something that the kernel has just agreed to.
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
    /// A handle was closed; the number may be used again.
    BoClosed {
        /// The handle.
        handle: u32,
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
}

/// Hears of everything that happens to the objects of a device: a tool, a trace, an
/// [`AddressBook`](super::AddressBook). See [`Device::with_observer`](super::Device::with_observer).
///
/// It is called from whatever thread does the thing, after the kernel has agreed, and must not use the device's objects
/// itself. A device without an observer pays one comparison for each event.
pub trait Observer: Send + Sync + fmt::Debug {
    /// Hears of an event.
    fn observe(&self, event: &Event);
}
