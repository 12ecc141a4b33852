//! Writing blocks: all, or those that match a search, with repeated ones folded.

use std::{
    collections::VecDeque,
    io::{self, Write},
};

use regex::Regex;

use super::{Block, Kind, paint::Paint};

/// Packets that are looked for.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// Pattern that a line of the packet's text matches.
    pub(crate) pattern: Regex,
    /// Packets of the same IB that are shown before and after one that matches.
    pub(crate) context: usize,
}

/// Writes blocks as text.
pub(crate) struct Writer<'w, W> {
    out: &'w mut W,
    paint: Paint,
    search: Option<&'w Search>,
    folds: bool,
    /// Headings that are not written yet.
    titles: Vec<(u8, String)>,
    /// Packets that may be context of the next match.
    before: VecDeque<Block>,
    /// Packets that are still context of the last match.
    after: usize,
    /// `true` if packets were left out since the last one that was shown.
    is_gap: bool,
    run: Option<Run>,
    found: bool,
}

/// Equal packets in a row, of which the first was written.
struct Run {
    first: Block,
    /// The others.
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

    /// Takes the next block.
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

    /// Writes what was held back. Returns `true` if a packet matched, or none was looked for.
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

/// Returns `true` if two packets differ in their place alone.
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
