//! `va`: the GPU addresses of a process that dumps its memory manager.

use std::{io, path::Path};

use super::dump::{Dump, Place};
use crate::{
    cli::Global,
    exit::Exit,
    render,
    session::Outcome,
    text::{Style, Table},
};

const HEADINGS: [&str; 8] = ["WINDOW", "START", "LEASES", "LEASED", "FREE", "HOLES", "LARGEST HOLE", "FRAGMENTED"];

/// Shows a dump.
pub(super) fn run(path: &Path, global: &Global, out: &mut dyn io::Write) -> Outcome {
    let dump = Dump::read(path)?;
    let style = render::style(global);
    let mut table = Table::new(if style.header { &HEADINGS } else { &[] }, &[1, 2, 3, 4, 5, 6, 7]);
    for window in &dump.windows {
        // Per mille of the free bytes that the largest hole does not have.
        let (whole, tenth) = (window.fragmentation_permille / 10, window.fragmentation_permille % 10);
        table.row(vec![
            window.name.escape_debug().to_string(),
            window.start.escape_debug().to_string(),
            window.leases.to_string(),
            style.units.text(window.leased),
            style.units.text(window.free),
            window.holes.to_string(),
            style.units.text(window.largest_hole),
            format!("{whole}.{tenth}%"),
        ]);
    }
    table.write(out, "")?;
    writeln!(out, "bound: {}; lately freed: {}", ranges(&dump.bound, &style), ranges(&dump.freed, &style))?;
    Ok(Exit::Fine)
}

fn ranges(places: &[Place], style: &Style) -> String {
    let bytes = places.iter().fold(0_u64, |sum, place| sum.saturating_add(place.len));
    format!("{} ranges, {}", places.len(), style.units.text(bytes))
}
