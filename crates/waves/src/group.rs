//! Work-groups: their waves, the start of waves, and barriers.

use amdgpu_hw::GfxLevel;

use crate::{
    alu::unit::Unit,
    buffer::described::{Described, Key},
    dispatch::{Dispatch, MAX_WAVES, threads_of},
    export::Export,
    image::cache::Images,
    memory::{Memory, PageFault},
    mutation::WaveMutation,
    outcome::{Counters, Hang, Reason},
    program::{
        block,
        code::{Code, words},
        decoded_inst::{DecodedInst, DecodedOp},
        source::{EXEC, M0},
    },
    watch::observer::Observer,
    wave::{
        registers::Registers,
        state::{Flow, Indexing, Pad, Scratch, Status, Surroundings, Wave},
    },
};

/// The number of instructions that a wave executes before the next wave continues.
const SLICE: u32 = 10_000;
/// The number of instructions after which a wave looks whether its job has ended. The slowest, which take hundreds of samples, need
/// some 100 us each, so that a wave looks every few tens of milliseconds; all others look far more often.
const LOOK: u32 = 250;

/// The initial value of M0, on which no shader may rely.
pub(crate) const UNDEFINED: u32 = 0xdead_beef;

/// A work-group that has started.
pub(crate) struct Group {
    /// The index of the work-group in the order of the grid.
    pub(crate) index: u64,
    id: [u32; 3],
    level: GfxLevel,
    waves: Vec<Wave>,
    lds: Vec<u8>,
    border_colors: u64,
}

impl Group {
    /// Starts a work-group. `slot` is the index of the first scratch slot of its waves. Waves, their registers and LDS are those of a
    /// work-group of the same dispatch that has ended, if one is given: to make them takes as long as a short wave.
    pub(crate) fn new(
        dispatch: &Dispatch,
        (index, slot): (u64, u32),
        mutation: Option<WaveMutation>,
        unit: Unit,
        ended: Option<Self>,
    ) -> Self {
        let id = dispatch.group(index);
        let size = dispatch.group_threads(id);
        let count = threads_of(size).div_ceil(dispatch.wave.lanes().into()).min(MAX_WAVES) as u32;
        let (mut waves, mut lds) = ended.map_or_else(Default::default, |group| (group.waves, group.lds));
        waves.truncate(count as usize);
        waves.resize_with(count as usize, || blank(dispatch, unit));
        for (number, wave) in (0..count).zip(&mut waves) {
            start(wave, dispatch, (id, size), (number, count), slot + number);
            wave.mutation = mutation;
            if mutation == Some(WaveMutation::LostLane) {
                let exec = wave.registers.exec();
                wave.registers.set_mask(EXEC, exec & !(1 << exec.checked_ilog2().unwrap_or(0)));
            }
        }
        lds.clear();
        lds.resize(dispatch.lds_bytes(), 0);
        Self { index, id, level: dispatch.level, waves, lds, border_colors: dispatch.border_colors }
    }

    /// Makes a work-group of a single wave of a graphics stage, which [`renew`](Self::renew) starts.
    pub(crate) fn of_stage(dispatch: &Dispatch, lds_bytes: usize, unit: Unit) -> Self {
        let mut wave = blank(dispatch, unit);
        wave.graphics = Some(Box::default());
        let lds = vec![0; lds_bytes];
        Self {
            index: 0,
            id: [0; 3],
            level: dispatch.level,
            waves: vec![wave],
            lds,
            border_colors: dispatch.border_colors,
        }
    }

    /// Starts the only wave of a graphics stage again, with nothing of the wave that it was before: registers and LDS hold zeroes, and
    /// nothing is exported. Waves are short, and making one takes as long as running it.
    pub(crate) fn renew(&mut self, dispatch: &Dispatch) -> Option<&mut Wave> {
        self.lds.fill(0);
        let wave = self.waves.first_mut()?;
        renew(wave, dispatch);
        if let Some(graphics) = &mut wave.graphics {
            graphics.exports.clear();
        }
        Some(wave)
    }

    /// Returns what the only wave of a graphics stage has exported.
    pub(crate) fn exports(&self) -> &[Export] {
        let graphics = self.waves.first().and_then(|wave| wave.graphics.as_ref());
        graphics.map_or(&[], |graphics| &graphics.exports)
    }

