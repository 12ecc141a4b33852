//! Placement and eviction of BOs.
//!
//! Source: Linux 6.12 `ttm_bo.c`, `ttm_bo_validate`, `ttm_bo_alloc_resource`, `ttm_bo_evict`; `amdgpu_object.c`,
//! `amdgpu_bo_placement_from_domain`; `amdgpu_ttm.c`, `amdgpu_evict_flags`, `amdgpu_bo_move`.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use amdgpu_uapi::{Errno, GemDomain};

use super::{
    budget::Budget,
    groups::{Cover, Group, Groups, Verdict},
    place::{BoStatus, Moves, Placement},
    queue::{Class, Queue, Ticket},
    sizes::{Sizes, Used},
};
use crate::kernel::sync::reservation::Reservation;

/// The domains of on-chip resources, including doorbells.
const ON_CHIP: GemDomain = GemDomain::GDS.union(GemDomain::GWS).union(GemDomain::OA).union(GemDomain::DOORBELL);

/// A BO in the pools.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) place: Placement,
    pub(super) bytes: u64,
    pub(super) preferred: GemDomain,
    pub(super) allowed: GemDomain,
    /// `true` if the BO must be visible to the CPU.
    pub(super) for_cpu: bool,
    pub(super) class: Class,
    /// The file with whose page tables the BO shares a reservation, for a BO created with VM_ALWAYS_VALID.
    pub(super) vm: Option<u64>,
    /// The time of the last use, and the last use known to its queue.
    pub(super) used: u64,
    pub(super) queued: u64,
    pub(super) status: Arc<BoStatus>,
    pub(super) reservation: Arc<Reservation>,
    /// The group to which its VRAM is charged.
    pub(super) charged: Option<Group>,
}

impl Resident {
    /// Returns `true` if the BO may stay in its current domain. Without `force`, a domain that is only a fallback does not suffice.
    fn is_compatible(&self, sizes: &Sizes, domains: GemDomain, force: bool) -> bool {
        match self.place {
            Placement::Vram { visible } => {
                domains.contains(GemDomain::VRAM) && (!self.for_cpu || visible == self.bytes)
            }
            Placement::Gtt => domains.contains(GemDomain::GTT) && (force || !self.is_gtt_fallback(sizes, domains)),
            Placement::System => domains.contains(GemDomain::CPU) || domains.is_empty(),
            Placement::Nowhere => domains.intersects(ON_CHIP),
        }
    }

    /// Returns `true` if GTT is only a fallback: on a discrete GPU for BOs that prefer VRAM.
    fn is_gtt_fallback(&self, sizes: &Sizes, domains: GemDomain) -> bool {
        !sizes.is_apu && (domains & self.preferred).contains(GemDomain::VRAM)
    }

    /// Returns `true` if the BO is in its preferred domain.
    pub(super) fn is_content(&self, sizes: &Sizes) -> bool {
        if self.is_on_chip() {
            return sizes.has_on_chip(self.bytes, self.preferred);
        }
        self.is_compatible(sizes, self.preferred, false)
    }

    /// Returns `true` if the BO is in any of its preferred domains. An always valid BO is then not moved.
    ///
    /// Source: Linux 6.12 `amdgpu_vm.c`, `amdgpu_vm_bo_update`: only other BOs stay in the list of evicted BOs.
    fn is_at_home(&self, sizes: &Sizes) -> bool {
        self.is_compatible(sizes, self.preferred, true)
    }

    pub(super) fn is_on_chip(&self) -> bool {
        self.preferred.intersects(ON_CHIP)
    }

    const fn ticket(&self, id: usize) -> Ticket {
        (self.class, self.queued, id)
    }
}

/// The reason for a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Other BOs need the room.
    Eviction,
    /// The BO is used.
    Use,
}

/// The requirements of a BO for its placement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    pub(super) bytes: u64,
    pub(super) domains: GemDomain,
    pub(super) for_cpu: bool,
    /// `true` to use GTT only if VRAM would require evictions.
    pub(super) gtt_is_fallback: bool,
}

/// The BOs that must not be evicted: BOs that were used since a time, and BOs that share their reservation with these page tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    pub(super) since: u64,
    pub(super) vm: Option<u64>,
}

impl Keep {
    /// Every BO may be evicted.
    pub(super) const NOBODY: Self = Self { since: u64::MAX, vm: None };
}

