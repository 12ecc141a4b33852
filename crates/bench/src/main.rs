//! `amdgpu-bench`: the library against its peers, each pair in turns in one run.
//!
//! `cargo run --release -p amdgpu-bench -- memory [--json] [--only NAME]` prints a row for every bench, size and peer. With
//! `--features vma` the Vulkan Memory Allocator is built in, which takes a C++ compiler.
//!
//! [`traces`] defines the work.

#![expect(clippy::cast_precision_loss, reason = "figures are printed with a few digits")]

mod contest;
mod memory;
mod ours;
mod peers;
mod row;
mod traces;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
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
        /// One JSON array instead of the table.
        #[arg(long)]
        json: bool,
        /// Only the benches whose name contains this.
        #[arg(long)]
        only: Option<String>,
        /// Only what needs the preloaded shim: for the process that this program starts.
        #[arg(long, hide = true)]
        beside_libdrm: bool,
    },
}

fn main() -> ExitCode {
    let Area::Memory { json, only, beside_libdrm } = Cli::parse().area;
    let wanted = memory::Wanted(only);
    if !json {
        println!("{}", Row::heading());
    }
    let mut rows = Vec::new();
    let mut add = |row: Row| {
        if !json {
            println!("{row}");
        }
        rows.push(row);
    };
    if beside_libdrm {
        memory::beside_libdrm(&wanted, &mut add);
    } else {
        memory::all(&wanted, &mut add);
    }
    if json {
        match serde_json::to_string_pretty(&rows) {
            Ok(text) => println!("{text}"),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
