//! `amdgpu-budget`: the memory-budget inspector.

use std::process::ExitCode;

fn main() -> ExitCode {
    amdgpu_budget::app::main(std::env::args_os())
}
