//! The command line.

use std::{path::PathBuf, time::Duration};

use amdgpu_output::manual::Shell;
use amdgpu_sim::Strictness;
use clap::{Args, Parser, Subcommand};

use crate::{
    choice::{Filter, Shard},
    gpu::mutant::Mutant,
    isolation::child::Trouble,
    level::Level,
    output::tap::TapVersion,
    result::baseline::Tolerance,
};

/// Hardware smoke test for AMD GPUs: on a Radeon, or on the embedded simulator where that is asked for.
///
/// Each check runs in a process of its own and ends in one of IGT's words: pass, fail, skip, warn, timeout, crash,
/// incomplete, dmesg-warn.
///
/// Exit status: 0 passed, 77 no device or everything skipped, 79 bad usage, 98 failed, 112 aborted.
#[derive(Debug, Parser)]
#[command(name = "amdgpu-smoke", version, disable_help_subcommand = true, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// Actions other than testing
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the checks: id, level, what each proves.
    List {
        /// As a table with needs, time and IGT's counterpart.
        #[arg(long)]
        markdown: bool,
        /// Only the checks of this level and below.
        #[arg(long, value_enum, default_value_t = Level::Destructive)]
        level: Level,
    },
    /// Print the kernel's facts about a GPU, as a capture that --sim takes.
    Capture {
        /// Of this GPU: a node, a PCI address or an index from 0; the first one if nothing is said.
        #[arg(long, value_name = "GPU", conflicts_with = "sim")]
        gpu: Option<String>,
        /// Of a simulated GPU.
        #[arg(long, value_name = "NAME")]
        sim: Option<String>,
    },
    /// Print the facts of a GPU under the names of Mesa's `AMD_DEBUG=info`.
    Inventory {
        /// Of this GPU: a node, a PCI address or an index from 0; the first one if nothing is said.
        #[arg(long, value_name = "GPU", conflicts_with = "sim")]
        gpu: Option<String>,
        /// Of a simulated GPU.
        #[arg(long, value_name = "NAME")]
        sim: Option<String>,
    },
    /// Compare two reports in JSON, such as before and after an update of the kernel. Ends with 1 if something was better before.
    Diff {
        /// The earlier report.
        old: PathBuf,
        /// The later report.
        new: PathBuf,
        /// Share by which a bandwidth may be lower, in percent.
        #[arg(long, value_name = "PERCENT", default_value = "10")]
        tolerance: Tolerance,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Merge the reports of many machines, and tell which kernel, firmware, board or slot failures go with.
    Collect(Collect),
    /// Print the manual page.
    Man,
    /// Print the completions for a shell.
    Completions {
        /// Shell to write completions for
        shell: Shell,
    },
}

/// Arguments of collect
#[derive(Debug, Args)]
pub(crate) struct Collect {
    /// Directories with reports in JSON, at any depth, or such files. Of several reports of a GPU the last one counts.
    #[arg(required = true, value_name = "DIR")]
    pub(crate) paths: Vec<PathBuf>,

    /// Write JSON (schema amdgpu-smoke-collect/1) to this file or, without one, to standard output instead of text.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,

    /// Write one HTML page that needs no other file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write the merged tables as SQL, which sqlite3 makes a database of; without a file, to standard output instead of text.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) sql: Option<PathBuf>,

    /// Write the merged tables as a database of SQLite, to a file that does not exist yet. Takes a program that was built with the feature
    /// sqlite.
    #[arg(long, value_name = "FILE")]
    pub(crate) sqlite: Option<PathBuf>,
}

