//! Contents of each screen.

use ratatui::{
    Frame,
    layout::Rect,
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::Paragraph,
};

use super::{
    parts::{coloured, split_bottom, split_top},
    state::State,
};
use crate::{
    plot::braille,
    snapshot::{
        model::{Domain, Gpu, Process, Snapshot},
        units::Age,
    },
    text::{
        self, cut, known,
        ps::{self, Sort},
    },
    why::{Since, Subject, judge},
};

/// Rows that plots need.
const LEAST_PLOTS: u16 = 16;

/// Rows of the overview's plots at most: more show the same curve larger, and processes need the room.
const MOST_PLOTS: u16 = 20;

/// Cells beside a bar: its name and the figures.
const BESIDE_BAR: u16 = 53;

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
        state.history.span(&gpu.pci).min(state.window),
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
        let (list, plot) = split_bottom(below, room.min(MOST_PLOTS));
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
    let displaced = state.gpu().and_then(|gpu| text::show::displaced(domain, gpu.apu));
    let displaced = displaced.map(|bytes| format!(", {} displaced", style.units.text(bytes))).unwrap_or_default();
    Line::from(vec![
        Span::from(format!("  {name:<8}")),
        Span::styled(cells.into_iter().collect::<String>(), coloured(state, Color::Cyan)),
        Span::from(format!(" {used} / {total}{displaced}")),
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

/// A column of the list of processes: its heading, its width, and the order that a click means.
struct Column {
    heading: &'static str,
    width: usize,
    sort: Option<Sort>,
}

const COLUMNS: [Column; 8] = [
    Column { heading: "PID", width: 8, sort: Some(Sort::Pid) },
    Column { heading: "USER", width: 9, sort: None },
    Column { heading: "OWN VRAM", width: 9, sort: Some(Sort::Vram) },
    Column { heading: "VISIBLE", width: 10, sort: None },
    Column { heading: "OWN GTT", width: 10, sort: Some(Sort::Gtt) },
    Column { heading: "SHARED", width: 10, sort: None },
    Column { heading: "DISPLACED", width: 10, sort: Some(Sort::Displaced) },
    Column { heading: "BUSY%", width: 6, sort: None },
];
/// The columns that a narrow screen does not show, the first of them first.
const LEAST: [usize; 6] = [5, 3, 1, 7, 6, 4];
/// Columns of the user and of the name, which line up on the left.
const USER: usize = 1;
/// Characters that a name should have.
const NAME: usize = 16;

/// The columns for which a screen has room, beside a name.
fn shown_columns(width: u16, is_apu: bool) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..COLUMNS.len()).filter(|&column| !is_apu || column != 6).collect();
    for least in LEAST {
        let taken: usize = shown.iter().filter_map(|&column| COLUMNS.get(column)).map(|column| column.width).sum();
        if taken + 2 + NAME <= usize::from(width) {
            break;
        }
        shown.retain(|&column| column != least);
    }
    shown
}

/// A line of cells, one for each of [`COLUMNS`], of which those are left that are shown.
fn cells(cells: [String; 8], shown: &[usize]) -> String {
    let mut line = String::new();
    for (index, (cell, column)) in cells.into_iter().zip(&COLUMNS).enumerate() {
        let width = column.width;
        if shown.contains(&index) {
            let cell = if index == USER { format!(" {cell:<0$}", width - 1) } else { format!("{cell:>width$}") };
            line.push_str(&cell);
        }
    }
    line
}

/// Returns the order that a click on a column of the headings means.
pub(super) fn column(column: u16, width: u16, is_apu: bool) -> Option<Sort> {
    let mut end = 0;
    for shown in shown_columns(width, is_apu) {
        let found = COLUMNS.get(shown)?;
        end += found.width;
        if usize::from(column) < end {
            return found.sort;
        }
    }
    Some(Sort::Name)
}

pub(super) fn processes(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(gpu) = state.gpu() else { return };
    let is_wide = area.width >= 120;
    let shown = shown_columns(area.width, gpu.apu == Some(true));
    state.width.set(area.width);
    let mut heading = cells(COLUMNS.map(|column| column.heading.to_owned()), &shown) + "  NAME";
    if is_wide {
        heading =
            heading.replace("  NAME", "    REQUESTED  GROWTH/min     AGE  NAME             ENGINES            CGROUP");
    }
    let mut lines = vec![Line::styled(heading, Style::new().add_modifier(Modifier::BOLD))];
    let mut places = Vec::new();
    let rows = state.processes();
    let chosen = state.row.min(rows.len().saturating_sub(1));
    let room = usize::from(area.height.saturating_sub(4)).max(1);
    let first = (chosen + 1).saturating_sub(room);
    for (place, (depth, process)) in rows.iter().enumerate().skip(first).take(room) {
        let style = if place == chosen { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        let mark = if place == chosen { '>' } else { ' ' };
        places.push((area.y.saturating_add(u16::try_from(lines.len()).unwrap_or(u16::MAX)), place));
        let line = row(gpu, process, *depth, &shown, is_wide, state);
        // The first cell is empty before any process ID.
        lines.push(Line::styled(format!("{mark}{}", line.get(1..).unwrap_or_default()), style));
        if state.options.clients {
            lines.extend(process.per_client.iter().map(|client| client_line(client, &shown, state)));
        }
    }
    lines.extend(rest(gpu, &shown, state));
    places.retain(|(line, _)| *line < area.bottom());
    *state.places.borrow_mut() = places;
    frame.render_widget(Paragraph::new(lines), area);
}

/// Returns the lines that make the columns of own memory add up: memory that clients share, and memory that no process holds.
fn rest(gpu: &Gpu, shown: &[usize], state: &State) -> Vec<Line<'static>> {
    let Some(rest) = gpu.unattributed.filter(|_| !state.options.is_partial()) else { return Vec::new() };
    let size = |bytes| state.style.units.known(bytes);
    let line = |(name, vram, gtt): (&str, Option<u64>, Option<u64>)| {
        let text = ["", "", &size(vram), "", &size(gtt), "", "", ""].map(str::to_owned);
        Line::styled(format!("{}  ({name})", cells(text, shown)), coloured(state, Color::DarkGray))
    };
    let rows = [("shared", rest.shared.vram, rest.shared.gtt), ("no process", rest.vram, rest.gtt)];
    let is_some = |row: &(&str, Option<u64>, Option<u64>)| row.1 != Some(0) || row.2 != Some(0);
    rows.into_iter().filter(is_some).map(line).collect()
}

