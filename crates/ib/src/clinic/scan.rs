//! Lines of interest in a stream of any length, in bounded memory.
//!
//! Logs have millions of lines about other things. They are searched block by block for words, one of which each line of interest
//! has, and only those lines are looked at.

use std::{
    io::{self, Read},
    sync::LazyLock,
};

use regex::bytes::Regex;

/// The bytes that are read at once.
const BLOCK: usize = 1 << 20;
/// The longest line in bytes; the rest of a longer one is skipped.
pub(crate) const LONGEST_LINE: usize = 64 << 10;

/// The words of which each line of interest has one.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| any(CONTENT.iter().chain(&FORMS)));
/// The words of which each message of interest has one.
static CONTENTS: LazyLock<Option<Regex>> = LazyLock::new(|| any(&CONTENT));

/// Words of formats: fields of the journal and of events, and the heads of events.
const FORMS: [&str; 11] = [
    "WEDGED=",
    "DEVPATH=",
    "TASK=",
    "PID=",
    "KERNEL[",
    "UDEV ",
    "MESSAGE",
    "_TRANSPORT=",
    "MONOTONIC_TIMESTAMP=",
    "__CURSOR=",
    " [s=",
];

/// Words of messages.
const CONTENT: [&str; 29] = [
    "amdgpu",
    "[drm",
    "drmn",
    "radv",
    "AMDGPU",
    " hangs: ",
    " hangs at 0x",
    "Linux version ",
    "ommand line: ",
    "pcieport ",
    "timeout, signaled seq=",
    "timeout, but soft recovered",
    "page fault (src_id",
    "PROTECTION_FAULT",
    "in page starting at",
    "UTCL2",
    "Failing VM page",
    "because the context is lost",
    "last message was failed ret is",
    "ailed to send message",
    "BUG: ",
    "kernel BUG at ",
    "general protection fault",
    "Unable to handle kernel ",
    "[gpu_sched]",
    "[ttm]",
    "Killed process ",
    "INFO: task ",
    "soft lockup",
];

/// Returns an expression for any of some words.
fn any<'w>(words: impl IntoIterator<Item = &'w &'w str>) -> Option<Regex> {
    let words: Vec<_> = words.into_iter().map(|word| regex::escape(word)).collect();
    Regex::new(&words.join("|")).ok()
}

/// Returns `true` if a message may be of interest.
pub(super) fn has_content(message: &[u8]) -> bool {
    CONTENTS.as_ref().is_none_or(|words| words.is_match(message))
}

/// The lines that are of interest next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Lines with a word of interest.
    Words,
    /// All lines.
    All,
}

/// Calls `line` with the number, from 1, and the bytes of each line of interest, of which `wanted` says which they are at first. It
/// returns which lines are of interest next.
///
/// # Errors
///
/// The errors of reading.
pub(crate) fn lines(
    mut reader: impl Read,
    mut wanted: Wanted,
    mut line: impl FnMut(u64, &[u8]) -> Wanted,
) -> io::Result<()> {
    let mut buffer = vec![0; BLOCK];
    let (mut len, mut number, mut skips) = (0, 1, false);
    loop {
        let read = match reader.read(&mut buffer[len..]) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        len += read;
        let is_end = read == 0;
        let whole =
            if is_end { len } else { buffer[..len].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1) };
        if whole > 0 {
            let mut block = &buffer[..whole];
            if skips {
                // The rest of a line that was too long.
                let end = block.iter().position(|byte| *byte == b'\n').map_or(block.len(), |at| at + 1);
                (block, skips, number) = (&block[end..], false, number + 1);
            }
            block_lines(block, &mut number, &mut wanted, &mut line);
            buffer.copy_within(whole..len, 0);
            len -= whole;
        } else if len == buffer.len() {
            if !skips {
                wanted = line(number, &buffer[..LONGEST_LINE]);
            }
            (skips, len) = (true, 0);
        }
        if is_end {
            return Ok(());
        }
    }
}

/// Finds the lines of interest in a block of whole lines.
fn block_lines(block: &[u8], number: &mut u64, wanted: &mut Wanted, line: &mut impl FnMut(u64, &[u8]) -> Wanted) {
    // Where every line is of interest, searching each takes longer than looking at some lines for nothing.
    const DENSE: u32 = 16;
    const UNSEARCHED: u32 = 64;
    let (mut at, mut dense) = (0, 0);
    while at < block.len() {
        dense = if dense >= DENSE + UNSEARCHED { 0 } else { dense + 1 };
        if *wanted == Wanted::Words
            && dense <= DENSE
            && let Some(words) = WORDS.as_ref()
        {
            let Some(found) = words.find_at(block, at) else {
                *number += newlines(&block[at..]);
                return;
            };
            let start = block[at..found.start()].iter().rposition(|byte| *byte == b'\n').map_or(at, |end| at + end + 1);
            if start > at {
                (*number, at, dense) = (*number + newlines(&block[at..start]), start, 0);
            }
        }
        let end = block[at..].iter().position(|byte| *byte == b'\n').map_or(block.len(), |end| at + end);
        let content = &block[at..end];
        *wanted = line(*number, &content[..content.len().min(LONGEST_LINE)]);
        *number += 1;
        at = end + 1;
    }
}

/// Counts the ends of lines.
fn newlines(bytes: &[u8]) -> u64 {
    // Sums of bytes in short chunks are what compilers turn into vector instructions.
    bytes.chunks(255).map(|chunk| u64::from(chunk.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &[u8], mode: Wanted) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        lines(text, Wanted::Words, |number, bytes| {
            all.push((number, String::from_utf8_lossy(&bytes[..bytes.len().min(20)]).into_owned()));
            mode
        })
        .unwrap();
        all
    }

    #[test]
    fn only_lines_with_a_word_are_looked_at_and_all_are_counted() {
        let text = b"one\ntwo amdgpu\n\nfour\nfive [drm]\nsix";
        assert_eq!(found(text, Wanted::Words), [(2, "two amdgpu".into()), (5, "five [drm]".into())]);
        let dense = found("amdgpu\n".repeat(1000).as_bytes(), Wanted::Words);
        assert_eq!((dense.len(), dense.last().map(|line| line.0)), (1000, Some(1000)));
        // All lines, from the first with a word on.
        assert_eq!(found(text, Wanted::All).len(), 5);
        assert_eq!(found(b"", Wanted::Words), []);
    }

    #[test]
    fn lines_across_blocks_and_lines_without_an_end_keep_their_numbers() {
        let mut text = Vec::new();
        while text.len() < 3 * BLOCK {
            text.extend_from_slice(b"nothing of interest in this line\n");
        }
        let count = newlines(&text);
        text.extend_from_slice(b"amdgpu a\n");
        text.extend(std::iter::repeat_n(b'x', 5 * BLOCK));
        text.extend_from_slice(b"\namdgpu b\n");
        let all = found(&text, Wanted::Words);
        let numbers: Vec<_> =
            all.iter().filter(|(_, text)| text.starts_with("amdgpu")).map(|(number, _)| *number).collect();
        assert_eq!(numbers, [count + 1, count + 3]);
    }
}
