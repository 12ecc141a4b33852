//! The command line.

use std::{ffi::OsString, io::Write as _, path::PathBuf, process::ExitCode, str::FromStr};

use amdgpu_sim::{Changes, Display, FeatureChanges, KernelRelease, LockupTimeout, Strictness, TracedWaves};
use clap::{Args, Parser, Subcommand};

use crate::error::RunError;

/// The exit status of `run`, which is that of `env` and `timeout` where the command has none.
const EXIT_STATUS: &str = "Exit status: the command's own; 124 if a job hung and the command succeeded (--fail-on-hang); 125 if the \
    command line is wrong or the simulated GPUs could not be started; 126 if the command cannot be executed; 127 if there is none; \
    128 + N if signal N ended it.";

/// Runs programs on simulated AMD GPUs.
#[derive(Debug, Parser)]
#[command(name = "amdgpu-sim", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) task: Task,
}

/// Tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Run a command, and all it starts, on simulated GPUs of its own
    #[command(after_help = EXIT_STATUS)]
    Run(Box<Run>),
    /// Start a shell with simulated GPUs of its own, whose prompt names the chips
    ///
    /// The shell is that of $SHELL. The simulated GPUs are gone when it ends.
    Shell(Box<Shell>),
    /// Find out why a program does not see the GPU
    ///
    /// Looks at the program's file, runs it on a simulated GPU of its own for some time, and says of each finding what to do next.
    Doctor(Box<Doctor>),
    /// List the chips that can be simulated, and where their values come from
    #[command(visible_alias = "profiles")]
    List {
        /// List the cards and machines that are rows over these chips
        #[arg(long)]
        variants: bool,
    },
    /// List open files and BOs of the simulated GPUs that this process was started with
    Census,
    /// Print the manual page
    Man,
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: amdgpu_output::manual::Shell,
    },
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) world: World,
    /// Answer every request at once, successfully and without doing anything: to measure what user space costs
    #[arg(long)]
    pub(crate) null: bool,
    /// Write what the display of the first GPU showed last to a PNG file, after the command
    #[arg(long, value_name = "FILE")]
    pub(crate) screenshot: Option<PathBuf>,
    /// Write what a hang leaves into a folder, for amdgpu-ib why: the kernel's log, a devcoredump of each hang, and the
    /// simulator's messages
    #[arg(long, value_name = "FOLDER")]
    pub(crate) hang_report: Option<PathBuf>,
    /// End with status 124 if a job hung and the command itself succeeded
    #[arg(long)]
    pub(crate) fail_on_hang: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Arguments of `shell`.
#[derive(Debug, Args)]
pub(crate) struct Shell {
    #[command(flatten)]
    pub(crate) world: World,
    /// Answer every request at once, successfully and without doing anything: to measure what user space costs
    #[arg(long)]
    pub(crate) null: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) world: World,
    /// Seconds after which the program is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) seconds: u64,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub(crate) command: Vec<OsString>,
}

