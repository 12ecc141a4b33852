//! `amdgpu-surface`: the layout of images, explained.

use std::{io, process::ExitCode};

fn main() -> ExitCode {
    let exit = amdgpu_surface_tool::run(std::env::args_os(), &mut io::stdout().lock(), &mut io::stderr().lock());
    ExitCode::from(exit as u8)
}
