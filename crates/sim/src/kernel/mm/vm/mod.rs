//! A file's GPU address space: the mappings of pages.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use amdgpu_uapi::{DevInfo, Errno, GemVmEntry, VaFlags};
use imbl::OrdMap;

use crate::kernel::mm::bo::{Bo, PAGE, WeakBo};

/// The mask of address bits in GEM_VA: 48 bits.
const ADDRESS_MASK: u64 = (1 << 48) - 1;
/// The end of the lowest addresses, which are never mapped (`AMDGPU_VA_RESERVED_BOTTOM`).
const RESERVED_BOTTOM: u64 = 0x1_0000;
/// The hole between the halves of the address space (`AMDGPU_GMC_HOLE_START` and `_END`).
const HOLE: std::ops::Range<u64> = 0x8000_0000_0000..0xffff_8000_0000_0000;

/// A mapping, which starts at its key in the table.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// The number of pages.
    pub(crate) pages: u64,
    /// The mapped BO; `None` for PRT, which reads as zero and ignores writes.
    pub(crate) bo: Option<Arc<Bo>>,
    /// The first page of the BO.
    pub(crate) bo_page: u64,
    pub(crate) flags: VaFlags,
    /// The number of mappings that were made before it in its address space.
    serial: u64,
}

/// The mappings by first page number, of 48-bit addresses, without overlaps.
///
/// A persistent tree: a copy is a reference to its root, and a later change creates new nodes only on the path to the changed
/// entry. Mappings are behind pointers, so that nodes are small.
pub(crate) type Table = OrdMap<u64, Arc<Bound>>;

/// The address space of a file.
///
/// Each job takes the table at its submission, at a cost that does not depend on the number of mappings. So a job sees the mappings
/// of its submission and keeps their BOs alive, and later unmaps do not affect it. This corresponds to the kernel's ordering of
/// page table updates: Linux clears entries only after earlier jobs of the VM.
#[derive(Debug)]
pub(crate) struct Vm {
    table: Table,
    /// The BOs that were mapped since they got their handle, or are always valid, by mmap offset.
    known: HashMap<u64, Known>,
    end: u64,
    /// The number of mappings ever made.
    made: u64,
}

/// A BO of the address space.
#[derive(Debug)]
struct Known {
    bo: WeakBo,
    /// The first page of each mapping of the BO.
    starts: BTreeSet<u64>,
}

/// A validated range of GEM_VA: whole pages inside the VM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages {
    pub(crate) first: u64,
    pub(crate) count: u64,
}

impl Pages {
    const fn end(self) -> u64 {
        self.first + self.count
    }
}

impl Vm {
    /// Creates an empty address space with the limits that DEV_INFO reports.
    ///
    /// Linux 6.12 ends the VM 0x41_0000 bytes before its size. A capture of another kernel reports another end, and all addresses
    /// that DEV_INFO reports must be mappable.
    pub(crate) fn new(info: &DevInfo) -> Self {
        let end = if info.high_va_max == 0 { info.virtual_address_max } else { info.high_va_max & ADDRESS_MASK };
        Self { table: Table::default(), known: HashMap::new(), end, made: 0 }
    }

    /// Returns the current mappings, for a job.
    pub(crate) fn snapshot(&self) -> Table {
        self.table.clone()
    }

    /// Returns the exclusive end of the mappable addresses, with 48 bits.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    /// Returns the BO that is mapped at an address, if its mapping has room there for this many bytes: to the byte if `is_exact`,
    /// otherwise for as many pages as are whole in that number.
    ///
    /// Source: Linux 6.18 and 7.3 `amdgpu_userq.c`, `amdgpu_userq_input_va_validate`.
    pub(crate) fn bound_at(&self, va: u64, bytes: u64, is_exact: bool) -> Option<&Arc<Bo>> {
        let va = va & ADDRESS_MASK;
        let page = va / PAGE;
        let (&first, bound) = self.table.get_prev(&page)?;
        let left = (first + bound.pages).checked_sub(page).filter(|&left| left != 0)?;
        let wanted = if is_exact { va.saturating_add(bytes).div_ceil(PAGE) - page } else { bytes / PAGE };
        bound.bo.as_ref().filter(|_| left >= wanted)
    }

    /// Performs steps 1 to 3 of GEM_VA, which check the address before anything else.
    ///
    /// Source: Linux 6.12 and 7.2 `amdgpu_gem.c`, `amdgpu_gem_va_ioctl`. A sum that wraps passes this check unless the kernel is
    /// `strict`; `pages` rejects it then, but not for UNMAP.
    pub(crate) fn check_address(&self, va: u64, size: u64, strict: bool) -> Result<(), Errno> {
        if va < RESERVED_BOTTOM || HOLE.contains(&va) {
            return Err(Errno::EINVAL);
        }
        let (end, wraps) = (va & ADDRESS_MASK).overflowing_add(size);
        if end > self.end || (wraps && strict) {
            return Err(Errno::EINVAL);
        }
        Ok(())
    }

