//! `show`: one screen for each GPU.

use std::io::{self, Write};

use super::{Style, known, ps};
use crate::snapshot::{
    model::{Domain, Gpu, Sensors, Snapshot},
    units::percent,
};

/// Cells of a bar.
const BAR: usize = 30;
/// Processes that are shown.
const PROCESSES: usize = 5;

/// Writes a summary of a snapshot, with one screen for each GPU.
///
/// # Errors
///
/// The errors of writing to `out`.
pub fn write(snapshot: &Snapshot, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (index, gpu) in snapshot.gpus.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        heading(gpu, style, out)?;
        bars(gpu, style, out)?;
        counters(gpu, style, out)?;
        if let Some(text) = sensors(&gpu.sensors) {
            writeln!(out, "  {text}")?;
        }
        if gpu.processes.is_some() {
            writeln!(out)?;
            let options = ps::Options { limit: Some(PROCESSES), ..ps::Options::default() };
            ps::write_gpu(gpu, &options, style, out)?;
        }
        for warning in snapshot.warnings.iter().filter(|warning| warning.gpu == Some(gpu.index)) {
            writeln!(out, "{}", style.paint(33, &format!("{} {}", style.mark(), warning.text)))?;
        }
        for missing in gpu.missing.iter().filter(|missing| !missing.is_replaced) {
            writeln!(out, "  {}: {}", missing.source, missing.reason)?;
        }
    }
    Ok(())
}

fn heading(gpu: &Gpu, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let kind = match gpu.apu {
        Some(true) => "APU",
        Some(false) => "dGPU",
        None => "kind unknown",
    };
    let name = style.paint(1, known(gpu.name.as_deref()));
    let (chip, driver) = (known(gpu.chip.as_deref()), known(gpu.driver.as_deref()));
    writeln!(out, "GPU {}  {name}  {chip}, {kind}", gpu.index)?;
    let (node, power) = (known(gpu.render.as_deref()), known(gpu.power.as_deref()));
    writeln!(out, "{}  {node}  {power}  amdgpu {driver}", gpu.pci)
}

fn bars(gpu: &Gpu, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let domains = &gpu.domains;
    for (name, domain) in [("VRAM", &domains.vram), ("visible", &domains.visible_vram), ("GTT", &domains.gtt)] {
        bar(name, domain, gpu.apu, style, out)?;
    }
    let effective = &gpu.effective;
    let used = effective.total.zip(effective.available).map(|(total, available)| total.saturating_sub(available));
    let share = percent_text(used, effective.total);
    let (total, available) = (style.units.known(effective.total), style.units.known(effective.available));
    let bar = style.bar(used, effective.total, cells(style));
    let limit = effective.limited_by.as_deref().map(|by| format!(", limited by {by}")).unwrap_or_default();
    writeln!(out, "  {:<8} {bar} {share:>4}  {available} of {total} available ({}{limit})", "pool", effective.rule)
}

fn bar(name: &str, domain: &Domain, apu: Option<bool>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let bar = style.bar(domain.used, domain.total, cells(style));
    let share = percent_text(domain.used, domain.total);
    let (used, total) = (style.units.known(domain.used), style.units.known(domain.total));
    let displaced = displaced(domain, apu).map(|bytes| format!(", {} displaced", style.units.text(bytes)));
    writeln!(out, "  {name:<8} {bar} {share:>4}  {used} of {total} in use{}", displaced.unwrap_or_default())
}

/// Returns the bytes that prefer a domain and are not there; `None` if there are none, or the GPU is an APU, whose GTT is as fast as
/// its carve-out.
pub fn displaced(domain: &Domain, apu: Option<bool>) -> Option<u64> {
    domain.evicted.filter(|&bytes| bytes > 0 && apu != Some(true))
}

/// Cells of a bar: fewer where a line would not fit.
fn cells(style: &Style) -> usize {
    const TEXT: usize = 72;
    style.width.map_or(BAR, |width| width.saturating_sub(TEXT).clamp(6, BAR))
}

fn percent_text(part: Option<u64>, whole: Option<u64>) -> String {
    let share = part.zip(whole).and_then(|(part, whole)| percent(part, whole));
    share.map_or_else(|| "-".to_owned(), |share| format!("{share}%"))
}

/// Returns load, clock, temperature and power in one line; `None` if all of them are unknown.
pub fn sensors(sensors: &Sensors) -> Option<String> {
    let tenths = |value: u64, unit: u64| format!("{}.{}", value / unit, value % unit * 10 / unit);
    let known = [
        sensors.busy_percent.map(|share| format!("busy {share}%")),
        sensors.memory_busy_percent.map(|share| format!("memory busy {share}%")),
        sensors.shader_clock_hz.map(|clock| format!("{} MHz", clock / 1_000_000)),
        sensors.memory_clock_hz.map(|clock| format!("memory {} MHz", clock / 1_000_000)),
        sensors.temperature_mc.map(|value| format!("{} C", tenths(value, 1000))),
        sensors.power_uw.map(|value| format!("{} W", tenths(value, 1_000_000))),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

fn counters(gpu: &Gpu, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let counters = &gpu.counters;
    writeln!(
        out,
        "  evictions {}, moved {}, CPU page faults {}, VRAM lost {}",
        number(counters.evictions),
        style.units.known(counters.bytes_moved),
        number(counters.cpu_page_faults),
        number(counters.vram_lost)
    )
}
