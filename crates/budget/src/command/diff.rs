//! `diff`: the processes whose memory grew.

use std::{collections::BTreeMap, io::Write, path::Path};

use crate::{
    cli::Global,
    exit::Exit,
    render,
    session::{self, Outcome, Stop},
    snapshot::{
        model::{Gpu, Process, Snapshot},
        units::Units,
    },
    text::{Table, known},
};

/// Compares the first snapshot of a file with the last one of another, or of the same.
pub(super) fn run(before: &Path, after: Option<&Path>, global: &Global, out: &mut dyn Write) -> Outcome {
    let (first, mut last) = ends(before, global)?;
    if let Some(after) = after {
        last = ends(after, global)?.1;
    }
    let style = render::style(global);
    for gpu in &last.gpus {
        let Some(was) = first.gpus.iter().find(|was| was.pci == gpu.pci) else {
            writeln!(out, "GPU {}  {}  was not there before", gpu.index, gpu.pci)?;
            continue;
        };
        writeln!(out, "GPU {}  {}  {}", gpu.index, gpu.pci, known(gpu.name.as_deref()))?;
        domains(was, gpu, style.units, out)?;
        processes(was, gpu, style.units, out)?;
    }
    Ok(Exit::Fine)
}

fn ends(path: &Path, global: &Global) -> Result<(Snapshot, Snapshot), Stop> {
    let mut recording = session::recording(path)?;
    let first = session::first(&mut recording, global)?;
    let mut last = None;
    while let Some(snapshot) = session::next(&mut recording, global)? {
        last = Some(snapshot);
    }
    Ok((first.clone(), last.unwrap_or(first)))
}

fn signed(was: Option<u64>, is: Option<u64>, units: Units) -> String {
    match (was, is) {
        (Some(was), Some(is)) if is >= was => format!("+{}", units.text(is - was)),
        (Some(was), Some(is)) => format!("-{}", units.text(was - is)),
        _ => "-".to_owned(),
    }
}

fn domains(was: &Gpu, is: &Gpu, units: Units, out: &mut dyn Write) -> Result<(), Stop> {
    let mut table = Table::new(&["DOMAIN", "BEFORE", "AFTER", "CHANGE"], &[1, 2, 3]);
    for (name, was, is) in [
        ("vram", was.domains.vram.used, is.domains.vram.used),
        ("visible", was.domains.visible_vram.used, is.domains.visible_vram.used),
        ("gtt", was.domains.gtt.used, is.domains.gtt.used),
        ("displaced", was.domains.vram.evicted, is.domains.vram.evicted),
        ("available", was.effective.available, is.effective.available),
    ] {
        table.row(vec![name.to_owned(), units.known(was), units.known(is), signed(was, is, units)]);
    }
    Ok(table.write(out, "  ")?)
}

/// Those that came, went or changed, the largest change first.
fn processes(was: &Gpu, is: &Gpu, units: Units, out: &mut dyn Write) -> Result<(), Stop> {
    let mut rows: BTreeMap<u32, (Option<&Process>, Option<&Process>)> = BTreeMap::new();
    for process in was.processes.iter().flatten() {
        rows.entry(process.pid).or_default().0 = Some(process);
    }
    for process in is.processes.iter().flatten() {
        rows.entry(process.pid).or_default().1 = Some(process);
    }
    let memory = |process: Option<&Process>| process.map_or(0, Process::memory);
    let mut rows: Vec<_> = rows.into_iter().filter(|(_, (was, is))| memory(*was) != memory(*is)).collect();
    rows.sort_by_key(|(pid, (was, is))| (std::cmp::Reverse(memory(*was).abs_diff(memory(*is))), *pid));
    if rows.is_empty() {
        return Ok(writeln!(out, "  no process has changed")?);
    }
    let mut table = Table::new(&["PID", "VRAM", "GTT", "NOW", "NAME"], &[0, 1, 2, 3]);
    for (pid, (was, is)) in rows {
        let either = |process: Option<&Process>, of: fn(&Process) -> Option<u64>| process.map_or(Some(0), of);
        let change = |of| signed(either(was, of), either(is, of), units);
        let state = match (was, is) {
            (None, _) => " (new)",
            (_, None) => " (gone)",
            _ => "",
        };
        let name = known(is.or(was).and_then(|process| process.name.as_deref()));
        let now = units.text(memory(is));
        table.row(vec![
            pid.to_string(),
            change(|process| process.vram),
            change(|process| process.gtt),
            now,
            format!("{name}{state}"),
        ]);
    }
    Ok(table.write(out, "  ")?)
}
