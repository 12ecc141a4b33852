//! The rings of a device, and the resets that they share.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use amdgpu_hw::Ip;
use amdgpu_uapi::Errno;
use parking_lot::Mutex;

use super::{
    image::image,
    ring::{Recovery, Ring, kernel_name},
};
use crate::{
    features::Features,
    kernel::{
        board::Board,
        hangs::RingImage,
        sched::context::{Context, Entity},
    },
    testing::hooks::RingName,
};

/// The rings of a device.
#[derive(Debug)]
pub(crate) struct Rings {
    board: Arc<Board>,
    resets: AtomicU32,
    losses: AtomicU32,
    unplugged: AtomicBool,
    started: Mutex<HashMap<RingName, Arc<Ring>>>,
}

impl Rings {
    pub(crate) fn new(board: &Arc<Board>) -> Arc<Self> {
        Arc::new(Self {
            board: Arc::clone(board),
            resets: AtomicU32::new(0),
            losses: AtomicU32::new(0),
            unplugged: AtomicBool::new(false),
            started: Mutex::default(),
        })
    }

    /// Returns the number of resets of the GPU.
    pub(crate) fn resets(&self) -> u32 {
        self.resets.load(Ordering::Acquire)
    }

    /// Returns the number of resets that lost VRAM.
    pub(crate) fn losses(&self) -> u32 {
        self.losses.load(Ordering::Acquire)
    }

    /// Returns `true` if the GPU was unplugged.
    pub(crate) fn is_unplugged(&self) -> bool {
        self.unplugged.load(Ordering::Acquire)
    }

    /// Resets the whole GPU, without a guilty job.
    pub(crate) fn reset_all(&self, loses_vram: bool) {
        let rings = self.started.lock();
        self.losses.fetch_add(loses_vram.into(), Ordering::AcqRel);
        self.reset(rings.values());
        drop(rings);
        self.board.report_reset(None);
        self.board.events.wake_all();
    }

    /// Ends all jobs for good.
    pub(crate) fn unplug(&self) {
        self.unplugged.store(true, Ordering::Release);
        self.started.lock().values().for_each(|ring| ring.cancel_running());
        self.board.events.wake_all();
    }

    fn reset<'r>(&self, rings: impl Iterator<Item = &'r Arc<Ring>>) {
        self.resets.fetch_add(1, Ordering::AcqRel);
        rings.for_each(|ring| ring.cancel_running());
    }

    /// Returns this value as rings and user queues use it, which do not keep the device alive.
    pub(crate) fn recovery(self: &Arc<Self>) -> Weak<dyn Recovery> {
        let rings: Weak<Self> = Arc::downgrade(self);
        rings
    }

    /// Returns `true` if a ring of an IP has a pending, waiting or running job.
    pub(crate) fn is_busy(&self, ip: Ip) -> bool {
        self.started.lock().iter().any(|((of, _), ring)| *of == ip && ring.load() > 0)
    }

    /// Returns the ring for the next job of an entity, and counts the job as load of the ring. This is the ring of its last job if
    /// that has not ended, otherwise the ring with the least load.
    ///
    /// Source: Linux 6.12 `sched_entity.c`, `drm_sched_entity_select_rq`.
    pub(crate) fn ring_for(self: &Arc<Self>, ip: Ip, entity: &Entity) -> Result<Arc<Ring>, Errno> {
        let mut rings = self.started.lock();
        let facts = &self.board.facts;
        let load = |index: &u32| rings.get(&(ip, *index)).map_or(0, |ring| ring.load());
        let free = || (0..facts.ring_count(ip)).min_by_key(load);
        let index = entity.busy_on().or_else(free).ok_or(Errno::EINVAL)?;
        let ring = match rings.entry((ip, index)) {
            Entry::Occupied(known) => Arc::clone(known.get()),
            Entry::Vacant(new) => {
                let executor = facts.executor(ip).ok_or(Errno::EINVAL)?;
                let ring = Ring::start(Arc::clone(&self.board), self.recovery(), executor, (ip, index))?;
                Arc::clone(new.insert(Arc::new(ring)))
            }
        };
        ring.reserve();
        entity.settle_on(index);
        Ok(ring)
    }

    /// Returns the rings that have had jobs.
    pub(crate) fn started(&self) -> Vec<Arc<Ring>> {
        self.started.lock().values().cloned().collect()
    }
}

impl Recovery for Rings {
    fn is_unplugged(&self) -> bool {
        self.is_unplugged()
    }

    fn losses(&self) -> u32 {
        self.losses()
    }

    fn recovered(&self, is_lost: &dyn Fn() -> bool) -> bool {
        let rings = self.started.lock();
        let recovers = !is_lost();
        self.resets.fetch_add(recovers.into(), Ordering::AcqRel);
        drop(rings);
        recovers
    }

    fn reset_for(&self, culprit: &Context, is_lost: &dyn Fn() -> bool) -> Errno {
        let rings = self.started.lock();
        if is_lost() {
            return Errno::ECANCELED;
        }
        let has_entity_errors = self.board.facts.has(Features::ENTITY_ERRORS);
        if !has_entity_errors {
            culprit.blame();
        }
        self.reset(rings.values());
        drop(rings);
        self.board.events.wake_all();
        if has_entity_errors { Errno::ETIME } else { Errno::ECANCELED }
    }

    fn reset_block(&self, is_lost: &dyn Fn() -> bool) -> bool {
        let rings = self.started.lock();
        let is_own = !is_lost();
        if is_own {
            self.resets.fetch_add(1, Ordering::AcqRel);
            let of_block = rings.iter().filter(|((ip, _), _)| matches!(ip, Ip::Gfx | Ip::Compute));
            of_block.for_each(|(_, ring)| ring.blame_running());
        }
        drop(rings);
        self.board.events.wake_all();
        is_own
    }

    fn images(&self, stuck: RingName) -> Vec<RingImage> {
        let facts = &self.board.facts;
        let has_all = !facts.has(Features::COREDUMP_BUSY_RINGS);
        let names = Ip::ALL.into_iter().flat_map(|ip| (0..facts.ring_count(ip)).map(move |index| (ip, index)));
        let started = self.started.lock();
        let image_of = |name: RingName| match started.get(&name) {
            Some(ring) => Some(ring.image()),
            None if has_all => {
                let executor = facts.executor(name.0)?;
                Some(image(kernel_name(name, executor), executor, 0, &[]))
            }
            None => None,
        };
        let images = names.filter_map(|name| image_of(name).map(|image| (name, image)));
        images.filter(|(name, image)| has_all || image.is_busy || *name == stuck).map(|(_, image)| image).collect()
    }
}
