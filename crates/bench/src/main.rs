//! `amdgpu-bench`: the library against its peers, each pair in turns in one run.
//!
//! * `amdgpu-bench memory [--json] [--only NAME]`: addresses, sub-allocation and device memory. With `--features vma` the
//!   Vulkan Memory Allocator is built in, which takes a C++ compiler.
//! * `amdgpu-bench cs [--json] [--only NAME]`: recording, submitting and decoding.
//! * `amdgpu-bench shader [--json] [--only NAME]`: compute shaders, executed, against plain loops of the same work.
//! * `amdgpu-bench draw [--json] [--only NAME]`: draws on a simulated chip: frames, pixels and triangles a second.
//! * `amdgpu-bench icd [--json] [--only NAME]`: our Vulkan driver (`cargo build --release -p amdgpu-winsys-icd`) beside RADV, through
//!   the same loader.
//! * `amdgpu-bench radv [--json] [--only NAME]`: RADV with this library's winsys beside RADV with its own, as `.ci/vulkan/radv-swap` builds
//!   them.
//! * `amdgpu-bench ioctl-cost [--json] [--only NAME]`: allocations and submissions once more, on a null kernel whose requests take
//!   about as long as those of Linux: what a user sees of the other rows.
//! * `amdgpu-bench surface [--json] [--only NAME]`: layouts, addresses and copies of images, against addrlib and memcpy.
//! * `amdgpu-bench churn [--seconds N]`: no race, but threads that allocate, map, import, submit and free on the simulator,
//!   and a census at the end: exit code 1 if anything is lost.
//!
//! Each row is a bench, a size and a peer. [`contest::traces`] defines the work. Peers that are drivers run on the *null kernel*
//! ([`amdgpu_sim::NullKernel`]) in a child of this program, before which the preload library stands, and ours in the same
//! child through the same library, batch by batch in turn: what differs is user space.

#![expect(clippy::cast_precision_loss, reason = "figures are printed with a few digits")]

mod child;
mod churn;
mod contest;
#[expect(unsafe_code, reason = "an allocator that counts")]
mod counting;
mod counting_requests;
mod cs;
mod executed;
mod icd;
mod ioctl_cost;
mod memory;
mod peers;
mod radv;
mod row;
mod sim;
mod surface;

use std::{process::ExitCode, time::Duration};

use child::Wanted;
use clap::{Args, Parser, Subcommand};
use executed::{draw, shader};
use row::Row;

/// The library against its peers.
#[derive(Debug, Parser)]
#[command(name = "amdgpu-bench", version)]
struct Cli {
    #[command(subcommand)]
    area: Area,
}

#[derive(Debug, Subcommand)]
enum Area {
    /// Addresses, sub-allocation and device memory.
    Memory {
        #[command(flatten)]
        report: Report,
        /// Only what needs Mesa's shim: for the process that this program starts.
        #[arg(long, hide = true)]
        beside_libdrm: bool,
        /// Only what is measured beside VMA: for the build with it that this program asks for.
        #[arg(long, hide = true)]
        beside_vma: bool,
    },
    /// Recording, submitting and decoding.
    Cs {
        #[command(flatten)]
        report: Report,
    },
    /// Compute shaders, executed.
    Shader {
        #[command(flatten)]
        report: Report,
    },
    /// Draws on a simulated chip.
    Draw {
        #[command(flatten)]
        report: Report,
    },
    /// Our Vulkan driver beside RADV, through the same loader.
    Icd {
        #[command(flatten)]
        report: Report,
    },
    /// RADV with this library's winsys beside RADV with its own.
    Radv {
        #[command(flatten)]
        report: Report,
    },
    /// Allocations and submissions on a kernel whose requests take time.
    IoctlCost {
        #[command(flatten)]
        report: Report,
    },
    /// Layouts, addresses and copies of images.
    Surface {
        #[command(flatten)]
        report: Report,
    },
    /// The simulated kernel, in process and through the preload library.
    Sim {
        #[command(flatten)]
        report: Report,
        #[command(flatten)]
        part: sim::Part,
    },
    /// Threads that use the simulator until the time is up; fails if anything is lost.
    Churn {
        /// Duration
        #[arg(long, default_value_t = 5)]
        seconds: u64,
        /// Number of threads
        #[arg(long, default_value_t = 4)]
        threads: u32,
    },
}

#[derive(Debug, Args)]
struct Report {
    /// One JSON array instead of the table.
    #[arg(long)]
    json: bool,
    /// Only the benches whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Only what is measured on the null kernel: for the process that this program starts.
    #[arg(long, hide = true)]
    on_null: bool,
}

impl Report {
    /// Prints the rows that `measure` adds.
    fn print(self, measure: impl FnOnce(&Wanted, bool, &mut dyn FnMut(Row))) -> ExitCode {
        let Self { json, only, on_null } = self;
        if !json {
            println!("{}", Row::heading());
        }
        let mut rows = Vec::new();
        measure(&Wanted { only, has_costs: false }, on_null, &mut |row| {
            if !json {
                println!("{row}");
            }
            rows.push(row);
        });
        if !json {
            return ExitCode::SUCCESS;
        }
        match serde_json::to_string_pretty(&rows) {
            Ok(text) => {
                println!("{text}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        }
    }
}

fn main() -> ExitCode {
    match Cli::parse().area {
        Area::Memory { report, beside_libdrm, beside_vma } => {
            report.print(|wanted, on_null, mut add| match (beside_libdrm, beside_vma, on_null) {
                (true, ..) => memory::rows::beside_libdrm(wanted, &mut add),
                (_, true, _) => memory::vma::all(wanted, &mut add),
                (.., true) => memory::on_null::all(wanted, &mut add),
                _ => memory::rows::all(wanted, &mut add),
            })
        }
        Area::Cs { report } => {
            report.print(
                |wanted, on_null, mut add| {
                    if on_null { cs::on_null::all(wanted, &mut add) } else { cs::rows::all(wanted, &mut add) }
                },
            )
        }
        Area::Shader { report } => report.print(|wanted, _, mut add| shader::all(wanted, &mut add)),
        Area::Draw { report } => report.print(|wanted, _, mut add| draw::all(wanted, &mut add)),
        Area::Icd { report } => {
            report.print(
                |wanted, on_null, mut add| {
                    if on_null { icd::on_null(wanted, &mut add) } else { icd::all(wanted, &mut add) }
                },
            )
        }
        Area::Radv { report } => {
            report.print(
                |wanted, on_null, mut add| {
                    if on_null { radv::on_null(wanted, &mut add) } else { radv::all(wanted, &mut add) }
                },
            )
        }
        Area::IoctlCost { report } => report.print(|wanted, _, mut add| ioctl_cost::all(wanted, &mut add)),
        Area::Surface { report } => report.print(|wanted, _, mut add| surface::all(wanted, &mut add)),
        Area::Sim { part, .. } if part.as_one => {
            sim::one_of_a_crowd();
            ExitCode::SUCCESS
        }
        Area::Sim { report, part } => report.print(|wanted, _, add| sim::all(&part, wanted, add)),
        Area::Churn { seconds, threads } => churn::run(Duration::from_secs(seconds), threads),
    }
}