/// A heap without enough room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heap {
    Vram,
    Visible,
    Gtt,
}

#[derive(Debug)]
pub(super) struct PoolState {
    pub(super) used: Used,
    residents: Vec<Option<Resident>>,
    free: Vec<usize>,
    /// The counter of uses, which serves as the time.
    now: u64,
    /// The BOs with bytes in visible VRAM.
    visible: Queue,
    /// The BOs in invisible VRAM.
    invisible: Queue,
    gtt: Queue,
    /// The time of the last use of page tables by a submission, and thereby of their always valid BOs.
    vms: HashMap<u64, u64>,
    /// The always valid BOs outside their preferred domains, which the next submission checks.
    displaced: HashMap<u64, BTreeSet<usize>>,
    pub(super) budget: Budget,
    pub(super) moves: Moves,
    /// The number of BOs that were evicted, for those who wait for it without the lock.
    pub(super) evicted: Arc<AtomicU64>,
    /// `true` if evictions lose contents: a mutation that tests must detect.
    pub(super) loses_evicted: bool,
    /// The groups of processes, if the kernel limits their VRAM.
    pub(super) groups: Option<Groups>,
    /// The group for which BOs are placed now, which is charged.
    pub(super) payer: Group,
    /// `true` if a protected group takes VRAM of others before it uses GTT, and protection is seen from the nearest common group.
    pub(super) takes_for_protected: bool,
}

/// The BOs that an eviction may take.
#[derive(Clone, Copy, Debug)]
struct Hunt {
    /// The group whose limit stopped a charge; `None` if VRAM is full.
    limit: Option<Group>,
    /// `true` to take those of groups within their lower protection too.
    takes_low: bool,
    /// A group whose BOs are spared.
    spared: Option<Group>,
}

impl Hunt {
    /// Takes any BO, as far as protections permit.
    const ANY: Self = Self { limit: None, takes_low: false, spared: None };
}

impl Default for PoolState {
    fn default() -> Self {
        Self {
            used: Used::default(),
            residents: Vec::new(),
            free: Vec::new(),
            now: 0,
            visible: Queue::default(),
            invisible: Queue::default(),
            gtt: Queue::default(),
            vms: HashMap::new(),
            displaced: HashMap::new(),
            budget: Budget::default(),
            moves: Moves::default(),
            evicted: Arc::default(),
            loses_evicted: false,
            groups: None,
            payer: Groups::ROOT,
            takes_for_protected: false,
        }
    }
}

impl PoolState {
    pub(super) fn get(&self, id: usize) -> Option<&Resident> {
        self.residents.get(id)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: usize) -> Option<&mut Resident> {
        self.residents.get_mut(id)?.as_mut()
    }

    /// Returns the time of a new use.
    pub(super) const fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// Adds a BO in its domain and returns its ID.
    pub(super) fn add(&mut self, mut resident: Resident, sizes: &Sizes) -> usize {
        resident.used = self.tick();
        resident.queued = resident.used;
        resident.status.reachable.store(resident.place.is_in_reach(), Ordering::Relaxed);
        self.used.add(resident.place, resident.bytes);
        resident.charged = self.charge(resident.place, resident.bytes);
        let id = self.free.pop().unwrap_or(self.residents.len());
        if id == self.residents.len() {
            self.residents.push(None);
        }
        let (place, ticket) = (resident.place, resident.ticket(id));
        self.residents[id] = Some(resident);
        if let Some(queue) = self.queue(place) {
            queue.insert(ticket);
        }
        self.note_displaced(id, sizes);
        id
    }

    /// Removes a BO.
    pub(super) fn remove(&mut self, id: usize) {
        let Some(resident) = self.residents.get_mut(id).and_then(Option::take) else { return };
        self.used.subtract(resident.place, resident.bytes);
        self.uncharge(resident.charged, resident.bytes);
        if let Some(queue) = self.queue(resident.place) {
            queue.remove(resident.ticket(id));
        }
        if let Some(displaced) = resident.vm.and_then(|vm| self.displaced.get_mut(&vm)) {
            displaced.remove(&id);
        }
        self.free.push(id);
    }

    /// Sets the group for which BOs are placed from now on.
    pub(super) fn set_payer(&mut self, path: Option<&str>) {
        self.payer = match (&mut self.groups, path) {
            (Some(groups), Some(path)) => groups.at(path),
            _ => Groups::ROOT,
        };
    }

