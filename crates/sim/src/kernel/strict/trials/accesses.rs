//! The log of all accesses, and the conflicts in it.
//!
//! This is a second opinion on what the model does not report. It compares pairs of accesses and the times of operations, and keeps
//! no state of caches: a read is in conflict if an earlier one through the same cache found other bytes in the line, nothing that
//! goes through the cache wrote the difference, and no operation in between invalidated the cache.

use std::{collections::HashMap, sync::Arc};

use super::{how::How, lost::Lost, trial::Trial};
use crate::{
    gpu::{CacheOperation, FrontCaches, TargetCaches},
    kernel::strict::{
        access::Way,
        event::{Agent, Time},
        model::Range,
        pages::{Front, LINE, PAGE, chunks, differences, lines},
        world::Call,
    },
};

/// The number of accesses to lines above which the log is full, and later accesses are not compared.
const MOST: usize = 4 << 20;

/// An access to a line.
#[expect(clippy::struct_excessive_bools, reason = "properties that have nothing to do with each other")]
#[derive(Clone, Debug)]
struct Access {
    time: Time,
    job: u64,
    ring: u32,
    agent: Agent,
    way: Way,
    front: Option<Front>,
    through_array: bool,
    bypasses: bool,
    near: Option<(Front, bool)>,
    vm: Option<u64>,
    /// The bytes that are accessed, and those that a write changes.
    bytes: u64,
    changed: u64,
    /// The line in memory when it was read.
    line: Option<Box<[u8; LINE]>>,
    is_atomic: bool,
    is_private: bool,
    /// The cache of targets, a bit.
    target: u8,
    polls: bool,
    /// `true` for DMA that starts when earlier DMA has written.
    waits: bool,
}

/// A place of a line: the BO, and the number of the line in it.
type Line = (usize, u64, u64);

#[derive(Clone, Copy, Debug)]
struct Operation {
    /// The event that executed it, and that of its packet.
    time: Time,
    origin: Time,
    fronts: FrontCaches,
    targets: TargetCaches,
    writes_back: bool,
    invalidates: bool,
}

/// All accesses.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    lines: HashMap<Line, Vec<Access>>,
    count: usize,
    operations: Vec<Operation>,
}

impl Accesses {
    pub(super) fn operated(&mut self, time: Time, origin: Time, operation: CacheOperation) {
        let CacheOperation { fronts, flush_targets: targets, .. } = operation;
        let (writes_back, invalidates) = (operation.write_back_l2, operation.invalidate_l2);
        self.operations.push(Operation { time, origin, fronts, targets, writes_back, invalidates });
    }

    fn add(&mut self, range: Range<'_>, data: Result<&[u8], usize>, call: &Call<'_>, keeps_line: bool) {
        let by = call.by;
        let len = data.map_or_else(|len| len, <[u8]>::len);
        for chunk in chunks(range.offset, len) {
            for piece in lines(chunk.at, chunk.len) {
                if self.count >= MOST {
                    return;
                }
                let first = (chunk.page * PAGE + piece.line * LINE) as u64;
                let mut line = [0; LINE];
                range.bo.read(first, &mut line);
                let mut changed = 0;
                if let Ok(data) = data {
                    let at = piece.at % LINE;
                    let data = &data[chunk.done..chunk.done + chunk.len][piece.in_access()];
                    changed = differences(&line[at..at + piece.len], data) << at;
                }
                let place = (Arc::as_ptr(range.bo) as usize, range.bo.mmap_offset(), first);
                let all = self.lines.entry(place).or_default();
                if let Some(last) = all.last_mut()
                    && (last.time, last.agent, last.way, last.front) == (by.time, by.agent, by.way, by.front)
                    && (last.near, last.bypasses) == (by.near, by.bypasses)
                    && last.target == by.of_target.map_or(0, |cache| cache.bits())
                    && last.is_atomic == by.is_atomic
                    && last.line.is_some() == keeps_line
                {
                    last.bytes |= piece.mask();
                    last.changed |= changed;
                    continue;
                }
                self.count += 1;
                all.push(Access {
                    time: by.time,
                    job: by.order.job,
                    ring: by.order.ring,
                    agent: by.agent,
                    way: by.way,
                    front: by.front,
                    through_array: by.through_array,
                    bypasses: by.bypasses,
                    near: by.near,
                    vm: by.vm,
                    bytes: piece.mask(),
                    changed,
                    line: keeps_line.then(|| Box::new(line)),
                    is_atomic: by.is_atomic,
                    is_private: by.is_private,
                    target: by.of_target.map_or(0, |cache| cache.bits()),
                    polls: call.polls,
                    waits: call.waits,
                });
            }
        }
    }

    pub(super) fn read(&mut self, range: Range<'_>, len: usize, call: &Call<'_>) {
        self.add(range, Err(len), call, true);
    }