/// Options of a test run
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct RunArguments {
    /// Test this GPU: a node (/dev/dri/renderD128), a PCI address (0000:03:00.0), an index from 0, or all: every GPU at the
    /// same time, each with its own reports, whose files have its address before the extension.
    #[arg(long, value_name = "GPU", conflicts_with = "sim")]
    pub(crate) gpu: Option<String>,

    /// Test a simulated GPU with this chip's captured facts instead of a real one; FILE.json is a capture of your
    /// own. Several with commas between them are tested at the same time.
    #[arg(long, value_name = "NAME")]
    pub(crate) sim: Option<String>,

    /// Test the simulator where the computer has no Radeon. Without this, no Radeon is exit status 77.
    #[arg(long, conflicts_with_all = ["gpu", "sim"])]
    pub(crate) or_simulated: bool,

    /// Break the simulated GPU this way, as drop-write or short-copy:sdma, to see that the test finds it.
    #[arg(long, value_name = "MUTATION", requires = "sim")]
    pub(crate) mutate: Option<Mutant>,

    /// Fail checks in which a model of a real chip's caches finds a hazard that the simulated GPU's memory hides: off, report,
    /// or bite, which also shows old bytes. With late nothing is modelled, and work is done when something waits for it.
    #[arg(long, value_name = "MODE", requires = "sim", conflicts_with = "mutate")]
    pub(crate) sim_strict: Option<Strictness>,

    /// Level of testing
    #[arg(long, value_enum, default_value_t)]
    pub(crate) level: Level,

    /// Change nothing: run the level inventory, whatever --level says.
    #[arg(long)]
    pub(crate) read_only: bool,

    /// Only checks whose id this regular expression matches, anywhere in it.
    #[arg(long, value_name = "REGEX")]
    pub(crate) filter: Option<Filter>,

    /// Run only the I-th of N parts of the plan.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,

    /// Repeat each check N times.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) repeat: u32,

    /// Repeat the whole plan for this long, as 8h, 30m or 1h30m, each round with the next seed.
    #[arg(long = "for", value_name = "TIME", value_parser = span, conflicts_with_all = ["no_fork", "record", "replay"])]
    pub(crate) soak: Option<Duration>,

    /// Test the memory again and again until Ctrl-C, each time with the next seed: memory.whole, or the checks of --filter at the
    /// level stress. The report counts the wrong bytes of all rounds by bit, channel and row.
    #[arg(long, conflicts_with_all = ["soak", "level", "read_only", "no_fork", "record", "replay"])]
    pub(crate) until_stopped: bool,

    /// Seed of the random numbers; the same seed gives the same bytes.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) seed: u32,

    /// Memory limit of a check, such as 512M or 8G. The default is half of the free memory, at most 4 GiB.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) memory: Option<u64>,

    /// Print the plan and exit; only opens the GPU.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Continue after a GPU reset or loss.
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Fail a check during which the hardware had a corrected or deferred error, an uncorrectable PCIe error that is not fatal, a
    /// narrower or slower PCIe link, a critical temperature or an error in the kernel log; without this they are warnings.
    /// Uncorrectable memory errors and fatal PCIe errors always fail it.
    #[arg(long)]
    pub(crate) strict_hardware: bool,

    /// Name at a failed check the rules of the simulator's strict mode that such a failure fits on the GPU's generation: what its
    /// command streams or shaders may lack.
    #[arg(long)]
    pub(crate) hardware_hints: bool,

    /// Let the level destructive reset a real GPU, which destroys the work of all its users.
    #[arg(long)]
    pub(crate) i_accept_a_gpu_reset: bool,

    /// Let the check power.suspend of the level destructive suspend this computer for half a minute, which only root may do.
    #[arg(long)]
    pub(crate) i_accept_a_suspend: bool,

    /// Let the check device.unplug of the level destructive take a real GPU away from all its users and find it again, which only root may do.
    #[arg(long)]
    pub(crate) i_accept_an_unplug: bool,

    /// Let the levels stress and destructive run on a GPU that drives a display.
    #[arg(long)]
    pub(crate) display_ok: bool,

    /// Run all checks in this process, without time-outs.
    #[arg(long)]
    pub(crate) no_fork: bool,

    /// Time limit of a check in seconds, unless its own limit is shorter.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    /// End a check that has reported no progress for this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "120")]
    pub(crate) inactivity_timeout: Duration,

    /// Time limit of the run in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) overall_timeout: Option<Duration>,

    #[command(flatten)]
    pub(crate) lists: Lists,

    /// Compare bandwidths with those of this earlier JSON report of the same GPU; a worse one fails. Needs --level core.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) baseline: Option<PathBuf>,

    /// Percentage of the baseline's bandwidth that may be missing.
    #[arg(long, value_name = "PERCENT", default_value = "10", requires = "baseline")]
    pub(crate) tolerance: Tolerance,

    /// Go on with a run whose machine stopped, from the file of its --jsonl; the check that was under way is incomplete.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["soak", "no_fork", "record", "replay", "dry_run"])]
    pub(crate) resume: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) outputs: Outputs,

    /// Name of this computer in the reports, for amdgpu-smoke collect; without it, a number made from /etc/machine-id that does not
    /// tell it. Computers started from copies of one disk need names.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new(), conflicts_with = "replay")]
    pub(crate) machine: Option<String>,

    /// Record all calls to the kernel in this file; all checks run in this process.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Replay a recording, or one of a --bundle, with its level and filter, using only the recorded answers.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["gpu", "sim", "or_simulated", "level", "filter", "record", "shard", "repeat",
        "read_only", "bundle", "dry_run"])]
    pub(crate) replay: Option<PathBuf>,

    /// Replay the recording of this check, where --replay names a bundle of several.
    #[arg(long, value_name = "ID", requires = "replay")]
    pub(crate) check: Option<String>,

    /// Print a recording, one call per line, and exit.
    #[arg(long, value_name = "FILE", exclusive = true)]
    pub(crate) dump: Option<PathBuf>,

    /// List the simulator's chips and exit.
    #[arg(long, conflicts_with_all = ["gpu", "sim", "list_checks"])]
    pub(crate) list_profiles: bool,

    /// List the checks of the chosen level with what each proves, and exit.
    #[arg(long)]
    pub(crate) list_checks: bool,

    #[command(flatten)]
    pub(crate) child: ChildArguments,
}

