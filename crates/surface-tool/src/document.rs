//! The manual page and the completions of shells.

use amdgpu_output::manual::{Section, Shell};
use clap::Command;

use crate::outcome::Exit;

/// Examples of the manual page: a command and its purpose.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "amdgpu-surface explain --gpu navi21 --format R8G8B8A8 --size 1920x1080 --levels 11",
        "Explains the layout of an image with all its levels.",
    ),
    ("amdgpu-surface modifiers --decode 144115188085734146", "Says what a modifier in a log means."),
    ("amdgpu-surface modifiers --gpu vega10 --format B8G8R8A8_UNORM", "Lists the modifiers in the driver's order."),
    (
        "amdgpu-surface detile DUMP --gpu navi21 --format R8G8B8A8 --size 1920x1080 -o image.png",
        "Makes a picture of the memory of a tiled image.",
    ),
    (
        "amdgpu-surface picture --gpu navi21 --format R8G8B8A8 --size 256x256 -o block.svg",
        "Draws how the first texels lie in memory.",
    ),
];

/// Returns the manual page of the command line.
pub(crate) fn man(command: Command) -> Vec<u8> {
    let sections = [
        Section::new("EXAMPLES", EXAMPLES.iter().copied()),
        Section::new("EXIT STATUS", Exit::TABLE.map(|(exit, meaning)| (exit as u8, meaning))),
    ];
    amdgpu_output::manual::page(command, &sections, &["amdgpu-ib", "amdgpu-sim", "amdgpu-smoke"])
}

/// Returns the completions for a shell.
pub(crate) fn completions(command: Command, shell: Shell) -> Vec<u8> {
    amdgpu_output::manual::completions(command, shell)
}