    /// Charges VRAM to the group for which BOs are placed.
    fn charge(&mut self, place: Placement, bytes: u64) -> Option<Group> {
        let payer = self.payer;
        let groups = self.groups.as_mut().filter(|_| matches!(place, Placement::Vram { .. }))?;
        groups.charge(payer, bytes);
        Some(payer)
    }

    fn uncharge(&mut self, charged: Option<Group>, bytes: u64) {
        if let Some((groups, group)) = self.groups.as_mut().zip(charged) {
            groups.uncharge(group, bytes);
        }
    }

    /// Returns the group whose limit does not let the payer have more VRAM.
    fn limiting(&self, bytes: u64) -> Option<Group> {
        self.groups.as_ref()?.limiting(self.payer, bytes)
    }

    /// Records the use of page tables by a submission.
    pub(super) fn use_vm(&mut self, vm: u64, now: u64) {
        self.vms.insert(vm, now);
    }

    /// Removes page tables that were destroyed.
    pub(super) fn forget_vm(&mut self, vm: u64) {
        self.vms.remove(&vm);
        self.displaced.remove(&vm);
    }

    /// Returns the always valid BOs that the next submission with these page tables must check.
    pub(super) fn displaced(&self, vm: u64) -> Vec<usize> {
        self.displaced.get(&vm).into_iter().flatten().copied().collect()
    }

    pub(super) fn note_displaced(&mut self, id: usize, sizes: &Sizes) {
        let Some(resident) = self.get(id) else { return };
        let Some(vm) = resident.vm else { return };
        if !resident.is_at_home(sizes) {
            self.displaced.entry(vm).or_default().insert(id);
        } else if let Some(displaced) = self.displaced.get_mut(&vm) {
            displaced.remove(&id);
        }
    }

    const fn queue(&mut self, place: Placement) -> Option<&mut Queue> {
        match place {
            Placement::Vram { visible: 0 } => Some(&mut self.invisible),
            Placement::Vram { .. } => Some(&mut self.visible),
            Placement::Gtt => Some(&mut self.gtt),
            Placement::System | Placement::Nowhere => None,
        }
    }

    /// Moves a BO to one of its domains: to free memory, or with `force` by evicting others.
    pub(super) fn validate(
        &mut self,
        id: usize,
        domains: GemDomain,
        sizes: &Sizes,
        keep: Keep,
    ) -> Result<Option<Placement>, Errno> {
        for force in [false, true] {
            let Some(resident) = self.get(id) else { return Ok(None) };
            if resident.is_compatible(sizes, domains, force) {
                return Ok(None);
            }
            let want = Want {
                bytes: resident.bytes,
                domains,
                for_cpu: resident.for_cpu,
                gtt_is_fallback: resident.is_gtt_fallback(sizes, domains),
            };
            if let Some(place) = self.find(want, force, sizes, keep) {
                self.move_to(id, place, Why::Use, sizes);
                return Ok(Some(place));
            }
        }
        Err(Errno::ENOMEM)
    }

    /// Finds room in one of the domains, in the order VRAM, GTT, system memory.
    pub(super) fn find(&mut self, want: Want, force: bool, sizes: &Sizes, keep: Keep) -> Option<Placement> {
        let Want { bytes, domains, for_cpu, gtt_is_fallback } = want;
        if domains.intersects(ON_CHIP) {
            return Some(Placement::Nowhere);
        }
        if domains.contains(GemDomain::VRAM) {
            let room = |state: &Self| match state.limiting(bytes) {
                Some(limit) => Err(Some(limit)),
                None => state.used.room_in_vram(sizes, bytes, for_cpu).ok_or(None),
            };
            let found = match room(self) {
                Ok(place) => Some(place),
                Err(limit) if force => self.make_room(room, Hunt { limit, ..Hunt::ANY }, for_cpu, sizes, keep),
                Err(None) => self.take_for_protected(room, want, sizes, keep),
                Err(Some(_)) => None,
            };
            if found.is_some() {
                return found;
            }
        }
        if domains.contains(GemDomain::GTT) && (force || !gtt_is_fallback) {
            let room = |state: &Self| state.used.room_in_gtt(sizes, bytes);
            let found = room(self).or_else(|| {
                while force && self.evict_one(Heap::Gtt, Hunt::ANY, sizes, keep) {
                    if let Some(place) = room(self) {
                        return Some(place);
                    }
                }
                None
            });
            if found.is_some() {
                return found;
            }
        }
        let may_be_system = domains.contains(GemDomain::CPU) || domains.is_empty();
        may_be_system.then(|| self.used.room_in_system(sizes, bytes))?
    }

