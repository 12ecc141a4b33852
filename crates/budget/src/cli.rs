//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{
    snapshot::{metric::Condition, units::Units},
    text::ps,
};

/// Show how much memory an AMD GPU has, which processes hold it, what is displaced from VRAM and why, and how each figure is obtained.
///
/// Exit status: 0 fine, 1 failed, 64 usage, 69 no amdgpu GPU, 74 output not written, 77 nothing readable; check: 0 OK,
/// 1 WARNING, 2 CRITICAL, 3 UNKNOWN; wait: 124 timed out.
#[derive(Debug, Parser)]
#[command(name = "amdgpu-budget", version, propagate_version = true, infer_subcommands = false)]
pub struct Arguments {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// The command; show by default.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
#[expect(clippy::struct_excessive_bools, reason = "one switch per option of the command line")]
pub struct Global {
    /// Only this GPU: an index, a PCI address, a render node or a part of the name; can be given again.
    #[arg(long, global = true, value_name = "GPU")]
    pub gpu: Vec<String>,
    /// Read a simulated computer with these chips, or captured GPUs (FILE.json), under a scripted load.
    #[arg(long, global = true, value_name = "CHIP,...", conflicts_with_all = ["root", "from"])]
    pub sim: Option<String>,
    /// Second of the simulated script at which the first snapshot is taken.
    #[arg(long, global = true, value_name = "N", default_value_t = crate::machine::sim::SHOWN_STEP, value_parser = clap::value_parser!(u64).range(..=100_000))]
    pub sim_step: u64,
    /// Release of Linux that the simulated computer runs, such as 7.2.
    #[arg(long, global = true, value_name = "RELEASE", requires = "sim", default_value_t = crate::machine::sim::SHOWN_RELEASE)]
    pub sim_linux: amdgpu_sim::KernelRelease,
    /// Read a captured tree.
    #[arg(long, global = true, value_name = "DIR", conflicts_with = "from")]
    pub root: Option<PathBuf>,
    /// Read a recording, plain or gzip; - is standard input.
    #[arg(long, global = true, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Open GPUs that are asleep, which wakes them.
    #[arg(long, global = true)]
    pub wake: bool,
    /// Do not read processes.
    #[arg(long, global = true)]
    pub no_processes: bool,
    /// Print JSON: of show the whole snapshot (schema amdgpu-budget/1), of other views what they show.
    #[arg(long, global = true, conflicts_with_all = ["jsonl", "csv"])]
    pub json: bool,
    /// Print one JSON object per line.
    #[arg(long, global = true, conflicts_with = "csv")]
    pub jsonl: bool,
    /// Print CSV: time, gpu, kind, id, metric, value.
    #[arg(long, global = true)]
    pub csv: bool,
    /// Units of sizes; sizes are always rounded down.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "UNITS", ignore_case = true)]
    pub units: Units,
    /// Print no headings of columns.
    #[arg(long, global = true)]
    pub no_header: bool,
    /// When to use colours; NO_COLOR, CLICOLOR_FORCE and TERM=dumb are respected.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Colour,
    /// Print ASCII only.
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Print no diagnostics on standard error.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Print more diagnostics on standard error: every source that gave nothing, with the reason.
    #[arg(long, short, global = true)]
    pub verbose: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show domains, effective pool, the largest processes and warnings of each GPU
    Show,
    /// List the GPUs
    List(List),
    /// List the processes that hold memory
    Ps(Ps),
    /// Show Vulkan's heaps and memory types, with the budget of a new process
    Heaps(Heaps),
    /// Explain every figure: its arithmetic, its source, and what would change it
    Explain {
        /// Only figures whose name begins with this, such as effective or unattributed.
        figure: Option<String>,
    },
    /// Say why memory is not where it is wanted: what is full, who grew, what protects it, what would bring it back
    Why(Why),
    /// List the buffers of a process: size, preferred domain, addresses and flags, on kernels that tell (Linux 6.18)
    Buffers(Buffers),
    /// Show a live view
    #[cfg(feature = "tui")]
    Top(Top),
    /// Repeat a view.
    Watch(Watch),
    /// Write snapshots to a file, one JSON object per line, in real time
    Record(Record),
    /// Show a recording again, at the speed at which it was recorded
    Replay(Replay),
    /// Draw the memory in use over time
    Plot(Plot),
    /// Act as a monitoring plug-in: one line, perfdata, and an exit status of 0 to 3
    Check(Check),
    /// Wait until a condition holds.
    Wait(Wait),
    /// Serve a web page, its JSON and Prometheus metrics on the loopback interface, or write the metrics to a file
    Serve(Serve),
    /// Show which processes grew between two snapshots
    Diff {
        /// The earlier one; of a recording, its first snapshot.
        before: PathBuf,
        /// The later one, of a recording its last snapshot; without it, the last of the first file.
        after: Option<PathBuf>,
    },
    /// Show the GPU addresses of a dump: how much is leased, and how fragmented the rest is
    Va {
        /// A dump, as the library's MemoryManager::dump_json writes it; - is standard input.
        dump: PathBuf,
    },
    /// Write the heaps for another tool, and what a process has in them
    Export {
        /// The format.
        #[arg(long, value_enum, default_value_t)]
        format: ExportFormat,
        /// A dump, as the library's MemoryManager::dump_json writes it; - is standard input. With it no GPU is read.
        #[arg(long, value_name = "FILE")]
        dump: Option<PathBuf>,
    },
    /// Show the lines with which this machine would meet a wish, what they cost, and how to undo them; nothing is changed
    Advise(Advise),
    /// Show what can be read, what cannot, and how to fix it
    Doctor,
    /// Write what was read to a directory, so that --root shows the same elsewhere
    Capture {
        /// A directory that does not exist yet, or is empty.
        directory: PathBuf,
        /// Keep the names of processes, users and cgroups.
        #[arg(long)]
        names: bool,
    },
    /// Write completions for a shell
    Completions {
        /// The shell.
        shell: amdgpu_output::manual::Shell,
    },
    /// Write the man page
    Man,
}

/// Options of buffers.
#[derive(Args, Clone, Debug)]
pub struct Buffers {
    /// The process: one of the same user that may be traced
    #[arg(value_name = "PID")]
    pub pid: u32,
}

/// Options of why.
#[derive(Args, Clone, Debug)]
pub struct Why {
    /// A process ID, a process's name, or a GPU as for --gpu; without it all GPUs
    #[arg(value_name = "NAME|PID|GPU")]
    pub subject: Option<String>,
    /// Answer for the GPUs of this server (amdgpu-budget serve), and compare with what it remembers of the last hour: 127.0.0.1:9417,
    /// or unix:PATH. With --sim or --root the present is that computer's. The past of --from is its recording.
    #[arg(long, value_name = "ADDRESS:PORT|unix:PATH", conflicts_with = "from")]
    pub server: Option<crate::http::Address>,
}

/// Options of advise: one wish.
#[derive(Args, Clone, Debug)]
pub struct Advise {
    /// Programs, such as model servers, should be able to have so much on the GPU: 96GiB.
    #[arg(long, value_name = "SIZE", value_parser = wish, required_unless_present = "keep", conflicts_with = "keep")]
    pub models: Option<u64>,
    /// So much VRAM of the group of --of should not be evicted for others.
    #[arg(long, value_name = "SIZE", value_parser = wish, requires = "of")]
    pub keep: Option<u64>,
    /// The group of --keep: a path of cgroup v2, a systemd unit, or a process ID.
    #[arg(long, value_name = "GROUP", requires = "keep")]
    pub of: Option<String>,
}

/// Options of ps.
#[derive(Args, Clone, Debug, Default)]
pub struct Ps {
    /// The order.
    #[arg(long, value_enum, default_value_t)]
    pub sort: ps::Sort,
    /// Reverse the order.
    #[arg(long, short)]
    pub reverse: bool,
    /// Children below their parents.
    #[arg(long)]
    pub tree: bool,
    /// A row for each open file.
    #[arg(long)]
    pub clients: bool,
    /// Only this process; can be given again.
    #[arg(long, value_name = "PID")]
    pub pid: Vec<u32>,
    /// Only processes whose name holds this.
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Only processes of this user.
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
    /// Only processes whose cgroup, container or pod holds this.
    #[arg(long, value_name = "TEXT")]
    pub cgroup: Option<String>,
}

/// Options of heaps.
#[derive(Args, Clone, Debug, Default)]
pub struct Heaps {
    /// In the layout of vulkaninfo.
    #[arg(long)]
    pub as_vulkan: bool,
}

/// Options of top.
#[cfg(feature = "tui")]
#[derive(Args, Clone, Debug)]
pub struct Top {
    /// Seconds between two snapshots.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub interval: f64,
    /// Print one screen of this size as text, and exit: 80x24.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = screen_size)]
    pub once: Option<(u16, u16)>,
    /// Keys pressed before that one screen, such as 2M for processes by memory.
    #[arg(long, value_name = "KEYS", requires = "once")]
    pub keys: Option<String>,
    /// Snapshots to take before that one screen.
    #[arg(long, alias = "looks", value_name = "N", requires = "once", default_value_t = 1)]
    pub samples: u32,
    /// The screen as an SVG picture instead of text.
    #[arg(long, requires = "once")]
    pub svg: bool,
}

/// Views that can be repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// One screen for each GPU.
    #[default]
    Show,
    /// The list of GPUs
    List,
    /// The processes that hold memory
    Ps,
    /// Vulkan's heaps.
    Heaps,
    /// The arithmetic.
    Explain,
}

