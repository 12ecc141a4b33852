//! Placement and eviction of BOs.
//!
//! Source: Linux 6.12 `ttm_bo.c`, `ttm_bo_validate`, `ttm_bo_alloc_resource`, `ttm_bo_evict`; `amdgpu_object.c`,
//! `amdgpu_bo_placement_from_domain`; `amdgpu_ttm.c`, `amdgpu_evict_flags`, `amdgpu_bo_move`.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, atomic::Ordering},
};

use amdgpu_uapi::{Errno, GemDomain};

use super::{
    budget::Budget,
    place::{Moves, Place, Signs},
    queue::{Class, Queue, Ticket},
    sizes::{Sizes, Used},
};
use crate::kernel::mm::bo::reservation::Reservation;

/// Domains of on-chip resources, doorbells among them.
const ON_CHIP: GemDomain = GemDomain::GDS.union(GemDomain::GWS).union(GemDomain::OA).union(GemDomain::DOORBELL);

/// One BO.
#[derive(Debug)]
pub(super) struct Resident {
    pub(super) place: Place,
    pub(super) bytes: u64,
    pub(super) preferred: GemDomain,
    pub(super) allowed: GemDomain,
    /// `true` if it has to be where the CPU sees it.
    pub(super) for_cpu: bool,
    pub(super) class: Class,
    /// The file whose page tables it shares a reservation with, for a BO that was created VM_ALWAYS_VALID.
    pub(super) vm: Option<u64>,
    /// When it was used last, and when its queue thinks it was.
    pub(super) used: u64,
    pub(super) queued: u64,
    pub(super) signs: Arc<Signs>,
    pub(super) reservation: Arc<Reservation>,
}

impl Resident {
    /// Returns `true` if it may stay where it is. When others would have to go for it, a BO that is as good as placed stays.
    fn is_compatible(&self, sizes: &Sizes, domains: GemDomain, force: bool) -> bool {
        match self.place {
            Place::Vram { visible } => domains.contains(GemDomain::VRAM) && (!self.for_cpu || visible == self.bytes),
            Place::Gtt => domains.contains(GemDomain::GTT) && (force || !self.is_gtt_fallback(sizes, domains)),
            Place::System => domains.contains(GemDomain::CPU) || domains.is_empty(),
            Place::Nowhere => domains.intersects(ON_CHIP),
        }
    }

    /// On a card, GTT is only second best for what may be in VRAM.
    fn is_gtt_fallback(&self, sizes: &Sizes, domains: GemDomain) -> bool {
        !sizes.is_apu && (domains & self.preferred).contains(GemDomain::VRAM)
    }

    /// Returns `true` if it is where it wants to be.
    pub(super) fn is_content(&self, sizes: &Sizes) -> bool {
        if self.is_on_chip() {
            return sizes.has_on_chip(self.bytes, self.preferred);
        }
        self.is_compatible(sizes, self.preferred, false)
    }

    /// Returns `true` if it is in a domain that it prefers, if not in the best: an always-valid BO is then left in peace.
    ///
    /// Source: Linux 6.12 `amdgpu_vm.c`, `amdgpu_vm_bo_update`: only other ones are on the list of the evicted.
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

/// Reason of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Others need the room.
    Eviction,
    /// It is used.
    Use,
}

/// Requirements of a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    pub(super) bytes: u64,
    pub(super) domains: GemDomain,
    pub(super) for_cpu: bool,
    /// GTT only where others would have to go for VRAM.
    pub(super) gtt_is_fallback: bool,
}

/// BOs that must not be evicted: those used since, and those that share their reservation with these page tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    pub(super) since: u64,
    pub(super) vm: Option<u64>,
}

impl Keep {
    /// Every BO may be evicted.
    pub(super) const NOBODY: Self = Self { since: u64::MAX, vm: None };
}

