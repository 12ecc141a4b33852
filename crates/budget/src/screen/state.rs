//! The state of the screen.

use std::cell::{Cell, RefCell};

use super::{asked::Asked, history::History};
use crate::{
    past::Past,
    snapshot::model::{Gpu, Process, Snapshot},
    text::{Style, ps},
};

/// The screens, in the order of their keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Screen {
    /// The bars, rates and processes of a GPU.
    #[default]
    Overview,
    /// All columns of all processes.
    Processes,
    /// The details of one process.
    Process,
    /// The Vulkan heaps and memory types.
    Heaps,
    /// The history of the GPU, as plots.
    History,
    /// The explanation of each figure.
    Explain,
    /// The reason why memory of the GPU and of the selected process is not where it is wanted.
    Why,
}

impl Screen {
    /// All screens, in the order of their keys.
    pub const ALL: [Self; 7] =
        [Self::Overview, Self::Processes, Self::Process, Self::Heaps, Self::History, Self::Explain, Self::Why];

    /// Returns the name of the screen.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Processes => "Processes",
            Self::Process => "Process",
            Self::Heaps => "Heaps",
            Self::History => "History",
            Self::Explain => "Explain",
            Self::Why => "Why",
        }
    }
}

/// The state of `top`: everything that the screen shows.
#[derive(Clone, Debug)]
pub struct State {
    /// The latest snapshot.
    pub snapshot: Snapshot,
    /// Figures of earlier snapshots.
    pub history: History,
    /// The style of text.
    pub style: Style,
    /// The screen that is shown.
    pub screen: Screen,
    /// Index of the GPU shown in [`Snapshot::gpus`].
    pub gpu: usize,
    /// The selection and order of processes.
    pub options: ps::Options,
    /// The index of the selected process in the list.
    pub row: usize,
    /// The index of the first visible line of content that is longer than the screen.
    pub scroll: u16,
    /// The duration of the history that is shown, in seconds.
    pub window: f64,
    /// The time between two snapshots in seconds.
    pub interval: f64,
    /// `true` if no new snapshots are shown.
    pub paused: bool,
    /// `true` if the help with the keys is shown.
    pub help: bool,
    /// `true` while the user types a filter.
    pub typing: bool,
    /// The message in the last line, if there is one.
    pub message: Option<String>,
    /// The last hour, which growth is measured against.
    pub past: Past,
    /// The process that a question in the last line is about.
    pub asked: Option<Asked>,
    /// The lines of the screen that show processes, with the index of each; for the mouse.
    pub places: RefCell<Vec<(u16, usize)>>,
    /// The columns of the list of processes; for the mouse.
    pub width: Cell<u16>,
}

impl State {
    /// Creates a state without a snapshot.
    pub fn new(style: Style, interval: f64) -> Self {
        Self {
            snapshot: Snapshot::default(),
            history: History::default(),
            style,
            screen: Screen::default(),
            gpu: 0,
            options: ps::Options::default(),
            row: 0,
            scroll: 0,
            window: 120.0,
            interval,
            paused: false,
            help: false,
            typing: false,
            message: None,
            past: Past::default(),
            asked: None,
            places: RefCell::default(),
            width: Cell::default(),
        }
    }

    /// Shows a new snapshot, and adds its figures to the history.
    pub fn see(&mut self, snapshot: Snapshot) {
        let is_first = self.snapshot.gpus.is_empty();
        self.past.see(&snapshot);
        self.history.remember((!is_first).then_some(&self.snapshot), &snapshot);
        self.snapshot = snapshot;
        self.gpu = self.gpu.min(self.snapshot.gpus.len().saturating_sub(1));
    }

    /// Returns the GPU that is shown; `None` before the first snapshot.
    pub fn gpu(&self) -> Option<&Gpu> {
        self.snapshot.gpus.get(self.gpu)
    }

    /// Returns the processes that are shown, each with its depth in the process tree.
    pub fn processes(&self) -> Vec<(usize, &Process)> {
        self.gpu().and_then(|gpu| gpu.processes.as_deref()).map(|list| self.options.choose(list)).unwrap_or_default()
    }

    /// Returns the selected process; `None` if no process is shown.
    pub fn process(&self) -> Option<&Process> {
        let processes = self.processes();
        processes.get(self.row.min(processes.len().saturating_sub(1))).map(|(_, process)| *process)
    }

    /// Returns `ok`, `nearly full` or `thrashing`. This depends on displaced memory and on the rate of moves, not only on the share of
    /// memory in use.
    ///
    /// On an APU, GTT is as fast as the carve-out, so memory is tight only if the whole pool runs out.
    pub fn pressure(&self) -> &'static str {
        let Some(gpu) = self.gpu() else { return "unknown" };
        let rates = self.history.points(&gpu.pci).next_back().map(|point| point.rates).unwrap_or_default();
        let is_short = gpu.apu != Some(true) && gpu.domains.vram.evicted.is_some_and(|evicted| evicted > 0);
        let is_full = gpu.effective.available.zip(gpu.effective.total).is_some_and(|(free, total)| free < total / 20);
        match (rates.evictions, is_short || is_full) {
            (Some(1..), true) => "thrashing",
            (_, true) => "nearly full",
            (None, false) if gpu.effective.available.is_none() => "unknown",
            _ => "ok",
        }
    }
}
