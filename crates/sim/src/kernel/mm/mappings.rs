//! The mappings of a job and how they are found.

use std::{cell::Cell, collections::HashSet, sync::Arc};

use amdgpu_hw::GpuVa;
use amdgpu_uapi::{GemCreateFlags, VaFlags};

use crate::{
    gpu::Access,
    kernel::{
        complaints::Complaints,
        mm::{
            bo::{Bo, PAGE},
            vm::{Bound, Table},
        },
    },
};

/// The BOs in a submission's list, which are resident while it runs.
#[derive(Debug)]
pub(crate) struct Listed {
    /// The mmap offsets of the BOs, which identify them.
    offsets: HashSet<u64>,
    complaints: Arc<Complaints>,
}

impl Listed {
    pub(crate) fn new(bos: &[Arc<Bo>], complaints: &Arc<Complaints>) -> Self {
        Self { offsets: bos.iter().map(|bo| bo.mmap_offset()).collect(), complaints: Arc::clone(complaints) }
    }

    /// Returns `true` if a BO is resident for the job, and records a complaint if it is not. BOs that the file created as always
    /// valid are resident.
    fn has(&self, bo: &Bo, va: GpuVa) -> bool {
        let is_resident =
            bo.attributes().flags.contains(GemCreateFlags::VM_ALWAYS_VALID) || self.offsets.contains(&bo.mmap_offset());
        if !is_resident {
            self.complaints.report(format!("a job touches {va}, whose BO its submission does not list"));
        }
        is_resident
    }
}

/// The mappings of an address space, and the BOs that are resident.
#[derive(Clone, Debug)]
pub(crate) struct Mappings {
    table: Table,
    /// The BOs that the job may access, if this is enforced.
    listed: Option<Arc<Listed>>,
}

impl Mappings {
    pub(super) fn new(table: Table, listed: Option<Arc<Listed>>) -> Self {
        Self { table, listed }
    }

    /// Returns the mapping of an address, if it permits the access, and the number of its first page.
    pub(super) fn find(&self, va: GpuVa, access: Access) -> Option<(u64, &Bound)> {
        let page = va.low_48_bits() / PAGE;
        let (&first, bound) = self.table.get_prev(&page)?;
        if page >= first + bound.pages || !allows(bound, access) {
            return None;
        }
        if let (Some(listed), Some(bo)) = (&self.listed, &bound.bo)
            && !listed.has(bo, va)
        {
            return None;
        }
        Some((first, bound))
    }
}

/// Returns `true` if a mapping permits an access. A mapping without a BO is PRT, where accesses have no effect.
pub(super) fn allows(bound: &Bound, access: Access) -> bool {
    let Some(bo) = &bound.bo else { return access != Access::Fetch };
    let needed = match access {
        Access::Read | Access::Fetch => VaFlags::READABLE,
        Access::Write => VaFlags::WRITEABLE,
    };
    bound.flags.contains(needed) && bo.is_reachable() && (access != Access::Write || bo.is_writable())
}

/// The number of mappings that are kept. Shaders access some buffers alternately; each is mostly one mapping.
const KEPT: usize = 4;

