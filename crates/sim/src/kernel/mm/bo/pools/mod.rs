//! The memory pools: the usage of VRAM, visible VRAM and GTT.
//!
//! A BO's bytes are in one file regardless of its domain: CPU mappings show the same file before and after a move, so a move only
//! changes the accounting, and contents always survive. Only contents that the driver discards are really erased, see
//! [`BoStatus::lost`].
//!
//! # Why the usage is right, and nothing is evicted that is in use
//!
//! 1. **One lock.** All figures and queues are in one [`PoolState`] behind one mutex. The only locks taken under it are those of
//!    reservations, under which none is taken.
//! 2. **One owner.** Each BO has one [`Allocation`], and pinned memory a [`Pinned`]. Its drop removes its share, and nothing else does.
//! 3. **Counted where it is.** `used` is the sum of the sizes by their places: only `PoolState::add`, `remove` and `move_to` change the
//!    place of a BO, and each changes the sum with it. Pinned memory is counted once and never moves.
//! 4. **Queued where it is.** A BO is in the queue of its place, under the ticket of its class and its last use that the queue knows.
//!    The same three functions insert and remove it, with the ticket that it had then; a later use changes `used` and leaves the
//!    ticket as it is until the BO is moved or considered for eviction.
//! 5. **Room before a move.** `PoolState::find` returns a place only if it has room for all bytes, and `move_to` follows while the lock is
//!    still held. The usage of a pool therefore never exceeds its size.
//! 6. **Evictions end.** Each eviction moves one BO from its pool to another place that has room, and nothing moves back during
//!    the search. A search evicts each BO at most once for each pool, and then fails with ENOMEM.
//! 7. **What a submission uses stays.** [`Pools::validate`] gives all BOs of the submission the same new time before it moves any, and
//!    evicts none that was used since then or shares the reservation of the submission's page tables ([`Keep`]). The guard that it
//!    returns holds the lock until the submission has its fences, so no other request can evict them in between.
//! 8. **Running jobs go on.** An eviction leaves `reachable` as it was, because the page tables of a running job keep their entries
//!    until its end. Only a move for a new use sets it.

mod budget;
pub(crate) mod groups;
mod pinned;
mod place;
mod queue;
mod sizes;
mod state;
#[cfg(test)]
mod tests;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use amdgpu_uapi::{Errno, GemCreateFlags, GemDomain, HeapInfo, MemoryInfo};
use parking_lot::{Mutex, MutexGuard};

use self::{
    budget::{Allowance, Fill},
    groups::{Group, Groups, NO_LIMIT, Setting},
    place::{BoStatus, Moves},
    queue::Class,
    sizes::Sizes,
    state::{Keep, PoolState, Resident, Want, Why},
};
pub(crate) use self::{pinned::Pinned, place::Placement};
use crate::Profile;
use crate::kernel::sync::reservation::Reservation;

/// A request for a new BO.
#[derive(Debug)]
pub(crate) struct Request {
    /// The size in bytes, in whole pages.
    pub(crate) bytes: u64,
    pub(crate) domains: GemDomain,
    pub(crate) flags: GemCreateFlags,
    /// The file in which the BO is always valid, if any.
    pub(crate) vm: Option<u64>,
    pub(crate) reservation: Arc<Reservation>,
    /// The path of the group that is charged for VRAM, if the kernel counts it.
    pub(crate) payer: Option<String>,
}

/// The current and preferred domain of a BO, for statistics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Residency {
    pub(crate) place: Placement,
    pub(crate) bytes: u64,
    pub(crate) preferred: GemDomain,
    pub(crate) for_cpu: bool,
}

impl Residency {
    /// Returns `true` if the whole BO is in visible VRAM.
    pub(crate) fn is_visible(&self) -> bool {
        self.place == Placement::Vram { visible: self.bytes }
    }
}

/// The pools of a device.
#[derive(Debug)]
pub(crate) struct Pools {
    memory: MemoryInfo,
    usable_captured: bool,
    sizes: Sizes,
    state: Mutex<PoolState>,
    evicted: Arc<AtomicU64>,
}

/// A BO's share of the pools, which is freed on drop.
#[derive(Debug)]
pub(crate) struct Allocation {
    pools: Arc<Pools>,
    id: usize,
    status: Arc<BoStatus>,
}

