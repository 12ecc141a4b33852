//! Part of an IB in a hang report, made readable.

use std::fmt::{Formatter, Result};

use crate::cs::{
    Excerpt,
    dump::{Dump, Dumper},
};

/// Prints commands: a disassembler.
pub trait IbPrinter {
    /// Prints an excerpt, each line ended.
    ///
    /// # Errors
    ///
    /// Those of the formatter.
    fn print(&self, excerpt: &Excerpt, f: &mut Formatter<'_>) -> Result;
}

/// With this dumper's memory and names instead of those that the report was gathered with.
impl IbPrinter for Dumper<'_> {
    fn print(&self, excerpt: &Excerpt, f: &mut Formatter<'_>) -> Result {
        let dumper = self.with_reader(excerpt.target);
        write(&dumper.dump_excerpt(&excerpt.dwords, excerpt.first, Some(excerpt.ib)), excerpt, f)
    }
}

/// The dump of an excerpt, with arrows at the packets that wrote the marks.
pub(super) fn write(dump: &Dump, excerpt: &Excerpt, f: &mut Formatter<'_>) -> Result {
    for (index, ib) in dump.ibs.iter().enumerate() {
        write!(f, "    ")?;
        ib.write_title(f, index, dump)?;
        for packet in &ib.packets {
            let is_at = |mark: Option<usize>| index == 0 && mark == Some(packet.offset);
            let (arrow, remark) = match (is_at(excerpt.last_mark), is_at(excerpt.done_mark)) {
                (true, true) => ("=>", "  <== the last mark: everything before it is done"),
                (true, false) => ("->", "  <== the last mark that the ring came to"),
                (false, true) => ("=>", "  <== the last mark up to which everything is done"),
                (false, false) => ("  ", ""),
            };
            let text = packet.to_string();
            for (number, line) in text.lines().enumerate() {
                let (arrow, remark) = if number == 0 { (arrow, remark) } else { ("  ", "") };
                writeln!(f, "    {arrow}{}{remark}", line.strip_prefix("  ").unwrap_or(line))?;
            }
        }
    }
    Ok(())
}
