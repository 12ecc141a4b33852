//! The command line.

use std::{
    ffi::OsString,
    io::{Read as _, Write},
    path::{Path, PathBuf},
};

use amdgpu_output::files;
use amdgpu_output::manual::Shell;
use amdgpu_surface::modifier::ListOptions;
use clap::{CommandFactory as _, Parser, Subcommand};
use serde_json::json;

use crate::compare::compare;
use crate::detile::{self, Subresource};
use crate::explain::explain;
use crate::image::ImageArguments;
use crate::outcome::{Error, Exit};
use crate::report::Report;
use crate::{chip, decode, document, format, modifiers, picture};

/// The most bytes of standard input that are searched for modifiers.
const MOST_INPUT: u64 = 64 << 20;

/// Explains where an AMD GPU keeps the texels of an image.
#[derive(Debug, Parser)]
#[command(name = "amdgpu-surface", version)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Print layout, mode and the reasons, metadata, and modifiers
    Explain {
        #[command(flatten)]
        image: ImageArguments,
        /// JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// List the modifiers of a format, in the driver's order, or say what modifiers mean
    Modifiers {
        /// The chip: a name such as navi21, or the file of a capture
        #[arg(long, value_name = "CHIP|FILE.json", required_unless_present = "decode")]
        gpu: Option<String>,
        /// The format, by Vulkan's name
        #[arg(long, required_unless_present = "decode")]
        format: Option<String>,
        /// Decode these modifiers, in decimal or with 0x; without any, or for -, all that are in standard input, such as the text
        /// of drm_info
        #[arg(long, value_name = "NUMBER", num_args = 0.., conflicts_with_all = ["gpu", "format", "no_dcc", "no_retile"])]
        decode: Option<Vec<String>>,
        /// None with DCC
        #[arg(long)]
        no_dcc: bool,
        /// None with a second DCC for the display
        #[arg(long)]
        no_retile: bool,
        /// JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Turn the memory of an image into a PNG
    Detile {
        /// The bytes of the image, from its first
        file: PathBuf,
        #[command(flatten)]
        image: ImageArguments,
        /// Mip level
        #[arg(long, default_value_t = 0)]
        level: u32,
        /// Array layer, face, or slice of a volume
        #[arg(long, default_value_t = 0)]
        layer: u32,
        /// Sample
        #[arg(long, default_value_t = 0)]
        sample: u32,
        /// Elements row by row, as they are, instead of a PNG
        #[arg(long)]
        raw: bool,
        /// The file to write
        #[arg(long, short)]
        output: PathBuf,
        /// Print what was written as JSON
        #[arg(long)]
        json: bool,
    },
    /// Compare the answers of a driver, as amdgpu-vulkan-client --images writes them, with the layouts
    Compare {
        /// The answers
        file: PathBuf,
        /// The chip: a name such as navi21, or the file of a capture
        #[arg(long, value_name = "CHIP|FILE.json")]
        gpu: String,
        /// Minor version of the kernel's interface, which decides about the display's DCC
        #[arg(long, value_name = "NUMBER", default_value_t = 54)]
        drm_minor: u32,
    },
    /// Draw how the first texels of a level lie in memory, as SVG
    Picture {
        #[command(flatten)]
        image: ImageArguments,
        /// Mip level
        #[arg(long, default_value_t = 0)]
        level: u32,
        /// Texels in a row and a column of the picture
        #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=i64::from(picture::MOST)))]
        side: u32,
        /// The file to write [default: print it]
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Print the manual page
    Man,
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Does what the command line asks for.
pub fn run(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> Exit {
    let done = match Cli::try_parse_from(arguments) {
        Ok(cli) => perform(cli.task, out),
        Err(error) if error.use_stderr() => {
            // A reader that went away needs no message.
            let _ = write!(err, "{error}");
            return Exit::Usage;
        }
        Err(help) => write!(out, "{help}").map_err(Error::from),
    };
    match done {
        Ok(()) => Exit::Answered,
        Err(error) => {
            let _ = writeln!(err, "amdgpu-surface: {error}");
            error.exit()
        }
    }
}

fn perform(task: Task, out: &mut dyn Write) -> Result<(), Error> {
    match task {
        Task::Explain { image, json } => explain(&image.image()?).print(json, out)?,
        Task::Modifiers { decode: Some(numbers), json, .. } => decode(&numbers)?.print(json, out)?,
        Task::Modifiers { gpu, format, no_dcc, no_retile, json, decode: None } => {
            // The rules of the command line require both.
            let named = chip::named(&gpu.unwrap_or_default(), 54)?;
            let format = format::named(&format.unwrap_or_default())?;
            let list = modifiers::list(&named.chip, format, ListOptions { dcc: !no_dcc, retile: !no_retile });
            let mut report = Report::default();
            report.row("chip", format!("{} ({})", named.name, named.chip.level()), json!(named.name));
            report.row("format", format.name(), json!(format.name()));
            modifiers::rows(&named.chip, &list, &mut report);
            report.print(json, out)?;
        }
        Task::Detile { file, image, level, layer, sample, raw, output, json } => {
            let image = image.image()?;
            let part = Subresource { level, layer, sample };
            if raw {
                detile::raw(&image, &file, part, &output)?;
            } else {
                detile::png(&image, &file, part, &output)?;
            }
            let [width, height, _] = image.extent(level);
            let mut report = Report::default();
            let shown = output.display().to_string();
            report.row("written", format!("{shown}: {width}x{height}"), json!([shown, width, height]));
            report.print(json, out)?;
        }
        Task::Compare { file, gpu, drm_minor } => compare(&chip::named(&gpu, drm_minor)?, &file, out)?,
        Task::Picture { image, level, side, output } => {
            let svg = picture::draw(&image.image()?, level, side)?;
            match output {
                Some(path) => write(&path, &svg)?,
                None => out.write_all(svg.as_bytes())?,
            }
        }
        Task::Man => out.write_all(&document::man(Cli::command()))?,
        Task::Completions { shell } => out.write_all(&document::completions(Cli::command(), shell))?,
    }
    Ok(())
}

/// Returns a report about modifiers, or about all of standard input if there are none.
fn decode(numbers: &[String]) -> Result<Report, Error> {
    let mut values = Vec::new();
    for text in numbers.iter().filter(|text| *text != "-") {
        values.push(decode::number(text)?);
    }
    if values.is_empty() || numbers.iter().any(|text| text == "-") {
        let mut bytes = Vec::new();
        let input = std::io::stdin().lock().take(MOST_INPUT).read_to_end(&mut bytes);
        input.map_err(|error| Error::File { path: "standard input".into(), error })?;
        values.extend(decode::find(&String::from_utf8_lossy(&bytes)));
    }
    if values.is_empty() {
        return Err(Error::NoModifier { text: "standard input".to_owned() });
    }
    let mut report = Report::default();
    for value in values {
        decode::row(value, &mut report);
    }
    Ok(report)
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    files::write(path, text).map_err(|error| Error::File { path: path.to_owned(), error })
}
