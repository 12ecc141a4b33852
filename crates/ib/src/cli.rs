//! The command line.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use amdgpu_isa::WaveSize;
use amdgpu_winsys::cs::{Target, dump::Dumper, pm4, sdma::Version};
use amdgpu_winsys::{vamgr::GpuVa, winsys::GfxLevel};
use clap::{Parser, Subcommand, ValueEnum};

use crate::{
    Content, Kept, KeptShader, json, level_of,
    outcome::{Error, Exit, Style},
    recorded::{self, Wanted},
    registers_of,
    shaders::{self, Explained},
    starts,
};

/// Decodes amdgpu command buffers.
#[derive(Debug, Parser)]
#[command(name = "amdgpu-ib", version)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Print every packet of an IB, and of those it leads to
    Dump {
        /// Raw dwords, hexadecimal text, or an IB that the simulator kept
        #[arg(required_unless_present = "recording", conflicts_with = "recording")]
        file: Option<PathBuf>,
        /// Every IB of every submission of a recording, as it was when it was submitted
        #[arg(long, value_name = "FILE")]
        recording: Option<PathBuf>,
        /// Only the submission with this number, from 0
        #[arg(long, value_name = "NUMBER", requires = "recording", conflicts_with = "last")]
        submission: Option<u64>,
        /// Only the last submission
        #[arg(long, requires = "recording")]
        last: bool,
        /// The dwords of every packet, too
        #[arg(long, conflicts_with = "json")]
        raw: bool,
        /// The chip or generation, such as navi21 or gfx10_3 [default: what the file's name says]
        #[arg(long)]
        chip: Option<String>,
        /// Engine whose language it is in [default: from the file's name, else gfx]
        #[arg(long)]
        ip: Option<Engine>,
        /// JSON instead of text
        #[arg(long)]
        json: bool,
        /// Every register that was set before a draw or dispatch, below it
        #[arg(long, conflicts_with = "recording")]
        state: bool,
    },
    /// Print the instructions of a shader
    Disassemble {
        /// Raw dwords, hexadecimal text, or a shader that the simulator kept
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
    /// See whether every packet of every IB that the simulator kept makes sense
    Check {
        /// Directories that AMDGPU_SIM_IBS named
        #[arg(required = true)]
        directories: Vec<PathBuf>,
        /// Fail as well where fewer than this percentage of the register writes have a name
        #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=100))]
        named: u8,
        /// The chip that they are for, whose registers may not be those of its generation
        #[arg(long)]
        chip: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Engine {
    Gfx,
    Compute,
    Sdma,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Lanes {
    #[value(name = "32")]
    Wave32,
    #[value(name = "64")]
    Wave64,
}

/// Does what the command line asks for.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let is_help = !error.use_stderr();
            // A reader that closed our output has no use for the message.
            let _ = error.print();
            return if is_help { Exit::Understood } else { Exit::Usage };
        }
    };
    let done = match &cli.task {
        Task::Dump { file: Some(file), chip, ip, raw, json, state, .. } => {
            dump(file, chip.as_deref(), *ip, Style::new(*raw, *json), *state)
        }
        Task::Dump { recording: Some(path), chip, submission, last, raw, json, .. } => {
            let wanted = Wanted::new(*submission, *last);
            recorded::dump(path, chip.as_deref(), wanted, Style::new(*raw, *json))
        }
        // The command line's rules leave nothing else.
        Task::Dump { .. } => Ok(Exit::Usage),
        Task::Disassemble { file, chip, wave, json } => disassemble(file, chip.as_deref(), *wave, *json),
        Task::Check { directories, named, chip } => check(directories, chip.as_deref(), *named),
    };
    done.unwrap_or_else(|error| {
        eprintln!("amdgpu-ib: {error}");
        error.exit()
    })
}

/// Returns the reader of a file: from the command line, else from its name.
fn reader(file: &Path, chip: Option<&str>, ip: Option<Engine>) -> Result<(Target, Option<GpuVa>), Error> {
    let named = Kept::name(file);
    let va = named.map(|named| named.1);
    match (chip, ip, named) {
        (None, None, Some((target, _))) => Ok((target, va)),
        (None, ..) => Err(Error::NoChip(file.to_owned())),
        (Some(chip), ip, _) => {
            let level = level_of(chip)?;
            let target = match ip {
                None | Some(Engine::Gfx) => pm4::Target::gfx(level).into(),
                Some(Engine::Compute) => pm4::Target::compute(level).into(),
                Some(Engine::Sdma) => Version::of(level).into(),
            };
            Ok((target, va))
        }
    }
}

