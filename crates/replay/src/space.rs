//! What a client has bound where, learnt from its calls.

use std::collections::HashMap;

use amdgpu_winsys::{
    uapi::{
        Argument, GemClose, GemCreate, GemCreateFlags, GemDomain, GemMmap, GemUserptr, GemVaTimeline,
        PRIME_FD_TO_HANDLE, Request, VaFlags, VaOperation,
    },
    vamgr::{GpuVa, VaRange},
    winsys::{AddressBook, Event, Finding, Observer, Place},
};

use crate::calls::{u32_at, u64_at};

/// Bindings that went, of which the names are remembered.
const REMEMBERED: usize = 1024;

const GEM_CREATE: u8 = GemCreate::REQUEST.number();
const GEM_CLOSE: u8 = GemClose::REQUEST.number();
const GEM_MMAP: u8 = GemMmap::REQUEST.number();
const GEM_VA: u8 = GemVaTimeline::REQUEST.number();
const USERPTR: u8 = GemUserptr::REQUEST.number();
const IMPORT: u8 = PRIME_FD_TO_HANDLE.number();

/// The GPU address space of one open file, and where the CPU finds what is bound there.
#[derive(Debug)]
pub(crate) struct Space {
    book: AddressBook,
    /// Offsets in the node, by handle.
    offsets: HashMap<u32, u64>,
    /// Address and bytes of the client's own pages, by handle.
    user_pages: HashMap<u32, (u64, u64)>,
}

/// What backs some addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backing {
    pub(crate) handle: u32,
    /// Byte of the BO that the address stands for.
    pub(crate) offset: u64,
    /// Bytes from there on that lie behind it in the BO, too.
    pub(crate) len: u64,
}

impl Space {
    pub(crate) fn new() -> Self {
        Self { book: AddressBook::new(REMEMBERED), offsets: HashMap::new(), user_pages: HashMap::new() }
    }

    /// Takes note of a request that succeeded, by its argument before and after.
    pub(crate) fn hear(&mut self, request: Request, before: &[u8], after: &[u8]) {
        // What the kernel did not have to read is missing, and then nothing is learnt.
        let _ = self.learn(request, before, after);
    }

    fn learn(&mut self, request: Request, before: &[u8], after: &[u8]) -> Option<()> {
        match request.number() {
            GEM_CREATE => {
                let domains = GemDomain::from_bits_truncate(u64_at(before, 16)?);
                self.opened(u32_at(after, 0)?, u64_at(before, 0)?, domains);
            }
            IMPORT => self.opened(u32_at(after, 0)?, 0, GemDomain::empty()),
            USERPTR => {
                let (handle, address, size) = (u32_at(after, 20)?, u64_at(before, 0)?, u64_at(before, 8)?);
                self.opened(handle, size, GemDomain::GTT);
                self.user_pages.insert(handle, (address, size));
            }
            GEM_MMAP => drop(self.offsets.insert(u32_at(before, 0)?, u64_at(after, 0)?)),
            GEM_CLOSE => self.closed(u32_at(before, 0)?),
            GEM_VA => self.bound(before)?,
            _ => {}
        }
        Some(())
    }

    fn opened(&mut self, handle: u32, size: u64, domains: GemDomain) {
        self.book.observe(&Event::BoOpened { handle, size, domains, flags: GemCreateFlags::empty() });
    }

    /// The kernel frees the addresses of a BO with its handle.
    fn closed(&mut self, handle: u32) {
        for place in self.book.live().into_iter().filter(|place| place.handle == handle) {
            self.book.observe(&Event::Unbound { range: place.range });
        }
        self.book.observe(&Event::BoClosed { handle });
        self.offsets.remove(&handle);
        self.user_pages.remove(&handle);
    }

    fn bound(&mut self, argument: &[u8]) -> Option<()> {
        let (handle, operation, flags) = (u32_at(argument, 0)?, u32_at(argument, 8)?, u32_at(argument, 12)?);
        let (va, bo_offset, len) = (u64_at(argument, 16)?, u64_at(argument, 24)?, u64_at(argument, 32)?);
        let range = VaRange::new(GpuVa::from_48_bits(va), len);
        let event = match operation {
            operation if operation == VaOperation::Unmap as u32 => {
                let Finding::Live(place) = self.book.lookup(va) else { return None };
                Event::Unbound { range: place.range }
            }
            operation if operation == VaOperation::Clear as u32 => Event::Unbound { range: range? },
            _ => Event::Bound { range: range?, handle, bo_offset, flags: VaFlags::from_bits_truncate(flags) },
        };
        self.book.observe(&event);
        Some(())
    }

    /// What lies behind an address.
    pub(crate) fn backing(&self, va: GpuVa) -> Option<Backing> {
        let Finding::Live(Place { handle, range, offset, .. }) = self.book.lookup(va.as_u64()) else { return None };
        let into = va.low_48_bits().checked_sub(range.start().low_48_bits())?;
        Some(Backing { handle, offset, len: range.len().checked_sub(into)? })
    }

    /// What lies, or lay, at an address, in words.
    pub(crate) fn name(&self, address: u64) -> String {
        self.book.lookup(address).to_string()
    }

    /// The offset in the node at which a BO can be mapped, if the client has asked.
    pub(crate) fn node_offset(&self, handle: u32) -> Option<u64> {
        self.offsets.get(&handle).copied()
    }

    /// Where the client's own pages are that a BO is made of.
    pub(crate) fn user_pages(&self, handle: u32) -> Option<u64> {
        self.user_pages.get(&handle).map(|pages| pages.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn va_request(handle: u32, operation: VaOperation, va: u64, offset: u64, len: u64) -> Vec<u8> {
        let words = [u64::from(handle), operation as u64 | 2 << 32, va, offset, len];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn what_is_bound_is_found_until_it_is_unbound_or_closed() {
        let mut space = Space::new();
        let create: Vec<u8> = [0x4000_u64, 0, 2, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut answer = create.clone();
        answer[..4].copy_from_slice(&7_u32.to_le_bytes());
        space.hear(GemCreate::REQUEST, &create, &answer);
        let mut bind = |operation, va| {
            let argument = va_request(7, operation, va, 0x1000, 0x2000);
            space.hear(GemVaTimeline::REQUEST, &argument, &argument);
            space.backing(GpuVa::from_48_bits(va + 0x800))
        };
        let there = Some(Backing { handle: 7, offset: 0x1800, len: 0x1800 });
        assert_eq!(bind(VaOperation::Map, 0x10_0000), there);
        assert_eq!(bind(VaOperation::Unmap, 0x10_0000), None);
        assert_eq!(bind(VaOperation::Replace, 0x20_0000), there);
        assert_eq!(bind(VaOperation::Clear, 0x20_0000), None);
        assert_eq!(bind(VaOperation::Map, 0x20_0000), there);
        space.hear(GemClose::REQUEST, &7_u64.to_le_bytes(), &7_u64.to_le_bytes());
        assert_eq!(space.backing(GpuVa::from_48_bits(0x20_0800)), None);
        assert!(space.name(0x20_0800).contains("BO 7"), "{}", space.name(0x20_0800));
    }

    #[test]
    fn arguments_that_are_too_short_teach_nothing() {
        let mut space = Space::new();
        for request in [GemCreate::REQUEST, GemVaTimeline::REQUEST, GemUserptr::REQUEST, GemClose::REQUEST] {
            space.hear(request, &[1], &[]);
        }
        assert_eq!(space.name(0), "nothing is bound anywhere");
    }
}
