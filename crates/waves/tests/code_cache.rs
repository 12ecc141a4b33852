//! Decoded code that is kept over dispatches.

use std::sync::{
    Mutex,
    atomic::{AtomicU32, Ordering},
};

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, assemble};
use amdgpu_waves::{Access, CodeCache, Dispatch, Limits, Memory, Outcome, PageFault, run, run_on_threads};

/// The address of the memory, of the result in it, and of the program.
const BASE: u64 = 0x10_0000;
const RESULT: u64 = BASE + 0x100;
const PROGRAM: u64 = BASE + 0x400;
/// The address of the instruction that the program overwrites.
const TARGET: u64 = PROGRAM + 4 * 9;

/// Memory with a cache of decoded code, which counts fetches.
struct Ram {
    bytes: Mutex<Vec<u8>>,
    cache: CodeCache,
    fetches: AtomicU32,
}

impl Ram {
    fn new(program: &[u32]) -> Self {
        let ram = Self { bytes: Mutex::new(vec![0; 0x2000]), cache: CodeCache::default(), fetches: AtomicU32::new(0) };
        for (place, word) in program.iter().enumerate() {
            ram.store(PROGRAM + 4 * place as u64, &word.to_le_bytes()).unwrap();
        }
        ram
    }

    /// Runs the program, and returns its result and the number of fetches.
    fn run(&self, overwrites: bool) -> (u32, u32) {
        self.fetches.store(0, Ordering::Relaxed);
        let outcome = run(&dispatch(overwrites), self, Limits::default());
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
        let mut result = [0; 4];
        self.load(RESULT, &mut result).unwrap();
        (u32::from_le_bytes(result), self.fetches.load(Ordering::Relaxed))
    }
}

fn range(va: u64, len: usize) -> Result<std::ops::Range<usize>, PageFault> {
    let start = va.wrapping_sub(BASE) as usize;
    if start.saturating_add(len) > 0x2000 {
        return Err(PageFault { va, access: Access::Load });
    }
    Ok(start..start + len)
}

impl Memory for Ram {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        out.copy_from_slice(&self.bytes.lock().unwrap()[range(va, out.len())?]);
        Ok(())
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), PageFault> {
        self.bytes.lock().unwrap()[range(va, data.len())?].copy_from_slice(data);
        Ok(())
    }

    fn atomic(&self, va: u64, _: u8, _: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        Err(PageFault { va, access: Access::Atomic })
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        self.fetches.fetch_add(1, Ordering::Relaxed);
        self.load(va, out)
    }

    fn code_cache(&self) -> Option<&CodeCache> {
        Some(&self.cache)
    }
}

fn words(line: &str) -> Vec<u32> {
    assemble(GfxLevel::Gfx9, WaveSize::Wave64, line).unwrap().dwords().to_vec()
}

/// Returns a program that stores 1, or 2 if it first overwrites the instruction with the 1.
fn program() -> Vec<u32> {
    let lines = [
        "s_cmp_eq_u32 s4, 0",
        "s_cbranch_scc1 7",
        "v_mov_b32_e32 v0, s2",
        "v_mov_b32_e32 v1, s3",
        "v_mov_b32_e32 v2, s5",
        "global_store_dword v[0:1], v2, off",
        "s_waitcnt vmcnt(0)",
        "s_icache_inv",
        "v_mov_b32_e32 v3, 1",
        "v_mov_b32_e32 v0, s0",
        "v_mov_b32_e32 v1, s1",
        "global_store_dword v[0:1], v3, off",
        "s_endpgm",
    ];
    let program: Vec<u32> = lines.into_iter().flat_map(words).collect();
    assert_eq!(program[((TARGET - PROGRAM) / 4) as usize..][..1], words("v_mov_b32_e32 v3, 1"));
    program
}

fn dispatch(overwrites: bool) -> Dispatch {
    let mut user_data = [0; 16];
    user_data[..6].copy_from_slice(&[
        RESULT as u32,
        (RESULT >> 32) as u32,
        TARGET as u32,
        (TARGET >> 32) as u32,
        overwrites.into(),
        words("v_mov_b32_e32 v3, 2")[0],
    ]);
    Dispatch {
        level: GfxLevel::Gfx9,
        wave: WaveSize::Wave64,
        program: PROGRAM,
        resources: [2 | 0xc0 << 12, 6 << 1, 0],
        user_data,
        threads: [1; 3],
        partial: [0; 3],
        start: [0; 3],
        end: [1; 3],
        scratch_ring: 0,
        scratch_base: 0,
        chip: None,
        border_colors: 0,
    }
}

#[test]
fn a_program_is_decoded_once_for_all_dispatches() {
    let ram = Ram::new(&program());
    let (result, first) = ram.run(false);
    assert_eq!(result, 1);
    assert!(first > 1, "an instruction is fetched when it is decoded: {first}");
    for _ in 0..3 {
        assert_eq!(ram.run(false), (1, 1), "the page is compared once");
    }
}

#[test]
fn a_program_that_was_uploaded_anew_is_decoded_again() {
    let ram = Ram::new(&program());
    assert_eq!(ram.run(false).0, 1);
    ram.store(TARGET, &words("v_mov_b32_e32 v3, 7")[0].to_le_bytes()).unwrap();
    assert_eq!(ram.run(false).0, 7);
    ram.store(TARGET, &words("v_mov_b32_e32 v3, 1")[0].to_le_bytes()).unwrap();
    assert_eq!(ram.run(false), (1, 1), "both programs are kept");
}

#[test]
fn an_instruction_that_is_overwritten_takes_effect_after_the_invalidation() {
    let ram = Ram::new(&program());
    assert_eq!(ram.run(false).0, 1);
    assert_eq!(ram.run(true).0, 2);
    assert_eq!(ram.run(false).0, 2, "it stays in memory");
    ram.store(TARGET, &words("v_mov_b32_e32 v3, 1")[0].to_le_bytes()).unwrap();
    assert_eq!(ram.run(false).0, 1);
}

#[test]
fn a_page_that_changed_while_it_was_decoded_is_not_kept() {
    // Without the invalidation, the instruction is decoded for the first time after it was overwritten.
    let mut code = program();
    code[8] = words("s_nop 0")[0];
    let ram = Ram::new(&code);
    assert_eq!(ram.run(true).0, 2);
    ram.store(TARGET, &words("v_mov_b32_e32 v3, 1")[0].to_le_bytes()).unwrap();
    assert_eq!(ram.run(false).0, 1);
}

#[test]
fn threads_share_the_code_of_earlier_dispatches() {
    let ram = Ram::new(&program());
    let many = Dispatch { end: [4096, 1, 1], ..dispatch(false) };
    for _ in 0..3 {
        let outcome = run_on_threads(&many, &ram, Limits::default(), 4);
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }
    ram.fetches.store(0, Ordering::Relaxed);
    let outcome = run_on_threads(&many, &ram, Limits { window: 1, ..Limits::default() }, 1);
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    assert_eq!(ram.fetches.load(Ordering::Relaxed), 1);
}
