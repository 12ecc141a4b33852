//! Dumps of IBs by Mesa's drivers, such as RADV's after a hang (`RADV_DEBUG=hang`).
//!
//! Each dword starts a line, as eight hexadecimal digits before its meaning. An IB is enclosed by a line with "begin" and a line
//! with "end". A called IB is printed inside its caller, indented by four columns.
//!
//! Source: Mesa 25.0.7 `src/amd/common/ac_parse_ib.c`, `ac_parse_ib` and `format_ib_output`.

use amdgpu_winsys::vamgr::GpuVa;

use super::{
    colour::without_colour,
    ib::{Engine, FileIb},
};

/// The prefix of the line above an IB.
const RULE: &str = "------------------ ";
/// The opcode of the packet that calls an IB. Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_INDIRECT_BUFFER`.
const INDIRECT_BUFFER: u32 = 0x3f;
/// The mask of the length in dwords in that packet's last dword.
const LENGTH: u32 = 0xf_ffff;

/// Returns `true` if the text contains a dumped IB.
pub(super) fn is_dump(text: &str) -> bool {
    text.lines().any(|line| {
        let line = without_colour(line);
        line.starts_with(RULE) && line.contains(" begin ")
    })
}

/// Returns the IBs of a dump, each followed by the IBs that it calls.
pub(super) fn ibs(text: &str) -> Vec<FileIb> {
    let mut dump = Dump::default();
    for line in text.lines() {
        dump.line(&without_colour(line));
    }
    dump.ibs
}

#[derive(Default)]
struct Dump {
    ibs: Vec<FileIb>,
    /// The indices of the IBs that enclose the line.
    open: Vec<usize>,
}

impl Dump {
    fn line(&mut self, line: &str) {
        let text = line.trim_start();
        if text.starts_with("----") && text.contains(" end ") {
            self.open.pop();
        } else if text.starts_with(RULE) && text.contains(" begin ") {
            let ib = match self.open.last().and_then(|&caller| self.ibs.get(caller)) {
                Some(caller) => called(caller),
                None => first(text),
            };
            self.open.push(self.ibs.len());
            self.ibs.push(ib);
        } else if let Some(ib) = self.open.last().and_then(|&ib| self.ibs.get_mut(ib)) {
            let indent = 4 * (self.open.len() - 1);
            ib.dwords.extend(line.get(indent..).and_then(dword));
        }
    }
}

/// Returns an IB with the properties in a title.
fn first(title: &str) -> FileIb {
    let words = title.to_lowercase();
    let engines = [("compute", Engine::Compute), ("sdma", Engine::Sdma), ("gfx", Engine::Gfx)];
    FileIb {
        title: Some(title.trim_matches(['-', ' ']).replacen(" begin", "", 1)),
        engine: engines.into_iter().find(|(name, _)| words.contains(name)).map(|(_, engine)| engine),
        ..FileIb::default()
    }
}

/// Returns the IB that the last packet calls.
fn called(caller: &FileIb) -> FileIb {
    let va = match *caller.dwords.last_chunk().unwrap_or(&[0; 4]) {
        [header, low, high, control] if header >> 8 & 0xff == INDIRECT_BUFFER && control & LENGTH != 0 => {
            Some(GpuVa::from_48_bits(u64::from(high & 0xffff) << 32 | u64::from(low)))
        }
        _ => None,
    };
    FileIb { engine: caller.engine, va, is_called: true, ..FileIb::default() }
}

/// Parses the dword at the start of a line.
fn dword(line: &str) -> Option<u32> {
    let (digits, rest) = line.split_at_checked(8)?;
    let is_dword = digits.bytes().all(|byte| byte.is_ascii_hexdigit()) && (rest.is_empty() || rest.starts_with(' '));
    is_dword.then(|| u32::from_str_radix(digits, 16).ok())?
}
