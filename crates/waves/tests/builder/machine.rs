//! One group of lanes that runs a built program on a piece of memory.

use std::{
    collections::HashSet,
    ops::ControlFlow,
    sync::{LazyLock, Mutex},
};

use amdgpu_descriptors::view::BufferView;
use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_isa::{WaveSize, assemble, builder::Program};
use amdgpu_surface::Chip;
use amdgpu_waves::{
    Access, Counters, Dispatch, Event, InstructionHazard, Limits, Memory, MissingWait, Outcome, PageFault, Reason,
    Watch, WatchReport, run_checked, run_on_threads, run_watched,
};

/// The address of the program.
const PROGRAM: u64 = 0x10_0000;
/// The address of the data.
pub(crate) const DATA: u64 = 0x20_0000;

struct Ram {
    program: Vec<u8>,
    data: Mutex<Vec<u8>>,
}

impl Ram {
    fn range(va: u64, len: usize, size: usize, access: Access) -> Result<std::ops::Range<usize>, PageFault> {
        let start = va.checked_sub(DATA).and_then(|start| usize::try_from(start).ok());
        start.filter(|start| start + len <= size).map(|start| start..start + len).ok_or(PageFault { va, access })
    }
}

impl Memory for Ram {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let data = self.data.lock().unwrap();
        out.copy_from_slice(&data[Self::range(va, out.len(), data.len(), Access::Load)?]);
        Ok(())
    }

    fn store(&self, va: u64, bytes: &[u8]) -> Result<(), PageFault> {
        let mut data = self.data.lock().unwrap();
        let range = Self::range(va, bytes.len(), data.len(), Access::Store)?;
        data[range].copy_from_slice(bytes);
        Ok(())
    }

    fn atomic(&self, va: u64, len: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        let mut data = self.data.lock().unwrap();
        let range = Self::range(va, len.into(), data.len(), Access::Store)?;
        let mut word = [0; 8];
        word[..len.into()].copy_from_slice(&data[range.clone()]);
        let old = u64::from_le_bytes(word);
        data[range].copy_from_slice(&change(old).to_le_bytes()[..len.into()]);
        Ok(old)
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let fault = PageFault { va, access: Access::Fetch };
        let start = va.checked_sub(PROGRAM).and_then(|start| usize::try_from(start).ok()).ok_or(fault)?;
        out.copy_from_slice(self.program.get(start..start + out.len()).ok_or(fault)?);
        Ok(())
    }
}

/// Returns the descriptor of a raw buffer.
pub(crate) fn raw_buffer(level: GfxLevel, base: u64, bytes: u32) -> [u32; 4] {
    BufferView::raw(GpuVa::from_48_bits(base), bytes).descriptor(level).unwrap().words()
}

/// Runs one wave of a program whose user registers hold a buffer over `data`; returns the data it leaves.
pub(crate) fn run_wave(level: GfxLevel, program: &Program, data: Vec<u8>) -> Vec<u8> {
    run_groups(level, program, data, 1, 1).1
}

/// Runs one wave of a program whose user registers hold a buffer over `data` and an image; returns the data it leaves.
pub(crate) fn run_with_image(chip: &Chip, program: &Program, image: [u32; 8], data: Vec<u8>) -> Vec<u8> {
    let (mut dispatch, ram) = prepared(chip.level(), program, data, (1, program.wave().lanes()));
    dispatch.user_data[4..12].copy_from_slice(&image);
    dispatch.chip = Some(*chip);
    match run_on_threads(&dispatch, &ram, Limits::default(), 1) {
        Outcome::Done(_) => ram.data.into_inner().unwrap(),
        other => panic!("{other:?}\n{}", program.text()),
    }
}

/// Returns why a wave does not execute an instruction, all of whose registers are allocated; `None` if it does.
pub(crate) fn refusal((level, wave): (GfxLevel, WaveSize), words: &[u32]) -> Option<Reason> {
    let end = assemble(level, wave, "s_endpgm").unwrap();
    let program = words.iter().chain(end.dwords()).chain(&[0; 4]).flat_map(|word| word.to_le_bytes()).collect();
    let ram = Ram { program, data: Mutex::new(vec![0; 4096]) };
    // 256 VGPRs and LDS.
    let resources = [if wave == WaveSize::Wave32 { 31 } else { 63 }, 4 << 1 | 2 << 15, 0];
    match run_on_threads(&dispatch(level, wave, resources, (1, wave.lanes())), &ram, Limits::default(), 1) {
        Outcome::Hang(hang) => Some(hang.reason),
        _ => None,
    }
}