/// Options of list.
#[derive(Args, Clone, Debug, Default)]
pub struct List {
    /// Also print the facts of each GPU with the names and the text of Mesa's AMD_DEBUG=info, to lay the two beside each other
    #[arg(long)]
    pub facts: bool,
}

/// Options of watch.
#[derive(Args, Clone, Debug)]
pub struct Watch {
    /// The view.
    #[arg(value_enum, default_value_t)]
    pub view: View,
    /// Number of snapshots.
    #[arg(long, short = 'n', value_name = "N")]
    pub count: Option<u64>,
    /// Seconds between two snapshots.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub interval: f64,
    /// Stop once this holds, such as 'free>4GiB && vram.used<80%'.
    #[arg(long, value_name = "CONDITION")]
    pub until: Option<Condition>,
    /// A condition whose crossings run a command.
    #[arg(long, value_name = "CONDITION", requires = "on_cross")]
    pub when: Option<Condition>,
    /// Run once each time the condition of --when begins to hold; AMDGPU_BUDGET_GPU says where.
    #[arg(long, value_name = "COMMAND", requires = "when")]
    pub on_cross: Option<String>,
}

/// Options of record.
#[derive(Args, Clone, Debug)]
pub struct Record {
    /// Output file, compressed if its name ends in .gz; - is standard output
    #[arg(value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Begin a new file before this size is exceeded, such as 100MiB; the old one becomes FILE.1.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_size: Option<u64>,
    /// Number of old files to keep with --max-size.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=1000))]
    pub keep: u32,
    /// Speed of simulated time; 0 does not wait at all.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = speed)]
    pub speed: f64,
    /// Number of snapshots.
    #[arg(long, short = 'n', value_name = "N")]
    pub count: Option<u64>,
    /// Seconds between two snapshots.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub interval: f64,
}

