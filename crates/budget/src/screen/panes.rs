//! Contents of each screen.

use ratatui::{
    Frame,
    layout::Rect,
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::Paragraph,
};

use super::{
    parts::{coloured, split_top},
    state::State,
};
use crate::{
    plot::braille,
    snapshot::{
        model::{Domain, Gpu, Process, Snapshot},
        units::Age,
    },
    text::{self, cut, known, ps},
};

/// Rows that plots need.
const LEAST_PLOTS: u16 = 16;

/// Cells beside a bar: its name and the figures.
const BESIDE_BAR: u16 = 50;

pub(super) fn overview(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(gpu) = state.gpu() else { return };
    let width = usize::from(area.width.saturating_sub(BESIDE_BAR).clamp(8, 240));
    let mut lines = heading(gpu, state);
    let domains = &gpu.domains;
    for (name, domain) in [("VRAM", &domains.vram), ("visible", &domains.visible_vram), ("GTT", &domains.gtt)] {
        lines.push(bar(name, domain, width, state));
    }
    lines.push(pool(gpu, width, state));
    lines.push(rates(gpu, state));
    if let Some(sensors) = text::show::sensors(&gpu.sensors) {
        lines.push(Line::from(format!("  {sensors}")));
    }
    lines.push(Line::from(format!(
        "  last {:.0} s  {}",
        state.window,
        spark(gpu, usize::from(area.width.saturating_sub(14)), state)
    )));
    for warning in state.snapshot.warnings.iter().filter(|warning| warning.gpu == Some(gpu.index)).take(2) {
        let text = format!("{} {}", state.style.mark(), warning.text);
        lines.push(Line::styled(text, coloured(state, Color::Yellow)));
    }
    let (above, mut below) = split_top(area, lines.len() as u16 + 1);
    frame.render_widget(Paragraph::new(lines), above);
    // What the processes leave of a tall screen shows the past.
    let rows = u16::try_from(state.processes().len()).unwrap_or(u16::MAX).saturating_add(5);
    let room = below.height.saturating_sub(rows);
    if room >= LEAST_PLOTS {
        let (list, plot) = split_top(below, rows);
        plots(frame, plot, gpu, state);
        below = list;
    }
    processes(frame, below, state);
}

fn heading(gpu: &Gpu, state: &State) -> Vec<Line<'static>> {
    let kind = match gpu.apu {
        Some(true) => "APU",
        Some(false) => "dGPU",
        None => "-",
    };
    let name = Span::styled(known(gpu.name.as_deref()).to_owned(), Style::new().add_modifier(Modifier::BOLD));
    let count = state.snapshot.gpus.len();
    let count = if count > 1 { format!(" of {count}") } else { String::new() };
    let facts = format!("  {}, {kind}, {}", gpu.pci, known(gpu.power.as_deref()));
    let pressure = state.pressure();
    let colour = match pressure {
        "ok" => Color::Green,
        "thrashing" => Color::Red,
        _ => Color::Yellow,
    };
    let pressure = Span::styled(format!("  {pressure}"), coloured(state, colour));
    vec![Line::from(vec![Span::from(format!("GPU {}{count}  ", gpu.index)), name, Span::from(facts), pressure])]
}

/// A bar with what is used, and at its end what is reserved.
fn bar(name: &str, domain: &Domain, width: usize, state: &State) -> Line<'static> {
    let style = &state.style;
    let reserved = domain.total.zip(domain.usable).map_or(0, |(total, usable)| total.saturating_sub(usable));
    let ticks = domain.total.filter(|&total| total > 0).map_or(0, |total| {
        usize::try_from(u128::from(reserved) * width as u128 / u128::from(total)).unwrap_or(0).min(width)
    });
    let mut cells: Vec<char> = style.bar(domain.used, domain.total, width).chars().collect();
    let mark = if style.ascii { 'R' } else { '▒' };
    let free = |cell: &&mut char| matches!(**cell, '░' | '.');
    cells.iter_mut().rev().take(ticks).filter(free).for_each(|cell| *cell = mark);
    let (used, total) = (style.units.known(domain.used), style.units.known(domain.total));
    let evicted = domain.evicted.filter(|&bytes| bytes > 0);
    let evicted = evicted.map(|bytes| format!(", {} out", style.units.text(bytes))).unwrap_or_default();
    Line::from(vec![
        Span::from(format!("  {name:<8}")),
        Span::styled(cells.into_iter().collect::<String>(), coloured(state, Color::Cyan)),
        Span::from(format!(" {used} / {total}{evicted}")),
    ])
}

fn pool(gpu: &Gpu, width: usize, state: &State) -> Line<'static> {
    let (style, pool) = (&state.style, &gpu.effective);
    let used = pool.total.zip(pool.available).map(|(total, available)| total.saturating_sub(available));
    let (available, total) = (style.units.known(pool.available), style.units.known(pool.total));
    Line::from(vec![
        Span::from("  pool    "),
        Span::styled(style.bar(used, pool.total, width), coloured(state, Color::Green)),
        Span::from(format!(" {available} free of {total} ({})", pool.rule)),
    ])
}

