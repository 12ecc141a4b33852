//! `list`: the GPUs of the machine.

use std::io::{self, Write};

use super::{Style, Table, known};
use crate::snapshot::model::Snapshot;

/// Writes one line for each GPU.
///
/// # Errors
///
/// The errors of writing to `out`.
pub fn write(snapshot: &Snapshot, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let headings = ["GPU", "PCI", "NODE", "KIND", "POWER", "DRIVER", "CHIP", "NAME"];
    let mut table = Table::new(if style.header { &headings } else { &[] }, &[0]);
    for gpu in &snapshot.gpus {
        let kind = match gpu.apu {
            Some(true) => "APU",
            Some(false) => "dGPU",
            None => "-",
        };
        table.row(vec![
            gpu.index.to_string(),
            gpu.pci.clone(),
            known(gpu.render.as_deref()).trim_start_matches("/dev/dri/").to_owned(),
            kind.to_owned(),
            known(gpu.power.as_deref()).to_owned(),
            known(gpu.driver.as_deref()).to_owned(),
            known(gpu.chip.as_deref()).to_owned(),
            known(gpu.name.as_deref()).to_owned(),
        ]);
    }
    table.write(out, "")
}
