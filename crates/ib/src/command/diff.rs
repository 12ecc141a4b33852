//! `amdgpu-ib diff`.

use std::{
    collections::VecDeque,
    io::{self, Write},
    path::Path,
};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{
    dump::{complain_about, decode},
    recorded::{self, Wanted},
    terminal::output,
};
use crate::{
    Input, InputError,
    chip::level_of,
    cli::DiffArguments,
    input::name,
    listing::{Alignment, Block, Detail, Kind, Paint, align, blocks},
    outcome::{Error, Exit},
};

/// Compares two files.
pub(super) fn diff(arguments: &DiffArguments) -> Result<Exit, Error> {
    let (a, b) = (read(&arguments.first, arguments)?, read(&arguments.second, arguments)?);
    let steps = align(&a, &b);
    if steps.iter().all(|step| matches!(step, Alignment::Equal(_))) {
        return Ok(Exit::Understood);
    }
    let mut out = output();
    let mut printer = Printer::new(&mut out, Paint::new(arguments.color), arguments.context);
    printer.names(&name(&arguments.first), &name(&arguments.second))?;
    steps.iter().try_for_each(|step| printer.step(step))?;
    printer.finish()?;
    out.flush()?;
    Ok(Exit::Problems)
}

/// Reads all blocks of a file.
fn read(file: &Path, arguments: &DiffArguments) -> Result<Vec<Block>, Error> {
    let detail = Detail { without_addresses: arguments.ignore_addresses, ..Detail::default() };
    let chip = arguments.chip.as_deref();
    let mut all = Vec::new();
    match Input::open(file)? {
        Input::Recording(recording) => {
            let level = chip.map(level_of).transpose()?;
            recorded::each((recording, &name(file)), level, Wanted::All, |shown| {
                shown.blocks(detail, &mut |block| {
                    all.push(block);
                    Ok(())
                })
            })?;
        }
        Input::Ibs(contents) => {
            if contents.ibs.is_empty() {
                return Err(InputError::NoPackets { name: name(file) }.into());
            }
            complain_about(file, &contents);
            for of in decode((file, &contents.ibs), chip, arguments.ip)? {
                all.extend(of.title.iter().map(|title| Block::title(0, title, title)));
                all.extend(blocks(&of.dump, None, detail));
            }
        }
    }
    Ok(all)
}

/// A printer of differences with some equal packets around them.
struct Printer<'w, W> {
    out: &'w mut W,
    paint: Paint,
    context: usize,
    /// The headings that are not written yet.
    titles: Vec<(u8, &'w str)>,
    /// The equal packets that may be context of the next difference.
    before: VecDeque<&'w Block>,
    /// The number of equal packets that are still context of the last difference.
    after: usize,
    is_gap: bool,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    equal: usize,
    changed: usize,
    removed: usize,
    added: usize,
}

impl<'w, W: Write> Printer<'w, W> {
    fn new(out: &'w mut W, paint: Paint, context: usize) -> Self {
        let (titles, before, counts) = (Vec::new(), VecDeque::new(), Counts::default());
        Self { out, paint, context, titles, before, after: 0, is_gap: false, counts }
    }

    fn names(&mut self, a: &str, b: &str) -> io::Result<()> {
        writeln!(self.out, "{}", self.paint.removed(&format!("--- {a}")))?;
        writeln!(self.out, "{}", self.paint.added(&format!("+++ {b}")))
    }

    fn step(&mut self, step: &Alignment<'w>) -> io::Result<()> {
        match *step {
            Alignment::Equal(block) => self.equal(block),
            Alignment::Changed(a, b) => {
                self.counts.changed += usize::from(is_packet(a));
                self.begin()?;
                self.changed(a, b)
            }
            Alignment::Removed(block) => {
                self.counts.removed += usize::from(is_packet(block));
                self.begin()?;
                block.lines.iter().try_for_each(|line| self.removed(line))
            }
            Alignment::Added(block) => {
                self.counts.added += usize::from(is_packet(block));
                self.begin()?;
                block.lines.iter().try_for_each(|line| self.added(line))
            }
        }
    }

    fn equal(&mut self, block: &'w Block) -> io::Result<()> {
        if let Kind::Title { depth } = block.kind {
            self.before.clear();
            (self.after, self.is_gap) = (0, false);
            self.titles.retain(|title| title.0 < depth);
            self.titles.extend(block.lines.iter().map(|line| (depth, line.as_str())));
            return Ok(());
        }
        self.counts.equal += 1;
        if self.after > 0 {
            self.after -= 1;
            return self.context(block);
        }
        self.before.push_back(block);
        if self.before.len() > self.context {
            self.before.pop_front();
            self.is_gap = true;
        }
        Ok(())
    }

    /// Writes the headings and context before a difference.
    fn begin(&mut self) -> io::Result<()> {
        for (_, title) in std::mem::take(&mut self.titles) {
            writeln!(self.out, " {title}")?;
        }
        if std::mem::take(&mut self.is_gap) {
            writeln!(self.out, "      ...")?;
        }
        for block in std::mem::take(&mut self.before) {
            self.context(block)?;
        }
        self.after = self.context;
        Ok(())
    }

    /// Writes the first line of an equal packet.
    fn context(&mut self, block: &Block) -> io::Result<()> {
        block.lines.iter().take(1).try_for_each(|line| writeln!(self.out, " {line}"))
    }

    fn changed(&mut self, a: &Block, b: &Block) -> io::Result<()> {
        for step in capture_diff_slices(Algorithm::Myers, &a.compared, &b.compared) {
            let (old, new) = (&a.lines[step.old_range()], &b.lines[step.new_range()]);
            if let DiffOp::Equal { .. } = step {
                old.iter().try_for_each(|line| writeln!(self.out, " {line}"))?;
            } else {
                old.iter().try_for_each(|line| self.removed(line))?;
                new.iter().try_for_each(|line| self.added(line))?;
            }
        }
        Ok(())
    }

    fn removed(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.out, "{}", self.paint.removed(&format!("-{line}")))
    }

    fn added(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.out, "{}", self.paint.added(&format!("+{line}")))
    }

    fn finish(self) -> io::Result<()> {
        let Counts { equal, changed, removed, added } = self.counts;
        writeln!(self.out, "{equal} packets are equal, {changed} differ, {removed} are only in A, {added} only in B")
    }
}

const fn is_packet(block: &Block) -> bool {
    matches!(block.kind, Kind::Packet { .. })
}
