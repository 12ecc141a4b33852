//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Checks what a Vulkan driver does with memory, queues and time; on the first AMD device.
///
/// One line a check. Exit status: 0 passed, 77 no device or everything skipped, 79 bad usage, 98 failed.
#[derive(Debug, Parser)]
#[command(name = "amdgpu-vulkan-client", version)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Arguments {
    /// Take the first device of any vendor, a software one included.
    #[arg(long)]
    pub(crate) any_device: bool,

    /// List the checks with what each proves, and exit.
    #[arg(long)]
    pub(crate) list: bool,

    /// Only the check of this name, in this very process.
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Option<String>,

    /// Let a compute shader make a picture of the Mandelbrot set, save it as a PNG, and exit.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "only"])]
    pub(crate) picture: Option<PathBuf>,

    /// Ask about images of every format, tiling, type and use, write the answers as JSON lines, and exit.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "only", "picture"])]
    pub(crate) images: Option<PathBuf>,

    /// Also make the GPU hang, which may reset it under everyone who uses it.
    #[arg(long)]
    pub(crate) provoke_hang: bool,

    /// Seconds a check may take, before it counts as hung.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) limit: u64,

    /// Be the other process of a check: standard input is a socket to the one that asks.
    #[arg(long, hide = true, conflicts_with_all = ["list", "only"])]
    pub(crate) peer: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}
