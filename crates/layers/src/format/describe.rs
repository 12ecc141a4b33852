//! Text of records for messages.

use std::fmt::Write as _;

use amdgpu_uapi::{Errno, Request};

use super::record::{Action, Call, Ioctl, Record, Run};
use crate::client::calls;

impl std::fmt::Display for Record {
    /// Writes one line without a newline.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Note { key, value } => write!(f, "note {key}: {value}"),
            Self::Call(of) => f.write_str(&call(of)),
            Self::Page(page) => {
                let dwords = |run: &Run| match run {
                    Run::Each { dwords, .. } => dwords.len(),
                    Run::Fill { count, .. } => usize::from(*count),
                };
                let dwords: usize = page.runs.iter().map(dwords).sum();
                write!(f, "     memory {} page {:#x}: {dwords} dwords changed", page.memory, page.page)
            }
            Self::Ib(ib) if ib.dwords.is_empty() => write!(f, "     ib of f{} at {:#x}: not readable", ib.file, ib.va),
            Self::Ib(ib) => write!(f, "     ib of f{} at {:#x}: {} dwords", ib.file, ib.va, ib.dwords.len()),
            Self::End => f.write_str("end"),
        }
    }
}

/// Returns a call as one line of text.
pub(crate) fn call(call: &Call) -> String {
    let mut line = format!("f{} t{} ", call.file, call.lane);
    let _ = match &call.action {
        Action::Open => write!(line, "open"),
        Action::Close => write!(line, "close"),
        Action::Ioctl(of) => write!(line, "{}", ioctl(of)),
        Action::Map { memory, offset, len, writable, fixed } => {
            let (access, place) = (if *writable { "rw" } else { "r" }, if *fixed { " fixed" } else { "" });
            write!(line, "mmap {len:#x} at offset {offset:#x} {access}{place}: memory {memory}")
        }
        Action::Unmap { memory, len } => write!(line, "munmap {len:#x} of memory {memory}"),
    };
    if call.errno != 0 {
        let _ = write!(line, " = {:?}", Errno::from_raw(call.errno));
    }
    line
}

/// Returns the recorded and the actual call as text, with the first byte that differs if the requests are the same.
pub(crate) fn both(recorded: &Call, came: &Call) -> (String, String) {
    let (mut left, mut right) = (call(recorded), call(came));
    if let (Action::Ioctl(a), Action::Ioctl(b)) = (&recorded.action, &came.action)
        && a.request == b.request
    {
        let argument = std::iter::once(("argument".to_owned(), &a.input, &b.input));
        let nested = a.read.iter().zip(&b.read).zip(1..);
        let nested = nested.map(|((a, b), number)| (format!("nested piece {number}"), a, b));
        if let Some((what, a, b)) = argument.chain(nested).find(|(_, a, b)| a != b) {
            let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
            let _ = write!(left, " ({what} of {} bytes, byte {at:#x}: {})", a.len(), byte(a, at));
            let _ = write!(right, " ({what} of {} bytes, byte {at:#x}: {})", b.len(), byte(b, at));
        } else if a.read.len() != b.read.len() {
            let _ = write!(left, " ({} nested pieces)", a.read.len());
            let _ = write!(right, " ({} nested pieces)", b.read.len());
        }
    }
    (left, right)
}

fn byte(bytes: &[u8], at: usize) -> String {
    bytes.get(at).map_or_else(|| "none".to_owned(), |byte| format!("{byte:02x}"))
}

fn ioctl(ioctl: &Ioctl) -> String {
    let request = Request::from_bits(ioctl.request);
    let mut line = format!("{} {}", calls::name(request), hex(&ioctl.input));
    for piece in &ioctl.read {
        let _ = write!(line, " <{}", hex(piece));
    }
    for (offset, bytes) in &ioctl.changed {
        let _ = write!(line, " [{offset:#x}]={}", hex(bytes));
    }
    for piece in &ioctl.written {
        let _ = write!(line, " >{}", hex(piece));
    }
    if let Some(size) = ioctl.descriptor {
        let _ = write!(line, " descriptor of {size:#x} bytes");
    }
    if let Some(memory) = ioctl.memory {
        let _ = write!(line, " memory {memory}");
    }
    line
}

/// The most bytes of an argument that are shown.
const SHOWN: usize = 64;

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    let shown = bytes.get(..SHOWN).unwrap_or(bytes);
    // Zeros at the end are omitted.
    let len = shown.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    for byte in shown.iter().take(len) {
        let _ = write!(text, "{byte:02x}");
    }
    if bytes.len() > len {
        let _ = write!(text, "..{}", bytes.len());
    }
    text
}