/// Options of replay.
#[derive(Args, Clone, Debug)]
pub struct Replay {
    /// The recording.
    pub file: PathBuf,
    /// The view.
    #[arg(value_enum, default_value_t)]
    pub view: View,
    /// Speed factor; 0 does not wait at all
    #[arg(long, default_value = "1", value_parser = speed)]
    pub speed: f64,
}

/// Layers of a plot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// The kernel's domains: VRAM and GTT of a card, the pool of an APU.
    #[default]
    Domain,
    /// The largest processes, and the rest.
    Process,
}

/// Output formats of a plot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PlotFormat {
    /// A vector picture.
    #[default]
    Svg,
    /// A bitmap.
    #[cfg(feature = "png")]
    Png,
    /// Dots on a terminal.
    Braille,
}

impl PlotFormat {
    /// Returns `true` for formats that are not text.
    pub const fn is_binary(self) -> bool {
        match self {
            #[cfg(feature = "png")]
            Self::Png => true,
            Self::Svg | Self::Braille => false,
        }
    }
}

/// Options of plot.
#[derive(Args, Clone, Debug)]
pub struct Plot {
    /// Output file; - is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// The format.
    #[arg(long, value_enum, default_value_t)]
    pub format: PlotFormat,
    /// The layers.
    #[arg(long, value_enum, default_value_t)]
    pub by: By,
    /// Snapshots to take where the source is no recording.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub count: u64,
    /// Seconds between two snapshots.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub interval: f64,
}

