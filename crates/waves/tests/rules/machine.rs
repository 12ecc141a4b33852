//! Waves that execute a few lines of text on 4 KiB of data.

use std::{fmt::Write as _, sync::Mutex};

use amdgpu_descriptors::view::BufferView;
use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_isa::{WaveSize, assemble};
use amdgpu_waves::{Access, Dispatch, Limits, Memory, Outcome, PageFault, run};

/// The address of the program. Its upper half does not fit the lower 47 bits of an address.
pub(crate) const PROGRAM: u64 = 0x8000_0010_0000;
pub(crate) const DATA: u64 = 0x20_0000;
/// The dwords of the data.
pub(crate) const DWORDS: usize = 1024;

/// A generation and a wave size.
pub(crate) type Where = (GfxLevel, WaveSize);

struct Ram {
    program: Vec<u8>,
    data: Mutex<Vec<u8>>,
}

fn range(va: u64, base: u64, len: usize, size: usize, access: Access) -> Result<std::ops::Range<usize>, PageFault> {
    let start = va.checked_sub(base).and_then(|start| usize::try_from(start).ok());
    start.filter(|start| start + len <= size).map(|start| start..start + len).ok_or(PageFault { va, access })
}

impl Memory for Ram {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let data = self.data.lock().unwrap();
        out.copy_from_slice(&data[range(va, DATA, out.len(), data.len(), Access::Load)?]);
        Ok(())
    }

    fn store(&self, va: u64, bytes: &[u8]) -> Result<(), PageFault> {
        let mut data = self.data.lock().unwrap();
        let range = range(va, DATA, bytes.len(), data.len(), Access::Store)?;
        data[range].copy_from_slice(bytes);
        Ok(())
    }

    fn atomic(&self, va: u64, len: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        let mut data = self.data.lock().unwrap();
        let range = range(va, DATA, len.into(), data.len(), Access::Store)?;
        let mut word = [0; 8];
        word[..len.into()].copy_from_slice(&data[range.clone()]);
        let old = u64::from_le_bytes(word);
        data[range].copy_from_slice(&change(old).to_le_bytes()[..len.into()]);
        Ok(old)
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        out.copy_from_slice(&self.program[range(va, PROGRAM, out.len(), self.program.len(), Access::Fetch)?]);
        Ok(())
    }
}

/// Returns every generation with a wave size that it has.
pub(crate) fn places() -> Vec<Where> {
    let wide = GfxLevel::ALL.into_iter().map(|level| (level, WaveSize::Wave64));
    let narrow = GfxLevel::ALL.into_iter().filter(|level| *level >= GfxLevel::Gfx10);
    wide.chain(narrow.map(|level| (level, WaveSize::Wave32))).collect()
}

/// Returns the text of a load or store of a dword at a byte offset that a register holds, below 1 KiB more.
pub(crate) fn buffer(level: GfxLevel, kind: &str, data: &str, at: &str, offset: u32) -> String {
    let size = if level >= GfxLevel::Gfx11 { "b32" } else { "dword" };
    let none = if level >= GfxLevel::Gfx12 { "null" } else { "0" };
    format!("buffer_{kind}_{size} {data}, {at}, s[0:3], {none} offen offset:{offset}\n")
}

/// Returns the dwords of lines of text.
fn words((level, wave): Where, text: &str) -> Vec<u32> {
    let line = |line: &str| match assemble(level, wave, line) {
        Ok(instruction) => instruction.dwords().to_vec(),
        Err(error) => panic!("{level} {line}: {error}"),
    };
    text.lines().map(str::trim).filter(|text| !text.is_empty()).flat_map(line).collect()
}

/// Returns the dispatch of one wave whose `s[0:3]` are a buffer over the data.
fn dispatch((level, wave): Where) -> Dispatch {
    let mut user_data = [0; 16];
    let view = BufferView::raw(GpuVa::from_48_bits(DATA), 4 * DWORDS as u32);
    user_data[..4].copy_from_slice(&view.descriptor(level).unwrap().words());
    Dispatch {
        level,
        wave,
        program: PROGRAM,
        // At least 32 VGPRs, RADV's float mode, and four user registers.
        resources: [7 | 0xc0 << 12 | 1 << 21, 4 << 1, 0],
        user_data,
        threads: [wave.lanes(), 1, 1],
        partial: [0; 3],
        start: [0; 3],
        end: [1; 3],
        scratch_ring: 0,
        scratch_base: 0,
        chip: None,
        border_colors: 0,
    }
}

/// Executes lines of text, followed by the end of the program; returns how it ended and the data that it left.
pub(crate) fn execute(
    place: Where,
    text: &str,
    data: &[u32],
    change: impl FnOnce(&mut Dispatch),
) -> (Outcome, Vec<u32>) {
    execute_on(place, text, data, 1, change)
}

/// Executes lines of text like [`execute`], on a chip with several shader engines.
pub(crate) fn execute_on(
    place: Where,
    text: &str,
    data: &[u32],
    shader_engines: u32,
    change: impl FnOnce(&mut Dispatch),
) -> (Outcome, Vec<u32>) {
    let mut words = words(place, text);
    words.extend(self::words(place, "s_endpgm"));
    let program = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut bytes: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(4 * DWORDS, 0);
    let mut dispatch = dispatch(place);
    change(&mut dispatch);
    let ram = Ram { program, data: Mutex::new(bytes) };
    let outcome = run(&dispatch, &ram, Limits { instructions: 2_000_000, shader_engines, ..Limits::default() });
    let data = ram.data.into_inner().unwrap();
    (outcome, data.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
}

/// Executes lines of text on data, and stores registers; returns their values in lane 0.
pub(crate) fn results(place: Where, text: &str, registers: &[&str], data: &[u32]) -> Vec<u32> {
    results_of(place, text, registers, data, |_| {})
}

/// Executes [`results`] with a changed dispatch.
pub(crate) fn results_of(
    place: Where,
    text: &str,
    registers: &[&str],
    data: &[u32],
    change: impl FnOnce(&mut Dispatch),
) -> Vec<u32> {
    let mut text = format!("{text}\nv_mov_b32_e32 v31, 0\n");
    for (number, register) in registers.iter().enumerate() {
        let _ = writeln!(text, "v_readfirstlane_b32 s40, v30");
        if register.starts_with('v') {
            text += &buffer(place.0, "store", register, "v31", 4 * number as u32);
        } else {
            let _ = writeln!(text, "v_mov_b32_e32 v30, {register}");
            text += &buffer(place.0, "store", "v30", "v31", 4 * number as u32);
        }
    }
    let (outcome, data) = execute(place, &text, data, change);
    assert!(matches!(outcome, Outcome::Done(_)), "{place:?}: {outcome:?}\n{text}");
    data[..registers.len()].to_vec()
}
