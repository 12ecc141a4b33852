//! Machine code of any kind, random and made to harm: every program ends within its budget, with an outcome.

mod programs;
mod resources;
mod space;

use std::sync::{
    Mutex,
    atomic::{AtomicU32, Ordering},
};

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, decode};
use amdgpu_waves::{Access, Counters, Dispatch, Limits, Memory, Outcome, PageFault, Reason, run};
use proptest::prelude::*;

/// Address of the program, and size of the memory around it.
const PROGRAM: u64 = 0x10_0000;
const DATA: u64 = 0x1000;

/// A program that can be read, and one page of data.
struct Pages {
    program: Vec<u8>,
    data: Mutex<Vec<u8>>,
    is_stopped: bool,
}

impl Pages {
    fn new(words: &[u32]) -> Self {
        let program = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Self { program, data: Mutex::new(vec![0x5a; 4096]), is_stopped: false }
    }

    fn range(va: u64, len: usize, access: Access) -> Result<std::ops::Range<usize>, PageFault> {
        let start = va.checked_sub(DATA).map(|start| start as usize);
        start
            .filter(|start| start.saturating_add(len) <= 4096)
            .map(|start| start..start + len)
            .ok_or(PageFault { va, access })
    }
}

impl Memory for Pages {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        out.copy_from_slice(&self.data.lock().unwrap()[Self::range(va, out.len(), Access::Load)?]);
        Ok(())
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), PageFault> {
        self.data.lock().unwrap()[Self::range(va, data.len(), Access::Store)?].copy_from_slice(data);
        Ok(())
    }

    fn atomic(&self, va: u64, len: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        let range = Self::range(va, len.into(), Access::Store)?;
        let mut data = self.data.lock().unwrap();
        let mut word = [0; 8];
        word[..len.into()].copy_from_slice(&data[range.clone()]);
        let old = u64::from_le_bytes(word);
        data[range].copy_from_slice(&change(old).to_le_bytes()[..len.into()]);
        Ok(old)
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let fault = PageFault { va, access: Access::Fetch };
        let start = va.checked_sub(PROGRAM).ok_or(fault)? as usize;
        out.copy_from_slice(self.program.get(start..start.saturating_add(out.len())).ok_or(fault)?);
        Ok(())
    }
}

fn dispatch(level: GfxLevel, wave: WaveSize, groups: u32) -> Dispatch {
    Dispatch {
        level,
        wave,
        program: PROGRAM,
        // 32 VGPRs at least, ids in three of them; LDS of two units, all that hardware can add.
        resources: [7 | 0xc0 << 12, 1 | 8 << 1 | 15 << 7 | 2 << 11 | 2 << 15, 0],
        user_data: [DATA as u32, 0, 4096, 0x0002_4fac, DATA as u32, 0, 64, 0x5a, 0, 0, 0, 0, 0, 0, 0, 0],
        threads: [40, 2, 1],
        partial: [0; 3],
        start: [0; 3],
        end: [groups, 1, 1],
        scratch_ring: 64 | 1 << 12,
        scratch_base: DATA,
        chip: None,
        border_colors: 0,
    }
}

fn waves(level: GfxLevel) -> Vec<WaveSize> {
    if level >= GfxLevel::Gfx10 { vec![WaveSize::Wave32, WaveSize::Wave64] } else { vec![WaveSize::Wave64] }
}

/// Returns the end of a program.
fn end(level: GfxLevel) -> u32 {
    if level >= GfxLevel::Gfx11 { 0xbfb0_0000 } else { 0xbf81_0000 }
}

