//! The observer of a dispatch in a strict mode.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
};

use amdgpu_isa::decode;

use super::{
    hazards::{Hazards, InstructionHazard, MISSING_WAIT, Scalars, Traits},
    known::{route, traits},
    observer::Observer,
    waits::{Facts, MissingWait, Outstanding},
};
use crate::{
    dispatch::Dispatch,
    memory::{Memory, Reach},
    outcome::{Outcome, Reason},
    program::{code::words, wave_config::WaveConfig},
    run::{Limits, Shared},
    wave::state::{Status, Wave},
};

/// The index of a work-group, and the number of the wave in it.
type WaveNumber = (u64, u32);

/// A receiver of hazards.
type Sink<'s> = &'s mut dyn FnMut(&InstructionHazard);

/// Executes a dispatch to its end on this thread, as [`run`](crate::run) does. Tells the memory the unit and the reach of all
/// accesses, and `sink` the pairs of instructions between which the hardware does not wait and code must, each of them once; among
/// them are missing waits for loads and stores.
pub fn run_checked(dispatch: &Dispatch, memory: &dyn Memory, limits: Limits, sink: Sink<'_>) -> Outcome {
    let shared = Shared::new(dispatch, limits);
    let mut notes = Notes::default();
    let mut checker = Checker::new(
        dispatch.wave_config(),
        (dispatch.program, dispatch.waves_per_group() > 1),
        memory,
        (sink, &mut notes),
    );
    checker.unset = Scalars::from(limits.unset) & ((1 << dispatch.user_sgprs()) - 1);
    shared.work(memory, 0, shared.slots().min(limits.window.max(1)), &checker, None);
    shared.outcome(memory)
}

/// The facts about an instruction.
struct Known {
    route: Option<(bool, Reach)>,
    traits: Option<Traits>,
    facts: Option<Facts>,
}

/// The knowledge of a program that outlives its waves.
#[derive(Default)]
pub(crate) struct Notes {
    /// By the number of dwords from the first instruction on.
    known: Vec<Option<Known>>,
    /// The pairs of instructions whose hazard was reported.
    reported: HashSet<(u64, u64)>,
}

/// The knowledge of a wave.
#[derive(Debug)]
struct Living {
    hazards: Hazards,
    outstanding: Outstanding,
}

struct State<'s> {
    sink: Sink<'s>,
    notes: &'s mut Notes,
    /// The instruction last read that is too far away.
    far: Option<Known>,
    /// The index and ID of the work-group whose waves are executed.
    group: (u64, [u32; 3]),
    waves: HashMap<WaveNumber, Living>,
    /// The wave that is executed, which is not among the others.
    current: Option<(WaveNumber, Living)>,
}

/// The maximum number of dwords behind the start of a program whose instructions are remembered.
const MOST: usize = 1 << 18;

/// The maximum number of hazards of a dispatch.
const MOST_REPORTED: usize = 1000;

impl From<MissingWait> for InstructionHazard {
    fn from(missing: MissingWait) -> Self {
        let MissingWait { group, wave, instruction, operation, register, .. } = missing;
        let (earlier, register) = (Some(operation), Some(register));
        Self { rule: &MISSING_WAIT, group, wave, instruction, earlier, register }
    }
}

/// The observer of the waves of a program.
pub(crate) struct Checker<'c> {
    config: WaveConfig,
    /// The address of the first instruction.
    first: u64,
    /// `true` if waves share LDS.
    shares_lds: bool,
    /// The scalar registers with arguments that nobody has set.
    pub(crate) unset: Scalars,
    memory: &'c dyn Memory,
    /// The reach of the vector accesses of the current instruction.
    reach: Cell<Reach>,
    state: RefCell<State<'c>>,
}

impl<'c> Checker<'c> {
    /// Begins to watch waves of a program whose first instruction is at an address, of which several may share LDS if it
    /// `shares_lds`.
    pub(crate) fn new(
        config: WaveConfig,
        (first, shares_lds): (u64, bool),
        memory: &'c dyn Memory,
        (sink, notes): (Sink<'c>, &'c mut Notes),
    ) -> Self {
        let (group, waves) = ((0, [0; 3]), HashMap::new());
        Self {
            config,
            first,
            shares_lds,
            unset: 0,
            memory,
            reach: Cell::new(Reach::Unit),
            state: RefCell::new(State { sink, notes, far: None, group, waves, current: None }),
        }
    }

