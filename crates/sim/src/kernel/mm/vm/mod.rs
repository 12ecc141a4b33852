//! A file's GPU address space: which pages are bound to what.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use amdgpu_uapi::{DevInfo, Errno, VaFlags};
use imbl::OrdMap;

use crate::kernel::mm::bo::{Bo, PAGE, WeakBo};

/// GEM_VA works on 48 bits of address.
const ADDRESS_MASK: u64 = (1 << 48) - 1;
/// The lowest addresses are never bound (`AMDGPU_VA_RESERVED_BOTTOM`).
const RESERVED_BOTTOM: u64 = 0x1_0000;
/// Between the halves (`AMDGPU_GMC_HOLE_START` and `_END`).
const HOLE: std::ops::Range<u64> = 0x8000_0000_0000..0xffff_8000_0000_0000;

/// One binding, from its first page on.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// Pages.
    pub(crate) pages: u64,
    /// Nothing behind it when `None`: PRT, reads zero and drops writes.
    pub(crate) bo: Option<Arc<Bo>>,
    /// First page of the BO.
    pub(crate) bo_page: u64,
    pub(crate) flags: VaFlags,
}

/// Bindings by first page number, of 48-bit addresses. None overlap.
///
/// A persistent tree: a copy is one more reference to its root, and a change afterwards makes new nodes only on the way
/// to what it changes. Bindings lie behind pointers, for nodes that are small to shift and to copy.
pub(crate) type Table = OrdMap<u64, Arc<Bound>>;

/// The address space.
///
/// Each job takes the table as it is at its submission, which costs the same however much is bound. So a job sees the
/// bindings of its submission and keeps alive what is bound there, and an unbinding never disturbs it, which is what the
/// kernel's ordering of page-table updates amounts to: Linux clears entries only after the VM's earlier jobs.
#[derive(Debug)]
pub(crate) struct Vm {
    table: Table,
    /// BOs that were bound since they got their handle, or are always valid, by mmap offset.
    known: HashMap<u64, Known>,
    end: u64,
}

/// A BO that the address space has to do with.
#[derive(Debug)]
struct Known {
    bo: WeakBo,
    /// The first page of each of its bindings.
    starts: BTreeSet<u64>,
}

/// A range as GEM_VA was asked for it, judged: whole pages inside the VM.
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
    /// An empty address space with the limits that DEV_INFO reports.
    ///
    /// Linux 6.12 ends the VM 0x41_0000 bytes before its size; a capture of another kernel reports another end, and what
    /// DEV_INFO reports must be bindable.
    pub(crate) fn new(info: &DevInfo) -> Self {
        let end = if info.high_va_max == 0 { info.virtual_address_max } else { info.high_va_max & ADDRESS_MASK };
        Self { table: Table::default(), known: HashMap::new(), end }
    }

    /// The bindings as they are now, for a job.
    pub(crate) fn snapshot(&self) -> Table {
        self.table.clone()
    }

    /// Returns the first address behind all that can be bound, 48 bits.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    /// Returns the BO that is bound at an address, if its binding goes on for this many bytes, counted in whole pages.
    ///
    /// Source: Linux 6.18 `amdgpu_userq.c`, `amdgpu_userq_input_va_validate`.
    pub(crate) fn bound_at(&self, va: u64, bytes: u64) -> Option<&Arc<Bo>> {
        let page = (va & ADDRESS_MASK) / PAGE;
        let (&first, bound) = self.table.get_prev(&page)?;
        let left = (first + bound.pages).checked_sub(page).filter(|&left| left != 0)?;
        bound.bo.as_ref().filter(|_| left >= bytes / PAGE)
    }

    /// Steps 1 to 3 of GEM_VA: the address, before anything else is looked at.
    ///
    /// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_va_ioctl`.
    pub(crate) fn check_address(&self, va: u64, size: u64) -> Result<(), Errno> {
        if va < RESERVED_BOTTOM || HOLE.contains(&va) {
            return Err(Errno::EINVAL);
        }
        // A sum that wraps passes here, as in the kernel, and is caught by `pages`.
        if (va & ADDRESS_MASK).wrapping_add(size) > self.end {
            return Err(Errno::EINVAL);
        }
        Ok(())
    }

    /// The checks that MAP, REPLACE and CLEAR share.
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

    /// Binds; any overlap is EINVAL and changes nothing.
    pub(crate) fn map(&mut self, pages: Pages, bo: Option<Arc<Bo>>, offset: u64, flags: VaFlags) -> Result<(), Errno> {
        let before = self.table.get_prev(&(pages.end() - 1));
        if before.is_some_and(|(&first, bound)| first + bound.pages > pages.first) {
            return Err(Errno::EINVAL);
        }
        self.insert(pages.first, Bound { pages: pages.count, bo, bo_page: offset / PAGE, flags });
        Ok(())
    }

    /// Removes the one binding of `bo` (PRT for `None`) that starts at the address.
    pub(crate) fn unmap(&mut self, va: u64, bo: Option<&Arc<Bo>>) -> Result<(), Errno> {
        let page = (va & ADDRESS_MASK) / PAGE;
        let found = self.table.get(&page).is_some_and(|bound| same(bound.bo.as_ref(), bo));
        if !found {
            return Err(Errno::ENOENT);
        }
        self.remove(page);
        Ok(())
    }

    /// Removes everything in a range; what sticks out stays bound.
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

    /// Removes every binding of a BO, as closing its last handle does.
    pub(crate) fn forget(&mut self, bo: &Bo) {
        for first in self.known.remove(&bo.mmap_offset()).map(|known| known.starts).unwrap_or_default() {
            self.table.remove(&first);
        }
    }

    /// A BO that is always valid here counts from the start.
    pub(crate) fn know(&mut self, bo: &Arc<Bo>) {
        self.entry(bo);
    }

    fn entry(&mut self, bo: &Arc<Bo>) -> &mut Known {
        let new = || Known { bo: Arc::downgrade(bo), starts: BTreeSet::new() };
        self.known.entry(bo.mmap_offset()).or_insert_with(new)
    }

    /// The BOs that this address space has to do with.
    pub(crate) fn known(&self) -> Vec<Arc<Bo>> {
        self.known.values().filter_map(|known| known.bo.upgrade()).collect()
    }

    fn insert(&mut self, first: u64, bound: Bound) {
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

    /// Bindings, and the bytes they cover.
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
