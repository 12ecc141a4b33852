//! The IB that an engine is executing.

use amdgpu_hw::GpuVa;
use amdgpu_packets::Target;
use zerocopy::IntoBytes;

use super::port::{clip, pages};
use super::{Access, Environment, Ib, PageFault, Place, Stop};

/// The IB of one level. All of it is fetched when it starts, so later writes to it have no effect. Hardware may do the same,
/// because it prefetches.
#[derive(Debug)]
pub(super) struct Frame {
    ib: Ib,
    dwords: Vec<u32>,
    next: usize,
    fault: Option<PageFault>,
}

impl Frame {
    pub(super) const fn new() -> Self {
        Self { ib: Ib { va: GpuVa::NULL, dwords: 0 }, dwords: Vec::new(), next: 0, fault: None }
    }

    /// Removes the IB.
    pub(super) fn clear(&mut self) {
        self.dwords.clear();
        self.next = 0;
        self.fault = None;
    }

    /// Fetches an IB. Dwords that are not mapped are reported when the engine reaches them.
    pub(super) fn load(&mut self, ib: Ib, env: &Environment<'_>) {
        let (bytes, fault) = clip(ib.va, 4 * u64::from(ib.dwords), Access::Fetch);
        self.ib = ib;
        self.next = 0;
        self.fault = fault;
        self.dwords.clear();
        self.dwords.resize(bytes as usize / 4, 0);
        if env.memory.fetch(ib.va, self.dwords.as_mut_bytes()).is_err() {
            self.load_pages(env);
        }
        env.job.fetched(ib, &self.dwords);
        if let Some(observer) = env.observer() {
            observer.fetched(ib);
        }
    }

    /// Fetches up to the first page that is not mapped.
    fn load_pages(&mut self, env: &Environment<'_>) {
        let mut done = 0usize;
        for (va, len) in pages(self.ib.va, self.dwords.as_bytes().len() as u64) {
            let Some(page) = self.dwords.as_mut_bytes().get_mut(done..done + len as usize) else { break };
            if let Err(fault) = env.memory.fetch(va, page) {
                self.fault = Some(PageFault { access: Access::Fetch, ..fault });
                break;
            }
            done += len as usize;
        }
        self.dwords.truncate(done / 4);
    }

    /// Returns the dwords that were fetched.
    pub(super) fn dwords(&self) -> &[u32] {
        &self.dwords
    }

    /// Returns the failed fetch. The engine may not have reached it.
    pub(super) const fn fault(&self) -> Option<PageFault> {
        self.fault
    }

    /// Returns the index of the next packet.
    pub(super) const fn next(&self) -> usize {
        self.next
    }

    pub(super) const fn advance(&mut self, dwords: usize) {
        self.next += dwords;
    }

    /// Returns the error of the failed fetch, for an engine that has reached it.
    pub(super) fn failed_fetch(&self, target: Target, level: u8) -> Option<Stop> {
        let fault = self.fault?;
        Some(Stop::Fetch { place: self.place(target, level, "command fetch"), fault })
    }

    pub(super) const fn place(&self, target: Target, level: u8, packet: &'static str) -> Place {
        Place { target, ib: self.ib, offset: self.next, level, packet }
    }
}