    /// Performs the checks for MAP, REPLACE and CLEAR.
    ///
    /// Source: Linux 6.12 `amdgpu_vm.c`, `amdgpu_vm_verify_parameters`.
    pub(crate) fn pages(&self, va: u64, size: u64, offset: u64, bo_size: Option<u64>) -> Result<Pages, Errno> {
        let va = va & ADDRESS_MASK;
        let aligned = [va, size, offset].iter().all(|value| value.is_multiple_of(PAGE));
        let end = va.checked_add(size);
        let bo_end = offset.checked_add(size);
        let inside = end.is_some_and(|end| end <= self.end)
            && bo_end.is_some_and(|end| bo_size.is_none_or(|bo_size| end <= bo_size));
        if !aligned || size == 0 || !inside {
            return Err(Errno::EINVAL);
        }
        Ok(Pages { first: va / PAGE, count: size / PAGE })
    }

    /// Maps a range; EINVAL without a change if it overlaps an existing mapping.
    pub(crate) fn map(&mut self, pages: Pages, bo: Option<Arc<Bo>>, offset: u64, flags: VaFlags) -> Result<(), Errno> {
        let before = self.table.get_prev(&(pages.end() - 1));
        if before.is_some_and(|(&first, bound)| first + bound.pages > pages.first) {
            return Err(Errno::EINVAL);
        }
        self.insert(pages.first, Bound { pages: pages.count, bo, bo_page: offset / PAGE, flags, serial: 0 });
        Ok(())
    }

    /// Returns `true` if a mapping of `bo` (PRT for `None`) starts at the address.
    pub(crate) fn starts_at(&self, va: u64, bo: Option<&Arc<Bo>>) -> bool {
        let page = (va & ADDRESS_MASK) / PAGE;
        self.table.get(&page).is_some_and(|bound| same(bound.bo.as_ref(), bo))
    }

    /// Removes the mapping of `bo` (PRT for `None`) that starts at the address.
    pub(crate) fn unmap(&mut self, va: u64, bo: Option<&Arc<Bo>>) -> Result<(), Errno> {
        if !self.starts_at(va, bo) {
            return Err(Errno::ENOENT);
        }
        self.remove((va & ADDRESS_MASK) / PAGE);
        Ok(())
    }

    /// Removes all mappings in a range. Parts of mappings outside the range remain.
    pub(crate) fn clear(&mut self, pages: Pages) {
        let mut hit: Vec<u64> = self.table.range(pages.first..pages.end()).map(|(&first, _)| first).collect();
        let before = pages.first.checked_sub(1).and_then(|page| self.table.get_prev(&page));
        hit.extend(before.filter(|&(&first, bound)| first + bound.pages > pages.first).map(|(&first, _)| first));
        for first in hit {
            let Some(bound) = self.remove(first) else { continue };
            let end = first + bound.pages;
            if first < pages.first {
                self.insert(first, Bound { pages: pages.first - first, ..bound.clone() });
            }
            if end > pages.end() {
                let cut = pages.end() - first;
                let rest = Bound { pages: end - pages.end(), bo_page: bound.bo_page + cut, ..bound };
                self.insert(pages.end(), rest);
            }
        }
    }

    /// Removes every mapping of a BO, as closing its last handle does.
    pub(crate) fn forget(&mut self, bo: &Bo) {
        for first in self.known.remove(&bo.mmap_offset()).map(|known| known.starts).unwrap_or_default() {
            self.table.remove(&first);
        }
    }

    /// Returns the mappings of a BO, the newest first.
    pub(crate) fn bindings_of(&self, bo: &Bo) -> Vec<GemVmEntry> {
        let starts = self.known.get(&bo.mmap_offset()).into_iter().flat_map(|known| &known.starts);
        let mut found: Vec<_> = starts.filter_map(|&first| Some((first, self.table.get(&first)?))).collect();
        found.sort_unstable_by_key(|(_, bound)| Reverse(bound.serial));
        let entry = |(first, bound): (u64, &Arc<Bound>)| GemVmEntry {
            addr: first * PAGE,
            size: bound.pages * PAGE,
            offset: bound.bo_page * PAGE,
            flags: bound.flags.bits().into(),
        };
        found.into_iter().map(entry).collect()
    }

    /// Registers a BO that is always valid in this address space.
    pub(crate) fn know(&mut self, bo: &Arc<Bo>) {
        self.entry(bo);
    }

    fn entry(&mut self, bo: &Arc<Bo>) -> &mut Known {
        let new = || Known { bo: Arc::downgrade(bo), starts: BTreeSet::new() };
        self.known.entry(bo.mmap_offset()).or_insert_with(new)
    }

    /// Returns the BOs of this address space.
    pub(crate) fn known(&self) -> Vec<Arc<Bo>> {
        self.known.values().filter_map(|known| known.bo.upgrade()).collect()
    }

    fn insert(&mut self, first: u64, bound: Bound) {
        let bound = Bound { serial: self.made, ..bound };
        self.made += 1;
        if let Some(bo) = &bound.bo {
            self.entry(bo).starts.insert(first);
        }
        self.table.insert(first, Arc::new(bound));
    }

    fn remove(&mut self, first: u64) -> Option<Bound> {
        let bound = Arc::unwrap_or_clone(self.table.remove(&first)?);
        let known = bound.bo.as_ref().and_then(|bo| self.known.get_mut(&bo.mmap_offset()));
        if let Some(known) = known {
            known.starts.remove(&first);
        }
        Some(bound)
    }

    /// Returns the number of mappings, and their size in bytes.
    pub(crate) fn census(&self) -> (usize, u64) {
        (self.table.len(), self.table.values().map(|bound| bound.pages * PAGE).sum())
    }
}

fn same(one: Option<&Arc<Bo>>, other: Option<&Arc<Bo>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