fn rates(gpu: &Gpu, state: &State) -> Line<'static> {
    let rates = state.history.points(&gpu.pci).next_back().map(|point| point.rates).unwrap_or_default();
    let number = |rate: Option<u64>| rate.map_or_else(|| "-".to_owned(), |rate| rate.to_string());
    Line::from(format!(
        "  evictions {}/s, moved {}/s, CPU page faults {}/s",
        number(rates.evictions),
        state.style.units.known(rates.bytes_moved),
        number(rates.cpu_page_faults)
    ))
}

/// VRAM in use over the window, newest on the right.
fn spark(gpu: &Gpu, width: usize, state: &State) -> String {
    let levels: &[char] = if state.style.ascii {
        &['_', '.', ':', '-', '=', '+', '*', '#']
    } else {
        &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
    };
    let total = gpu.domains.vram.total.unwrap_or(0).max(1);
    let last = state.history.points(&gpu.pci).next_back().map_or(0.0, |point| point.seconds);
    let points: Vec<_> = state.history.points(&gpu.pci).filter(|point| point.seconds >= last - state.window).collect();
    let mark = |index: usize| {
        let used = points.get(index).and_then(|point| point.vram)?;
        let level = usize::try_from(u128::from(used) * levels.len() as u128 / u128::from(total)).unwrap_or(0);
        levels.get(level.min(levels.len() - 1)).copied()
    };
    let columns = points.len().min(width);
    (0..columns).map(|column| mark(column * points.len() / columns.max(1)).unwrap_or('?')).collect()
}

const COLUMNS: &str = "    PID USER      OWN VRAM   VISIBLE   OWN GTT    SHARED  EV% BUSY%  NAME";

pub(super) fn processes(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(gpu) = state.gpu() else { return };
    let is_wide = area.width >= 120;
    let mut heading = COLUMNS.to_owned();
    if is_wide {
        heading = COLUMNS.replace("NAME", "  REQUESTED       D/min     AGE  NAME             CGROUP");
    }
    let mut lines = vec![Line::styled(heading, Style::new().add_modifier(Modifier::BOLD))];
    let rows = state.processes();
    let chosen = state.row.min(rows.len().saturating_sub(1));
    let room = usize::from(area.height.saturating_sub(4)).max(1);
    let first = (chosen + 1).saturating_sub(room);
    for (place, (depth, process)) in rows.iter().enumerate().skip(first).take(room) {
        let style = if place == chosen { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        let mark = if place == chosen { '>' } else { ' ' };
        lines.push(Line::styled(format!("{mark}{}", row(gpu, process, *depth, is_wide, state)), style));
        if state.options.clients {
            lines.extend(process.per_client.iter().map(|client| client_line(client, state)));
        }
    }
    lines.extend(rest(gpu, state));
    frame.render_widget(Paragraph::new(lines), area);
}

/// Returns the lines that make the columns of own memory add up: memory that clients share, and memory that no process holds.
fn rest(gpu: &Gpu, state: &State) -> Vec<Line<'static>> {
    let Some(rest) = gpu.unattributed.filter(|_| !state.options.is_partial()) else { return Vec::new() };
    let size = |bytes| state.style.units.known(bytes);
    let line = |vram, gtt, name: &str| {
        let text =
            format!("      - -        {:>9} {:>9} {:>9} {:>9}    -     -  ({name})", size(vram), "", size(gtt), "");
        Line::styled(text, coloured(state, Color::DarkGray))
    };
    vec![line(rest.shared.vram, rest.shared.gtt, "shared"), line(rest.vram, rest.gtt, "no process")]
}

fn row(gpu: &Gpu, process: &Process, depth: usize, is_wide: bool, state: &State) -> String {
    let size = |bytes| state.style.units.known(bytes);
    let own = process.own();
    let busy = state.history.busy(&gpu.pci, process.pid).map_or_else(|| "-".to_owned(), |share| share.to_string());
    let evicted = ps::evicted_share(process);
    let name = format!("{}{}", "  ".repeat(depth.min(8)), known(process.name.as_deref()));
    let user = cut(known(process.user.as_deref()), 8);
    let start = format!(
        "{:>6} {user:<8} {:>9} {:>9} {:>9} {:>9} {evicted:>4} {busy:>5}  ",
        process.pid,
        size(own.vram),
        size(process.visible_vram),
        size(own.gtt),
        size(ps::shared(&process.shared))
    );
    if !is_wide {
        return start + &name;
    }
    let growth = state.history.growth(&gpu.pci, process.pid).map_or_else(
        || "-".to_owned(),
        |change| {
            let sign = if change < 0 { '-' } else { '+' };
            format!("{sign}{}", state.style.units.text(u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX)))
        },
    );
    let age = process.age_s.map_or_else(|| "-".to_owned(), |age| Age(age).to_string());
    let (requested, cgroup) = (size(process.requested.vram), known(process.cgroup.as_deref()));
    format!("{start}{requested:>11} {growth:>11} {age:>7}  {:<16} {cgroup}", cut(&name, 16))
}