fn row(gpu: &Gpu, process: &Process, depth: usize, shown: &[usize], is_wide: bool, state: &State) -> String {
    let size = |bytes| state.style.units.known(bytes);
    let own = process.own();
    let busy = state.history.busy(&gpu.pci, process.pid).map_or_else(|| "-".to_owned(), |share| share.to_string());
    let name = format!("{}{}", "  ".repeat(depth.min(8)), known(process.name.as_deref()));
    let columns = [
        process.pid.to_string(),
        cut(known(process.user.as_deref()), 8),
        size(own.vram),
        size(process.visible_vram),
        size(own.gtt),
        size(ps::shared(&process.shared)),
        size(process.evicted.vram),
        busy,
    ];
    let start = cells(columns, shown) + "  ";
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
    let engines = cut(&engines(gpu, process, state), 18);
    format!("{start}{requested:>11} {growth:>11} {age:>7}  {:<16} {engines:<18} {cgroup}", cut(&name, 16))
}

/// The engines that work for a process, the busiest first: `gfx 82% dma 3%`.
fn engines(gpu: &Gpu, process: &Process, state: &State) -> String {
    let loads = state.history.engines(&gpu.pci, process.pid).unwrap_or_default();
    let mut loads: Vec<(String, u64)> = loads.into_iter().filter(|(_, load)| *load > 0).collect();
    loads.sort_by_key(|(name, load)| (std::cmp::Reverse(*load), name.clone()));
    loads.iter().map(|(name, load)| format!("{name} {load}%")).collect::<Vec<_>>().join(" ")
}

fn client_line(client: &crate::snapshot::model::Client, shown: &[usize], state: &State) -> Line<'static> {
    let size = |bytes| state.style.units.known(bytes);
    let own = client.own();
    let columns = [
        String::new(),
        String::new(),
        size(own.vram),
        size(client.visible_vram),
        size(own.gtt),
        size(ps::shared(&client.shared)),
        size(client.evicted.vram),
        String::new(),
    ];
    let text = format!("{}  client {}", cells(columns, shown), client.client);
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
        ("system", process.cpu, gpu.domains.gtt.total),
    ] {
        let bar = state.style.bar(bytes, of, 24);
        lines.push(Line::from(format!("  {name:<10} {bar} {} of {}", size(bytes), size(of))));
    }
    let (shared, requested) = (&process.shared, &process.requested);
    let own = process.own();
    lines.push(Line::from(format!("  own        VRAM {}, GTT {}", size(own.vram), size(own.gtt))));
    lines.push(Line::from(format!("  shared     VRAM {}, GTT {}", size(shared.vram), size(shared.gtt))));
    lines.push(Line::from(format!("  requested  VRAM {}, GTT {}", size(requested.vram), size(requested.gtt))));
    if gpu.apu != Some(true) {
        let share = ps::displaced_share(process);
        lines.push(Line::from(format!("  displaced  {} ({share})", size(process.evicted.vram))));
    }
    let loads = state.history.engines(&gpu.pci, process.pid).unwrap_or_default();
    for (engine, time) in &process.engines_ns {
        let load = loads.get(engine).map_or_else(|| "  -".to_owned(), |load| format!("{load:>3}"));
        lines
            .push(Line::from(format!("  engine {engine:<8} {load}% now, {} ms since it was opened", time / 1_000_000)));
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

pub(super) fn why(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(gpu) = state.gpu() else { return };
    let points = state.past.document(true).points;
    let findings: Vec<_> = [None, state.process()]
        .into_iter()
        .enumerate()
        .filter(|(index, process)| *index == 0 || process.is_some())
        .map(|(_, process)| {
            let mut since = Since::default();
            for point in &points {
                since.see(point, &gpu.pci, process.map(|process| process.pid));
            }
            judge(Subject { gpu, process }, Some(&since), state.snapshot.monotonic_ns)
        })
        .collect();
    let wrapped = |_: &Snapshot, style: &text::Style, out: &mut Vec<u8>| {
        let style = text::Style { width: Some(usize::from(area.width)), ..*style };
        drop(text::why::write(&findings, true, &style, out));
    };
    printed(frame, area, state, wrapped);
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