    pub(super) fn write(&mut self, range: Range<'_>, data: &[u8], call: &Call<'_>) {
        self.add(range, Ok(data), call, false);
    }

    /// Commands are fetched through no cache that could be old.
    pub(super) fn fetch(&mut self, range: Range<'_>, len: usize, call: &Call<'_>) {
        let way = if call.by.way == Way::Past { Way::Past } else { Way::Coherent };
        let by = super::super::access::By { way, front: None, through_array: false, ..*call.by };
        self.add(range, Err(len), &Call { by: &by, ..*call }, true);
    }

    /// Returns two accesses as text that are in conflict in a trial which ends at this time.
    pub(super) fn conflict(&self, trial: &Trial, end: Time) -> Option<String> {
        let (start, end) = (trial.at.now, end.min(trial.until));
        self.lines.iter().find_map(|((_, offset, first), all)| {
            // Nothing happens to the line in the time of the trial.
            if all.last()?.time < start {
                return None;
            }
            let (earlier, later, why) = self.conflict_in(all, trial, start, end)?;
            let one = |access: &Access| {
                let what = if access.line.is_some() { "reads" } else { "writes" };
                format!("event {} of job {}: {:?} {what} {:#x}", access.time, access.job, access.agent, access.bytes)
            };
            Some(format!("{why}: BO {offset:#x} + {first:#x}: {}; {}", one(earlier), one(later)))
        })
    }

