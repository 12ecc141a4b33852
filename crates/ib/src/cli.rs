//! The command line.

use std::path::{Path, PathBuf};

use amdgpu_output::manual::Shell;
use clap::{Args, Parser, Subcommand, ValueEnum};
use regex::Regex;

use crate::{input::Engine, listing::When};

/// Decodes amdgpu command buffers.
#[derive(Debug, Parser)]
#[command(name = "amdgpu-ib", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) task: Task,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Print every packet of an IB, and of called IBs
    ///
    /// The kind of the file is recognised by its content: a recording, a devcoredump of the kernel, a dump of Mesa's drivers,
    /// hexadecimal text, or raw dwords, such as the IBs that the simulator keeps, whose names say which ring read them.
    Dump(DumpArguments),
    /// Compare two IBs, or two files with several, packet by packet
    ///
    /// Packets that only A has begin with -, those that only B has with +. A packet that both have with other fields is shown once,
    /// with - and + before the fields that differ.
    Diff(DiffArguments),
    /// Print the instructions of a shader
    Disassemble {
        /// Raw dwords, hexadecimal text, or a shader that the simulator kept; - is standard input
        file: PathBuf,
        /// The chip or generation, such as navi21 or gfx10_3 [default: what the file's name says]
        #[arg(long)]
        chip: Option<String>,
        /// Lanes of a wave [default: from the file's name, else 64]
        #[arg(long, value_name = "32|64")]
        wave: Option<Lanes>,
        /// JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Say why a GPU hung: ring, process, likely cause, state and next step
    ///
    /// Reads kernel logs (dmesg, journalctl as text, JSON or export, syslog), devcoredumps, events of wedged devices (udevadm
    /// monitor -p), RADV's radv_dumps_* folders and messages, reports of amdgpu-smoke and folders of the simulator's hang reports,
    /// in any mixture and order. The exit status is 0 if no trouble was found, 1 if there was an incident, and 2 if an input cannot
    /// be read.
    Why(WhyArguments),
    /// Validate every packet of every IB that the simulator saved
    Check {
        /// Directories that AMDGPU_SIM_IBS named
        #[arg(required = true)]
        directories: Vec<PathBuf>,
        /// Fail as well where fewer than this percentage of the register writes have a name, on this generation or an earlier one
        #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=100))]
        named: u8,
        /// The chip that they are for, whose registers may not be those of its generation
        #[arg(long)]
        chip: Option<String>,
    },
    /// Print the manual page
    Man,
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Lanes {
    #[value(name = "32")]
    Wave32,
    #[value(name = "64")]
    Wave64,
}

/// Arguments of `dump`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(crate) struct DumpArguments {
    /// The file; - is standard input
    #[arg(required_unless_present = "recording", conflicts_with = "recording")]
    file: Option<PathBuf>,
    /// Treat FILE as a recording
    #[arg(long, value_name = "FILE")]
    pub(crate) recording: Option<PathBuf>,
    /// Print only the submission with this number, from 0, of a recording
    #[arg(long, value_name = "NUMBER", conflicts_with = "last")]
    pub(crate) submission: Option<u64>,
    /// Print only the last submission of a recording
    #[arg(long)]
    pub(crate) last: bool,
    /// Print the dwords of every packet, too
    #[arg(long, conflicts_with = "json")]
    pub(crate) raw: bool,
    /// The chip or generation, such as navi21 or gfx10_3 [default: what the file or its name says]
    #[arg(long)]
    pub(crate) chip: Option<String>,
    /// The kind of engine that reads it [default: what the file or its name says, else gfx]
    #[arg(long)]
    pub(crate) ip: Option<Engine>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Print every register that was set before a draw or dispatch below it; not for recordings
    #[arg(long, conflicts_with = "recording")]
    pub(crate) state: bool,
    /// Print only packets of which a line matches this regular expression; (?i) before it ignores case
    #[arg(long, value_name = "REGEX", conflicts_with = "json")]
    pub(crate) grep: Option<Regex>,
    /// Packets to print before and after each that matches
    #[arg(long, short = 'C', value_name = "NUMBER", default_value_t = 0, requires = "grep")]
    pub(crate) context: usize,
    /// Print repeated packets one by one; --raw does so too
    #[arg(long)]
    pub(crate) no_fold: bool,
    /// When to use colours; auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", conflicts_with = "json")]
    pub(crate) color: When,
}

impl DumpArguments {
    /// Returns the file to be read.
    pub(crate) fn file(&self) -> &Path {
        // The command line's rules leave exactly one of both.
        self.recording.as_deref().or(self.file.as_deref()).unwrap_or(Path::new("-"))
    }
}

/// Arguments of `why`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(crate) struct WhyArguments {
    /// Files and folders; - is standard input [default with --follow: /dev/kmsg]
    #[arg(required_unless_present_any = ["schema", "follow"], value_name = "FILE|FOLDER")]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the schema of the JSON
    #[arg(long)]
    pub(crate) schema: bool,
    /// Show all incidents in full
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Wait for incidents and explain each: from the kernel's log and events, or from one FILE that grows, such as a pipe
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// End after this many incidents
    #[arg(long, value_name = "NUMBER", requires = "follow")]
    pub(crate) incidents: Option<u64>,
    /// Let the exit status be the class of the first incident's cause (10 and up, see the manual page) instead of 1
    #[arg(long)]
    pub(crate) exit_class: bool,
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// The first file; - is standard input
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,
    /// The second file
    #[arg(value_name = "B")]
    pub(crate) second: PathBuf,
    /// Take addresses as equal, of IBs and in fields and registers that hold one; addresses in user data are compared
    #[arg(long)]
    pub(crate) ignore_addresses: bool,
    /// Packets to print before and after each that differs
    #[arg(long, short = 'C', value_name = "NUMBER", default_value_t = 1)]
    pub(crate) context: usize,
    /// The chip or generation of both, such as navi21 or gfx10_3 [default: what the files or their names say]
    #[arg(long)]
    pub(crate) chip: Option<String>,
    /// The kind of engine that reads both [default: what the files or their names say, else gfx]
    #[arg(long)]
    pub(crate) ip: Option<Engine>,
    /// When to use colours; auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: When,
}
