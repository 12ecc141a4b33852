//! Writing of blocks, optionally only those that match a search, with repeated blocks folded.

use std::{
    collections::VecDeque,
    io::{self, Write},
};

use regex::Regex;

use super::{Block, Kind, paint::Paint};

/// A search for packets.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// The pattern that a line of the packet's text must match.
    pub(crate) pattern: Regex,
    /// The number of packets of the same IB to show before and after a match.
    pub(crate) context: usize,
}

/// Writes blocks as text.
pub(crate) struct Writer<'w, W> {
    out: &'w mut W,
    paint: Paint,
    search: Option<&'w Search>,
    folds: bool,
    /// The headings that are not written yet.
    titles: Vec<(u8, String)>,
    /// The packets that may be context of the next match.
    before: VecDeque<Block>,
    /// The number of packets that are still context of the last match.
    after: usize,
    /// `true` if packets were omitted since the last shown packet.
    is_gap: bool,
    run: Option<Run>,
    found: bool,
}

/// Consecutive equal packets, of which the first was written.
struct Run {
    first: Block,
    /// The number of the other packets.
    repeats: usize,
    last: Option<Block>,
}

impl<'w, W: Write> Writer<'w, W> {
    pub(crate) fn new(out: &'w mut W, paint: Paint, search: Option<&'w Search>, folds: bool) -> Self {
        Self {
            out,
            paint,
            search,
            folds,
            titles: Vec::new(),
            before: VecDeque::new(),
            after: 0,
            is_gap: false,
            run: None,
            found: false,
        }
    }

    /// Adds the next block.
    pub(crate) fn push(&mut self, block: Block) -> io::Result<()> {
        if let Kind::Title { depth } = block.kind {
            self.end_run()?;
            self.before.clear();
            (self.after, self.is_gap) = (0, false);
            self.titles.retain(|title| title.0 < depth);
            self.titles.extend(block.lines.into_iter().map(|line| (depth, line)));
            return if self.search.is_none() { self.write_titles() } else { Ok(()) };
        }
        let Some(search) = self.search else { return self.show(block) };
        if block.lines.iter().any(|line| search.pattern.is_match(line)) {
            self.found = true;
            self.after = search.context;
            for earlier in std::mem::take(&mut self.before) {
                self.show(earlier)?;
            }
            self.show(block)
        } else if self.after > 0 {
            self.after -= 1;
            self.show(block)
        } else {
            self.before.push_back(block);
            if self.before.len() > search.context {
                self.before.pop_front();
                // Told before the next packet, if one was shown in this IB.
                self.is_gap = self.run.is_some();
            }
            Ok(())
        }
    }

    /// Writes the remaining output. Returns `true` if a packet matched, or if there was no search.
    pub(crate) fn finish(mut self) -> io::Result<bool> {
        self.end_run()?;
        Ok(self.found || self.search.is_none())
    }

    fn write_titles(&mut self) -> io::Result<()> {
        for (_, title) in self.titles.drain(..) {
            writeln!(self.out, "{}", self.paint.title(&title))?;
        }
        Ok(())
    }

    fn show(&mut self, block: Block) -> io::Result<()> {
        if self.is_gap {
            self.end_run()?;
            writeln!(self.out, "{}", self.paint.faint("     ..."))?;
            self.is_gap = false;
        }
        self.write_titles()?;
        if let Some(run) = self.run.as_mut().filter(|run| self.folds && is_repeat(&run.first, &block)) {
            run.repeats += 1;
            run.last = Some(block);
            return Ok(());
        }
        self.end_run()?;
        write(self.out, self.paint, &block)?;
        self.run = Some(Run { first: block, repeats: 0, last: None });
        Ok(())
    }

    fn end_run(&mut self) -> io::Result<()> {
        let Some(Run { repeats, last: Some(last), .. }) = self.run.take() else { return Ok(()) };
        let Kind::Packet { offset, .. } = last.kind else { return Ok(()) };
        if repeats == 1 {
            return write(self.out, self.paint, &last);
        }
        let line = format!("     ... {repeats} more of the same, the last at dword {offset}");
        writeln!(self.out, "{}", self.paint.faint(&line))
    }
}

/// Returns `true` if two packets differ only in their location.
fn is_repeat(a: &Block, b: &Block) -> bool {
    let (Kind::Packet { dwords, .. }, Kind::Packet { dwords: others, .. }) = (&a.kind, &b.kind) else { return false };
    dwords == others && a.compared == b.compared
}

fn write(out: &mut impl Write, paint: Paint, block: &Block) -> io::Result<()> {
    for (index, line) in block.lines.iter().enumerate() {
        writeln!(out, "{}", if index == 0 { paint.head(line) } else { paint.body(line) })?;
    }
    Ok(())
}