/// Arguments about a world.
#[expect(clippy::struct_excessive_bools, reason = "switches that have nothing to do with each other")]
#[derive(Debug, Args)]
pub(crate) struct World {
    /// Chips, one device each, such as navi21,renoir, or cards and machines such as rx7900xt; a path is that of a captured GPU's
    /// JSON file. Changes may follow after colons, as in navi31:bar=256M:vram=20G [default: $AMDGPU_SIM, else navi21]
    #[arg(long, value_name = "CHIPS")]
    pub(crate) gpu: Option<String>,
    /// The size of the cards' BARs, such as 256M: the VRAM that the CPU can access [default: as captured]
    #[arg(long, value_name = "SIZE", value_parser = change::<0>)]
    pub(crate) bar: Option<Changes>,
    /// The VRAM of cards, such as 20G [default: as captured]
    #[arg(long, value_name = "SIZE", value_parser = change::<1>)]
    pub(crate) vram: Option<Changes>,
    /// The active compute units [default: as captured]
    #[arg(long, value_name = "COUNT", value_parser = change::<2>)]
    pub(crate) compute_units: Option<Changes>,
    /// The memory that the firmware of an APU's machine sets aside, such as 512M [default: as captured]
    #[arg(long, value_name = "SIZE", value_parser = change::<3>)]
    pub(crate) carve_out: Option<Changes>,
    /// The machine's memory, such as 128G, of which half is GTT [default: as captured]
    #[arg(long, value_name = "SIZE", value_parser = change::<4>)]
    pub(crate) system_memory: Option<Changes>,
    /// The size of GTT, such as 120000M, as the kernel's parameter gttsize sets it [default: as captured]
    #[arg(long, value_name = "SIZE", value_parser = change::<5>)]
    pub(crate) gtt: Option<Changes>,
    /// The kernel whose driver is simulated: 6.12, 6.13, 6.16, 6.17, 6.18, 6.19, 7.0, 7.2 or 7.3 [default: $AMDGPU_SIM_KERNEL, else
    /// 7.2]
    #[arg(long = "linux", visible_alias = "kernel", value_name = "RELEASE")]
    pub(crate) kernel: Option<KernelRelease>,
    /// Features that the kernel has beside those of its release, or lacks, as distributions' kernels do, such as
    /// +list-handles,-client-name; a wrong name lists all [default: $AMDGPU_SIM_KERNEL_FEATURES, else none]
    #[arg(long, value_name = "CHANGES", allow_hyphen_values = true, value_parser = checked::<FeatureChanges>)]
    pub(crate) kernel_features: Option<String>,
    /// Connect a display of this size to each GPU, such as 1920x1080 [default: $AMDGPU_SIM_DISPLAY, else none]
    #[arg(long, value_name = "WIDTHxHEIGHT")]
    pub(crate) display: Option<Display>,
    /// Milliseconds that a job may run on rings of graphics, compute, SDMA and video before it counts as hung, as the
    /// kernel's parameter of this name [default: $AMDGPU_SIM_LOCKUP_TIMEOUT, else 10000,60000,10000,10000; from Linux
    /// 7.0 on a job that waits then has 2000]
    #[arg(long, value_name = "MS", allow_hyphen_values = true, value_parser = checked::<LockupTimeout>)]
    pub(crate) lockup_timeout: Option<String>,
    /// MiB of VRAM that the kernel itself has, which count as used [default: $AMDGPU_SIM_KERNEL_VRAM, else 0]
    #[arg(long, value_name = "MIB")]
    pub(crate) kernel_vram: Option<u32>,
    /// Instructions that the waves of a dispatch may execute before the next work-group ends, or they count as hung; 64 times as
    /// many altogether [default: $AMDGPU_SIM_SHADER_INSTRUCTIONS, else 268435456]
    #[arg(long, value_name = "COUNT")]
    pub(crate) shader_instructions: Option<u64>,
    /// Threads that a dispatch is executed on, 1 to 256 [default: $AMDGPU_SIM_SHADER_THREADS, else the number of processors, 4 at
    /// most]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) shader_threads: Option<u16>,
    /// Let fills of the copy engines of GFX9 and GFX10.1 take sizes of 30 bits, as IGT's tests do [default:
    /// $AMDGPU_SIM_WIDE_FILLS, else 22 bits, as in the kernel's headers]
    #[arg(long)]
    pub(crate) wide_fills: bool,
    /// Give chips the video engines of their generation, which no capture has; they execute NOPs alone [default:
    /// $AMDGPU_SIM_VIDEO, else none]
    #[arg(long)]
    pub(crate) video: bool,
    /// Give the memory ECC whose errors the driver counts, as that of workstation cards: sysfs has the directory ras [default:
    /// $AMDGPU_SIM_RAS, else none]
    #[arg(long)]
    pub(crate) ras: bool,
    /// Let the driver suspend cards that are not used for 5 seconds, and record what wakes them: "amdgpu-sim census" prints it
    /// [default: $AMDGPU_SIM_RUNTIME_PM, else off]
    #[arg(long)]
    pub(crate) runtime_pm: bool,
    /// Turn user queues on, as 1 for the kernel's parameter user_queue does: they exist from --linux 6.16 on, on GFX11 and later
    /// [default: $AMDGPU_SIM_USER_QUEUES, else off]
    #[arg(long)]
    pub(crate) user_queues: bool,
    /// Report what a real chip would show and this memory hides, on standard error when the command has ended: off, report,
    /// bite, with which reads find what caches hold, or trials, for which the stream is also judged without each of its cache
    /// operations and waits. With late nothing is reported, and work is done when something waits for it [default: off]
    #[arg(long, value_name = "MODE")]
    pub(crate) strict: Option<Strictness>,
    /// Write what --strict reports to a file instead, a line of JSON each; an empty file means that nothing was found
    #[arg(long, value_name = "FILE", requires = "strict")]
    pub(crate) strict_report: Option<PathBuf>,
    /// Replay a scripted load from a file, of which each line is a step: seconds, percent of the GPU, percent of the memory, and perhaps
    /// degrees Celsius [default: $AMDGPU_SIM_LOAD, else what the rings do]
    #[arg(long, value_name = "FILE")]
    pub(crate) load: Option<PathBuf>,
    /// Write what compute shaders do to a file: instructions and changed registers of a wave, and counts of each dispatch
    #[arg(long, value_name = "FILE")]
    pub(crate) trace_shader: Option<PathBuf>,
    /// The wave to trace, as X,Y,Z:WAVE for a group and its wave, "all", or "none" for counts alone [default: 0,0,0:0]
    #[arg(long, value_name = "WAVE", requires = "trace_shader", value_parser = waves)]
    pub(crate) trace_wave: Option<Traced>,
    /// Hang the ring of a wave of which a lane stores to the dword at this address (hexadecimal), and tell which
    #[arg(long, value_name = "ADDRESS", requires = "trace_shader", value_parser = address)]
    pub(crate) break_on_store: Option<u64>,
    /// Look for accesses of LDS and memory that no barrier and no atomic operation puts in an order
    #[arg(long, requires = "trace_shader")]
    pub(crate) find_races: bool,
    /// Look for instructions that access a register before a load or store is done with it, for which a wait is missing
    #[arg(long, requires = "trace_shader")]
    pub(crate) check_waits: bool,
    /// Look for instructions that follow another too soon, for which `s_nop`, a wait or another mitigation is missing
    #[arg(long, requires = "trace_shader")]
    pub(crate) check_hazards: bool,
    /// The preload library [default: libamdgpu_sim_shim.so beside this program, in ../lib or in ../lib/amdgpu-sim]
    #[arg(long, value_name = "PATH")]
    pub(crate) shim: Option<PathBuf>,
}

