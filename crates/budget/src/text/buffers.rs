//! The buffers of a process as text.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use super::{Style, Table};
use crate::buffers::{Buffer, OpenGpu};

/// Writes a table for each open file, and the sums by preferred domain.
///
/// # Errors
///
/// The errors of writing to `out`.
pub fn write(pid: u32, name: Option<&str>, open: &[OpenGpu], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (index, one) in open.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let client = one.client.map(|client| format!(", client {client}")).unwrap_or_default();
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        writeln!(
            out,
            "process {pid}{name}, GPU {}, descriptor {}{client}: {}",
            one.pci,
            one.fd,
            count(one.buffers.len())
        )?;
        let headings: &[&str] = if style.header { &["SIZE", "HANDLE", "PREFERS", "ADDRESS", "FLAGS"] } else { &[] };
        let mut table = Table::new(headings, &[0, 1, 3]);
        for buffer in &one.buffers {
            table.row(vec![
                style.units.text(buffer.size),
                buffer.handle.to_string(),
                buffer.domains.join("+"),
                address(buffer),
                flags(buffer),
            ]);
        }
        if let Some(width) = style.width {
            table.fit(width, &[4]);
        }
        table.write(out, "  ")?;
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for buffer in &one.buffers {
            let sum = sums.entry(buffer.domains.join("+")).or_default();
            *sum = sum.saturating_add(buffer.size);
        }
        let sums: Vec<_> =
            sums.into_iter().map(|(domains, bytes)| format!("{domains} {}", style.units.text(bytes))).collect();
        if !sums.is_empty() {
            writeln!(out, "  sum by preferred domain: {}", sums.join(", "))?;
        }
    }
    Ok(())
}

fn count(buffers: usize) -> String {
    if buffers == 1 { "1 buffer".to_owned() } else { format!("{buffers} buffers") }
}

/// Returns the first address, and the number of further ranges.
fn address(buffer: &Buffer) -> String {
    match buffer.ranges.as_deref() {
        None => "?".to_owned(),
        Some([]) => "-".to_owned(),
        Some([range]) => format!("{:#x}", range.address),
        Some([range, others @ ..]) => format!("{:#x} +{}", range.address, others.len()),
    }
}

fn flags(buffer: &Buffer) -> String {
    let imported = buffer.imported.then(|| "imported".to_owned());
    buffer.flags.iter().cloned().chain(imported).collect::<Vec<_>>().join(" ")
}
