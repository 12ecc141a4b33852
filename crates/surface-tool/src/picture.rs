//! A picture of how texels lie in memory.

use std::fmt::Write as _;

use crate::image::Image;
use crate::names;
use crate::outcome::Error;

/// Side of a texel in the picture.
const SIDE: u32 = 24;
/// Room above the texels, for the title.
const TITLE: u32 = 40;
/// The most texels in a row or column.
pub(crate) const MOST: u32 = 128;

/// Draws the first texels of a level: each is coloured by its address, a line leads through them in the order of memory, and
/// where there is room a number gives the offset in bytes.
pub(crate) fn draw(image: &Image, level: u32, side: u32) -> Result<String, Error> {
    let levels = image.config.levels;
    if level >= levels {
        return Err(Error::Missing { what: "level", number: level, count: levels });
    }
    let texels = image.layout.texels(&image.chip, &image.config, level)?;
    let [width, height, _] = texels.extent();
    let (columns, rows) = (side.clamp(1, MOST).min(width), side.clamp(1, MOST).min(height));
    let mut places = Vec::new();
    for y in 0..rows {
        for x in 0..columns {
            places.push((texels.address(x, y, 0, 0)?, x, y));
        }
    }
    places.sort_unstable();
    let start = places.first().map_or(0, |place| place.0);
    let (w, h) = (columns * SIDE, rows * SIDE + TITLE);
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" font-family=\"monospace\" font-size=\"7\">"
    );
    let _ = writeln!(
        svg,
        "<rect width=\"{w}\" height=\"{h}\" fill=\"white\"/>\n<text x=\"4\" y=\"16\" font-size=\"12\">{}: {}</text>\n\
         <text x=\"4\" y=\"32\" font-size=\"10\">level {level} from {start:#x}, {} bytes an element</text>",
        escaped(&image.gpu),
        names::mode(&image.chip, &image.layout),
        image.config.bytes
    );
    let count = places.len().max(1);
    for (rank, (at, x, y)) in places.iter().enumerate() {
        let hue = rank * 300 / count;
        let (left, top) = (x * SIDE, y * SIDE + TITLE);
        let _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"hsl({hue},70%,75%)\" \
             stroke=\"white\"/>"
        );
        if columns.max(rows) <= 32 {
            let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">{:x}</text>", left + 2, top + 8, at - start);
        }
    }
    let _ = write!(svg, "<polyline fill=\"none\" stroke=\"black\" stroke-width=\"1\" stroke-opacity=\"0.6\" points=\"");
    for (_, x, y) in &places {
        let _ = write!(svg, "{},{} ", x * SIDE + SIDE / 2, y * SIDE + TITLE + SIDE * 2 / 3);
    }
    svg.push_str("\"/>\n</svg>\n");
    Ok(svg)
}

/// Returns a text as XML has it: a capture may have any name.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        assert_eq!(escaped("<a & b>"), "&lt;a &amp; b&gt;");
    }
}
