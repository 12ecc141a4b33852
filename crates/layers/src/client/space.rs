//! A client's bindings, derived from its calls.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    ops::Range,
};

use amdgpu_hw::GpuVa;
use amdgpu_uapi::{Argument, GemClose, GemMmap, GemUserptr, GemVaTimeline, Request, VaOperation};
use amdgpu_va::{IntervalMap, Run, VaRange};

use super::calls::{u32_at, u64_at};

/// The number of ended bindings whose names are remembered.
const REMEMBERED: usize = 1024;

const GEM_CLOSE: u8 = GemClose::REQUEST.number();
const GEM_MMAP: u8 = GemMmap::REQUEST.number();
const GEM_VA: u8 = GemVaTimeline::REQUEST.number();
const USERPTR: u8 = GemUserptr::REQUEST.number();

/// The GPU address space of one open file, and the CPU's access to the memory that is bound there.
#[derive(Debug)]
pub(crate) struct Space {
    live: IntervalMap<Bound>,
    /// Pieces that were unbound, oldest first, with the time at which they were.
    freed: VecDeque<(Piece, u64)>,
    /// Number of changes of bindings so far, which serves as the time.
    clock: u64,
    /// Offsets in the device node for mmap, by handle.
    offsets: HashMap<u32, u64>,
    /// Address and size in bytes of the client's own pages, by handle.
    user_pages: HashMap<u32, (u64, u64)>,
}

/// A part of a BO, as it was bound.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// Time of the binding, which distinguishes bindings.
    made: u64,
    handle: u32,
    offset: u64,
}

impl Run for Bound {
    fn skip(&self, by: u64) -> Self {
        Self { offset: self.offset.wrapping_add(by), ..*self }
    }

    fn continues(&self, len: u64, next: &Self) -> bool {
        self.made == next.made && self.offset.wrapping_add(len) == next.offset
    }
}

/// Addresses that are, or were, bound in one piece. Written in the format of `amdgpu_winsys::winsys::Place`.
#[derive(Clone, Debug)]
struct Piece {
    range: Range<u64>,
    bound: Bound,
}

impl Piece {
    fn new((range, bound): (Range<u64>, &Bound)) -> Self {
        Self { range, bound: *bound }
    }

    /// Returns the offset in the BO of an address, bytes.
    fn offset(&self, at: u64) -> u64 {
        self.bound.offset.wrapping_add(at - self.range.start)
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { range, bound } = self;
        let start = GpuVa::from_48_bits(range.start);
        write!(f, "BO {}, {} bytes at {start}", bound.handle, range.end - range.start)
    }
}

/// The memory that is bound at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backing {
    pub(crate) handle: u32,
    /// Offset of the address in the BO, bytes.
    pub(crate) offset: u64,
    /// Bytes from there on that are contiguous in the BO.
    pub(crate) len: u64,
}

impl Space {
    pub(crate) fn new() -> Self {
        Self {
            live: IntervalMap::new(),
            freed: VecDeque::new(),
            clock: 0,
            offsets: HashMap::new(),
            user_pages: HashMap::new(),
        }
    }

    /// Updates the bindings after a successful request, from its argument before and after the call.
    pub(crate) fn hear(&mut self, request: Request, before: &[u8], after: &[u8]) {
        // An argument that is too short has no effect.
        let _ = self.learn(request, before, after);
    }

    fn learn(&mut self, request: Request, before: &[u8], after: &[u8]) -> Option<()> {
        match request.number() {
            USERPTR => {
                let (handle, address, size) = (u32_at(after, 20)?, u64_at(before, 0)?, u64_at(before, 8)?);
                self.user_pages.insert(handle, (address, size));
            }
            GEM_MMAP => drop(self.offsets.insert(u32_at(before, 0)?, u64_at(after, 0)?)),
            GEM_CLOSE => self.closed(u32_at(before, 0)?),
            GEM_VA => self.bound(before)?,
            _ => {}
        }
        Some(())
    }

    /// Removes the bindings of a closed handle, as the kernel does.
    fn closed(&mut self, handle: u32) {
        let bound = |(range, bound): (Range<u64>, &Bound)| (bound.handle == handle).then_some(range);
        for range in self.live.iter().filter_map(bound).collect::<Vec<_>>() {
            self.bind(range, None);
        }
        self.offsets.remove(&handle);
        self.user_pages.remove(&handle);
    }

    fn bound(&mut self, argument: &[u8]) -> Option<()> {
        let (handle, operation) = (u32_at(argument, 0)?, u32_at(argument, 8)?);
        let (va, offset, len) = (u64_at(argument, 16)?, u64_at(argument, 24)?, u64_at(argument, 32)?);
        if operation == VaOperation::Unmap as u32 {
            let (range, _) = self.live.get(GpuVa::from_48_bits(va).low_48_bits())?;
            self.bind(range, None);
            return Some(());
        }
        let start = VaRange::new(GpuVa::from_48_bits(va), len)?.start().low_48_bits();
        let binds = operation != VaOperation::Clear as u32;
        let bound = binds.then_some(Bound { made: self.clock, handle, offset });
        self.bind(start..start + len, bound);
        Some(())
    }

    fn bind(&mut self, range: Range<u64>, bound: Option<Bound>) {
        self.clock += 1;
        let Self { live, freed, clock, .. } = self;
        live.set(range, bound, |range, gone| {
            if freed.len() >= REMEMBERED {
                freed.pop_front();
            }
            freed.push_back((Piece::new((range, gone)), *clock));
        });
    }

    /// Returns the memory that is bound at an address.
    pub(crate) fn backing(&self, va: GpuVa) -> Option<Backing> {
        let at = va.low_48_bits();
        let piece = Piece::new(self.live.get(at)?);
        Some(Backing { handle: piece.bound.handle, offset: piece.offset(at), len: piece.range.end - at })
    }

    /// Returns a description of the binding that is, or was, at an address.
    pub(crate) fn name(&self, address: u64) -> String {
        let at = GpuVa::from_48_bits(address).low_48_bits();
        if let Some(piece) = self.live.get(at).map(Piece::new) {
            return format!("{} bytes into {piece}", piece.offset(at));
        }
        if let Some((piece, when)) = self.freed.iter().rev().find(|(piece, _)| piece.range.contains(&at)) {
            let (into, ago) = (piece.offset(at), self.clock - when);
            return format!("{into} bytes into {piece}, which was unbound {ago} changes ago");
        }
        let below = self.live.last_before(at).map(Piece::new);
        let above = self.live.first_after(at).map(Piece::new);
        let below = below.map(|piece| format!("{} bytes after {piece}", at - piece.range.end));
        let above = above.map(|piece| format!("{} bytes before {piece}", piece.range.start - at));
        match below.into_iter().chain(above).collect::<Vec<_>>().join(", ") {
            neighbours if neighbours.is_empty() => "nothing is bound anywhere".to_owned(),
            neighbours => format!("nothing is bound there; {neighbours}"),
        }
    }

    /// Returns the offset in the device node at which a BO can be mapped, if the client has queried it.
    pub(crate) fn node_offset(&self, handle: u32) -> Option<u64> {
        self.offsets.get(&handle).copied()
    }

    /// Returns the address of the client's own pages of a BO.
    pub(crate) fn user_pages(&self, handle: u32) -> Option<u64> {
        self.user_pages.get(&handle).map(|pages| pages.0)
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_uapi::GemCreate;

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