fn dump(file: &Path, chip: Option<&str>, ip: Option<Engine>, style: Style, state: bool) -> Result<Exit, Error> {
    let (target, va) = reader(file, chip, ip)?;
    let Content(ib) = Content::read(file)?;
    // IBs called by a kept IB lie beside it; other files there are left alone.
    let beside = if va.is_some() { file.parent().map(Kept::all) } else { None };
    let beside: HashMap<_, _> = beside.and_then(Result::ok).unwrap_or_default().into_iter().map(place).collect();
    let memory = |va, dwords| beside.get(&(va, dwords)).cloned();
    let dump = dumper(target, chip).with_memory(&memory).dump(&ib, va);
    let level = match target {
        Target::Pm4(target) => target.level,
        // SDMA starts neither draws nor dispatches.
        Target::Sdma(_) => GfxLevel::Gfx6,
    };
    let explained = Explained::new(&dump, starts(&dump, level), KeptShader::beside(file), state);
    let mut out = io::stdout().lock();
    match style {
        Style::Json => {
            let mut value = json::dump(&dump);
            explained.add_to(&mut value);
            writeln!(out, "{value:#}")?;
        }
        Style::Text | Style::Raw => {
            let remark = |ib, packet: &_| explained.remark(ib, packet);
            write!(out, "{}", dump.with_remarks(style == Style::Raw, &remark))?;
        }
    }
    Ok(if dump.problems().next().is_some() { Exit::Problems } else { Exit::Understood })
}

fn disassemble(file: &Path, chip: Option<&str>, wave: Option<Lanes>, json: bool) -> Result<Exit, Error> {
    let named = KeptShader::name(file);
    let level = match (chip, named) {
        (Some(chip), _) => level_of(chip)?,
        (None, Some((_, level, ..))) => level,
        (None, None) => return Err(Error::NoChip(file.to_owned())),
    };
    let wave = match (wave, named) {
        (Some(Lanes::Wave32), _) => WaveSize::Wave32,
        (Some(Lanes::Wave64), _) | (None, None) => WaveSize::Wave64,
        (None, Some((_, _, wave, _))) => wave,
    };
    let Content(code) = Content::read(file)?;
    let (text, is_whole) = shaders::disassemble(level, wave, named.map(|named| named.3), &code, json);
    write!(io::stdout().lock(), "{text}")?;
    Ok(if is_whole { Exit::Understood } else { Exit::Problems })
}

/// Returns a dumper that knows the chip's registers.
fn dumper(target: Target, chip: Option<&str>) -> Dumper<'static> {
    let dumper = Dumper::new(target);
    match chip.and_then(registers_of) {
        Some(registers) => dumper.with_registers(registers),
        None => dumper,
    }
}

fn place(kept: Kept) -> ((GpuVa, usize), Vec<u32>) {
    ((kept.va, kept.content.0.len()), kept.content.0)
}

fn check(directories: &[PathBuf], chip: Option<&str>, percentage: u8) -> Result<Exit, Error> {
    let mut out = io::stdout().lock();
    let (mut ibs, mut count, mut dwords, mut problems) = (0_u64, 0_u64, 0_u64, 0_u64);
    let (mut writes, mut named, mut unnamed) = (0_u64, 0_u64, BTreeMap::<u32, u64>::new());
    for directory in directories {
        for kept in Kept::all(directory)? {
            ibs += 1;
            dwords += kept.content.0.len() as u64;
            let dump = dumper(kept.target, chip).dump(&kept.content.0, Some(kept.va));
            for packet in dump.ibs.iter().flat_map(|ib| &ib.packets) {
                count += 1;
                for register in &packet.registers {
                    writes += 1;
                    match register.name {
                        Some(_) => named += 1,
                        None => *unnamed.entry(register.offset).or_default() += 1,
                    }
                }
                if let Some(error) = packet.problem {
                    problems += 1;
                    writeln!(out, "{}: {error}", kept.path.display())?;
                }
            }
        }
    }
    for (offset, times) in &unnamed {
        writeln!(out, "register {offset:#x} has no name: {times} writes")?;
    }
    writeln!(out, "{ibs} IBs, {count} packets, {dwords} dwords, {problems} not understood")?;
    writeln!(out, "{named} of {writes} register writes named")?;
    let is_named = named * 100 >= writes * u64::from(percentage);
    Ok(if problems == 0 && is_named { Exit::Understood } else { Exit::Problems })
}
