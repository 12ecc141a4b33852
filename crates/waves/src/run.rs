//! Execution of dispatches.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use amdgpu_hw::GfxLevel;

use crate::{
    alu::unit::Unit,
    dispatch::Dispatch,
    group::Group,
    image::cache::Images,
    memory::{Memory, PageFault},
    mutation::{MutatedMemory, WaveMutation},
    outcome::{Counters, Hang, Outcome},
    program::code::Code,
    watch::observer::{Observer, Unobserved},
};

/// Limits and options of the execution of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of instructions that all waves together may execute before the next work-group ends. A dispatch may execute
    /// [`WHOLE`](Self::WHOLE) times as many altogether.
    pub instructions: u64,
    /// The number of work-groups that each thread executes concurrently, so that work-groups can wait for each other.
    pub window: usize,
    /// A deliberate fault in all waves, to check that tests detect it.
    pub mutation: Option<WaveMutation>,
    /// The host's vector instructions that the interpreter may use.
    pub vectors: Vectors,
    /// The number of shader engines. From GFX11 on, WAVES of COMPUTE_TMPRING_SIZE counts the waves of one engine, and each engine
    /// has its own part of the scratch memory.
    pub shader_engines: u32,
    /// A seed for the order in which work-groups start, among a few that run concurrently; `None` for that of the grid. Hardware
    /// may choose any.
    pub shuffled: Option<u64>,
    /// A seed for what registers and LDS hold before a wave writes them, which is undefined; `None` for zeroes.
    pub undefined: Option<u64>,
    /// The scalar registers whose first values are arguments that nobody has set, by their bits: [`run_checked`](crate::run_checked) and
    /// [`StageRunner::run_checked`](crate::StageRunner::run_checked) tell where a shader reads one.
    pub unset: u64,
}

/// The vector instructions of the host that executes waves. They do not affect results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vectors {
    /// The widest instructions that the processor has.
    #[default]
    Detected,
    /// At most AVX2 and FMA.
    Avx2,
    /// The instructions that all processors of the target have.
    Baseline,
    /// Those of [`Baseline`](Self::Baseline), and no shortcuts for frequent forms of instructions: each is executed by its general
    /// rule. Slow; tests compare the others with it.
    Plain,
}

impl Vectors {
    /// Returns the unit for these instructions on this processor.
    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Detected => Unit::detect(),
            Self::Avx2 => Unit::detect_avx2(),
            Self::Baseline => Unit::Baseline,
            Self::Plain => Unit::Plain,
        }
    }
}

impl Limits {
    /// The number of times that a dispatch of many work-groups may execute [`instructions`](Self::instructions).
    pub const WHOLE: u64 = 64;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            instructions: 1 << 32,
            window: 16,
            mutation: None,
            vectors: Vectors::Detected,
            shader_engines: 1,
            shuffled: None,
            undefined: None,
            unset: 0,
        }
    }
}

/// The state shared by the threads.
pub(crate) struct Shared<'s> {
    dispatch: &'s Dispatch,
    limits: Limits,
    unit: Unit,
    next: AtomicU64,
    /// Instructions executed by the dispatch, and by all waves since the last work-group ended.
    used: AtomicU64,
    waited: AtomicU64,
    /// The lowest work-group that hangs. Later work-groups are not started.
    end: AtomicU64,
    totals: Mutex<Totals>,
}

#[derive(Default)]
struct Totals {
    counters: Counters,
    fault: Option<(u64, PageFault)>,
    hang: Option<(u64, Box<Hang>)>,
}

/// Executes a dispatch to its end on this thread, a few work-groups at a time, in the order of the grid.
pub fn run(dispatch: &Dispatch, memory: &dyn Memory, limits: Limits) -> Outcome {
    let shared = Shared::new(dispatch, limits);
    shared.work(memory, 0, shared.slots().min(limits.window.max(1)), &Unobserved, None);
    shared.outcome(memory)
}

/// The number of instructions after which a dispatch is worth more threads. Starting a thread takes tens of microseconds, executing
/// this number of instructions about a millisecond.
const ALONE: u64 = 30_000;

/// Executes a dispatch to its end on up to `threads` threads: the calling thread, and others that start once the dispatch has
/// executed enough instructions. If the process cannot create a thread, the existing threads execute the dispatch.
///
/// The outcome and the memory contents are those of [`run`], unless work-groups race with each other. If several work-groups hang or
/// fault, the lowest one is reported. If the budget is used up, the lowest work-group that has not ended is reported. Each thread
/// keeps up to [`Limits::window`] work-groups alive.
pub fn run_on_threads(dispatch: &Dispatch, memory: &(dyn Memory + Sync), limits: Limits, threads: usize) -> Outcome {
    let shared = Shared::new(dispatch, limits);
    let groups = usize::try_from(dispatch.groups()).unwrap_or(usize::MAX);
    let threads = threads.clamp(1, 256).min(shared.slots()).min(groups).max(1);
    let window = (shared.slots() / threads).min(limits.window.max(1));
    thread::scope(|scope| {
        let shared = &shared;
        let mut start_others = || {
            for worker in 1..threads {
                let work = move || shared.work(memory, worker, window, &Unobserved, None);
                if thread::Builder::new().name(format!("waves {worker}")).spawn_scoped(scope, work).is_err() {
                    return;
                }
            }
        };
        shared.work(memory, 0, window, &Unobserved, Some(&mut start_others));
    });
    shared.outcome(memory)
}