/// A guard that keeps the BOs of a submission in their domains.
#[derive(Debug)]
pub(crate) struct ValidationGuard<'p>(#[expect(dead_code, reason = "held, not used")] MutexGuard<'p, PoolState>);

impl Pools {
    pub(crate) fn new(profile: &Profile) -> Arc<Self> {
        let state = PoolState::default();
        Arc::new(Self {
            memory: profile.memory,
            usable_captured: profile.memory_usable_captured,
            sizes: Sizes::new(profile),
            evicted: Arc::clone(&state.evicted),
            state: Mutex::new(state),
        })
    }

    /// Places a new BO, with the fallbacks of the ioctl: first the hint for CPU access is dropped, then a request for VRAM only may
    /// also use GTT. Returns the resulting domains.
    ///
    /// Each attempt first looks for free memory in all domains, and then evicts, preferably from VRAM.
    ///
    /// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_create_ioctl`; `amdgpu_object.c`, `amdgpu_bo_create`; `ttm_bo.c`,
    /// `ttm_bo_validate`.
    ///
    /// # Errors
    ///
    /// ENOMEM if the request is larger than its heap, or no BO can be evicted.
    pub(crate) fn place(self: &Arc<Self>, request: Request) -> Result<(Allocation, GemDomain), Errno> {
        let Request { domains, flags, .. } = request;
        let for_cpu = flags.contains(GemCreateFlags::CPU_ACCESS_REQUIRED);
        let both = GemDomain::VRAM | GemDomain::GTT;
        let attempts = [
            Some((domains, for_cpu)),
            for_cpu.then_some((domains, false)),
            (domains == GemDomain::VRAM).then_some((both, false)),
        ];
        let mut state = self.state.lock();
        state.set_payer(request.payer.as_deref());
        let found = attempts
            .into_iter()
            .flatten()
            .find_map(|(domains, for_cpu)| Some((self.find(&mut state, request.bytes, domains, for_cpu)?, domains)));
        let (place, preferred) = found.ok_or(Errno::ENOMEM)?;
        Ok((self.take(&mut state, request, place, preferred), preferred))
    }

    fn find(&self, state: &mut PoolState, bytes: u64, domains: GemDomain, for_cpu: bool) -> Option<Placement> {
        if self.sizes.is_too_large(bytes, domains) {
            return None;
        }
        let want = Want { bytes, domains, for_cpu, gtt_is_fallback: false };
        let mut look = |force| state.find(want, force, &self.sizes, Keep::NOBODY);
        look(false).or_else(|| look(true))
    }

    fn take(
        self: &Arc<Self>,
        state: &mut PoolState,
        request: Request,
        place: Placement,
        preferred: GemDomain,
    ) -> Allocation {
        let Request { bytes, flags, vm, reservation, .. } = request;
        let is_discardable = flags.contains(GemCreateFlags::DISCARDABLE);
        let status = Arc::<BoStatus>::default();
        let resident = Resident {
            place,
            bytes,
            preferred,
            allowed: allowed(preferred, is_discardable),
            // The hint is only for the first placement, until the CPU accesses the BO.
            for_cpu: false,
            class: if is_discardable { Class::Discardable } else { Class::Normal },
            vm,
            used: 0,
            queued: 0,
            status: Arc::clone(&status),
            reservation,
            charged: None,
        };
        let id = state.add(resident, &self.sizes);
        Allocation { pools: Arc::clone(self), id, status }
    }

    /// Adds user memory. It counts as GTT once it has been validated.
    ///
    /// # Errors
    ///
    /// ENOMEM if there is no room for it.
    pub(crate) fn take_user(self: &Arc<Self>, bytes: u64, reservation: &Arc<Reservation>) -> Result<Allocation, Errno> {
        if self.sizes.is_too_large(bytes, GemDomain::GTT) {
            return Err(Errno::ENOMEM);
        }
        let mut state = self.state.lock();
        let place = state.used.room_in_system(&self.sizes, bytes).ok_or(Errno::ENOMEM)?;
        let reservation = Arc::clone(reservation);
        let request = Request {
            bytes,
            domains: GemDomain::GTT,
            flags: GemCreateFlags::empty(),
            vm: None,
            reservation,
            payer: None,
        };
        Ok(self.take(&mut state, request, place, GemDomain::GTT))
    }