    fn read(&self, pc: u64) -> Known {
        let words = words(pc, self.memory).ok();
        let instruction = words.and_then(|words| decode(self.config.level, self.config.wave, &words).ok());
        Known {
            route: instruction.as_ref().and_then(route),
            traits: instruction.as_ref().and_then(|instruction| traits(self.config, instruction)),
            facts: instruction.and_then(|instruction| Facts::of(self.config, &instruction)),
        }
    }

    fn at<'k>(&self, (known, far): (&'k mut Vec<Option<Known>>, &'k mut Option<Known>), pc: u64) -> &'k Known {
        let index = (pc.wrapping_sub(self.first) / 4) as usize;
        if index >= MOST {
            return far.insert(self.read(pc));
        }
        if known.len() <= index {
            known.resize_with(index + 1, || None);
        }
        known[index].get_or_insert_with(|| self.read(pc))
    }

    /// Makes a wave the one that is executed.
    fn select<'k>(
        &self,
        state: (&'k mut Option<(WaveNumber, Living)>, &mut HashMap<WaveNumber, Living>),
        wave: WaveNumber,
    ) -> Option<&'k mut Living> {
        let (current, waves) = state;
        if current.as_ref().is_none_or(|(number, _)| *number != wave) {
            let start = || Living {
                hazards: Hazards::new(self.config, self.shares_lds, self.unset),
                outstanding: Outstanding::default(),
            };
            let living = waves.remove(&wave).unwrap_or_else(start);
            if let Some((before, living)) = current.replace((wave, living)) {
                waves.insert(before, living);
            }
        }
        current.as_mut().map(|(_, living)| living)
    }

    /// Returns the text of the instruction at an address.
    fn text(&self, pc: u64) -> String {
        let words = words(pc, self.memory).ok();
        let instruction = words.and_then(|words| decode(self.config.level, self.config.wave, &words).ok());
        instruction.map_or_else(|| "?".to_owned(), |instruction| instruction.to_string())
    }
}

impl Observer for Checker<'_> {
    const ON: bool = true;
    const TOUCHED: bool = false;

    fn enter(&self, index: u64, id: [u32; 3]) {
        self.state.borrow_mut().group = (index, id);
    }

    fn before(&self, wave: &Wave, _: &dyn Memory) {
        let State { sink, notes, far, group: (index, id), waves, current } = &mut *self.state.borrow_mut();
        let Notes { known, reported } = &mut **notes;
        let known = self.at((known, far), wave.pc);
        if let Some(Living { hazards, outstanding }) = self.select((current, waves), (*index, wave.number)) {
            if let Some(traits) = &known.traits
                && let Some(found) = hazards.step(wave.pc, traits)
                && reported.len() < MOST_REPORTED
                && reported.insert((found.earlier.unwrap_or_default(), wave.pc))
            {
                sink(&found.finding((*id, wave.number, wave.pc), |pc| self.text(pc)));
            }
            let level = self.config.level;
            for conflict in known.facts.iter().flat_map(|facts| outstanding.step(level, wave, facts)) {
                if reported.len() < MOST_REPORTED && reported.insert((conflict.pc, wave.pc)) {
                    let texts = [self.text(wave.pc), self.text(conflict.pc)];
                    sink(&conflict.finding(level, *id, wave, texts).into());
                }
            }
        }
        if let Some((is_scalar, reach)) = known.route {
            self.memory.route(is_scalar, reach);
            self.reach.set(reach);
        }
    }

    fn after(&self, wave: &Wave) -> Result<(), Reason> {
        if wave.status == Status::Ended {
            let state = &mut *self.state.borrow_mut();
            let ended = (state.group.0, wave.number);
            state.waves.remove(&ended);
            state.current.take_if(|(current, _)| *current == ended);
        }
        Ok(())
    }

    fn private(&self) {
        self.memory.route(false, Reach::Private);
    }

    fn metadata(&self, is_accessed: bool) {
        self.memory.route(false, if is_accessed { Reach::Metadata } else { self.reach.get() });
    }
}