    /// Puts values drawn from a seed where the hardware leaves something undefined when a wave starts: in LDS, and in the registers
    /// that it does not set.
    pub(crate) fn undefine(&mut self, seed: u64, dispatch: &Dispatch) {
        /// The scalar registers that have no other meaning on any generation.
        const GENERAL: usize = 102;
        let mut state = seed ^ self.index.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // No small number and no address.
            (state >> 32) as u32 | 0x8000_0001
        };
        self.lds.fill_with(|| draw() as u8);
        let set = initial(dispatch);
        for wave in &mut self.waves {
            let registers = &mut wave.registers;
            registers.scalars[set.scalars.min(GENERAL)..GENERAL].fill_with(&mut draw);
            let exec = registers.exec();
            for (number, lanes) in registers.vectors.iter_mut().enumerate() {
                for (lane, value) in lanes.iter_mut().enumerate() {
                    if number >= set.vectors || exec >> lane & 1 == 0 {
                        *value = draw();
                    }
                }
            }
        }
    }

    /// Executes a slice of every wave. Returns `true` if all have ended.
    pub(crate) fn slice<O: Observer>(
        &mut self,
        code: &mut Code,
        images: &mut Images,
        memory: &dyn Memory,
        observer: &O,
    ) -> Result<bool, Box<Hang>> {
        if O::ON {
            observer.enter(self.index, self.id);
        }
        for wave in &mut self.waves {
            let (lds, border_colors) = (&mut self.lds, self.border_colors);
            let mut around = Surroundings { memory, lds, images: &mut *images, border_colors, observer };
            if let Err(reason) = run(wave, code, &mut around) {
                return Err(Box::new(Hang {
                    pc: wave.pc,
                    bytes: words(wave.pc, memory).unwrap_or_default(),
                    level: self.level,
                    group: self.id,
                    wave: wave.number,
                    reason,
                }));
            }
        }
        // A barrier opens when all waves that have not ended have reached it.
        if self.waves.iter().all(|wave| wave.status != Status::Running) {
            if O::ON {
                observer.barrier();
            }
            for wave in self.waves.iter_mut().filter(|wave| wave.status == Status::AtBarrier) {
                wave.status = Status::Running;
            }
        }
        Ok(self.waves.iter().all(|wave| wave.status == Status::Ended))
    }

    /// Returns the counts of the waves' work.
    pub(crate) fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        for wave in &self.waves {
            counters.add(wave.counters);
            counters.waves += u64::from(wave.status == Status::Ended);
        }
        counters
    }

    /// Returns the first access that faulted.
    pub(crate) fn fault(&self) -> Option<PageFault> {
        self.waves.iter().find_map(|wave| wave.fault)
    }

    /// Returns the hang of a work-group whose dispatch has exceeded its budget.
    pub(crate) fn out_of_budget(&self, budget: u64, memory: &dyn Memory) -> Hang {
        let wave = self.waves.iter().find(|wave| wave.status == Status::Running).or(self.waves.first());
        let pc = wave.map_or(0, |wave| wave.pc);
        Hang {
            pc,
            bytes: words(pc, memory).unwrap_or_default(),
            level: self.level,
            group: self.id,
            wave: wave.map_or(0, |wave| wave.number),
            reason: Reason::Budget(budget),
        }
    }
}

/// Executes a wave until it ends, waits, or has used up its slice, or its job has ended.
fn run<O: Observer>(wave: &mut Wave, code: &mut Code, around: &mut Surroundings<'_, O>) -> Result<(), Reason> {
    let mut left = SLICE;
    // The work-group's own loop sees it too, and drops the work-group.
    while left > 0 && wave.status == Status::Running && !around.memory.is_stopped() {
        left = execute(wave, code, around, left)?;
    }
    Ok(())
}

