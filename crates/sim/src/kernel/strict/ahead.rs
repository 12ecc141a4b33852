//! The memory of a graphics ring in the late schedule, as its prefetch parser finds it: without what ME, DMA and shaders have written
//! since it last waited for them.
//!
//! Source: Mesa 25.0.7 `src/amd/vulkan`, the places of PFP_SYNC_ME: `radv_cs_emit_cache_flush`, and `radv_cs_emit_cp_dma` for indices.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
};

use amdgpu_hw::GpuVa;
use amdgpu_waves::Reach;

use super::view::is_read_ahead;
use crate::gpu::{CacheObserver, CacheOperation, Client, Ib, Memory, PageFault, Place, Signal};

/// Bytes of a page, and of what a bit mask covers.
const PAGE: usize = 4096;
const WORD: usize = 64;

/// The number of pages above which later writes are found at once, which can only hide mistakes.
const MOST_PAGES: usize = 1 << 14;

/// The bytes of a page that were overwritten.
struct Old {
    data: [u8; PAGE],
    known: [u64; PAGE / WORD],
}

/// Memory with what it held before the writes for which the prefetch parser has not waited.
pub(crate) struct Ahead<'m> {
    memory: &'m dyn Memory,
    pages: RefCell<HashMap<u64, Box<Old>>>,
    /// `true` if the prefetch parser reads memory for the packet, and `true` if it executes the packet.
    reads: Cell<bool>,
    executes: Cell<bool>,
    in_shaders: Cell<bool>,
    client: Cell<Client>,
}

/// Splits a range at page boundaries: the number of the page, the offset in it, and the offset in the range.
fn parts(va: GpuVa, len: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let first = va.as_u64();
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = first.wrapping_add(done as u64);
        let (page, offset) = (at / PAGE as u64, at as usize % PAGE);
        let part = (PAGE - offset).min(len - done);
        let range = done..done + part;
        done += part;
        (part > 0).then_some((page, offset, range))
    })
}

impl<'m> Ahead<'m> {
    /// Begins a job, for which the prefetch parser has waited.
    pub(crate) fn new(memory: &'m dyn Memory) -> Self {
        Self {
            memory,
            pages: RefCell::default(),
            reads: Cell::new(false),
            executes: Cell::new(false),
            in_shaders: Cell::new(false),
            client: Cell::new(Client::Packet),
        }
    }

    /// Returns `true` if the prefetch parser makes the current reads.
    fn is_ahead(&self) -> bool {
        if self.in_shaders.get() { self.client.get() == Client::Indices } else { self.reads.get() }
    }

    /// Keeps the bytes that are about to be overwritten.
    fn keep(&self, va: GpuVa, len: usize) {
        if self.executes.get() && !self.in_shaders.get() {
            return;
        }
        let mut pages = self.pages.borrow_mut();
        let mut before = [0; PAGE];
        for (number, offset, range) in parts(va, len) {
            let before = &mut before[..range.len()];
            let Some(at) = va.checked_add(range.start as u64) else { return };
            // What cannot be read is not written either.
            if pages.len() >= MOST_PAGES && !pages.contains_key(&number) || self.memory.read(at, before).is_err() {
                continue;
            }
            let old = pages.entry(number).or_insert_with(|| Box::new(Old { data: [0; PAGE], known: [0; PAGE / WORD] }));
            for (at, byte) in (offset..).zip(before) {
                let (word, bit) = (at / WORD, 1 << (at % WORD));
                if old.known[word] & bit == 0 {
                    old.known[word] |= bit;
                    old.data[at] = *byte;
                }
            }
        }
    }

    /// Puts old bytes in place of those that were read. Each is found once, so that a packet that waits for others ends.
    fn find(&self, va: GpuVa, out: &mut [u8]) {
        let mut pages = self.pages.borrow_mut();
        if pages.is_empty() {
            return;
        }
        for (number, offset, range) in parts(va, out.len()) {
            let Some(old) = pages.get_mut(&number) else { continue };
            for (at, byte) in (offset..).zip(&mut out[range]) {
                let (word, bit) = (at / WORD, 1 << (at % WORD));
                if old.known[word] & bit != 0 {
                    old.known[word] &= !bit;
                    *byte = old.data[at];
                }
            }
        }
    }
}

impl Memory for Ahead<'_> {
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        self.memory.read(va, out)?;
        if self.is_ahead() {
            self.find(va, out);
        }
        Ok(())
    }

    fn fetch(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        self.memory.fetch(va, out)?;
        self.find(va, out);
        Ok(())
    }

    fn read_code(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        self.memory.read_code(va, out)
    }

    fn route(&self, client: Client, reach: Reach) {
        self.client.set(client);
        self.memory.route(client, reach);
    }

    fn read_lanes(&self, addresses: &[u64; 64], lanes: u64, out: &mut [u32; 64]) -> Result<(), PageFault> {
        self.memory.read_lanes(addresses, lanes, out)
    }

    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault> {
        self.keep(va, data.len());
        self.memory.write(va, data)
    }

    fn write_lanes(&self, addresses: &[u64; 64], lanes: u64, data: &[u32; 64]) -> Result<(), PageFault> {
        for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
            self.keep(GpuVa::from_48_bits(addresses[lane]), 4);
        }
        self.memory.write_lanes(addresses, lanes, data)
    }

    fn update(&self, va: GpuVa, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        self.keep(va, bytes.into());
        self.memory.update(va, bytes, change)
    }

    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault> {
        self.keep(to, usize::try_from(len).unwrap_or_default());
        self.memory.copy(to, from, len)
    }

    fn fill(&self, to: GpuVa, pattern: u32, len: u64) -> Result<(), PageFault> {
        self.keep(to, usize::try_from(len).unwrap_or_default());
        self.memory.fill(to, pattern, len)
    }
}

impl CacheObserver for Ahead<'_> {
    fn packet(&self, place: Place) {
        self.reads.set(is_read_ahead(place.packet));
        self.executes.set(false);
    }

    fn signal(&self, signal: Signal) {
        match signal {
            Signal::PfpSync | Signal::Waited { by_pfp: true, .. } | Signal::Counted { .. } => {
                self.pages.borrow_mut().clear();
            }
            Signal::ByPfp => self.executes.set(true),
            _ => {}
        }
    }

    fn unset(&self, _: &[&str]) {}

    fn shaders(&self, are_running: bool) {
        self.in_shaders.set(are_running);
        self.client.set(Client::Vector);
    }

    fn fetched(&self, _: Ib) {}

    fn operate(&self, operation: CacheOperation) {
        if operation.holds_pfp {
            self.pages.borrow_mut().clear();
        }
    }
}
