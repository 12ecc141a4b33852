//! The screen as a picture, and the current view as files.

use std::{fmt::Write as _, path::Path};

use amdgpu_output::files;
use ratatui::{
    buffer::{Buffer, Cell},
    style::{Color, Modifier},
};

use super::state::State;
use crate::plot::{
    chart,
    svg::{Svg, escape},
};

/// Pixels of a cell.
const CELL: (u16, u16) = (8, 17);

/// A screen as SVG, light on dark.
pub(super) fn svg(seen: &Buffer) -> String {
    let (width, height) = (u32::from(seen.area.width), u32::from(seen.area.height));
    let (across, down) = (width * u32::from(CELL.0) + 16, height * u32::from(CELL.1) + 16);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{across}\" height=\"{down}\" viewBox=\"0 0 {across} {down}\" \
         font-family=\"'DejaVu Sans Mono',Menlo,Consolas,monospace\" font-size=\"13\">\n\
         <rect width=\"{across}\" height=\"{down}\" rx=\"6\" fill=\"#16181d\"/>\n"
    );
    for (row, cells) in seen.content().chunks(usize::from(seen.area.width).max(1)).enumerate() {
        for (column, run) in runs(cells) {
            let (x, y) = (8 + column * usize::from(CELL.0), 8 + row * usize::from(CELL.1));
            shape(&mut text, x, y, run);
        }
    }
    text.push_str("</svg>\n");
    text
}

/// Cells of one look next to each other, with the column of the first.
fn runs(cells: &[Cell]) -> impl Iterator<Item = (usize, &[Cell])> {
    let mut column = 0;
    cells.chunk_by(|a, b| (a.fg, a.bg, a.modifier) == (b.fg, b.bg, b.modifier)).map(move |run| {
        column += run.len();
        (column - run.len(), run)
    })
}

fn shape(out: &mut String, x: usize, y: usize, run: &[Cell]) {
    let Some(first) = run.first() else { return };
    let text: String = run.iter().map(Cell::symbol).collect();
    let reversed = first.modifier.contains(Modifier::REVERSED);
    let width = run.len() * usize::from(CELL.0);
    let colour = if reversed { "#16181d" } else { colour(first.fg) };
    // Writing to a string does not fail.
    if reversed {
        let _ = writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" fill=\"#c8ccd4\"/>", CELL.1);
    }
    if text.trim().is_empty() {
        return;
    }
    let weight = if first.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let (text, base) = (escape(&text), y + 13);
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{base}\" fill=\"{colour}\"{weight} xml:space=\"preserve\" textLength=\"{width}\">{text}</text>"
    );
}

const fn colour(colour: Color) -> &'static str {
    match colour {
        Color::Green => "#7ec98f",
        Color::Yellow => "#e5c07b",
        Color::Red => "#e06c75",
        Color::Cyan => "#56b6c2",
        Color::DarkGray => "#7f848e",
        _ => "#c8ccd4",
    }
}

/// Writes the snapshot and the history of the GPU into the working directory, and returns a message for the user.
pub(super) fn export(state: &State) -> String {
    let Some(gpu) = state.gpu() else { return "there is nothing to export".to_owned() };
    let stem = format!("amdgpu-budget-{}", state.snapshot.time.replace(':', ""));
    let panels = state.history.panels(gpu, state.window);
    let picture = chart::draw(&panels, Svg::new(chart::WIDTH, chart::height(panels.len()))).into_text();
    let json = serde_json::to_vec_pretty(&state.snapshot).unwrap_or_default();
    let written = files::write(Path::new(&format!("{stem}.json")), json)
        .and_then(|()| files::write(Path::new(&format!("{stem}.svg")), picture));
    match written {
        Ok(()) => format!("wrote {stem}.json and {stem}.svg"),
        Err(error) => format!("{stem}: {error}"),
    }
}
