//! `ps`: the processes that hold memory.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    io::{self, Write},
};

use super::{Style, Table, cut, known};
use crate::snapshot::{
    model::{Gpu, Pair, Process, Snapshot},
    units::{Age, percent},
};

/// Sort keys of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Sort {
    /// VRAM and GTT together, most first.
    #[default]
    Memory,
    /// Process number, least first.
    Pid,
    /// VRAM, most first.
    Vram,
    /// GTT, most first.
    Gtt,
    /// Bytes that are displaced from VRAM, most first.
    #[cfg_attr(feature = "cli", value(alias = "evicted"))]
    Displaced,
    /// Name.
    Name,
}

impl Sort {
    /// Sorts processes by this key. Processes with equal keys are sorted by process ID.
    pub fn sort(self, processes: &mut [&Process]) {
        let known = |value: Option<u64>| Reverse(value.unwrap_or(0));
        match self {
            Self::Memory => processes.sort_by_key(|process| (Reverse(process.memory()), process.pid)),
            Self::Pid => processes.sort_by_key(|process| process.pid),
            Self::Vram => processes.sort_by_key(|process| (known(process.vram), process.pid)),
            Self::Gtt => processes.sort_by_key(|process| (known(process.gtt), process.pid)),
            Self::Displaced => processes.sort_by_key(|process| (known(process.evicted.vram), process.pid)),
            Self::Name => processes.sort_by(|a, b| (&a.name, a.pid).cmp(&(&b.name, b.pid))),
        }
    }
}

/// The selection and order of processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The sort key.
    pub sort: Sort,
    /// `true` to reverse the order.
    pub reverse: bool,
    /// `true` to list children below their parents.
    pub tree: bool,
    /// `true` to write a row for each open file.
    pub clients: bool,
    /// Selects only these process IDs; empty for all processes.
    pub pids: Vec<u32>,
    /// Selects only processes whose name contains this text.
    pub name: Option<String>,
    /// Selects only processes of this user.
    pub user: Option<String>,
    /// Selects only processes whose cgroup, container or pod contains this text.
    pub cgroup: Option<String>,
    /// The maximum number of processes with a row of their own; the others share one row. `None` for no limit.
    pub limit: Option<usize>,
}

impl Options {
    /// Returns `true` if a process is selected.
    pub fn wants(&self, process: &Process) -> bool {
        let holds = |wanted: &Option<String>, found: &Option<String>| match wanted {
            Some(text) => found.as_ref().is_some_and(|found| found.contains(text.as_str())),
            None => true,
        };
        (self.pids.is_empty() || self.pids.contains(&process.pid))
            && holds(&self.name, &process.name)
            && (holds(&self.cgroup, &process.cgroup) || holds(&self.cgroup, &process.container))
            && (self.user.is_none() || self.user == process.user)
    }

    /// Returns `true` if the options may omit processes.
    pub fn is_partial(&self) -> bool {
        !self.pids.is_empty() || self.name.is_some() || self.user.is_some() || self.cgroup.is_some()
    }

    /// Returns the selected processes in order, each with its depth in the process tree.
    pub fn choose<'p>(&self, processes: &'p [Process]) -> Vec<(usize, &'p Process)> {
        let mut chosen: Vec<&Process> = processes.iter().filter(|process| self.wants(process)).collect();
        self.sort.sort(&mut chosen);
        if self.reverse {
            chosen.reverse();
        }
        if self.tree { tree(&chosen) } else { chosen.into_iter().map(|process| (0, process)).collect() }
    }
}

/// Parents in the given order, each followed by its children. A process that is its own ancestor is shown once.
fn tree<'p>(processes: &[&'p Process]) -> Vec<(usize, &'p Process)> {
    let shown: BTreeSet<u32> = processes.iter().map(|process| process.pid).collect();
    let is_root =
        |process: &Process| process.ppid.is_none_or(|parent| !shown.contains(&parent) || parent == process.pid);
    let mut rows = Vec::new();
    let mut seen = BTreeSet::new();
    let roots = processes.iter().filter(|process| is_root(process)).chain(processes);
    let mut stack: Vec<(usize, &Process)> = Vec::new();
    for root in roots {
        stack.push((0, root));
        while let Some((depth, process)) = stack.pop() {
            if !seen.insert(process.pid) {
                continue;
            }
            rows.push((depth, process));
            let children = processes.iter().rev().filter(|child| child.ppid == Some(process.pid));
            stack.extend(children.map(|child| (depth + 1, *child)));
        }
    }
    rows
}

/// Writes the processes of every GPU.
///
/// # Errors
///
/// The errors of writing to `out`.
pub fn write(snapshot: &Snapshot, options: &Options, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for (index, gpu) in snapshot.gpus.iter().enumerate() {
        if snapshot.gpus.len() > 1 {
            if index > 0 {
                writeln!(out)?;
            }
            writeln!(out, "GPU {}  {}  {}", gpu.index, gpu.pci, known(gpu.name.as_deref()))?;
        }
        write_gpu(gpu, options, style, out)?;
        let unreadable = &gpu.unreadable;
        if let Some(reason) = &unreadable.reason {
            writeln!(out, "{} processes could not be read: {reason}", unreadable.processes)?;
        }
    }
    Ok(())
}

const HEADINGS: [&str; 11] =
    ["PID", "USER", "OWN VRAM", "VISIBLE", "OWN GTT", "SHARED", "REQUESTED", "DISPLACED", "CLIENTS", "AGE", "NAME"];

/// The column of displaced memory.
const DISPLACED: usize = 7;