/// Executes about [`LOOK`] of the `left` instructions of a wave, unless it ends or waits before. Returns the number that is left then.
fn execute<O: Observer>(
    wave: &mut Wave,
    code: &mut Code,
    around: &mut Surroundings<'_, O>,
    mut left: u32,
) -> Result<u32, Reason> {
    let look = left.saturating_sub(LOOK);
    while left > look {
        // The PC that is also here need not be read back from the wave after each instruction.
        let mut pc = wave.pc;
        let mut near = code.near(pc, around.memory);
        let mut has_changed = false;
        while left > look && near.holds(pc) && !has_changed {
            // Slices end after the same instruction with blocks and without.
            if !O::ON
                && left >= block::MOST
                && wave.takes_shortcuts
                && let Some(block) = near.block(pc, wave.registers.mode)
            {
                wave.block(block, around);
                left -= block.instructions;
                pc = pc.wrapping_add(block.bytes.into());
                wave.pc = pc;
                continue;
            }
            left -= 1;
            let inst = near.inst(pc, around.memory)?;
            if O::ON {
                around.observer.before(wave, around.memory);
            }
            if let DecodedOp::Vector(vector) = &inst.op
                && wave.direct(vector)
            {
                pc = pc.wrapping_add(inst.bytes.into());
                wave.pc = pc;
            } else {
                has_changed = advance(wave, inst, around)?;
                pc = wave.pc;
            }
            if O::ON {
                around.observer.after(wave)?;
            }
            if wave.status != Status::Running {
                return Ok(left);
            }
        }
        if has_changed {
            code.forget();
        }
    }
    Ok(left)
}

/// Executes an instruction of a wave, and goes on to the next or says that the wave has ended or waits. Returns `true` if code may have
/// changed.
fn advance<O: Observer>(wave: &mut Wave, inst: &DecodedInst, around: &mut Surroundings<'_, O>) -> Result<bool, Reason> {
    let flow = wave.execute(inst, around)?;
    match flow {
        Flow::Next | Flow::Refetch => wave.pc = wave.next(inst),
        Flow::Jump(target) => wave.pc = target & ((1 << 48) - 4),
        Flow::End => wave.status = Status::Ended,
        Flow::Barrier => {
            wave.pc = wave.next(inst);
            if wave.mutation != Some(WaveMutation::OpenBarrier) {
                wave.status = Status::AtBarrier;
            }
        }
    }
    Ok(flow == Flow::Refetch)
}

/// Returns a wave that has not started.
fn blank(dispatch: &Dispatch, unit: Unit) -> Wave {
    let (level, lanes) = (dispatch.level, dispatch.wave.lanes());
    let mut vectors = Vec::new();
    vectors.resize_with(dispatch.wave_config().vgprs as usize, Box::default);
    Wave {
        registers: Registers::new(level, lanes, (vectors, dispatch.private_vgprs()), dispatch.mode(), unit),
        pc: 0,
        status: Status::Ended,
        scratch: Scratch::default(),
        indexing: Indexing::default(),
        number: 0,
        counters: Counters::default(),
        fault: None,
        mutation: None,
        pad: Box::<Pad>::default(),
        unit,
        takes_shortcuts: unit.takes_shortcuts(),
        graphics: None,
        described: Described::new(level, Key::default()),
    }
}

/// Gives a wave the initial register values of hardware, and nothing of the wave that it was before: all other registers hold zeroes.
fn start(
    wave: &mut Wave,
    dispatch: &Dispatch,
    (id, size): ([u32; 3], [u32; 3]),
    (number, count): (u32, u32),
    slot: u32,
) {
    let (level, lanes) = (dispatch.level, dispatch.wave.lanes());
    renew(wave, dispatch);
    let registers = &mut wave.registers;
    let scratch_bytes = dispatch.scratch_bytes();
    let scratch_offset = u64::from(slot) * scratch_bytes;
    scalars(dispatch, registers, id, (number, count), scratch_offset as u32);
    let live = threads(dispatch, registers, size, u64::from(number) * u64::from(lanes));
    registers.set_mask(EXEC, if live == 64 { u64::MAX } else { (1 << live) - 1 });
    let base = if level >= GfxLevel::Gfx11 { dispatch.scratch_base.wrapping_add(scratch_offset) } else { 0 };
    wave.scratch = Scratch { base, lane_bytes: scratch_bytes / u64::from(lanes) };
    wave.number = number;
}

/// Lets a wave run from the start of its program, with nothing of the wave that it was before but its place in the work-group.
fn renew(wave: &mut Wave, dispatch: &Dispatch) {
    wave.registers.clear(dispatch.mode());
    wave.registers.scalars[usize::from(M0)] = UNDEFINED;
    wave.pc = dispatch.program & ((1 << 48) - 4);
    wave.status = Status::Running;
    wave.indexing = Indexing::default();
    wave.counters = Counters::default();
    wave.fault = None;
    wave.takes_shortcuts = wave.unit.takes_shortcuts();
    // No operation looks for more in the space for operands than it has left itself, but for this. The buffer of the last access is kept
    // with what it was described from.
    wave.pad.flushed = false;
}

