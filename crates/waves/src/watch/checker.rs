//! The observer of a dispatch in a strict mode.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
};

use amdgpu_isa::decode;

use super::{
    hazards::{Hazards, InstructionHazard, Traits},
    known::{route, traits},
    observer::Observer,
};
use crate::{
    dispatch::Dispatch,
    memory::{Memory, Reach},
    outcome::{Outcome, Reason},
    program::{code::words, shape::Shape},
    run::{Limits, Shared},
    wave::state::{Status, Wave},
};

/// The index of a work-group, and the number of the wave in it.
type WaveNumber = (u64, u32);

/// A receiver of hazards.
type Sink<'s> = &'s mut dyn FnMut(&InstructionHazard);

/// Executes a dispatch to its end on this thread, as [`run`](crate::run) does. Tells the memory the unit and the reach of all
/// accesses, and `sink` the pairs of instructions between which the hardware does not wait and code must, each of them once.
pub fn run_checked(dispatch: &Dispatch, memory: &dyn Memory, limits: Limits, sink: Sink<'_>) -> Outcome {
    let shared = Shared::new(dispatch, limits);
    let checker = Checker {
        shape: dispatch.shape(),
        first: dispatch.program,
        memory,
        has_hazards: !matches!(Hazards::new(dispatch.shape()), Hazards::None),
        state: RefCell::new(State {
            sink,
            known: Vec::new(),
            far: None,
            group: (0, [0; 3]),
            waves: HashMap::new(),
            current: None,
            told: HashSet::new(),
        }),
    };
    shared.work(memory, 0, shared.slots().min(limits.window.max(1)), &checker, None);
    shared.outcome(memory)
}

/// The facts about an instruction.
struct Known {
    route: Option<(bool, Reach)>,
    traits: Option<Traits>,
}

struct State<'s> {
    sink: Sink<'s>,
    /// By the number of dwords from the first instruction on.
    known: Vec<Option<Known>>,
    /// The instruction last read that is too far away.
    far: Option<Known>,
    /// The index and ID of the work-group whose waves are executed.
    group: (u64, [u32; 3]),
    waves: HashMap<WaveNumber, Hazards>,
    /// The wave that is executed, which is not among the others. Generations without hazards have none.
    current: Option<(WaveNumber, Hazards)>,
    /// The pairs of instructions whose hazard was reported.
    told: HashSet<(u64, u64)>,
}

/// The maximum number of dwords behind the start of a program whose instructions are remembered.
const MOST: usize = 1 << 18;

/// The maximum number of hazards of a dispatch.
const MOST_TOLD: usize = 1000;

struct Checker<'c> {
    shape: Shape,
    /// The address of the first instruction.
    first: u64,
    memory: &'c dyn Memory,
    has_hazards: bool,
    state: RefCell<State<'c>>,
}

impl Checker<'_> {
    fn read(&self, pc: u64) -> Known {
        let words = words(pc, self.memory).ok();
        let instruction = words.and_then(|words| decode(self.shape.level, self.shape.wave, &words).ok());
        Known {
            route: instruction.as_ref().and_then(route),
            traits: instruction.and_then(|instruction| traits(self.shape, &instruction)),
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
        state: (&'k mut Option<(WaveNumber, Hazards)>, &mut HashMap<WaveNumber, Hazards>),
        wave: WaveNumber,
    ) -> Option<&'k mut Hazards> {
        let (current, waves) = state;
        if current.as_ref().is_none_or(|(number, _)| *number != wave) {
            let hazards = waves.remove(&wave).unwrap_or_else(|| Hazards::new(self.shape));
            if let Some((before, hazards)) = current.replace((wave, hazards)) {
                waves.insert(before, hazards);
            }
        }
        current.as_mut().map(|(_, hazards)| hazards)
    }

    /// Returns the text of the instruction at an address.
    fn text(&self, pc: u64) -> String {
        let words = words(pc, self.memory).ok();
        let instruction = words.and_then(|words| decode(self.shape.level, self.shape.wave, &words).ok());
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
        let State { sink, known, far, group: (index, id), waves, current, told } = &mut *self.state.borrow_mut();
        let known = self.at((known, far), wave.pc);
        if let (Some(traits), true) = (&known.traits, self.has_hazards)
            && let Some(hazards) = self.select((current, waves), (*index, wave.number))
            && let Some(found) = hazards.step(wave.pc, traits)
            && told.len() < MOST_TOLD
            && told.insert((found.earlier.unwrap_or_default(), wave.pc))
        {
            sink(&found.finding((*id, wave.number, wave.pc), |pc| self.text(pc)));
        }
        if let Some((is_scalar, reach)) = known.route {
            self.memory.route(is_scalar, reach);
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
}