    fn conflict_in<'a>(
        &self,
        all: &'a [Access],
        trial: &Trial,
        start: Time,
        end: Time,
    ) -> Option<(&'a Access, &'a Access, &'static str)> {
        let in_trial = |access: &&Access| start.max(trial.from) <= access.time && access.time <= end;
        let lost = trial.lost;
        let of_operation = |part: Lost| lost == part || lost == Lost::Operation;
        for later in all.iter().filter(in_trial) {
            let before = all.iter().take_while(|earlier| earlier.time < later.time);
            for earlier in before {
                let pair = Pair { all, earlier, later };
                if trial.how == How::Early && earlier.time <= trial.start.since {
                    // The operation comes before the work for which the packet before it waits.
                    let runs = earlier.agent == Agent::Shader && earlier.time > trial.start.order.shaders;
                    if runs && lost == Lost::Operation && earlier.job == trial.at.job && self.is_dirty(&pair, trial) {
                        return Some((earlier, later, "old bytes"));
                    }
                    continue;
                }
                let why = if lost == Lost::PfpSync || of_operation(Lost::PfpWait) || lost == Lost::Wait {
                    Self::is_ahead(&pair, trial, lost).then_some("read ahead")
                } else {
                    None
                };
                let why = why.or_else(|| match lost {
                    Lost::Front(_) | Lost::InvalidateL2 | Lost::WriteBackL2 | Lost::Operation => {
                        self.is_old(&pair, trial).then_some("old bytes")
                    }
                    Lost::Wait if self.is_old(&pair, trial) => Some("old bytes"),
                    Lost::Targets(cache) => self.is_in_targets(&pair, cache, trial).then_some("old bytes"),
                    Lost::Confirmation => pair.is_unconfirmed(trial).then_some("it may not be there yet"),
                    Lost::Engine => pair.is_ahead_of_engine(trial).then_some("read ahead"),
                    Lost::Policy => self.is_old_by_policy(&pair, trial).then_some("old bytes"),
                    Lost::Scope => self.is_old_by_scope(&pair, trial).then_some("old bytes"),
                    Lost::Ended => {
                        pair.overlaps(trial, Agent::Shader, (trial.before.shaders, start)).then_some("both at once")
                    }
                    Lost::DrawsDone => pair
                        .overlaps(trial, Agent::Draw, (trial.before.draws, trial.after.draws))
                        .then_some("both at once"),
                    Lost::ShadersDone | Lost::Wait => pair
                        .overlaps(trial, Agent::Shader, (trial.before.shaders.max(trial.weak), trial.after.shaders))
                        .then_some("both at once"),
                    // The DMA is over when its packet ends.
                    Lost::DmaSync => {
                        pair.overlaps(trial, Agent::Dma, (trial.before.dma, start)).then_some("both at once")
                    }
                    Lost::RawWait => {
                        let is_now = later.time == start && later.agent == Agent::Dma;
                        (is_now && pair.overlaps(trial, Agent::Dma, (trial.before.dma, start)))
                            .then_some("both at once")
                    }
                    _ => None,
                });
                if let Some(why) = why {
                    return Some((earlier, later, why));
                }
            }
        }
        None
    }

    fn is_ahead(pair: &Pair<'_>, trial: &Trial, lost: Lost) -> bool {
        let Pair { earlier, later, .. } = *pair;
        // A wait by ME holds PFP as little as none.
        if lost == Lost::Wait && trial.after.pfp == trial.before.pfp {
            return false;
        }
        earlier.job == later.job
            && later.job == trial.at.job
            && later.agent == Agent::Pfp
            && !later.polls
            && earlier.agent != Agent::Pfp
            && trial.before.pfp < earlier.time
            && earlier.time <= trial.at.now
            && earlier.changed & later.bytes != 0
    }

    fn is_old(&self, pair: &Pair<'_>, trial: &Trial) -> bool {
        let lost = trial.lost;
        let has = |part: Lost| lost == part || matches!(lost, Lost::Operation | Lost::Wait);
        [
            (Front::Vector, FrontCaches::VECTOR),
            (Front::Scalar, FrontCaches::SCALAR),
            (Front::Instructions, FrontCaches::INSTRUCTIONS),
            (Front::Array, FrontCaches::ARRAY),
            (Front::Metadata, FrontCaches::METADATA),
        ]
        .into_iter()
        .any(|(front, bits)| has(Lost::Front(bits.bits())) && self.is_old_in_front(pair, (front, bits), trial))
            || has(Lost::InvalidateL2) && self.is_old_in_l2(pair, trial)
            || has(Lost::WriteBackL2) && self.is_dirty(pair, trial)
    }

    /// Returns the operations between two accesses for which `is_meant` is true.
    fn between(
        &self,
        (after, before): (Time, Time),
        is_meant: impl Fn(&Operation) -> bool,
    ) -> impl Iterator<Item = &Operation> {
        let in_between = move |operation: &&Operation| after < operation.time && operation.time <= before;
        self.operations.iter().filter(in_between).filter(move |operation| is_meant(operation))
    }

    /// Returns `true` if there are operations between two accesses for which `is_meant` is true, and the trial lacks all of them.
    fn are_lost(&self, pair: &Pair<'_>, trial: &Trial, is_meant: impl Fn(&Operation) -> bool) -> bool {
        let now = trial.at.now;
        let is_lost = |operation: &Operation| match trial.lost {
            Lost::Wait => operation.time == now && operation.origin != now && operation.origin > trial.weak,
            _ => operation.origin == now,
        };
        let mut all = self.between((pair.earlier.time, pair.later.time), is_meant).peekable();
        all.peek().is_some() && all.all(is_lost)
    }

    fn is_old_in_front(&self, pair: &Pair<'_>, (front, bits): (Front, FrontCaches), trial: &Trial) -> bool {
        let Pair { earlier, later, .. } = *pair;
        let goes =
            |access: &Access| if front == Front::Array { access.through_array } else { access.front == Some(front) };
        if !(goes(earlier) && goes(later)) || earlier.vm != later.vm {
            return false;
        }
        // A hit in the cache before the array is not seen by the array.
        if front == Front::Array && later.front.is_some_and(|front| self.hits(pair, front)) {
            return false;
        }
        // Shaders write metadata through its cache.
        let is_through = |access: &Access| front == Front::Metadata && access.front == Some(Front::Metadata);
        pair.differs(|access| access.time == later.time || is_through(access))
            && self.are_lost(pair, trial, |operation| operation.fronts.contains(bits))
    }

    /// Returns `true` if the later access finds its line in a cache in front of the array.
    fn hits(&self, pair: &Pair<'_>, front: Front) -> bool {
        let bits = match front {
            Front::Vector => FrontCaches::VECTOR,
            Front::Scalar => FrontCaches::SCALAR,
            Front::Instructions => FrontCaches::INSTRUCTIONS,
            Front::Metadata => FrontCaches::METADATA,
            Front::Array => return false,
        };
        let later = pair.later;
        pair.all.iter().take_while(|access| access.time < later.time).any(|access| {
            access.front == Some(front)
                && access.vm == later.vm
                && self.between((access.time, later.time), |operation| operation.fronts.contains(bits)).next().is_none()
        })
    }

    fn is_old_in_l2(&self, pair: &Pair<'_>, trial: &Trial) -> bool {
        let Pair { earlier, later, .. } = *pair;
        // A load that a cache in front of L2 answers does not reach L2.
        let is_answered = || later.front.is_some_and(|front| self.hits(pair, front));
        earlier.way == Way::In
            && later.way == Way::In
            && pair.differs(|access| access.way != Way::Past)
            && self.are_lost(pair, trial, |operation| operation.invalidates)
            && !is_answered()
    }

    fn is_old_by_policy(&self, pair: &Pair<'_>, trial: &Trial) -> bool {
        let Pair { earlier, later, .. } = *pair;
        let (now, between) = (trial.at.now, (earlier.time, later.time));
        let reads_old = later.time == now
            && later.bypasses
            && earlier.way == Way::In
            && pair.differs(|access| access.way != Way::Past)
            && self.between(between, |operation| operation.invalidates).next().is_none();
        let hides = earlier.time == now
            && earlier.bypasses
            && later.way == Way::Past
            && later.time != now
            && earlier.changed & later.bytes != 0
            && self.between(between, |operation| operation.writes_back).next().is_none();
        reads_old || hides
    }

    fn is_old_by_scope(&self, pair: &Pair<'_>, trial: &Trial) -> bool {
        let Pair { earlier, later, .. } = *pair;
        let Some((front, _)) = later.near.filter(|_| later.time == trial.at.now) else { return false };
        let bits = match front {
            Front::Vector => FrontCaches::VECTOR,
            Front::Scalar => FrontCaches::SCALAR,
            Front::Instructions | Front::Array | Front::Metadata => return false,
        };
        earlier.front == Some(front)
            && earlier.vm == later.vm
            && earlier.time != later.time
            && pair.differs(|access| access.time == later.time)
            && self.between((earlier.time, later.time), |operation| operation.fronts.contains(bits)).next().is_none()
    }

    fn is_in_targets(&self, pair: &Pair<'_>, cache: u8, trial: &Trial) -> bool {
        let Pair { all, earlier, later } = *pair;
        let others = all.iter().filter(|access| earlier.time < access.time && access.time < later.time);
        let replaced = others.filter(|access| access.target == 0).fold(0, |bytes, write| bytes | write.changed);
        earlier.target == cache
            && later.target == 0
            && later.line.is_some()
            && earlier.changed & later.bytes & !replaced != 0
            && self.are_lost(pair, trial, |operation| operation.targets.bits() & cache != 0)
    }

    fn is_dirty(&self, pair: &Pair<'_>, trial: &Trial) -> bool {
        let Pair { earlier, later, .. } = *pair;
        earlier.way == Way::In
            && later.way == Way::Past
            && earlier.changed & if later.line.is_some() { later.bytes } else { later.changed } != 0
            && self.are_lost(pair, trial, |operation| operation.writes_back)
    }
}

