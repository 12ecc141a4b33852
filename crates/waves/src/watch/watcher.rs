//! The observer of a watched dispatch.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    mem,
    ops::ControlFlow,
    rc::Rc,
};

use super::{
    change::changes,
    counts::InstructionClass,
    event::{Event, Hit, MemoryKind, Race, RaceSide, TracedInstruction},
    hazards::Hazards,
    known::{Known, KnownCode},
    observer::{Act, Observer, Place, Touch},
    options::{TracedWaves, Watch, WatchReport},
    race::{Access, Clock, Shadow, WaveNumber},
    waits::Outstanding,
};
use crate::{
    dispatch::Dispatch,
    memory::Memory,
    outcome::{Outcome, Reason},
    run::{Limits, Shared},
    wave::{
        registers::Registers,
        state::{Status, Wave},
    },
};

/// A receiver of events. It ends the dispatch with [`ControlFlow::Break`].
type Sink<'s> = &'s mut dyn FnMut(&Event) -> ControlFlow<()>;

/// Executes a dispatch to its end on this thread, as [`run`](crate::run) does, and reports the watched events to `sink`. If `sink`
/// returns [`ControlFlow::Break`], the dispatch ends as a hang with the reason [`Reason::Watch`].
///
/// Two accesses race if they access the same byte from different waves, at least one of them stores, and nothing orders them:
/// neither a barrier that both waves reach, nor a chain of atomic operations or coherent accesses to one address (`glc`, and scopes
/// beyond a compute unit). The lanes of a wave execute together, so accesses of a wave do not race with each other.
///
/// A wait is missing if an instruction reads or overwrites a register that an outstanding operation writes, or on GFX6 overwrites the
/// data of an outstanding store, and no wait makes sure that the operation has completed. Results do not depend on it here, but do on
/// hardware. Not checked are registers that M0 selects, EXEC, and the order of accesses to memory.
pub fn run_watched(
    dispatch: &Dispatch,
    memory: &dyn Memory,
    limits: Limits,
    watch: &Watch,
    sink: Sink<'_>,
) -> (Outcome, WatchReport) {
    let shared = Shared::new(dispatch, limits);
    let watcher = Watcher {
        dispatch,
        watch,
        waves: dispatch.waves_per_group().max(1).into(),
        lane: Cell::default(),
        state: RefCell::new(State {
            sink,
            known: KnownCode::new(dispatch.wave_config()),
            groups: HashMap::new(),
            index: 0,
            now: None,
            spare: None,
            report: WatchReport::default(),
            shadow: Shadow::default(),
            turns: HashMap::new(),
            reported: HashSet::new(),
            told_waits: HashSet::new(),
            told_hazards: HashSet::new(),
            ends: false,
        }),
    };
    shared.work(memory, 0, shared.slots().min(limits.window.max(1)), &watcher, None);
    let state = watcher.state.into_inner();
    let missed = state.shadow.missed;
    (shared.outcome(memory), WatchReport { missed: state.report.missed + missed, ..state.report })
}

/// A live wave.
#[derive(Debug, Default)]
struct Living {
    clock: Clock,
    /// The mask of lanes that were active at its start.
    start: Option<u64>,
    previous: Option<Rc<Known>>,
    outstanding: Outstanding,
    hazards: Option<Hazards>,
}

/// A live work-group.
#[derive(Debug, Default)]
struct LivingGroup {
    id: [u32; 3],
    waves: Vec<Living>,
    ended: usize,
    lds: Shadow,
}

/// The instruction that is being executed.
struct Now {
    wave: u32,
    pc: u64,
    known: Rc<Known>,
    exec: u64,
    /// The registers before the instruction, if they are needed.
    before: Option<Registers>,
}