fn client_line(client: &crate::snapshot::model::Client, state: &State) -> Line<'static> {
    let size = |bytes| state.style.units.known(bytes);
    let own = client.own();
    let (vram, visible, gtt) = (size(own.vram), size(client.visible_vram), size(own.gtt));
    let shared = size(ps::shared(&client.shared));
    let text = format!("        {:<8} {vram:>9} {visible:>9} {gtt:>9} {shared:>9}  client", client.client);
    Line::styled(text, coloured(state, Color::DarkGray))
}

pub(super) fn process(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let (Some(gpu), Some(process)) = (state.gpu(), state.process()) else {
        frame.render_widget(Paragraph::new("no process holds memory"), area);
        return;
    };
    let size = |bytes| state.style.units.known(bytes);
    let title = format!("{} {}", process.pid, known(process.name.as_deref()));
    let mut lines = vec![Line::styled(title, Style::new().add_modifier(Modifier::BOLD))];
    let parent = process.ppid.map_or_else(|| "-".to_owned(), |parent| parent.to_string());
    let age = process.age_s.map_or_else(|| "-".to_owned(), |age| Age(age).to_string());
    lines.push(Line::from(format!("  user {}, parent {parent}, age {age}", known(process.user.as_deref()))));
    lines.push(Line::from(format!("  cgroup {}", known(process.cgroup.as_deref()))));
    for (name, bytes, of) in [
        ("VRAM", process.vram, gpu.domains.vram.total),
        ("visible", process.visible_vram, gpu.domains.visible_vram.total),
        ("GTT", process.gtt, gpu.domains.gtt.total),
        ("moved out", process.cpu, gpu.domains.gtt.total),
    ] {
        let bar = state.style.bar(bytes, of, 24);
        lines.push(Line::from(format!("  {name:<10} {bar} {} of {}", size(bytes), size(of))));
    }
    let (shared, requested) = (&process.shared, &process.requested);
    let own = process.own();
    lines.push(Line::from(format!("  own        VRAM {}, GTT {}", size(own.vram), size(own.gtt))));
    lines.push(Line::from(format!("  shared     VRAM {}, GTT {}", size(shared.vram), size(shared.gtt))));
    lines.push(Line::from(format!("  requested  VRAM {}, GTT {}", size(requested.vram), size(requested.gtt))));
    lines.push(Line::from(format!("  evicted    {} ({})", size(process.evicted.vram), ps::evicted_share(process))));
    for (engine, time) in &process.engines_ns {
        lines.push(Line::from(format!("  engine {engine}: {} ms since it was opened", time / 1_000_000)));
    }
    for client in &process.per_client {
        let (vram, gtt) = (size(client.vram), size(client.gtt));
        lines.push(Line::from(format!("  client {}: VRAM {vram}, GTT {gtt}", client.client)));
    }
    for client in &process.charged_elsewhere {
        lines.push(Line::from(format!("  client {client}: charged to another process")));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// A snapshot of the shown GPU alone.
fn only(state: &State) -> Snapshot {
    Snapshot {
        gpus: state.gpu().cloned().into_iter().collect(),
        system: state.snapshot.system.clone(),
        ..Snapshot::default()
    }
}

/// Text that the commands print, too, from the line that was scrolled to.
fn printed(frame: &mut Frame<'_>, area: Rect, state: &State, print: impl Fn(&Snapshot, &text::Style, &mut Vec<u8>)) {
    let style = text::Style { colour: false, ..state.style };
    let mut bytes = Vec::new();
    print(&only(state), &style, &mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let last = u16::try_from(text.lines().count()).unwrap_or(u16::MAX).saturating_sub(1);
    frame.render_widget(Paragraph::new(text.as_ref()).scroll((state.scroll.min(last), 0)), area);
}

pub(super) fn heaps(frame: &mut Frame<'_>, area: Rect, state: &State) {
    // Writing to memory does not fail.
    printed(frame, area, state, |snapshot, style, out| drop(text::heaps::write(snapshot, style, out)));
}

pub(super) fn explain(frame: &mut Frame<'_>, area: Rect, state: &State) {
    printed(frame, area, state, |snapshot, style, out| drop(text::explain::write(snapshot, None, style, out)));
}

pub(super) fn history(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(gpu) = state.gpu() else { return };
    plots(frame, area, gpu, state);
}

/// One plot for each memory, below each other.
fn plots(frame: &mut Frame<'_>, area: Rect, gpu: &Gpu, state: &State) {
    let panels = state.history.panels(gpu, state.window);
    let share = area.height.checked_div(panels.len() as u16).unwrap_or(0);
    let (width, height) = (usize::from(area.width.saturating_sub(15)), usize::from(share.saturating_sub(2)));
    if width > 0 && height > 0 {
        let text: String = panels.iter().map(|panel| braille::draw(panel, width, height, state.style.ascii)).collect();
        frame.render_widget(Paragraph::new(text), area);
    }
}
