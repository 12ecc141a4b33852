//! Everything that is on the screen.

use super::history::History;
use crate::{
    snapshot::model::{Gpu, Process, Snapshot},
    text::{Style, ps},
};

/// The screens, in the order of their keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Screen {
    /// Bars, rates and processes of a GPU.
    #[default]
    Overview,
    /// All columns of all processes.
    Processes,
    /// One process.
    Process,
    /// Vulkan's view.
    Heaps,
    /// The past.
    History,
    /// The arithmetic.
    Explain,
}

impl Screen {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Overview, Self::Processes, Self::Process, Self::Heaps, Self::History, Self::Explain];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Processes => "Processes",
            Self::Process => "Process",
            Self::Heaps => "Heaps",
            Self::History => "History",
            Self::Explain => "Explain",
        }
    }
}

/// The state.
#[derive(Clone, Debug)]
pub struct State {
    /// The last snapshot.
    pub snapshot: Snapshot,
    /// Earlier snapshots.
    pub history: History,
    /// Style of text.
    pub style: Style,
    /// The screen shown.
    pub screen: Screen,
    /// Index of the GPU shown in [`Snapshot::gpus`].
    pub gpu: usize,
    /// Selection and order of processes.
    pub options: ps::Options,
    /// The place of the chosen process.
    pub row: usize,
    /// The first line of what is longer than the screen.
    pub scroll: u16,
    /// The past that is shown, seconds.
    pub window: f64,
    /// Seconds between two looks.
    pub interval: f64,
    /// No view is shown.
    pub paused: bool,
    /// The keys are shown.
    pub help: bool,
    /// A filter is being typed.
    pub typing: bool,
    /// Message in the last line.
    pub message: Option<String>,
}

impl State {
    /// Creates a state in which nothing was seen yet.
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
        }
    }

    /// Takes a look in.
    pub fn see(&mut self, snapshot: Snapshot) {
        let is_first = self.snapshot.gpus.is_empty();
        self.history.remember((!is_first).then_some(&self.snapshot), &snapshot);
        self.snapshot = snapshot;
        self.gpu = self.gpu.min(self.snapshot.gpus.len().saturating_sub(1));
    }

    /// Returns the GPU that is shown.
    pub fn gpu(&self) -> Option<&Gpu> {
        self.snapshot.gpus.get(self.gpu)
    }

    /// Returns the processes that are shown, with their depth.
    pub fn processes(&self) -> Vec<(usize, &Process)> {
        self.gpu().and_then(|gpu| gpu.processes.as_deref()).map(|list| self.options.choose(list)).unwrap_or_default()
    }

    /// Returns the chosen process.
    pub fn process(&self) -> Option<&Process> {
        let processes = self.processes();
        processes.get(self.row.min(processes.len().saturating_sub(1))).map(|(_, process)| *process)
    }

    /// Returns `ok`, `tight` or `thrashing`, from what is wanted and not there and from how much is moved, not from percent
    /// alone.
    ///
    /// On an APU, GTT is as fast as the carve-out, so only a pool that runs out is tight.
    pub fn pressure(&self) -> &'static str {
        let Some(gpu) = self.gpu() else { return "unknown" };
        let rates = self.history.points(&gpu.pci).next_back().map(|point| point.rates).unwrap_or_default();
        let is_short = gpu.apu != Some(true) && gpu.domains.vram.evicted.is_some_and(|evicted| evicted > 0);
        let is_full = gpu.effective.available.zip(gpu.effective.total).is_some_and(|(free, total)| free < total / 20);
        match (rates.evictions, is_short || is_full) {
            (Some(1..), true) => "thrashing",
            (_, true) => "tight",
            (None, false) if gpu.effective.available.is_none() => "unknown",
            _ => "ok",
        }
    }
}