struct State<'s> {
    sink: Sink<'s>,
    known: KnownCode,
    groups: HashMap<u64, LivingGroup>,
    /// The index of the work-group whose waves are executed.
    index: u64,
    now: Option<Now>,
    /// Registers that are copied to before the next instruction, in place of new ones.
    spare: Option<Registers>,
    report: WatchReport,
    shadow: Shadow,
    /// The clocks of atomic operations, by address: those of all accesses before the next operation there.
    turns: HashMap<u64, Clock>,
    /// The pairs of instructions whose race was reported.
    reported: HashSet<(u64, u64)>,
    /// The pairs of instructions whose missing wait was reported.
    told_waits: HashSet<(u64, u64)>,
    /// The pairs of instructions whose hazard was reported.
    told_hazards: HashSet<(u64, u64)>,
    ends: bool,
}

/// The maximum number of addresses with stored clocks.
const MOST_TURNS: usize = 1 << 16;

struct Watcher<'s> {
    dispatch: &'s Dispatch,
    watch: &'s Watch,
    /// The number of waves of a work-group.
    waves: u64,
    lane: Cell<Option<u8>>,
    state: RefCell<State<'s>>,
}

impl State<'_> {
    fn notify(&mut self, event: &Event) {
        self.ends |= (self.sink)(event).is_break();
    }

    fn living(&mut self, wave: u32) -> Option<&mut Living> {
        self.groups.get_mut(&self.index)?.waves.get_mut(wave as usize)
    }

    /// Counts the bytes of an access.
    fn count(&mut self, touch: &Touch<'_>) {
        let counts = &mut self.report.counts;
        let count = match (touch.place, touch.act) {
            (Place::Lds, _) => &mut counts.lds,
            (_, Act::Load) => &mut counts.loaded,
            (_, Act::Store) => &mut counts.stored,
            (_, Act::Atomic) => &mut counts.atomic,
        };
        *count += u64::from(touch.bytes);
    }
}

