//! Memory in which programs may write their own code, and the ways to execute them.

use std::sync::Mutex;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, assemble};
use amdgpu_test_support::chips::recorded_chip;
use amdgpu_waves::{
    Access, Dispatch, Limits, Memory, Outcome, PageFault, Reason, Vectors, run, run_checked, run_on_threads,
};

/// The address of memory, where the program starts; its results are behind it.
pub(crate) const PROGRAM: u64 = 0x20_0000;
pub(crate) const RESULT: u64 = PROGRAM + 0x3000;
/// The bytes of memory.
const SIZE: usize = 0x4000;
/// The instructions that all waves may execute before the next work-group ends.
pub(crate) const BUDGET: u64 = 20_000;

/// Memory for code and data.
pub(crate) struct Space(Mutex<Vec<u8>>);

impl Space {
    fn range(va: u64, len: usize, access: Access) -> Result<std::ops::Range<usize>, PageFault> {
        let start = va.checked_sub(PROGRAM).and_then(|start| usize::try_from(start).ok());
        let range = start.and_then(|start| Some(start..start.checked_add(len)?));
        range.filter(|range| range.end <= SIZE).ok_or(PageFault { va, access })
    }

    /// Returns memory with a program at its start.
    pub(crate) fn new(program: &[u32]) -> Self {
        let mut bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(SIZE, 0);
        Self(Mutex::new(bytes))
    }

    /// Returns the dword at an address.
    pub(crate) fn dword(&self, va: u64) -> u32 {
        let mut bytes = [0; 4];
        self.load(va, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }
}

impl Memory for Space {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        out.copy_from_slice(&self.0.lock().unwrap()[Self::range(va, out.len(), Access::Load)?]);
        Ok(())
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), PageFault> {
        self.0.lock().unwrap()[Self::range(va, data.len(), Access::Store)?].copy_from_slice(data);
        Ok(())
    }

    fn atomic(&self, va: u64, len: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        let range = Self::range(va, len.into(), Access::Store)?;
        let mut data = self.0.lock().unwrap();
        let mut word = [0; 8];
        word[..len.into()].copy_from_slice(&data[range.clone()]);
        let old = u64::from_le_bytes(word);
        data[range].copy_from_slice(&change(old).to_le_bytes()[..len.into()]);
        Ok(old)
    }
}

/// Returns the dwords of lines of text; a line that starts with `.` is a dword in hexadecimal digits.
pub(crate) fn words(level: GfxLevel, text: &str) -> Vec<u32> {
    let line = |line: &str| match line.strip_prefix('.') {
        Some(digits) => vec![u32::from_str_radix(digits, 16).unwrap()],
        None => match assemble(level, WaveSize::Wave64, line) {
            Ok(instruction) => instruction.dwords().to_vec(),
            Err(error) => panic!("{level} {line}: {error}"),
        },
    };
    text.lines().map(str::trim).filter(|text| !text.is_empty()).flat_map(line).collect()
}

/// Returns a dispatch of a group of two waves, the second of which is half full, on a chip of the generation. The first user registers hold
/// the address of the program and of the result, and the group's ID follows 14 of them.
pub(crate) fn dispatch(level: GfxLevel) -> Dispatch {
    let mut user_data = [0; 16];
    user_data[..4].copy_from_slice(&[PROGRAM as u32, 0, RESULT as u32, 0]);
    let chip = match level {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 => "hawaii",
        GfxLevel::Gfx8 => "polaris10",
        GfxLevel::Gfx9 => "vega10",
        GfxLevel::Gfx10 => "navi10",
        GfxLevel::Gfx10_3 => "navi21",
        GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => "navi31",
        GfxLevel::Gfx12 => "gfx1200",
    };
    Dispatch {
        level,
        wave: WaveSize::Wave64,
        program: PROGRAM,
        // 32 VGPRs, denormals of 16 and 64 bits; LDS of a unit.
        resources: [7 | 0xc0 << 12, 14 << 1 | 1 << 7 | 1 << 15, 0],
        user_data,
        threads: [96, 1, 1],
        partial: [0; 3],
        start: [0; 3],
        end: [1; 3],
        scratch_ring: 0,
        scratch_base: 0,
        chip: Some(recorded_chip(chip)),
        border_colors: 0,
    }
}

/// Executes a program in every way. Returns its outcome and its memory, which do not depend on the way.
pub(crate) fn execute(dispatch: &Dispatch, program: &[u32]) -> (Outcome, Space) {
    let limits = |vectors| Limits { instructions: BUDGET, vectors, ..Limits::default() };
    let space = Space::new(program);
    let outcome = run(dispatch, &space, limits(Vectors::Detected));
    let others: [&dyn Fn(&Space) -> Outcome; 3] = [
        &|space| run(dispatch, space, limits(Vectors::Plain)),
        &|space| run_on_threads(dispatch, space, limits(Vectors::Baseline), 2),
        &|space| run_checked(dispatch, space, limits(Vectors::Detected), &mut |_| ()),
    ];
    for other in others {
        let there = Space::new(program);
        assert_eq!(other(&there), outcome);
        assert!(*there.0.lock().unwrap() == *space.0.lock().unwrap(), "the memory differs");
    }
    (outcome, space)
}

/// Executes lines of text. Returns the address and the reason of the hang.
pub(crate) fn hang(level: GfxLevel, text: &str) -> (u64, Reason) {
    let (outcome, _) = execute(&dispatch(level), &words(level, text));
    let Outcome::Hang(hang) = outcome else { panic!("{level}: {outcome:?}") };
    assert!(hang.to_string().contains(&format!("{:#x}", hang.pc)), "{hang}");
    (hang.pc, hang.reason)
}

/// Executes lines of text by one wave, which ends without a fault. Returns the first dword of the result.
pub(crate) fn result(level: GfxLevel, text: &str) -> u32 {
    let (outcome, space) = execute(&Dispatch { threads: [64, 1, 1], ..dispatch(level) }, &words(level, text));
    assert!(matches!(outcome, Outcome::Done(_)), "{level}: {outcome:?}");
    space.dword(RESULT)
}
