//! `plot`: memory in use over time, as a picture for a bug report.

#[cfg(feature = "png")]
pub mod bitmap;
pub mod braille;
pub mod canvas;
pub mod chart;
pub mod series;
pub mod svg;

use std::{fs, io::Write, path::Path};

#[cfg(feature = "png")]
use self::bitmap::Bitmap;
use self::{chart::draw, svg::Svg};
use crate::{
    cli::{Global, Plot, PlotFormat},
    exit::Exit,
    render,
    session::{self, Outcome, Stop},
    snapshot::model::Snapshot,
};

/// Snapshots that are kept at most: more than a picture has columns, many times over.
const MOST_SNAPSHOTS: usize = 100_000;

/// Takes the snapshots, and draws each GPU that is selected.
pub(crate) fn run(options: &Plot, global: &Global, out: &mut dyn Write) -> Outcome {
    let mut source = session::source(global, false)?;
    let mut snapshots: Vec<Snapshot> = Vec::new();
    let most = if global.from.is_some() { MOST_SNAPSHOTS as u64 } else { options.count };
    while (snapshots.len() as u64) < most {
        if !snapshots.is_empty() {
            session::pause(&*source, options.interval);
        }
        match session::next(&mut *source, global)? {
            Some(snapshot) => snapshots.push(snapshot),
            None => break,
        }
    }
    let panels = series::panels(&snapshots, options.by);
    if panels.is_empty() {
        return Err(Stop::failed("there is nothing to draw"));
    }
    let height = chart::height(panels.len());
    let picture = match options.format {
        PlotFormat::Svg => draw(&panels, Svg::new(chart::WIDTH, height)).into_text().into_bytes(),
        #[cfg(feature = "png")]
        PlotFormat::Png => {
            let canvas = Bitmap::new(chart::WIDTH, height).ok_or_else(|| Stop::failed("no memory for a picture"))?;
            draw(&panels, canvas).into_png().map_err(Stop::failed)?
        }
        PlotFormat::Braille => {
            let ascii = render::style(global).ascii;
            panels.iter().map(|panel| braille::draw(panel, 72, 16, ascii)).collect::<String>().into_bytes()
        }
    };
    if options.output == Path::new("-") {
        out.write_all(&picture)?;
    } else {
        let failed = |error| Stop::Message(Exit::NotWritten, format!("{}: {error}", options.output.display()));
        fs::write(&options.output, picture).map_err(failed)?;
    }
    Ok(Exit::Fine)
}