/// Writes the processes of a GPU, and rows for the remaining memory, so that the columns add up.
///
/// # Errors
///
/// The errors of writing to `out`.
pub fn write_gpu(gpu: &Gpu, options: &Options, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(processes) = &gpu.processes else { return writeln!(out, "processes were not read") };
    let mut table = Table::new(if style.header { &HEADINGS } else { &[] }, &[0, 2, 3, 4, 5, 6, 7, 8, 9]);
    let chosen = options.choose(processes);
    let limit = options.limit.unwrap_or(usize::MAX);
    for (depth, process) in chosen.iter().take(limit) {
        table.row(row(process, *depth, style));
        if options.clients {
            client_rows(process, style, &mut table);
        }
    }
    if chosen.len() > limit {
        others(chosen.iter().skip(limit).map(|(_, process)| *process), style, &mut table);
    }
    if !options.is_partial() {
        rest(gpu, style, &mut table);
    }
    // Where the carve-out of an APU is full, the rest is as fast elsewhere.
    let is_apu = gpu.apu == Some(true);
    if is_apu {
        table.remove(DISPLACED);
    }
    if let Some(width) = style.width {
        let least = LEAST.iter().filter(|&&column| !is_apu || column != DISPLACED);
        let moved = |&column: &usize| if is_apu && column > DISPLACED { column - 1 } else { column };
        table.fit(width, &least.map(moved).collect::<Vec<_>>());
    }
    table.write(out, "")
}

/// The columns that a narrow terminal does not show, the first of them first: all but PID, OWN VRAM and NAME.
const LEAST: [usize; 8] = [8, 9, 6, 3, 5, 1, 7, 4];

fn row(process: &Process, depth: usize, style: &Style) -> Vec<String> {
    let size = |bytes| style.units.known(bytes);
    let own = process.own();
    let name = cut(known(process.name.as_deref()), 32);
    let inside = process.container.as_ref().map(|container| format!(" in {container}")).unwrap_or_default();
    vec![
        process.pid.to_string(),
        known(process.user.as_deref()).to_owned(),
        size(own.vram),
        size(process.visible_vram),
        size(own.gtt),
        size(shared(&process.shared)),
        size(process.requested.vram),
        size(process.evicted.vram),
        process.clients.len().to_string(),
        process.age_s.map_or_else(|| "-".to_owned(), |age| Age(age).to_string()),
        format!("{}{name}{inside}", "  ".repeat(depth)),
    ]
}

/// Returns the bytes in both domains that are shared with other clients.
pub fn shared(pair: &Pair) -> Option<u64> {
    match (pair.vram, pair.gtt) {
        (None, None) => None,
        (vram, gtt) => Some(vram.unwrap_or(0).saturating_add(gtt.unwrap_or(0))),
    }
}

/// Returns the displaced share of the memory that was requested in VRAM.
pub fn displaced_share(process: &Process) -> String {
    let share = process.evicted.vram.zip(process.requested.vram);
    let share = share.map(|(evicted, requested)| percent(evicted, requested).unwrap_or(0));
    share.map_or_else(|| "-".to_owned(), |share| format!("{share}%"))
}

fn client_rows(process: &Process, style: &Style, table: &mut Table) {
    let size = |bytes| style.units.known(bytes);
    for client in &process.per_client {
        let own = client.own();
        table.row(vec![
            String::new(),
            String::new(),
            size(own.vram),
            size(client.visible_vram),
            size(own.gtt),
            size(shared(&client.shared)),
            size(client.requested.vram),
            size(client.evicted.vram),
            String::new(),
            String::new(),
            format!("  client {}", client.client),
        ]);
    }
    for client in &process.charged_elsewhere {
        let mut cells = vec![String::new(); 10];
        cells.push(format!("  client {client}, charged to another process"));
        table.row(cells);
    }
}

fn others<'p>(processes: impl Iterator<Item = &'p Process>, style: &Style, table: &mut Table) {
    let (mut count, mut vram, mut gtt) = (0_usize, None, None);
    for process in processes {
        count += 1;
        crate::snapshot::model::add(&mut vram, process.own().vram);
        crate::snapshot::model::add(&mut gtt, process.own().gtt);
    }
    sum_row(vram, gtt, &format!("({count} more processes)"), style, table);
}

fn rest(gpu: &Gpu, style: &Style, table: &mut Table) {
    let Some(rest) = &gpu.unattributed else { return };
    if [rest.shared.vram, rest.shared.gtt].iter().flatten().any(|&bytes| bytes > 0) {
        sum_row(rest.shared.vram, rest.shared.gtt, "(shared between clients, lower bound)", style, table);
    }
    if [rest.vram, rest.gtt].iter().any(|bytes| *bytes != Some(0)) {
        let unreadable = if gpu.unreadable.processes > 0 { ", unreadable processes" } else { "" };
        sum_row(rest.vram, rest.gtt, &format!("(kernel, page tables{unreadable})"), style, table);
    }
    if [rest.overcounted.vram, rest.overcounted.gtt].iter().flatten().any(|&bytes| bytes > 0) {
        sum_row(
            rest.overcounted.vram,
            rest.overcounted.gtt,
            "(less: counted twice, or moved while reading)",
            style,
            table,
        );
    }
    sum_row(gpu.domains.vram.used, gpu.domains.gtt.used, "(sum: in use)", style, table);
}

fn sum_row(vram: Option<u64>, gtt: Option<u64>, name: &str, style: &Style, table: &mut Table) {
    let mut cells = vec![String::new(); HEADINGS.len()];
    for (column, text) in [(2, style.units.known(vram)), (4, style.units.known(gtt)), (10, name.to_owned())] {
        if let Some(cell) = cells.get_mut(column) {
            *cell = text;
        }
    }
    table.row(cells);
}
