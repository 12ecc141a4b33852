//! `amdgpu-smoke`: the hardware smoke test.

use std::process::ExitCode;

fn main() -> ExitCode {
    amdgpu_smoke::main(std::env::args_os())
}
