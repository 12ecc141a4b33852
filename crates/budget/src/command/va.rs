//! `va`: the GPU addresses of a process that dumps its VA manager.
//!
//! A dump is what the library's `VaManager::stats` says of each window (schema `amdgpu-va/1`):
//!
//! ```json
//! {"schema":"amdgpu-va/1","windows":[{"name":"high","leases":3,"leased":4096,"free":8192,"holes":2,"largest_hole":4096}]}
//! ```

use std::{fs::File, io, io::Read, path::Path};

use serde::Deserialize;

use crate::{
    app::{self, Outcome, Stop},
    cli::Global,
    exit::Exit,
    text::Table,
    units::percent,
};

/// A dump.
#[derive(Debug, Deserialize)]
struct Dump {
    schema: String,
    windows: Vec<Window>,
}

/// One address window, bytes.
#[derive(Debug, Deserialize)]
struct Window {
    name: String,
    leases: u64,
    leased: u64,
    free: u64,
    holes: u64,
    largest_hole: u64,
}

/// A dump of more bytes is none.
const MOST_BYTES: u64 = 16 << 20;

/// Shows a dump.
pub(super) fn run(path: &Path, global: &Global, out: &mut dyn io::Write) -> Outcome {
    let failed = |error: &dyn std::fmt::Display| Stop::failed(format_args!("{}: {error}", path.display()));
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(|e| failed(&e))?)
    };
    let dump: Dump = serde_json::from_reader(input.take(MOST_BYTES)).map_err(|error| failed(&error))?;
    if dump.schema != "amdgpu-va/1" {
        return Err(failed(&format_args!("the schema is '{}', not amdgpu-va/1", dump.schema)));
    }
    let style = app::style(global);
    let headings = ["WINDOW", "LEASES", "LEASED", "FREE", "HOLES", "LARGEST HOLE", "FRAGMENTED"];
    let mut table = Table::new(if style.header { &headings } else { &[] }, &[1, 2, 3, 4, 5, 6]);
    for window in &dump.windows {
        // What of the free bytes the largest hole does not have.
        let scattered = percent(window.free.saturating_sub(window.largest_hole), window.free);
        table.row(vec![
            window.name.escape_debug().to_string(),
            window.leases.to_string(),
            style.units.text(window.leased),
            style.units.text(window.free),
            window.holes.to_string(),
            style.units.text(window.largest_hole),
            scattered.map_or_else(|| "-".to_owned(), |share| format!("{share}%")),
        ]);
    }
    table.write(out, "")?;
    Ok(Exit::Fine)
}