/// Lists of checks that are known to fail or to be left out.
#[derive(Debug, Args)]
pub(crate) struct Lists {
    /// Checks known to fail: lines of the form id,Fail. One that passes is reported.
    #[arg(long, value_name = "FILE")]
    pub(crate) fails: Vec<PathBuf>,

    /// Checks that fail occasionally: one regular expression per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) flakes: Vec<PathBuf>,

    /// Checks to skip: one regular expression per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) skips: Vec<PathBuf>,

    /// Take CHIP-fails.txt, CHIP-flakes.txt and CHIP-skips.txt of this directory, as NAVI31-fails.txt.
    #[arg(long, value_name = "DIR")]
    pub(crate) expectations: Option<PathBuf>,
}

/// Report outputs
#[derive(Debug, Args)]
pub(crate) struct Outputs {
    /// Write the report as JSON (schema amdgpu-smoke/1) to this file; without a file, to standard output instead of text.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,

    /// Write one JSON object per line during the run, each safe on the disk before the next check, to this file or, without one, to standard output instead of text.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) jsonl: Option<PathBuf>,

    /// Write TAP to this file or, without one, to standard output instead of text.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) tap: Option<PathBuf>,

    /// Version of TAP to write; 13 is for perl's prove.
    #[arg(long, value_enum, value_name = "VERSION", default_value = "14")]
    pub(crate) tap_version: TapVersion,

    /// Write a JUnit report to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Write the report as one HTML page with pictures, which needs no other file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write IGT's results.json into this directory, which is made.
    #[arg(long, value_name = "DIR")]
    pub(crate) igt_results: Option<PathBuf>,

    /// Pack the reports and a recording of each failed check into this tar file, for a bug report.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "no_fork"])]
    pub(crate) bundle: Option<PathBuf>,
}

/// Arguments that a parent process passes to its children.
#[derive(Debug, Args)]
pub(crate) struct ChildArguments {
    /// Make the plan, and open the GPU.
    #[arg(long, hide = true)]
    pub(crate) child_plan: bool,