impl Watcher<'_> {
    fn is_traced(&self, group: [u32; 3], number: u32) -> bool {
        match self.watch.trace {
            None => false,
            Some(TracedWaves::All) => true,
            Some(TracedWaves::One { group: wanted, wave }) => group == wanted && number == wave,
        }
    }

    /// Reports a store to a watched address.
    fn note_store(&self, state: &mut State<'_>, touch: &Touch<'_>) {
        let end = touch.address.saturating_add(touch.bytes.into());
        let wanted = self.watch.stores.as_ref().is_some_and(|range| touch.address < range.end && range.start < end);
        if !wanted || touch.place == Place::Lds || touch.act == Act::Load {
            return;
        }
        let lane = self.lane.get();
        let Some(group) = state.groups.get(&state.index) else { return };
        let Some(now) = &state.now else { return };
        let previous = group.waves.get(now.wave as usize).and_then(|wave| wave.previous.as_ref());
        let registers = now.before.as_ref().map(|registers| &registers.vectors[..]).unwrap_or_default();
        let hit = Hit {
            group: group.id,
            wave: now.wave,
            lane,
            pc: now.pc,
            text: now.known.text.clone(),
            previous: previous.map_or_else(String::new, |known| known.text.clone()),
            address: touch.address,
            data: touch.data.to_vec(),
            vectors: registers.iter().map(|lanes| lanes[usize::from(lane.unwrap_or(0))]).collect(),
        };
        state.notify(&Event::Store(hit));
    }

    /// Searches for an earlier access with which an access races.
    fn note_access(&self, state: &mut State<'_>, touch: &Touch<'_>) {
        let Some(now) = &state.now else { return };
        let (pc, number, coherent) = (now.pc, now.wave, now.known.coherent);
        let wave: WaveNumber = state.index * self.waves + u64::from(number);
        let act = if coherent && touch.place == Place::Memory { Act::Atomic } else { touch.act };
        let State { groups, index, shadow, turns, .. } = state;
        let Some(group) = groups.get_mut(index) else { return };
        let Some(living) = group.waves.get_mut(number as usize) else { return };
        let mut races = Vec::new();
        let (first, last) = (touch.address / 4, (touch.address + u64::from(touch.bytes.max(1)) - 1) / 4);
        for dword in first..=last {
            let bytes = (0..4_u64).filter(|byte| {
                let at = dword * 4 + byte;
                touch.address <= at && at - touch.address < u64::from(touch.bytes)
            });
            let mask = bytes.fold(0, |mask, byte| mask | 1 << byte);
            if act == Act::Atomic && touch.place == Place::Memory {
                if turns.len() >= MOST_TURNS && !turns.contains_key(&dword) {
                    turns.clear();
                }
                living.clock.join(turns.entry(dword).or_default());
            }
            let time = living.clock.of(wave);
            let access = Access { wave, time, act, lane: self.lane.get(), pc, mask };
            let known = if touch.place == Place::Lds { &mut group.lds } else { &mut *shadow };
            if let Some(earlier) = known.access(dword, access, &living.clock) {
                races.push((dword * 4, earlier, access));
            }
            if act == Act::Atomic && touch.place == Place::Memory {
                turns.entry(dword).or_default().join(&living.clock);
                living.clock.tick(wave);
            }
        }
        for (address, earlier, access) in races {
            if state.reported.len() < MOST_TURNS && state.reported.insert((earlier.pc, access.pc)) {
                state.report.races += 1;
                let memory = if touch.place == Place::Lds { MemoryKind::Lds } else { MemoryKind::Memory };
                let [first, second] = [earlier, access].map(|access| self.side(state, &access));
                state.notify(&Event::Race(Race { memory, address, first, second }));
            }
        }
    }

    /// Searches for missing waits before the instruction that a wave is about to execute.
    fn note_wait(&self, state: &mut State<'_>, wave: &Wave, known: &Known) {
        let level = self.dispatch.level;
        let Some(group) = state.groups.get_mut(&state.index) else { return };
        let (id, waves) = (group.id, &mut group.waves);
        let (Some(living), Some(facts)) = (waves.get_mut(wave.number as usize), &known.facts) else { return };
        for conflict in living.outstanding.step(level, wave, facts) {
            if state.told_waits.len() < MOST_TURNS && state.told_waits.insert((conflict.pc, wave.pc)) {
                state.report.waits += 1;
                let texts = [known.text.clone(), state.known.text(conflict.pc)];
                state.notify(&Event::MissingWait(conflict.finding(level, id, wave, texts)));
            }
        }
    }

    /// Searches for a hazard before the instruction that a wave is about to execute.
    fn note_hazard(&self, state: &mut State<'_>, wave: &Wave, known: &Known) {
        let Some(group) = state.groups.get_mut(&state.index) else { return };
        let (id, waves) = (group.id, &mut group.waves);
        let (Some(living), Some(traits)) = (waves.get_mut(wave.number as usize), &known.traits) else { return };
        let hazards = living
            .hazards
            .get_or_insert_with(|| Hazards::new(self.dispatch.wave_config(), self.dispatch.waves_per_group() > 1, 0));
        let Some(found) = hazards.step(wave.pc, traits) else { return };
        let pair = (found.earlier.unwrap_or_default(), wave.pc);
        if state.told_hazards.len() < MOST_TURNS && state.told_hazards.insert(pair) {
            state.report.hazards += 1;
            let text = |pc| if pc == wave.pc { known.text.clone() } else { state.known.text(pc) };
            let event = Event::Hazard(found.finding((id, wave.number, wave.pc), text));
            state.notify(&event);
        }
    }

    /// Returns a side of a race.
    fn side(&self, state: &State<'_>, access: &Access) -> RaceSide {
        RaceSide {
            group: self.dispatch.group(access.wave / self.waves),
            wave: (access.wave % self.waves) as u32,
            lane: access.lane,
            pc: access.pc,
            text: state.known.text(access.pc),
        }
    }
}