/// Mappings of a job that remember what one thread has found, so that an access of a wave need neither search the tree of mappings nor the
/// list of resident BOs.
///
/// What is found stays right as long as the mappings live: they are those of the submission, which no later change of the address space
/// affects, and so is the list of resident BOs. What may change meanwhile, such as that a BO has lost its memory, is asked at each access.
/// Memory whose page tables do change below a running job, that of user queues, keeps nothing.
pub(crate) struct Recent<'m> {
    mappings: &'m Mappings,
    known: [Cell<Option<(u64, &'m Bound)>>; KEPT],
    /// The place of the mapping to replace next.
    oldest: Cell<usize>,
}

impl<'m> Recent<'m> {
    pub(super) fn new(mappings: &'m Mappings) -> Self {
        Self { mappings, known: Default::default(), oldest: Cell::new(0) }
    }

    /// Returns the mapping of an address, if it permits the access, and the number of its first page.
    pub(super) fn find(&self, va: GpuVa, access: Access) -> Option<(u64, &'m Bound)> {
        let page = va.low_48_bits() / PAGE;
        for known in &self.known {
            if let Some((first, bound)) = known.get()
                && page.wrapping_sub(first) < bound.pages
            {
                return allows(bound, access).then_some((first, bound));
            }
        }
        // Only what permits an access is kept: each other one is looked at, and complained about, as without this.
        let found = self.mappings.find(va, access)?;
        let oldest = self.oldest.get();
        self.known[oldest].set(Some(found));
        self.oldest.set((oldest + 1) % KEPT);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_uapi::{DevInfo, GemDomain};

    use super::*;
    use crate::kernel::{
        mm::{
            bo::{Attributes, Identity, New, Offsets, Pools, Request},
            vm::Vm,
        },
        sync::reservation::Reservation,
    };

    /// The number of BOs, more than are kept, and the first page of each, in units of which the BO has one half.
    const BOS: u64 = 7;
    const STEP: u64 = 8;

    fn bo(pools: &Arc<Pools>, offsets: &Arc<Offsets<Bo>>) -> Arc<Bo> {
        let (preferred, allowed, flags) = (GemDomain::GTT, GemDomain::GTT, GemCreateFlags::empty());
        let attributes = Attributes { size: 4 * PAGE, alignment: 0, preferred, allowed, flags };
        let reservation = Arc::<Reservation>::default();
        let domains = GemDomain::GTT;
        let request =
            Request { bytes: 4 * PAGE, domains, flags, vm: None, reservation: Arc::clone(&reservation), payer: None };
        Bo::create(New {
            identity: Identity::new(attributes, offsets),
            offsets: Arc::clone(offsets),
            allocation: pools.place(request).expect("an empty device has room").0,
            user_pages: None,
            reservation,
        })
    }

    /// Returns an address space in which every other BO is read only, and its BOs.
    fn space() -> (Vm, Vec<Arc<Bo>>) {
        let (pools, offsets) = (Pools::new(crate::profile("navi21").expect("a chip")), Arc::default());
        let mut vm = Vm::new(&DevInfo { virtual_address_max: 1 << 47, ..DevInfo::ZEROED });
        let bos: Vec<_> = (0..BOS).map(|_| bo(&pools, &offsets)).collect();
        for (place, bo) in (1..).zip(&bos) {
            let pages = vm.pages(place * STEP * PAGE, 4 * PAGE, 0, Some(4 * PAGE)).unwrap();
            let flags = if place % 2 == 0 { VaFlags::READABLE } else { VaFlags::READABLE | VaFlags::WRITEABLE };
            vm.map(pages, Some(Arc::clone(bo)), 0, flags).unwrap();
        }
        (vm, bos)
    }

    fn first_of(found: Option<(u64, &Bound)>) -> Option<(u64, *const Bound)> {
        found.map(|(first, bound)| (first, std::ptr::from_ref(bound)))
    }

    #[test]
    fn a_thread_finds_what_the_mappings_of_the_submission_have_whatever_it_found_before() {
        let (mut vm, bos) = space();
        let mappings = Mappings::new(vm.snapshot(), None);
        let recent = Recent::new(&mappings);
        let (mut state, mut found) = (1_u64, 0);
        for turn in 0..4000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let page = state >> 33 & 63;
            let va = GpuVa::from_48_bits(page * PAGE + (state >> 20 & 0xfff));
            for access in [Access::Read, Access::Write] {
                let expected = first_of(mappings.find(va, access));
                assert_eq!(first_of(recent.find(va, access)), expected, "page {page}, {access:?}");
                found += u32::from(expected.is_some());
            }
            // Later changes are those of later submissions.
            if turn % 500 == 499 {
                vm.forget(&bos[turn / 500 % bos.len()]);
            }
        }
        assert!(
            (2000..4000).contains(&found),
            "{found} of 8000, as seven of sixteen pages are mapped, and half of them read only"
        );
        let writable = recent.find(GpuVa::from_48_bits(STEP * PAGE), Access::Write);
        let read_only = recent.find(GpuVa::from_48_bits(2 * STEP * PAGE), Access::Write);
        assert!(writable.is_some() && read_only.is_none(), "of mappings that are known by reads");
    }

    #[test]
    fn a_bo_that_is_not_listed_is_complained_about_whatever_was_found_before() {
        let (vm, bos) = space();
        let complaints = Arc::new(Complaints::default());
        let listed = Arc::new(Listed::new(&bos[1..], &complaints));
        let mappings = Mappings::new(vm.snapshot(), Some(listed));
        let recent = Recent::new(&mappings);
        let at = |place: u64| GpuVa::from_48_bits(place * STEP * PAGE);
        for place in 2..=BOS {
            assert!(recent.find(at(place), Access::Read).is_some());
        }
        assert_eq!(complaints.count(), 0);
        for _ in 0..2 {
            assert!(recent.find(at(1), Access::Read).is_none());
        }
        assert_eq!(complaints.count(), 2);
    }
}