/// The keys of changes, in the order of their options.
const CHANGES: [&str; 6] = ["bar", "vram", "compute-units", "carve-out", "memory", "gtt"];

/// Returns the change of an option.
fn change<const INDEX: usize>(text: &str) -> Result<Changes, String> {
    let key = CHANGES.get(INDEX).copied().unwrap_or_default();
    format!("{key}={text}").parse().map_err(|error: amdgpu_sim::ChangeError| error.to_string())
}

impl World {
    /// Returns the changes of all chips.
    pub(crate) fn changes(&self) -> Changes {
        let all = [self.bar, self.vram, self.compute_units, self.carve_out, self.system_memory, self.gtt];
        all.into_iter().flatten().fold(Changes::default(), Changes::then)
    }
}

/// Waves to trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traced(pub(crate) Option<TracedWaves>);

/// Returns a text that has the form of a `T`.
fn checked<T: FromStr>(text: &str) -> Result<String, T::Err> {
    text.parse::<T>().map(|_| text.to_owned())
}

fn waves(text: &str) -> Result<Traced, String> {
    let one = || {
        let (group, wave) = text.split_once(':')?;
        let [x, y, z] = group.split(',').map(|number| number.parse().ok()).collect::<Vec<_>>()[..] else { return None };
        Some(TracedWaves::One { group: [x?, y?, z?], wave: wave.parse().ok()? })
    };
    match text {
        "all" => Ok(Traced(Some(TracedWaves::All))),
        "none" => Ok(Traced(None)),
        _ => one().map(|one| Traced(Some(one))).ok_or_else(|| "not X,Y,Z:WAVE, all or none".to_owned()),
    }
}

/// Reads an address as shaders see it: its low 48 bits.
fn address(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let number = u64::from_str_radix(digits, 16).map_err(|error| error.to_string())?;
    Ok(number & ((1 << 48) - 1))
}

/// Prints the chips, or the cards and machines, one a line.
pub(crate) fn list(variants: bool) -> Result<ExitCode, RunError> {
    let mut out = crate::terminal::output();
    let chips = amdgpu_sim::profiles().iter().filter(|_| !variants);
    let machines = amdgpu_sim::variants().iter().filter(|_| variants).map(amdgpu_sim::Variant::profile);
    for profile in chips.chain(machines) {
        let (name, marketing, origin) = (&profile.name, &profile.marketing_name, &profile.origin);
        let origin = if variants { origin.to_string().replace("derived from", "row over") } else { origin.to_string() };
        writeln!(out, "{name:<26} {marketing:<40} {origin}").map_err(RunError::Print)?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_and_addresses_are_read() {
        let one = TracedWaves::One { group: [1, 2, 3], wave: 4 };
        assert_eq!(waves("1,2,3:4"), Ok(Traced(Some(one))));
        assert_eq!(waves("all"), Ok(Traced(Some(TracedWaves::All))));
        assert_eq!(waves("none"), Ok(Traced(None)));
        for wrong in ["", "1,2:3", "1,2,3", "1,2,3,4:5", "x,0,0:0"] {
            assert!(waves(wrong).is_err(), "{wrong}");
        }
        assert_eq!(address("0xffff800000001000"), Ok(0x8000_0000_1000));
        assert_eq!(address("1f"), Ok(0x1f));
        assert!(address("lane").is_err());
    }
}