/// Runs groups of one wave on some threads; returns what they did and the data they leave.
pub(crate) fn run_groups(
    level: GfxLevel,
    program: &Program,
    data: Vec<u8>,
    groups: u32,
    threads: usize,
) -> (Counters, Vec<u8>) {
    let watched =
        is_new(level, program).then(|| watch_waits(level, program, data.clone(), (groups, program.wave().lanes())));
    let (dispatch, ram) = prepared(level, program, data, (groups, program.wave().lanes()));
    match run_on_threads(&dispatch, &ram, Limits::default(), threads) {
        Outcome::Done(counters) => {
            let data = ram.data.into_inner().unwrap();
            if let Some(watched) = watched {
                assert_eq!(data, watched, "{level}: a watched dispatch computes the same");
            }
            (counters, data)
        }
        other => panic!("{level}: {other:?}\n{}", program.text()),
    }
}

/// Returns `true` the first time that a program is run.
fn is_new(level: GfxLevel, program: &Program) -> bool {
    type Programs = Mutex<HashSet<(GfxLevel, Vec<u32>)>>;
    static RUN: LazyLock<Programs> = LazyLock::new(Mutex::default);
    RUN.lock().unwrap().insert((level, program.words().to_vec()))
}

/// Runs groups of some lanes, and fails if a wait is missing; returns the data that they leave.
fn watch_waits(level: GfxLevel, program: &Program, data: Vec<u8>, size: (u32, u32)) -> Vec<u8> {
    let (dispatch, ram) = prepared(level, program, data, size);
    let watch = Watch { waits: true, hazards: true, ..Watch::default() };
    let _ = run_watched(&dispatch, &ram, Limits::default(), &watch, &mut |event| {
        panic!("{level}: {event}\n{}", program.text());
    });
    ram.data.into_inner().unwrap()
}

/// Runs two groups of `threads`, the second of which has only `partial` of them unless that is 0; returns the data they leave.
pub(crate) fn run_partial(
    level: GfxLevel,
    program: &Program,
    data: Vec<u8>,
    (threads, partial): (u32, u32),
) -> Vec<u8> {
    let (mut dispatch, ram) = prepared(level, program, data, (2, threads));
    dispatch.partial = [partial, 0, 0];
    match run_on_threads(&dispatch, &ram, Limits::default(), 1) {
        Outcome::Done(_) => ram.data.into_inner().unwrap(),
        other => panic!("{level}: {other:?}\n{}", program.text()),
    }
}

/// Returns the dispatch of some groups of some lanes, and its memory.
fn prepared(level: GfxLevel, program: &Program, data: Vec<u8>, (groups, lanes): (u32, u32)) -> (Dispatch, Ram) {
    let mut dispatch = dispatch(level, program.wave(), program.resources(), (groups, lanes));
    dispatch.user_data[..4].copy_from_slice(&raw_buffer(level, DATA, data.len() as u32));
    let code = program.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    (dispatch, Ram { program: code, data: Mutex::new(data) })
}

/// Returns a dispatch of some groups of some lanes.
fn dispatch(level: GfxLevel, wave: WaveSize, resources: [u32; 3], (groups, lanes): (u32, u32)) -> Dispatch {
    Dispatch {
        level,
        wave,
        program: PROGRAM,
        resources,
        user_data: [0; 16],
        threads: [lanes, 1, 1],
        partial: [0; 3],
        start: [0; 3],
        end: [groups, 1, 1],
        scratch_ring: 0,
        scratch_base: 0,
        chip: None,
        border_colors: 0,
    }
}

/// Results of a watched dispatch: its end, the report, the news in order, and the data it leaves.
pub(crate) struct Watched {
    pub(crate) outcome: Outcome,
    pub(crate) report: WatchReport,
    pub(crate) events: Vec<Event>,
    pub(crate) data: Vec<u8>,
}