    /// Evicts from VRAM until there is room: from all VRAM while that is full, otherwise from the visible part. If nothing is left but
    /// what the lower protection of its group covers, that is taken too.
    fn make_room(
        &mut self,
        room: impl Fn(&Self) -> Result<Placement, Option<Group>>,
        mut hunt: Hunt,
        for_cpu: bool,
        sizes: &Sizes,
        keep: Keep,
    ) -> Option<Placement> {
        let heap = if for_cpu { Heap::Visible } else { Heap::Vram };
        loop {
            if let Ok(place) = room(self) {
                return Some(place);
            }
            if !self.evict_one(heap, hunt, sizes, keep) {
                if hunt.takes_low || self.groups.is_none() || hunt.spared.is_some() {
                    return None;
                }
                hunt.takes_low = true;
            }
        }
    }

    /// Takes VRAM of others for a group that stays within its protection, before GTT is used.
    ///
    /// Source: Linux 7.3 `ttm_bo.c`, `ttm_bo_alloc_at_place`.
    fn take_for_protected(
        &mut self,
        room: impl Fn(&Self) -> Result<Placement, Option<Group>>,
        want: Want,
        sizes: &Sizes,
        keep: Keep,
    ) -> Option<Placement> {
        if !self.takes_for_protected {
            return None;
        }
        let hunt = match self.groups.as_ref()?.cover(Groups::ROOT, self.payer, want.bytes) {
            Cover::Min => Hunt::ANY,
            Cover::Low => Hunt { spared: Some(self.payer), ..Hunt::ANY },
            Cover::None => return None,
        };
        self.make_room(room, hunt, want.for_cpu, sizes, keep)
    }

    /// Evicts BOs of a group and those below it until its usage is within its limit.
    ///
    /// Source: Linux 7.3 `dmem.c`, `set_resource_max`.
    pub(super) fn reclaim(&mut self, group: Group, sizes: &Sizes) {
        let is_above = |state: &Self| state.groups.as_ref().is_some_and(|groups| groups.limiting(group, 0).is_some());
        let mut hunt = Hunt { limit: Some(group), ..Hunt::ANY };
        while is_above(self) {
            if !self.evict_one(Heap::Vram, hunt, sizes, Keep::NOBODY) {
                if hunt.takes_low {
                    return;
                }
                hunt.takes_low = true;
            }
        }
    }

    /// Evicts all BOs from VRAM for which there is room elsewhere. Protection is against other groups, not against the end of power.
    pub(super) fn evict_vram(&mut self, sizes: &Sizes) {
        let hunt = Hunt { limit: Some(Groups::ROOT), ..Hunt::ANY };
        while self.evict_one(Heap::Vram, hunt, sizes, Keep::NOBODY) {}
    }

    /// Returns `true` if a BO is in VRAM that is not pinned.
    pub(super) fn has_vram(&self) -> bool {
        [&self.visible, &self.invisible].iter().any(|queue| queue.behind(None).is_some())
    }

    /// Returns `true` if the group of a BO in VRAM lets it be evicted.
    fn may_take(&self, resident: &Resident, hunt: Hunt) -> bool {
        let Some((groups, group)) = self.groups.as_ref().zip(resident.charged) else { return true };
        if hunt.spared == Some(group) {
            return false;
        }
        let limit = match hunt.limit {
            // The root is above all and limits nothing.
            None if self.takes_for_protected => {
                Some(groups.common(self.payer, group)).filter(|&common| common != Groups::ROOT)
            }
            limit => limit,
        };
        match groups.verdict(limit, group) {
            Verdict::Yes => true,
            Verdict::Low => hunt.takes_low,
            Verdict::No => false,
        }
    }