impl<'s> Shared<'s> {
    pub(crate) fn new(dispatch: &'s Dispatch, limits: Limits) -> Self {
        Self {
            dispatch,
            limits,
            unit: limits.vectors.unit(),
            next: AtomicU64::new(0),
            used: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            end: AtomicU64::new(dispatch.groups()),
            totals: Mutex::default(),
        }
    }

    /// Returns the number of work-groups that may run concurrently: each live wave has its own slot of scratch memory.
    pub(crate) fn slots(&self) -> usize {
        let waves = self.dispatch.waves_per_group().max(1);
        self.dispatch.scratch_waves().map_or(usize::MAX, |slots| (slots / waves).max(1) as usize)
    }

    /// Returns the number of shader engines that have their own slots of scratch memory.
    fn engines(&self) -> u32 {
        if self.dispatch.level >= GfxLevel::Gfx11 { self.limits.shader_engines.max(1) } else { 1 }
    }

    /// Returns the first slot of scratch memory of a work-group in a place, which has slots on each shader engine. Work-groups go
    /// to the engines in turn, and the slots of an engine follow those of the engine before.
    fn first_slot(&self, index: u64, place: usize) -> u32 {
        let engine = (index % u64::from(self.engines())) as u32;
        engine * self.dispatch.scratch_waves().unwrap_or(0) + place as u32 * self.dispatch.waves_per_group()
    }

