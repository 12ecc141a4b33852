//! `amdgpu-surface`: the layout of images, explained.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use amdgpu_output::Visible;

fn main() -> ExitCode {
    let (mut out, mut err) = (Visible::new(io::stdout().lock()), Visible::new(io::stderr().lock()));
    let exit = amdgpu_surface_tool::run(std::env::args_os(), &mut out, &mut err);
    // A reader that went away needs no more.
    let _ = out.flush();
    ExitCode::from(exit as u8)
}