    /// Moves the BOs of a submission to their domains: the BOs in its list, and the always valid BOs of the file.
    ///
    /// Each BO moves to its preferred domain as long as the allowance for moves lasts, otherwise to an allowed domain. BOs of the
    /// submission are not evicted for others.
    ///
    /// Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_parser_bos`, `amdgpu_cs_bo_validate`; `amdgpu_vm.c`,
    /// `amdgpu_vm_validate`.
    ///
    /// # Errors
    ///
    /// ENOMEM if they do not fit together.
    pub(crate) fn validate<'t>(
        &self,
        vm: u64,
        payer: Option<&str>,
        listed: impl Iterator<Item = &'t Allocation> + Clone,
    ) -> Result<ValidationGuard<'_>, Errno> {
        let mut state = self.state.lock();
        state.set_payer(payer);
        let since = state.tick();
        state.use_vm(vm, since);
        let mut restless = state.displaced(vm);
        for allocation in listed {
            let Some(resident) = state.get_mut(allocation.id) else { continue };
            resident.used = since;
            if !resident.is_content(&self.sizes) && resident.vm != Some(vm) {
                restless.push(allocation.id);
            }
        }
        if !restless.is_empty() {
            self.validate_all(&mut state, &restless, Keep { since, vm: Some(vm) })?;
            for &id in &restless {
                state.note_displaced(id, &self.sizes);
            }
        }
        Ok(ValidationGuard(state))
    }

    fn validate_all(&self, state: &mut PoolState, restless: &[usize], keep: Keep) -> Result<(), Errno> {
        let (sizes, used) = (&self.sizes, state.used);
        let vram = Fill { total: sizes.vram, used: used.vram() };
        let visible = (!sizes.is_all_visible()).then_some(Fill { total: sizes.visible, used: used.visible });
        let mut allowance = state.budget.open(Instant::now(), sizes.is_apu, vram, visible);
        let result = restless.iter().try_for_each(|&id| self.validate_one(state, id, keep, &mut allowance));
        state.budget.close(allowance);
        result
    }

    fn validate_one(
        &self,
        state: &mut PoolState,
        id: usize,
        keep: Keep,
        allowance: &mut Allowance,
    ) -> Result<(), Errno> {
        let Some(resident) = state.get(id) else { return Ok(()) };
        let (preferred, allowed) = (resident.preferred, resident.allowed);
        if resident.is_on_chip() {
            // The BO needed to move because the chip lacks enough of this resource.
            return Err(Errno::ENOMEM);
        }
        let needs_visible = resident.for_cpu && !self.sizes.is_all_visible();
        let domains = if allowance.is_left(needs_visible) { preferred } else { allowed };
        let before = state.moves.bytes;
        let placed = match state.validate(id, domains, &self.sizes, keep) {
            Err(_) if domains != allowed => state.validate(id, allowed, &self.sizes, keep),
            placed => placed,
        }?;
        let is_visible = !self.sizes.is_all_visible() && matches!(placed, Some(Placement::Vram { visible: 1.. }));
        allowance.spend(state.moves.bytes - before, is_visible);
        Ok(())
    }

    /// Returns the number of BOs that were evicted since the device was created.
    pub(crate) fn evicted(&self) -> u64 {
        self.evicted.load(Ordering::Acquire)
    }

    /// Moves the BOs of a file's user queues to one of their allowed domains, where they are not in one. The kernel causes that, so it
    /// is charged to no group.
    ///
    /// Source: Linux 7.2 `amdgpu_userq.c`, `amdgpu_userq_vm_validate`.
    ///
    /// # Errors
    ///
    /// ENOMEM if they do not fit together.
    pub(crate) fn restore<'t>(&self, vm: u64, bound: impl Iterator<Item = &'t Allocation>) -> Result<(), Errno> {
        let mut state = self.state.lock();
        state.set_payer(None);
        let since = state.tick();
        state.use_vm(vm, since);
        let keep = Keep { since, vm: Some(vm) };
        for allocation in bound {
            let Some(resident) = state.get_mut(allocation.id).filter(|resident| !resident.is_on_chip()) else {
                continue;
            };
            resident.used = since;
            let allowed = resident.allowed;
            state.validate(allocation.id, allowed, &self.sizes, keep)?;
            state.note_displaced(allocation.id, &self.sizes);
        }
        Ok(())
    }

    /// Evicts all BOs from VRAM, which a suspended GPU does not keep. A BO without room elsewhere stays, as does pinned memory.
    ///
    /// Source: Linux 6.12 `amdgpu_device.c`, `amdgpu_device_prepare` and `amdgpu_device_evict_resources`.
    pub(crate) fn evict_vram(&self) {
        self.state.lock().evict_vram(&self.sizes);
    }

    /// Evicts all BOs from VRAM, which a sleeping GPU does not keep. Pinned memory is copied by the driver and counted where it was.
    ///
    /// # Errors
    ///
    /// ENOMEM if a BO has no room elsewhere. BOs that were evicted stay so.
    ///
    /// Source: Linux 7.2 `amdgpu_device.c`, `amdgpu_device_evict_resources`.
    pub(crate) fn evict_all_vram(&self) -> Result<(), Errno> {
        let mut state = self.state.lock();
        state.evict_vram(&self.sizes);
        if state.has_vram() { Err(Errno::ENOMEM) } else { Ok(()) }
    }

    /// Counts and limits the VRAM of groups of processes from now on. If `takes_for_protected`, a protected group takes VRAM of others
    /// before it uses GTT.
    pub(crate) fn count_groups(&self, takes_for_protected: bool) {
        let mut state = self.state.lock();
        state.groups.get_or_insert_default();
        state.takes_for_protected = takes_for_protected;
    }

    /// Returns the size of VRAM.
    pub(crate) const fn real_vram(&self) -> u64 {
        self.memory.vram.total_heap_size
    }

    fn of_group(&self, path: &str, value: impl Fn(&Groups, Group) -> u64, unknown: u64) -> u64 {
        let state = self.state.lock();
        let groups = state.groups.as_ref();
        groups.and_then(|groups| Some(value(groups, groups.find(path)?))).unwrap_or(unknown)
    }

    /// Returns the VRAM that is charged to a group.
    pub(crate) fn group_usage(&self, path: &str) -> u64 {
        self.of_group(path, Groups::usage, 0)
    }

    /// Returns the most that was ever charged to a group.
    pub(crate) fn group_peak(&self, path: &str) -> u64 {
        self.of_group(path, Groups::peak, 0)
    }

    /// Returns a setting of a group.
    pub(crate) fn group_setting(&self, path: &str, setting: Setting) -> u64 {
        let unset = if setting == Setting::Max { NO_LIMIT } else { 0 };
        self.of_group(path, |groups, group| groups.setting(group, setting), unset)
    }

    /// Changes a setting of a group. A limit below its usage is not taken, or if `reclaims`, evicts what is too much.
    pub(crate) fn set_group(&self, path: &str, setting: Setting, value: u64, reclaims: bool) {
        let mut state = self.state.lock();
        let Some(groups) = &mut state.groups else { return };
        let group = groups.at(path);
        groups.set(group, setting, value, !reclaims);
        if reclaims && setting == Setting::Max {
            state.reclaim(group, &self.sizes);
        }
    }

    /// Removes page tables that were destroyed.
    pub(crate) fn forget_vm(&self, vm: u64) {
        self.state.lock().forget_vm(vm);
    }

    /// Returns the counts of moves.
    pub(crate) fn moves(&self) -> Moves {
        self.state.lock().moves
    }

    /// Sets whether evictions lose contents.
    pub(crate) fn lose_evicted(&self, lose: bool) {
        self.state.lock().loses_evicted = lose;
    }

    /// Returns the answer to MEMORY: the totals of the capture and the current usage. If the capture lacks the usable sizes, they
    /// are computed by the kernel's formulas without pinned memory.
    ///
    /// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_info_ioctl`.
    pub(crate) fn memory_info(&self) -> MemoryInfo {
        let used = self.state.lock().used;
        let mut info = self.memory;
        if !self.usable_captured {
            let vram_usable = info.vram.total_heap_size.saturating_sub(self.sizes.reserved);
            let visible_usable = info.cpu_accessible_vram.total_heap_size.min(vram_usable);
            for (heap, usable) in [
                (&mut info.vram, vram_usable),
                (&mut info.cpu_accessible_vram, visible_usable),
                (&mut info.gtt, self.sizes.gtt),
            ] {
                *heap = HeapInfo { usable_heap_size: usable, max_allocation: usable.saturating_mul(3) / 4, ..*heap };
            }
        }
        info.vram.heap_usage = used.vram();
        info.cpu_accessible_vram.heap_usage = used.visible;
        info.gtt.heap_usage = used.gtt;
        info
    }
}