    /// Evicts the least recently used BO. Returns `false` if no BO may be evicted, or there is no room for it elsewhere.
    fn evict_one(&mut self, heap: Heap, hunt: Hunt, sizes: &Sizes, keep: Keep) -> bool {
        let victim = match heap {
            Heap::Gtt => self.victim(Placement::Gtt, heap, hunt, sizes, keep),
            Heap::Visible => self.victim(Placement::Vram { visible: 1 }, heap, hunt, sizes, keep),
            Heap::Vram => {
                let visible = self.victim(Placement::Vram { visible: 1 }, heap, hunt, sizes, keep);
                let invisible = self.victim(Placement::Vram { visible: 0 }, heap, hunt, sizes, keep);
                [visible, invisible].into_iter().flatten().min()
            }
        };
        let Some((.., id)) = victim else { return false };
        let Some(place) = self.refuge(id, heap, sizes) else { return false };
        let is_lost = place == Placement::Nowhere || self.loses_evicted;
        self.move_to(id, place, Why::Eviction, sizes);
        self.evicted.fetch_add(1, Ordering::Release);
        if let Some(resident) = self.get(id).filter(|_| is_lost) {
            // Contents that a job still uses are not discarded.
            if resident.reservation.is_idle() {
                resident.status.lost.store(true, Ordering::Release);
            }
        }
        true
    }

    /// Returns the first BO of a queue that may be evicted. BOs that were used since they were queued are queued again.
    fn victim(&mut self, queue: Placement, heap: Heap, hunt: Hunt, sizes: &Sizes, keep: Keep) -> Option<Ticket> {
        let mut looked_at = None;
        while let Some(ticket) = self.queue(queue)?.behind(looked_at) {
            let (class, queued, id) = ticket;
            let resident = self.get(id)?;
            let used = resident.used.max(resident.vm.and_then(|vm| self.vms.get(&vm)).copied().unwrap_or(0));
            let is_kept = used >= keep.since || (resident.vm.is_some() && resident.vm == keep.vm);
            if used > queued {
                let queue = self.queue(queue)?;
                queue.remove(ticket);
                queue.insert((class, used, id));
                self.get_mut(id)?.queued = used;
            } else if is_kept || !self.may_take(resident, hunt) || self.refuge(id, heap, sizes).is_none() {
                looked_at = Some(ticket);
            } else {
                return Some(ticket);
            }
        }
        None
    }

    /// Returns the domain to which a BO is evicted.
    fn refuge(&self, id: usize, heap: Heap, sizes: &Sizes) -> Option<Placement> {
        let resident = self.get(id)?;
        let bytes = resident.bytes;
        if heap == Heap::Gtt {
            return self.used.room_in_system(sizes, bytes);
        }
        if resident.class == Class::Discardable {
            return Some(Placement::Nowhere);
        }
        let may_stay = !resident.for_cpu && self.limiting(bytes).is_none();
        if heap == Heap::Visible && may_stay && self.used.has_invisible_room(sizes, bytes) {
            return Some(Placement::Vram { visible: 0 });
        }
        self.used.room_in_gtt(sizes, bytes).or_else(|| self.used.room_in_system(sizes, bytes))
    }

    /// Moves a BO. Moves to and from VRAM are copies.
    pub(super) fn move_to(&mut self, id: usize, place: Placement, why: Why, sizes: &Sizes) {
        let now = self.tick();
        let Some(resident) = self.get(id) else { return };
        let (from, bytes, old_ticket, charged) =
            (resident.place, resident.bytes, resident.ticket(id), resident.charged);
        let is_vram = |place| matches!(place, Placement::Vram { .. });
        if from != Placement::Nowhere && place != Placement::Nowhere && (is_vram(from) || is_vram(place)) {
            self.moves.bytes = self.moves.bytes.saturating_add(bytes);
            self.moves.evictions += u64::from(why == Why::Eviction);
        }
        self.used.subtract(from, bytes);
        self.used.add(place, bytes);
        self.uncharge(charged, bytes);
        let charged = self.charge(place, bytes);
        if let Some(queue) = self.queue(from) {
            queue.remove(old_ticket);
        }
        if let Some(resident) = self.get_mut(id) {
            resident.place = place;
            resident.charged = charged;
            resident.queued = now;
            if why == Why::Use {
                // A BO that is evicted stays mapped for running jobs.
                resident.status.reachable.store(place.is_in_reach(), Ordering::Relaxed);
            }
            let ticket = resident.ticket(id);
            if let Some(queue) = self.queue(place) {
                queue.insert(ticket);
            }
        }
        self.note_displaced(id, sizes);
        if why == Why::Eviction
            && let Some(vm) = self.get(id).and_then(|resident| resident.vm)
        {
            // The next submission tries to bring it back once, also if it may stay where it is.
            self.displaced.entry(vm).or_default().insert(id);
        }
    }
}
