//! `amdgpu-ib`: command buffers made readable.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(amdgpu_ib::main(std::env::args_os()))
}
