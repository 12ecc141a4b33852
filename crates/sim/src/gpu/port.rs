//! Memory accesses of packets. An access to unmapped memory is reported and does not stop the packet.

use std::cell::Cell;

use amdgpu_hw::GpuVa;
use zerocopy::IntoBytes;

use super::budget::Budget;
use super::{Access, Client, Environment, FaultSource, PageFault, Place, Stop};

/// The smallest page of the GPU in bytes. After a fault, an access continues at the next page.
pub(super) const PAGE: u64 = 4096;

const _: () =
    assert!(cfg!(target_endian = "little"), "dwords are handed to the little-endian GPU as they lie in memory");

/// The memory accesses of a packet.
pub(super) struct Port<'e> {
    env: &'e Environment<'e>,
    budget: &'e Budget,
    place: Place,
    reported: Cell<(bool, bool)>,
}

impl<'e> Port<'e> {
    pub(super) const fn new(env: &'e Environment<'e>, budget: &'e Budget, place: Place) -> Self {
        Self { env, budget, place, reported: Cell::new((false, false)) }
    }

    pub(super) const fn place(&self) -> Place {
        self.place
    }

    pub(super) const fn env(&self) -> &'e Environment<'e> {
        self.env
    }

    pub(super) const fn budget(&self) -> &'e Budget {
        self.budget
    }

    /// Pays for a part of the packet's work; see [`Budget::spend`].
    pub(super) fn spend(&self, cost: u64) -> Result<(), Stop> {
        self.budget.spend(cost, self.place, self.env)
    }

    /// Reports a fault to the job, once for each type of access.
    pub(super) fn report(&self, fault: PageFault) {
        let (read, write) = self.reported.get();
        let (reported, now) = match fault.access {
            Access::Write => (write, (read, true)),
            Access::Read | Access::Fetch => (read, (true, write)),
        };
        if !reported {
            self.reported.set(now);
            let source = FaultSource::new(Client::Packet, &fault, self.env.memory);
            self.env.job.fault_by(fault, source, self.place);
        }
    }

    /// Clips as [`clip`] does, and reports a fault to the job.
    fn clip(&self, va: GpuVa, len: u64, access: Access) -> u64 {
        let (len, fault) = clip(va, len, access);
        if let Some(fault) = fault {
            self.report(fault);
        }
        len
    }

    /// Reads memory. Unmapped memory reads as zero.
    pub(super) fn read(&self, va: GpuVa, out: &mut [u8]) {
        let len = self.clip(va, out.len() as u64, Access::Read);
        let (out, behind) = out.split_at_mut(out.len().min(len as usize));
        behind.fill(0);
        if self.env.memory.read(va, out).is_ok() {
            return;
        }
        let mut rest = out;
        for (va, len) in pages(va, rest.len() as u64) {
            let Some((page, behind)) = std::mem::take(&mut rest).split_at_mut_checked(len as usize) else { return };
            if let Err(fault) = self.env.memory.read(va, page) {
                page.fill(0);
                self.report(fault);
            }
            rest = behind;
        }
    }

    pub(super) fn read_u32(&self, va: GpuVa) -> u32 {
        let mut bytes = [0; 4];
        self.read(va, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    pub(super) fn read_u64(&self, va: GpuVa) -> u64 {
        let mut bytes = [0; 8];
        self.read(va, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Writes memory. Writes to unmapped memory are dropped.
    pub(super) fn write(&self, va: GpuVa, data: &[u8]) {
        let len = self.clip(va, data.len() as u64, Access::Write);
        let data = data.get(..len as usize).unwrap_or(data);
        if self.env.memory.write(va, data).is_ok() {
            return;
        }
        let mut rest = data;
        for (va, len) in pages(va, data.len() as u64) {
            let Some((page, behind)) = rest.split_at_checked(len as usize) else { return };
            if let Err(fault) = self.env.memory.write(va, page) {
                self.report(fault);
            }
            rest = behind;
        }
    }

    pub(super) fn write_dwords(&self, va: GpuVa, data: &[u32]) {
        self.write(va, data.as_bytes());
    }

    pub(super) fn write_u64(&self, va: GpuVa, value: u64) {
        self.write(va, &value.to_le_bytes());
    }

    /// Copies between ranges that do not overlap.
    pub(super) fn copy(&self, to: GpuVa, from: GpuVa, len: u64) {
        let len = self.clip(from, len, Access::Read).min(self.clip(to, len, Access::Write));
        if self.env.memory.copy(to, from, len).is_ok() {
            return;
        }
        let mut buffer = [0; PAGE as usize];
        let mut to = Some(to);
        for (from, len) in pages(from, len) {
            let (Some(at), Some(page)) = (to, buffer.get_mut(..len as usize)) else { return };
            self.read(from, page);
            self.write(at, page);
            to = at.checked_add(len);
        }
    }

    /// Fills with the bytes of `pattern`, the lowest first.
    pub(super) fn fill(&self, to: GpuVa, pattern: u32, len: u64) {
        let len = self.clip(to, len, Access::Write);
        if self.env.memory.fill(to, pattern, len).is_ok() {
            return;
        }
        let mut done = 0u32;
        for (va, len) in pages(to, len) {
            // On a page that does not start at a multiple of the pattern, the pattern is rotated.
            let turned = pattern.rotate_right(done % 4 * 8);
            if let Err(fault) = self.env.memory.fill(va, turned, len) {
                self.report(fault);
            }
            done = done.wrapping_add(len as u32);
        }
    }
}

/// Returns `len`, or the length up to the end of this half of the address space if that is less. In that case, it also returns the
/// fault of an access beyond it, because nothing is mapped there.
pub(super) fn clip(va: GpuVa, len: u64, access: Access) -> (u64, Option<PageFault>) {
    let room = match va.as_u64() >> 47 {
        0 => (1 << 47) - va.as_u64(),
        _ => va.as_u64().wrapping_neg(),
    };
    let last = va.checked_add(room - 1).unwrap_or(va);
    (len.min(room), (len > room).then_some(PageFault { va: last, access }))
}

/// Splits a range at page boundaries.
pub(super) fn pages(va: GpuVa, len: u64) -> impl Iterator<Item = (GpuVa, u64)> {
    let mut left = Some((va, len)).filter(|&(_, len)| len > 0);
    std::iter::from_fn(move || {
        let (va, len) = left?;
        let piece = len.min(PAGE - va.as_u64() % PAGE);
        left = va.checked_add(piece).map(|next| (next, len - piece)).filter(|&(_, len)| len > 0);
        Some((va, piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cut_where_pages_end_and_lose_nothing() {
        let cut = |va, len| pages(GpuVa::new(va).unwrap(), len).map(|(va, len)| (va.as_u64(), len)).collect::<Vec<_>>();
        assert_eq!(cut(0x1ffc, 0x1008), [(0x1ffc, 4), (0x2000, 0x1000), (0x3000, 4)]);
        assert_eq!(cut(0x1000, 0), []);
        assert_eq!(cut(u64::MAX - 3, 4), [(u64::MAX - 3, 4)]);
    }

    #[test]
    fn a_range_ends_where_its_half_of_the_address_space_ends() {
        let end = |raw, len| clip(GpuVa::new(raw).unwrap(), len, Access::Read);
        let fault = |raw| Some(PageFault { va: GpuVa::new(raw).unwrap(), access: Access::Read });
        assert_eq!(end(0x7fff_ffff_fff0, 16), (16, None));
        assert_eq!(end(0x7fff_ffff_fff0, 17), (16, fault(0x7fff_ffff_ffff)));
        assert_eq!(end(u64::MAX, 2), (1, fault(u64::MAX)));
        assert_eq!(end(0xffff_8000_0000_0000, u64::MAX), (1 << 47, fault(u64::MAX)));
    }
}
