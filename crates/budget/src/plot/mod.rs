//! `plot`: memory in use over time, as a picture for a bug report.

#[cfg(feature = "png")]
pub mod bitmap;
pub mod braille;
pub mod canvas;
pub mod chart;
pub mod series;
pub mod svg;
mod thinned;

use std::{io::Write, path::Path};

use amdgpu_output::files;

#[cfg(feature = "png")]
use self::bitmap::Bitmap;
use self::{chart::draw, svg::Svg, thinned::Thinned};
use crate::{
    cli::{Global, Plot, PlotFormat},
    exit::Exit,
    render,
    session::{self, Outcome, Stop},
};

/// Takes the snapshots, and draws each GPU that is selected.
pub(crate) fn run(options: &Plot, global: &Global, out: &mut dyn Write) -> Outcome {
    let mut source = session::source_at(global, false, options.interval)?;
    let mut snapshots = Thinned::new(options.by);
    let most = if global.from.is_some() { u64::MAX } else { options.count };
    for taken in 0..most {
        if taken > 0 {
            session::pause(&*source, options.interval);
        }
        match session::next(&mut *source, global)? {
            Some(snapshot) => snapshots.push(snapshot),
            None => break,
        }
    }
    let panels = series::panels(&snapshots.finish(), options.by);
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
        files::write(&options.output, picture).map_err(failed)?;
    }
    Ok(Exit::Fine)
}