/// Sets the thread IDs of a wave whose first thread is `first` of a work-group. Returns the number of its threads.
fn threads(dispatch: &Dispatch, registers: &mut Registers, size: [u32; 3], first: u64) -> u32 {
    let live = threads_of(size).saturating_sub(first).min(dispatch.wave.lanes().into()) as usize;
    let [x, y, _] = size;
    if live == 0 {
        return 0;
    }
    if threads_of(size) == u64::from(x) {
        for (lane, value) in registers.vectors[0][..live].iter_mut().enumerate() {
            *value = first as u32 + lane as u32;
        }
        return live as u32;
    }
    // One division for the wave, not two for each lane.
    let (row, rows) = (first / u64::from(x), u64::from(y));
    let mut place = [(first % u64::from(x)) as u32, (row % rows) as u32, (row / rows) as u32];
    let (is_packed, axes) = (dispatch.level >= GfxLevel::Gfx11, (dispatch.resources[1] >> 11 & 3) as usize + 1);
    for lane in 0..live {
        if is_packed {
            registers.vectors[0][lane] = place[0] | place[1] << 10 | place[2] << 20;
        } else {
            for (register, place) in registers.vectors.iter_mut().zip(place).take(axes) {
                register[lane] = place;
            }
        }
        place[0] += 1;
        if place[0] == x {
            place[0] = 0;
            place[1] += 1;
        }
        if place[1] == y {
            place[1] = 0;
            place[2] += 1;
        }
    }
    live as u32
}

/// The numbers of registers that the hardware sets when a wave starts, the first of each kind.
struct Initial {
    scalars: usize,
    vectors: usize,
}

/// Returns the numbers of registers that waves start with.
fn initial(dispatch: &Dispatch) -> Initial {
    let second = dispatch.resources[1];
    let users = (second >> 1 & 31).min(16);
    let groups = if dispatch.level >= GfxLevel::Gfx12 { 0 } else { (second >> 7 & 7).count_ones() };
    let scratch = u32::from(dispatch.level < GfxLevel::Gfx11) & second;
    let scalars = users + groups + (second >> 10 & 1) + scratch;
    let vectors = if dispatch.level >= GfxLevel::Gfx11 { 1 } else { (second >> 11 & 3) + 1 };
    Initial { scalars: scalars as usize, vectors: vectors as usize }
}

/// Sets the initial scalar registers: user data, work-group ID, wave index, scratch offset.
///
/// On GFX12 the work-group ID and the wave's number in its group are in trap registers. TG_SIZE still follows the user data if
/// it is enabled: ACO reads `gl_SubgroupID` from TTMP8, but `gl_NumSubgroups` from TG_SIZE on all generations.
fn scalars(
    dispatch: &Dispatch,
    registers: &mut Registers,
    id: [u32; 3],
    (number, count): (u32, u32),
    scratch_offset: u32,
) {
    let second = dispatch.resources[1];
    let users = (second >> 1 & 31).min(16) as usize;
    registers.scalars[..users].copy_from_slice(&dispatch.user_data[..users]);
    let in_trap_registers = dispatch.level >= GfxLevel::Gfx12;
    if in_trap_registers {
        // TTMP9, TTMP7 and TTMP8.
        registers.scalars[117] = id[0];
        registers.scalars[115] = id[1] & 0xffff | id[2] << 16;
        registers.scalars[116] = number << 25;
    }
    let mut next = users;
    let mut push = |value| {
        registers.scalars[next] = value;
        next += 1;
    };
    for (axis, id) in id.into_iter().enumerate() {
        if second >> (7 + axis) & 1 != 0 && !in_trap_registers {
            push(id);
        }
    }
    if second >> 10 & 1 != 0 {
        let newer = if dispatch.level >= GfxLevel::Gfx10_3 { number << 20 } else { 0 };
        push(count & 63 | (number & 63) << 6 | newer | u32::from(number == 0) << 31);
    }
    if second & 1 != 0 && dispatch.level < GfxLevel::Gfx11 {
        push(scratch_offset);
    }
}