    /// Try this one check.
    #[arg(long, hide = true, value_name = "ID")]
    pub(crate) child: Option<String>,

    /// Process id of the parent: a child whose parent is another ends at once.
    #[arg(long, hide = true, value_name = "PID")]
    pub(crate) parent: Option<i32>,

    /// The reason why this GPU is tested, for the report.
    #[arg(long, hide = true, value_name = "TEXT")]
    pub(crate) chosen: Option<String>,

    /// Simulated GPUs beside this one.
    #[arg(long, hide = true, value_name = "NAME")]
    pub(crate) beside: Vec<String>,

    /// The GPU whose run measures the copies between all GPUs.
    #[arg(long, hide = true, value_name = "GPU")]
    pub(crate) peers_measured_by: Option<String>,

    /// Faults to provoke in children, each with the check it applies to.
    #[arg(long, hide = true, value_name = "ID=TROUBLE", value_parser = trouble)]
    pub(crate) trouble: Vec<(String, Trouble)>,

    /// Milliseconds between SIGTERM and SIGKILL.
    #[arg(long, hide = true, default_value_t = 2000)]
    pub(crate) grace: u64,
}

/// Bytes, with K, M, G or T for powers of 1024.
fn bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.char_indices().last() {
        Some((at, unit)) if unit.is_ascii_alphabetic() => {
            let shift = match unit.to_ascii_uppercase() {
                'K' => 10,
                'M' => 20,
                'G' => 30,
                'T' => 40,
                _ => return Err(format!("{unit} is no unit: K, M, G and T are")),
            };
            (text.get(..at).unwrap_or_default(), shift)
        }
        _ => (text, 0),
    };
    let number: u64 = digits.parse().map_err(|error: std::num::ParseIntError| error.to_string())?;
    number.checked_mul(1 << shift).ok_or_else(|| "more than there can be".to_owned())
}

/// Seconds, with a fraction if need be.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|error: std::num::ParseFloatError| error.to_string())?;
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    if time.is_zero() { Err("must be greater than zero".to_owned()) } else { Ok(time) }
}

/// A time with units: 45s, 30m, 8h, 2d, or several of them in a row.
fn span(text: &str) -> Result<Duration, String> {
    let mut seconds = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| letter != '.' && !letter.is_ascii_digit());
        let (number, after) = rest.split_at(digits.ok_or("a time has a unit: s, m, h or d")?);
        let factor = match after.as_bytes().first() {
            Some(b's') => 1.0,
            Some(b'm') => 60.0,
            Some(b'h') => 3600.0,
            Some(b'd') => 86400.0,
            _ => return Err("the units of time are s, m, h and d".to_owned()),
        };
        let number: f64 = number.parse().map_err(|error: std::num::ParseFloatError| error.to_string())?;
        seconds += number * factor;
        rest = after.get(1..).unwrap_or_default();
    }
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    // A century is more than any soak, and adds up with any clock.
    match time {
        Duration::ZERO => Err("must be greater than zero".to_owned()),
        time if time > Duration::from_hours(24 * 36525) => Err("more than a century".to_owned()),
        time => Ok(time),
    }
}

fn trouble(text: &str) -> Result<(String, Trouble), String> {
    let (id, trouble) = text.split_once('=').ok_or("of the form ID=TROUBLE")?;
    Ok((id.to_owned(), clap::ValueEnum::from_str(trouble, false)?))
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
    fn sizes_have_units() {
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("8k"), Ok(8192));
        assert_eq!(bytes("3G"), Ok(3 << 30));
        for wrong in ["", "G", "1X", "-1", "1.5G", "99999999999T", "1é"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn spans_have_units_that_add_up() {
        for (text, seconds) in [("8h", 28800), ("45s", 45), ("1h30m", 5400), ("2d", 172_800), ("1.5m", 90)] {
            assert_eq!(span(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for wrong in ["", "8", "h", "0s", "8x", "-1h", "1h2", "1..2s", "99999999999d", "1é"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_finite_and_more_than_none() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["", "0", "-1", "inf", "NaN", "1e300", "a"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
