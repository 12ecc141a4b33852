//! Rings and IBs as umr prints them: `umr --ring-stream` and `umr --dump-ib`.
//!
//! The line of a dword begins with its place and its value, each in brackets, and goes on with its meaning. A line
//! `Decoding IB at VMID@ADDRESS from VMID@ADDRESS of NUMBER words (type TYPE)` is above each IB. All other lines are for readers.
//! umr colours the numbers on terminals, and an IB may be in the middle of its caller.
//!
//! Source: umr's documentation, "Ring Stream Decoding" and "IB Decoding".

use std::fmt::Write as _;

use amdgpu_winsys::vamgr::GpuVa;

use super::{
    colour::without_colour,
    content::hexadecimal,
    ib::{Engine, FileIb},
};

/// The VMID and address of an IB.
type Base = (u32, u64);

/// Returns the IBs of the text.
pub(super) fn ibs(text: &str) -> Vec<FileIb> {
    let mut parts: Vec<Part> = Vec::new();
    let mut current = None;
    for line in text.lines() {
        let line = without_colour(line);
        if let Some((base, words)) = title(&line) {
            current = Some(parts.len());
            parts.push(Part { base, first: 0, words: Some(words), dwords: Vec::new(), is_sdma: false });
        } else if let Some(line) = Line::parse(&line) {
            let belongs = |part: &Part| part.base == line.base && part.next() == Some(line.offset);
            let at =
                current.filter(|&at| parts.get(at).is_some_and(belongs)).or_else(|| parts.iter().rposition(belongs));
            let at = at.unwrap_or_else(|| {
                parts.push(Part {
                    base: line.base,
                    first: line.offset,
                    words: None,
                    dwords: Vec::new(),
                    is_sdma: false,
                });
                parts.len() - 1
            });
            current = Some(at);
            if let Some(part) = parts.get_mut(at) {
                part.is_sdma |= part.dwords.is_empty() && line.is_other_opcode;
                part.dwords.push(line.dword);
            }
        }
    }
    parts.iter().filter(|part| !part.dwords.is_empty()).map(Part::ib).collect()
}

/// Consecutive dwords.
struct Part {
    base: Base,
    /// The offset of the first dword in bytes.
    first: u64,
    /// The number of dwords that the title says; `None` without a title.
    words: Option<u64>,
    dwords: Vec<u32>,
    is_sdma: bool,
}

impl Part {
    /// Returns the offset after the last dword.
    fn next(&self) -> Option<u64> {
        self.first.checked_add(4 * self.dwords.len() as u64)
    }

    fn ib(&self) -> FileIb {
        let Self { base: (vmid, address), first, words, dwords, .. } = self;
        let mut title = format!("IB at {vmid}@{address:#x}");
        if *first != 0 {
            let _ = write!(title, " from byte {first:#x} on");
        }
        match words {
            Some(words) if *words != dwords.len() as u64 => {
                let _ = write!(title, ", {} of {words} dwords", dwords.len());
            }
            _ => {
                let _ = write!(title, ", {} dwords", dwords.len());
            }
        }
        // umr takes dwords that were read from a file to be at address 0.
        let va = GpuVa::from_48_bits(address.wrapping_add(*first) & 0xffff_ffff_ffff);
        FileIb {
            title: Some(title),
            engine: self.is_sdma.then_some(Engine::Sdma),
            va: (*address != 0).then_some(va),
            dwords: dwords.clone(),
            ..FileIb::default()
        }
    }
}

/// The line of a dword.
struct Line {
    base: Base,
    /// The offset in bytes.
    offset: u64,
    dword: u32,
    /// `true` if the line begins a packet that has no PM4 name.
    is_other_opcode: bool,
}

impl Line {
    fn parse(line: &str) -> Option<Self> {
        let (place, rest) = line.trim_start().strip_prefix('[')?.split_once(']')?;
        let (value, meaning) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
        let (at, offset) = place.split_once('+')?;
        Some(Self {
            base: base(at)?,
            offset: number(offset)?,
            dword: u32::try_from(number(value)?).ok()?,
            is_other_opcode: meaning.contains("Opcode") && !meaning.contains("PKT"),
        })
    }
}

/// Parses the title of an IB.
fn title(line: &str) -> Option<(Base, u64)> {
    let rest = line.trim_start().strip_prefix("Decoding IB at ")?;
    let mut words = rest.split_whitespace();
    let base = base(words.next()?)?;
    let count = words.skip_while(|word| *word != "of").nth(1)?;
    Some((base, count.parse().ok()?))
}

/// Parses a VMID and an address, separated by `@`.
fn base(text: &str) -> Option<Base> {
    let (vmid, address) = text.trim().split_once('@')?;
    let vmid = match vmid.strip_prefix("0x") {
        Some(_) => u32::try_from(number(vmid)?).ok()?,
        None => vmid.parse().ok()?,
    };
    Some((vmid, number(address)?))
}

/// Parses a number with 0x.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    text.starts_with("0x").then(|| hexadecimal(text))?
}
