//! Text as it is pasted into issues and mails: inside Markdown fences, quoted or indented, with other text around it.

use std::{borrow::Cow, ops::RangeInclusive};

use super::{content, contents::Contents, coredump, ib::FileIb, mesa, umr};

/// Returns the contents of a text of a known kind, alone or pasted among other text; `None` for all other text.
pub(super) fn read(text: &str) -> Option<Contents> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with(coredump::TITLE) {
        return kind(text);
    }
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    let quoted = unquoted(&lines);
    fenced(&lines)
        .or_else(|| kind(text))
        .or_else(|| fenced(&quoted))
        .or_else(|| after_prose(&quoted))
        .or_else(|| kind(&quoted.join("\n")))
}

/// Returns the contents of a text that is of a known kind as a whole.
fn kind(text: &str) -> Option<Contents> {
    if text.trim_start().starts_with(coredump::TITLE) {
        return Some(Contents::coredump(coredump::read(text.trim_start())));
    }
    let ibs = if mesa::is_dump(text) { mesa::ibs(text) } else { umr::ibs(text) };
    (!ibs.is_empty()).then(|| Contents { ibs, ..Contents::default() })
}

/// Returns the contents of the fenced blocks of a known kind, or otherwise of those with hexadecimal dwords.
fn fenced(lines: &[&str]) -> Option<Contents> {
    let blocks = fences(lines);
    let known = |block: &Block| kind(&block.text);
    let dwords = |block: &Block| {
        let dwords = content::dwords(block.text.as_bytes(), "").ok().filter(|dwords| !dwords.is_empty())?;
        Some(Contents { ibs: vec![FileIb { dwords, ..FileIb::default() }], ..Contents::default() })
    };
    let read = |each: &dyn Fn(&Block) -> Option<Contents>| {
        let found = blocks.iter().filter_map(|block| Some((block.lines.clone(), each(block)?)));
        let (places, contents): (Vec<_>, Vec<_>) = found.unzip();
        (!contents.is_empty()).then(|| {
            let mut all = Contents::default();
            let is_one = contents.len() == 1;
            for (place, mut part) in places.iter().zip(contents) {
                if !is_one {
                    part.ibs.iter_mut().filter(|ib| ib.title.is_none()).for_each(|ib| {
                        ib.title = Some(format!("lines {} to {}", place.start(), place.end()));
                    });
                }
                all.append(part);
            }
            all.note = Some(note(&places, lines.len()));
            all
        })
    };
    read(&known).or_else(|| read(&dwords))
}

/// Returns the devcoredump that begins below other text.
fn after_prose(lines: &[&str]) -> Option<Contents> {
    let first = lines.iter().position(|line| line.trim_start().starts_with(coredump::TITLE))?;
    let mut contents = kind(&lines[first..].join("\n"))?;
    contents.note = (first > 0).then(|| note(&[first + 1..=lines.len()], lines.len()));
    Some(contents)
}

/// Says which lines, counted from 1, were read and that others were not.
fn note(read: &[RangeInclusive<usize>], all: usize) -> String {
    let count: usize = read.iter().map(|lines| lines.end() + 1 - lines.start()).sum();
    let places: Vec<_> = read.iter().map(|lines| format!("{} to {}", lines.start(), lines.end())).collect();
    let lines = if all - count == 1 { "line" } else { "lines" };
    format!("read lines {}, skipped {} other {lines}", places.join(" and "), all - count)
}

/// The text in a fence.
struct Block {
    /// The numbers of the lines, from 1.
    lines: RangeInclusive<usize>,
    text: String,
}

/// Returns the blocks in fences: at least three backquotes or tildes, until as many of the same, or to the end. The indentation of
/// the fence, as in a list, is not part of the text.
fn fences(lines: &[&str]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(char, usize, usize, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'));
        let len = mark.map_or(0, |mark| text.chars().take_while(|other| *other == mark).count());
        match open {
            None if len >= 3 => open = mark.map(|mark| (mark, len, index + 1, line.len() - text.len())),
            Some((with, least, first, indent)) if mark == Some(with) && len >= least && text.len() == len => {
                blocks.extend(block(lines, first, index, indent));
                open = None;
            }
            _ => {}
        }
    }
    if let Some((_, _, first, indent)) = open {
        blocks.extend(block(lines, first, lines.len(), indent));
    }
    blocks
}

fn block(lines: &[&str], first: usize, end: usize, indent: usize) -> Option<Block> {
    let inside = lines.get(first..end).filter(|inside| !inside.is_empty())?;
    let text = inside.iter().map(|line| {
        let blanks = line.len() - line.trim_start().len();
        line.get(blanks.min(indent)..).unwrap_or_default()
    });
    Some(Block { lines: first + 1..=end, text: text.collect::<Vec<_>>().join("\n") })
}

/// Returns the lines without marks of quotations, or without the indentation of a block of code.
fn unquoted<'l>(lines: &[&'l str]) -> Vec<&'l str> {
    let strip = |line: &'l str| {
        let mut rest = line;
        while let Some(inner) = rest.trim_start().strip_prefix('>') {
            rest = inner.strip_prefix(' ').unwrap_or(inner);
        }
        rest.strip_prefix("    ").or_else(|| rest.strip_prefix('\t')).unwrap_or(rest)
    };
    lines.iter().map(|line| strip(line)).collect()
}

/// Returns the text of bytes without NUL; `None` for binary data.
pub(super) fn text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    (!bytes.contains(&0)).then(|| String::from_utf8_lossy(bytes))
}