/// A heap that is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heap {
    Vram,
    Visible,
    Gtt,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) used: Used,
    residents: Vec<Option<Resident>>,
    free: Vec<usize>,
    /// Counts uses.
    now: u64,
    /// BOs with bytes in visible VRAM.
    visible: Queue,
    /// BOs elsewhere in VRAM.
    invisible: Queue,
    gtt: Queue,
    /// When page tables were last used by a submission, and with them the BOs that are always valid there.
    vms: HashMap<u64, u64>,
    /// Always-valid BOs that are in no domain they prefer: the next submission looks after them.
    displaced: HashMap<u64, BTreeSet<usize>>,
    pub(super) budget: Budget,
    pub(super) moves: Moves,
    /// Every eviction loses what was in the BO: a mutation that a test must notice.
    pub(super) loses_evicted: bool,
}

impl State {
    pub(super) fn get(&self, id: usize) -> Option<&Resident> {
        self.residents.get(id)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: usize) -> Option<&mut Resident> {
        self.residents.get_mut(id)?.as_mut()
    }

    /// The time of a new use.
    pub(super) const fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// Takes a BO in at the place it says. Its name.
    pub(super) fn add(&mut self, mut resident: Resident, sizes: &Sizes) -> usize {
        resident.used = self.tick();
        resident.queued = resident.used;
        resident.signs.reachable.store(resident.place.is_in_reach(), Ordering::Relaxed);
        self.used.add(resident.place, resident.bytes);
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

    /// Lets a BO go.
    pub(super) fn remove(&mut self, id: usize) {
        let Some(resident) = self.residents.get_mut(id).and_then(Option::take) else { return };
        self.used.subtract(resident.place, resident.bytes);
        if let Some(queue) = self.queue(resident.place) {
            queue.remove(resident.ticket(id));
        }
        if let Some(displaced) = resident.vm.and_then(|vm| self.displaced.get_mut(&vm)) {
            displaced.remove(&id);
        }
        self.free.push(id);
    }

    /// A submission uses these page tables.
    pub(super) fn use_vm(&mut self, vm: u64, now: u64) {
        self.vms.insert(vm, now);
    }

    /// Page tables that are gone.
    pub(super) fn forget_vm(&mut self, vm: u64) {
        self.vms.remove(&vm);
        self.displaced.remove(&vm);
    }

    /// Always-valid BOs that the next submission of these page tables has to look after.
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

    const fn queue(&mut self, place: Place) -> Option<&mut Queue> {
        match place {
            Place::Vram { visible: 0 } => Some(&mut self.invisible),
            Place::Vram { .. } => Some(&mut self.visible),
            Place::Gtt => Some(&mut self.gtt),
            Place::System | Place::Nowhere => None,
        }
    }

    /// Brings a BO into its domains: to a free place, or with force by sending others away.
    pub(super) fn settle(
        &mut self,
        id: usize,
        domains: GemDomain,
        sizes: &Sizes,
        keep: Keep,
    ) -> Result<Option<Place>, Errno> {
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

    /// A place in one of the domains, in the order VRAM, GTT, system memory.
    pub(super) fn find(&mut self, want: Want, force: bool, sizes: &Sizes, keep: Keep) -> Option<Place> {
        let Want { bytes, domains, for_cpu, gtt_is_fallback } = want;
        if domains.intersects(ON_CHIP) {
            return Some(Place::Nowhere);
        }
        if domains.contains(GemDomain::VRAM) {
            let room = |state: &Self| state.used.room_in_vram(sizes, bytes, for_cpu);
            let found = room(self).or_else(|| force.then(|| self.make_room(room, for_cpu, sizes, keep))?);
            if found.is_some() {
                return found;
            }
        }
        if domains.contains(GemDomain::GTT) && (force || !gtt_is_fallback) {
            let room = |state: &Self| state.used.room_in_gtt(sizes, bytes);
            let found = room(self).or_else(|| {
                while force && self.evict_one(Heap::Gtt, sizes, keep) {
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

    /// Evicts from VRAM until there is room: from all of it while that is full, and from the visible part while only that is.
    fn make_room(
        &mut self,
        room: impl Fn(&Self) -> Option<Place>,
        for_cpu: bool,
        sizes: &Sizes,
        keep: Keep,
    ) -> Option<Place> {
        let heap = if for_cpu { Heap::Visible } else { Heap::Vram };
        loop {
            let found = room(self);
            if found.is_some() || !self.evict_one(heap, sizes, keep) {
                return found;
            }
        }
    }

    /// Evicts the least recently used BO. Returns `false` when no BO is left that may be evicted and has a place to go to.
    fn evict_one(&mut self, heap: Heap, sizes: &Sizes, keep: Keep) -> bool {
        let victim = match heap {
            Heap::Gtt => self.victim(Place::Gtt, heap, sizes, keep),
            Heap::Visible => self.victim(Place::Vram { visible: 1 }, heap, sizes, keep),
            Heap::Vram => {
                let visible = self.victim(Place::Vram { visible: 1 }, heap, sizes, keep);
                let invisible = self.victim(Place::Vram { visible: 0 }, heap, sizes, keep);
                [visible, invisible].into_iter().flatten().min()
            }
        };
        let Some((.., id)) = victim else { return false };
        let Some(place) = self.refuge(id, heap, sizes) else { return false };
        let is_lost = place == Place::Nowhere || self.loses_evicted;
        self.move_to(id, place, Why::Eviction, sizes);
        if let Some(resident) = self.get(id).filter(|_| is_lost) {
            // What a job still works on is not thrown away under it.
            if resident.reservation.is_idle() {
                resident.signs.lost.store(true, Ordering::Release);
            }
        }
        true
    }

    /// The first of a queue that may go. Those that were used since they were queued are queued anew on the way.
    fn victim(&mut self, queue: Place, heap: Heap, sizes: &Sizes, keep: Keep) -> Option<Ticket> {
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
            } else if is_kept || self.refuge(id, heap, sizes).is_none() {
                looked_at = Some(ticket);
            } else {
                return Some(ticket);
            }
        }
        None
    }

    /// Returns the place that a BO is evicted to.
    fn refuge(&self, id: usize, heap: Heap, sizes: &Sizes) -> Option<Place> {
        let resident = self.get(id)?;
        let bytes = resident.bytes;
        if heap == Heap::Gtt {
            return self.used.room_in_system(sizes, bytes);
        }
        if resident.class == Class::Discardable {
            return Some(Place::Nowhere);
        }
        if heap == Heap::Visible && !resident.for_cpu && self.used.has_invisible_room(sizes, bytes) {
            return Some(Place::Vram { visible: 0 });
        }
        self.used.room_in_gtt(sizes, bytes).or_else(|| self.used.room_in_system(sizes, bytes))
    }

    /// Moves a BO. Moves to and from VRAM are copies.
    pub(super) fn move_to(&mut self, id: usize, place: Place, why: Why, sizes: &Sizes) {
        let now = self.tick();
        let Some(resident) = self.get(id) else { return };
        let (from, bytes, old_ticket) = (resident.place, resident.bytes, resident.ticket(id));
        let is_vram = |place| matches!(place, Place::Vram { .. });
        if from != Place::Nowhere && place != Place::Nowhere && (is_vram(from) || is_vram(place)) {
            self.moves.bytes = self.moves.bytes.saturating_add(bytes);
            self.moves.evictions += u64::from(why == Why::Eviction);
        }
        self.used.subtract(from, bytes);
        self.used.add(place, bytes);
        if let Some(queue) = self.queue(from) {
            queue.remove(old_ticket);
        }
        if let Some(resident) = self.get_mut(id) {
            resident.place = place;
            resident.queued = now;
            if why == Why::Use {
                // Who is only evicted stays in reach of the jobs that are under way.
                resident.signs.reachable.store(place.is_in_reach(), Ordering::Relaxed);
            }
            let ticket = resident.ticket(id);
            if let Some(queue) = self.queue(place) {
                queue.insert(ticket);
            }
        }
        self.note_displaced(id, sizes);
    }
}