fn limits() -> Limits {
    Limits { instructions: 20_000, ..Limits::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_dwords_end_in_an_answer(words in prop::collection::vec(any::<u32>(), 1..40)) {
        for level in GfxLevel::ALL {
            for wave in waves(level) {
                let _ = run(&dispatch(level, wave, 2), &Pages::new(&words), limits());
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Instructions that decode, with fields bent so that most of them are executed, one after the other.
    #[test]
    fn any_instructions_end_in_an_answer(seeds in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u32>()), 200)) {
        for level in GfxLevel::ALL {
            for wave in waves(level) {
                for (a, b, c) in &seeds {
                    // Low VGPRs alone: bits of register fields that would leave the allocation are cut off.
                    let words = [a & 0xfff7_1f1f_u32.rotate_left(c & 1), b & 0x1f1f_1f1f, *c, 0, 0];
                    let Ok(instruction) = decode(level, wave, &words) else { continue };
                    let mut program = instruction.dwords().to_vec();
                    program.extend([end(level), 0, 0, 0, 0]);
                    let _ = run(&dispatch(level, wave, 1), &Pages::new(&program), limits());
                }
            }
        }
    }
}

#[test]
fn a_loop_without_end_uses_up_its_budget() {
    // s_branch to itself.
    for (level, word) in [(GfxLevel::Gfx9, 0xbf82_ffff), (GfxLevel::Gfx11, 0xbfa0_ffff)] {
        let outcome = run(&dispatch(level, WaveSize::Wave64, 1), &Pages::new(&[word; 8]), limits());
        let Outcome::Hang(hang) = outcome else { panic!("{outcome:?}") };
        assert_eq!((hang.pc, hang.reason), (PROGRAM, Reason::Budget(20_000)));
    }
}

#[test]
fn a_hang_names_the_address_the_bytes_and_the_generation() {
    let outcome =
        run(&dispatch(GfxLevel::Gfx9, WaveSize::Wave64, 1), &Pages::new(&[0xbf80_0000, 0xffff_ffff]), limits());
    let Outcome::Hang(hang) = outcome else { panic!("{outcome:?}") };
    let text = hang.to_string();
    assert!(text.contains("0x100004") && text.contains("ffffffff") && text.to_lowercase().contains("gfx9"), "{text}");
}

#[test]
fn a_register_beyond_the_allocation_hangs() {
    // v_mov_b32 v200, 0
    let outcome =
        run(&dispatch(GfxLevel::Gfx9, WaveSize::Wave64, 1), &Pages::new(&[0x7f90_0280, 0xbf81_0000]), limits());
    let Outcome::Hang(hang) = outcome else { panic!("{outcome:?}") };
    assert_eq!(hang.reason, Reason::Register { register: 200, allocated: 32 });
}

#[test]
fn a_page_that_is_missing_is_a_fault_and_the_waves_go_on() {
    // global_load_dword v1, v[2:3], off with v[2:3] = thread numbers; s_endpgm
    let words = [0xdc50_8000, 0x017f_0002, 0xbf81_0000, 0, 0, 0];
    let outcome = run(&dispatch(GfxLevel::Gfx9, WaveSize::Wave64, 1), &Pages::new(&words), limits());
    let Outcome::Fault { fault, counters } = outcome else { panic!("{outcome:?}") };
    assert_eq!((fault, counters.waves), (PageFault { va: 0, access: Access::Load }, 2));
}

#[test]
fn code_without_a_page_hangs() {
    let outcome = run(&dispatch(GfxLevel::Gfx9, WaveSize::Wave64, 1), &Pages::new(&[0xbf80_0000]), limits());
    let Outcome::Hang(hang) = outcome else { panic!("{outcome:?}") };
    assert_eq!(hang.reason, Reason::Fetch(PageFault { va: PROGRAM + 4, access: Access::Fetch }));
}

#[test]
fn a_dispatch_that_is_told_to_stop_does() {
    let pages = Pages { is_stopped: true, ..Pages::new(&[0xbf82_ffff; 8]) };
    let limits = Limits { instructions: u64::MAX, ..Limits::default() };
    assert_eq!(run(&dispatch(GfxLevel::Gfx9, WaveSize::Wave64, 1), &pages, limits), Outcome::Stopped);
}

/// Counts the stores, and stops the dispatch at the second look after the first store.
struct Stops {
    pages: Pages,
    stores: AtomicU32,
    looks: AtomicU32,
}

impl Memory for Stops {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        self.pages.load(va, out)
    }

    fn store(&self, _: u64, _: &[u8]) -> Result<(), PageFault> {
        self.stores.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn atomic(&self, va: u64, len: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        self.pages.atomic(va, len, change)
    }

    fn is_stopped(&self) -> bool {
        let has_begun = self.stores.load(Ordering::Relaxed) > 0;
        has_begun && self.looks.fetch_add(1, Ordering::Relaxed) > 0
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        self.pages.fetch(va, out)
    }
}

#[test]
fn a_wave_looks_every_few_hundred_instructions_whether_its_job_has_ended() {
    // s_mov_b64 exec, 1; global_store_dword v[2:3], v1, off; s_branch to the store
    let words = [0xbefe_0181, 0xdc70_8000, 0x007f_0102, 0xbf82_fffd, 0, 0, 0];
    let (pages, stores, looks) = (Pages::new(&words), AtomicU32::new(0), AtomicU32::new(0));
    let memory = Stops { pages, stores, looks };
    let limits = Limits { instructions: u64::MAX, ..Limits::default() };
    assert_eq!(run(&dispatch(GfxLevel::Gfx9, WaveSize::Wave64, 1), &memory, limits), Outcome::Stopped);
    let stores = memory.stores.into_inner();
    assert!((1..=500).contains(&stores), "{stores} stores");
}

#[test]
fn groups_without_threads_are_none() {
    let dispatch = Dispatch { threads: [0, 1, 1], end: [u32::MAX; 3], ..dispatch(GfxLevel::Gfx9, WaveSize::Wave64, 1) };
    let outcome = run(&dispatch, &Pages::new(&[0xbf81_0000]), Limits::default());
    assert_eq!(outcome, Outcome::Done(Counters::default()));
}

#[test]
fn the_largest_grid_ends_by_the_budget_of_the_whole_dispatch() {
    let dispatch = Dispatch { end: [u32::MAX; 3], ..dispatch(GfxLevel::Gfx9, WaveSize::Wave64, 1) };
    let outcome = run(&dispatch, &Pages::new(&[0xbf80_0000, 0xbf81_0000, 0, 0, 0, 0]), limits());
    let Outcome::Hang(hang) = outcome else { panic!("{outcome:?}") };
    assert_eq!(hang.reason, Reason::Budget(20_000 * Limits::WHOLE));
}

#[test]
fn each_end_of_a_work_group_renews_the_budget() {
    let pages = Pages::new(&[0xbf80_0000, 0xbf81_0000, 0, 0, 0, 0]);
    let dispatch = dispatch(GfxLevel::Gfx9, WaveSize::Wave64, 40_000);
    let Outcome::Done(counters) = run(&dispatch, &pages, limits()) else { panic!("the dispatch did not end") };
    assert!(counters.instructions > 2 * limits().instructions, "{counters:?}");
}

#[test]
fn a_scalar_access_before_its_buffer_is_out_of_range() {
    let opcodes = amdgpu_isa::table(GfxLevel::Gfx9).opcodes();
    let number = opcodes.iter().find(|opcode| opcode.name() == "s_buffer_atomic_add").unwrap().number;
    // Offset -4, where the end of the access is that of all addresses.
    let words = [48 << 26 | u32::from(number) << 18 | 1 << 17 | 5 << 6, 0x001f_fffc, 0xbf81_0000, 0, 0, 0];
    let outcome = run(&dispatch(GfxLevel::Gfx9, WaveSize::Wave64, 1), &Pages::new(&words), limits());
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
}
