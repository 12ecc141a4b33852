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

    /// Print the least times of two compute shaders, one that computes and one that loads, and exit.
    #[arg(long, conflicts_with_all = ["list", "only", "picture", "images"])]
    pub(crate) time_shaders: bool,

    /// Print the least times of a full-screen pass at 1280x720 and of 20,000 triangles that cover no pixel, and exit.
    #[arg(long, conflicts_with_all = ["list", "only", "picture", "images", "time_shaders"])]
    pub(crate) time_draws: bool,

    /// Run the compute shaders of the jobs in this folder (NAME.json or lines of jobs.jsonl, with NAME.spv), and exit.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "only", "picture", "images", "random_shaders"])]
    pub(crate) shader_jobs: Option<PathBuf>,

    /// Run the jobs on this queue only: graphics or compute.
    #[arg(long, value_name = "QUEUE", value_parser = ["graphics", "compute"], requires = "shader_jobs")]
    pub(crate) queue: Option<String>,

    /// Run this number of random compute shaders, keep or compare their results, and exit.
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["list", "only", "picture"])]
    pub(crate) random_shaders: Option<u64>,

    /// Seed of the first random shader; the next ones follow it.
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "random_shaders")]
    pub(crate) seed: u64,

    /// Lanes of the shaders' subgroups: 32 or 64. Random shaders have 64 unless told otherwise, jobs both.
    #[arg(long, value_name = "LANES")]
    pub(crate) subgroup_size: Option<u32>,

    /// Folder for results: of random shaders, which are computed without subgroup operations, or the jobs, with this driver's
    /// outputs as the expected ones where a job has none.
    #[arg(long, value_name = "DIR", conflicts_with = "compare")]
    pub(crate) save: Option<PathBuf>,

    /// Folder of saved results, with which this driver's are compared.
    #[arg(long, value_name = "DIR", requires = "random_shaders")]
    pub(crate) compare: Option<PathBuf>,

    /// Also make the GPU hang, which may reset it under everyone who uses it.
    #[arg(long)]
    pub(crate) provoke_hang: bool,

    /// Leave out the checks whose threads submit in another order each time: for comparing what two runs submit.
    #[arg(long)]
    pub(crate) in_order: bool,

    /// Leave out the checks whose names begin with this, such as `image`; may be given several times.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) without: Vec<String>,

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