impl Observer for Watcher<'_> {
    const ON: bool = true;

    fn enter(&self, index: u64, id: [u32; 3]) {
        let state = &mut *self.state.borrow_mut();
        state.index = index;
        let start = |number: u64| {
            let mut clock = Clock::default();
            clock.tick(index * self.waves + number);
            Living { clock, ..Living::default() }
        };
        state.groups.entry(index).or_insert_with(|| LivingGroup {
            id,
            waves: (0..self.waves).map(start).collect(),
            ..LivingGroup::default()
        });
    }

    fn before(&self, wave: &Wave, memory: &dyn Memory) {
        self.lane.set(None);
        let state = &mut *self.state.borrow_mut();
        let known = state.known.at(wave.pc, memory);
        if let Some((is_scalar, reach)) = known.route {
            memory.route(is_scalar, reach);
        }
        let is_seen = !self.watch.without.contains(&wave.pc);
        if self.watch.waits && is_seen {
            self.note_wait(state, wave, &known);
        }
        if self.watch.hazards && is_seen {
            self.note_hazard(state, wave, &known);
        }
        let exec = wave.registers.exec();
        let counts = &mut state.report.counts;
        counts.count(known.class);
        let Some(group) = state.groups.get_mut(&state.index) else { return };
        let id = group.id;
        let start = group.waves.get_mut(wave.number as usize).map_or(exec, |living| *living.start.get_or_insert(exec));
        if known.class.is_of_lanes() {
            counts.lanes_on += u64::from(exec.count_ones());
            counts.lanes += u64::from(wave.registers.lanes);
            counts.divergent += u64::from(exec != start);
        }
        let stores =
            matches!(known.class, InstructionClass::Memory | InstructionClass::Image | InstructionClass::ScalarMemory);
        let wants_registers = self.is_traced(id, wave.number) || self.watch.stores.is_some() && stores;
        let before = wants_registers.then(|| match state.spare.take() {
            Some(mut registers) => {
                registers.copy_from(&wave.registers);
                registers
            }
            None => wave.registers.clone(),
        });
        state.now = Some(Now { wave: wave.number, pc: wave.pc, known, exec, before });
    }

    fn after(&self, wave: &Wave) -> Result<(), Reason> {
        let state = &mut *self.state.borrow_mut();
        let Some(now) = state.now.take() else { return Ok(()) };
        let jumped = wave.pc != now.pc.wrapping_add(now.known.bytes) && wave.status == Status::Running;
        state.report.counts.taken += u64::from(jumped && now.known.class == InstructionClass::Branch);
        let id = state.groups.get(&state.index).map_or([0; 3], |group| group.id);
        if self.is_traced(id, now.wave)
            && let Some(before) = &now.before
        {
            let instruction = TracedInstruction {
                group: id,
                wave: now.wave,
                pc: now.pc,
                text: now.known.text.clone(),
                exec: now.exec,
                changes: changes(before, &wave.registers),
            };
            state.notify(&Event::Instruction(instruction));
        }
        state.spare = now.before.or(state.spare.take());
        if let Some(living) = state.living(now.wave) {
            living.previous = Some(now.known);
        }
        if wave.status == Status::Ended {
            let index = state.index;
            let over = state.groups.get_mut(&index).is_some_and(|group| {
                group.ended += 1;
                group.ended == group.waves.len()
            });
            if over && let Some(mut group) = state.groups.remove(&index) {
                state.report.missed += group.lds.missed;
                group.lds.clear();
            }
        }
        if mem::take(&mut state.ends) { Err(Reason::Watch) } else { Ok(()) }
    }

    fn lane(&self, lane: usize) {
        self.lane.set(Some(lane as u8));
    }

    fn touch(&self, touch: Touch<'_>) {
        let state = &mut *self.state.borrow_mut();
        state.count(&touch);
        self.note_store(state, &touch);
        if self.watch.races && touch.place != Place::Scratch {
            self.note_access(state, &touch);
        }
    }

    fn barrier(&self) {
        let state = &mut *self.state.borrow_mut();
        let first = state.index * self.waves;
        let Some(group) = state.groups.get_mut(&state.index) else { return };
        let mut all = Clock::default();
        group.waves.iter().for_each(|wave| all.join(&wave.clock));
        for (number, wave) in (first..).zip(&mut group.waves) {
            wave.clock = all.clone();
            wave.clock.tick(number);
        }
    }
}