    /// Returns the outcome of the dispatch.
    pub(crate) fn outcome(self, memory: &dyn Memory) -> Outcome {
        let totals = self.totals.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, hang)) = totals.hang {
            return Outcome::Hang(*hang);
        }
        if memory.is_stopped() {
            return Outcome::Stopped;
        }
        match totals.fault {
            Some((_, fault)) => Outcome::Fault { fault, counters: totals.counters },
            None => Outcome::Done(totals.counters),
        }
    }

    /// Executes work-groups until none are left. Calls `start_others` once, when all waves together have executed [`ALONE`]
    /// instructions.
    pub(crate) fn work<O: Observer>(
        &self,
        memory: &dyn Memory,
        worker: usize,
        window: usize,
        observer: &O,
        mut start_others: Option<&mut dyn FnMut()>,
    ) {
        let mut work = |memory: &dyn Memory| match self.limits.mutation {
            None => self.work_on(memory, worker, window, observer, start_others.take()),
            Some(mutation) => {
                self.work_on(&MutatedMemory { memory, mutation }, worker, window, observer, start_others.take());
            }
        };
        // What is observed tells each access to the memory itself.
        if O::ON || !memory.on_thread(&mut work) {
            work(memory);
        }
    }

    /// Executes work-groups until none are left, on memory with or without a mutation.
    fn work_on<O: Observer>(
        &self,
        memory: &dyn Memory,
        worker: usize,
        window: usize,
        observer: &O,
        mut start_others: Option<&mut dyn FnMut()>,
    ) {
        let mut code = Code::new(self.dispatch.wave_config());
        let mut images = Images::new(self.dispatch.level, self.dispatch.chip.as_ref());
        let mut ended: Vec<Group> = Vec::new();
        // Each place in the window has its own scratch slots.
        let mut live: Vec<Option<Group>> = Vec::new();
        loop {
            if live.len() < window && live.iter().all(Option::is_some) {
                live.push(None);
            }
            for (place, entry) in live.iter_mut().enumerate() {
                if entry.is_none() {
                    *entry = self.take(memory).map(|index| {
                        let slot = self.first_slot(index, worker * window + place);
                        let mut group =
                            Group::new(self.dispatch, (index, slot), self.limits.mutation, self.unit, ended.pop());
                        if let Some(seed) = self.limits.undefined {
                            group.undefine(seed, self.dispatch);
                        }
                        group
                    });
                }
                let Some(group) = entry else { continue };
                if self.ends(group, memory) || self.slice(group, (&mut code, &mut images), memory, observer) {
                    ended.extend(entry.take());
                }
                if let Some(start) = start_others.take_if(|_| self.used.load(Ordering::Relaxed) > ALONE) {
                    start();
                }
            }
            if live.iter().all(Option::is_none) && self.next.load(Ordering::Relaxed) >= self.end.load(Ordering::Relaxed)
            {
                break;
            }
        }
        if let Some(cache) = memory.code_cache() {
            code.keep(cache);
        }
    }

    /// Returns the index of the next work-group.
    fn take(&self, memory: &dyn Memory) -> Option<u64> {
        if memory.is_stopped() {
            self.end.fetch_min(0, Ordering::Relaxed);
        }
        let end = self.end.load(Ordering::Relaxed);
        let turn =
            self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| (next < end).then_some(next + 1));
        turn.ok().map(|turn| self.nth(turn))
    }

    /// Returns the index of the work-group whose turn it is.
    ///
    /// Work-groups change places only with those that surely run concurrently, so that one that waits for an earlier one still ends.
    fn nth(&self, turn: u64) -> u64 {
        let Some(seed) = self.limits.shuffled else { return turn };
        let block = (self.slots().min(self.limits.window) as u64 / 2).max(1);
        let first = turn - turn % block;
        let count = block.min(self.dispatch.groups() - first);
        let start = seed.rotate_right((turn / block % 64) as u32) % count;
        first + (start + count - 1 - turn % block) % count
    }

    /// Returns `true` if the work-group should not continue.
    fn ends(&self, group: &Group, memory: &dyn Memory) -> bool {
        let stopped = memory.is_stopped();
        if stopped {
            self.end.fetch_min(0, Ordering::Relaxed);
        }
        stopped || group.index > self.end.load(Ordering::Relaxed)
    }

    /// Counts instructions of a work-group, which may have ended with them. Returns the budget that is exceeded.
    fn exceeded(&self, instructions: u64, has_ended: bool) -> Option<u64> {
        let add = |counter: &AtomicU64| counter.fetch_add(instructions, Ordering::Relaxed).saturating_add(instructions);
        let whole = self.limits.instructions.saturating_mul(Limits::WHOLE);
        if add(&self.used) > whole {
            return Some(whole);
        }
        if has_ended {
            self.waited.store(0, Ordering::Relaxed);
            return None;
        }
        (add(&self.waited) > self.limits.instructions).then_some(self.limits.instructions)
    }

    /// Executes a slice of a work-group. Returns `true` if the work-group has ended.
    fn slice<O: Observer>(
        &self,
        group: &mut Group,
        (code, images): (&mut Code, &mut Images),
        memory: &dyn Memory,
        observer: &O,
    ) -> bool {
        let before = group.counters().instructions;
        let result = group.slice(code, images, memory, observer);
        let counters = group.counters();
        let exceeded = self.exceeded(counters.instructions - before, matches!(result, Ok(true)));
        let result = match (result, exceeded) {
            (Ok(_), Some(budget)) => Err(Box::new(group.out_of_budget(budget, memory))),
            (result, _) => result,
        };
        let over = match &result {
            Ok(done) => *done,
            Err(_) => true,
        };
        if over {
            let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
            totals.counters.add(counters);
            if let Some(fault) = group.fault().filter(|_| totals.fault.is_none_or(|(index, _)| group.index < index)) {
                totals.fault = Some((group.index, fault));
            }
            if let Err(hang) = result {
                self.end.fetch_min(group.index, Ordering::Relaxed);
                if totals.hang.as_ref().is_none_or(|(index, _)| group.index < *index) {
                    totals.hang = Some((group.index, hang));
                }
            }
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::WaveSize;

    use super::*;

    #[test]
    fn each_work_group_has_its_turn_among_those_that_run_with_it() {
        for groups in [1, 7, 8, 9, 100] {
            let dispatch = Dispatch {
                level: GfxLevel::Gfx9,
                wave: WaveSize::Wave64,
                program: 0,
                resources: [0; 3],
                user_data: [0; 16],
                threads: [64, 1, 1],
                partial: [0; 3],
                start: [0; 3],
                end: [groups, 1, 1],
                scratch_ring: 0,
                scratch_base: 0,
                chip: None,
                border_colors: 0,
            };
            let order = |shuffled: Option<u64>| {
                let shared = Shared::new(&dispatch, Limits { shuffled, ..Limits::default() });
                (0..u64::from(groups)).map(|turn| shared.nth(turn)).collect::<Vec<_>>()
            };
            let plain = order(None);
            assert_eq!(plain, (0..u64::from(groups)).collect::<Vec<_>>());
            let shuffled = order(Some(0x5eed_0f5e_ed00));
            assert_eq!(groups == 1, shuffled == plain);
            assert!(shuffled.iter().zip(&plain).all(|(index, turn)| index / 8 == turn / 8), "{shuffled:?}");
            let mut all = shuffled.clone();
            all.sort_unstable();
            assert_eq!(all, plain);
        }
    }
}