/// Returns the allowed domains of a BO with these preferred domains.
///
/// Source: Linux 6.12 `amdgpu_object.c`, `amdgpu_bo_create`; `amdgpu_gem.c`, `amdgpu_gem_op_ioctl`.
pub(crate) fn allowed(preferred: GemDomain, is_discardable: bool) -> GemDomain {
    let also = if preferred == GemDomain::VRAM && !is_discardable { GemDomain::GTT } else { GemDomain::empty() };
    preferred | also
}

impl Allocation {
    /// Returns the current and preferred domain of the BO.
    pub(crate) fn residency(&self) -> Option<Residency> {
        let state = self.pools.state.lock();
        let &Resident { place, bytes, preferred, for_cpu, .. } = state.get(self.id)?;
        Some(Residency { place, bytes, preferred, for_cpu })
    }

    /// Returns `true` if page tables can map the BO.
    pub(crate) fn is_reachable(&self) -> bool {
        self.status.reachable.load(Ordering::Relaxed)
    }

    /// Returns `true` once after the contents were lost.
    pub(crate) fn take_loss(&self) -> bool {
        self.status.lost.load(Ordering::Relaxed) && self.status.lost.swap(false, Ordering::AcqRel)
    }

    /// Sets the preferred and allowed domains. The BO moves at its next use.
    pub(crate) fn set_domains(&self, preferred: GemDomain, allowed: GemDomain) {
        let mut state = self.pools.state.lock();
        if let Some(resident) = state.get_mut(self.id) {
            resident.preferred = preferred;
            resident.allowed = allowed;
        }
        state.note_displaced(self.id, &self.pools.sizes);
    }