/// Runs groups of some lanes on 4 KiB of zeroes, watched, and ends the dispatch at the news that `ends` accepts.
pub(crate) fn watch_groups(
    level: GfxLevel,
    program: &Program,
    size: (u32, u32),
    watch: &Watch,
    ends: impl Fn(&Event) -> bool,
) -> Watched {
    let (dispatch, ram) = prepared(level, program, vec![0; 4096], size);
    let mut events = Vec::new();
    let (outcome, report) = run_watched(&dispatch, &ram, Limits::default(), watch, &mut |event| {
        events.push(event.clone());
        if ends(event) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    Watched { outcome, report, events, data: ram.data.into_inner().unwrap() }
}

/// Runs one group of lanes of `words` in place of a program's code, on 4 KiB of zeroes; returns the missing waits.
pub(crate) fn missing_waits(level: GfxLevel, program: &Program, words: &[u32], groups: u32) -> Vec<MissingWait> {
    let (dispatch, mut ram) = prepared(level, program, vec![0; 4096], (groups, program.wave().lanes()));
    ram.program = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let watch = Watch { waits: true, ..Watch::default() };
    let mut found = Vec::new();
    let (outcome, report) = run_watched(&dispatch, &ram, Limits::default(), &watch, &mut |event| {
        let Event::MissingWait(wait) = event else { panic!("{event}") };
        found.push(wait.clone());
        ControlFlow::Continue(())
    });
    assert!(matches!(outcome, Outcome::Done(_)), "{level}: {outcome:?}");
    assert_eq!(report.waits, found.len() as u64);
    found
}

/// Runs a wave of lines of text, all of whose registers are allocated and whose user registers hold a buffer over 4 KiB of zeroes;
/// returns the hazards. It need not come to its end.
pub(crate) fn hazards((level, wave): (GfxLevel, WaveSize), lines: &[String]) -> Vec<InstructionHazard> {
    let lines = lines.iter().map(String::as_str).chain(["s_endpgm"]);
    let words = lines.flat_map(|line| assemble(level, wave, line).expect(line).dwords().to_vec()).chain([0; 4]);
    let program = words.flat_map(u32::to_le_bytes).collect();
    let ram = Ram { program, data: Mutex::new(vec![0; 4096]) };
    let resources = [if wave == WaveSize::Wave32 { 31 } else { 63 }, 4 << 1 | 2 << 15, 0];
    let dispatch = dispatch(level, wave, resources, (1, wave.lanes()));
    let watch = Watch { hazards: true, ..Watch::default() };
    let mut found = Vec::new();
    let (_, report) = run_watched(&dispatch, &ram, Limits::default(), &watch, &mut |event| {
        let Event::Hazard(hazard) = event else { panic!("{event}") };
        found.push(hazard.clone());
        ControlFlow::Continue(())
    });
    assert_eq!(report.hazards, found.len() as u64);
    let mut checked = Vec::new();
    run_checked(&dispatch, &ram, Limits::default(), &mut |hazard| checked.push(hazard.clone()));
    assert_eq!(checked, found, "both observers find the same");
    found
}

/// Runs a wave of lines of text, all of whose registers are allocated, with undefined values of a seed; returns the data that it
/// leaves.
pub(crate) fn run_undefined((level, wave): (GfxLevel, WaveSize), lines: &[String], undefined: Option<u64>) -> Vec<u8> {
    let lines = lines.iter().map(String::as_str).chain(["s_endpgm"]);
    let words = lines.flat_map(|line| assemble(level, wave, line).expect(line).dwords().to_vec()).chain([0; 4]);
    let ram = Ram { program: words.flat_map(u32::to_le_bytes).collect(), data: Mutex::new(vec![0; 4096]) };
    let resources = [if wave == WaveSize::Wave32 { 31 } else { 63 }, 4 << 1 | 2 << 15, 0];
    let mut dispatch = dispatch(level, wave, resources, (1, wave.lanes()));
    dispatch.user_data[..4].copy_from_slice(&raw_buffer(level, DATA, 4096));
    let limits = Limits { undefined, ..Limits::default() };
    let outcome = run_on_threads(&dispatch, &ram, limits, 1);
    assert!(matches!(outcome, Outcome::Done(_)), "{level}: {outcome:?}");
    ram.data.into_inner().unwrap()
}

/// Every generation with a wave size that it has.
pub(crate) fn places() -> Vec<(GfxLevel, WaveSize)> {
    let wide = GfxLevel::ALL.into_iter().map(|level| (level, WaveSize::Wave64));
    let narrow = GfxLevel::ALL.into_iter().filter(|level| *level >= GfxLevel::Gfx10);
    wide.chain(narrow.map(|level| (level, WaveSize::Wave32))).collect()
}
