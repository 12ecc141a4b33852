//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Hardware smoke test for AMD GPUs: on a Radeon if there is one, else on the embedded simulator.
///
/// Exit status: 0 passed, 77 no device or everything skipped, 79 bad usage, 98 failed, 112 aborted.
#[derive(Debug, Parser)]
#[command(name = "amdgpu-smoke", version, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// Test this GPU: a node (/dev/dri/renderD128), a PCI address (0000:03:00.0) or an index from 0.
    #[arg(long, value_name = "GPU", conflicts_with = "sim")]
    pub(crate) gpu: Option<String>,

    /// Test a simulated GPU with this chip's captured facts instead of a real one.
    #[arg(long, value_name = "NAME")]
    pub(crate) sim: Option<String>,

    /// How much to check.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) level: Level,

    /// Only checks whose id contains this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,

    /// Print the report as JSON (schema amdgpu-smoke/1) instead of text.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write all that this program and the kernel say to each other to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Run what was recorded in this file again, with its level and filter, and with nothing but its answers.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["gpu", "sim", "level", "filter", "record"])]
    pub(crate) replay: Option<PathBuf>,

    /// Print what is recorded in this file, a line for each call, and exit.
    #[arg(long, value_name = "FILE", exclusive = true)]
    pub(crate) dump: Option<PathBuf>,

    /// List the simulator's chips and exit.
    #[arg(long, conflicts_with_all = ["gpu", "sim", "list_checks"])]
    pub(crate) list_profiles: bool,

    /// List the checks of the chosen level with what each proves, and exit.
    #[arg(long)]
    pub(crate) list_checks: bool,
}

/// How much to check; each level includes the ones before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Level {
    /// Read only: open, versions, facts, heaps.
    Inventory,
    /// Every ring, memory type and object once; ten seconds at most.
    #[default]
    Quick,
}

impl Level {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inventory => "inventory",
            Self::Quick => "quick",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn levels_are_called_what_the_report_calls_them() {
        for level in [Level::Inventory, Level::Quick] {
            assert_eq!(Level::from_str(level.name(), false), Ok(level));
        }
    }
}