    /// Moves the BO to its preferred domain. Only special kinds of BOs do this outside a submission.
    ///
    /// # Errors
    ///
    /// ENOMEM if there is no room.
    pub(crate) fn validate(&self) -> Result<(), Errno> {
        let mut state = self.pools.state.lock();
        let preferred = state.get(self.id).map_or(GemDomain::empty(), |resident| resident.preferred);
        state.validate(self.id, preferred, &self.pools.sizes, Keep::NOBODY).map(drop)
    }

    /// Handles an access by the CPU. A BO in invisible VRAM moves to visible VRAM, or to GTT if there is no room. If neither has
    /// room it stays; a real CPU would get SIGBUS.
    ///
    /// Source: Linux 6.12 `amdgpu_object.c`, `amdgpu_bo_fault_reserve_notify`.
    pub(crate) fn fault_in(&self) {
        let (sizes, mut state) = (&self.pools.sizes, self.pools.state.lock());
        let Some(resident) = state.get_mut(self.id) else { return };
        resident.for_cpu = true;
        let (place, bytes, charged) = (resident.place, resident.bytes, resident.charged);
        // The process that maps a BO is of the group that has it, as far as is known here.
        state.payer = charged.unwrap_or(Groups::ROOT);
        if matches!(place, Placement::Vram { visible } if visible != bytes) {
            state.moves.cpu_page_faults += 1;
            let want = |domains| Want { bytes, domains, for_cpu: true, gtt_is_fallback: false };
            let found = state
                .find(want(GemDomain::VRAM), false, sizes, Keep::NOBODY)
                .or_else(|| state.find(want(GemDomain::GTT), true, sizes, Keep::NOBODY));
            if let Some(place) = found {
                state.move_to(self.id, place, Why::Use, sizes);
            } else {
                tracing::error!(bytes, "no room for a BO where the CPU can see it");
            }
        }
        state.note_displaced(self.id, sizes);
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.pools.state.lock().remove(self.id);
    }
}
