//! The command line.

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
    #[arg(long, value_enum, default_value_t = Level::Quick)]
    pub(crate) level: Level,

    /// Only checks whose id contains this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,

    /// Print the report as JSON (schema amdgpu-smoke/1) instead of text.
    #[arg(long)]
    pub(crate) json: bool,

    /// List the simulator's chips and exit.
    #[arg(long, conflicts_with_all = ["gpu", "sim", "list_checks"])]
    pub(crate) list_profiles: bool,

    /// List the checks of the chosen level with what each proves, and exit.
    #[arg(long)]
    pub(crate) list_checks: bool,
}

/// How much to check; each level includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Level {
    /// Read only: open, versions, facts, heaps.
    Inventory,
    /// Every ring, memory type and object once; ten seconds at most.
    Quick,
}

impl Level {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Inventory => "inventory",
            Self::Quick => "quick",
        }
    }
}