/// Two accesses of a line.
#[derive(Clone, Copy)]
struct Pair<'a> {
    all: &'a [Access],
    earlier: &'a Access,
    later: &'a Access,
}

impl Pair<'_> {
    /// Returns `true` if the later access needs the write of a packet that does not wait until it has landed.
    fn is_unconfirmed(&self, trial: &Trial) -> bool {
        let Self { earlier, later, .. } = *self;
        let reads = if later.line.is_some() { later.bytes } else { 0 };
        let needed = reads | if later.agent == Agent::Shader { later.changed } else { 0 };
        earlier.time == trial.at.now
            && earlier.agent == Agent::Engine
            && later.job == earlier.job
            && !later.polls
            && !later.is_private
            && !(earlier.is_atomic && later.is_atomic)
            && earlier.changed & needed != 0
    }

    /// Returns `true` if PFP reads what ME writes in its place.
    fn is_ahead_of_engine(&self, trial: &Trial) -> bool {
        let Self { earlier, later, .. } = *self;
        earlier.time == trial.at.now
            && earlier.agent == Agent::Pfp
            && later.agent == Agent::Pfp
            && later.job == earlier.job
            && later.line.is_some()
            && !later.polls
            && earlier.changed & later.bytes != 0
    }

    /// Returns `true` if the later read finds other bytes than the earlier one, which no write that the cache `knows` has made.
    fn differs(&self, knows: impl Fn(&Access) -> bool) -> bool {
        let (Some(old), Some(new)) = (&self.earlier.line, &self.later.line) else { return false };
        let mut bytes = differences(&old[..], &new[..]) & self.later.bytes;
        for write in self.all.iter().filter(|access| access.changed != 0) {
            if self.earlier.time <= write.time && write.time <= self.later.time && knows(write) {
                bytes &= !write.bytes;
            }
        }
        bytes != 0
    }

    /// Returns `true` if the earlier access is by an agent, in this time, and nothing orders the two but what the trial lacks.
    fn overlaps(&self, trial: &Trial, agent: Agent, (after, until): (Time, Time)) -> bool {
        let Self { earlier, later, .. } = *self;
        let reads = |access: &Access| if access.line.is_some() { access.bytes } else { 0 };
        let common = earlier.changed & (later.changed | reads(later)) | reads(earlier) & later.changed;
        earlier.ring == later.ring
            && later.job >= trial.at.job
            && earlier.agent == agent
            && after < earlier.time
            && earlier.time <= until
            && !earlier.is_private
            && !later.is_private
            && !later.polls
            && !(agent == Agent::Dma && later.agent == Agent::Dma && later.waits && trial.lost != Lost::RawWait)
            && !(earlier.is_atomic && later.is_atomic)
            && common != 0
    }
}