/// Options of check. A threshold is a size or a percentage; two with a comma between are for WARNING and for CRITICAL, one
/// alone is for CRITICAL.
#[derive(Args, Clone, Debug, Default)]
pub struct Check {
    /// Not less than this available of the effective pool.
    #[arg(long, value_name = "[WARN,]CRIT")]
    pub free: Option<String>,
    /// Not more than this used of the effective pool.
    #[arg(long, value_name = "[WARN,]CRIT")]
    pub budget: Option<String>,
    /// Not more than this in one process, shared memory included.
    #[arg(long, value_name = "[WARN,]CRIT")]
    pub process_max: Option<String>,
    /// Not more evictions a second than this, measured over the interval.
    #[arg(long, value_name = "[WARN,]CRIT")]
    pub evictions_per_s: Option<String>,
    /// Seconds over which rates are measured.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub interval: f64,
    /// A sleeping GPU is OK; otherwise it is UNKNOWN.
    #[arg(long)]
    pub asleep_ok: bool,
}

/// Options of wait.
#[derive(Args, Clone, Debug)]
pub struct Wait {
    /// Condition to wait for, such as 'free>4GiB'; on any of the GPUs
    pub condition: Condition,
    /// Seconds to wait at most; without it there is no limit.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Seconds between two snapshots.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub interval: f64,
}

/// Options of serve.
#[derive(Args, Clone, Debug)]
pub struct Serve {
    /// The port on the loopback interface; 0 picks one, and says which. Without it and --listen it is 9417, unless systemd
    /// hands sockets over.
    #[arg(long, conflicts_with = "listen")]
    pub port: Option<u16>,
    /// Listen here instead: an address such as 0.0.0.0:9417, which anyone can read who can reach it, or unix:PATH; can be
    /// given again.
    #[arg(long, value_name = "ADDRESS:PORT|unix:PATH")]
    pub listen: Vec<crate::http::Address>,
    /// Answer requests that name this host as well, as a reverse proxy passes them on; can be given again. Others get 421 unless
    /// they name localhost or an IP address of a socket.
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// Write the text to this file once, as node_exporter's textfile collector reads it, and exit.
    #[arg(long, value_name = "FILE")]
    pub textfile: Option<PathBuf>,
    /// A series for each process.
    #[arg(long)]
    pub per_process: bool,
    /// The largest processes only.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub most_processes: usize,
    /// Answer this many requests and exit.
    #[arg(long, value_name = "N")]
    pub requests: Option<u64>,
}

/// Formats of export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// JSON as the Vulkan Memory Allocator dumps it: heaps and types, and of a dump the allocations too.
    #[default]
    Vma,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("'{text}' is not a number of seconds"))?;
    if (0.0..=86_400.0 * 365.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err(format!("'{text}' seconds cannot be waited"))
    }
}

fn size(text: &str) -> Result<u64, String> {
    crate::snapshot::units::parse_size(text).map_err(|error| error.to_string())
}

/// Parses the size of a wish. A number alone is in bytes, which no one means who writes a small one.
fn wish(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 1 << 20;
    let bytes = size(text)?;
    if bytes >= LEAST {
        Ok(bytes)
    } else {
        Err(format!("{bytes} bytes are too few for a wish: is a unit missing, as in 96GiB?"))
    }
}

fn speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| format!("'{text}' is no speed"))?;
    if speed.is_finite() && speed >= 0.0 { Ok(speed) } else { Err(format!("'{text}' is no speed")) }
}

#[cfg(feature = "tui")]
fn screen_size(text: &str) -> Result<(u16, u16), String> {
    let size = text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let sensible = |&(width, height): &(u16, u16)| (1..=1000).contains(&width) && (1..=1000).contains(&height);
    size.filter(sensible).ok_or_else(|| format!("'{text}' is no size such as 80x24"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
